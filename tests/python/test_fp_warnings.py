"""Floating-point warnings and errstate: NumPy's words, given at the latest when a block ends."""

import warnings

import numpy
import pytest
import tilewise
from compare import same, told

CASES = {
    "divide": lambda xp, a: a / 0,
    "overflow": lambda xp, a: xp.exp(a * 1000),
    "invalid": lambda xp, a: xp.sqrt(-a),
    "log": lambda xp, a: xp.log(a * 0),
    "integer": lambda xp, a: a.astype("int64") // 0,
}


@pytest.mark.parametrize("name", CASES)
def test_same_words(name):
    got, want = (told(lambda xp=xp: CASES[name](xp, xp.asarray([1.0, 2.0, 3.0]))) for xp in (tilewise, numpy))
    assert got == want and len(want) == 1


@pytest.mark.parametrize("name", CASES)
def test_ignored(name):
    def run():
        with numpy.errstate(all="ignore"):
            return CASES[name](tilewise, tilewise.asarray([1.0, 2.0, 3.0]))

    assert told(run) == []


@pytest.mark.parametrize("name", CASES)
def test_raised_at_the_operation(name):
    with numpy.errstate(all="raise"), pytest.raises(FloatingPointError):
        CASES[name](tilewise, tilewise.asarray([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("shape, axis", [((5000,), None), ((100_000,), 0), ((5000, 40), 0), ((5000, 40), None)])
def test_infinities_that_meet_late(shape, axis, dtype):
    """First and last element meet where the tree's nodes are joined, which several tiles do together."""
    x = numpy.zeros(shape, dtype)
    x[(3,) + (2,) * (x.ndim - 1)], x[(-3,) + (2,) * (x.ndim - 1)] = numpy.inf, -numpy.inf
    got, want = (told(lambda xp=xp: xp.sum(xp.asarray(x), axis=axis)) for xp in (tilewise, numpy))
    assert got == want and len(want) == 1


def test_called():
    seen = []
    former = numpy.seterrcall(lambda kind, bits: seen.append(kind))
    try:
        with numpy.errstate(divide="call"):
            tilewise.asarray([1.0]) / 0
    finally:
        numpy.seterrcall(former)
    assert seen == ["divide by zero"]


def test_values_are_numpys():
    with numpy.errstate(all="ignore"):
        same(tilewise.asarray([1.0, -1.0, 0.0]) / 0, numpy.asarray([1.0, -1.0, 0.0]) / 0)


def test_warnings_name_the_users_line():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        kept = tilewise.asarray([1.0]) / 0
    assert kept.shape == (1,) and [w.filename for w in found] == [__file__]


def test_warnings_as_errors():
    with pytest.raises(RuntimeWarning), warnings.catch_warnings():
        warnings.simplefilter("error")
        float((tilewise.asarray([1.0]) / 0).sum())


def test_settings_are_shared_with_numpy():
    with tilewise.errstate(divide="ignore"):
        assert numpy.geterr()["divide"] == "ignore" == tilewise.geterr()["divide"]
