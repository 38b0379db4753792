"""Chapter: formulas that are a few operations of other chapters."""

import operator

import numpy

from tilewise import _core, _ufuncs
from tilewise._creation import arange, asanyarray, empty, linspace, ones, zeros
from tilewise._fallback import call
from tilewise._joining import concatenate
from tilewise._logic import copyto, where
from tilewise._manipulation import moveaxis
from tilewise._namespace import public
from tilewise._products import dot
from tilewise._reductions import average, sum

ndarray, scalar = _core.ndarray, _core.scalar


def _f(name):
    return _ufuncs.get(getattr(numpy, name))


def _number(x):
    """x as an array or scalar of ours that has a dtype."""
    return x if isinstance(x, scalar) else asanyarray(x)


# ---- Values


@public
def astype(x, dtype, /, *, copy=True, device=None):
    if not isinstance(x, (ndarray, scalar, numpy.ndarray)):
        raise TypeError(f"Input should be a NumPy array. It is of type {type(x)}.")
    return _number(x).astype(dtype, copy=copy)


@public
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    given = x
    x = _number(x)
    if x.dtype.kind in "biu":
        return x.copy() if copy else x
    if x.dtype.kind not in "fc" or (isinstance(x, ndarray) and x._host() is not None):
        return call("nan_to_num", numpy.nan_to_num, (given, copy, nan, posinf, neginf), {})
    result = x.copy() if copy or isinstance(x, scalar) else x
    array = _core.as_ndarray(result)
    largest = numpy.finfo(array.real.dtype).max
    for part in (array.real, array.imag) if x.dtype.kind == "c" else (array,):
        for mask, value in (
            (_f("isnan")(part), nan),
            (part == numpy.inf, largest if posinf is None else posinf),
            (part == -numpy.inf, -largest if neginf is None else neginf),
        ):
            copyto(part, value, "unsafe", mask)
    return result if array is result else array[()]


@public
def isposinf(x, out=None):
    return _infinite(x, False, out)


@public
def isneginf(x, out=None):
    return _infinite(x, True, out)


def _infinite(x, negative, out):
    x = _number(x)
    if x.dtype.kind == "c":
        raise TypeError(f"This operation is not supported for {x.dtype} values because it would be ambiguous.")
    sign = _f("signbit")(x) if x.dtype.kind == "f" else x < 0
    return _f("logical_and")(_f("isinf")(x), sign if negative else ~sign, out)


@public
def sinc(x):
    x = _number(x)
    x = x if x.dtype.kind in "fc" else x.astype(float)
    y = numpy.pi * where(x == 0, x.dtype.type(1.0e-20), x)
    y = y if isinstance(x, ndarray) else y[()]
    return _f("sin")(y) / y


@public
def putmask(a, mask, values):
    if (
        isinstance(a, ndarray)
        and isinstance(values, (int, float, complex, scalar, numpy.generic))
        and numpy.shape(mask) == a.shape
    ):
        copyto(a, values, "unsafe", mask)
    else:
        call("putmask", numpy.putmask, (a, mask, values), {})


@public
def fill_diagonal(a, val, wrap=False):
    if not isinstance(a, ndarray) or wrap or a.ndim != 2 or a._host() is not None:
        if isinstance(a, ndarray) and a.ndim < 2:
            raise ValueError("array must be at least 2-d")
        call("fill_diagonal", numpy.fill_diagonal, (a, val), {"wrap": wrap})
    elif numpy.ndim(val) == 0:
        a._diagonal((0, 0, 1))[...] = val
    else:
        from tilewise import resize

        line = a._diagonal((0, 0, 1))
        line[...] = resize(val, line.shape)


# ---- Along an axis


@public
def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = asanyarray(y)
    if x is None:
        d = dx
    else:
        x = asanyarray(x)
        if x.ndim == 1:
            d = x[1:] - x[:-1]
            d = d.reshape((-1,) + (1,) * (y.ndim - 1 - axis % y.ndim))
        else:
            d = moveaxis(moveaxis(x, axis, 0)[1:] - moveaxis(x, axis, 0)[:-1], 0, axis)
    ends = moveaxis(y, axis, 0)
    pairs = moveaxis(ends[1:] + ends[:-1], 0, axis)
    return sum(d * pairs / 2.0, axis)


@public
def gradient(f, *varargs, axis=None, edge_order=1):
    f = asanyarray(f)
    axes = tuple(range(f.ndim)) if axis is None else numpy.lib.array_utils.normalize_axis_tuple(axis, f.ndim)
    simple = all(numpy.ndim(v) == 0 for v in varargs) and len(varargs) in (0, 1, len(axes)) and edge_order in (1, 2)
    if not simple or f.dtype.kind not in "biufc" or any(f.shape[k] <= edge_order for k in axes):
        return call("gradient", numpy.gradient, (f, *varargs), {"axis": axis, "edge_order": edge_order})
    steps = [1.0] * len(axes) if not varargs else list(varargs) * (len(axes) if len(varargs) == 1 else 1)
    f = f if f.dtype.kind in "fc" else f.astype(float)
    results = tuple(_one_gradient(f, step, k, edge_order) for step, k in zip(steps, axes, strict=True))
    return results[0] if len(axes) == 1 else results


