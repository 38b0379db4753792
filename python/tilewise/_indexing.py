"""Chapter: index arrays and masks, read and written, natively: `a[mask]`, `a[rows, :, columns]`, and `ufunc.at`.

A key is taken apart as NumPy takes it: masks become the positions of their true elements, all index arrays (integers
too, where there is one) are broadcast together, and the axes that they index become one axis of rows, by a view where
the memory allows it. What is left is a list of row numbers (ops/gather.h), or, for a mask alone, a selection
(ops/select.h). Indices that the host has are checked at once, others after one reduction.
"""

import operator

import numpy

from tilewise import _core, _ufuncs
from tilewise._creation import asanyarray
from tilewise._fallback import Gathered

ndarray, scalar = _core.ndarray, _core.scalar
_NOT_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
    "indices"
)


class _Advanced:
    """An index array, or an integer beside one, for one axis of the view (`axis`); None where it takes no axis."""

    def __init__(self, index, axis, size):
        self.index, self.axis, self.size = index, axis, size


def _index_item(item):
    """The item as slice, None, Ellipsis, int, bool, or an array of bools or integers."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, (bool, numpy.bool_)):
        return bool(item)
    if isinstance(item, scalar):
        item = item._value()
        return bool(item) if isinstance(item, numpy.bool_) else operator.index(item)
    if isinstance(item, ndarray):
        if item._host() is not None:
            item = item._host()
    elif not isinstance(item, numpy.ndarray):
        try:
            return operator.index(item)
        except TypeError:
            pass
        if not hasattr(item, "__len__") or isinstance(item, (str, bytes)):
            raise IndexError(_NOT_INDEX)
        item = asanyarray(item) if _has_ours(item) else numpy.asarray(item)
        if item.size == 0 and item.dtype.kind != "b":
            item = item.astype(numpy.intp)
    if item.dtype.kind not in "biu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if item.ndim == 0:
        return bool(item) if item.dtype.kind == "b" else operator.index(item)
    return item


def _has_ours(items):
    return isinstance(items, (list, tuple)) and any(isinstance(x, (ndarray, scalar)) or _has_ours(x) for x in items)


def is_mask(key):
    """Whether the key is one mask with axes."""
    return isinstance(key, (ndarray, numpy.ndarray)) and key.dtype == bool and key.ndim > 0


def _check_mask(mask, shape, axis):
    for k, extent in enumerate(mask.shape):
        if extent != shape[axis + k]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + k}; size of axis is {shape[axis + k]} "
                f"but size of corresponding boolean axis is {extent}"
            )


def check_bounds(index, size, axis):
    """IndexError where an index is outside [-size, size). Waits for one reduction where the host does not know."""
    if index.size == 0:
        return
    low, high = index.min(), index.max()
    if int(high) < size and int(low) >= -size:
        return
    host = numpy.asarray(index).ravel()
    wrong = host[(host < -size) | (host >= size)][0]
    raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {size}")


def positions_of(mask):
    """The positions of the true elements on each axis."""
    flat = _core.flat_nonzero(mask)
    return unravel(flat, mask.shape)


def unravel(flat, shape):
    """Coordinates on each axis from positions in C order."""
    found = []
    for extent in reversed(shape[1:]):
        found.append(flat % max(extent, 1))
        flat = flat // max(extent, 1)
    return (*reversed([*found, flat]),)


class Picked:
    """What a key with index arrays names: rows of `view` (axes of index arrays in front), numbers `rows`."""

    def __init__(self, array, key):
        items = [_index_item(x) for x in (key if isinstance(key, tuple) else (key,))]
        if sum(x is Ellipsis for x in items) > 1:
            raise IndexError("an index can only have a single ellipsis ('...')")
        used = sum(_axes_used(x) for x in items)
        if used > array.ndim:
            raise IndexError(
                f"too many indices for array: array is {array.ndim}-dimensional, but {used} were indexed"
            )
        if not any(x is Ellipsis for x in items):
            items.append(Ellipsis)
        basic, advanced, before = self._split(array, items, array.ndim - used)
        view = array[tuple(basic)] if basic else array
        self.shape_of_lists = _broadcast([a.index.shape for a in advanced if not isinstance(a.index, int)])
        axes = [a.axis for a in advanced if a.axis is not None]
        rest = [k for k in range(view.ndim) if k not in axes]
        self.view = view.transpose(axes + rest)
        self.sizes = self.view.shape[: len(axes)]
        self.rest = self.view.shape[len(axes) :]
        self.rows = self._row_numbers([a for a in advanced if a.axis is not None])
        # Where the lists' axes go among the rest.
        self.at = before

    @classmethod
    def of_rows(cls, array, rows):
        """Elements of the flattened array by number (a list of one axis, checked)."""
        self = cls.__new__(cls)
        self.view, self.sizes, self.rest, self.rows = array, array.shape, (), rows
        self.shape_of_lists, self.at = rows.shape, 0
        return self

    @staticmethod
    def _split(array, items, skipped):
        """(basic key, index arrays, axes of the view before them)."""
        basic, advanced, axis, seen = [], [], 0, 0
        runs, last = 0, False
        before = 0
        any_arrays = any(_is_array(x) for x in items)
        for item in items:
            is_advanced = _is_array(item) or (isinstance(item, int) and any_arrays)
            if item is Ellipsis and not skipped:
                continue
            if is_advanced and not last:
                runs += 1
                before = seen
            last = is_advanced
            if item is None:
                basic.append(None)
                seen += 1
            elif item is Ellipsis:
                basic.extend([slice(None)] * skipped)
                axis += skipped
                seen += skipped
            elif isinstance(item, slice):
                basic.append(item)
                axis += 1
                seen += 1
            elif isinstance(item, bool):
                advanced.append(_Advanced(numpy.zeros(int(item), numpy.intp), None, 1))
            else:
                parts = [item]
                if not isinstance(item, int) and item.dtype == bool:
                    _check_mask(item, array.shape, axis)
                    parts = positions_of(asanyarray(item)) if isinstance(item, ndarray) else item.nonzero()
                for part in parts:
                    if isinstance(part, int) and not any_arrays:
                        basic.append(part)
                    else:
                        size = array.shape[axis]
                        if isinstance(part, int):
                            if not -size <= part < size:
                                raise IndexError(f"index {part} is out of bounds for axis {axis} with size {size}")
                        elif len(parts) == 1 and not (not isinstance(item, int) and item.dtype == bool):
                            check_bounds(part, size, axis)
                        advanced.append(_Advanced(part, len([b for b in basic if not isinstance(b, int)]), size))
                        basic.append(slice(None))
                    axis += 1
        return basic, advanced, before if runs == 1 else 0

    def _row_numbers(self, advanced):
        """One row number for each element of the broadcast lists, flat."""
        total, stride = 0, 1
        for a in reversed(advanced):
            index = a.index
            if isinstance(index, int):
                index = index % a.size
            else:
                index = asanyarray(index)
                index = index if index.dtype == numpy.int64 else index.astype(numpy.int64)
                index = _core.where(index < 0, index + a.size, index)
            total = index * stride + total if stride > 1 or not isinstance(total, int) or total else index
            stride *= a.size
        count = 1
        for extent in self.shape_of_lists:
            count *= extent
        total = asanyarray(total)
        if total.dtype != numpy.int64:
            total = total.astype(numpy.int64)
        from tilewise import broadcast_to

        return broadcast_to(total, self.shape_of_lists).reshape(count)

    def _flat(self, array):
        count = 1
        for extent in self.sizes:
            count *= extent
        return array.reshape((count, *self.rest))

    @property
    def shape(self):
        return (*self.rest[: self.at], *self.shape_of_lists, *self.rest[self.at :])

    def read(self):
        rows = _core.gather_rows(self._flat(self.view), self.rows)
        result = rows.reshape(self.shape_of_lists + self.rest)
        if self.at:
            lists = len(self.shape_of_lists)
            order = [*range(lists, lists + self.at), *range(lists), *range(lists + self.at, lists + len(self.rest))]
            result = result.transpose(order)
        return result

    def _arranged(self, value, dtype):
        """The value as rows, one for each row number."""
        from tilewise import broadcast_to

        value = _value(value, dtype)
        while value.ndim > len(self.shape) and value.shape[0] == 1:
            value = value.reshape(value.shape[1:])
        try:
            value = broadcast_to(value, self.shape)
        except ValueError:
            raise ValueError(
                f"shape mismatch: value array of shape {_text(value.shape)} could not be broadcast to indexing result "
                f"of shape {_text(self.shape)}"
            ) from None
        lists = len(self.shape_of_lists)
        order = [*range(self.at, self.at + lists), *range(self.at), *range(self.at + lists, len(self.shape))]
        return value.transpose(order).reshape((self.rows.size, *self.rest))

    def write(self, value):
        self._update(lambda flat: _core.scatter_rows(flat, self.rows, self._arranged(value, flat.dtype)))

    def combine(self, opcode, dtype, *values):
        arranged = [self._arranged(value, dtype) for value in values]
        self._update(lambda flat: _core.combine_rows(opcode, flat, self.rows, *(arranged or [None])))

    def _update(self, change):
        """Changes the view's rows, by way of a copy where they are no view."""
        flat = self._flat(self.view)
        change(flat)
        if not _shares(flat, self.view):
            self.view[...] = flat.reshape(self.view.shape)


