"""Chapter: padding."""

import operator

import numpy

from tilewise._creation import asanyarray, empty
from tilewise._fallback import call
from tilewise._manipulation import _held
from tilewise._namespace import public


@public
def pad(array, pad_width, mode="constant", **kwargs):
    array = asanyarray(array)
    modes = {
        "constant": {"constant_values"},
        "edge": set(),
        "wrap": set(),
        "empty": set(),
        "reflect": {"reflect_type"},
        "symmetric": {"reflect_type"},
    }
    if _held(array) or not isinstance(mode, str) or mode not in modes or set(kwargs) - modes[mode]:
        return call("pad", numpy.pad, (array, pad_width, mode), kwargs)
    width = _pairs(pad_width, array.ndim)
    if any(n < 0 for pair in width for n in pair):
        raise ValueError("index can't contain negative values")
    if mode != "constant" and mode != "empty":
        if any(n == 0 and any(pair) for n, pair in zip(array.shape, width, strict=True)):
            raise ValueError(
                f"can't extend empty axis {array.shape.index(0)} using modes other than 'constant' or 'empty'"
            )
    if kwargs.get("reflect_type", "even") != "even" or (
        mode in ("reflect", "symmetric", "wrap") and not _once(array, width, mode)
    ):
        return call("pad", numpy.pad, (array, pad_width, mode), kwargs)
    result = empty([n + a + b for n, (a, b) in zip(array.shape, width, strict=True)], array.dtype)
    inner = tuple(slice(a, a + n) for n, (a, _) in zip(array.shape, width, strict=True))
    result[inner] = array
    if mode == "constant":
        values = _pairs(kwargs.get("constant_values", 0), array.ndim, numpy.asarray)
    for axis, (before, after) in enumerate(width):
        # Axis by axis, over the part of the later axes that holds data: as NumPy's pad fills corners.
        slab = (slice(None),) * axis
        rest = inner[axis + 1 :]
        n = array.shape[axis]
        for amount, start, side in ((before, 0, 0), (after, before + n, 1)):
            if not amount or mode == "empty":
                continue
            where = slab + (slice(start, start + amount),) + rest
            if mode == "constant":
                result[where] = values[axis][side]
            else:
                result[where] = result[slab + (_source(mode, side, amount, before, n),) + rest]
    return result


def _once(array, width, mode):
    """Whether each side is at most one copy of the array's own extent."""
    less = 1 if mode == "reflect" else 0
    return all(max(pair) <= n - less for n, pair in zip(array.shape, width, strict=True))


def _source(mode, side, amount, before, n):
    """The indices along the axis that a side is filled from."""
    first, stop = before, before + n
    if mode == "edge":
        return slice(first, first + 1) if side == 0 else slice(stop - 1, stop)
    if mode == "wrap":
        return slice(stop - amount, stop) if side == 0 else slice(first, first + amount)
    skip = 1 if mode == "reflect" else 0
    if side == 0:
        low = first + skip
        return slice(low + amount - 1, low - 1 if low else None, -1)
    high = stop - 1 - skip
    return slice(high, high - amount if high - amount >= 0 else None, -1)


def _pairs(x, ndim, convert=operator.index):
    """A pad argument as one (before, after) for each axis."""
    if isinstance(x, dict):
        x = [x.get(k, x.get(k - ndim, (0, 0))) for k in range(ndim)]
        x = [(p, p) if not hasattr(p, "__len__") else p for p in x]
    pairs = numpy.broadcast_to(numpy.asarray(x), (ndim, 2)) if ndim else ()
    if convert is operator.index and ndim and pairs.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    return [tuple(pair) for pair in pairs]
