"""Chapter: native functions of NumPy's submodules."""

import operator

import numpy
from numpy.lib.array_utils import normalize_axis_tuple

from tilewise import _namespace, _ufuncs
from tilewise._creation import arange, asanyarray, asarray, eye
from tilewise._fallback import call
from tilewise._modules import public
from tilewise._reductions import max, min, sum

_ours = _namespace.NAMES


# ---- lib.stride_tricks


@public("lib.stride_tricks.sliding_window_view")
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    x = asanyarray(x)
    window = tuple(window_shape) if hasattr(window_shape, "__iter__") else (window_shape,)
    if any(n < 0 for n in window):
        raise ValueError("`window_shape` cannot contain negative values")
    axes = tuple(range(x.ndim)) if axis is None else normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    if len(window) != len(axes):
        what = "shape for all dimensions of" if axis is None else "matching length window_shape and axis for"
        raise ValueError(f"Must provide {what} `x`; got {len(window)} window_shape elements and {len(axes)} axes")
    shape = list(x.shape)
    for k, n in zip(axes, window, strict=True):
        if shape[k] < n:
            raise ValueError("window shape cannot be larger than input array shape")
        shape[k] -= n - 1
    strides = x.strides + tuple(x.strides[k] for k in axes)
    return x._strided(tuple(shape) + window, strides, 0)


@public("lib.stride_tricks.as_strided")
def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """As NumPy's, within the array's own store: ValueError beyond it."""
    x = asanyarray(x)
    return x._strided(x.shape if shape is None else tuple(shape), x.strides if strides is None else tuple(strides), 0)


# ---- linalg


for _name in ("matmul", "tensordot", "vecdot", "matrix_transpose"):
    public("linalg." + _name)(_ours[_name])


@public("linalg.diagonal")
def diagonal(x, /, *, offset=0):
    return _ours["diagonal"](x, offset, -2, -1)


@public("linalg.trace")
def trace(x, /, *, offset=0, dtype=None):
    return _ours["trace"](x, offset, -2, -1, dtype)


@public("linalg.outer")
def outer(x1, x2, /):
    a, b = asanyarray(x1), asanyarray(x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={a.ndim} and x2.ndim={b.ndim}.")
    return _ours["outer"](a, b)


@public("linalg.cross")
def cross(x1, x2, /, *, axis=-1):
    a, b = asanyarray(x1), asanyarray(x2)
    if a.shape[axis] != 3 or b.shape[axis] != 3:
        raise ValueError(
            f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {a.shape[axis]} and "
            f"{b.shape[axis]} dimensional instead."
        )
    return _ours["cross"](a, b, axis=axis)


@public("linalg.matrix_power")
def matrix_power(a, n):
    a, n = asanyarray(a), operator.index(n)
    if n < 0 or a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        return call("linalg.matrix_power", numpy.linalg.matrix_power, (a, n), {})
    if n == 0:
        result = _ours["empty_like"](a)
        result[...] = eye(a.shape[-1], dtype=a.dtype)
        return result
    if n == 3:
        return (a @ a) @ a
    result, square = None, None
    while n > 0:  # NumPy's order of products
        square = a if square is None else square @ square
        n, bit = divmod(n, 2)
        if bit:
            result = square if result is None else result @ square
    return result.copy() if result is a else result


@public("linalg.norm")
def norm(x, ord=None, axis=None, keepdims=False):
    """Vector norms of orders 1, 2, inf and the Frobenius norm natively; others by NumPy."""
    x = asarray(x)
    flat = axis is None and ord is None
    vector = isinstance(axis, int) or (axis is None and x.ndim == 1)
    if x.dtype.kind not in "biufc" or not (flat or (vector and ord in (None, 1, 2, numpy.inf, -numpy.inf))):
        return call("linalg.norm", numpy.linalg.norm, (x, ord, axis, keepdims), {})
    x = x if x.dtype.kind in "fc" else x.astype(float)
    if ord in (None, 2):
        square = x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x
        return _ufuncs.get(numpy.sqrt)(sum(square, axis, keepdims=keepdims))
    size = _ufuncs.get(numpy.absolute)(x)
    return {1: sum, numpy.inf: max, -numpy.inf: min}[ord](size, axis, keepdims=keepdims)


# ---- fft: what moves and counts only


def _shifted(x, axes, way):
    x = asarray(x)
    if axes is None:
        axes = range(x.ndim)
    axes = tuple(axes) if hasattr(axes, "__iter__") else (axes,)
    return _ours["roll"](x, tuple(way(x.shape[k]) for k in axes), axes)


@public("fft.fftshift")
def fftshift(x, axes=None):
    return _shifted(x, axes, lambda n: n // 2)


@public("fft.ifftshift")
def ifftshift(x, axes=None):
    return _shifted(x, axes, lambda n: -(n // 2))


@public("fft.fftfreq")
def fftfreq(n, d=1.0, device=None):
    if not isinstance(n, (int, numpy.integer)):
        raise ValueError("n should be an integer")
    half = (n - 1) // 2 + 1
    return _ours["concatenate"]((arange(0, half), arange(-(n // 2), 0))) * (1.0 / (n * d))


@public("fft.rfftfreq")
def rfftfreq(n, d=1.0, device=None):
    if not isinstance(n, (int, numpy.integer)):
        raise ValueError("n should be an integer")
    return arange(0, n // 2 + 1) * (1.0 / (n * d))
