"""Reductions: NumPy's types and shapes for every dtype and axis, and the same bits in every configuration."""

import warnings

import numpy
import pytest
from compare import DTYPES, both, raises_the_same, sample

EXACT = ("min", "max", "any", "all", "count_nonzero", "argmin", "argmax")
NAMES = ("sum", "prod", "mean", "var", "std", *EXACT)
SHAPES = [(), (1,), (7,), (5, 6), (4, 3, 5), (1, 6), (3, 0)]


def axes_of(name, rank):
    if name in ("argmin", "argmax"):
        return [None, *range(rank)]
    pairs = [(0, rank - 1)] if rank > 1 else []
    return [None, *range(rank), *pairs] + ([] if name == "count_nonzero" else [()])


def tolerance(name, dtype):
    kind = numpy.dtype(dtype).kind
    if name in EXACT or (kind in "biu" and name in ("sum", "prod")):
        return 0.0
    return {"float16": 5e-3, "float32": 1e-5, "complex64": 1e-5}.get(dtype, 1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_every_axis(name, dtype, same_bits):
    results = []
    for shape in SHAPES:
        if 0 in shape and name in ("min", "max", "argmin", "argmax"):
            continue
        values = sample(shape, dtype) if shape else sample((1,), dtype)[0]
        for axis in axes_of(name, len(shape)):
            for keepdims in (False, True):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    results.append(both(lambda xp, v=values, a=axis, k=keepdims: getattr(xp, name)(
                        xp.asarray(v), axis=a, keepdims=k), rtol=tolerance(name, dtype)))
    same_bits(*results)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int32", "bool"])
def test_long_axes_and_layouts_give_the_same_bits(dtype, same_bits):
    line, plane = sample((20_011,), dtype), sample((70, 301), dtype)
    results = []
    for name in ("sum", "mean", "var", "max", "argmin", "count_nonzero"):
        rtol = tolerance(name, dtype) * 10
        results.append(both(lambda xp, f=name: getattr(xp, f)(xp.asarray(line)), rtol=rtol))
        results.append(both(lambda xp, f=name: getattr(xp, f)(xp.asarray(line)[::-3]), rtol=rtol))
        for axis in (0, 1):
            results.append(both(lambda xp, f=name, a=axis: getattr(xp, f)(xp.asarray(plane), axis=a), rtol=rtol))
            results.append(both(lambda xp, f=name, a=axis: getattr(xp, f)(xp.asarray(plane).T[::2], axis=a), rtol=rtol))
    same_bits(*results)


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_and_initial_values(dtype):
    a, mask = sample((5, 6), dtype), sample((5, 6), "bool", 3)
    for name in ("sum", "prod"):
        rtol = tolerance(name, dtype)
        both(lambda xp, f=name: getattr(xp, f)(xp.asarray(a), axis=0, where=xp.asarray(mask)), rtol=rtol)
        both(lambda xp, f=name: getattr(xp, f)(xp.asarray(a), axis=1, initial=3), rtol=rtol)
    rtol = 1e-2 if dtype == "float16" else 1e-5
    for name in ("mean", "var", "std"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both(lambda xp, f=name: getattr(xp, f)(xp.asarray(a), axis=0, where=xp.asarray(mask)), rtol=rtol)
    both(lambda xp: xp.max(xp.asarray(a), axis=0, where=xp.asarray(mask), initial=1))
    both(lambda xp: xp.any(xp.asarray(a), axis=1, where=xp.asarray(mask)))
    got, want = raises_the_same(lambda xp: xp.max(xp.asarray(a), axis=0, where=xp.asarray(mask)))
    assert got == want


def test_special_values():
    a = numpy.array([[1.0, numpy.nan, 3], [-0.0, 0.0, numpy.inf], [numpy.nan, -numpy.inf, 2]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("min", "max", "argmin", "argmax", "sum", "any", "all"):
            for axis in (None, 0, 1):
                both(lambda xp, f=name, x=axis: getattr(xp, f)(xp.asarray(a), axis=x))
        both(lambda xp: xp.fmax.reduce(xp.asarray(a), axis=1))
        both(lambda xp: xp.fmin.reduce(xp.asarray(a), axis=0))
    ties = numpy.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 9])
    both(lambda xp: (xp.argmin(xp.asarray(ties)), xp.argmax(xp.asarray(ties))))


def test_nothing_to_reduce():
    both(lambda xp: xp.sum(xp.zeros((0, 3)), axis=0))
    both(lambda xp: xp.prod(xp.zeros(0)))
    both(lambda xp: xp.max(xp.zeros((3, 0)), axis=0))
    both(lambda xp: xp.min(xp.zeros(0), initial=5))
    for name in ("max", "min", "argmax", "argmin"):
        got, want = raises_the_same(lambda xp, f=name: getattr(xp, f)(xp.zeros(0)))
        assert got == want


def test_types_outputs_and_other_rows():
    a, small = sample((4, 5)), sample((4, 5), "int8")
    both(lambda xp: xp.sum(xp.asarray(small), axis=0, dtype="float32"))
    both(lambda xp: xp.sum(xp.asarray(small), axis=0, out=xp.zeros(5, "int16")))
    both(lambda xp: xp.mean(xp.asarray(a), axis=1, out=xp.zeros(4)), rtol=1e-14)
    both(lambda xp: xp.argmax(xp.asarray(a), axis=1, out=xp.zeros(4, "int64")))
    for row in ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd"):
        both(lambda xp, r=row: getattr(xp, r).reduce(xp.asarray(numpy.abs(small)), axis=0))
    for row in ("logical_and", "logical_or", "logical_xor"):
        both(lambda xp, r=row: getattr(xp, r).reduce(xp.asarray(a), axis=1))
    for row in ("hypot", "logaddexp"):
        both(lambda xp, r=row: getattr(xp, r).reduce(xp.asarray(a), axis=0), rtol=1e-12)
    raises_the_same(lambda xp: xp.bitwise_or.reduce(xp.asarray(a)))
    raises_the_same(lambda xp: xp.sum(xp.asarray(a), axis=0, out=xp.zeros(3)))


def test_in_place_normalisation(same_bits):
    def program(xp):
        x = xp.asarray(sample((40, 30)))
        x -= x.mean(axis=0)
        x /= x.std(axis=0)
        e = xp.exp(x - x.max(axis=1, keepdims=True))
        e /= e.sum(axis=1, keepdims=True)
        return x, e

    same_bits(*both(program, rtol=1e-11))
