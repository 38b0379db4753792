"""A product of two square matrices in single precision."""

from .inputs import rand

SIZES = {"gpu": 16384, "cpu": 2048, "tiny": 67}
LEAST = 0.95


def setup(xp, n):
    return rand(xp, (n, n), seed=1), rand(xp, (n, n), seed=2)


def run(xp, state):
    return state[0] @ state[1]
