"""Chapter: sorting and what follows from it: order, partition, unique, median."""

import operator

import numpy

from tilewise import _core, _ufuncs
from tilewise._creation import asanyarray
from tilewise._fallback import call
from tilewise._namespace import public, set_method

ndarray, scalar = _core.ndarray, _core.scalar
_KINDS = ("quicksort", "heapsort", "mergesort", "stable", "q", "h", "m", "s")
_NO = numpy._NoValue


def _sortable(a):
    return a._host() is None and a.dtype.kind in "biufc"


def _axis(axis, rank):
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise numpy.exceptions.AxisError(axis, rank)
    return axis % rank


def _check_kind(kind, order, stable):
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if kind is not None and stable is not None and stable is not _NO:
        raise ValueError("`kind` and `stable` parameters can't be provided at the same time. Use only one of them.")
    if kind is not None:
        if not isinstance(kind, str):
            raise TypeError(f"sort kind must be str, not {type(kind).__name__}")
        if kind.lower() not in _KINDS:
            raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")


@public
def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    """A sorted copy along an axis (None: of the flattened array): NaNs last, equal elements in their order, whatever
    the kind. By samples over the devices, vqsort on each."""
    a = asanyarray(a)
    if not _sortable(a):
        return call("sort", numpy.sort, (a, axis, kind, order), {"stable": stable})
    _check_kind(kind, order, stable)
    if axis is None:
        a, axis = a.ravel(), 0
    if a.ndim == 0:
        raise numpy.exceptions.AxisError(operator.index(axis), 0)
    return _core.sort(a, _axis(axis, a.ndim), False)


@public(method=True)
def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    """The int64 positions that sort an axis (None: the flattened array), equal elements in their order."""
    a = asanyarray(a)
    if not _sortable(a):
        return call("argsort", numpy.argsort, (a, axis, kind, order), {"stable": stable})
    _check_kind(kind, order, stable)
    if axis is None:
        a, axis = a.ravel(), 0
    elif a.ndim == 0:
        _axis(axis, 1)
        a, axis = a.reshape(1), 0
    return _core.sort(a, _axis(axis, a.ndim), True)


def _sort_in_place(self, axis=-1, kind=None, order=None, *, stable=None):
    """Sorts along an axis, in place."""
    if not _sortable(self):
        return call("ndarray.sort", numpy.ndarray.sort, (self, axis, kind, order), {"stable": stable})
    _check_kind(kind, order, stable)
    if self.ndim == 0:
        raise numpy.exceptions.AxisError(operator.index(axis), 0)
    self[...] = _core.sort(self, _axis(axis, self.ndim), False)


set_method(_sort_in_place, "sort")


def _check_kth(kth, size, axis):
    host = numpy.asarray(kth)
    if host.dtype.kind == "b":
        raise TypeError("Partition index must be integer")
    if host.dtype.kind not in "iu":
        raise TypeError("Partition index must be integer")
    if host.ndim > 1:
        raise ValueError("object too deep for desired array")
    for k in host.ravel():
        if not -size <= k < size:
            raise ValueError(f"kth(={k}) out of bounds ({size})")


@public
def partition(a, kth, axis=-1, kind="introselect", order=None):
    """A copy in which the elements of the positions kth stand where sorting puts them, smaller ones before them. Here
    all is sorted."""
    a = asanyarray(a)
    if not _sortable(a) or order is not None or kind != "introselect":
        return call("partition", numpy.partition, (a, kth, axis, kind, order), {})
    if axis is None:
        a, axis = a.ravel(), 0
    axis = _axis(axis, a.ndim)
    _check_kth(kth, a.shape[axis], axis)
    return _core.sort(a, axis, False)


@public(method=True)
def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """The int64 positions that partition an axis (see partition)."""
    a = asanyarray(a)
    if not _sortable(a) or order is not None or kind != "introselect":
        return call("argpartition", numpy.argpartition, (a, kth, axis, kind, order), {})
    if axis is None:
        a, axis = a.ravel(), 0
    elif a.ndim == 0:
        a, axis = a.reshape(1), 0
    axis = _axis(axis, a.ndim)
    _check_kth(kth, a.shape[axis], axis)
    return _core.sort(a, axis, True)


def _partition_in_place(self, kth, axis=-1, kind="introselect", order=None):
    """Partitions along an axis, in place (see partition)."""
    self[...] = partition(self, kth, axis, kind, order)


set_method(_partition_in_place, "partition")


