"""Chapter: shapes and the order of elements."""

import operator

import numpy
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tilewise import _core
from tilewise._creation import asanyarray, asarray, empty, shape_of
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
        if a._host() is None and not a._is_c() and 0 not in a.strides:
            axes = sorted(range(a.ndim), key=lambda k: -abs(a.strides[k]))
            back = a.transpose(axes)
            for k, stride in enumerate(back.strides):
                if stride < 0:
                    back = back._flip((k,))
            return back.reshape(-1) if back._is_c() else a.transpose(axes).copy("C").reshape(-1)
        order = "C"
    if a._host() is not None:
        return a.reshape(-1, order=order)
    if order == "A":
        order = "F" if not a._is_c() and a.T._is_c() else "C"
    # NumPy gives a view of contiguous arrays alone, although more of them have one axis as a view (a reversed line).
    a = a.T if order == "F" else a
    return (a if a._is_c() else a.copy("C")).reshape(-1)


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
        raise numpy.exceptions.AxisError(
            f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}, but {start} was passed in"
        )
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
    return (
        _by_numpy("diagonal", a, offset, axis1, axis2)
        if _held(a)
        else a._diagonal((operator.index(offset), axis1, axis2))
    )


# ---- Order of elements


@public
def flip(m, axis=None):
    m = asanyarray(m)
    axes = tuple(range(m.ndim)) if axis is None else normalize_axis_tuple(axis, m.ndim)
    if not axes and m.ndim == 0:
        return m[()]
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
                (_at(to, k, slice(None, by)), _at(source, k, slice(-by, None))) for to, source in pieces
            ]
    result = empty(a.shape, a.dtype)
    for to, source in pieces:
        result[to] = a[source]
    return result


def _at(index, axis, part):
    return index[:axis] + (part,) + index[axis + 1 :]
