"""Running sums and products and accumulate: NumPy's types, shapes, errors and warnings; the same bits for every cut.

Inside one block (4,096 positions) values are NumPy's own; behind it floats are joined block by block.
"""

import warnings

import numpy
import pytest
import tilewise
from compare import DTYPES, LAYOUTS, both, layout, raises_the_same, same, sample

BINARY = ("add", "multiply", "subtract", "divide", "maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or",
          "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "hypot", "floor_divide", "remainder")
EXACT = ("maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
         "bitwise_xor", "gcd", "subtract", "floor_divide", "remainder", "divide")
FLOATS = ("float16", "float32", "float64", "complex64", "complex128")


def long(shape, dtype, seed=1):
    rng = numpy.random.default_rng(seed)
    kind = numpy.dtype(dtype).kind
    if kind in "biu":
        return rng.integers(0, 2 if kind == "b" else 100, shape).astype(dtype)
    made = rng.normal(size=shape) * 2.0 ** rng.integers(-3, 3, shape)
    return (made + 1j * rng.normal(size=shape) if kind == "c" else made).astype(dtype)


def tolerance(dtype):
    return {"float16": 0.2, "float32": 1e-3, "complex64": 1e-3}.get(dtype, 1e-9)


def near(got, want, dtype):
    scale = float(numpy.abs(numpy.asarray(want, "complex128")).max(initial=1.0))
    same(got, want, 0, tolerance(dtype) * scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum", "nancumprod"])
def test_dtypes_and_axes(name, dtype):
    for shape in ((), (0,), (1,), (7,), (5, 6), (4, 3, 5), (0, 3), (3, 0, 2)):
        a = sample(shape, dtype)
        if name.endswith("prod") and a.dtype.kind in "fc":
            a = numpy.sign(a.real).astype(dtype)
        for axis in (None, *range(-len(shape), len(shape))):
            both(lambda xp, a=a, axis=axis: getattr(xp, name)(xp.asarray(a), axis))
        both(lambda xp, a=a: getattr(xp, name)(xp.asarray(a), dtype="float64"))
    both(lambda xp: getattr(xp, name)([1, 2, 3], dtype="int8"))


@pytest.mark.parametrize("where", LAYOUTS)
def test_layouts(where):
    for dtype in ("float64", "int16", "complex64"):
        array = layout(where, dtype)
        both(lambda xp, array=array: array(xp).cumsum())
        for axis in range(numpy.ndim(array(numpy))):
            both(lambda xp, array=array, axis=axis: array(xp).cumsum(axis))
            both(lambda xp, array=array, axis=axis: xp.maximum.accumulate(array(xp).real, axis))


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_accumulate(name, dtype):
    a = sample((6, 5), dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(numpy, name).accumulate(a)
    except TypeError:
        raises_the_same(lambda xp: getattr(xp, name).accumulate(xp.asarray(a)))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for axis in (0, 1, -1):
            rtol = 0.0 if name in EXACT or numpy.dtype(dtype).kind in "biu" else tolerance(dtype)
            both(lambda xp, axis=axis: getattr(xp, name).accumulate(xp.asarray(a), axis), rtol=rtol)


@pytest.mark.parametrize("dtype", DTYPES)
def test_long_axes(dtype, same_bits):
    results = []
    for shape in ((4095,), (4096,), (4097,), (30_000,), (3, 9000), (9000, 3), (2, 9000, 300)[:2], (9000, 300)):
        a = long(shape, dtype)
        for axis in range(len(shape)):
            got, want = tilewise.asarray(a).cumsum(axis), a.cumsum(axis)
            same(got, want) if a.dtype.kind in "biu" else near(got, want, dtype)
            first = [slice(None)] * len(shape)
            first[axis] = slice(0, 4096)
            same(got[tuple(first)], want[tuple(first)])
            results.append(got)
            if a.dtype.kind != "c":
                got = tilewise.maximum.accumulate(tilewise.asarray(a), axis)
                same(got, numpy.maximum.accumulate(a, axis))
        same(tilewise.asarray(a).T.cumsum(0), a.T.cumsum(0)) if a.dtype.kind in "biu" else None
        results.append(tilewise.asarray(a)[::-1].cumsum(0))
    same_bits(*results)


@pytest.mark.parametrize("dtype", FLOATS)
def test_bits_of_views_are_those_of_copies(dtype):
    a = long((20_000, 2), dtype)
    want = numpy.asarray(tilewise.asarray(a[:, 1].copy()).cumsum())
    assert numpy.asarray(tilewise.asarray(a)[:, 1].cumsum()).tobytes() == want.tobytes()
    assert numpy.asarray(tilewise.asarray(a).cumsum(0)[:, 1]).tobytes() == want.tobytes()
    b = tilewise.asarray(numpy.ascontiguousarray(a.T))
    assert numpy.asarray(b.cumsum(1)[1]).tobytes() == want.tobytes()


def test_what_is_not_associative_is_one_line():
    a = long((9000,), "float64")
    both(lambda xp: xp.subtract.accumulate(xp.asarray(a)))
    both(lambda xp: xp.divide.accumulate(xp.asarray(a[:50])))
    both(lambda xp: xp.subtract.accumulate(xp.asarray(a).reshape(3, 3000), axis=1))
    both(lambda xp: xp.power.accumulate(xp.asarray([2.0, 3.0, 0.5])))
    both(lambda xp: xp.power.accumulate(xp.asarray([2, 3, 2])))


def test_out_and_dtype():
    def outs(xp, out_dtype, **kwargs):
        a = xp.asarray(sample((4, 5), "int32"))
        out = xp.zeros((4, 5), out_dtype)
        assert xp.cumsum(a, axis=1, out=out, **kwargs) is out
        return out

    for out_dtype in ("int8", "int64", "float32", "complex128"):
        both(outs, out_dtype)
        both(outs, out_dtype, dtype="int16")

    def in_place(xp):
        a = xp.array(long((9000,), "int64"))
        a.cumsum(out=a)
        b = xp.array(sample((4, 5)))
        xp.cumsum(b[::-1], axis=0, out=b)
        xp.add.accumulate(b, out=(b,))
        return a, b

    both(in_place)
    both(lambda xp: xp.asarray([True, True]).cumsum(dtype=bool))
    both(lambda xp: xp.add.accumulate(xp.asarray([True, True])))
    both(lambda xp: xp.logical_or.accumulate(xp.asarray([0, 3, 0])))


def test_cumulative():
    a = sample((4, 5))
    for name in ("cumulative_sum", "cumulative_prod"):
        both(lambda xp, n=name: getattr(xp, n)(xp.asarray(a[0]), include_initial=True))
        both(lambda xp, n=name: getattr(xp, n)(xp.asarray(a), axis=1))
        both(lambda xp, n=name: getattr(xp, n)(xp.asarray(a), axis=-2, include_initial=True, dtype="f4"))
        both(lambda xp, n=name: getattr(xp, n)(xp.asarray(a), axis=1, include_initial=True, out=xp.zeros((4, 6))))
        both(lambda xp, n=name: getattr(xp, n)(3.5))
        raises_the_same(lambda xp, n=name: getattr(xp, n)(xp.asarray(a)))


def test_nan():
    a = numpy.where(sample((4, 5), "bool"), sample((4, 5)), numpy.nan)
    for name in ("nancumsum", "nancumprod"):
        for axis in (None, 0, 1):
            both(lambda xp, n=name, axis=axis: getattr(xp, n)(xp.asarray(a), axis), rtol=1e-15)
    both(lambda xp: xp.maximum.accumulate(xp.asarray(a), axis=1))
    both(lambda xp: xp.fmax.accumulate(xp.asarray(a), axis=1))
    both(lambda xp: xp.asarray([-0.0, -0.0]).cumsum())


def test_errors():
    a = sample((3, 4))
    for wrong in (
        lambda xp: xp.cumsum(xp.asarray(a), axis=2),
        lambda xp: xp.asarray(a).cumprod(-3),
        lambda xp: xp.add.accumulate(xp.asarray(3.0)),
        lambda xp: xp.add.accumulate(xp.asarray(a), axis=5),
        lambda xp: xp.add.accumulate(xp.asarray(a), axis=None),
        lambda xp: xp.negative.accumulate(xp.asarray(a)),
        lambda xp: xp.divmod.accumulate(xp.asarray(a)),
        lambda xp: xp.cumsum(xp.asarray(a), axis=0, out=xp.zeros((3, 5))),
        lambda xp: xp.cumsum(xp.asarray(a), axis=1.5),
        lambda xp: xp.bitwise_and.accumulate(xp.asarray(a)),
    ):
        raises_the_same(wrong)


def test_warnings():
    big = numpy.full(5000, 1e308)

    def warned(xp, function):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            numpy.asarray(function(xp))
            if xp is tilewise:
                tilewise.synchronize()
        return sorted({str(w.message) for w in caught})

    for function in (
        lambda xp: xp.cumsum(xp.asarray(big)),
        lambda xp: xp.cumsum(xp.asarray([numpy.inf, -numpy.inf])),
        lambda xp: xp.divide.accumulate(xp.asarray([1.0, 0.0])),
        lambda xp: xp.cumsum(xp.asarray([1.0, 2.0])),
        lambda xp: xp.multiply.accumulate(xp.asarray([1e-300, 1e-300])),
    ):
        assert warned(tilewise, function) == warned(numpy, function)
    with numpy.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow encountered in accumulate"):
        numpy.asarray(tilewise.asarray(big).cumsum())
        tilewise.synchronize()
