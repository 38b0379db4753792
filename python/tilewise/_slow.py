"""What the extension module asks of Python: operands, keys and arguments that are rare."""

import operator
import warnings

import numpy

from tilewise import _core
from tilewise._fallback import Gathered, call

ndarray, scalar = _core.ndarray, _core.scalar
_OURS = (ndarray, scalar)
_OPERATORS = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "truediv",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "divmod": divmod,
    "power": "pow",
    "left_shift": "lshift",
    "right_shift": "rshift",
    "bitwise_and": "and_",
    "bitwise_or": "or_",
    "bitwise_xor": "xor",
    "matmul": "matmul",
    "less": "lt",
    "less_equal": "le",
    "equal": "eq",
    "not_equal": "ne",
    "greater": "gt",
    "greater_equal": "ge",
}
_COMPARISONS = {"less", "less_equal", "equal", "not_equal", "greater", "greater_equal"}
_UNARY = {"negative": operator.neg, "positive": operator.pos, "absolute": abs, "invert": operator.invert}
_PLAIN = (int, float, complex, bool, list, tuple, numpy.ndarray, numpy.generic, ndarray, scalar)
_NOT_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
    "indices"
)


def foreign(x):
    """Whether another library's object may want to answer for itself."""
    return not isinstance(x, _PLAIN) and x is not None


def _gives_up(x):
    """NumPy's rule for leaving an operator to the other operand."""
    override = getattr(type(x), "__array_ufunc__", 0)
    if override is None:
        return True
    return override == 0 and getattr(type(x), "__array_priority__", -1.0) > 0


def _host_operator(name, a, b, in_place):
    spelled = _OPERATORS[name]
    function = spelled if callable(spelled) else getattr(operator, ("i" + spelled.rstrip("_")) if in_place else spelled)
    if in_place and a._host() is None:

        def function(x, y, compute=function):
            result = compute(x, y)
            x[...] = result
            return x

    return call(name, function, (a, b), {})


def _big_integer(name, a, b, in_place):
    """One operand is a Python integer beyond 64 bits."""
    array, big = (a, b) if isinstance(a, _OURS) else (b, a)
    if array.dtype.kind in "fc":
        number = float(big)
        return binary(name, number if array is b else a, number if array is a else b, in_place)
    sample = numpy.zeros((), array.dtype)[()]
    function = _OPERATORS[name]
    function = function if callable(function) else getattr(operator, function)
    result = function(sample, big) if array is a else function(big, sample)  # raises OverflowError unless a comparison
    if name in _COMPARISONS:
        from tilewise import full

        return full(array.shape, bool(result)) if array.ndim else result
    return _host_operator(name, a, b, in_place)


def binary(name, a, b, in_place):
    """An operator whose operands are not both plain."""
    from tilewise import _ufuncs

    other = b if isinstance(a, _OURS) else a
    if foreign(other) and not in_place and _gives_up(other):
        return NotImplemented
    if (
        name == "multiply"
        and isinstance(other, (list, tuple, str, bytes))
        and (a if other is b else b).dtype.kind in "iu"
    ):
        if isinstance(a if other is b else b, scalar):
            return NotImplemented  # the sequence repeats itself
    if (
        name in ("equal", "not_equal")
        and (other is None or isinstance(other, (str, bytes)))
        and _plain(a if other is b else b)
    ):
        from tilewise import full

        return full(numpy.shape(a if other is b else b), name == "not_equal")
    if name == "matmul":
        from tilewise import matmul

        if in_place:
            a[...] = matmul(a, b)
            return a
        return matmul(a, b)
    if type(other) is int and not -(2**63) <= other < 2**64:
        return _big_integer(name, a, b, in_place)
    if isinstance(other, (list, tuple, numpy.ndarray)):
        other = _core.from_numpy(numpy.asarray(other))
        a, b = (a, other) if isinstance(a, _OURS) else (other, b)
    x, y = _plain(a), _plain(b)
    function = _ufuncs.get(getattr(numpy, name))
    if x and y and isinstance(function, _core.ufunc):
        return function(a, b, out=a) if in_place else function(a, b)
    if _overrides(a) or _overrides(b):
        return getattr(numpy, name)(a, b, out=(a,)) if in_place else getattr(numpy, name)(a, b)
    return _host_operator(name, a, b, in_place)


def _plain(x):
    if isinstance(x, ndarray):
        return x._host() is None and x.dtype.kind != "V" and not _overrides(x)
    if isinstance(x, (scalar, numpy.generic)):
        return x.dtype.kind != "V" and _core.tiles_hold(x.dtype)
    return isinstance(x, (int, float, complex))


