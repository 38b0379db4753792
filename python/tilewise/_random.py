"""Chapter: random numbers from NumPy's stream.

A generator has its state in one of two places: in NumPy's bit generator, or in a stream of ours, which draws on all
devices. Whoever draws next fetches it from the other, so native and other methods can be mixed. Once somebody holds the
bit generator it is kept current after every call.
"""

import copy
import math
import threading

import numpy

from tilewise import _core
from tilewise._fallback import Gathered, Proxy, call, fallback, note
from tilewise._modules import public

_LOW = (1 << 64) - 1
_FLOATS = (numpy.dtype("float64"), numpy.dtype("float32"))
_KINDS = {t: numpy.dtype(t) for t in (numpy.float64, numpy.float32, numpy.int64, "float64", "float32", "f4", float)}
_INTEGERS = {numpy.dtype(t): (numpy.iinfo(t).min, numpy.iinfo(t).max) for t in "bhilBHIL"}
_INTEGERS[numpy.dtype(bool)] = (0, 1)
_Stream = _core.RandomStream
_judge = numpy.random.default_rng(0)


def _dtype(dtype):
    try:
        return _KINDS[dtype]
    except (KeyError, TypeError):
        return numpy.dtype(dtype)


def _shape(size):
    if type(size) is int:
        return (size,)
    return tuple(size) if hasattr(size, "__iter__") else (size,)


def _is_stored(x, axis):
    """An array of numbers on tiles that has the axis."""
    if not isinstance(x, _core.ndarray) or x._host() is not None or x.dtype.kind == "V":
        return False
    return isinstance(axis, int) and -x.ndim <= axis < x.ndim


def _number(x):
    """x as a float where it is one real number, else None."""
    if type(x) in (float, int):
        return float(x)
    if numpy.ndim(x) or numpy.asarray(x).dtype.kind not in "biuf":
        return None
    return float(x)


def _not_negative(x):
    return x is not None and (x != x or math.copysign(1.0, x) > 0)


def _integer(x):
    if isinstance(x, (int, numpy.integer)):
        return int(x)
    if isinstance(x, (_core.scalar, numpy.ndarray, _core.ndarray)) and x.ndim == 0 and x.dtype.kind in "iu":
        return int(x)
    return None


