"""Chapter: NumPy's functions of selection: nonzero and its kin, take and put, compress and extract, along an axis."""

import operator

import numpy

from tilewise import _core, _indexing, _ufuncs
from tilewise._creation import asanyarray
from tilewise._fallback import call
from tilewise._namespace import public, set_method

ndarray, scalar = _core.ndarray, _core.scalar


def _on_tiles(*arrays):
    return all(a._host() is None for a in arrays)


def _truth(a):
    if a.dtype == bool:
        return a
    return a != 0


@public(method=True)
def nonzero(a):
    """The positions of the elements that are not zero: one int64 array an axis, in C order. Waits for their number."""
    a = asanyarray(a)
    if not _on_tiles(a) or a.dtype.kind == "V":
        return call("nonzero", numpy.nonzero, (a,), {})
    if a.ndim == 0:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
        )
    return _indexing.positions_of(_truth(a))


@public
def flatnonzero(a):
    """The positions in the flattened array of the elements that are not zero, int64. Waits for their number."""
    return nonzero(asanyarray(a).ravel())[0]


@public
def argwhere(a):
    """The positions of the elements that are not zero, (count, axes). Waits for their number."""
    a = asanyarray(a)
    from tilewise import atleast_1d, stack

    if a.ndim == 0:
        return argwhere(atleast_1d(a))[:, :0]
    return stack(nonzero(a), axis=-1)


def _axis(axis, rank):
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise numpy.exceptions.AxisError(axis, rank)
    return axis % rank


def _rows_first(a, axis):
    return a.transpose([axis, *(k for k in range(a.ndim) if k != axis)])


def _list_of(indices):
    if not isinstance(indices, (ndarray, scalar, numpy.ndarray, numpy.generic)):
        indices = numpy.asarray(indices, numpy.int64)  # what is no array yet is cut to integers, as NumPy does
    indices = asanyarray(indices)
    if indices.dtype.kind not in "biu":
        raise TypeError(
            f"Cannot cast array data from {indices.dtype!r} to dtype('int64') according to the rule 'same_kind'"
        )
    return indices if indices.dtype == numpy.int64 else indices.astype(numpy.int64)


def _within(indices, size, mode, axis):
    """The indices in [0, size), as the mode says."""
    if mode == "raise":
        _indexing.check_bounds(indices, size, axis)
        return _core.where(indices < 0, indices + size, indices)
    if mode == "wrap":
        return indices % size
    if mode == "clip":
        return _ufuncs.get(numpy.minimum)(_ufuncs.get(numpy.maximum)(indices, 0), size - 1)
    raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")


@public(method=True)
def take(a, indices, axis=None, out=None, mode="raise"):
    """Elements (or, along an axis, sub-arrays) by position. IndexError where one is outside and mode is 'raise'."""
    a = asanyarray(a)
    if not _on_tiles(a) or not isinstance(mode, str) or (out is not None and not isinstance(out, ndarray)):
        return call("take", numpy.take, (a, indices, axis, out, mode), {})
    at = _list_of(indices)
    if axis is None:
        a, axis = a.ravel(), 0
    elif a.ndim == 0:
        a = a.reshape(1)
    axis = _axis(axis, a.ndim)
    if a.shape[axis] == 0 and at.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    # As NumPy's message, which speaks of axis 0 for a flat array and of the axis otherwise.
    rows = _within(at, a.shape[axis], mode, axis) if at.size else at
    picked = _core.gather_rows(_rows_first(a, axis), asanyarray(rows).reshape(at.size))
    result = picked.reshape(at.shape + picked.shape[1:])
    order = [*range(at.ndim, at.ndim + axis), *range(at.ndim), *range(at.ndim + axis, result.ndim)]
    result = result.transpose(order)
    if out is not None:
        if out.shape != result.shape:
            raise ValueError("output array does not match result of ndarray.take")
        out[...] = result
        return out
    return result if result.ndim else result[()]


@public(method=True)
def put(a, ind, v, mode="raise"):
    """Writes elements of the flattened array by position, in place; the values are repeated as needed."""
    if not isinstance(a, ndarray):
        raise TypeError(f"argument 1 must be numpy.ndarray, not {type(a).__name__}")
    values = asanyarray(v)
    at = _list_of(ind).ravel()
    if not _on_tiles(a, values) or a.dtype.kind == "V":
        return call("put", numpy.put, (a, ind, v, mode), {})
    if at.size == 0 or values.size == 0:
        return None
    if a.size == 0:
        raise IndexError("cannot replace elements of an empty array")
    from tilewise import resize

    values = values.ravel()
    if values.size != at.size:
        values = resize(values, at.size)
    rows = _within(at, a.size, mode, 0)
    _indexing.Picked.of_rows(a, rows).write(values)
    return None


@public(method=True)
def compress(condition, a, axis=None, out=None):
    """The slices along an axis (elements of the flattened array) where the condition holds. Waits for their number."""
    a, condition = asanyarray(a), asanyarray(condition)
    if not _on_tiles(a, condition):
        return call("compress", numpy.compress, (condition, a, axis, out), {})
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, flatnonzero(condition), axis, out)


def _compress_method(self, condition, axis=None, out=None):
    """The slices along an axis where the condition holds. Waits for their number."""
    return compress(condition, self, axis, out)


set_method(_compress_method, "compress")


@public
def extract(condition, arr):
    """The elements of the flattened array where the flattened condition holds. Waits for their number."""
    return take(asanyarray(arr).ravel(), flatnonzero(condition))


@public
def place(arr, mask, vals):
    """Writes values, repeated as needed, where the mask holds, in place."""
    if not isinstance(arr, ndarray):
        raise TypeError(f"argument 1 must be numpy.ndarray, not {type(arr).__name__}")
    mask, values = _truth(asanyarray(mask)), asanyarray(vals).ravel()
    if not _on_tiles(arr, mask, values):
        return call("place", numpy.place, (arr, mask, vals), {})
    if mask.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    at = flatnonzero(mask)
    if at.size and not values.size:
        raise ValueError("Cannot insert from an empty array!")
    put(arr, at, values)
    return None


def _along(arr, indices, axis):
    """(array, indices, axis) with the shapes that take_along_axis and put_along_axis want."""
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return arr.reshape(arr.size), indices, 0
    axis = _axis(axis, arr.ndim)
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return arr, indices, axis


def _key_along(arr, indices, axis):
    from tilewise import arange

    shape = [1] * arr.ndim
    key = []
    for k, extent in enumerate(arr.shape):
        if k == axis:
            key.append(indices)
        else:
            key.append(arange(extent).reshape([*shape[:k], extent, *shape[k + 1 :]]))
    return tuple(key)


@public
def take_along_axis(arr, indices, axis=-1):
    """Elements along an axis by an array of positions that fits the other axes. IndexError where one is outside."""
    arr, indices = asanyarray(arr), asanyarray(indices)
    if not _on_tiles(arr, indices):
        return call("take_along_axis", numpy.take_along_axis, (arr, indices, axis), {})
    arr, indices, axis = _along(arr, indices, axis)
    return arr[_key_along(arr, indices, axis)]


@public
def put_along_axis(arr, indices, values, axis):
    """Writes elements along an axis by an array of positions that fits the other axes, in place."""
    indices = asanyarray(indices)
    if not isinstance(arr, ndarray) or not _on_tiles(arr, indices):
        return call("put_along_axis", numpy.put_along_axis, (arr, indices, values, axis), {})
    if axis is None and indices.ndim == 1:
        return put(arr, indices, values)
    arr, indices, axis = _along(arr, indices, axis)
    arr[_key_along(arr, indices, axis)] = values
    return None
