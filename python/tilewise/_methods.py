"""The rest of ndarray's and the scalar class's methods: short natives, and fallbacks by name."""

import math
import operator

import numpy

from tilewise import _core, _ufuncs
from tilewise._fallback import call
from tilewise._namespace import NATIVE, set_method

ndarray, scalar = _core.ndarray, _core.scalar
_TYPE = type  # `view` has a parameter of that name


def _result(name, self, *args, **kwargs):
    return call(f"ndarray.{name}", getattr(numpy.ndarray, name), (self, *args), kwargs)


# ---- Native


@set_method
def fill(self, value):
    """Writes one value to all elements."""
    if not isinstance(self, scalar):  # as NumPy's, which never change
        self[...] = value


@set_method
def tolist(self):
    """The values as Python numbers in nested lists. Waits."""
    if isinstance(self, scalar):
        return self.item()
    held = self._host()
    return (held if held is not None else self._gather()).tolist()


@set_method
def tobytes(self, order="C"):
    """The values' bytes. Waits."""
    return (self._gather() if self._host() is None else self._host()).tobytes(order)


@set_method
def conjugate(self, *args, **kwargs):
    """The complex conjugate; of other numbers the array itself."""
    if self.dtype.kind == "c" or args or kwargs:
        return _ufuncs.get(numpy.conjugate)(self, *args, **kwargs)
    return self


set_method(conjugate, "conj")


@set_method
def view(self, dtype=None, type=None):
    """The same bytes under another dtype, or as another subclass."""
    if isinstance(dtype, _TYPE) and issubclass(dtype, (ndarray, numpy.ndarray)):
        dtype, type = None, dtype
    held = self._host()
    if held is not None:
        result = _core.hold_numpy(held.view(dtype) if dtype is not None else held.view())
    elif dtype is not None:
        dtype = numpy.dtype(dtype)
        result = self._typed(dtype, 0 if dtype.itemsize == self.dtype.itemsize else -1)
    else:
        result = self[...] if isinstance(self, ndarray) else self
    if type is None:
        return result
    made = result._as_type(type)
    return made


@set_method
def __copy__(self):
    return self.copy()


@set_method
def __deepcopy__(self, memo):
    return (
        self.copy()
        if self._host() is None or isinstance(self, scalar)
        else _core.hold_numpy(numpy.ndarray.__deepcopy__(self._host(), memo))
    )


@set_method
def __complex__(self):
    if isinstance(self, scalar):
        return complex(self._value())
    if self.ndim:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return complex(self.item())


@set_method
def __format__(self, spec):
    if isinstance(self, scalar):
        return format(self._value(), spec)
    if self.ndim == 0:
        return format(self[()] if self._host() is None else self._host()[()], spec)
    if spec:
        raise TypeError(f"unsupported format string passed to {type(self).__module__}.{type(self).__name__}.__format__")
    return str(self)


def _of_value(function):
    def method(self, *args):
        return function(self._value(), *args)

    return method


scalar.__round__ = lambda self, ndigits=None: (
    round(self._value()) if ndigits is None else _ROUND(self, operator.index(ndigits))
)
scalar.__trunc__ = _of_value(math.trunc)
scalar.__floor__ = _of_value(math.floor)
scalar.__ceil__ = _of_value(math.ceil)
scalar.is_integer = _of_value(lambda value: value.is_integer())
scalar.as_integer_ratio = _of_value(lambda value: value.as_integer_ratio())
scalar.hex = _of_value(lambda value: value.hex())
scalar.bit_length = _of_value(lambda value: int(value).bit_length())
scalar.bit_count = _of_value(lambda value: value.bit_count())
scalar.__reduce__ = lambda self: self._value().__reduce__()
scalar.__array_priority__ = -1000000.0


def _ROUND(value, digits):
    from tilewise import round

    return round(value, digits)


@set_method
def to_device(self, device, /, *, stream=None):
    if stream is not None:
        raise ValueError("stream is not supported: only None")
    if device != "cpu":
        raise ValueError(f'Unsupported device: {device}. Only "cpu" is accepted.')
    return self


def _resize(self, *new_shape, refcheck=True):
    shape = new_shape[0] if len(new_shape) == 1 and hasattr(new_shape[0], "__iter__") else new_shape
    from tilewise import zeros

    result = zeros(shape, self.dtype)
    count = min(result.size, self.size)
    result.reshape(-1)[:count] = self.reshape(-1)[:count]
    self._become(result)


def _setflags(self, write=None, align=None, uic=None):
    if write is False:
        raise ValueError("arrays in tiles cannot be made read-only")


def _in_place(name):
    """A method that changes the array itself: its copy in NumPy is written back."""
    host_method = getattr(numpy.ndarray, name)

    def method(self, *args, **kwargs):
        def on_host(array, *rest, **options):
            array = array if array.flags.writeable else array.copy()
            host_method(array, *rest, **options)
            return array

        call(f"ndarray.{name}", on_host, (self, *args), kwargs)

    method.__name__, method.__doc__ = name, host_method.__doc__
    return method


def _by_numpy(name):
    def method(self, *args, **kwargs):
        return _result(name, self, *args, **kwargs)

    method.__name__, method.__doc__ = name, getattr(numpy.ndarray, name).__doc__
    return method


set_method(_in_place("setfield"), "setfield", native=False)
for _name in (
    "choose",
    "dump",
    "dumps",
    "getfield",
    "tofile",
):
    set_method(_by_numpy(_name), _name, native=False)
ndarray.resize = _resize
ndarray.setflags = _setflags


def _byteswap(self, inplace=False):
    result = _result("byteswap", self)
    if not inplace:
        return result
    self[...] = result
    return self


ndarray.byteswap = _byteswap
# Written in C++.
NATIVE.update("ndarray." + name for name in ("astype", "copy", "item", "reshape", "transpose"))
