"""Matrix products: shapes, types and layouts; the bits do not depend on devices, nor on how a product is cut."""

import numpy
import pytest
import tilewise
from compare import DTYPES, both, same

SHAPES = [((3, 4), (4, 5)), ((4,), (4,)), ((4,), (4, 5)), ((3, 4), (4,)), ((2, 3, 4), (4, 5)),
          ((2, 1, 3, 4), (5, 4, 2)), ((1, 1), (1, 1)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((50, 70), (70, 90)),
          ((1, 70), (70, 1)), ((2, 2000), (2000, 3)), ((7, 5, 5), (7, 5, 5)), ((130, 17), (17, 3))]


def values(shape, dtype, seed):
    rng = numpy.random.default_rng(seed)
    kind = numpy.dtype(dtype).kind
    if kind in "biu":
        return rng.integers(0, 2 if kind == "b" else 100, shape).astype(dtype)
    made = rng.normal(size=shape)
    return (made + 1j * rng.normal(size=shape) if kind == "c" else made).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_shapes_and_types(dtype, same_bits):
    loose, wide = ("float16",), ("float64", "complex128")
    rtol, exact = (3e-2, 1e-1) if dtype in loose else (1e-11, 1e-12) if dtype in wide else (1e-4, 1e-4)
    results = []
    for left, right in SHAPES:
        a, b = values(left, dtype, 1), values(right, dtype, 2)
        got, want = tilewise.asarray(a) @ tilewise.asarray(b), a @ b
        if numpy.dtype(dtype).kind in "biu":
            same(got, want)
        else:
            same(got, want, rtol, exact)
        results.append(got)
    same_bits(*results)


def test_layouts_give_the_same_bits(same_bits):
    a, b = values((61, 900), "float64", 3), values((900, 35), "float64", 4)
    want = numpy.asarray(tilewise.asarray(a) @ tilewise.asarray(b))
    turned = tilewise.asarray(numpy.ascontiguousarray(a.T)).T @ tilewise.asarray(numpy.ascontiguousarray(b.T)).T
    spread = tilewise.asarray(numpy.repeat(a, 2, axis=0))[::2] @ tilewise.asarray(numpy.repeat(b, 3, axis=1))[:, ::3]
    for other in (turned, spread):
        assert numpy.asarray(other).tobytes() == want.tobytes()
    rows = [numpy.asarray(tilewise.asarray(a)[i : i + 1] @ tilewise.asarray(b)) for i in (0, 17, 60)]
    for i, row in zip((0, 17, 60), rows, strict=True):
        assert row.tobytes() == want[i : i + 1].tobytes()
    same_bits(want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16"])
def test_a_long_contracted_axis(dtype, same_bits):
    one, data = values((30_000, 5), dtype, 5), values((30_000, 3), dtype, 6)
    got = tilewise.asarray(one).T @ tilewise.asarray(data)
    if dtype == "int32":
        same(got, one.T @ data)
    else:
        want = one.T.astype("float64") @ data.astype("float64")
        numpy.testing.assert_allclose(numpy.asarray(got), want, rtol=1e-2, atol=0.5 if dtype == "float16" else 1e-2)
    same_bits(got)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_larger_products(dtype, same_bits):
    a, b = values((310, 1000), dtype, 7), values((1000, 270), dtype, 8)
    got = tilewise.asarray(a) @ tilewise.asarray(b)
    same(got, a @ b, 1e-3 if dtype == "float32" else 1e-11, 1e-3 if dtype == "float32" else 1e-11)
    same_bits(got)


def test_output_may_be_an_operand(same_bits):
    def program(xp):
        a = xp.asarray(values((40, 40), "float64", 9))
        xp.matmul(a, a, out=a)
        xp.matmul(a[::-1], a.T, out=a)
        return a

    got = both(program, rtol=1e-9)
    same_bits(got)


def test_products_of_slices_after_updates(same_bits):
    def program(xp):
        a = xp.asarray(values((60, 60), "float64", 10))
        a[10:20] = a[20:30] @ a
        a[:, 5:15] -= a[:, 20:40] @ a[15:35, 30:40]
        return a

    same_bits(both(program, rtol=1e-9))
