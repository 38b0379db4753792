"""How NumPy and other libraries see our arrays: snapshots, dispatch, DLPack, pickles, text."""

import copy
import io
import pickle
import sys

import numpy
import pytest
import tilewise
from compare import DTYPES, LAYOUTS, both, layout, raises_the_same, same, sample


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_snapshots(name, dtype):
    make = layout(name, dtype)
    want = make(numpy)
    for got in (numpy.asarray(make(tilewise)), numpy.array(make(tilewise)), numpy.asarray(memoryview(make(tilewise)))):
        assert got.dtype == want.dtype and got.flags.writeable
        numpy.testing.assert_array_equal(got, want)


def test_snapshot_is_private_and_counted():
    a = tilewise.arange(4.0)
    before = tilewise.report().get("gathers.bytes", 0)
    b = numpy.asarray(a)
    b[0] = 9
    assert float(a[0]) == 0.0
    assert tilewise.report()["gathers.bytes"] == before + 32


def test_array_arguments():
    a = tilewise.arange(4)
    assert numpy.asarray(a, dtype="float32").dtype == numpy.float32
    assert a.__array__(numpy.dtype("int8")).dtype == numpy.int8
    with pytest.raises(ValueError):
        a.__array__(copy=False)
    assert bytes(tilewise.asarray([1, 2], "uint8")) == b"\x01\x02"
    assert numpy.float64(tilewise.asarray([2.5]).sum()) == 2.5


def test_ufuncs_of_numpy_give_ours():
    a, b = sample((3, 4)), sample((4,), seed=1)
    for got, want in (
        (numpy.add(tilewise.asarray(a), b), a + b),
        (numpy.multiply(a, tilewise.asarray(b)), a * b),
        (numpy.exp(tilewise.asarray(b)), numpy.exp(b)),
        (numpy.add.reduce(tilewise.asarray(a)), a.sum(0)),
        (numpy.subtract.outer(tilewise.asarray(b), b), numpy.subtract.outer(b, b)),
    ):
        assert isinstance(got, tilewise.ndarray)
        same(got, want, rtol=1e-13)
    out = tilewise.zeros((3, 4))
    assert numpy.add(a, 1, out=out) is out
    same(out, a + 1)


def test_functions_of_numpy_give_ours():
    a = sample((3, 4))
    ours = tilewise.asarray(a)
    for function in (numpy.sum, numpy.transpose, numpy.sort, numpy.linalg.det, numpy.mean):
        argument = (ours[:, :3], a[:, :3])
        got, want = function(argument[0]), function(argument[1])
        assert isinstance(got, (tilewise.ndarray, tilewise.scalar, numpy.generic))
        same(got, want, rtol=1e-13)
    assert isinstance(numpy.concatenate([ours, a]), tilewise.ndarray)
    assert isinstance(numpy.fft.fft(ours), tilewise.ndarray)
    assert isinstance(numpy.where(ours > 0, ours, 0), tilewise.ndarray)
    same(numpy.zeros_like(ours), numpy.zeros_like(a))


def test_other_libraries_ufuncs():
    special = numpy.frompyfunc(lambda x: x + 1, 1, 1)
    same(special(tilewise.arange(3)).astype(int), numpy.arange(3) + 1)


def test_namespace_protocol():
    a = tilewise.arange(3)
    assert a.__array_namespace__() is tilewise
    with pytest.raises(ValueError):
        a.__array_namespace__(api_version="1999.01")


def test_dlpack():
    a = tilewise.asarray(sample((3, 4)))
    b = numpy.from_dlpack(a)
    numpy.testing.assert_array_equal(b, numpy.asarray(a))
    same(tilewise.from_dlpack(numpy.arange(4.0)), numpy.arange(4.0))
    assert a.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        a.__dlpack__(copy=False)


def test_pickle_and_copy():
    for a in (
        tilewise.asarray(sample((3, 4), "complex64")),
        tilewise.asarray(sample((3, 4)))[:, ::2],
        tilewise.zeros((0, 3)),
        tilewise.zeros(2, [("x", "f8"), ("n", "i4")]),
        tilewise.asarray(["a", "bc"]),
    ):
        for b in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy(a)):
            assert type(b) is tilewise.ndarray and b.dtype == a.dtype and b.shape == a.shape
            assert b.tolist() == a.tolist() or b.dtype.names
    assert copy.deepcopy({"a": tilewise.arange(3)})["a"].tolist() == [0, 1, 2]


