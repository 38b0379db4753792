"""A product of two square matrices in double precision."""

from .gemm_f32 import run
from .inputs import rand

__all__ = ["LEAST", "SIZES", "run", "setup"]
SIZES = {"gpu": 8192, "cpu": 1536, "tiny": 67}
LEAST = 0.95


def setup(xp, n):
    return rand(xp, (n, n), "float64", seed=1), rand(xp, (n, n), "float64", seed=2)
