"""New arrays: constants, ranges, and copies of others' data."""

import numpy
import pytest
import tilewise
from compare import DTYPES, LAYOUTS, SHAPES, both, host, layout, raises_the_same, same, sample


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_constants(shape, dtype):
    both(lambda xp: xp.zeros(shape, dtype))
    both(lambda xp: xp.ones(shape, dtype))
    both(lambda xp: xp.full(shape, 3, dtype))
    got = tilewise.empty(shape, dtype)
    assert got.shape == shape and got.dtype == dtype


def test_full_takes_types_from_its_value():
    for value in (1, 2.5, True, 1j, numpy.float32(2), [1, 2, 3]):
        both(lambda xp, value=value: xp.full((2, 3), value))
    both(lambda xp: xp.full(3, xp.asarray([1.5]).sum()))


@pytest.mark.parametrize("name", LAYOUTS)
def test_like_others(name):
    make = layout(name, "float32")
    both(lambda xp: xp.zeros_like(make(xp)))
    both(lambda xp: xp.ones_like(make(xp), dtype="int8"))
    both(lambda xp: xp.full_like(make(xp), 2, shape=(2, 2)))
    assert tilewise.empty_like(make(tilewise)).shape == make(numpy).shape


def test_memory_order():
    for order in "CFAK":
        for make in (
            lambda xp: xp.asarray(sample((2, 3, 4))),
            lambda xp: xp.asarray(sample((2, 3, 4))).T,
            lambda xp: xp.asarray(sample((2, 3, 4))).transpose(1, 0, 2),
        ):
            for function in ("zeros_like", "copy"):
                got, want = (getattr(xp, function)(make(xp), order=order) for xp in (tilewise, numpy))
                assert got.flags.c_contiguous == want.flags.c_contiguous, (function, order)
                assert got.flags.f_contiguous == want.flags.f_contiguous, (function, order)
    assert tilewise.zeros((3, 4), order="F").flags.f_contiguous


@pytest.mark.parametrize(
    "arguments",
    [
        (5,),
        (2, 9),
        (0, 10, 3),
        (10, 0, -3),
        (0.0, 1.0, 0.1),
        (1, 2, 0.3),
        (5, 5),
        (3, 0),
        (0,),
        (-2.5, 2.5),
        (0, 7, 2.5),
        (True,),
    ],
    ids=str,
)
def test_arange(arguments):
    both(lambda xp: xp.arange(*arguments))
    both(lambda xp: xp.arange(*arguments, dtype="float32"))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "complex64"])
def test_arange_of_type(dtype):
    both(lambda xp: xp.arange(1, 20, 3, dtype=dtype))
    both(lambda xp: xp.arange(numpy.int16(4)))


@pytest.mark.parametrize(
    "arguments", [(0, 1), (0, 1, 9), (2.5, -1, 7), (0, 1, 1), (0, 1, 0), (3, 3, 4), (0, 10, 11, False)], ids=str
)
def test_linspace(arguments):
    both(lambda xp: xp.linspace(*arguments))
    both(lambda xp: xp.linspace(*arguments, retstep=True))
    both(lambda xp: xp.linspace(*arguments, dtype=int))


def test_matrices():
    both(lambda xp: xp.eye(4))
    both(lambda xp: xp.eye(3, 5, 1, "int8"))
    both(lambda xp: xp.eye(5, 3, -2, order="F"))
    both(lambda xp: xp.identity(3, complex))
    for k in (-2, 0, 1):
        both(lambda xp, k=k: xp.tri(3, 4, k))
        both(lambda xp, k=k: xp.tril(xp.asarray(sample((2, 3, 4))), k))
        both(lambda xp, k=k: xp.triu(xp.asarray(sample((4, 3), "int32")), k))
        both(lambda xp, k=k: xp.diag(xp.asarray(sample((4,))), k))
        both(lambda xp, k=k: xp.diag(xp.asarray(sample((4, 3))), k))
        both(lambda xp, k=k: xp.diagflat(xp.asarray(sample((2, 2))), k))


