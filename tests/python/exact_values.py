"""Which arrays hold values that sums and products in any order give exactly."""

import numpy


def parts(x):
    x = numpy.asarray(x)
    return numpy.stack([x.real, x.imag]) if x.dtype.kind == "c" else x


def small(*arrays, bound=512.0):
    """Whether all values are multiples of 1/16 below the bound."""
    for x in map(parts, arrays):
        if x.dtype.kind == "f":
            x = x.astype("float64")
            if not (numpy.isfinite(x).all() and (abs(x) <= bound).all() and (x * 16 == numpy.rint(x * 16)).all()):
                return False
    return True


def sums_exactly(x):
    x = numpy.asarray(x)
    if x.dtype.kind not in "fc":
        return True
    bound = 64 if x.dtype == "float16" else 2.0**19
    return small(x) and float(abs(parts(x).astype("float64")).sum()) <= bound
