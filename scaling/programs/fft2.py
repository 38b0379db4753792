"""A two-dimensional Fourier transform."""

from .inputs import rand

SIZES = {"gpu": 16384, "cpu": 2048, "tiny": 60}


def setup(xp, n):
    return rand(xp, (n, n), seed=1)


def run(xp, x):
    return xp.fft.fft2(x)
