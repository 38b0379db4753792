"""Floating-point warnings in NumPy's words, and when they are given.

They are known when work has run, so they come at the next wait of any kind, on leaving errstate or
warnings.catch_warnings (whose rules they fall under), and at exit.
"""

import sys
import warnings

import numpy

from tilewise import _core

_KINDS = (
    (1, "divide", "divide by zero"),
    (2, "over", "overflow"),
    (4, "under", "underflow"),
    (8, "invalid", "invalid value"),
)
_VALUE_ERROR = 16


def give(found):
    """Warns, raises or calls as errstate says; `found` has (operation, kinds, file, line)."""
    modes = numpy.geterr()
    merged = {}  # divmod is two rows of ours and one operation of NumPy's
    for name, kinds, file, line in found:
        key = ("divmod" if name.startswith("divmod_") else name, file, line)
        merged[key] = merged.get(key, 0) | kinds
    for (name, file, line), kinds in merged.items():
        if kinds & _VALUE_ERROR:
            raise ValueError("Integers to negative integer powers are not allowed.")
        for bit, kind, words in _KINDS:
            if kinds & bit:
                _one(modes[kind], kind, f"{words} encountered in {name}", bit, file, line)


def _one(mode, kind, text, bit, file, line):
    if mode == "raise":
        raise FloatingPointError(text)
    if mode == "call":
        numpy.geterrcall()(words_of(kind), bit)
    elif mode == "print":
        print(f"Warning: {text}", file=sys.stderr)
    elif mode == "log":
        numpy.geterrcall().write(f"Warning: {text}\n")
    elif file:  # also where errstate ignores by now what it did not when the work was recorded
        warnings.warn_explicit(text, RuntimeWarning, file, line)
    else:
        warnings.warn(text, RuntimeWarning, stacklevel=2)


def words_of(kind):
    return next(words for _, name, words in _KINDS if name == kind)


# ---- The blocks whose rules warnings fall under

_outer_modes = {}


def _enter_errstate(method):
    def __enter__(self):
        _outer_modes[id(self)] = numpy.geterr()
        return method(self)

    return __enter__


def _leave_errstate(method):
    def __exit__(self, *error):
        outer = _outer_modes.pop(id(self), None)
        inner = numpy.geterr()
        switched_on = outer and any(inner[k] != outer[k] and inner[k] != "ignore" for k in outer)
        try:
            if switched_on and not (error and error[0]):
                _core.settle()
        finally:
            method(self, *error)

    return __exit__


def _enter_filters(method):
    def __enter__(self):
        _core.settle()
        return method(self)

    return __enter__


def _leave_filters(method):
    def __exit__(self, *error):
        try:
            if not (error and error[0]):
                _core.settle()
        finally:
            method(self, *error)

    return __exit__


def install():
    """Called once: errstate and catch_warnings see the warnings of what was recorded inside them."""
    numpy.errstate.__enter__ = _enter_errstate(numpy.errstate.__enter__)
    numpy.errstate.__exit__ = _leave_errstate(numpy.errstate.__exit__)
    warnings.catch_warnings.__enter__ = _enter_filters(warnings.catch_warnings.__enter__)
    warnings.catch_warnings.__exit__ = _leave_filters(warnings.catch_warnings.__exit__)
