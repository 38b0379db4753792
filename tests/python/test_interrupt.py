"""Ctrl-C while the program waits: KeyboardInterrupt at once, and the session goes on."""

import pytest

pytest.importorskip("tilewise._core")
pytestmark = pytest.mark.alone

LONG = """
import os, signal, threading, time
import numpy, tilewise as np
a = np.ones((1500, 1500))
np.synchronize()
b = a
for _ in range(12):
    b = b @ a * 1e-3
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
t = time.time()
try:
    {wait}
    print('came')
except KeyboardInterrupt:
    print('interrupted', time.time() - t < 5)
print(float(a[:2].sum()))
np.synchronize()
"""


@pytest.mark.slow
@pytest.mark.parametrize("wait", ["numpy.asarray(b)", "np.synchronize()"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_wait_is_interrupted(run_program, wait, ranks):
    done = run_program(LONG.format(wait=wait), ranks=ranks, TILEWISE_DEVICES="cpu:1", timeout=300)
    assert done.stdout == "interrupted True\n3000.0\n"
