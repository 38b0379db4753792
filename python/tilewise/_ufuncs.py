"""Ufunc objects and their methods.

A ufunc is native when ops/elementwise.def has its rows: the C type makes the calls; here are the methods reduce, outer
and so on, and what the protocols need.
"""

import operator

import numpy

from tilewise import _core
from tilewise._fallback import call, fallback

ndarray, scalar, ufunc = _core.ndarray, _core.scalar, _core.ufunc
# Rows of the ufuncs with several outputs.
_ROWS = {
    "divmod": ("divmod_quotient", "divmod_remainder"),
    "modf": ("modf_fraction", "modf_integer"),
    "frexp": ("frexp_mantissa", "frexp_exponent"),
}
_made = {}
_MISSING = object()


def get(function, path=None):
    """Our ufunc for one of NumPy's; a fallback where its rows are missing."""
    name = path or function.__name__
    made = _made.get(function)
    if made is None:
        rows = _ROWS.get(function.__name__, (function.__name__,))
        made = _core.ufunc_new(function, rows) if function.signature is None else None
        if made is None:
            made = fallback(name, function)
            for method in ("reduce", "accumulate", "outer", "at", "reduceat"):
                setattr(made, method, fallback(f"{name}.{method}", getattr(function, method)))
        _made[function] = made
    return made


def native_names():
    """Names of all ufuncs that have rows, aliases included."""
    found = set()
    for name in dir(numpy):
        value = getattr(numpy, name) if not name.startswith("_") else None
        if isinstance(value, numpy.ufunc) and isinstance(get(value), ufunc):
            found.add(name)
    return found


def stored(x):
    """x as an array of ours with a store, or None where only NumPy can hold it."""
    if isinstance(x, scalar):
        return x
    if not isinstance(x, ndarray):
        x = _core.from_numpy(numpy.asarray(x))
    return x if x._host() is None and x.dtype.kind != "V" else None


def reduction(function, a, axis, dtype, out, keepdims, initial, where):
    """ufunc.reduce natively, or None where NumPy has to do it."""
    a = stored(a)
    made = get(function)
    if a is None or not isinstance(made, ufunc) or not _core.reducible(made._op):
        return None
    if isinstance(out, tuple):
        (out,) = out
    if out is not None and not (isinstance(out, ndarray) and out._host() is None):
        return None
    if dtype is not None and not _core.tiles_hold(numpy.dtype(dtype)):
        return None
    if axis is not None and not isinstance(axis, (int, tuple)):
        axis = operator.index(axis)
    if initial is not None:
        initial = numpy.asarray(initial)
        if not _core.tiles_hold(initial.dtype):
            return None
        initial = initial[()]
    return _core.reduce(made._op, a, axis, bool(keepdims), dtype, out, where, initial)


def _reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=_MISSING, where=True):
    """Reduces one axis, or several. As NumPy's ufunc.reduce."""
    function = self._numpy
    if function.nin != 2:
        raise ValueError("reduce only supported for binary functions")
    start = None if initial is _MISSING or initial is numpy._NoValue else initial
    result = None
    if initial is not None or function.identity is None:
        result = reduction(function, array, axis, dtype, out, keepdims, start, where)
    if result is None:
        kwargs = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims, "where": where}
        if initial is not _MISSING:
            kwargs["initial"] = initial
        return call(f"{function.__name__}.reduce", function.reduce, (array,), kwargs)
    return result


def _outer(self, a, b, /, **kwargs):
    """The function of all pairs. As NumPy's ufunc.outer."""
    if self.nin != 2:
        raise ValueError("outer product only supported for binary functions")
    x, y = stored(a), stored(b)
    if x is None or y is None:
        return call(f"{self.__name__}.outer", self._numpy.outer, (a, b), kwargs)
    return self(x.reshape(x.shape + (1,) * y.ndim), y, **kwargs)


def _fallback_method(method):
    def function(self, *args, **kwargs):
        return call(f"{self.__name__}.{method}", getattr(self._numpy, method), args, kwargs)

    function.__name__ = method
    return function


def _at(self, a, indices, *others):
    """Unbuffered in-place operation at indices. As NumPy's ufunc.at."""
    if not isinstance(a, ndarray):
        return call(f"{self.__name__}.at", self._numpy.at, (a, indices, *others), {})
    from tilewise import _indexing

    if _indexing.at(self._numpy, a, indices, *others):
        return None

    def on_host(array, *rest):
        self._numpy.at(array, *rest)
        return array

    call(f"{self.__name__}.at", on_host, (a, indices, *others), {})
    return None


ufunc.reduce = _reduce
ufunc.outer = _outer
ufunc.at = _at
ufunc.reduceat = _fallback_method("reduceat")
ufunc.__reduce__ = lambda self: (get, (self._numpy,))
ufunc.__module__ = "tilewise"