TEXTS = [
    numpy.arange(3),
    numpy.zeros((2, 0)),
    sample((3, 4)),
    numpy.array(1.5),
    sample((2, 3, 4), "complex64"),
    numpy.arange(5000),
    numpy.arange(10000.0).reshape(100, 100),
    numpy.arange(2000, dtype="int8").reshape(2, 1000),
    numpy.array(["a", "b"]),
    numpy.array([True, False]),
    numpy.arange(6000.0).reshape(20, 5, 60) / 7,
]


@pytest.mark.parametrize("a", TEXTS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_text(a):
    assert repr(tilewise.asarray(a)) == repr(a)
    assert str(tilewise.asarray(a)) == str(a)
    with numpy.printoptions(precision=2, threshold=10, edgeitems=2):
        assert repr(tilewise.asarray(a)) == repr(a)
        assert f"{tilewise.asarray(a)}" == f"{a}"


def test_text_of_large_arrays_gathers_edges_only():
    repr(tilewise.zeros((30_000, 1000)))


def test_dtypes_that_only_numpy_holds():
    words = tilewise.asarray(["x", "yy"])
    assert type(words) is tilewise.ndarray and words.dtype == numpy.dtype("<U2") and words[1] == "yy"
    assert words.shape == (2,) and len(words) == 2 and words.nbytes == 16
    same((words == "x"), numpy.array([True, False]))
    words[0] = "z"
    assert words.tolist() == ["z", "yy"]
    dates = tilewise.asarray(numpy.array(["2024-01-01", "2024-03-01"], "M8[D]"))
    assert (dates[1] - dates[0]) == numpy.timedelta64(60, "D")
    assert (dates + numpy.timedelta64(1, "D")).dtype == dates.dtype
    objects = tilewise.asarray([1, "a", None], dtype=object)
    assert objects[1] == "a"
    assert tilewise.longdouble is numpy.longdouble
    assert tilewise.asarray([1, 2], "longdouble").sum() == 3


def test_files():
    a = sample((3, 4))
    stream = io.BytesIO()
    tilewise.save(stream, tilewise.asarray(a))
    stream.seek(0)
    same(tilewise.load(stream), a)
    text = io.StringIO()
    tilewise.savetxt(text, tilewise.asarray(a))
    text.seek(0)
    same(tilewise.loadtxt(text), a)


def test_attributes():
    a = sample((2, 3, 4), "float32")
    ours = tilewise.asarray(a)
    for name in ("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides"):
        assert getattr(ours, name) == getattr(a, name)
    for name in ("strides", "shape"):
        assert getattr(ours[:, ::-1, 1::2], name) == getattr(a[:, ::-1, 1::2], name)
    assert ours.base is None and ours[1:].base is ours and ours[1:][1:].base is ours
    assert ours.flags.c_contiguous and ours.T.flags.f_contiguous and not ours[:, ::2].flags.c_contiguous
    assert ours.device == "cpu" and ours.to_device("cpu") is ours
    assert sys.getsizeof(ours) > 0
    with pytest.raises(TypeError):
        hash(ours)


def test_methods_of_numpy_are_all_there():
    public = [name for name in dir(numpy.ndarray) if not name.startswith("_") or name.startswith("__")]
    missing = [name for name in public if not hasattr(tilewise.ndarray, name)]
    assert missing in (
        [],
        ["__array_interface__", "__array_struct__"],
        ["__array_interface__", "__array_struct__", "__setstate__"],
    ), missing


def test_methods_by_fallback():
    a = sample((4, 3))
    both(lambda xp: xp.asarray(a).argsort(axis=0))
    both(lambda xp: xp.asarray(a).take([0, 2], axis=1))
    both(lambda xp: xp.asarray(a).nonzero())

    def sort(xp):
        b = xp.array(a)
        b.sort(axis=0)
        b[:, 0].sort()
        b.fill(2) if b.size == 0 else None
        return b

    both(sort)
    assert tilewise.asarray(a).tobytes() == a.tobytes()
    raises_the_same(lambda xp: xp.asarray(a).item())
    assert tilewise.asarray(a).item(1, 2) == a.item(1, 2) and tilewise.asarray(a).item(3) == a.item(3)
