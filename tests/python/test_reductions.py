"""Sums, extremes, means and their keywords."""

import numpy
import pytest
import tilewise
from compare import DTYPES, LAYOUTS, both, layout, raises_the_same, same, sample

SUMS = ["sum", "prod", "max", "min", "any", "all"]
AXES = [None, 0, 1, -1, (0, 2), (0, 1, 2), ()]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", SUMS)
def test_types(function, dtype):
    a = sample((3, 4, 5), dtype)
    rtol = 2e-3 if dtype == "float16" else 1e-5 if dtype in ("float32", "complex64") else 1e-13
    rtol = rtol if function in ("sum", "prod") and dtype[0] in "fc" else 0.0
    for axis in (None, 1):
        both(lambda xp, axis=axis: getattr(xp, function)(xp.asarray(a), axis=axis), rtol=rtol)


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("function", [*SUMS, "mean", "var", "std", "count_nonzero"])
def test_axes(function, axis, keepdims):
    a = sample((3, 4, 5))
    rtol = 1e-13 if function in ("sum", "prod", "mean", "var", "std") else 0.0
    if function in ("var", "std") and axis == ():
        return
    both(lambda xp: getattr(xp, function)(xp.asarray(a), axis=axis, keepdims=keepdims), rtol=rtol)


@pytest.mark.parametrize("name", [n for n in LAYOUTS if not n.startswith("empty")])
@pytest.mark.parametrize("function", [*SUMS, "mean", "var", "argmax", "argmin", "ptp"])
def test_layouts(function, name):
    make = layout(name)
    rtol = 1e-13 if function in ("sum", "prod", "mean", "var") else 0.0
    both(lambda xp: getattr(xp, function)(make(xp)), rtol=rtol)
    if make(numpy).ndim:
        both(lambda xp: getattr(xp, function)(make(xp), axis=-1), rtol=rtol)


@pytest.mark.parametrize("function", ["argmax", "argmin"])
def test_arg_extremes(function):
    a = sample((4, 5, 6), "int32")
    for axis in (None, 0, 1, -1):
        both(lambda xp, axis=axis: getattr(xp, function)(xp.asarray(a), axis))
        both(lambda xp, axis=axis: getattr(xp, function)(xp.asarray(a), axis, keepdims=True))
    b = numpy.array([1.0, numpy.nan, 3.0, numpy.nan])
    both(lambda xp: getattr(xp, function)(xp.asarray(b)))
    both(lambda xp: getattr(xp.asarray(a), function)(1))
    raises_the_same(lambda xp: getattr(xp, function)(xp.zeros(0)))
    raises_the_same(lambda xp: getattr(xp, function)(xp.zeros((2, 2)), 2))


def test_empty():
    for function in ("sum", "prod", "any", "all", "count_nonzero"):
        both(lambda xp, f=function: getattr(xp, f)(xp.zeros((0, 3))))
        both(lambda xp, f=function: getattr(xp, f)(xp.zeros((0, 3)), axis=0))
        both(lambda xp, f=function: getattr(xp, f)(xp.zeros((0, 3)), axis=1))
    for function in ("max", "min"):
        got, want = raises_the_same(lambda xp, f=function: getattr(xp, f)(xp.zeros((0, 3))))
        assert got == want
        both(lambda xp, f=function: getattr(xp, f)(xp.zeros((0, 3)), axis=1))
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        assert numpy.isnan(tilewise.zeros(0).mean())


def test_nan_wins():
    a = numpy.array([[1.0, numpy.nan, 3.0], [4.0, 5.0, 6.0]])
    for function in ("max", "min", "sum", "mean"):
        both(lambda xp, f=function: getattr(xp, f)(xp.asarray(a), axis=1))