def _value(value, dtype):
    """What is to be written, as an array of that type, by the rules of assignment."""
    if isinstance(value, (list, tuple)):
        return _core.from_numpy(numpy.asarray(Gathered().take(value), dtype))  # each item is converted to the type
    if isinstance(value, (ndarray, scalar, numpy.ndarray)) and value.dtype == dtype:
        return asanyarray(value)
    converted = _core.empty(numpy.shape(value), dtype)
    converted[...] = value
    return converted


def _shares(flat, view):
    return flat.size == 0 or _core.same_store(flat, view)


def _axes_used(item):
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.ndim if _is_array(item) and item.dtype == bool else 1


def _is_array(item):
    return isinstance(item, (bool, ndarray, numpy.ndarray))


def _broadcast(shapes):
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing arrays could not be broadcast together with shapes "
            + "".join(_text(shape) + " " for shape in shapes)
        ) from None


def _text(shape):
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def read(a, key):
    """a[key] for a key with index arrays or masks."""
    if isinstance(key, list):
        key = _index_item(key)
    if is_mask(key) and key.ndim <= a.ndim:
        key = asanyarray(key)
        _check_mask(key, a.shape, 0)
        return _core.extract(a, key)
    return Picked(a, key).read()


def write(a, key, value):
    """a[key] = value for a key with index arrays or masks."""
    if isinstance(key, list):
        key = _index_item(key)
    if is_mask(key) and key.ndim <= a.ndim:
        key = asanyarray(key)
        _check_mask(key, a.shape, 0)
        _core.assign_chosen(a, key, _value(value, a.dtype))
    else:
        Picked(a, key).write(value)


def at(function, a, indices, *others):
    """function.at(a, indices, *others) natively; False where NumPy has to do it."""
    made = _ufuncs.get(function)
    if function.nin > 2 or function.nout != 1 or a._host() is not None or a.dtype.kind == "V":
        return False
    opcode = getattr(made, "_op", None)
    if opcode is None or len(others) != function.nin - 1:
        return False
    types = (a.dtype,) + tuple(_plain_type(x) for x in others)
    try:
        loop = function.resolve_dtypes((*types, a.dtype), casting="same_kind")
    except TypeError:
        return False
    if any(t != a.dtype for t in loop):
        return False
    key = tuple(_index_item(x) for x in (indices if isinstance(indices, tuple) else (indices,)))
    if any(_is_array(x) for x in key):
        Picked(a, key).combine(opcode, a.dtype, *others)
    else:  # no element twice
        view = a[key if Ellipsis in key else (*key, Ellipsis)]
        made(view, *others, out=view)
    return True


def _plain_type(x):
    if isinstance(x, (int, float, complex)) and not isinstance(x, (bool, numpy.generic)):
        return type(x)
    return x.dtype if isinstance(x, (ndarray, scalar, numpy.ndarray, numpy.generic)) else numpy.asarray(x).dtype
