"""Chapter: array creation."""

import math
import operator

import numpy

from tilewise import _core
from tilewise._fallback import Gathered
from tilewise._namespace import public

ndarray, scalar = _core.ndarray, _core.scalar
_OURS = (ndarray, scalar)


def shape_of(shape):
    """A shape argument as a tuple of integers, checked as NumPy checks it."""
    if isinstance(shape, (ndarray, numpy.ndarray)):
        shape = shape.tolist()
    try:
        shape = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
        shape = tuple(operator.index(n) for n in shape)
    except TypeError:
        raise TypeError(f"expected a sequence of integers or a single integer, got {shape!r}") from None
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    if len(shape) > 64:
        raise ValueError(f"maximum supported dimension for an ndarray is currently 64, found {len(shape)}")
    return shape


def _check(order, device, like=None):
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')
    if not isinstance(order, str) or order.upper() not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")


def _made(shape, dtype, value, order, host):
    """An array of one value. `host` makes what tiles cannot hold."""
    shape, dtype = shape_of(shape), numpy.dtype(dtype)
    if dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
        shape += inner
    if not _core.tiles_hold(dtype):
        return _core.hold_numpy(host(shape, dtype))
    fortran = order.upper() == "F" and len(shape) > 1
    if fortran:
        shape = shape[::-1]
    if value is None or dtype.kind == "V":
        result = _core.empty(shape, dtype)
        if value is not None:
            result[...] = value
    else:
        result = _core.full(shape, value if isinstance(value, dtype.type) else numpy.full((), value, dtype)[()])
    return result.T if fortran else result


@public
def empty(shape, dtype=float, order="C", *, device=None, like=None):
    _check(order, device)
    return _made(shape, dtype, None, order, numpy.empty)


_ZEROS, _ONES = {}, {}  # values by dtype argument, for the common calls


def _value(known, dtype, make):
    """The constant of a dtype that was given as a type, a dtype or text; None for other dtypes and arguments."""
    try:
        return known[dtype]
    except (KeyError, TypeError):
        kind = numpy.dtype(dtype)
        if kind.kind not in "biufc" or not _core.tiles_hold(kind) or not isinstance(dtype, (type, numpy.dtype, str)):
            return None
        return known.setdefault(dtype, make((), kind)[()])


@public
def zeros(shape, dtype=float, order="C", *, device=None, like=None):
    if order == "C" and device is None and type(shape) in (int, tuple):
        value = _value(_ZEROS, dtype, numpy.zeros)
        if value is not None:
            return _core.full(shape, value)
    _check(order, device)
    dtype = numpy.dtype(dtype)
    value = numpy.zeros((), dtype)[()] if dtype.subdtype is None else 0
    return _made(shape, dtype, value, order, numpy.zeros)


@public
def ones(shape, dtype=None, order="C", *, device=None, like=None):
    if order == "C" and device is None and type(shape) in (int, tuple):
        value = _value(_ONES, float if dtype is None else dtype, numpy.ones)
        if value is not None:
            return _core.full(shape, value)
    _check(order, device)
    return _made(shape, float if dtype is None else dtype, 1, order, numpy.ones)


@public
def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    _check(order, device)
    lazy = isinstance(fill_value, _OURS)
    if dtype is None:
        dtype = fill_value.dtype if lazy else numpy.asarray(fill_value).dtype
    dtype = numpy.dtype(dtype)
    if not lazy and numpy.ndim(fill_value) == 0:
        return _made(shape, dtype, fill_value, order, lambda s, d: numpy.full(s, fill_value, d))
    result = empty(shape, dtype, order)
    result[...] = _core.as_ndarray(fill_value) if lazy else fill_value
    return result


