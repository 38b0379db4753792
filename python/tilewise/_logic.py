"""Chapter: choosing and comparing elements, and rounding."""

import numpy

from tilewise import _core, _ufuncs
from tilewise._creation import asanyarray, asarray, empty
from tilewise._fallback import call
from tilewise._namespace import public, without_data

ndarray, scalar = _core.ndarray, _core.scalar
_NO = numpy._NoValue


def _f(name):
    return _ufuncs.get(getattr(numpy, name))


def _wrapped(x, beside):
    return numpy.array(x).astype(asanyarray(beside).dtype) if type(x) is int else x


@public
def where(condition, x=None, y=None, /):
    if x is None and y is None:
        from tilewise._selection import nonzero

        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    try:
        result = _core.where(condition, x, y)
    except OverflowError:  # NumPy wraps a Python integer here, unlike elsewhere
        x, y = (_wrapped(a, b) for a, b in ((x, y), (y, x)))
        result = _core.where(condition, x, y)
    return call("where", numpy.where, (condition, x, y), {}) if result is None else result


@public
def copyto(dst, src, casting="same_kind", where=True):
    if not isinstance(dst, ndarray):
        if not isinstance(dst, numpy.ndarray):
            raise TypeError(f"copyto() argument 1 must be numpy.ndarray, not {type(dst).__name__}")
        return call("copyto", numpy.copyto, (dst, src), {"casting": casting, "where": where})
    kind = src if isinstance(src, (int, float, complex)) else asanyarray(src).dtype
    if isinstance(kind, numpy.dtype):
        fits = numpy.can_cast(kind, dst.dtype, casting)
    else:
        fits = numpy.can_cast(numpy.result_type(kind, dst.dtype), dst.dtype, casting)
    if not fits:
        raise TypeError(
            f"Cannot cast array data from {numpy.asarray(without_data(src)).dtype!r} to {dst.dtype!r} according to "
            f"the rule '{casting}'"
        )
    if not isinstance(src, int):
        src = asanyarray(src)  # what is no Python integer is cast, not asked whether it fits
    if where is True:
        dst[...] = src
        return None
    value = src
    if dst._host() is None and dst.dtype.kind != "V":
        value = empty(asanyarray(src).shape, dst.dtype)
        value[...] = src
        if _core.where_into(dst, where, value):
            return None
    return call("copyto", numpy.copyto, (dst, src), {"casting": casting, "where": where})


def _clip(a, a_min, a_max, out, kwargs):
    a = asanyarray(a)
    if a.dtype.kind in "iu":  # Python integers beyond the type bound nothing
        if type(a_min) is int and a_min <= numpy.iinfo(a.dtype).min:
            a_min = None
        if type(a_max) is int and a_max >= numpy.iinfo(a.dtype).max:
            a_max = None
    if a_min is None and a_max is None:
        return _f("positive")(a, out=out, **kwargs) if a.dtype.kind != "b" else a.copy()
    if a_max is None:
        return _f("maximum")(a, a_min, out=out, **kwargs)
    if a_min is None:
        return _f("minimum")(a, a_max, out=out, **kwargs)
    if kwargs or a._host() is not None:
        return call("clip", numpy.clip, (a, a_min, a_max), {"out": out, **kwargs})
    bounds = [x if type(x) in (int, float, complex) else asanyarray(x) for x in (a_min, a_max)]
    if {x.dtype for x in bounds if isinstance(x, ndarray)} <= {a.dtype}:
        return _f("minimum")(_f("maximum")(a, a_min), a_max, out=out)
    # All three make the type: step by step a Python number would count for more than it does.
    kind = numpy.result_type(a.dtype, *(x.dtype if isinstance(x, ndarray) else x for x in bounds))
    return _f("minimum")(_f("maximum")(a, a_min, dtype=kind), a_max, out=out, dtype=kind)


@public(method=True)
def clip(a, a_min=_NO, a_max=_NO, out=None, *, min=_NO, max=_NO, **kwargs):
    if a_min is _NO and a_max is _NO:
        a_min, a_max = (None if x is _NO else x for x in (min, max))
    elif min is not _NO or max is not _NO:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    elif a_min is _NO:
        raise TypeError("clip() missing 1 required positional argument: 'a_min'")
    elif a_max is _NO:
        a_max = None
    return _clip(a, a_min, a_max, out, kwargs)


@public(method=True)
def round(a, decimals=0, out=None):
    a = asanyarray(a) if not isinstance(a, scalar) else a
    kind = a.dtype.kind
    if kind not in "fiuc" or (kind in "iu" and decimals < 0) or (isinstance(a, ndarray) and a._host() is not None):
        return call("round", numpy.round, (a, decimals, out), {})
    if kind == "c":
        result = empty(a.shape, a.dtype)
        result.real[...] = round(a.real, decimals)
        result.imag[...] = round(a.imag, decimals)
        result = result if isinstance(a, ndarray) else result[()]
    elif kind in "iu":
        result = a.copy()
    elif decimals == 0:
        return _f("rint")(a, out=out)
    else:
        factor = a.dtype.type(10.0 ** abs(decimals))
        first, last = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
        result = _f(last)(_f("rint")(_f(first)(a, factor)), factor)
    if out is None:
        return result
    copyto(out, result, "unsafe")
    return out


@public
def around(a, decimals=0, out=None):
    return round(a, decimals, out)


@public
def fix(x, out=None):
    return _f("trunc")(x, out=out)