def test_grids():
    both(lambda xp: xp.indices((2, 3)))
    both(lambda xp: xp.indices((2, 3), sparse=True))
    for indexing in ("xy", "ij"):
        for sparse in (False, True):
            both(
                lambda xp, i=indexing, s=sparse: xp.meshgrid(
                    xp.arange(3), xp.arange(4.0), xp.arange(2), indexing=i, sparse=s
                )
            )
    both(lambda xp: xp.fromfunction(lambda i, j: i * 2 + j, (3, 4)))
    both(lambda xp: xp.mgrid[0:3, 0:2])
    both(lambda xp: xp.r_[1:4, 0, 4])


def test_from_lists_and_numpy():
    both(lambda xp: xp.array([[1, 2], [3, 4]]))
    both(lambda xp: xp.array([1, 2.5, 3j]))
    both(lambda xp: xp.array([], "float32"))
    both(lambda xp: xp.array(5))
    both(lambda xp: xp.array([[1, 2]], ndmin=4))
    both(lambda xp: xp.array([xp.asarray([1.0, 2.0]), xp.asarray([3.0, 4.0])]))
    both(lambda xp: xp.array([[xp.asarray([1.0]).sum(), 2], [3, 4]]))
    both(lambda xp: xp.asarray(range(4)))
    both(lambda xp: xp.ascontiguousarray(xp.asarray(sample((3, 4))).T))
    both(lambda xp: xp.asfortranarray(sample((3, 4))))


def test_snapshot_of_numpy_data():
    a = numpy.arange(4.0)
    b = tilewise.asarray(a)
    a[0] = 99
    same(b, numpy.arange(4.0))
    host(b)[1] = 77
    same(b, numpy.arange(4.0))


def test_asarray_shares_and_array_copies():
    a = tilewise.arange(4.0)
    assert tilewise.asarray(a) is a and tilewise.asanyarray(a) is a and tilewise.array(a, copy=None) is a
    b = tilewise.array(a)
    b[0] = 5
    assert float(a[0]) == 0.0
    with pytest.raises(ValueError):
        tilewise.asarray(a, "int32", copy=False)
    with pytest.raises(ValueError):
        tilewise.asarray([1], copy=False)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dtype", ["int32", "float16", "complex128", "bool"])
def test_astype(name, dtype):
    make = layout(name, "float64")
    both(lambda xp: make(xp).astype(dtype))
    both(lambda xp: make(xp).copy())
    both(lambda xp: make(xp).tolist())


def test_astype_rules():
    raises_the_same(lambda xp: xp.arange(3.0).astype("int32", casting="safe"))
    both(lambda xp: xp.arange(3).astype(float, copy=False))
    a = tilewise.arange(3)
    assert a.astype(int, copy=False) is a and a.astype(int) is not a
    with pytest.warns(numpy.exceptions.ComplexWarning):
        tilewise.asarray([1j]).astype(float)


def test_wrong_arguments():
    for function in (
        lambda xp: xp.zeros((-1, 2)),
        lambda xp: xp.zeros(2.5),
        lambda xp: xp.zeros(3, "no such type"),
        lambda xp: xp.eye(-1),
        lambda xp: xp.linspace(0, 1, -1),
        lambda xp: xp.arange(0, 1, 0),
        lambda xp: xp.zeros((1,) * 65),
        lambda xp: xp.zeros(3, order="X"),
        lambda xp: xp.arange(),
        lambda xp: xp.full(),
        lambda xp: xp.diag(xp.zeros((2, 2, 2))),
    ):
        raises_the_same(function)


def test_sizes_beyond_63_bits():
    for shape in ((2**40, 2**40), (2**62,)):
        raises_the_same(lambda xp, shape=shape: xp.zeros(shape))
        raises_the_same(lambda xp, shape=shape: xp.empty(shape, order="F"))
    for extent in (2**63, 2**64):
        for make in ("zeros", "empty", "ones"):
            raises_the_same(lambda xp, make=make, extent=extent: getattr(xp, make)(extent))
