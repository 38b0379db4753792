"""Deconvolution by Richardson and Lucy: the picture that, blurred, explains a blurred and noisy one best.

The blur is separable and written as shifted slices. Beyond the border lies nothing, so the blur is its own adjoint, and
the iteration divides by what of the blur falls inside the picture. Only + - * / : the same bits as NumPy's.
"""

import math

import numpy

SIZES = {"gpu": 8192, "cpu": 1024, "tiny": 33}


def gaussian(sigma, half):
    """Weights of the blur from its middle outwards; they and their mirror images sum to one."""
    w = [math.exp(-0.5 * (k / sigma) ** 2) for k in range(half + 1)]
    total = w[0] + 2 * sum(w[1:])
    return [v / total for v in w]


WEIGHTS = gaussian(2.0, 5)


def blur(image, weights=WEIGHTS):
    """Blurs axes 0 and 1; an axis of colours may follow."""
    rows = weights[0] * image
    for k, w in enumerate(weights[1:], 1):
        rows[k:] += w * image[:-k]
        rows[:-k] += w * image[k:]
    both = weights[0] * rows
    for k, w in enumerate(weights[1:], 1):
        both[:, k:] += w * rows[:, :-k]
        both[:, :-k] += w * rows[:, k:]
    return both


def restore(xp, observed, iters=10):
    inside = blur(xp.ones_like(observed))
    estimate = xp.full_like(observed, 0.5)
    for _ in range(iters):
        ratio = observed / (blur(estimate) + 1e-4)
        estimate = estimate * blur(ratio) / inside
    return estimate


def degrade(picture, noise=0.004, seed=5):
    """The picture (NumPy, values from 0 to 1) blurred, with noise."""
    blurred = blur(picture)
    blurred += noise * numpy.random.default_rng(seed).standard_normal(picture.shape, dtype="float32")
    return numpy.clip(blurred, 0.0, 1.0)


def setup(xp, n):
    """A picture of overlapping discs."""
    y, x = numpy.mgrid[0:n, 0:n].astype("float32") / n
    picture = numpy.zeros((n, n), "float32")
    for cx, cy, r, light in numpy.random.default_rng(3).random((40, 4), dtype="float32"):
        picture += light * ((x - cx) ** 2 + (y - cy) ** 2 < (0.15 * r) ** 2)
    return xp.asarray(degrade(picture / picture.max()))


def run(xp, observed):
    return restore(xp, observed)
