"""What becomes of a number, a scalar or a list that meets an array of another type: values, errors and warnings of
stores, constants, masks and dtype=, each run on NumPy too."""

import warnings

import numpy
import pytest
import tilewise
from compare import same


def outcome(xp, run):
    """The value, or the error's class and text; and the texts of the warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            result = numpy.asarray(run(xp))
        except (TypeError, ValueError, OverflowError) as error:
            result = error
    return result, sorted({str(w.message) for w in found if "not native" not in str(w.message)})


def alike(run):
    got, told = outcome(tilewise, run)
    want, expected = outcome(numpy, run)
    if isinstance(want, Exception):
        assert isinstance(got, Exception), f"no {want!r}"
        assert issubclass(type(got), type(want).__mro__[0]) or type(got).__name__ == type(want).__name__, (got, want)
        assert str(got) == str(want)
    else:
        assert not isinstance(got, Exception), got
        same(tilewise.asarray(got), want)
    assert told == expected


VALUES = {
    "int": lambda xp: 300,
    "float": lambda xp: 300.5,
    "inf": lambda xp: float("inf"),
    "int64": lambda xp: numpy.int64(300),
    "uint8": lambda xp: numpy.uint8(255),
    "float64": lambda xp: numpy.float64(2.5),
    "large float64": lambda xp: numpy.float64(300),
    "nan": lambda xp: numpy.float64("nan"),
    "infinity": lambda xp: numpy.float32("inf"),
    "complex": lambda xp: 1j,
    "complex128": lambda xp: numpy.complex128(1 + 1j),
    "0-d": lambda xp: xp.asarray(300),
    "0-d nan": lambda xp: xp.asarray(numpy.nan),
    "one": lambda xp: xp.asarray([300]),
    "host 0-d": lambda xp: numpy.asarray(300),
    "host one": lambda xp: numpy.asarray([[300]]),
    "list": lambda xp: [7],
    "list too large": lambda xp: [300],
    "list of scalars": lambda xp: [numpy.int64(300)],
    "list of nan": lambda xp: [numpy.nan],
    "lazy int": lambda xp: xp.asarray([100, 200]).sum(),
    "small lazy int": lambda xp: xp.asarray([1, 2]).sum(),
    "lazy float": lambda xp: xp.asarray([1.5, 2.0]).sum(),
    "lazy nan": lambda xp: xp.asarray([numpy.nan, 2.0]).sum(),
    "lazy large": lambda xp: xp.asarray([1e300, 2.0]).sum(),
    "1e300": lambda xp: 1e300,
    "float64 1e300": lambda xp: numpy.float64(1e300),
    "beyond 64 bits": lambda xp: 10**60,
}
PLACES = {
    "element": lambda xp, a, v: a.__setitem__(1, v),
    "slice": lambda xp, a, v: a.__setitem__(slice(0, 2), v),
    "all": lambda xp, a, v: a.__setitem__(..., v),
    "mask": lambda xp, a, v: a.__setitem__(xp.asarray([True, False, True]), v),
    "copyto": lambda xp, a, v: xp.copyto(a, v, casting="unsafe"),
    "fill": lambda xp, a, v: a.fill(v),
}


def changed(xp, dtype, place, value):
    if place == "fill" and numpy.ndim(value):
        return 0  # NumPy's own errors differ between versions
    a = xp.zeros(3, dtype)
    PLACES[place](xp, a, value)
    return a


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float32"])
def test_stores(dtype, place, value):
    alike(lambda xp: changed(xp, dtype, place, VALUES[value](xp)))


@pytest.mark.parametrize("change", [numpy.inf, numpy.nan, 300, 1.5, numpy.int16(200)])
def test_elements_changed_in_place(change):
    def run(xp):
        a = xp.asarray([1, 2, 3], "int8")
        a[0] += change
        return a

    alike(run)


@pytest.mark.parametrize(
    "value", [lambda xp: xp.zeros(1), lambda xp: xp.zeros((1, 1)), lambda xp: [1], lambda xp: xp.zeros(2)]
)
def test_no_sequence_for_an_element(value):
    for shape, key in (((3,), 0), ((2, 2), (1, 1)), ((), ())):
        alike(lambda xp, shape=shape, key=key: xp.zeros(shape).__setitem__(key, value(xp)))


OPERATIONS = {
    "multiply": lambda xp, a, v: a * v,
    "reversed": lambda xp, a, v: v + a,
    "compare": lambda xp, a, v: a < v,
    "call": lambda xp, a, v: xp.maximum(a, v),
    "in place": lambda xp, a, v: a.__iadd__(v),
    "strided": lambda xp, a, v: a[::2] + v,
    "where": lambda xp, a, v: xp.where(xp.asarray([True, False, True]), a, v),
    "clip": lambda xp, a, v: xp.clip(a, 0, v),
    "full": lambda xp, a, v: xp.full(3, v, a.dtype),
    "full_like": lambda xp, a, v: xp.full_like(a, v),
    "nothing": lambda xp, a, v: a[:0] * v,
    "dtype": lambda xp, a, v: xp.add(a.astype("float64"), v, dtype=a.dtype),
}


@pytest.mark.parametrize("value", [1e300, 1e10, 10**60, 2**20, 65519.0, 65520.0, float("inf"), 1e-60, -1e39])
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_constants_that_overflow(dtype, name, value):
    def run(xp):
        with numpy.errstate(under="ignore"):
            return OPERATIONS[name](xp, xp.asarray([0.5, 1.0, 2.0], dtype), value)

    alike(run)


def test_overflow_raises_at_the_call():
    for xp in (numpy, tilewise):
        with numpy.errstate(over="raise"):
            a = xp.ones(3, "float32")
            for call in (lambda a=a: a * 1e300, lambda a=a: a.fill(1e300), lambda a=a: a.__setitem__(0, 1e300)):
                with pytest.raises(FloatingPointError, match="overflow encountered in cast"):
                    call()


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "float32", "float64", "complex64"])
@pytest.mark.parametrize("value", [1j, 1.5, 1, 100, True])
@pytest.mark.parametrize("given", ["bool", "int32", "float32"])
def test_types_asked_for(given, value, dtype):
    alike(lambda xp: xp.add(xp.ones(2, given), value, dtype=dtype))
    alike(lambda xp: xp.multiply(value, xp.ones(2, given), dtype=dtype))


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32", "complex128"])
def test_truth_of_integers_beyond_64_bits(dtype):
    alike(lambda xp: xp.logical_and(xp.ones(2, dtype), 2**70))

    def into(xp):
        a = xp.ones(2, dtype)
        return xp.logical_and(a, 2**70, out=a)

    alike(into)


MASKS = {
    "float": lambda xp: 1.0,
    "zero": lambda xp: 0,
    "false": lambda xp: False,
    "list of floats": lambda xp: [1.0, 0.0],
    "list of ints": lambda xp: [1, 0],
    "scalar": lambda xp: numpy.float64(1),
    "lazy scalar": lambda xp: xp.asarray([1, 2]).sum(),
    "bools": lambda xp: xp.asarray([True, False]),
    "uint8": lambda xp: xp.ones(2, "uint8"),
    "floats": lambda xp: xp.ones(2),
    "host uint8": lambda xp: numpy.ones(2, "uint8"),
    "0-d": lambda xp: xp.asarray(1),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks(name):
    def copied(xp):
        b = xp.zeros(2)
        xp.copyto(b, xp.ones(2), where=MASKS[name](xp))
        return b

    alike(copied)
    alike(lambda xp: xp.add(xp.ones(2), 1, out=xp.zeros(2), where=MASKS[name](xp)))
    alike(lambda xp: xp.sum(xp.ones(2), where=MASKS[name](xp)))
    alike(lambda xp: xp.max(xp.ones(2), where=MASKS[name](xp), initial=0))
