"""NumPy's submodules (linalg, fft, random, ma, ...): the same names, by fallback where they are not native.

`import tilewise.linalg` and `from tilewise.lib.stride_tricks import ...` work for every submodule that NumPy has.
"""

import importlib
import importlib.machinery
import importlib.util
import sys
import types

import numpy

from tilewise import _namespace
from tilewise._fallback import Proxy, fallback

# Native functions of submodules by dotted name.
OWN = {}


def public(path):
    """Registers a native function of a submodule: public("linalg.norm")."""

    def register(function):
        OWN[path] = function
        function.__module__ = "tilewise." + path.rpartition(".")[0]
        return function

    return register


def native_names():
    return set(OWN)


class ProxyModule(types.ModuleType):
    """One of NumPy's submodules as Tilewise shows it."""

    def __init__(self, path, module):
        super().__init__("tilewise." + path, module.__doc__)
        self.__dict__["_path"], self.__dict__["_module"] = path, module
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        path = f"{self._path}.{name}"
        value = OWN.get(path)
        if value is None:
            value = getattr(self._module, name)
            value = _special(path, value) or _namespace.wrap(path, value)
        self.__dict__[name] = value
        return value

    def __dir__(self):
        return dir(self._module)


def _special(path, value):
    """Random generators give Tilewise arrays; linalg's products are the main namespace's."""
    if path == "random.default_rng":

        def default_rng(seed=None):
            if isinstance(seed, Proxy):
                return seed
            return Proxy("random.Generator", numpy.random.default_rng(seed))

        default_rng.__doc__ = value.__doc__
        return default_rng
    if path in ("random.Generator", "random.RandomState"):

        def make(*args, **kwargs):
            return Proxy(path, value(*args, **kwargs))

        return make
    if path.startswith("linalg.") and path[7:] in (
        "matmul",
        "outer",
        "tensordot",
        "vecdot",
        "diagonal",
        "trace",
        "matrix_transpose",
    ):
        return _linalg_product(path[7:], value)
    if path.startswith(("testing.", "polynomial.set_default")) and callable(value) and not isinstance(value, type):
        return fallback(path, value, quiet=True)
    return None


def _linalg_product(name, value):
    ours = _namespace.NAMES.get(name)
    if name in ("diagonal", "trace"):

        def last_axes(x, /, *, offset=0, **kwargs):
            return ours(x, offset, -2, -1, **kwargs)

        return last_axes
    if name == "outer":

        def outer(x1, x2, /):
            a, b = (_namespace.NAMES["asanyarray"](x) for x in (x1, x2))
            if a.ndim != 1 or b.ndim != 1:
                raise ValueError(
                    f"Input arrays must be one-dimensional, but they are x1.ndim={a.ndim} and x2.ndim={b.ndim}."
                )
            return ours(a, b)

        return outer
    return ours


_proxies = {}


def proxy(path, module):
    """The proxy of a submodule, one for each path."""
    made = _proxies.get(path)
    if made is None:
        made = _proxies[path] = ProxyModule(path, module)
        sys.modules.setdefault("tilewise." + path, made)
    return made


class Finder:
    """Finds tilewise.X where numpy.X is a module."""

    def find_spec(self, fullname, path=None, target=None):
        package, _, rest = fullname.partition(".")
        if package != "tilewise" or not rest or rest.rpartition(".")[2].startswith("_"):
            return None
        try:
            found = importlib.util.find_spec("numpy." + rest)
        except ImportError:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if found else None

    def create_module(self, spec):
        path = spec.name.partition(".")[2]
        return proxy(path, importlib.import_module("numpy." + path))

    def exec_module(self, module):
        pass


sys.meta_path.append(Finder())


@public("lib.stride_tricks.sliding_window_view")
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    x = _namespace.NAMES["asanyarray"](x)
    window = tuple(window_shape) if hasattr(window_shape, "__iter__") else (window_shape,)
    if any(n < 0 for n in window):
        raise ValueError("`window_shape` cannot contain negative values")
    axes = (
        tuple(range(x.ndim))
        if axis is None
        else numpy.lib.array_utils.normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    )
    if len(window) != len(axes):
        what = "shape for all dimensions of" if axis is None else "matching length window_shape and axis for"
        raise ValueError(f"Must provide {what} `x`; got {len(window)} window_shape elements and {len(axes)} axes")
    shape = list(x.shape)
    for k, n in zip(axes, window, strict=True):
        if shape[k] < n:
            raise ValueError("window shape cannot be larger than input array shape")
        shape[k] -= n - 1
    strides = x.strides + tuple(x.strides[k] for k in axes)
    return x._strided(tuple(shape) + window, strides, 0)


@public("lib.stride_tricks.as_strided")
def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """As NumPy's, within the array's own store: ValueError beyond it."""
    x = _namespace.NAMES["asanyarray"](x)
    return x._strided(x.shape if shape is None else tuple(shape), x.strides if strides is None else tuple(strides), 0)


@public("linalg.norm")
def norm(x, ord=None, axis=None, keepdims=False):
    """Vector norms of orders 1, 2, inf and the Frobenius norm natively; others by NumPy."""
    names = _namespace.NAMES
    x = names["asarray"](x)
    flat = axis is None and ord is None
    vector = isinstance(axis, int) or (axis is None and x.ndim == 1)
    if x.dtype.kind not in "biufc" or not (flat or (vector and ord in (None, 1, 2, numpy.inf, -numpy.inf))):
        return fallback("linalg.norm", numpy.linalg.norm)(x, ord, axis, keepdims)
    x = x if x.dtype.kind in "fc" else x.astype(float)
    if ord in (None, 2):
        square = x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x
        return _namespace.find("sqrt")(names["sum"](square, axis, keepdims=keepdims))
    size = _namespace.find("absolute")(x)
    which = {1: "sum", numpy.inf: "max", -numpy.inf: "min"}[ord]
    return names[which](size, axis, keepdims=keepdims)
