"""Functions that are not native: they run in NumPy on gathered data, and say so.

`fallback(name, function)` makes a wrapper that replaces Tilewise arrays among the arguments (also inside lists, tuples
and dicts) by NumPy copies, calls NumPy, writes changed arguments back, and makes arrays among the results ours.
"""

import functools
import os
import sys
import warnings

import numpy

from tilewise import _core, _settings
from tilewise._errors import FallbackWarning

ndarray, scalar = _core.ndarray, _core.scalar
_OURS = (ndarray, scalar)
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_warned = set()

# Arguments that a function changes, by position or name, beside out=.
CHANGED = {
    "place": (0,),
    "copyto": (0,),
    "put": (0,),
    "putmask": (0,),
    "fill_diagonal": (0,),
    "put_along_axis": (0,),
    "random.shuffle": (0,),
    "random.Generator.shuffle": (0,),
    "random.RandomState.shuffle": (0,),
    "ndarray.sort": (0,),
    "ndarray.partition": (0,),
    "ndarray.put": (0,),
    "ndarray.byteswap": (0,),
    "ndarray.setfield": (0,),
    "ndarray.__setitem__": (0,),
}
_CHANGED_NAMES = {
    "place": ("arr",),
    "copyto": ("dst",),
    "put": ("a",),
    "putmask": ("a",),
    "fill_diagonal": ("a",),
    "put_along_axis": ("arr",),
    "random.shuffle": ("x",),
    "random.Generator.shuffle": ("x",),
}


class Gathered:
    """The NumPy copies made for one call, each with the array that it stands for."""

    def __init__(self):
        self.copies = {}  # id of ours -> (ours, copy)
        self.bytes = 0

    def take(self, x):
        """x with every Tilewise array in it replaced."""
        kind = type(x)
        if kind in (int, float, str, bool, complex, type(None)):
            return x
        if isinstance(x, ndarray):
            known = self.copies.get(id(x))
            if known is None:
                held = x._host()
                copy = held if held is not None else x._gather()
                self.bytes += copy.nbytes
                known = self.copies[id(x)] = (x, copy)
            return known[1]
        if kind is scalar:
            self.bytes += x.itemsize
            return x._value()
        if kind in (list, tuple):
            return kind([self.take(item) for item in x])
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return kind(*[self.take(item) for item in x])
        if kind is dict:
            return {key: self.take(value) for key, value in x.items()}
        if kind is slice:
            return slice(self.take(x.start), self.take(x.stop), self.take(x.step))
        if isinstance(x, Proxy):
            return x._wrapped
        return x

    def original(self, copy):
        """The array of ours that a NumPy array was gathered from, or None."""
        for ours, known in self.copies.values():
            if known is copy:
                return ours
        return None

    def give_back(self, x):
        """Writes a changed copy into the array that it was gathered from."""
        for item in x if isinstance(x, (tuple, list)) else (x,):
            ours = self.original(item)
            if ours is not None and ours._host() is None:
                _core.assign(ours, item)

    def convert(self, result):
        """What a NumPy function returned, with its arrays turned into ours."""
        kind = type(result)
        if kind is numpy.ndarray:
            ours = self.original(result)
            return ours if ours is not None else _core.from_numpy(result)
        if kind in (list, tuple):
            return kind([self.convert(item) for item in result])
        if isinstance(result, tuple) and hasattr(result, "_fields"):
            return kind(*[self.convert(item) for item in result])
        if kind is dict:
            return {key: self.convert(value) for key, value in result.items()}
        return result


def call_site():
    """(file, line, frame depth) of the user's line: the nearest frame outside this package."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, depth = frame.f_back, depth + 1
    return frame.f_code.co_filename, frame.f_lineno, depth


def note(name, count):
    """Counts a fallback, and warns or raises as TILEWISE_FALLBACK says."""
    if _settings.fallback == "error":
        raise NotImplementedError(f"numpy.{name} is not native in Tilewise, and TILEWISE_FALLBACK=error")
    _core.count(f"fallback.numpy.{name}", 1)
    _core.count("fallback.bytes", count)
    if _settings.fallback == "silent":
        return
    file, line, _ = call_site()
    if (file, line, name) not in _warned:
        _warned.add((file, line, name))
        warnings.warn_explicit(
            f"numpy.{name} is not native: it ran in NumPy on {count} gathered bytes", FallbackWarning, file, line
        )


def call(name, function, args, kwargs, quiet=False):
    """Runs a NumPy function for Tilewise arguments."""
    if not quiet and _settings.fallback == "error":
        note(name, 0)
    gathered = Gathered()
    host_args = [gathered.take(x) for x in args]
    host_kwargs = {key: gathered.take(x) for key, x in kwargs.items()}
    if not quiet:
        note(name, gathered.bytes)
    result = function(*host_args, **host_kwargs)
    if gathered.copies:
        for position in CHANGED.get(name, ()):
            if position < len(host_args):
                gathered.give_back(host_args[position])
        for key in _CHANGED_NAMES.get(name, ()):
            if key in host_kwargs:
                gathered.give_back(host_kwargs[key])
        if host_kwargs.get("out") is not None:
            gathered.give_back(host_kwargs["out"])
        elif type(result) is numpy.ndarray:
            gathered.give_back(result)  # a positional out=
    return gathered.convert(result)


def fallback(name, function, quiet=False):
    """The wrapper of a NumPy function; `quiet` for those that compute nothing on arrays (types, files, printing)."""

    def wrapper(*args, **kwargs):
        return call(name, function, args, kwargs, quiet)

    try:
        functools.update_wrapper(wrapper, function)
    except (AttributeError, TypeError):
        pass
    wrapper.__module__ = "tilewise" + name.rpartition(".")[0].join(("." if "." in name else "", ""))
    wrapper.__wrapped__ = function
    return wrapper


class Proxy:
    """An object of NumPy's (a random generator, np.r_) whose methods and items take and give Tilewise arrays."""

    def __init__(self, name, wrapped, quiet=False):
        self._name, self._wrapped, self._quiet = name, wrapped, quiet

    def __getattr__(self, attribute):
        value = getattr(self._wrapped, attribute)
        if callable(value) and not isinstance(value, type):
            return fallback(f"{self._name}.{attribute}", value, self._quiet)
        return value

    def __getitem__(self, key):
        return call(self._name, self._wrapped.__getitem__, (key,), {}, self._quiet)

    def __call__(self, *args, **kwargs):
        return call(self._name, self._wrapped, args, kwargs, self._quiet)

    def __repr__(self):
        return repr(self._wrapped)

    def __reduce__(self):
        return Proxy, (self._name, self._wrapped, self._quiet)

    def __setattr__(self, attribute, value):
        if attribute in ("_name", "_wrapped", "_quiet"):
            object.__setattr__(self, attribute, value)
        else:
            setattr(self._wrapped, attribute, value)
