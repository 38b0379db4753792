"""What fails while it runs: told once, at the wait that needs it, with operation and line; the rest goes on."""

import pytest

pytest.importorskip("tilewise._core")
pytestmark = pytest.mark.alone

STARTS = {"one device": ({}, "0"), "three": ({"TILEWISE_DEVICES": "cpu:3", "TILEWISE_MIN_TILE": 1}, "2"),
          "two ranks": ({"ranks": 2, "TILEWISE_DEVICES": "cpu:1", "TILEWISE_MIN_TILE": 1}, "1"),
          "the leader of three ranks": ({"ranks": 3, "TILEWISE_DEVICES": "cpu:1", "TILEWISE_MIN_TILE": 1}, "0")}

PROGRAM = """
import tilewise as np
a = np.arange(3600.0).reshape(60, 60)
b = a * 2
c = a @ b
d = c + 1

def told(wait):
    try:
        wait()
    except RuntimeError as error:
        return str(error)
    return None

print(told(lambda: float(d.sum())))
print(told(lambda: float(d[3, 3])) == told(lambda: float(c[0, 0])) == told(lambda: float(d[3, 3])))
print(float(b[1, 1]), float(a.sum()))
c[:] = 0
print(float((c + 1)[0, 0]))
np.synchronize()
c = a @ b
print(told(np.synchronize))
print(told(np.synchronize), float(b.sum()))
"""


@pytest.fixture(params=STARTS)
def start(request, run_program):
    options, device = STARTS[request.param]
    return lambda text: run_program(text, **options, TILEWISE_TEST_FAIL=f"matmul:{device}")


def test_a_failing_task_is_told_where_its_value_is_needed(start):
    lines = start(PROGRAM).stdout.splitlines()
    assert "matmul at " in lines[0] and "prog.py:5 failed: made to fail by a test" in lines[0]
    assert lines[1:4] == ["True", "122.0 6478200.0", "1.0"]
    assert "prog.py:21 failed" in lines[4]
    assert lines[5] == "None 12956400.0"


def test_a_failure_that_nobody_waits_for_is_told_at_the_end(run_program):
    program = "import tilewise as np\na = np.ones((300, 300))\na @ a\n"
    done = run_program(program, check=False, TILEWISE_TEST_FAIL="matmul:0")
    assert done.returncode == 1
    assert done.stderr.count("prog.py:3 failed: made to fail by a test") == 1


def test_a_failed_draw_leaves_the_generator_where_it_was_known_to_be(run_program):
    program = """
import numpy, tilewise as np
rng = np.random.default_rng(1)
x = rng.standard_normal(1000)
for _ in range(2):
    try:
        print(rng.random())
    except RuntimeError as error:
        print(error)
print(numpy.random.default_rng(1).random())
"""
    lines = run_program(program, TILEWISE_TEST_FAIL="random:0", TILEWISE_MIN_TILE=1).stdout.splitlines()
    assert "prog.py:4 failed: made to fail by a test" in lines[0]
    assert lines[1] == lines[2]


@pytest.mark.parametrize("devices", ["cpu:1", "cpu:3"])
def test_no_memory_leaves_the_session_usable(run_program, devices):
    done = run_program("""
import tilewise as np
a = np.arange(100000.0)
b = a + 1
big = np.ones(4 << 20)
for again in range(2):
    try:
        if not again:
            big[1:] += big[:-1]  # a copy of it does not fit
        float(big[0])
    except MemoryError as error:
        print(error)
big[:] = 3
print(float(b.sum()), float(big.sum()) / (1 << 20))
""", TILEWISE_DEVICES=devices, TILEWISE_HOST_MEMORY="50MiB")
    lines = done.stdout.splitlines()
    assert "prog.py:9 failed: cannot allocate" in lines[0]
    assert lines[1] == lines[0] and lines[2] == "5000050000.0 12.0"


def test_synchronize_waits_for_the_workers(run_program):
    done = run_program("""
import time, tilewise as np
a = np.ones((700, 700))
for _ in range(5):
    b = a @ a
np.synchronize()
t = time.time()
np.synchronize()
print(time.time() - t < 0.5)
""", ranks=2, TILEWISE_DEVICES="cpu:1", TILEWISE_MIN_TILE=1)
    assert done.stdout == "True\n"
