"""Chapter: sums, products, extremes, means and what is composed of them."""

import operator
import warnings

import numpy

from tilewise import _core, _ufuncs
from tilewise._creation import asanyarray
from tilewise._fallback import call
from tilewise._namespace import public

ndarray, scalar = _core.ndarray, _core.scalar
_NO = numpy._NoValue


def _plain(*values):
    return tuple(None if v is _NO else v for v in values)


_ops = {}


def _op(function):
    """The row of a ufunc, 0 where there is none."""
    op = _ops.get(function)
    if op is None:
        made = _ufuncs.get(function)
        op = _ops[function] = made._op if isinstance(made, _core.ufunc) and _core.reducible(made._op) else 0
    return op


def _reduce(name, function, a, axis, dtype, out, keepdims, initial, where):
    """A reduction by a ufunc: native, or NumPy's function `name`."""
    if dtype is None and out is None and initial is _NO and where is _NO and isinstance(a, (ndarray, scalar)):
        result = a._reduce(_op(function), axis, keepdims is True or (keepdims is not _NO and bool(keepdims)))
        if result is not None:
            return result
    keepdims = False if keepdims is _NO else keepdims
    if initial is not None:
        start = None if initial is _NO else initial
        result = _ufuncs.reduction(function, a, axis, dtype, out, keepdims, start, True if where is _NO else where)
        if result is not None:
            return result
    kwargs = {"axis": axis, "out": out, "keepdims": keepdims}
    kwargs |= {
        k: v for k, v in (("dtype", dtype), ("initial", initial), ("where", where)) if v is not _NO and v is not None
    }
    return call(name, getattr(numpy, name), (a,), kwargs)