def _overrides(x):
    return isinstance(x, ndarray) and type(x).__array_ufunc__ is not ndarray.__array_ufunc__


def unary(name, a):
    return call(name, _UNARY[name], (a,), {}) if not _overrides(a) else getattr(numpy, name)(a)


def ufunc_call(ufunc, args, kwargs):
    """A call of a ufunc that is not plain numbers, or has arguments that only NumPy knows."""
    function = ufunc._numpy
    inputs = args[: function.nin]
    if any(_overrides(x) or (foreign(x) and hasattr(type(x), "__array_ufunc__")) for x in inputs):
        return function(*args, **kwargs)
    if len(inputs) == function.nin and any(type(x) is int and not -(2**63) <= x < 2**64 for x in inputs):
        kinds = {x.dtype.kind for x in inputs if isinstance(x, _OURS)}
        if kinds & {"f", "c"} and not function.__name__.startswith("logical_"):
            return ufunc(*[float(x) if type(x) is int else x for x in args], **kwargs)
    return call(function.__name__, function, args, kwargs)


# ---- Indexing


def get_item(a, key):
    if a.dtype.names is not None and (
        isinstance(key, str) or (isinstance(key, list) and key and isinstance(key[0], str))
    ):
        return _field(a, key)
    held = a._host()
    if held is not None:
        gathered = Gathered()
        result = held[gathered.take(key)]
        return _core.hold_numpy(result) if type(result) is numpy.ndarray else result
    if isinstance(key, str):
        raise IndexError(_NOT_INDEX)
    from tilewise import _indexing

    return _indexing.read(a, key)


def _field(a, key):
    """A field of records, as a view."""
    fields = a.dtype.fields
    if isinstance(key, list):
        return a._typed(a.dtype[key], 0)
    if key not in fields:
        raise ValueError(f"no field of name {key}")
    dtype, offset = fields[key][:2]
    if a._host() is not None:
        return _core.hold_numpy(a._host()[key])
    if not _core.tiles_hold(dtype.base):
        return _core.from_numpy(a._gather()[key])
    if dtype.subdtype is None:
        return a._typed(dtype, offset)
    base, shape = dtype.subdtype
    strides = numpy.empty(shape, base).strides
    view = a._typed(base, offset)
    return view._strided(a.shape + shape, a.strides + strides, 0)


def set_item(a, key, value):
    held = a._host()
    if held is not None:
        gathered = Gathered()
        held[gathered.take(key)] = gathered.take(value)
        return
    if isinstance(key, str):
        if a.dtype.names is None:
            raise IndexError(_NOT_INDEX)
        _field(a, key)[...] = value
        return
    if _assign_masked(a, key, value):
        return
    from tilewise import _indexing

    _indexing.write(a, key, value)


def _assign_masked(a, key, value):
    """a[mask] = one value, natively. False where it is something else."""
    if isinstance(key, (numpy.ndarray, list)):
        key = numpy.asarray(key)
        key = _core.from_numpy(key) if key.dtype == bool else None
    if not isinstance(key, ndarray) or key.dtype != bool or key.ndim == 0 or a.dtype.kind == "V":
        return False
    if a.shape[: key.ndim] != key.shape:
        return False
    if not isinstance(value, _OURS + (numpy.ndarray, numpy.generic, int, float, complex)) or numpy.ndim(value):
        return False
    one = _core.empty((), a.dtype)
    one[...] = _array_of(value)
    mask = key.reshape(key.shape + (1,) * (a.ndim - key.ndim))
    return _core.where_into(a, mask, one)


def _array_of(value):
    """A scalar as an array, which is cast where a Python number would have to fit."""
    if isinstance(value, scalar):
        return _core.as_ndarray(value)
    return numpy.asarray(value) if isinstance(value, numpy.generic) else value


def contains(a, value):
    return bool((a == value).any())


def scalar_item(s, key):
    result = numpy.asarray(s._value())[key] if key is Ellipsis else s._value()[key]
    return _core.from_numpy(result) if type(result) is numpy.ndarray else result


def assign_odd(target, value):
    """Values that NumPy has to convert first: strings, objects, big integers, complex into real."""
    if isinstance(value, (str, bytes)) or not isinstance(value, _OURS):
        host = numpy.empty(numpy.shape(value), target.dtype)
        host[...] = value
    else:
        host = numpy.empty(value.shape, target.dtype)
        host[...] = value._host() if isinstance(value, ndarray) and value._host() is not None else value._gather()
    _core.assign(target, host)


def assign_element(target, value):
    """One element from a sequence or an array with axes: NumPy's error, mostly."""
    host = numpy.empty(1, target.dtype)
    host[0] = value._gather() if isinstance(value, ndarray) else value
    _core.assign(target, host.reshape(()))


