"""Chapter: joining, splitting and repeating."""

import operator

import numpy
from numpy.lib.array_utils import normalize_axis_index

from tilewise import _core
from tilewise._creation import asanyarray, empty, shape_of
from tilewise._fallback import call
from tilewise._manipulation import _by_numpy, _held, atleast_1d, atleast_2d, atleast_3d, expand_dims, moveaxis
from tilewise._namespace import public

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
        return call(
            "concatenate",
            numpy.concatenate,
            (list(given),),
            {"axis": axis, "out": out, "dtype": dtype, "casting": casting},
        )
    if axis is None:
        arrays, axis = [a.ravel() for a in arrays], 0
    first = arrays[0]
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = normalize_axis_index(axis, first.ndim)
    for k, a in enumerate(arrays):
        if a.ndim != first.ndim:
            raise ValueError(
                f"all the input arrays must have same number of dimensions, but the array at index 0 has "
                f"{first.ndim} dimension(s) and the array at index {k} has {a.ndim} dimension(s)"
            )
        for d in range(a.ndim):
            if d != axis and a.shape[d] != first.shape[d]:
                raise ValueError(
                    f"all the input array dimensions except for the concatenation axis must match exactly, but "
                    f"along dimension {d}, the array at index 0 has size {first.shape[d]} and the array at index "
                    f"{k} has size {a.shape[d]}"
                )
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


@public
def block(arrays):
    depths = set(_depths(arrays, 0))
    if len(depths) != 1:
        raise ValueError(
            f"List depths are mismatched. First element was at depth {min(depths)}, but there is an element at "
            f"depth {max(depths)}"
        )
    (depth,) = depths
    leaves = list(_leaves(arrays))
    rank = max([depth, *(a.ndim for a in leaves)])
    return _block(arrays, depth, rank)


def _depths(x, depth):
    if isinstance(x, tuple):
        raise TypeError(
            "arrays is a tuple. Only lists can be used to arrange blocks, and np.block does not allow implicit "
            "conversion from tuple to ndarray."
        )
    if not isinstance(x, list):
        yield depth
        return
    if not x:
        raise ValueError("List at arrays cannot be empty")
    for item in x:
        yield from _depths(item, depth + 1)


def _leaves(x):
    for item in x if isinstance(x, list) else ():
        yield from _leaves(item)
    if not isinstance(x, list):
        yield asanyarray(x)


def _block(x, levels, rank):
    if not isinstance(x, list):
        x = asanyarray(x)
        x = x.reshape((1,) * (rank - x.ndim) + x.shape)
        return x if levels or x.base is not None else x.copy()
    return concatenate([_block(item, levels - 1, rank) for item in x], -levels)


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
