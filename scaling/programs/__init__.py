"""Plain array programs, written as a NumPy user writes them, over a module `xp`.

Each is a file of its own: setup(xp, n) makes the inputs, run(xp, state) returns an array or a tuple of arrays, and
SIZES gives n for a kind of machine ("cpu", "gpu") and for tests ("tiny"). The work is the same for every module, so
that modules can be compared; each is an example, a test against NumPy, and a benchmark at once. LEAST, where given, is
the ratio of NumPy's time to ours on two cores below which we call it a fault.
"""

from importlib import import_module
from types import ModuleType

NAMES = (
    "black_scholes", "jacobi", "small_loop_1000", "small_loop_1", "softmax", "nbody", "kmeans", "cg", "sort",
    "gemm_f32", "gemm_f64", "fft2", "reductions", "mandelbrot", "richardson_lucy", "lloyd",
)


def load(name: str) -> ModuleType:
    """The program of that name."""
    if name not in NAMES:
        raise SystemExit(f"no program {name}; there are: {', '.join(NAMES)}")
    return import_module(f".{name}", __name__)
