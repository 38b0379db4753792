"""Operators of arrays and scalars, with every kind of operand."""

import operator

import numpy
import pytest
import tilewise
from compare import DTYPES, LAYOUTS, NUMBERS, both, layout, raises_the_same, same, sample

ARITHMETIC = [operator.add, operator.sub, operator.mul]
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("op", ARITHMETIC + COMPARISONS, ids=lambda f: f.__name__)
def test_binary_of_every_type(op, dtype):
    x, y = sample((3, 4), dtype, 1), sample((3, 4), dtype, 2)
    both(lambda xp: op(xp.asarray(x), xp.asarray(y)))


@pytest.mark.parametrize("other", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_promotion(dtype, other):
    x, y = sample((5,), dtype, 1), sample((5,), other, 2)
    both(lambda xp: xp.asarray(x) + xp.asarray(y))
    both(lambda xp: xp.asarray(x) * xp.asarray(y))


@pytest.mark.parametrize("value", [True, 3, 2.5, 1 + 2j, numpy.float32(1.5), numpy.int8(3), numpy.float64(2)], ids=repr)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_python_and_numpy_scalars(dtype, value):
    x = sample((4,), dtype)
    both(lambda xp: xp.asarray(x) + value)
    both(lambda xp: value * xp.asarray(x))
    both(lambda xp: xp.asarray(x) == value)


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name):
    make = layout(name)
    both(lambda xp: make(xp) + make(xp))
    both(lambda xp: make(xp) * 2 - 1)
    both(lambda xp: -make(xp))
    both(lambda xp: abs(make(xp)) / 3)


@pytest.mark.parametrize(
    "op", [operator.truediv, operator.floordiv, operator.mod, operator.pow], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32", "float64"])
def test_division_and_power(op, dtype):
    x, y = abs(sample((4, 3), dtype, 1)), abs(sample((4, 3), dtype, 2))
    both(lambda xp: op(xp.asarray(x), xp.asarray(y)), rtol=1e-6 if op is operator.pow else 0.0)


@pytest.mark.parametrize("exponent", [2, 2.0, 0.5, 1, -1, 3, 0])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex128"])
def test_power_by_a_number(dtype, exponent):
    x = abs(sample((6,), dtype))
    if dtype == "int32" and exponent == -1:
        raises_the_same(lambda xp: xp.asarray(x) ** exponent)
    else:
        both(lambda xp: xp.asarray(x) ** exponent, rtol=1e-6)


@pytest.mark.parametrize(
    "op", [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift], ids=lambda f: f.__name__
)
def test_bits(op):
    x, y = abs(sample((6,), "int32", 1)), abs(sample((6,), "int32", 2))
    both(lambda xp: op(xp.asarray(x), xp.asarray(y)))
    both(lambda xp: ~xp.asarray(x))
    if op not in (operator.lshift, operator.rshift):
        both(lambda xp: op(xp.asarray(x > 0), xp.asarray(y > 3)))


def test_divmod():
    x = sample((6,), "float64")
    both(lambda xp: divmod(xp.asarray(x), 2.0))
    both(lambda xp: divmod(7.0, xp.asarray(x)))


def test_in_place():
    def run(xp):
        a = xp.asarray(sample((4, 5), "float32"))
        alias = a
        a += 1
        a *= a
        a -= a[0]
        a /= 2
        a **= 2
        assert alias is a
        return a

    both(run)
    both(lambda xp: operator.iadd(xp.asarray(numpy.arange(4)), 2))
    raises_the_same(lambda xp: operator.iadd(xp.asarray(numpy.arange(4)), 1.5))
    raises_the_same(lambda xp: operator.iadd(xp.asarray(numpy.arange(3)), xp.asarray(numpy.ones((2, 3), int))))


def test_in_place_through_views():
    def run(xp):
        a = xp.asarray(numpy.arange(10.0))
        a[1:] += a[:-1]
        a[::2] = a[::-1][::2]
        b = a[2:7]
        b *= 2
        a /= a[0] + 1
        return a, b

    both(run)


def test_lists_and_numpy_operands():
    a = numpy.arange(3.0)
    both(lambda xp: xp.asarray(a) + [1, 2, 3])
    both(lambda xp: [1, 2, 3] - xp.asarray(a))
    same(a + tilewise.asarray(a), a + a)
    same(tilewise.asarray(a) - a, a - a)
    assert isinstance(a + tilewise.asarray(a), tilewise.ndarray)
    assert isinstance(numpy.float64(2) * tilewise.asarray(a), tilewise.ndarray)


@pytest.mark.parametrize("op", COMPARISONS[2:4], ids=lambda f: f.__name__)
@pytest.mark.parametrize("other", [None, "a", object()], ids=["none", "text", "object"])
def test_equality_with_anything(op, other):
    both(lambda xp: op(xp.asarray(numpy.arange(3)), other))


def test_wrong_operands():
    raises_the_same(lambda xp: xp.asarray(numpy.arange(3)) + None)
    raises_the_same(lambda xp: xp.asarray(numpy.arange(3)) + xp.asarray(numpy.arange(4)))
    raises_the_same(lambda xp: xp.asarray(numpy.arange(3)) < "a")
    raises_the_same(lambda xp: xp.asarray(numpy.arange(3, dtype="int8")) + 300)
    raises_the_same(lambda xp: xp.asarray(numpy.arange(3)) + 2**70)
    raises_the_same(lambda xp: ~xp.asarray(numpy.arange(3.0)))
    both(lambda xp: xp.asarray(numpy.arange(3.0)) + 2**70)
    both(lambda xp: xp.asarray(numpy.arange(3)) < 2**70)


def test_other_types_answer_for_themselves():
    class Other:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "radd"

    assert tilewise.asarray([1.0]) + Other() == "radd"


def test_truth():
    for value in ([0.0], [1.0], [[2]]):
        assert bool(tilewise.asarray(value)) == bool(numpy.asarray(value))
    got, want = raises_the_same(lambda xp: bool(xp.asarray([1, 2])))
    assert got == want
    got, want = raises_the_same(lambda xp: bool(xp.asarray([])))
    assert got == want


def test_matmul_operator():
    a, b = sample((3, 4), "float64", 1), sample((4, 5), "float64", 2)
    both(lambda xp: xp.asarray(a) @ xp.asarray(b), rtol=1e-12)
    both(lambda xp: xp.asarray(a) @ xp.asarray(b)[:, 0], rtol=1e-12)
    both(lambda xp: xp.asarray(a)[0] @ xp.asarray(b)[:, 0], rtol=1e-12)
    both(lambda xp: xp.asarray(a) @ b, rtol=1e-12)
    raises_the_same(lambda xp: xp.asarray(a) @ xp.asarray(a))
    raises_the_same(lambda xp: xp.asarray(a) @ 2.0)


def test_subclass_is_kept():
    class Named(tilewise.ndarray):
        def __array_finalize__(self, other):
            self.name = getattr(other, "name", "none")

    a = tilewise.arange(4.0).view(Named)
    a.name = "a"
    b = a + 1
    assert type(b) is Named and b.name == "a"
    assert type(a[1:]) is Named and a[1:].name == "a"
    assert type(tilewise.sin(a)) is Named
    same(tilewise.asarray(b), numpy.arange(4.0) + 1)