def test_dtype_out_initial_where():
    a = sample((3, 4), "int8")
    mask = sample((3, 4), "bool")
    both(lambda xp: xp.sum(xp.asarray(a), dtype="float32"))
    both(lambda xp: xp.prod(xp.asarray(a), axis=1, dtype="int16"))
    both(lambda xp: xp.sum(xp.asarray(a), axis=0, out=xp.zeros(4)))
    both(lambda xp: xp.sum(xp.asarray(a), initial=10))
    both(lambda xp: xp.max(xp.asarray(a), axis=1, initial=3))
    both(lambda xp: xp.sum(xp.asarray(a), where=xp.asarray(mask)))
    both(lambda xp: xp.max(xp.asarray(a), where=mask, initial=-100))
    both(lambda xp: xp.mean(xp.asarray(a), where=mask), rtol=1e-13)
    both(lambda xp: xp.mean(xp.asarray(a), dtype="float32"), rtol=1e-6)
    both(lambda xp: xp.var(xp.asarray(a), axis=1, ddof=1), rtol=1e-13)
    both(lambda xp: xp.std(xp.asarray(a), correction=1), rtol=1e-13)
    both(lambda xp: xp.asarray(a).sum(1, keepdims=True))
    both(lambda xp: xp.add.reduce(xp.asarray(a), axis=1))
    both(lambda xp: xp.maximum.reduce(xp.asarray(a)))
    both(lambda xp: xp.logical_or.reduce(xp.asarray(mask), axis=None))

    def with_out(xp):
        out = xp.zeros(4)
        assert xp.sum(xp.asarray(a), axis=0, out=out) is out
        return out

    both(with_out)


def test_wrong_axes():
    a = sample((3, 4))
    for axis in (2, -3, (0, 0), (0, 5), 1.5):
        raises_the_same(lambda xp, axis=axis: xp.sum(xp.asarray(a), axis=axis))
    raises_the_same(lambda xp: xp.sum(xp.asarray(a), axis=0, out=xp.zeros(3)))


def test_more():
    a = sample((3, 4))
    w = abs(sample((3, 4), seed=3))
    both(lambda xp: xp.trace(xp.asarray(a)))
    both(lambda xp: xp.trace(xp.asarray(sample((3, 4, 5))), 1, 1, 2))
    both(lambda xp: xp.average(xp.asarray(a)), rtol=1e-13)
    both(lambda xp: xp.average(xp.asarray(a), weights=xp.asarray(w)), rtol=1e-13)
    both(lambda xp: xp.average(xp.asarray(a), 0, w[:, 0]), rtol=1e-13)
    both(lambda xp: xp.average(xp.asarray(a), 1, w, returned=True), rtol=1e-13)
    both(lambda xp: xp.median(xp.asarray(a), axis=1))
    both(lambda xp: xp.cumsum(xp.asarray(a), axis=1))


def test_without_nan():
    a = sample((4, 5))
    a[1, 2] = a[0, 0] = numpy.nan
    for function in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanstd"):
        both(lambda xp, f=function: getattr(xp, f)(xp.asarray(a)), rtol=1e-13)
        both(lambda xp, f=function: getattr(xp, f)(xp.asarray(a), axis=0), rtol=1e-13)
        both(lambda xp, f=function: getattr(xp, f)(xp.asarray(sample((3,), "int32"))), rtol=1e-13)
    with pytest.warns(RuntimeWarning):
        same(tilewise.nanmax([numpy.nan]), numpy.float64("nan"))
    with pytest.warns(RuntimeWarning):
        same(tilewise.nanmean([numpy.nan]), numpy.float64("nan"))


@pytest.mark.parametrize("name", "sum prod max min any all count_nonzero ptp argmax argmin".split())
@pytest.mark.parametrize("axis", [0, -1])
def test_one_number_has_an_axis_for_ufuncs(name, axis):
    both(lambda xp: getattr(xp, name)(xp.asarray(3.0), axis=axis))


def test_positions_of_extremes_are_in_c_order():
    cube = numpy.arange(24).reshape(2, 3, 4)
    both(lambda xp: xp.argmax(xp.asarray(cube).T, axis=0).strides)
