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
