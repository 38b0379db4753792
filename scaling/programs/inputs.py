"""Inputs of the programs: made by NumPy, so that every module starts from the same bits."""

import numpy


def rand(xp, shape, dtype="float32", seed=0):
    """Uniform numbers in [0, 1)."""
    return xp.asarray(numpy.random.default_rng(seed).random(shape, dtype=dtype))
