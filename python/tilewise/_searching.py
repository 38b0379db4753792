"""Chapter: positions among sorted values, and counts by bin."""

import operator

import numpy
from numpy.lib import _histograms_impl as _numpy_histograms

from tilewise import _core, _ufuncs
from tilewise._creation import asanyarray
from tilewise._fallback import call
from tilewise._namespace import public

_NUMBERS = "biufc"


def _numbers(*arrays):
    """Whether all are arrays that tiles hold."""
    return all(_ufuncs.stored(a) is not None and a.dtype.kind in _NUMBERS for a in arrays)


# ---- Positions


def _positions(a, v, right):
    dtype = numpy.promote_types(a.dtype, v.dtype)
    result = _core.search_sorted(a.astype(dtype, copy=False), v.astype(dtype, copy=False), right)
    return result if v.ndim else result[()]


@public(method=True)
def searchsorted(a, v, side="left", sorter=None):
    a, keys = asanyarray(a), asanyarray(v)
    if sorter is not None or not isinstance(side, str) or side not in ("left", "right") or not _numbers(a, keys):
        return call("searchsorted", numpy.searchsorted, (a, v, side, sorter), {})
    if a.ndim != 1:
        deep = "too deep" if a.ndim else "of too small depth"
        raise ValueError(f"object {deep} for desired array")
    return _positions(a, keys, side == "right")


@public
def digitize(x, bins, right=False):
    x, bins = asanyarray(x), asanyarray(bins)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if not _numbers(x, bins) or bins.ndim != 1:
        return call("digitize", numpy.digitize, (x, bins, right), {})
    order = _monotonic(bins)
    if order == 0:
        raise ValueError("bins must be monotonically increasing or decreasing")
    if order > 0:
        return _positions(bins, x, not right)
    return len(bins) - _positions(bins[::-1], x, not right)


def _monotonic(bins):
    """1, -1 or 0. Waits."""
    if bins.size < 2:
        return 1
    before, after = bins[:-1], bins[1:]
    if not (after < before).any():
        return 1
    return 0 if (after > before).any() else -1


# ---- Counts


@public
def bincount(x, /, weights=None, minlength=0):
    x = asanyarray(x)
    w = None if weights is None else asanyarray(weights)
    plain = _numbers(x) and x.ndim == 1 and x.dtype.kind in "biu" and minlength is not None
    if not plain or (w is not None and not (_numbers(w) and w.ndim == 1 and w.dtype.kind != "c")):
        return call("bincount", numpy.bincount, (x, weights, minlength), {})
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    from tilewise import zeros

    if x.size == 0:
        return zeros(minlength, numpy.intp)
    x = x.astype("int64", copy=False)
    highest = int(x.view("uint64").max())
    if highest >= 1 << 63:  # of a negative number, seen without its sign
        raise ValueError("'list' argument must have no negative elements")
    if w is not None:
        if len(w) != len(x):
            raise ValueError("The weights and list don't have the same length.")
        w = w.astype("float64", copy=False)
    length = max(highest + 1, minlength)
    return _core.count_bins(x, "index", length, None, 0.0, w)


def _edges(a, bins, range):
    """(edges, width of all uniform bins together or None): NumPy's, from the extremes alone. Waits."""
    if isinstance(bins, (numpy.ndarray, list, tuple, _core.ndarray)) and numpy.ndim(bins) == 1:
        edges = numpy.asarray(bins)
        if range is not None or edges.dtype.kind not in "biuf":
            return numpy.histogram_bin_edges(numpy.empty(0), edges, range), None
        if (edges[:-1] > edges[1:]).any():
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges, None
    ends = numpy.empty(0, a.dtype)
    if a.size and range is None:
        ends = numpy.array([a.min(), a.max()], a.dtype)
    edges = numpy.histogram_bin_edges(ends, bins, range)
    first, last = _numpy_histograms._get_outer_edges(ends, range)
    return edges, float(_numpy_histograms._unsigned_subtract(last, first))


def _histogram_values(a, bins):
    """a as one line of numbers, or None where NumPy has to do it."""
    a = asanyarray(a)
    if isinstance(bins, str) or not _numbers(a) or a.dtype.kind == "c" or a.dtype == numpy.float16:
        return None
    return (a.astype("uint8") if a.dtype.kind == "b" else a).ravel()


@public
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    values = _histogram_values(a, bins)
    if values is None or asanyarray(a).dtype.kind == "b":
        return call("histogram_bin_edges", numpy.histogram_bin_edges, (a, bins, range, weights), {})
    return asanyarray(_edges(values, bins, range)[0])


@public
def histogram(a, bins=10, range=None, density=None, weights=None):
    values = _histogram_values(a, bins)
    w = None if weights is None else asanyarray(weights)
    known = values is not None and asanyarray(a).dtype.kind != "b"
    if not known or (w is not None and not (_numbers(w) and w.dtype.kind in "iuf")):
        return call("histogram", numpy.histogram, (a, bins, range, density, weights), {})
    if w is not None and w.shape != asanyarray(a).shape:
        raise ValueError("weights should have the same shape as a.")
    edges, width = _edges(values, bins, range)
    count = len(edges) - 1
    kind = numpy.dtype(numpy.intp) if w is None else w.dtype
    if count < 1 or edges.dtype.kind not in "iuf" or edges.dtype == numpy.float16:
        return call("histogram", numpy.histogram, (a, bins, range, density, weights), {})
    dtype = edges.dtype if width is not None else numpy.result_type(values.dtype, edges.dtype)
    ours = asanyarray(edges)
    if values.size == 0:
        from tilewise import zeros

        n = zeros(count, kind)
    else:
        flat = None if w is None else w.ravel().astype("float64", copy=False)
        how = "edges" if width is None else "uniform"
        places = ours.astype(dtype, copy=False)
        n = _core.count_bins(values.astype(dtype, copy=False), how, count, places, width or 0.0, flat)
        n = n.astype(kind, copy=False)
    if density:
        n = n / asanyarray(numpy.array(numpy.diff(edges), float)) / n.sum()
    return n, ours