@public("random.Generator")
class Generator(Proxy):
    """numpy.random.Generator: the same values and the same state after every call.

    Methods of this class draw in parallel where the bit generator is PCG64 and a size is given; the others are NumPy's,
    on gathered data. A single number is drawn by NumPy.
    """

    def __init__(self, bit_generator):
        self._wrap(numpy.random.Generator(Gathered().take(bit_generator)))

    @classmethod
    def _around(cls, generator, shared=True):
        made = cls.__new__(cls)
        made._wrap(generator, shared)
        return made

    def _wrap(self, generator, shared=True):
        kind = type(generator.bit_generator)
        self.__dict__.update(
            _name="random.Generator",
            _quiet=False,
            _numpy=generator,
            _stream=_Stream() if kind is numpy.random.PCG64 else None,
            _ours=False,  # the state is in the stream
            _shared=shared,  # others may look at NumPy's
            _lock=threading.RLock(),
        )

    def __setattr__(self, name, value):
        raise AttributeError(f"'Generator' object has no attribute {name!r} that can be set")

    def __getattr__(self, name):
        value = getattr(self.__dict__["_numpy"], name)
        if not callable(value) or isinstance(value, type):
            return value
        return fallback(f"random.Generator.{name}", lambda *args, **kwargs: self._by_numpy(name, *args, **kwargs))

    def __dir__(self):
        return dir(self._numpy)

    def __str__(self):
        return str(self._numpy)

    def __reduce__(self):
        return Generator._around, (self._current(), self._shared)

    def _current(self):
        """NumPy's generator with the state."""
        with self._lock:
            self._give_state()
            return self._numpy

    def __copy__(self):
        return Generator._around(copy.copy(self._wrapped))  # of one bit generator

    @property
    def _wrapped(self):
        """The same for others, who may keep it."""
        self.__dict__["_shared"] = True
        return self._current()

    @property
    def bit_generator(self):
        return self._wrapped.bit_generator

    def spawn(self, n_children):
        return [Generator._around(child, False) for child in self._current().spawn(n_children)]

    # ---- Where the state is

    def _give_state(self):
        if not self._ours:
            return
        state_high, state_low, increment_high, increment_low, has_half, half = self._stream.get()
        self._numpy.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": state_high << 64 | state_low, "inc": increment_high << 64 | increment_low},
            "has_uint32": has_half,
            "uinteger": half,
        }
        self.__dict__["_ours"] = False

    def _take_state(self):
        held = self._numpy.bit_generator.state
        state, increment = held["state"]["state"], held["state"]["inc"]
        self._stream.set(
            state >> 64, state & _LOW, increment >> 64, increment & _LOW, held["has_uint32"], held["uinteger"]
        )
        self.__dict__["_ours"] = True

    def _native(self, draw, *args):
        """Draws from the stream: draw(stream, ...) by one of its methods."""
        with self._lock:
            if not self._ours:
                self._take_state()
            result = draw(self._stream, *args)
            if self._shared:
                self._give_state()
        return result

    def _by_numpy(self, name, *args, **kwargs):
        with self._lock:
            return getattr(self._current(), name)(*args, **kwargs)

    def _fall_back(self, name, *args, **kwargs):
        return call(f"random.Generator.{name}", lambda *a, **k: self._by_numpy(name, *a, **k), args, kwargs)

    # ---- Methods

    def _fill(self, name, distribution, size, dtype, out, **more):
        """A method with dtype= and out=."""
        if size is None and out is None:
            return self._by_numpy(name, dtype=dtype, **more)
        kind = _dtype(dtype)
        if kind not in _FLOATS:
            return self._by_numpy(name, size, dtype, **more)  # raises
        if self._stream is None or (out is not None and not (isinstance(out, _core.ndarray) and out._host() is None)):
            return self._fall_back(name, size=size, dtype=dtype, out=out, **more)
        if out is None:
            return self._native(_Stream.draw, distribution, _shape(size), kind, None)
        in_c_order = out.flags.c_contiguous
        if not (in_c_order or out.flags.f_contiguous) or not out.flags.writeable:
            raise ValueError("the array given as out must be contiguous, writable, aligned, and in machine byte-order")
        if out.dtype != kind:
            raise TypeError(f"the array given as out has the wrong type: {kind} expected, {out.dtype} given")
        if size is not None and _shape(size) != out.shape:
            raise ValueError("size must match out.shape when used together")
        self._native(_Stream.draw, distribution, out.shape, kind, out if in_c_order else out.T)
        return out

    @public("random.Generator.random")
    def random(self, size=None, dtype=numpy.float64, out=None):
        return self._fill("random", _Stream.UNIFORM, size, dtype, out)

    @public("random.Generator.uniform")
    def uniform(self, low=0.0, high=1.0, size=None):
        if size is not None and self._stream is not None:
            first, last = _number(low), _number(high)
            if first is not None and last is not None and 0 <= last - first < math.inf:
                return self._native(
                    _Stream.draw_scaled, _Stream.UNIFORM, _shape(size), _FLOATS[0], last - first, first
                )
        return self._other("uniform", low, high, size)

    @public("random.Generator.integers")
    def integers(self, low, high=None, size=None, dtype=numpy.int64, endpoint=False):
        if size is not None and self._stream is not None:
            first, last = _integer(low), _integer(0 if high is None else high)
            kind = _dtype(dtype)
            lowest, highest = _INTEGERS.get(kind, (1, 0))
            if first is not None and last is not None:
                if high is None:
                    first, last = 0, first
                last -= not endpoint
                if lowest <= first <= last <= highest:
                    return self._native(_Stream.integers, _shape(size), kind, first & _LOW, last - first)
        return self._other("integers", low, high, size, dtype, endpoint)

    @public("random.Generator.standard_normal")
    def standard_normal(self, size=None, dtype=numpy.float64, out=None):
        return self._fill("standard_normal", _Stream.NORMAL, size, dtype, out)

    @public("random.Generator.normal")
    def normal(self, loc=0.0, scale=1.0, size=None):
        if size is not None and self._stream is not None:
            shift, factor = _number(loc), _number(scale)
            if shift is not None and _not_negative(factor):
                return self._native(_Stream.draw_scaled, _Stream.NORMAL, _shape(size), _FLOATS[0], factor, shift)
        return self._other("normal", loc, scale, size)

    @public("random.Generator.standard_exponential")
    def standard_exponential(self, size=None, dtype=numpy.float64, method="zig", out=None):
        kind = {"zig": _Stream.EXPONENTIAL, "inv": _Stream.INVERSE_EXPONENTIAL}.get(method, _Stream.INVERSE_EXPONENTIAL)
        return self._fill("standard_exponential", kind, size, dtype, out, method=method)

    @public("random.Generator.exponential")
    def exponential(self, scale=1.0, size=None):
        if size is not None and self._stream is not None:
            factor = _number(scale)
            if _not_negative(factor):
                return self._native(_Stream.draw_scaled, _Stream.EXPONENTIAL, _shape(size), _FLOATS[0], factor, None)
        return self._other("exponential", scale, size)

    @public("random.Generator.choice")
    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        """As NumPy's; with repeats and without weights, from a number of things or from an array of ours, natively."""
        if size is not None and replace and p is None:
            if isinstance(a, (int, numpy.integer)) and a > 0:
                return self.integers(0, a, _shape(size))
            if _is_stored(a, axis) and a.shape[axis] > 0:
                return a.take(self.integers(0, a.shape[axis], _shape(size)), axis)
        if size is None and p is None and isinstance(a, (int, numpy.integer)):
            return self._by_numpy("choice", a, size, replace, p, axis, shuffle)
        return self._fall_back("choice", a, size, replace, p, axis, shuffle)

    def permutation(self, x, axis=0):
        """As NumPy's. NumPy draws the order, one chain of swaps: a fallback; an array stays on its tiles."""
        if not _is_stored(x, axis):
            return self._fall_back("permutation", x, axis)
        return x.take(self._order("permutation", x, axis), axis)

    def shuffle(self, x, axis=0):
        """As permutation, in place."""
        if not _is_stored(x, axis) or not x.flags.writeable:
            return self._fall_back("shuffle", x, axis)
        x[...] = x.take(self._order("shuffle", x, axis), axis)

    def _order(self, name, x, axis):
        note(f"random.Generator.{name}", 0)
        n = x.shape[axis]
        if x.ndim == 1:
            return self._by_numpy("permutation", n)
        return self._by_numpy("permutation", numpy.arange(n).reshape(n, 1))[:, 0]  # NumPy's way with rows

    def _other(self, name, *args):
        """What is not native: one number, by NumPy; and by fallback arrays of parameters."""
        last = 1 if name == "exponential" else 2
        if all(numpy.ndim(x) == 0 for x in args[:last]):
            if args[last] is None:
                return self._by_numpy(name, *Gathered().take(args))
            getattr(_judge, name)(*Gathered().take(args[:last]), 1, *args[last + 1 :])  # raises what is wrong
        return self._fall_back(name, *args)


@public("random.default_rng")
def default_rng(seed=None):
    if isinstance(seed, Generator):
        return seed
    known = (numpy.random.Generator, numpy.random.BitGenerator, numpy.random.RandomState)
    return Generator._around(numpy.random.default_rng(Gathered().take(seed)), isinstance(seed, known))


for _made in (Generator, default_rng):
    _made.__module__ = "tilewise.random"
