"""Every ufunc of NumPy's: values, keywords, methods, attributes."""

import numpy
import pytest
import tilewise
from compare import LAYOUTS, both, layout, raises_the_same, sample

UFUNCS = sorted(
    {f.__name__ for f in vars(numpy).values() if isinstance(f, numpy.ufunc) and f.signature is None} - {"isnat"}
)
LETTERS = {
    "?": "bool",
    "b": "int8",
    "h": "int16",
    "i": "int32",
    "l": "int64",
    "B": "uint8",
    "H": "uint16",
    "I": "uint32",
    "L": "uint64",
    "e": "float16",
    "f": "float32",
    "d": "float64",
    "F": "complex64",
    "D": "complex128",
}


def loops(name):
    """The types of the inputs of each loop for numbers."""
    for signature in getattr(numpy, name).types:
        inputs = signature.split("->")[0]
        if all(letter in LETTERS for letter in inputs):
            yield tuple(LETTERS[letter] for letter in inputs)


def operands(name, dtypes):
    for k, dtype in enumerate(dtypes):
        a = sample((3, 5), dtype, k)
        if name in ("arccosh",):
            a = abs(a) + numpy.asarray(1, dtype)
        elif name in ("arcsin", "arccos", "arctanh", "log1p") and a.dtype.kind in "fc":
            a = (a / 8).astype(dtype)
        elif a.dtype.kind in "if" and name in (
            "log",
            "log2",
            "log10",
            "sqrt",
            "power",
            "float_power",
            "left_shift",
            "right_shift",
        ):
            a = abs(a)
        yield a


TOLERANCE = {"float16": 2e-3, "float32": 2e-6, "complex64": 2e-6}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", UFUNCS)
def test_all_loops(name):
    for dtypes in loops(name):
        given = list(operands(name, dtypes))
        rtol = TOLERANCE.get(dtypes[0], 1e-13)
        exact = (
            numpy.dtype(dtypes[0]).kind in "biu"
            and name not in ("sqrt", "cbrt")
            and all(numpy.dtype(t).kind in "biu" for t in dtypes)
        )
        both(lambda xp, given=given: getattr(xp, name)(*map(xp.asarray, given)), rtol=0.0 if exact else rtol)


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name):
    make = layout(name)
    both(lambda xp: xp.exp(make(xp)), rtol=1e-14)
    both(lambda xp: xp.maximum(make(xp), 1))
    both(lambda xp: xp.isfinite(make(xp)))
    both(lambda xp: xp.modf(make(xp)))


@pytest.mark.parametrize("value", [0.5, 2, True, numpy.float32(0.5), [0.5, 0.25], 1j], ids=repr)
def test_plain_values(value):
    both(lambda xp: xp.sin(value), rtol=1e-6)
    both(lambda xp: xp.add(value, 1))


def test_out():
    a = sample((3, 4))

    def run(xp):
        out = xp.zeros((3, 4), "float32")
        assert xp.multiply(xp.asarray(a), 2, out=out) is out
        xp.add(out, 1, out)
        xp.subtract(out, 0.5, out=(out,))
        fraction, whole = xp.modf(xp.asarray(a), out=(xp.zeros((3, 4)), None))
        return out, fraction, whole

    both(run)
    raises_the_same(lambda xp: xp.add(a, 1, out=xp.zeros((3, 4), int)))
    raises_the_same(lambda xp: xp.add(a, 1, out=xp.zeros((3, 5))))
    raises_the_same(lambda xp: xp.add(a, 1, out="x"))
    plain = numpy.zeros((3, 4))
    assert numpy.add(tilewise.asarray(a), 1, out=plain) is plain
    numpy.testing.assert_array_equal(plain, a + 1)


def test_where():
    a, mask = sample((3, 4)), sample((3, 4), "bool")
    both(lambda xp: xp.negative(xp.asarray(a), out=xp.ones((3, 4)), where=xp.asarray(mask)))
    both(lambda xp: xp.add(xp.asarray(a), 1, out=xp.ones((3, 4)), where=mask[0]))


def test_dtype_and_casting():
    a = sample((4,), "int32")
    both(lambda xp: xp.add(xp.asarray(a), 1, dtype="float32"))
    both(lambda xp: xp.sqrt(abs(xp.asarray(a)), dtype="float32"))
    both(lambda xp: xp.add(xp.asarray(a), 2.5, out=xp.zeros(4, int), casting="unsafe"))
    raises_the_same(lambda xp: xp.add(xp.asarray(sample((4,))), 1, dtype="int32"))
    raises_the_same(lambda xp: xp.add(xp.asarray(a), 1, casting="never"))


def test_methods():
    a = sample((3, 4))
    both(lambda xp: xp.add.outer(xp.asarray(a), xp.arange(3)))
    both(lambda xp: xp.add.accumulate(xp.asarray(a), axis=1))
    both(lambda xp: xp.multiply.reduceat(xp.asarray(a), [0, 2], axis=1))
    both(lambda xp: xp.subtract.reduce(xp.asarray(a)))
    both(lambda xp: xp.minimum.reduce(xp.asarray(a), axis=(0, 1)))
    both(lambda xp: xp.add.reduce([1, 2, 3]))

    def at(xp):
        b = xp.zeros(4)
        xp.add.at(b, [0, 0, 2], 1)
        return b

    both(at)
    raises_the_same(lambda xp: xp.sin.reduce(a))


@pytest.mark.parametrize("name", ["add", "sin", "modf", "divmod"])
def test_attributes(name):
    ours, numpys = getattr(tilewise, name), getattr(numpy, name)
    for attribute in ("nin", "nout", "nargs", "ntypes", "types", "identity", "__name__", "__doc__", "signature"):
        assert getattr(ours, attribute) == getattr(numpys, attribute)
    assert repr(ours) == repr(numpys)
    assert isinstance(ours, tilewise.ufunc)


def test_aliases_are_the_same_object():
    assert tilewise.abs is tilewise.absolute and tilewise.true_divide is tilewise.divide


def test_wrong_calls():
    for function in (
        lambda xp: xp.add(1),
        lambda xp: xp.add(1, 2, 3, 4),
        lambda xp: xp.sin("a"),
        lambda xp: xp.bitwise_and(xp.zeros(3), 1),
        lambda xp: xp.add(xp.zeros(3), xp.zeros(4)),
        lambda xp: xp.add(1, 2, nonsense=3),
        lambda xp: xp.left_shift(xp.ones(2, "int32"), 1.5),
    ):
        raises_the_same(function)


def test_strings_and_objects_stay_with_numpy():
    both(lambda xp: xp.asarray(["a", "b"]) == "a")
    both(lambda xp: xp.add(xp.asarray([1, 2], dtype=object), 1).astype(int))
