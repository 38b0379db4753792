"""Ten thousand operations on small arrays: what one operation costs besides its arithmetic."""

from .inputs import rand

SIZES = {"gpu": 1000, "cpu": 1000, "tiny": 7}
LEAST = 2


def setup(xp, n):
    return rand(xp, n, dtype="float64", seed=1), rand(xp, n, dtype="float64", seed=2)


def run(xp, state, iters=2000):
    a, b = state
    for _ in range(iters):
        a = a + b
        a = a * 0.5
        b = b - a
        b = b * 0.5
        a = a + 0.25
    return a