def _like(a, dtype, order, shape):
    """(shape, dtype, axis order of the memory) of an array made like another."""
    if not isinstance(a, _OURS):
        a = numpy.asarray(a)
    dtype = a.dtype if dtype is None else numpy.dtype(dtype)
    own = shape is None
    shape = a.shape if own else shape_of(shape)
    order = order.upper()
    if order == "A" or (order == "K" and not (own and len(shape) > 1)):
        order = "F" if _is_fortran(a) else "C"
    if order != "K":
        return shape, dtype, order
    axes = sorted(range(len(shape)), key=lambda k: -abs(a.strides[k]))
    if 0 in a.strides or axes == list(range(len(shape))):
        return shape, dtype, "C"
    return shape, dtype, axes


def _is_fortran(a):
    return a.flags.f_contiguous and not a.flags.c_contiguous and a.ndim > 1


def _made_like(make, a, dtype, order, subok, shape, device):
    if type(a) is ndarray and shape is None and order == "K" and device is None and a._is_c() and a._host() is None:
        return make(a.shape, a.dtype if dtype is None else dtype)
    _check(order, device)
    shape, dtype, order = _like(a, dtype, order, shape)
    if isinstance(order, str):
        result = make(shape, dtype, order)
    else:
        inverse = sorted(range(len(order)), key=order.__getitem__)
        result = make([shape[k] for k in order], dtype, "C").transpose(inverse)
    if subok and isinstance(a, ndarray) and type(a) is not ndarray:
        result = result.view(type(a))
    return result


@public
def empty_like(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return _made_like(empty, prototype, dtype, order, subok, shape, device)


@public
def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return _made_like(zeros, a, dtype, order, subok, shape, device)


@public
def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return _made_like(ones, a, dtype, order, subok, shape, device)


@public
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    def make(shape, dtype, order="C"):
        return full(shape, fill_value, dtype, order)

    return _made_like(make, a, dtype, order, subok, shape, device)


# ---- From existing data


def _contains_ours(x, depth=0):
    if isinstance(x, _OURS):
        return True
    return depth < 3 and isinstance(x, (list, tuple)) and any(_contains_ours(item, depth + 1) for item in x[:64])


def _from_sequence(obj, dtype, order):
    """A list that holds arrays of ours: stacked natively if they are alike."""
    arrays = all(isinstance(x, ndarray) and x._host() is None and x.ndim for x in obj)
    if arrays and len({(x.shape, x.dtype) for x in obj}) == 1:
        from tilewise import stack

        result = stack(obj)
        return result if dtype is None else result.astype(dtype, copy=False)
    return _core.from_numpy(numpy.array(Gathered().take(obj), dtype=dtype, order=order))


@public
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0, like=None):
    if isinstance(object, scalar):
        object = _core.as_ndarray(object)
    if isinstance(object, ndarray):
        result = _from_ours(object, dtype, copy, order)
        if not subok and type(result) is not ndarray:
            result = result.view(ndarray)
    elif copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    elif isinstance(object, (list, tuple)) and object and _contains_ours(object):
        result = _from_sequence(object, dtype, order)
    else:
        host = numpy.array(object, dtype=dtype, copy=None, order=order)
        result = _core.from_numpy(host)
        if host.ndim > 1 and not host.flags.c_contiguous and host.flags.f_contiguous and order in ("K", "A", "F"):
            result = result.copy("F")
    if ndmin > result.ndim:
        result = result.reshape((1,) * (ndmin - result.ndim) + result.shape)
    return result


def _from_ours(a, dtype, copy, order):
    dtype = a.dtype if dtype is None else numpy.dtype(dtype)
    order = order or "K"
    fits = order in ("K", "A") or (a.flags.c_contiguous if order == "C" else a.flags.f_contiguous)
    if dtype == a.dtype and fits and not copy:
        return a
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if dtype == a.dtype:
        return a.copy(order)
    result = a.astype(dtype)
    return result if order in ("K", "A") else result.copy(order)


@public
def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if type(a) is ndarray and dtype is None and order is None and copy is None:
        return a
    _check(order or "K", device)
    return array(a, dtype, copy=copy, order=order or "K")


@public
def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if isinstance(a, ndarray) and dtype is None and order is None and copy is None:
        return a
    _check(order or "K", device)
    return array(a, dtype, copy=copy, order=order or "K", subok=True)