@public(method=True)
def sum(a, axis=None, dtype=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return _reduce("sum", numpy.add, a, axis, dtype, out, keepdims, initial, where)


@public(method=True)
def prod(a, axis=None, dtype=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return _reduce("prod", numpy.multiply, a, axis, dtype, out, keepdims, initial, where)


@public(method=True)
def max(a, axis=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return _reduce("max", numpy.maximum, a, axis, None, out, keepdims, initial, where)


@public(method=True)
def min(a, axis=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return _reduce("min", numpy.minimum, a, axis, None, out, keepdims, initial, where)


@public
def amax(a, axis=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return max(a, axis, out, keepdims, initial, where)


@public
def amin(a, axis=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return min(a, axis, out, keepdims, initial, where)


@public(method=True)
def any(a, axis=None, out=None, keepdims=_NO, *, where=_NO):
    return _reduce("any", numpy.logical_or, a, axis, None, out, keepdims, _NO, where)


@public(method=True)
def all(a, axis=None, out=None, keepdims=_NO, *, where=_NO):
    return _reduce("all", numpy.logical_and, a, axis, None, out, keepdims, _NO, where)


@public
def ptp(a, axis=None, out=None, keepdims=_NO):
    return _ufuncs.get(numpy.subtract)(max(a, axis, None, keepdims), min(a, axis, None, keepdims), out)


def _reduced_count(a, axis):
    """How many elements enter each result."""
    if axis is None:
        return a.size
    count = 1
    for k in axis if isinstance(axis, tuple) else (axis,):
        count *= a.shape[operator.index(k)]
    return count


def _starved(a, axis, ddof, where):
    """Whether too few elements enter a result. A mask is looked at, which waits for it."""
    if where is None or where is True:
        return _reduced_count(a, axis) <= ddof
    counts = sum(asanyarray(where)._broadcast(a.shape), axis)
    return bool(any(asanyarray(counts) <= ddof))


def _moment(name, a, axis, dtype, out, ddof, keepdims, where):
    a = asanyarray(a)
    keepdims, where = _plain(keepdims, where)
    stored = _ufuncs.stored(a)
    usable = out is None or (isinstance(out, ndarray) and out._host() is None)
    if stored is None or not usable or (dtype is not None and not _core.tiles_hold(numpy.dtype(dtype))):
        kwargs = {"axis": axis, "out": out, "dtype": dtype, "keepdims": bool(keepdims)}
        kwargs |= {"where": where} if where is not None else {}
        return call(name, getattr(numpy, name), (a,), kwargs | ({"ddof": ddof} if name != "mean" else {}))
    if axis is not None and not isinstance(axis, (int, tuple)):
        axis = operator.index(axis)
    result = _core.moment(name, stored, axis, bool(keepdims), dtype, out, where, float(ddof))
    if _starved(a, axis, ddof, where):
        text = "Mean of empty slice" if name == "mean" else "Degrees of freedom <= 0 for slice"
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    return result


@public(method=True)
def mean(a, axis=None, dtype=None, out=None, keepdims=_NO, *, where=_NO):
    return _moment("mean", a, axis, dtype, out, 0, keepdims, where)


def _deviation(name, a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    if correction is not _NO:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    if mean is not _NO:
        kwargs = {
            "axis": axis,
            "dtype": dtype,
            "out": out,
            "ddof": ddof,
            "keepdims": keepdims,
            "mean": mean,
            "where": where,
        }
        return call(name, getattr(numpy, name), (a,), {k: v for k, v in kwargs.items() if v is not _NO})
    return _moment(name, a, axis, dtype, out, ddof, keepdims, where)


@public(method=True)
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_NO, *, where=_NO, mean=_NO, correction=_NO):
    return _deviation("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


@public(method=True)
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_NO, *, where=_NO, mean=_NO, correction=_NO):
    return _deviation("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


@public
def count_nonzero(a, axis=None, *, keepdims=False):
    a = asanyarray(a)
    if a._host() is not None or a.dtype.kind == "V":
        return call("count_nonzero", numpy.count_nonzero, (a, axis), {"keepdims": keepdims})
    result = _core.moment("count_nonzero", a, axis, keepdims, None, None, None, 0.0)
    return result


def _arg_extreme(name, maximum, a, axis, out, keepdims):
    a = asanyarray(a)
    (keepdims,) = _plain(keepdims)
    plain_out = out is None or (isinstance(out, ndarray) and out.dtype == numpy.intp)
    if a._host() is not None or a.dtype.kind == "V" or not plain_out:
        return call(name, getattr(numpy, name), (a, axis, out), {"keepdims": bool(keepdims)})
    if axis is not None:
        axis = operator.index(axis)
    if (a.size if axis is None else a.shape[axis] if -a.ndim <= axis < a.ndim else 1) == 0:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    if axis is not None or a.ndim < 2 or a._is_c():
        return _core.arg_extreme(maximum, a, axis, bool(keepdims), out)
    shape = (1,) * a.ndim if keepdims else ()
    if out is not None and out.shape != shape:
        raise ValueError(f"output array does not match result of np.{name}.")
    # Positions count in C order, whatever the order in memory.
    result = _core.arg_extreme(maximum, a.ravel(), None, False, None if out is None else out.reshape(()))
    return out if out is not None else result.reshape(shape) if keepdims else result


@public(method=True)
def argmax(a, axis=None, out=None, *, keepdims=_NO):
    return _arg_extreme("argmax", True, a, axis, out, keepdims)


@public(method=True)
def argmin(a, axis=None, out=None, *, keepdims=_NO):
    return _arg_extreme("argmin", False, a, axis, out, keepdims)


@public(method=True)
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return sum(asanyarray(a).diagonal(offset, axis1, axis2), -1, dtype, out)


@public
def average(a, axis=None, weights=None, returned=False, *, keepdims=_NO):
    a = asanyarray(a)
    keep = {} if keepdims is _NO else {"keepdims": keepdims}
    if weights is not None and (a._host() is not None or (axis is not None and not isinstance(axis, int))):
        return call("average", numpy.average, (a, axis, weights, returned), keep)
    if weights is None:
        result = mean(a, axis, **keep)
        scale = result.dtype.type(a.size / asanyarray(result).size if asanyarray(result).size else 0)
    else:
        weights = asanyarray(weights)
        kind = numpy.result_type(a.dtype, weights.dtype, *(["f8"] if a.dtype.kind in "iub" else []))
        if a.shape != weights.shape:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            if weights.shape != (a.shape[axis],):
                raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
            weights = weights.reshape((-1,) + (1,) * (a.ndim - 1 - axis % a.ndim))
            weights = weights._broadcast(a.shape)
        scale = sum(weights, axis, kind, **keep)
        if any(scale == 0.0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = sum(_ufuncs.get(numpy.multiply)(a, weights, dtype=kind), axis, **keep) / scale
    if not returned:
        return result
    from tilewise import full

    return result, scale if asanyarray(scale).shape == asanyarray(result).shape else full(result.shape, scale)


# ---- Without NaNs


def _without_nan(a, value):
    """(a with NaNs replaced, where they were; None for types that have none)."""
    a = asanyarray(a)
    if a.dtype.kind not in "fc":
        return a, None
    from tilewise import where

    missing = _ufuncs.get(numpy.isnan)(a)
    return where(missing, a.dtype.type(value), a), missing


@public
def nansum(a, axis=None, dtype=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return sum(_without_nan(a, 0)[0], axis, dtype, out, keepdims, initial, where)


@public
def nanprod(a, axis=None, dtype=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return prod(_without_nan(a, 1)[0], axis, dtype, out, keepdims, initial, where)


def _nan_extreme(name, function, a, axis, out, keepdims, initial, where):
    result = _reduce(name, function, a, axis, None, out, keepdims, initial, where)
    if result.dtype.kind in "fc" and _ufuncs.get(numpy.isnan)(result).any():
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=3)
    return result


@public
def nanmax(a, axis=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return _nan_extreme("nanmax", numpy.fmax, a, axis, out, keepdims, initial, where)


@public
def nanmin(a, axis=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return _nan_extreme("nanmin", numpy.fmin, a, axis, out, keepdims, initial, where)


@public
def nanmean(a, axis=None, dtype=None, out=None, keepdims=_NO, *, where=_NO):
    values, missing = _without_nan(a, 0)
    if missing is None or where is not _NO or (dtype is not None and numpy.dtype(dtype).kind not in "fc"):
        if missing is None:
            return mean(a, axis, dtype, out, keepdims, where=where)
        return call(
            "nanmean",
            numpy.nanmean,
            (a, axis, dtype, out),
            {k: v for k, v in (("keepdims", keepdims), ("where", where)) if v is not _NO},
        )
    present = ~missing
    count = sum(present, axis, numpy.intp, None, keepdims)
    total = sum(values, axis, dtype, None, keepdims)
    with numpy.errstate(invalid="ignore", divide="ignore"):
        result = (total / count).astype(total.dtype)
        if (count == 0).any():
            warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=2)
    if out is None:
        return result
    out[...] = result
    return out


def _nan_deviation(name, a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    values, missing = _without_nan(a, 0)
    given = {"dtype": dtype, "out": out, "where": where, "mean": mean}
    given = {k: v for k, v in given.items() if v is not None and v is not _NO}
    if missing is None or given:
        if missing is not None or a.dtype.kind not in "biu":
            kwargs = {"ddof": ddof} | given | ({} if keepdims is _NO else {"keepdims": keepdims})
            return call(name, getattr(numpy, name), (a, axis), kwargs)
        return _deviation(name[3:], a, axis, dtype, out, ddof, keepdims, where, mean, correction)
    ddof = ddof if correction is _NO else correction
    present = ~missing
    count = sum(present, axis, numpy.intp, None, True)
    with numpy.errstate(invalid="ignore", divide="ignore"):
        centre = (sum(values, axis, None, None, True) / count).astype(values.dtype)
        from tilewise import absolute, square
        from tilewise import where as choose

        apart = choose(missing, values.dtype.type(0), values - centre)
        squares = square(absolute(apart)) if values.dtype.kind == "c" else square(apart)
        count = sum(present, axis, numpy.intp, None, keepdims)
        total = sum(squares, axis, None, None, keepdims)
        left = count - ddof
        result = (total / left).astype(total.dtype)
        if (left <= 0).any():
            warnings.warn("Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=3)
            result = choose(left <= 0, total.dtype.type("nan"), result)
            result = result if result.ndim else result[()]
    return result if name == "nanvar" else _ufuncs.get(numpy.sqrt)(result)


@public
def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_NO, *, where=_NO, mean=_NO, correction=_NO):
    return _nan_deviation("nanvar", asanyarray(a), axis, dtype, out, ddof, keepdims, where, mean, correction)


@public
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_NO, *, where=_NO, mean=_NO, correction=_NO):
    return _nan_deviation("nanstd", asanyarray(a), axis, dtype, out, ddof, keepdims, where, mean, correction)
