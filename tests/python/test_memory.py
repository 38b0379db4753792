"""How much memory programs take, and what becomes of one that takes too much."""

from pathlib import Path

import pytest

SCALING = Path(__file__).resolve().parents[2] / "scaling"
tilewise = pytest.importorskip("tilewise")
pytestmark = pytest.mark.alone

PEAK = """
import sys
sys.path.insert(0, sys.argv[1])
import tilewise as np
from programs import black_scholes as program

def peak():
    return np.report()["memory.cpu:0.peak"]

n = 3_000_000
state = program.setup(np, n)
np.synchronize()
results = program.run(np, state)
np.synchronize()
arrays = [*state, *results]
print(peak() / sum(a.nbytes for a in arrays))
"""


@pytest.mark.parametrize("devices, ranks", [("cpu", 1), ("cpu:3", 1), ("cpu", 2)])
def test_a_chain_of_operations_takes_memory_for_inputs_and_outputs_only(run_program, devices, ranks):
    done = run_program(PEAK, str(SCALING), ranks=ranks, TILEWISE_DEVICES=devices)
    # The leader's peak is its own tiles'.
    assert float(done.stdout) * ranks < 1.05


def test_a_peak_is_that_between_two_synchronizations(run_program):
    done = run_program("""
import tilewise as np
MB = 1 << 17
a = np.ones(40 * MB)
np.synchronize()
del a
b = np.ones(8 * MB)
np.synchronize()
print(np.report()["memory.cpu:0.peak"] / 8 / MB)
np.synchronize()
c = np.ones(4 * MB)
np.synchronize()
print(np.report()["memory.cpu:0.peak"] / 8 / MB)
""")
    first, second = map(float, done.stdout.split())
    assert 40 <= first < 60 and 12 <= second < 14


RANKS = [pytest.param(ranks, devices, id=f"{ranks}ranks-{devices}") for ranks, devices in
         [(1, "cpu"), (1, "cpu:3"), (2, "cpu"), (3, "cpu")]]

FULL = """
import sys
import numpy
import tilewise as np

MB = 1 << 17
ranks = int(sys.argv[1])
kept = []
try:
    while len(kept) < 100:
        kept.append(np.ones(4 * MB) * len(kept))
    print("no error")
except MemoryError as error:
    text = str(error)
    assert "prog.py:11" in text and "TILEWISE_HOST_MEMORY" in text and "4 MiB" in text, text
print("arrays", len(kept))
print("sums", [float(a.sum()) / MB for a in kept] == [4.0 * k for k in range(len(kept))])
del kept[2:]
more = [kept[1] + k for k in range(len(kept), 6)]
np.synchronize()
print("on", [float(a.sum()) / MB for a in more] == [4.0 * (1 + k) for k in range(2, 6)])
"""


@pytest.mark.parametrize("ranks, devices", RANKS)
def test_what_cannot_be_held_is_refused_at_the_call(run_program, ranks, devices):
    done = run_program(FULL, str(ranks), ranks=ranks, TILEWISE_HOST_MEMORY="48MiB", TILEWISE_DEVICES=devices)
    lines = done.stdout.splitlines()
    assert 7 <= int(lines[0].split()[1]) <= 12, done.stdout
    assert lines[1:] == ["sums True", "on True"]


@pytest.mark.parametrize("ranks, devices", RANKS)
def test_cycles_are_collected_before_memory_is_refused(run_program, ranks, devices):
    done = run_program("""
import gc
import tilewise as np
gc.disable()
class Holder: pass
for k in range(40):
    holder = Holder()
    holder.itself, holder.array = holder, np.full(4 << 17, float(k))
print(float(holder.array.sum()) / 4 / (1 << 17))
""", ranks=ranks, TILEWISE_HOST_MEMORY="48MiB", TILEWISE_DEVICES=devices)
    assert done.stdout == "39.0\n"


@pytest.mark.parametrize("ranks, devices", RANKS)
def test_a_loop_that_drops_what_it_made_runs_for_ever(run_program, ranks, devices):
    done = run_program("""
import tilewise as np
x = np.zeros(8 << 17)
for k in range(300):
    x = x + 1
print(float(x.max()), float(x.min()))
""", ranks=ranks, TILEWISE_HOST_MEMORY="48MiB", TILEWISE_DEVICES=devices)
    assert done.stdout == "300.0 300.0\n"


