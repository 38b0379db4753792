"""Indexing, read and write: basic (views) natively, the rest by NumPy."""

import numpy
import pytest
import tilewise
from compare import both, raises_the_same, same, sample

BASIC = [
    0,
    -1,
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    slice(3, 0, -2),
    slice(10, 20),
    slice(-100, 2),
    None,
    Ellipsis,
    (),
    (1,),
    (0, 1),
    (1, 2, 3),
    (-1, -1),
    (slice(1, 3), 0),
    (0, slice(None), slice(None, None, 2)),
    (..., 1),
    (1, ...),
    (slice(None), None, 2),
    (None, 1, None, ..., None),
    (..., slice(None, None, -1)),
    (slice(None, None, -2), ..., slice(1, 1)),
    numpy.int64(1),
    (numpy.int8(-2), slice(0, 2)),
    numpy.array(1),
]
ADVANCED = [
    [0, 2],
    numpy.array([1, 1, -1]),
    (slice(None), [0, 1]),
    ([0, 1], [1, 2]),
    ([[0], [1]], [1, 2]),
    (0, [1, 2], slice(1, 3)),
    ([0, 1], slice(None), [1, 0]),
    True,
    False,
    (True, 0),
    numpy.array([True, False, True, False]),
]


@pytest.mark.parametrize("key", BASIC, ids=repr)
def test_basic_read(key):
    a = sample((4, 5, 6))
    got = both(lambda xp: xp.asarray(a)[key])
    if isinstance(got, tilewise.ndarray) and not isinstance(key, numpy.ndarray):
        assert tilewise.asarray(a)[key].base is not None


@pytest.mark.parametrize("key", BASIC, ids=repr)
def test_basic_write(key):
    def run(xp, value):
        a = xp.asarray(sample((4, 5, 6)))
        a[key] = value
        return a

    both(run, 7)
    both(run, numpy.float32(2.5))
    both(run, True)
    if not isinstance(numpy.zeros((4, 5, 6))[key], numpy.generic):
        both(run, sample((1,)))


@pytest.mark.parametrize("key", BASIC, ids=repr)
def test_writes_through_views(key):
    def run(xp):
        a = xp.asarray(sample((4, 5, 6)))
        b = a[::-1, 1:, ::2]
        b[0] = 5
        a[0, 0] = 1
        view = a[key]
        if getattr(view, "ndim", 0):
            view += 1
        return a, b, view

    both(run)


@pytest.mark.parametrize("key", ADVANCED, ids=repr)
def test_advanced(key):
    def write(xp):
        a = xp.asarray(sample((4, 5, 6)))
        a[key] = 3
        a[key] += 2
        return a

    both(lambda xp: xp.asarray(sample((4, 5, 6)))[key])
    both(write)


def test_masks():
    def run(xp):
        a = xp.asarray(sample((4, 5)))
        b = a.copy()
        a[a > 0] = -1
        b[b < 0] *= 2
        c = b.copy()
        c[b[:, 0] > 0] = 0
        c[c == 0] = xp.asarray(5)
        return a, b, c, b[b > 1]

    both(run)


def test_arrays_of_ours_as_index():
    a = numpy.arange(10.0)
    same(tilewise.asarray(a)[tilewise.asarray([3, 1])], a[[3, 1]])
    same(tilewise.asarray(a)[tilewise.asarray(3)], a[3])
    same(tilewise.asarray(a)[tilewise.asarray([2, 5]).max()], a[5])
    same(tilewise.asarray(a)[: tilewise.asarray([2, 5]).max()], a[:5])


def test_assignment_converts():
    def run(xp):
        a = xp.zeros(4, "int16")
        a[0] = 2.9
        a[1] = "7"
        a[2:] = numpy.array([[1, 2]])
        b = xp.zeros((2, 3), "complex64")
        b[0] = [1, 2j, 3]
        b.real[1] = 4
        b.imag[0] += 1
        return a, b

    both(run)


@pytest.mark.parametrize("key", [4, -5, (0, 5), (0, 0, 0, 0), 1.0, "x", (..., ...), [5], ([0, 1], [0, 1, 2])], ids=repr)
def test_wrong_keys(key):
    got, want = raises_the_same(lambda xp: xp.asarray(sample((4, 5, 6)))[key])
    assert got == want


def test_wrong_values():
    raises_the_same(lambda xp: xp.zeros(3).__setitem__(slice(None), [1, 2]))
    raises_the_same(lambda xp: xp.zeros(3, int).__setitem__(0, float("nan")))
    raises_the_same(lambda xp: xp.zeros(3, int).__setitem__(0, float("inf")))
    raises_the_same(lambda xp: xp.zeros(3, "uint8").__setitem__(0, 300))
    raises_the_same(lambda xp: xp.zeros(3).__setitem__(0, 1j))
    raises_the_same(lambda xp: xp.zeros(3).__setitem__(0, "a"))
    raises_the_same(lambda xp: xp.broadcast_to(xp.zeros(1), (3,)).__setitem__(0, 1))
    raises_the_same(lambda xp: xp.zeros(3).__delitem__(0))


def test_iteration_and_membership():
    a = sample((3, 4))
    assert [float(x.sum()) for x in tilewise.asarray(a)] == [float(x.sum()) for x in a]
    assert len(tilewise.asarray(a)) == 3
    assert (a[1, 2] in tilewise.asarray(a)) and (99 not in tilewise.asarray(a))
    x, y, z = tilewise.asarray(a)
    same(y, a[1])
    assert list(tilewise.arange(3)) == [0, 1, 2]


def test_records():
    dtype = numpy.dtype([("x", "f8"), ("n", "i4"), ("v", "f4", (2,))])

    def run(xp):
        a = xp.zeros(5, dtype)
        a["x"] = xp.asarray(numpy.arange(5.0))
        a["n"][1:] = 7
        a["v"][:, 1] = 2
        b = a[::2]
        b["x"] += 1
        return a["x"], a["n"], a["v"], b["x"].sum()

    both(run)
    a = tilewise.zeros(3, dtype)
    assert a.dtype == dtype and a[["x", "n"]].dtype.names == ("x", "n")
    assert repr(a.tolist()) == repr(numpy.zeros(3, dtype).tolist())
    assert repr(a) == repr(numpy.zeros(3, dtype))


def test_view_as_other_type():
    a = sample((4, 6), "float64")
    both(lambda xp: xp.asarray(a).view("int64"))
    both(lambda xp: xp.asarray(a).view("uint8"))
    both(lambda xp: xp.asarray(a).view("complex128"))

    def write(xp):
        b = xp.asarray(a)
        b.view("uint64")[0] = 0
        return b

    both(write)
    raises_the_same(lambda xp: xp.asarray(a)[:, ::2].view("int32"))


def test_flat():
    def run(xp):
        a = xp.asarray(sample((3, 4)))
        a.T.flat[1] = 9
        a.flat[::2] = [1, 2]
        return a, a.flat[3], a.flat[1:4]

    both(run)
