"""Chapter: shapes, joining, splitting and rearranging."""

import operator

import numpy
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tilewise import _core
from tilewise._creation import asanyarray, asarray, empty, shape_of
from tilewise._fallback import call
from tilewise._namespace import public, set_method

ndarray, scalar = _core.ndarray, _core.scalar


def _held(a):
    return isinstance(a, ndarray) and a._host() is not None


def _by_numpy(name, a, *args, **kwargs):
    """NumPy's function for an array that NumPy holds; views stay views."""
    result = getattr(numpy, name)(a._host(), *args, **kwargs)
    return _core.hold_numpy(result) if type(result) is numpy.ndarray else result


# ---- Shapes


@public
def reshape(a, /, shape, order="C", *, copy=None):
    return asanyarray(a).reshape(shape, order=order, copy=copy)


@public(method=True)
def ravel(a, order="C"):
    a = asanyarray(a)
    if order == "K":
        if a._host() is None and not a._is_c():
            axes = sorted(range(a.ndim), key=lambda k: -abs(a.strides[k]))
            back = a.transpose(axes)
            for k, stride in enumerate(back.strides):
                if stride < 0:
                    back = back._flip((k,))
            return back.reshape(-1) if back._is_c() else a.transpose(axes).reshape(-1)
        order = "C"
    return a.reshape(-1, order=order)


@set_method
def flatten(self, order="C"):
    """A copy in one axis."""
    result = ravel(self, order)
    return result.copy() if result.base is not None or result is self else result


@public
def transpose(a, axes=None):
    a = asanyarray(a)
    return a.transpose() if axes is None else a.transpose(axes)


@public
def permute_dims(a, axes=None):
    return transpose(a, axes)


@public
def matrix_transpose(x, /):
    x = asanyarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return swapaxes(x, -1, -2)


@public(method=True)
def swapaxes(a, axis1, axis2):
    a = asanyarray(a)
    axis1, axis2 = normalize_axis_index(axis1, a.ndim), normalize_axis_index(axis2, a.ndim)
    axes = list(range(a.ndim))
    axes[axis1], axes[axis2] = axis2, axis1
    return a.transpose(axes)