def _one_gradient(f, step, axis, edge_order):
    y = moveaxis(f, axis, 0)
    result = empty(y.shape, y.dtype)
    result[1:-1] = (y[2:] - y[:-2]) / (2.0 * step)
    if edge_order == 1:
        result[0] = (y[1] - y[0]) / step
        result[-1] = (y[-1] - y[-2]) / step
    else:
        result[0] = -1.5 / step * y[0] + 2.0 / step * y[1] + -0.5 / step * y[2]
        result[-1] = 0.5 / step * y[-3] + -2.0 / step * y[-2] + 1.5 / step * y[-1]
    return moveaxis(result, 0, axis)


@public
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        return call("cross", numpy.cross, (a, b, axisa, axisb, axisc, axis), {})
    x0, x1, x2 = (x[..., k] for k in range(3))
    y0, y1, y2 = (y[..., k] for k in range(3))
    first = x1 * y2 - x2 * y1
    result = empty(numpy.shape(first) + (3,), first.dtype)
    result[..., 0] = first
    result[..., 1] = x2 * y0 - x0 * y2
    result[..., 2] = x0 * y1 - x1 * y0
    return moveaxis(result, -1, axisc)


@public
def polyval(p, x):
    if isinstance(x, numpy.poly1d) or isinstance(p, numpy.poly1d):
        return call("polyval", numpy.polyval, (p, x), {})
    p, x = asanyarray(p), asanyarray(x)
    result = zeros(x.shape, x.dtype)
    for coefficient in p:
        result = result * x + coefficient
    return result


# ---- Statistics


@public
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    m = asanyarray(m)
    if fweights is not None or aweights is not None or m.ndim > 2 or (ddof is not None and ddof != int(ddof)):
        return call("cov", numpy.cov, (m, y, rowvar, bias, ddof, fweights, aweights), {"dtype": dtype})
    kind = numpy.result_type(
        m.dtype, numpy.float64 if y is None else numpy.result_type(asanyarray(y).dtype, numpy.float64)
    )
    rows = _variables(m, rowvar, kind if dtype is None else dtype)
    if y is not None:
        rows = concatenate((rows, _variables(asanyarray(y), rowvar, rows.dtype)), 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    apart = rows - average(rows, 1).reshape(-1, 1)
    left = rows.shape[1] - ddof
    if left <= 0:
        return call("cov", numpy.cov, (m, y, rowvar, bias, ddof), {"dtype": dtype})
    other = apart.T if apart.dtype.kind != "c" else _f("conjugate")(apart.T)
    return (dot(apart, other) * (1 / numpy.float64(left))).astype(rows.dtype, copy=False).squeeze()[()]


def _variables(m, rowvar, dtype):
    m = m.reshape(1, -1) if m.ndim < 2 else m
    return (m.T if not rowvar and m.shape[0] != 1 else m).astype(dtype)


# ---- Ranges and windows


@public
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    if numpy.ndim(base):
        return call("logspace", numpy.logspace, (start, stop, num, endpoint, base, dtype, axis), {})
    result = _f("power")(base, linspace(start, stop, num, endpoint, axis=axis))
    return result if dtype is None else result.astype(dtype, copy=False)


def _window(M, formula):
    """A symmetric window over n = 1-M, 3-M, ..., M-1, as NumPy writes them."""
    M = operator.index(M) if not isinstance(M, float) else M
    if M < 1:
        return empty(0, float)
    if M == 1:
        return ones(1, float)
    n = arange(1 - M, M, 2).astype(float)
    return formula(n, M)


@public
def hanning(M):
    return _window(M, lambda n, m: 0.5 + 0.5 * _f("cos")(numpy.pi * n / (m - 1)))


@public
def hamming(M):
    return _window(M, lambda n, m: 0.54 + 0.46 * _f("cos")(numpy.pi * n / (m - 1)))


@public
def blackman(M):
    def formula(n, m):
        return 0.42 + 0.5 * _f("cos")(numpy.pi * n / (m - 1)) + 0.08 * _f("cos")(2.0 * numpy.pi * n / (m - 1))

    return _window(M, formula)


@public
def bartlett(M):
    return _window(M, lambda n, m: where(n <= 0, 1 + n / (m - 1), 1 - n / (m - 1)))


# ---- Indices


@public
def diag_indices(n, ndim=2):
    return (arange(n),) * ndim


@public(name="ix_")
def ix_(*args):
    result = []
    for k, given in enumerate(args):
        index = asanyarray(given)
        if index.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if index.size == 0:
            index = index.astype(numpy.intp)
        if index.dtype == bool:
            return call("ix_", numpy.ix_, args, {})
        result.append(index.reshape((1,) * k + (index.size,) + (1,) * (len(args) - k - 1)))
    return tuple(result)


@public
def isfortran(a):
    return a.flags.fnc if hasattr(a, "flags") else False
