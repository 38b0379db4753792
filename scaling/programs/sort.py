"""Sorting random numbers."""

from .inputs import rand

SIZES = {"gpu": 200_000_000, "cpu": 4_000_000, "tiny": 1003}


def setup(xp, n):
    return rand(xp, n, seed=1)


def run(xp, x):
    return xp.sort(x)
