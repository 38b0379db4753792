"""Chapter: padding."""

import operator

import numpy

from tilewise._creation import asanyarray, empty
from tilewise._fallback import call
from tilewise._manipulation import _held
from tilewise._namespace import public

# Keywords of each mode.
_MODES = {
    "constant": {"constant_values": 0},
    "edge": {},
    "empty": {},
    "wrap": {},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "minimum": {"stat_length": None},
    "mean": {"stat_length": None},
}


@public
def pad(array, pad_width, mode="constant", **kwargs):
    array = asanyarray(array)
    if _held(array) or not isinstance(mode, str) or mode not in _MODES or set(kwargs) - set(_MODES[mode]):
        return call("pad", numpy.pad, (array, pad_width, mode), kwargs)
    options = _MODES[mode] | kwargs
    width = _pairs(pad_width, array.ndim)
    if any(n < 0 for pair in width for n in pair):
        raise ValueError("index can't contain negative values")
    _check_extents(array, width, mode, options)
    result = empty([n + a + b for n, (a, b) in zip(array.shape, width, strict=True)], array.dtype)
    inner = tuple(slice(a, a + n) for n, (a, _) in zip(array.shape, width, strict=True))
    result[inner] = array
    for axis, pair in enumerate(width):
        # Axis by axis, over the part of the later axes that holds data: as NumPy's pad fills corners.
        slab = _Slab(result, axis, (slice(None),) * axis, inner[axis + 1 :], pair)
        if array.size or mode == "constant":
            _FILL.get(mode, _fill_by_statistic)(slab, mode, options)
    return result


def _check_extents(array, width, mode, options):
    if mode in ("constant", "empty"):
        return
    for axis, (n, pair) in enumerate(zip(array.shape, width, strict=True)):
        if n == 0 and any(pair):
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
    if options.get("reflect_type", "even") not in ("even", "odd"):
        raise ValueError(f"unsupported value for reflect_type, {options['reflect_type']!r}")


class _Slab:
    """One axis of the result: data from `first` to `stop`, to be extended to both ends."""

    def __init__(self, result, axis, before, behind, pair):
        self.result, self.axis, self.before, self.behind = result, axis, before, behind
        self.first, self.stop = pair[0], result.shape[axis] - pair[1]
        self.end = result.shape[axis]

    def part(self, start, stop, step=1):
        stop = None if stop < 0 else stop
        return self.result[self.before + (slice(start, stop, step),) + self.behind]

    def write(self, start, stop, value):
        if stop > start:
            self.result[self.before + (slice(start, stop),) + self.behind] = value


def _fill_constant(slab, mode, options):
    low, high = _pairs(options["constant_values"], slab.result.ndim, numpy.asarray)[slab.axis]
    slab.write(0, slab.first, low)
    slab.write(slab.stop, slab.end, high)


def _fill_edge(slab, mode, options):
    slab.write(0, slab.first, slab.part(slab.first, slab.first + 1))
    slab.write(slab.stop, slab.end, slab.part(slab.stop - 1, slab.stop))


def _fill_nothing(slab, mode, options):
    pass


def _fill_wrap(slab, mode, options):
    """Each round copies what is there already, so that a wide border takes few rounds."""
    n = slab.stop - slab.first
    first, stop = slab.first, slab.stop
    while first > 0:
        take = min(first, (stop - first) // n * n)
        slab.write(
            first - take, first, slab.part(first + (stop - first) // n * n - take, first + (stop - first) // n * n)
        )
        first -= take
    while stop < slab.end:
        have = slab.stop - slab.first if stop == slab.stop else (stop - slab.first) // n * n
        take = min(slab.end - stop, have)
        start = slab.first + (stop - slab.first) - have
        slab.write(stop, stop + take, slab.part(start, start + take))
        stop += take


def _fill_mirror(slab, mode, options):
    """reflect leaves the edge out, symmetric repeats it; odd types mirror the values about the edge's, too."""
    skip = 1 if mode == "reflect" else 0
    odd = options["reflect_type"] == "odd"
    first, stop = slab.first, slab.stop
    if stop - first == 1 and skip:  # nothing to mirror
        _fill_edge(slab, mode, options)
        return
    period = stop - first - skip
    while first > 0 or stop < slab.end:
        # A round mirrors whole periods of what is there at its start, on both sides.
        low, high = first, stop
        have = (high - low - skip) // period * period
        take = min(low, have)
        if take:
            chunk = slab.part(low + skip + take - 1, low + skip - 1, -1)
            slab.write(low - take, low, 2 * slab.part(low, low + 1) - chunk if odd else chunk)
            first -= take
        take = min(slab.end - high, have)
        if take:
            chunk = slab.part(high - 1 - skip, high - 1 - skip - take, -1)
            slab.write(high, high + take, 2 * slab.part(high - 1, high) - chunk if odd else chunk)
            stop += take


def _fill_ramp(slab, mode, options):
    from tilewise import linspace

    low, high = _pairs(options["end_values"], slab.result.ndim, numpy.asarray)[slab.axis]
    for amount, edge, end, place in (
        (slab.first, slab.first, low, 0),
        (slab.end - slab.stop, slab.stop - 1, high, slab.stop),
    ):
        if amount:
            at = slab.part(edge, edge + 1)
            ramp = linspace(end, at._squeeze((slab.axis,)), amount, endpoint=False, dtype=at.dtype, axis=slab.axis)
            slab.write(place, place + amount, ramp if place == 0 else ramp._flip((slab.axis,)))


def _fill_by_statistic(slab, mode, options):
    n = slab.stop - slab.first
    length = options["stat_length"]
    lengths = (n, n) if length is None else _pairs(length, slab.result.ndim)[slab.axis]
    if any(k <= 0 for k in lengths) and mode in ("maximum", "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    low, high = (min(k, n) for k in lengths)
    function = {"maximum": "max", "minimum": "min", "mean": "mean"}[mode]
    for start, stop, to in (
        (slab.first, slab.first + low, (0, slab.first)),
        (slab.stop - high, slab.stop, (slab.stop, slab.end)),
    ):
        value = getattr(slab.part(start, stop), function)(axis=slab.axis, keepdims=True)
        if mode == "mean" and slab.result.dtype.kind in "iu":
            value = value.round()
        slab.write(*to, value)


_FILL = {
    "constant": _fill_constant,
    "edge": _fill_edge,
    "empty": _fill_nothing,
    "wrap": _fill_wrap,
    "reflect": _fill_mirror,
    "symmetric": _fill_mirror,
    "linear_ramp": _fill_ramp,
}


def _pairs(x, ndim, convert=operator.index):
    """A pad argument as one (before, after) for each axis."""
    if isinstance(x, dict):
        x = [x.get(k, x.get(k - ndim, (0, 0))) for k in range(ndim)]
        x = [(p, p) if not hasattr(p, "__len__") else p for p in x]
    pairs = numpy.broadcast_to(numpy.asarray(x), (ndim, 2)) if ndim else ()
    if convert is operator.index and ndim and pairs.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    return [tuple(pair) for pair in pairs]