@public
def lexsort(keys, axis=-1):
    """The positions that sort by several keys, the last one first."""
    keys = [asanyarray(k) for k in keys] if not isinstance(keys, ndarray) else [keys[i] for i in range(len(keys))]
    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if not all(_sortable(k) for k in keys):
        return call("lexsort", numpy.lexsort, (tuple(keys), axis), {})
    if any(k.shape != keys[0].shape for k in keys):
        raise ValueError("all keys need to be the same shape")
    if keys[0].ndim == 0:
        return call("lexsort", numpy.lexsort, (tuple(keys), axis), {}, quiet=True)
    from tilewise import take_along_axis

    axis = _axis(axis, keys[0].ndim)
    found = argsort(keys[0], axis)
    for key in keys[1:]:
        found = take_along_axis(found, argsort(take_along_axis(key, found, axis), axis), axis)
    return found


@public
def sort_complex(a):
    """The sorted elements as complex numbers."""
    result = sort(asanyarray(a))
    if result.dtype.kind == "c":
        return result
    return result.astype("F" if result.dtype.char in "bhBH" else "D")


# ---- Unique


def _heads(ordered, equal_nan):
    """A mask of the first of each run of equal elements of a sorted line."""
    from tilewise import concatenate, ones

    isnan = _ufuncs.get(numpy.isnan)
    differ = ordered[1:] != ordered[:-1]
    if equal_nan and ordered.dtype.kind in "fc":
        differ = differ & ~(isnan(ordered[1:]) & isnan(ordered[:-1]))
    return concatenate([ones(1, bool), differ])


@public
def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True
):
    """The sorted unique elements; where they first stand, which each element is, how often each comes. Waits for their
    number."""
    ar = asanyarray(ar)
    if not _sortable(ar) or axis is not None:
        kwargs = {"equal_nan": equal_nan, "sorted": sorted}
        return call("unique", numpy.unique, (ar, return_index, return_inverse, return_counts, axis), kwargs)
    from tilewise import arange, concatenate, diff, empty

    shape, line = ar.shape, ar.reshape(ar.size)
    results = []
    if line.size == 0:
        results = [line.copy()]
        results += [empty(0, numpy.intp)] if return_index else []
        results += [empty(shape, numpy.intp)] if return_inverse else []
        results += [empty(0, numpy.intp)] if return_counts else []
        return results[0] if len(results) == 1 else tuple(results)
    order = _core.sort(line, 0, True) if return_index or return_inverse else None
    ordered = line[order] if order is not None else _core.sort(line, 0, False)
    heads = _heads(ordered, equal_nan)
    results.append(ordered[heads])
    if return_index:
        results.append(order[heads])
    if return_inverse:
        inverse = empty(line.size, numpy.intp)
        from tilewise import cumsum

        inverse[order] = cumsum(heads) - 1
        results.append(inverse.reshape(shape))
    if return_counts:
        starts = concatenate([arange(line.size)[heads], asanyarray([line.size])])
        results.append(diff(starts))
    return results[0] if len(results) == 1 else tuple(results)


@public
def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Which elements are among the test elements: these are sorted, and each element is looked up."""
    element, tests = asanyarray(element), asanyarray(test_elements)
    if not _sortable(element) or not _sortable(tests):
        return call("isin", numpy.isin, (element, tests, assume_unique, invert), {"kind": kind})
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    from tilewise import full, searchsorted

    if tests.size == 0:
        return full(element.shape, bool(invert))
    common = numpy.result_type(element.dtype, tests.dtype)
    element, tests = element.astype(common), tests.astype(common)
    ordered = _core.sort(tests.reshape(tests.size), 0, False)
    at = searchsorted(ordered, element.reshape(element.size))
    at = _ufuncs.get(numpy.minimum)(at, tests.size - 1)
    found = (_core.gather_rows(ordered, at) == element.reshape(element.size)).reshape(element.shape)
    return ~found if invert else found


@public
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle element of the sorted axis (None: of all elements), or the mean of the two; NaN where there is one."""
    a = asanyarray(a)
    one_axis = axis is None or isinstance(axis, (int, numpy.integer))
    if not _sortable(a) or not one_axis or out is not None or a.size == 0 or a.ndim == 0:
        kwargs = {"axis": axis, "out": out, "overwrite_input": overwrite_input, "keepdims": keepdims}
        return call("median", numpy.median, (a,), kwargs)
    rank = a.ndim
    if axis is None:
        a, along = a.reshape(a.size), 0
    else:
        along = _axis(axis, rank)
    n, ordered = a.shape[along], _core.sort(a, along, False)
    before = (slice(None),) * along
    result = ordered[(*before, slice((n - 1) // 2, n // 2 + 1))].mean(along, keepdims=bool(keepdims))
    if a.dtype.kind in "fc":
        last = ordered[(*before, slice(n - 1, n))] if keepdims else ordered[(*before, n - 1)]
        result = _core.where(_ufuncs.get(numpy.isnan)(last), last, result)
    if axis is None and keepdims:
        result = result.reshape((1,) * rank)
    return result if result.ndim else result[()]
