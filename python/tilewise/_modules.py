"""NumPy's submodules (linalg, fft, random, ma, ...): the same names, by fallback where they are not native.

`import tilewise.linalg` and `from tilewise.lib.stride_tricks import ...` work for every submodule that NumPy has.
"""

import importlib
import importlib.machinery
import importlib.util
import sys
import types

from tilewise import _namespace
from tilewise._fallback import Gathered, Proxy, fallback

# Native functions of submodules by dotted name.
OWN = {}


def public(path):
    """Registers a native function of a submodule: public("linalg.norm")."""

    def register(function):
        OWN[path] = function
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
    """Random generators give Tilewise arrays; tests of NumPy's do not warn."""
    if path == "random.RandomState":

        def make(*args, **kwargs):
            gathered = Gathered()
            return Proxy(path, value(*gathered.take(args), **gathered.take(kwargs)))

        return make
    if path.startswith(("testing.", "polynomial.set_default")) and callable(value) and not isinstance(value, type):
        return fallback(path, value, quiet=True)
    return None


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
