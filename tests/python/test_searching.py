"""searchsorted, digitize, bincount, histogram: NumPy's positions and counts; the same bits for every cut."""

import numpy
import pytest
import tilewise
from compare import DTYPES, both, raises_the_same, same, sample

REALS = [d for d in DTYPES if numpy.dtype(d).kind != "c"]


def values(count, dtype, seed=1):
    rng = numpy.random.default_rng(seed)
    kind = numpy.dtype(dtype).kind
    if kind in "biu":
        return rng.integers(0, 2 if kind == "b" else 100, count).astype(dtype)
    made = rng.normal(size=count) * 10
    return (made.round(1) + 1j * rng.integers(0, 4, count) if kind == "c" else made).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_searchsorted(dtype):
    a, v = numpy.sort(values(300, dtype)), values((40, 50), dtype, 2)
    if a.dtype.kind in "fc":
        a[-3:] = numpy.nan
        v[0, :2] = numpy.nan, numpy.inf
    for side in ("left", "right"):
        both(lambda xp, side=side: xp.searchsorted(xp.asarray(a), xp.asarray(v), side))
        both(lambda xp, side=side: xp.asarray(a).searchsorted(xp.asarray(v).T[::2], side))
        both(lambda xp, side=side: xp.searchsorted(xp.asarray(a)[::3], v[1], side=side))
        both(lambda xp, side=side: xp.searchsorted(xp.asarray(a[:0]), xp.asarray(v), side))
        both(lambda xp, side=side: xp.searchsorted(xp.asarray(a), xp.asarray(v[:0]), side))
    both(lambda xp: xp.searchsorted(xp.asarray(a), a[5]))


def test_searchsorted_forms():
    a = numpy.arange(5)
    both(lambda xp: xp.searchsorted(xp.asarray(a), 2.5))
    both(lambda xp: xp.searchsorted(xp.asarray(a, "f4"), [0.1, 3]))
    both(lambda xp: xp.searchsorted([1, 2, 3], 2, side="right"))
    both(lambda xp: xp.searchsorted(xp.asarray([3, 1, 2]), [1, 2], sorter=[1, 2, 0]))
    for wrong in (
        lambda xp: xp.searchsorted(xp.asarray([[1]]), 2),
        lambda xp: xp.searchsorted(xp.asarray(a), 2, side="middle"),
        lambda xp: xp.searchsorted(xp.asarray(3), 2),
    ):
        raises_the_same(wrong)


@pytest.mark.parametrize("dtype", REALS)
def test_digitize(dtype):
    x, bins = values((30, 40), dtype), numpy.unique(values(9, dtype, 3))
    for right in (False, True):
        both(lambda xp, right=right: xp.digitize(xp.asarray(x), xp.asarray(bins), right))
        both(lambda xp, right=right: xp.digitize(xp.asarray(x), bins[::-1].copy(), right=right))
    both(lambda xp: xp.digitize(xp.asarray(x), [0.5, 0.5, 2]))
    both(lambda xp: xp.digitize(2.5, xp.asarray([1.0, 2.0])))
    raises_the_same(lambda xp: xp.digitize(xp.asarray(x), [1, 3, 2]))
    raises_the_same(lambda xp: xp.digitize(xp.asarray([1j]), [1, 2]))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "int64", "uint8", "uint32"])
def test_bincount(dtype, same_bits):
    x, w = values(70_000, dtype), values(70_000, "float64", 5)
    both(lambda xp: xp.bincount(xp.asarray(x)))
    both(lambda xp: xp.bincount(xp.asarray(x)[::-3], minlength=200))
    both(lambda xp: xp.bincount(xp.asarray(x[:60_000]), xp.asarray(w[:60_000])))
    both(lambda xp: xp.bincount(xp.asarray(x[:10]), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))
    both(lambda xp: xp.bincount(xp.asarray(x[:0]), minlength=3))
    got = tilewise.bincount(tilewise.asarray(x), tilewise.asarray(w))
    same(got, numpy.bincount(x, w), 1e-9, 1e-9)
    long = tilewise.bincount(tilewise.asarray(numpy.tile(x, 9)), numpy.tile(w, 9))
    same_bits(got, long)


def test_bincount_errors():
    for wrong in (
        lambda xp: xp.bincount(xp.asarray([1, -1])),
        lambda xp: xp.bincount(xp.asarray([1.0])),
        lambda xp: xp.bincount(xp.asarray([[1]])),
        lambda xp: xp.bincount(xp.asarray([1, 2**63 + 5], "uint64")),
        lambda xp: xp.bincount(xp.asarray([1, 2]), [1.0]),
        lambda xp: xp.bincount(xp.asarray([1, 2]), [1j, 2]),
        lambda xp: xp.bincount(xp.asarray([1, 2]), minlength=-1),
    ):
        raises_the_same(wrong)


@pytest.mark.parametrize("dtype", REALS)
def test_histogram(dtype, same_bits):
    x = values(70_000, dtype)
    results = []
    for bins in (10, 7, 1000, [-5, 0.5, 1, 1, 30], numpy.array([1, 2, 50])):
        results.append(both(lambda xp, b=bins: xp.histogram(xp.asarray(x), b))[0])
        both(lambda xp, b=bins: xp.histogram(xp.asarray(x), b, density=True), rtol=1e-12)
    for ends in ((0, 50), (1, 1), (-3.7, 22.1), (0.1, 0.9)):
        both(lambda xp, e=ends: xp.histogram(xp.asarray(x)[::2], 13, e))
        both(lambda xp, e=ends: xp.histogram_bin_edges(xp.asarray(x), 5, e))
    w = values(70_000, "float64", 5)
    for bins in (10, [-5, 0, 20]):
        got, want = tilewise.histogram(tilewise.asarray(x), bins, weights=w), numpy.histogram(x, bins, weights=w)
        same(got, want, 1e-9, 1e-9)
        results.append(got[0])
        both(lambda xp, b=bins: xp.histogram(xp.asarray(x), b, weights=xp.ones(70_000, "int32")))
    same_bits(*results)


def test_histogram_forms():
    a = sample((4, 5))
    both(lambda xp: xp.histogram(xp.asarray(a).T))
    both(lambda xp: xp.histogram(xp.asarray(a[:0])))
    both(lambda xp: xp.histogram(xp.asarray([]), [1, 2, 3]))
    both(lambda xp: xp.histogram(xp.asarray(a), "auto"))
    both(lambda xp: xp.histogram([1, 2, 1], bins=[0, 1, 2, 3]))
    both(lambda xp: xp.histogram(xp.asarray([1, numpy.nan, 3]), 3, (0, 4)))
    both(lambda xp: xp.histogram(xp.asarray([1, numpy.nan, 3]), [0, 2, 4]))
    both(lambda xp: xp.histogram(xp.asarray([3.0, 3.0])))
    edge = numpy.linspace(0, 1, 1001)
    both(lambda xp: xp.histogram(xp.asarray(edge), 1000))
    both(lambda xp: xp.histogram(xp.asarray(edge, "f4"), 333, (0.1, 0.9)))
    for wrong in (
        lambda xp: xp.histogram(xp.asarray(a), 0),
        lambda xp: xp.histogram(xp.asarray(a), [3, 1]),
        lambda xp: xp.histogram(xp.asarray(a), 3, (2, 1)),
        lambda xp: xp.histogram(xp.asarray([1, numpy.nan])),
        lambda xp: xp.histogram(xp.asarray(a), 3, weights=[1, 2]),
        lambda xp: xp.histogram(xp.asarray(a), 2.5),
    ):
        raises_the_same(wrong)