@public
def real(val):
    return asanyarray(val).real if not isinstance(val, scalar) else val.real


@public
def imag(val):
    return asanyarray(val).imag if not isinstance(val, scalar) else val.imag


@public
def angle(z, deg=False):
    z = asanyarray(z) if not isinstance(z, scalar) else z
    zero = z.dtype.type(0) if z.dtype.kind == "f" else 0.0
    part = z.imag if z.dtype.kind == "c" else zero
    result = _f("arctan2")(part, z.real)
    return result * (180 / numpy.pi) if deg else result


@public
def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    conditions = [asarray(c) for c in condlist]
    for k, condition in enumerate(conditions):
        if condition.dtype != bool:
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    choices = [asarray(c) for c in choicelist]
    dtype = numpy.result_type(
        *(without_data(c) if not isinstance(c, (int, float, complex)) else c for c in (*choicelist, default))
    )
    result = default
    for condition, choice in zip(conditions[::-1], choices[::-1], strict=True):
        result = where(condition, choice, result)
    return result.astype(dtype, copy=False)


# ---- Comparison of whole arrays


@public
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    x, y = (v if isinstance(v, scalar) else asanyarray(v) for v in (a, b))
    if y.dtype.kind != "m":
        y = y.astype(numpy.result_type(y.dtype, 1.0)) if y.dtype.kind not in "fc" else y
    with numpy.errstate(invalid="ignore"):
        near = _f("less_equal")(_f("absolute")(x - y), atol + rtol * _f("absolute")(y))
        result = (near & _f("isfinite")(y)) | (x == y)
        if equal_nan:
            result = result | (_f("isnan")(x) & _f("isnan")(y)) if x.dtype.kind in "fc" else result
    return result


@public
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


@public
def array_equal(a1, a2, equal_nan=False):
    try:
        a, b = asarray(a1), asarray(a2)
    except Exception:
        return False
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan and a.dtype.kind in "fc" and b.dtype.kind in "fc":
        same = same | (_f("isnan")(a) & _f("isnan")(b))
    return bool(asarray(same).all())


@public
def array_equiv(a1, a2):
    try:
        a, b = asarray(a1), asarray(a2)
        numpy.broadcast_shapes(a.shape, b.shape)
    except Exception:
        return False
    return bool(asarray(a == b).all())


# ---- Differences


@public
def diff(a, n=1, axis=-1, prepend=_NO, append=_NO):
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    a = asanyarray(a)
    if n == 0:
        return a
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = numpy.lib.array_utils.normalize_axis_index(axis, a.ndim)
    edges = []
    for edge in (prepend, append):
        if edge is not _NO:
            edge = asanyarray(edge)
            edges.append(edge._broadcast(a.shape[:axis] + (1,) + a.shape[axis + 1 :]) if edge.ndim == 0 else edge)
        else:
            edges.append(None)
    if any(edge is not None for edge in edges):
        from tilewise import concatenate

        a = concatenate([x for x in (edges[0], a, edges[1]) if x is not None], axis)
    before = (slice(None),) * axis
    function = _f("not_equal" if a.dtype == bool else "subtract")
    for _ in range(n):
        a = function(a[before + (slice(1, None),)], a[before + (slice(None, -1),)])
    return a


@public
def ediff1d(ary, to_end=None, to_begin=None):
    a = asanyarray(ary).ravel()
    if to_end is not None or to_begin is not None:
        return call("ediff1d", numpy.ediff1d, (a, to_end, to_begin), {})
    return a[1:] - a[:-1]


# ---- Shapes without data


@public
def shape(a):
    return a.shape if hasattr(a, "shape") else asarray(a).shape


@public
def ndim(a):
    return a.ndim if hasattr(a, "ndim") else asarray(a).ndim


@public
def size(a, axis=None):
    if axis is None:
        return a.size if hasattr(a, "size") else asarray(a).size
    count = 1
    for k in axis if isinstance(axis, tuple) else (axis,):
        count *= shape(a)[k]
    return count


@public
def isscalar(element):
    return isinstance(element, scalar) or numpy.isscalar(element)


@public
def iscomplex(x):
    x = asanyarray(x)
    return x.imag != 0 if x.dtype.kind == "c" else _f("not_equal")(x, x) & False


@public
def isreal(x):
    return imag(x) == 0


@public
def shares_memory(a, b, /, max_work=-1):
    if not (isinstance(a, ndarray) and isinstance(b, ndarray)) or a._host() is not None or b._host() is not None:
        return call("shares_memory", numpy.shares_memory, (a, b), {}, quiet=True)
    if not a._shares(b):
        return False
    # The views as NumPy sees them, over one buffer that is never touched.
    return numpy.shares_memory(*_ghosts(a, b), max_work=max_work)


@public
def may_share_memory(a, b, /, max_work=0):
    if isinstance(a, ndarray) and isinstance(b, ndarray) and a._host() is None and b._host() is None:
        (low, high), (start, stop) = a._range(), b._range()
        return a._shares(b) and low < stop and start < high
    return call("may_share_memory", numpy.may_share_memory, (a, b), {}, quiet=True)


def _ghosts(*arrays):
    import mmap

    end = 1
    for a in arrays:
        end = end if a._range()[1] < end else a._range()[1]
    memory = mmap.mmap(-1, end)  # address space only
    for a in arrays:
        yield numpy.ndarray(a.shape, a.dtype, memory, a._offset(), a.strides)
