"""Warnings of mean, var and std: NumPy's words, part by part (the sum, the difference, the square, the division).

Each unit of the tree has a mean of its own, so a sum overflows here only where a unit's does, and 16-bit floats are
squared in 32 bits: there NumPy has an overflow where we have a value. Infinities of both signs in different units are
invalid in the difference too.
"""

import numpy
import pytest
import tilewise
from compare import told

INF, NAN = numpy.inf, numpy.nan
LARGE = {"float32": 3e38, "float64": 1.5e308, "complex64": 3e38, "complex128": 1.5e308}
SMALL = {"float32": 1e-30, "float64": 1e-200, "complex64": 1e-30, "complex128": 1e-200}

CASES = {
    "plain": lambda d: [1, 2, 3],
    "one": lambda d: [1],
    "empty": lambda d: [],
    "large sum": lambda d: [LARGE[d]] * 3,
    "large square": lambda d: [LARGE[d] / 2, 1, 0],
    "large apart": lambda d: [LARGE[d], -LARGE[d], 0],
    "infinite": lambda d: [INF, 1, 2],
    "infinite at the end": lambda d: [1, 2, INF],
    "infinities": lambda d: [INF, INF, 1],
    "infinities apart": lambda d: [INF, -INF, 1],
    "not a number": lambda d: [NAN, 1, 2],
    "not a number, infinite": lambda d: [NAN, INF, 1],
    "small": lambda d: [SMALL[d], -SMALL[d], 0],
}
# Of an array whose rows are all the case: how it is made, and what is asked.
WAYS = {
    "all": (lambda v: v, {}),
    "rows": (lambda v: numpy.stack([v, v]), {"axis": 1}),
    "columns": (lambda v: numpy.stack([v, v], 1), {"axis": 0}),
    "all of two axes": (lambda v: numpy.stack([v, v]), {}),
    "axes kept": (lambda v: numpy.stack([v, v]), {"keepdims": True}),
    "no axis": (lambda v: v, {"axis": ()}),
    "few degrees": (lambda v: v, {"ddof": 3}),
    "few degrees in rows": (lambda v: numpy.stack([v, v]), {"axis": 1, "ddof": 9}),
    "masked": (lambda v: numpy.stack([v, v]), {"axis": 1, "where": numpy.array([[True], [False]])}),
}


@pytest.mark.parametrize("dtype", LARGE)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("function", ["mean", "var", "std"])
def test_words(function, case, way, dtype):
    make, given = WAYS[way]
    given = {k: v for k, v in given.items() if k != "ddof" or function != "mean"}
    x = make(numpy.asarray(CASES[case](dtype), dtype))
    with numpy.errstate(under="warn"):
        got, want = (told(lambda xp=xp: getattr(xp, function)(xp.asarray(x), **given)) for xp in (tilewise, numpy))
    assert got == want


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", ["plain", "one", "empty"])
@pytest.mark.parametrize("function", ["mean", "var", "std"])
def test_words_of_other_types(function, case, way, dtype):
    make, given = WAYS[way]
    given = {k: v for k, v in given.items() if k != "ddof" or function != "mean"}
    x = make(numpy.asarray(CASES[case](dtype), dtype))
    got, want = (told(lambda xp=xp: getattr(xp, function)(xp.asarray(x), **given)) for xp in (tilewise, numpy))
    assert got == want


PLACES = {
    "infinite": [(0.3, INF)],
    "infinities apart": [(0.001, INF), (0.999, -INF)],
    "infinities": [(0.001, INF), (0.999, INF)],
    "large square": [(0.6, 1e200)],
    "not a number": [(0.5, NAN)],
    "plain": [],
}


@pytest.mark.parametrize("shape, axis", [((20_000,), None), ((100_000,), 0), ((5000, 40), 0), ((40, 5000), 1),
                                         ((3000, 3), 1), ((500, 40), None), ((30, 40, 50), (0, 2))])  # fmt: skip
@pytest.mark.parametrize("place", PLACES)
def test_in_large_arrays(place, shape, axis):
    """Wherever the elements lie: in one unit of the tree, in two, on several devices."""
    x = numpy.random.default_rng(1).random(shape)
    reduced = range(x.ndim) if axis is None else numpy.atleast_1d(axis)
    lines = numpy.moveaxis(x, tuple(reduced), tuple(range(len(reduced))))
    for at, value in PLACES[place]:
        index = numpy.unravel_index(int(at * numpy.prod(lines.shape[: len(reduced)])), lines.shape[: len(reduced)])
        lines[index] = value
    got, want = (told(lambda xp=xp: xp.var(xp.asarray(x), axis=axis)) for xp in (tilewise, numpy))
    if place == "infinities apart":  # each is infinitely far from the mean of its own unit
        got = [text for text in got if text != "invalid value encountered in subtract"]
    assert got == want


def test_sums_overflow_in_a_unit_only():
    x = numpy.full(4, 1e308)
    assert told(lambda: tilewise.var(tilewise.asarray(x))) == ["overflow encountered in reduce"]


def test_a_mean_overflows_where_its_sum_does():
    x = numpy.full(100_000, 1e308)
    got, want = (told(lambda xp=xp: xp.mean(xp.asarray(x))) for xp in (tilewise, numpy))
    assert got == want == ["overflow encountered in reduce"]


def test_sixteen_bits_are_rounded_once():
    x = numpy.asarray([300, 0, -300], "float16")
    assert told(lambda: tilewise.std(tilewise.asarray(x))) == []
    x = numpy.asarray([6e4, 0, -6e4], "float16")
    got, want = (told(lambda xp=xp: xp.var(xp.asarray(x))) for xp in (tilewise, numpy))
    assert got == want == ["overflow encountered in square"]
    x = numpy.asarray([6e4, 6e4], "float16")
    got, want = (told(lambda xp=xp: xp.sum(xp.asarray(x))) for xp in (tilewise, numpy))
    assert got == want == ["overflow encountered in reduce"]


def test_errstate():
    x = tilewise.asarray([INF, 1.0, 2.0])

    def ignored():
        with numpy.errstate(all="ignore"):
            return x.var()

    assert told(ignored) == []
    with numpy.errstate(all="raise"), pytest.raises(FloatingPointError, match="invalid value encountered in subtract"):
        x.var()
    with numpy.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="encountered in scalar divide"):
        tilewise.mean(tilewise.asarray([]))
    seen = []
    former = numpy.seterrcall(lambda kind, bits: seen.append((kind, bits)))
    try:
        with numpy.errstate(invalid="call"):
            x.std()
    finally:
        numpy.seterrcall(former)
    assert seen == [("invalid value", 8)]