# The arrays fit, what travels between ranks does not.
BUFFERS = """
import numpy
import tilewise as np

MB = 1 << 17
x = np.arange(12.0 * MB)
other = np.ones(1 * MB)
np.synchronize()
try:
    y = x + x[::-1]
    np.synchronize()
    print("no error")
except MemoryError as error:
    print("prog.py:10" in str(error) or str(error), "add" in str(error) or str(error), "rank" in str(error))
print(float(x[5]), float(x.max()) == 12 * MB - 1, float(other.sum()) / MB)
del y
for k in range(3):
    z = other[::-1] * 2
    print(float(z.sum()) / MB)
"""


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_step_without_memory_for_its_messages_fails_at_the_wait(run_program, ranks):
    done = run_program(BUFFERS, ranks=ranks, TILEWISE_HOST_MEMORY="30MiB")
    assert done.stdout.splitlines() == ["True True True", "5.0 True 1.0", "2.0", "2.0", "2.0"]


# One rank alone has no memory for a large tile.
ALONE = """
import numpy
import tilewise as np

n = 300_000
small = np.arange(60_000.0)
large = np.arange(float(n)) * 2
after = small + 1
try:
    np.synchronize()
    print("no error")
except MemoryError as error:
    print("rank 1" in str(error), "prog.py:7" in str(error) or str(error))
for k in range(2):
    try:
        print(numpy.asarray(large)[:3])
    except MemoryError:
        print("has no values")
print(float(after.sum()) == 60_000 * 60_001 / 2)
large[:] = 7  # still no memory
try:
    print(float(large.sum()))
except MemoryError:
    print("has no values")
print(float((small * 2).sum()) == 60_000 * 59_999)
np.synchronize()
print("well")
"""


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_rank_without_memory_takes_part_and_says_so(run_program, ranks):
    done = run_program(ALONE, ranks=ranks, TILEWISE_TEST_NO_MEMORY="1:700000", TILEWISE_MIN_TILE=1000)
    lost = "has no values"
    assert done.stdout.splitlines() == ["True True", lost, lost, "True", lost, "True", "well"]


def test_values_that_do_not_fit_the_leader_are_still_where_they_were(run_program):
    done = run_program("""
import numpy
import tilewise as np
a = np.arange(300_000.0)
np.synchronize()
try:
    print(numpy.asarray(a)[-1])
except MemoryError as error:
    print("rank 0" in str(error))
print(float(a.sum()) == 300_000 * 299_999 / 2, numpy.asarray(a[200_000:])[-1])
""", ranks=2, TILEWISE_TEST_NO_MEMORY="0:1300000")
    assert done.stdout == "True\nTrue 299999.0\n"


@pytest.mark.parametrize("ranks", [2, 3])
def test_what_had_no_memory_gets_some_when_it_is_overwritten(run_program, ranks):
    done = run_program("""
import tilewise as np
a = np.arange(300_000.0)
try:
    np.synchronize()
except MemoryError as error:
    print("prog.py:3" in str(error))
try:
    print(float(a.sum()))
except MemoryError:
    print("has no values")
a[:] = 2
print(float(a.sum()))
a[1:] += a[:-1]
print(float(a.sum()))
""", ranks=ranks, TILEWISE_TEST_NO_MEMORY="1:700000:1", TILEWISE_MIN_TILE=1000)
    assert done.stdout.split("\n")[:4] == ["True", "has no values", "600000.0", "1199998.0"]


def test_in_spmd_mode_all_ranks_refuse_alike(run_program):
    done = run_program("""
import os
import tilewise as np
kept = []
try:
    while len(kept) < 100:
        kept.append(np.ones(4 << 17) * len(kept))
except MemoryError:
    pass
del kept[2:]
more = kept[1] + 1
os.write(1, f"{float(more.sum()) / (1 << 17)}\\n".encode())  # in one piece
""", ranks=2, bare=True, TILEWISE_HOST_MEMORY="48MiB", TILEWISE_MODE="spmd")
    assert done.stdout.replace("\n", "") == "8.0" * 2  # mpirun may put one rank's line end behind another's word


@pytest.mark.parametrize("rank", [0, 1])
def test_in_spmd_mode_all_ranks_hear_of_a_rank_without_memory(run_program, rank):
    done = run_program("""
import os
import tilewise as np
a = np.arange(300_000.0)
told = ""
for wait in (np.synchronize, lambda: float(a.sum())):
    try:
        wait()
    except MemoryError as error:
        told += "refused "
b = np.arange(50_000.0)
os.write(1, f"{told}{float(b.sum()) == 50_000 * 49_999 / 2}\\n".encode())
""", ranks=2, bare=True, TILEWISE_TEST_NO_MEMORY=f"{rank}:1000000", TILEWISE_MODE="spmd")
    assert sorted(done.stdout.splitlines()) == ["refused refused True"] * 2
