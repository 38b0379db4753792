"""How other libraries' arrays and functions meet ours: __array_ufunc__, __array_function__, DLPack, pickle."""

import sys

import numpy

from tilewise import _core, _ufuncs
from tilewise._fallback import Gathered, fallback
from tilewise._namespace import NAMES

ndarray, scalar = _core.ndarray, _core.scalar
_OURS = (ndarray, scalar)
_METHODS = {
    "__call__": None,
    "reduce": "reduce",
    "accumulate": "accumulate",
    "outer": "outer",
    "at": "at",
    "reduceat": "reduceat",
}


def _foreign_override(x):
    override = getattr(type(x), "__array_ufunc__", None)
    return override is not None and not isinstance(x, _OURS) and override is not numpy.ndarray.__array_ufunc__


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """numpy.add(a, b) of ours is ours."""
    out = kwargs.get("out", ())
    if any(_foreign_override(x) for x in inputs + out):
        return NotImplemented
    if any(isinstance(x, numpy.ndarray) for x in out):
        # Into NumPy's own array: computed there.
        gathered = Gathered()
        host = [gathered.take(x) for x in inputs]
        result = getattr(ufunc, method)(*host, **{k: gathered.take(v) for k, v in kwargs.items()})
        gathered.give_back(out)
        return result
    if len(out) == 1:
        kwargs["out"] = out[0]
    ours = _ufuncs.get(ufunc)
    if ufunc.signature is not None and method == "__call__":
        ours = NAMES.get(ufunc.__name__, ours)
    plain = [x.view(ndarray) if isinstance(x, ndarray) and type(x) is not ndarray else x for x in inputs]
    function = ours if method == "__call__" else getattr(ours, method)
    result = function(*plain, **kwargs)
    if type(self) not in (ndarray, scalar) and type(result) is ndarray:
        result = result.view(type(self))
    return result


def array_function(self, function, types, args, kwargs):
    """numpy.sum(a) of ours runs ours."""
    if not all(issubclass(t, (ndarray, scalar, numpy.ndarray)) for t in types):
        return NotImplemented
    path = function.__module__ or ""
    package = sys.modules["tilewise"]
    if path.startswith("numpy."):
        for part in path.split(".")[1:]:
            package = getattr(package, part, None)
            if package is None:
                break
    ours = getattr(package, function.__name__, None) if package is not None else None
    if ours is None or not callable(ours):
        ours = fallback(function.__name__, function)
    return ours(*args, **kwargs)


def array_namespace(self, /, *, api_version=None):
    if api_version is not None and api_version not in ("2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError(f'Version "{api_version}" of the Array API Standard is not supported.')
    return sys.modules["tilewise"]


def dlpack(self, /, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A snapshot in host memory; copy=False is not possible for data in tiles."""
    if copy is False:
        raise BufferError("the array lies in tiles: copy=False is not possible")
    _core.count("gathers.dlpack", 1)
    return self._gather().__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device)


def restore(kind, host, state):
    """Unpickles an array."""
    made = _core.from_numpy(host)
    if kind is not ndarray:
        made = made.view(kind)
    if state:
        made.__dict__.update(state)
    return made


def reduce_array(self):
    host = self._host() if self._host() is not None else self._gather()
    return restore, (type(self), host, getattr(self, "__dict__", None))


def as_type(self, kind):
    """The array as another subclass; as one of NumPy's, a copy."""
    if issubclass(kind, numpy.ndarray):
        return self._gather().view(kind)
    return self._retyped(kind)


ndarray.__array_ufunc__ = scalar.__array_ufunc__ = array_ufunc
ndarray.__array_function__ = scalar.__array_function__ = array_function
ndarray.__array_namespace__ = scalar.__array_namespace__ = array_namespace
ndarray.__array_finalize__ = None
ndarray.__array_priority__ = 0.0
ndarray.__dlpack__ = dlpack
ndarray.__dlpack_device__ = lambda self: (1, 0)
ndarray.__reduce__ = reduce_array
ndarray._as_type = as_type
ndarray.__class_getitem__ = classmethod(lambda cls, item: numpy.ndarray.__class_getitem__(item))
ndarray.__module__ = scalar.__module__ = "tilewise"


def array_wrap(self, array, context=None, return_scalar=False):
    result = _core.from_numpy(array) if isinstance(array, numpy.ndarray) else array
    return result[()] if return_scalar and result.ndim == 0 else result


ndarray.__array_wrap__ = array_wrap
