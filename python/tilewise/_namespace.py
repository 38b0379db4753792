"""Where each public name comes from: ours, a ufunc with rows, a fallback to NumPy, or NumPy's own object.

Chapters register their functions with `public` (native) or `public(native=False)`; the rest is made when first asked.
"""

import types

import numpy

from tilewise import _core
from tilewise._fallback import Proxy, fallback

NAMES = {}  # public name -> object of ours
NATIVE = set()  # dotted NumPy names that run natively for all they accept
_made = {}

# Classes of NumPy that take arrays: calling them gathers.
_CALLED = {
    "nditer",
    "ndenumerate",
    "broadcast",
    "poly1d",
    "matrix",
    "memmap",
    "recarray",
    "chararray",
    "Generator",
    "RandomState",
}
# Objects used by [], not by a call.
_INDEXED = {"r_", "c_", "mgrid", "ogrid"}
# What computes nothing on arrays: types, files, printing, settings.
QUIET = set(
    """array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific
    get_printoptions set_printoptions printoptions setbufsize getbufsize seterr geterr seterrcall geterrcall show_config
    show_runtime info get_include load loadtxt genfromtxt fromfile fromstring fromregex frombuffer save savez
    savez_compressed savetxt test typename mintypecode promote_types isdtype issubdtype iterable require ndindex
    asmatrix bmat broadcast_shapes s_ index_exp frompyfunc default_rng SeedSequence get_state set_state seed""".split()
)
# What looks at types and shapes only: arrays are shown to NumPy without data.
SHAPES = {
    "result_type",
    "can_cast",
    "common_type",
    "min_scalar_type",
    "iscomplexobj",
    "isrealobj",
    "broadcast_shapes",
    "broadcast",
}
_OWN_MODULES = {"exceptions", "dtypes", "typing", "version", "ctypeslib", "f2py"}


def public(function=None, *, native=True, name=None, method=False):
    """Registers a function under NumPy's name; `method` also as a method of ndarray and the scalar class."""

    def register(f):
        own = name or f.__name__.rstrip("_")
        NAMES[own] = f
        f.__module__ = "tilewise"
        f.__qualname__ = f.__name__ = own
        if f.__doc__ is None:
            f.__doc__ = getattr(getattr(numpy, own, None), "__doc__", None)
        if native:
            NATIVE.add(own)
        if method:
            set_method(f, own, native)
        return f

    return register(function) if function else register


def set_method(function, name=None, native=True):
    """Makes a function a method of arrays and scalars."""
    name = name or function.__name__
    setattr(_core.ndarray, name, function)
    setattr(_core.scalar, name, function)
    if native and not name.startswith("_"):
        NATIVE.add(f"ndarray.{name}")
    return function


def without_data(x):
    """An array's type and shape as a NumPy array that holds one element."""
    if isinstance(x, (_core.ndarray, _core.scalar)):
        return numpy.broadcast_to(numpy.zeros((), x.dtype), x.shape)
    return x


def _by_shapes(function):
    def wrapper(*args, **kwargs):
        return function(*map(without_data, args), **{k: without_data(v) for k, v in kwargs.items()})

    wrapper.__name__, wrapper.__doc__, wrapper.__module__ = function.__name__, function.__doc__, "tilewise"
    return wrapper


def wrap(path, value):
    """NumPy's object at a dotted path, as Tilewise shows it."""
    name = path.rpartition(".")[2]
    if isinstance(value, types.ModuleType):
        from tilewise import _modules

        return value if path in _OWN_MODULES else _modules.proxy(path, value)
    if isinstance(value, numpy.ufunc):
        from tilewise import _ufuncs

        return _ufuncs.get(value, path)
    if name == "vectorize":
        return lambda *args, **kwargs: Proxy("vectorize", value(*args, **kwargs))
    if name in SHAPES:
        return _by_shapes(value)
    if name in _INDEXED:
        return Proxy(name, value, quiet=True)
    if isinstance(value, type):
        return fallback(path, value, name in ("broadcast", "memmap")) if name in _CALLED else value
    if isinstance(value, numpy.poly1d):
        return value
    if callable(value) and not isinstance(value, numpy.lib._index_tricks_impl.IndexExpression):
        return fallback(path, value, name in QUIET)
    return value


def find(name):
    """A public name of numpy's, or AttributeError."""
    if name in NAMES:
        return NAMES[name]
    if (name.startswith("__") and name not in numpy.__all__) or not hasattr(numpy, name):
        raise AttributeError(f"module 'tilewise' has no attribute {name!r}")
    return wrap(name, getattr(numpy, name))


def native():
    """All native names."""
    from tilewise import _modules, _ufuncs

    return NATIVE | _ufuncs.native_names() | _modules.native_names()