@public
def ascontiguousarray(a, dtype=None, *, like=None):
    result = asarray(a, dtype, "C")
    return result if result.ndim else result.reshape(1)


@public
def asfortranarray(a, dtype=None, *, like=None):
    result = asarray(a, dtype, "F")
    return result if result.ndim else result.reshape(1)


@public
def asarray_chkfinite(a, dtype=None, order=None):
    result = asarray(a, dtype, order)
    if result.dtype.kind in "fc" and not numpy.asarray(_all_finite(result)):
        raise ValueError("array must not contain infs or NaNs")
    return result


def _all_finite(a):
    from tilewise import isfinite

    return isfinite(a).all()


@public
def copy(a, order="K", subok=False):
    return array(a, order=order, subok=subok, copy=True)


@public
def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    from tilewise import indices

    return function(*indices(shape, dtype=dtype), **kwargs)


@public
def from_dlpack(x, /, *, device=None, copy=None):
    if isinstance(x, ndarray):
        return x.copy() if copy else x
    if copy is False:
        raise BufferError("tiles hold a copy of another library's data: copy=False is not possible")
    return _core.from_numpy(numpy.from_dlpack(x))


# ---- Ranges

_INT = numpy.dtype(int)
_WIDE = 2**56  # below it no count of bytes is too big


