"""Chapter: running sums and products, and ufunc.accumulate."""

import operator

import numpy
from numpy.lib.array_utils import normalize_axis_index

from tilewise import _core, _ufuncs
from tilewise._creation import asanyarray
from tilewise._fallback import call
from tilewise._namespace import public
from tilewise._reductions import _without_nan

ndarray, ufunc = _core.ndarray, _core.ufunc


def _accumulated(function, a, axis, dtype, out):
    """ufunc.accumulate natively, or None where NumPy has to do it."""
    made = _ufuncs.get(function)
    if not isinstance(made, ufunc) or function.nin != 2 or function.nout != 1:
        return None
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if out is not None and not (isinstance(out, ndarray) and _ufuncs.stored(out) is not None):
        return None
    if dtype is not None and not _core.tiles_hold(numpy.dtype(dtype)):
        return None
    a = _ufuncs.stored(a)
    if axis is None or isinstance(axis, tuple):
        axis = 0 if a is not None and a.ndim == 1 and axis in (None, (0,)) else None
    if a is None or a.ndim == 0 or axis is None:
        return None
    return _core.accumulate(made._op, a, operator.index(axis), dtype, out)


def _accumulate(self, array, axis=0, dtype=None, out=None):
    """The running combination along an axis. As NumPy's ufunc.accumulate."""
    array = asanyarray(array)
    if array.ndim == 0 and self.nin == 2 and self.nout == 1:
        raise TypeError("cannot accumulate on a scalar")
    result = _accumulated(self._numpy, array, axis, dtype, out)
    if result is None:
        return call(f"{self.__name__}.accumulate", self._numpy.accumulate, (array, axis, dtype, out), {})
    return result


ufunc.accumulate = _accumulate


def _running(name, function, a, axis, dtype, out):
    a = asanyarray(a)
    line = a.ravel() if axis is None or a.ndim == 0 else a
    if axis is None:
        along = 0
    else:
        along = normalize_axis_index(operator.index(axis), line.ndim)
    result = _accumulated(function, line, along, dtype, out)
    if result is None:
        return call(name, getattr(numpy, name), (a, axis, dtype, out), {})
    return result


@public(method=True)
def cumsum(a, axis=None, dtype=None, out=None):
    return _running("cumsum", numpy.add, a, axis, dtype, out)


@public(method=True)
def cumprod(a, axis=None, dtype=None, out=None):
    return _running("cumprod", numpy.multiply, a, axis, dtype, out)


@public
def nancumsum(a, axis=None, dtype=None, out=None):
    return cumsum(_without_nan(a, 0)[0], axis, dtype, out)


@public
def nancumprod(a, axis=None, dtype=None, out=None):
    return cumprod(_without_nan(a, 1)[0], axis, dtype, out)


def _cumulative(function, x, axis, dtype, out, include_initial):
    from tilewise import atleast_1d, concatenate, full

    x = atleast_1d(x)
    if axis is None:
        if x.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    accumulate = _ufuncs.get(function).accumulate
    if not include_initial:
        return accumulate(x, axis, dtype, out)
    axis = normalize_axis_index(operator.index(axis), x.ndim)
    before = (slice(None),) * axis
    if out is not None:
        accumulate(x, axis, dtype, out[(*before, slice(1, None))])
        out[(*before, 0)] = function.identity
        return out
    result = accumulate(x, axis, dtype)
    start = full(x.shape[:axis] + (1,) + x.shape[axis + 1 :], function.identity, result.dtype)
    return concatenate((start, result), axis)


@public
def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    return _cumulative(numpy.add, x, axis, dtype, out, include_initial)


@public
def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    return _cumulative(numpy.multiply, x, axis, dtype, out, include_initial)
