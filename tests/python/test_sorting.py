"""Sorting and what follows from it: NumPy's order, stable, with NaNs, infinities and zeros of both signs, any axis."""

import numpy
import pytest
import tilewise
from compare import DTYPES, raises_the_same, same
from tilewise import _settings


@pytest.fixture(autouse=True)
def no_fallback(monkeypatch):
    monkeypatch.setattr(_settings, "fallback", "error")


def values(dtype, n, few, seed=0):
    """Many equal elements (few) or hardly any; with all that is odd."""
    rng, kind = numpy.random.default_rng(seed + n), numpy.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, n).astype(dtype)
    if kind in "iu":
        info = numpy.iinfo(dtype)
        return rng.integers(0, 5, n).astype(dtype) if few else rng.integers(info.min, info.max, n, dtype, endpoint=True)
    a = (rng.integers(-2, 3, n) if few else rng.standard_normal(n)).astype(dtype)
    if kind == "c":
        a = (a + 1j * rng.integers(-2, 3, n)).astype(dtype)
    for odd in (numpy.nan, -numpy.nan, -0.0, 0.0, numpy.inf, -numpy.inf):
        a[rng.integers(0, max(n, 1), n // 12)] = odd
    return a


def signs(a):
    a = numpy.asarray(a)
    return numpy.signbit(a[a == 0]) if a.dtype.kind == "f" else []


@pytest.mark.parametrize("n", [0, 1, 2, 17, 1000, 70_000, 200_001])
@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_lines(dtype, few, n, same_bits):
    a = values(dtype, n, few)
    got, want = tilewise.sort(tilewise.asarray(a)), numpy.sort(a, kind="stable")
    same(got, want)
    assert list(signs(got)) == list(signs(want))
    order = tilewise.argsort(tilewise.asarray(a), kind="stable")
    same(order, numpy.argsort(a, kind="stable"))
    same_bits(got, order)


@pytest.mark.parametrize("shape", [(3, 4), (5, 0), (0, 5), (40, 30), (2, 3, 4), (3, 20_000), (20_000, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "int16"])
def test_axes(shape, dtype, same_bits):
    a = values(dtype, int(numpy.prod(shape)), False).reshape(shape)
    for axis in (*range(-len(shape), len(shape)), None):
        for view in (lambda x: x, lambda x: x.T[::-1], lambda x: x[..., ::2]):
            if axis is not None and axis >= view(a).ndim:
                continue
            got = tilewise.sort(view(tilewise.asarray(a)), axis)
            same(got, numpy.sort(view(a), axis, kind="stable"))
            order = tilewise.argsort(view(tilewise.asarray(a)), axis, stable=True)
            same(order, numpy.argsort(view(a), axis, stable=True))
            same_bits(got, order)


def test_in_place_through_a_view(same_bits):
    a = values("float32", 6000, False).reshape(60, 100)
    b = tilewise.asarray(a.copy())
    b[::2, 10:].sort(0)
    a[::2, 10:].sort(0, kind="stable")
    same(b, a)
    b.sort()
    a.sort(kind="stable")
    same(b, a)
    same_bits(b)


@pytest.mark.parametrize("n", [1, 50, 90_000])
def test_partition(n):
    a = values("float64", n, False)
    for kth in (0, n // 2, -1, [0, n // 3]):
        got = numpy.asarray(tilewise.partition(tilewise.asarray(a), kth))
        want = numpy.partition(a, kth)[kth]  # zeros of either sign
        numpy.testing.assert_array_equal(numpy.sort(got), numpy.sort(a))
        numpy.testing.assert_array_equal(got[kth], want)
        order = numpy.asarray(tilewise.argpartition(tilewise.asarray(a), kth))
        numpy.testing.assert_array_equal(a[order][kth], want)
        b = tilewise.asarray(a)
        b.partition(kth)
        numpy.testing.assert_array_equal(numpy.asarray(b)[kth], want)


def test_lexsort(same_bits):
    a, b, c = (values("int8", 5000, True, seed) for seed in range(3))
    order = tilewise.lexsort((tilewise.asarray(a), tilewise.asarray(b), tilewise.asarray(c)))
    same(order, numpy.lexsort((a, b, c)))
    same_bits(order)
    same(tilewise.lexsort(tilewise.asarray([[1, 2, 1], [3, 3, 0]])), numpy.lexsort([[1, 2, 1], [3, 3, 0]]))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "complex64", "uint8"])
@pytest.mark.parametrize("n", [0, 1, 7, 3000, 80_000])
def test_unique(dtype, n, same_bits):
    a = values(dtype, n, True)
    a = a + a.dtype.type(0) if a.dtype != bool else a  # which zero NumPy takes is by chance
    for equal_nan in (True, False):
        got = tilewise.unique(tilewise.asarray(a), equal_nan=equal_nan)
        same(got, numpy.unique(a, equal_nan=equal_nan))
        found = tilewise.unique(tilewise.asarray(a), True, True, True, equal_nan=equal_nan)
        wanted = numpy.unique(a, True, True, True, equal_nan=equal_nan)
        for g, w in zip(found, wanted, strict=True):
            same(g, w)
        same_bits(*found)


@pytest.mark.parametrize("dtypes", [("int64", "int8"), ("float32", "float32"), ("uint8", "float64"), ("bool", "bool")])
def test_isin(dtypes, same_bits):
    a, tests = values(dtypes[0], 5000, True).reshape(50, 100), values(dtypes[1], 40, False)
    tests = numpy.concatenate([tests, tests[:3], numpy.ones(1, dtypes[1])])
    for invert in (False, True):
        got = tilewise.isin(tilewise.asarray(a), tilewise.asarray(tests), invert=invert)
        same(got, numpy.isin(a, tests, invert=invert))
        same_bits(got)
    same(tilewise.isin(tilewise.asarray(a), []), numpy.isin(a, []))


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64", "float16"])
def test_median(dtype, same_bits):
    for shape in ((1,), (7,), (8,), (5, 6), (3, 4, 5), (40_001,)):
        a = numpy.random.default_rng(1).integers(-50, 50, shape).astype(dtype)
        for b in (a, numpy.where(a == 7, numpy.nan, a).astype(dtype) if dtype[0] == "f" else a[::-1]):
            for axis in (None, *range(-len(shape), len(shape))):
                for keepdims in (False, True):
                    got = tilewise.median(tilewise.asarray(b), axis, keepdims=keepdims)
                    same(got, numpy.median(b, axis, keepdims=keepdims))
                    same_bits(got)


@pytest.mark.parametrize("call", [
    lambda xp, a: xp.sort(a, 5),
    lambda xp, a: xp.sort(a, -3),
    lambda xp, a: xp.argsort(a, 2),
    lambda xp, a: xp.sort(xp.asarray(3.0)),
    lambda xp, a: xp.sort(a, kind="wrong"),
    lambda xp, a: xp.sort(a, order="x"),
    lambda xp, a: xp.partition(a, 4),
    lambda xp, a: xp.partition(a, 1.5),
    lambda xp, a: xp.lexsort(()),
])  # fmt: skip
def test_errors(call):
    got, want = raises_the_same(lambda xp: call(xp, xp.asarray([[1.0, 2.0], [3.0, 0.0]])))
    assert type(got) is type(want)