@public
def arange(start_or_stop, /, stop=None, step=1, *, dtype=None, device=None, like=None):
    if type(start_or_stop) is int and dtype is None and step == 1 and (stop is None or type(stop) is int):
        first, end = (0, start_or_stop) if stop is None else (start_or_stop, stop)
        if -_WIDE < first < _WIDE and -_WIDE < end < _WIDE:
            return _core.arange(numpy.int64(first), numpy.int64(first + 1), max(end - first, 0), _INT)
    _check("C", device)
    start, stop = (0, start_or_stop) if stop is None else (start_or_stop, stop)
    step = 1 if step is None else step
    start, stop, step = (x._value() if isinstance(x, scalar) else x for x in (start, stop, step))
    given = dtype
    if dtype is None:
        dtype = numpy.result_type(numpy.asarray(start).dtype, numpy.asarray(stop).dtype, numpy.asarray(step).dtype)
        if all(isinstance(x, (int, bool)) for x in (start, stop, step)):
            dtype = numpy.result_type(*(numpy.asarray(x).dtype for x in (start, stop, step)), int)
    dtype = numpy.dtype(dtype)
    if not _core.tiles_hold(dtype) or dtype.kind not in "iufc":
        return _core.from_numpy(numpy.arange(start, stop, step, given))
    if step == 0:
        raise (
            ZeroDivisionError("division by zero")
            if isinstance(step, int)
            else ValueError("Maximum allowed size exceeded")
        )
    length = (stop - start) / step
    if isinstance(length, complex) or numpy.iscomplexobj(length):
        length = min(length.real, length.imag)
    if math.isnan(length) or math.isinf(length):
        raise ValueError("arange: cannot compute length")
    if all(isinstance(x, int) for x in (start, stop, step)):
        count = max(-((start - stop) // step), 0)
    else:
        count = max(math.ceil(length), 0)
    if count >= 2**63:
        raise ValueError("Maximum allowed size exceeded")
    first = numpy.asarray(start).astype(dtype)[()]
    following = numpy.asarray(start + step).astype(dtype)[()]
    return _core.arange(first, following, count, dtype)


@public
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    _check("C", device)
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    steps = num - 1 if endpoint else num
    if all(type(x) in (int, float) for x in (start, stop)):
        result = _core.linspace(float(start), float(stop), num, bool(endpoint), numpy.dtype(float))
        step = (numpy.float64(stop) - numpy.float64(start)) / steps if steps > 0 else numpy.float64("nan")
    else:
        result, step = _linspace_of_arrays(start, stop, num, endpoint, steps)
    if dtype is not None and numpy.dtype(dtype) != result.dtype:
        result = _rounded_down(result, numpy.dtype(dtype))
    if axis != 0:
        from tilewise import moveaxis

        result = moveaxis(result, 0, axis)
    return (result, step) if retstep else result


def _linspace_of_arrays(start, stop, num, endpoint, steps):
    """NumPy's own way to compute it, for ends that are arrays or no Python numbers."""
    start, stop = (x if isinstance(x, _OURS) else asanyarray(x) for x in (start, stop))
    kind = numpy.result_type(start.dtype, stop.dtype, numpy.float64 if start.dtype.kind in "iub" else start.dtype)
    kind = numpy.result_type(kind, 0.0)
    start, stop = start.astype(kind), stop.astype(kind)
    delta = stop - start
    result = arange(num, dtype=kind.type(0).real.dtype).reshape((-1,) + (1,) * delta.ndim)
    step = delta / steps if steps > 0 else numpy.float64("nan")
    if steps > 0 and (step == 0).any():
        result = result / steps * delta
    else:
        result = result * (step if steps > 0 else delta)
    result = result + start
    if endpoint and num > 1:
        result[-1] = stop
    return result.astype(kind, copy=False), step


def _rounded_down(values, dtype):
    from tilewise import floor

    return (floor(values) if dtype.kind in "iu" else values).astype(dtype)


@public
def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    _check(order, device)
    N, k = operator.index(N), operator.index(k)
    M = N if M is None else operator.index(M)
    if N < 0 or M < 0:
        raise ValueError("negative dimensions are not allowed")
    dtype = numpy.dtype(dtype)
    if not _core.tiles_hold(dtype) or dtype.kind == "V":
        return _core.from_numpy(numpy.eye(N, M, k, dtype))
    return _core.eye(M, N, -k, dtype).T if order.upper() == "F" else _core.eye(N, M, k, dtype)


@public
def identity(n, dtype=None, *, like=None):
    return eye(n, dtype=float if dtype is None else dtype)


@public
def indices(dimensions, dtype=int, sparse=False):
    dimensions = tuple(dimensions)
    n = len(dimensions)
    axes = [
        arange(extent, dtype=dtype).reshape((1,) * k + (extent,) + (1,) * (n - k - 1))
        for k, extent in enumerate(dimensions)
    ]
    if sparse:
        return tuple(axes)
    result = empty((n,) + dimensions, dtype)
    for k, axis in enumerate(axes):
        result[k] = axis
    return result


@public
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    grids = [asanyarray(x).reshape((1,) * k + (-1,) + (1,) * (n - k - 1)) for k, x in enumerate(xi)]
    if indexing == "xy" and n > 1:
        grids[0] = grids[0].reshape((1, -1) + (1,) * (n - 2))
        grids[1] = grids[1].reshape((-1, 1) + (1,) * (n - 2))
    if not sparse:
        from tilewise import broadcast_arrays

        grids = broadcast_arrays(*grids)
    return tuple(x.copy() for x in grids) if copy else tuple(grids)


# ---- Triangles and diagonals


@public
def tri(N, M=None, k=0, dtype=float, *, like=None):
    M = N if M is None else M
    return (arange(N).reshape(-1, 1) >= arange(-k, M - k)).astype(dtype)


@public
def tril(m, k=0):
    from tilewise import where

    m = asanyarray(m)
    return where(tri(*m.shape[-2:], k=k, dtype=bool), m, numpy.zeros((), m.dtype)[()])


@public
def triu(m, k=0):
    from tilewise import where

    m = asanyarray(m)
    return where(tri(*m.shape[-2:], k=k - 1, dtype=bool), numpy.zeros((), m.dtype)[()], m)


@public
def diag(v, k=0):
    v = asanyarray(v)
    if v.ndim == 2:
        return v.diagonal(k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.shape[0] + abs(k)
    result = zeros((n, n), v.dtype)
    result.diagonal(k)[...] = v
    return result


@public
def diagflat(v, k=0):
    return diag(asanyarray(v).reshape(-1), k)