@public
def moveaxis(a, source, destination):
    a = asanyarray(a)
    source = normalize_axis_tuple(source, a.ndim, "source")
    destination = normalize_axis_tuple(destination, a.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [k for k in range(a.ndim) if k not in source]
    for to, axis in sorted(zip(destination, source, strict=True)):
        order.insert(to, axis)
    return a.transpose(order)


@public
def rollaxis(a, axis, start=0):
    a = asanyarray(a)
    axis = normalize_axis_index(axis, a.ndim)
    if start < 0:
        start += a.ndim
    if not 0 <= start <= a.ndim:
        raise numpy.exceptions.AxisError(f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}, but {start} was passed in")
    order = [k for k in range(a.ndim) if k != axis]
    order.insert(start - (axis < start), axis)
    return a.transpose(order)


@public
def expand_dims(a, axis):
    a = asanyarray(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = normalize_axis_tuple(axes, a.ndim + len(axes))
    return _by_numpy("expand_dims", a, axis) if _held(a) else a._newaxis(axes)


@public(method=True)
def squeeze(a, axis=None):
    a = asanyarray(a)
    if _held(a):
        return _by_numpy("squeeze", a, axis)
    if axis is None:
        axes = tuple(k for k, n in enumerate(a.shape) if n == 1)
    else:
        axes = normalize_axis_tuple(axis, a.ndim)
        if any(a.shape[k] != 1 for k in axes):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return a._squeeze(axes)


@public
def atleast_1d(*arys):
    return _each(arys, lambda a: a if a.ndim else a.reshape(1))


@public
def atleast_2d(*arys):
    return _each(arys, lambda a: a if a.ndim > 1 else a.reshape(1, -1))


@public
def atleast_3d(*arys):
    return _each(arys, lambda a: a if a.ndim > 2 else a.reshape(a.shape + (1,)) if a.ndim == 2 else a.reshape(1, -1, 1))


def _each(arys, function):
    results = tuple(function(asanyarray(a)) for a in arys)
    return results[0] if len(results) == 1 else results


@public
def broadcast_to(array, shape, subok=False):
    array = asarray(array)
    shape = shape_of(shape)
    if _held(array):
        return _by_numpy("broadcast_to", array, shape)
    return array._broadcast(shape)


@public
def broadcast_arrays(*args, subok=False):
    arrays = [asarray(a) for a in args]
    shape = numpy.broadcast_shapes(*(a.shape for a in arrays))
    return tuple(a if a.shape == shape else broadcast_to(a, shape) for a in arrays)


@public(method=True)
def diagonal(a, offset=0, axis1=0, axis2=1):
    a = asanyarray(a)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    axis1, axis2 = normalize_axis_index(axis1, a.ndim), normalize_axis_index(axis2, a.ndim)
    if axis1 == axis2:
        raise ValueError("axis1 and axis2 cannot be the same")
    return _by_numpy("diagonal", a, offset, axis1, axis2) if _held(a) else a._diagonal((operator.index(offset), axis1, axis2))


# ---- Order of elements


@public
def flip(m, axis=None):
    m = asanyarray(m)
    axes = tuple(range(m.ndim)) if axis is None else normalize_axis_tuple(axis, m.ndim)
    return _by_numpy("flip", m, axis) if _held(m) else m._flip(axes)


@public
def fliplr(m):
    m = asanyarray(m)
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


@public
def flipud(m):
    m = asanyarray(m)
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


@public
def rot90(m, k=1, axes=(0, 1)):
    m = asanyarray(m)
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == m.ndim:
        raise ValueError("Axes must be different.")
    if any(not -m.ndim <= axis < m.ndim for axis in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={m.ndim}.")
    k %= 4
    if k == 0:
        return m[:]
    if k == 2:
        return flip(m, axes)
    return swapaxes(flip(m, axes[1]), *axes) if k == 1 else flip(swapaxes(m, *axes), axes[1])


@public
def roll(a, shift, axis=None):
    a = asanyarray(a)
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    axes = normalize_axis_tuple(axis, a.ndim, allow_duplicate=True)
    pairs = numpy.broadcast(shift, axes)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    shifts = {}
    for by, k in pairs:
        shifts[int(k)] = shifts.get(int(k), 0) + int(by)
    pieces = [(tuple(slice(None) for _ in a.shape),) * 2]
    for k, by in shifts.items():
        by = by % a.shape[k] if a.shape[k] else 0
        if by:
            pieces = [(_at(to, k, slice(by, None)), _at(source, k, slice(None, -by))) for to, source in pieces] + [
                (_at(to, k, slice(None, by)), _at(source, k, slice(-by, None))) for to, source in pieces]
    result = empty(a.shape, a.dtype)
    for to, source in pieces:
        result[to] = a[source]
    return result


def _at(index, axis, part):
    return index[:axis] + (part,) + index[axis + 1 :]


# ---- Joining


def _joined(arrays, shapes, axis, dtype, out, casting):
    """The array to fill: `out` checked, or a new one of the common type."""
    common = numpy.result_type(*(a.dtype for a in arrays)) if dtype is None else numpy.dtype(dtype)
    if dtype is not None and out is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    total = list(shapes[0])
    total[axis] = sum(shape[axis] for shape in shapes)
    target = common if out is None else out.dtype
    for a in arrays:
        if not numpy.can_cast(a.dtype, target, casting):
            raise TypeError(f"Cannot cast array data from {a.dtype!r} to {target!r} according to the rule '{casting}'")
    if out is None:
        return empty(total, common)
    if out.shape != tuple(total):
        raise ValueError("Output array is the wrong shape")
    return out


@public
def concatenate(arrays, /, axis=0, out=None, dtype=None, casting="same_kind"):
    given = arrays
    arrays = [asanyarray(a) for a in arrays]
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if any(_held(a) for a in arrays) or (dtype is not None and not _core.tiles_hold(numpy.dtype(dtype))):
        return call("concatenate", numpy.concatenate, (list(given),),
                    {"axis": axis, "out": out, "dtype": dtype, "casting": casting})
    if axis is None:
        arrays, axis = [a.ravel() for a in arrays], 0
    first = arrays[0]
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = normalize_axis_index(axis, first.ndim)
    for k, a in enumerate(arrays):
        if a.ndim != first.ndim:
            raise ValueError(f"all the input arrays must have same number of dimensions, but the array at index 0 has "
                             f"{first.ndim} dimension(s) and the array at index {k} has {a.ndim} dimension(s)")
        for d in range(a.ndim):
            if d != axis and a.shape[d] != first.shape[d]:
                raise ValueError(f"all the input array dimensions except for the concatenation axis must match exactly, but "
                                 f"along dimension {d}, the array at index 0 has size {first.shape[d]} and the array at index "
                                 f"{k} has size {a.shape[d]}")
    result = _joined(arrays, [a.shape for a in arrays], axis, dtype, out, casting)
    start = 0
    for a in arrays:
        stop = start + a.shape[axis]
        if stop > start:
            result[(slice(None),) * axis + (slice(start, stop),)] = a
        start = stop
    return result


@public
def concat(arrays, /, axis=0, out=None, dtype=None, casting="same_kind"):
    return concatenate(arrays, axis, out, dtype, casting)


@public
def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    arrays = [asanyarray(a) for a in arrays]
    if not arrays:
        raise ValueError("need at least one array to stack")
    if len({a.shape for a in arrays}) != 1:
        raise ValueError("all input arrays must have the same shape")
    axis = normalize_axis_index(axis, arrays[0].ndim + 1)
    return concatenate([expand_dims(a, axis) for a in arrays], axis, out, dtype, casting)


@public
def vstack(tup, *, dtype=None, casting="same_kind"):
    return concatenate([atleast_2d(a) for a in tup], 0, dtype=dtype, casting=casting)


@public
def hstack(tup, *, dtype=None, casting="same_kind"):
    arrays = [atleast_1d(a) for a in tup]
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@public
def dstack(tup):
    return concatenate([atleast_3d(a) for a in tup], 2)


@public
def column_stack(tup):
    arrays = [asanyarray(a) for a in tup]
    return concatenate([a if a.ndim > 1 else a.reshape(-1, 1) for a in arrays], 1)


# ---- Splitting


@public
def array_split(ary, indices_or_sections, axis=0):
    ary = asanyarray(ary)
    total = ary.shape[axis]
    if hasattr(indices_or_sections, "__len__"):
        cuts = [0, *(int(k) for k in indices_or_sections), total]
    else:
        sections = int(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, extra = divmod(total, sections)
        cuts = [k * each + min(k, extra) for k in range(sections + 1)]
    axis = normalize_axis_index(axis, ary.ndim)
    before = (slice(None),) * axis
    return [ary[before + (slice(a, b),)] for a, b in zip(cuts[:-1], cuts[1:], strict=True)]


@public
def split(ary, indices_or_sections, axis=0):
    ary = asanyarray(ary)
    if not hasattr(indices_or_sections, "__len__") and ary.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


@public
def hsplit(ary, indices_or_sections):
    ary = asanyarray(ary)
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


@public
def vsplit(ary, indices_or_sections):
    ary = asanyarray(ary)
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@public
def dsplit(ary, indices_or_sections):
    ary = asanyarray(ary)
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


@public
def unstack(x, /, *, axis=0):
    x = asanyarray(x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(moveaxis(x, axis, 0))


# ---- Repeating


@public
def tile(A, reps):
    reps = tuple(reps) if hasattr(reps, "__iter__") else (reps,)
    a = asanyarray(A)
    rank = max(len(reps), a.ndim)
    reps = (1,) * (rank - len(reps)) + tuple(operator.index(r) for r in reps)
    shape = (1,) * (rank - a.ndim) + a.shape
    if _held(a):
        return _by_numpy("tile", a, reps)
    result = empty([r * n for r, n in zip(reps, shape, strict=True)], a.dtype)
    each = [extent for pair in zip(reps, shape, strict=True) for extent in pair]
    ones = [extent for n in shape for extent in (1, n)]
    result.reshape(each)[...] = a.reshape(ones)
    return result


@public(method=True)
def repeat(a, repeats, axis=None):
    a = asanyarray(a)
    if axis is None:
        a, axis = a.ravel(), 0
    axis = normalize_axis_index(axis, a.ndim)
    if hasattr(repeats, "__len__") and len(repeats) == 1:
        repeats = repeats[0]
    if hasattr(repeats, "__len__") or _held(a):
        return _repeat_each(a, repeats, axis)
    repeats = operator.index(repeats)
    if repeats < 0:
        raise ValueError("repeats may not contain negative values.")
    shape = a.shape
    result = empty(shape[:axis] + (shape[axis] * repeats,) + shape[axis + 1 :], a.dtype)
    result.reshape(shape[: axis + 1] + (repeats,) + shape[axis + 1 :])[...] = expand_dims(a, axis + 1)
    return result


def _repeat_each(a, repeats, axis):
    return call("repeat", numpy.repeat, (a, repeats, axis), {})


@public
def resize(a, new_shape):
    new_shape = shape_of(new_shape)
    a = asanyarray(a).ravel()
    size = int(numpy.prod(new_shape, dtype=object)) if new_shape else 1
    if a.size == 0:
        from tilewise import zeros

        return zeros(new_shape, a.dtype)
    times = -(-size // a.size)
    return (a if times == 1 else tile(a, times))[:size].reshape(new_shape)


@public
def append(arr, values, axis=None):
    arr = asanyarray(arr)
    if axis is None:
        return concatenate((arr.ravel(), asanyarray(values).ravel()))
    return concatenate((arr, values), axis)


# ---- Padding


@public
def pad(array, pad_width, mode="constant", **kwargs):
    array = asanyarray(array)
    modes = {"constant": {"constant_values"}, "edge": set(), "wrap": set(), "empty": set(), "reflect": {"reflect_type"},
             "symmetric": {"reflect_type"}}
    if _held(array) or not isinstance(mode, str) or mode not in modes or set(kwargs) - modes[mode]:
        return call("pad", numpy.pad, (array, pad_width, mode), kwargs)
    width = _pairs(pad_width, array.ndim)
    if any(n < 0 for pair in width for n in pair):
        raise ValueError("index can't contain negative values")
    if mode != "constant" and mode != "empty":
        if any(n == 0 and any(pair) for n, pair in zip(array.shape, width, strict=True)):
            raise ValueError(f"can't extend empty axis {array.shape.index(0)} using modes other than 'constant' or 'empty'")
    if kwargs.get("reflect_type", "even") != "even" or (mode in ("reflect", "symmetric", "wrap") and not _once(array, width, mode)):
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