def warn_complex():
    warnings.warn(
        "Casting complex values to real discards the imaginary part", numpy.exceptions.ComplexWarning, stacklevel=2
    )


# ---- Attributes


def zero_imag(a):
    if isinstance(a, scalar):
        return a.dtype.type(0)
    from tilewise import zeros

    return zeros(a.shape, a.dtype)


def flags(a):
    from tilewise._host_views import Flags

    return Flags(a)


def flat(a):
    from tilewise._host_views import Flat

    return Flat(a)


def ctypes(a):
    raise AttributeError("an array in tiles has no address; numpy.asarray(a).ctypes is that of a private copy")


def set_shape(a, shape):
    held = a._host()
    if held is not None:
        held.shape = shape
        return
    view = a.reshape(shape)
    if not view._shares(a):
        raise AttributeError(
            "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."
        )
    a._become(view)


def set_dtype(a, dtype):
    a._become(a.view(dtype))


def set_flat(a, value):
    flat(a)[:] = value


# ---- Methods with unusual arguments: (self, args, kwargs)


def item(a, args, kwargs):
    held = a._host()
    if held is not None:
        return held.item(*args)
    if not args:
        return a.item()
    if len(args) == 1 and isinstance(args[0], tuple):
        args = args[0]
    chosen = a.reshape(-1)[args[0]] if len(args) == 1 and a.ndim != 1 else a[tuple(args)]
    return chosen.item()


def copy(a, args, kwargs):
    return _copy(a, *args, **kwargs)


def _copy(a, order="C"):
    held = a._host()
    return _core.hold_numpy(held.copy(order)) if held is not None else a.copy(order)


def astype(a, args, kwargs):
    return _astype(a, *args, **kwargs)


def _astype(a, dtype, order="K", casting="unsafe", subok=True, copy=True):
    dtype = numpy.dtype(dtype)
    if a.dtype == dtype and not copy:
        return a
    if casting != "unsafe" and not numpy.can_cast(a.dtype, dtype, casting):
        raise TypeError(f"Cannot cast array data from {a.dtype!r} to {dtype!r} according to the rule '{casting}'")
    if a.dtype == dtype and dtype.kind != "V" and a._host() is None:
        return a.copy(order)
    if dtype.kind != "V" and a.dtype.kind != "V" and _core.tiles_hold(dtype) and a._host() is None:
        return a.astype(dtype)
    return call("ndarray.astype", lambda x: x.astype(dtype, order, casting), (a,), {})


def reshape(a, args, kwargs):
    order, copy = kwargs.pop("order", "C"), kwargs.pop("copy", None)
    if kwargs and set(kwargs) != {"shape"}:
        raise TypeError(f"reshape() got an unexpected keyword argument {next(iter(kwargs))!r}")
    shape = kwargs["shape"] if kwargs else args[0] if len(args) == 1 else args
    if not args and not kwargs:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    held = a._host()
    if held is not None:
        return _core.hold_numpy(held.reshape(shape, order=order))
    if order not in ("C", "F", "A"):
        raise ValueError(f"order must be one of 'C', 'F', or 'A' (got {order!r})")
    if order == "A":
        order = "F" if a._is_f() and not a._is_c() else "C"
    if order == "C":
        result = a.reshape(shape)
    else:
        shape = shape if isinstance(shape, (tuple, list)) else (shape,)
        result = a.transpose().reshape(tuple(shape)[::-1]).transpose()
    if copy is False and not result._shares(a):
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return result.copy() if copy and result._shares(a) else result


def transpose(a, args, kwargs):
    return _core.hold_numpy(a._host().transpose(*args))


# ---- Text


def array_repr(a):
    from tilewise._text import array_repr

    return array_repr(a)


def array_str(a):
    from tilewise._text import array_str

    return array_str(a)


def new_array(shape, dtype=float, buffer=None, offset=0, strides=None, order=None):
    """ndarray(...): as numpy.ndarray."""
    if buffer is not None or strides is not None:
        return _core.from_numpy(numpy.ndarray(shape, dtype, buffer, offset, strides, order))
    from tilewise import empty

    return empty(shape, dtype, order or "C")


def new_scalar(value=0.0, /):
    """scalar(...): NumPy's scalar of the value."""
    value = value._value() if isinstance(value, scalar) else value
    if numpy.ndim(value):
        raise TypeError(f"a scalar is made of one value, not of {type(value).__name__}")
    return numpy.asarray(value)[()]


def fp_warnings(found):
    from tilewise import _fp

    _fp.give(found)
