"""Results without axes: lazy, immutable, and otherwise as NumPy's scalars."""

import copy
import math
import pickle

import numpy
import pytest
import tilewise
from compare import DTYPES, both, raises_the_same, same, sample


def total(dtype="float64"):
    return tilewise.asarray(sample((5,), dtype))[2]


@pytest.mark.parametrize("dtype", DTYPES)
def test_text_and_conversions(dtype):
    want = sample((5,), dtype)[2]
    got = total(dtype)
    assert type(got) is tilewise.scalar
    assert repr(got) == repr(want) and str(got) == str(want)
    assert hash(got) == hash(want)
    assert bool(got) == bool(want)
    assert got.item() == want.item() and type(got.item()) is type(want.item())
    assert got.dtype == want.dtype and got.shape == () and got.ndim == 0 and got.size == 1
    assert complex(got) == complex(want)
    if want.dtype.kind != "c":
        assert float(got) == float(want) and int(got) == int(want)


def test_formatting():
    s = tilewise.asarray([1.23456]).sum()
    assert f"{s:.2f}" == "1.23" and f"{s}" == "1.23456"
    assert "%.3f" % s == "1.235"  # noqa: UP031
    assert math.sqrt(tilewise.asarray([4.0]).sum()) == 2.0
    assert round(s, 2) == 1.23 and round(s) == 1
    assert math.floor(s) == 1 and math.ceil(s) == 2 and math.trunc(s) == 1


def test_index():
    i = tilewise.asarray([3, 1]).max()
    assert [10, 20, 30, 40][i] == 40
    assert list(range(i)) == [0, 1, 2]
    assert [1, 2] * i == [1, 2] * 3 == i * [1, 2]
    with pytest.raises(TypeError):
        [1, 2][tilewise.asarray([1.0]).sum()]


def test_isinstance_as_numpy():
    assert isinstance(tilewise.asarray([1.0]).sum(), numpy.floating)
    assert isinstance(tilewise.asarray([1]).sum(), numpy.integer)
    assert not isinstance(tilewise.asarray([1]).sum(), numpy.floating)


def test_immutable():
    s = tilewise.arange(3.0).sum()
    t = s
    s += 1
    assert float(t) == 3.0 and float(s) == 4.0


def test_arithmetic_stays_lazy_and_typed():
    a = numpy.arange(4, dtype="float32")
    both(lambda xp: xp.asarray(a).sum() / xp.asarray(a).max())
    both(lambda xp: xp.asarray(a).sum() * 2.5)
    both(lambda xp: 2.5 - xp.asarray(a)[1])
    both(lambda xp: xp.asarray(a) / xp.asarray(a).sum())
    both(lambda xp: xp.asarray(a)[1] > 0)
    both(lambda xp: -(xp.asarray(a)[1] ** 2))
    assert type(tilewise.asarray(a).sum() + 1) is tilewise.scalar


def test_element_is_a_copy():
    a = tilewise.arange(3.0)
    s = a[1]
    a[1] = 7
    assert float(s) == 1.0


def test_in_containers():
    s = tilewise.asarray([2.0]).sum()
    assert {s: 1}[2.0] == 1
    assert s in (1.0, 2.0)
    assert sorted([tilewise.asarray([3]).sum(), tilewise.asarray([1]).sum()])[0] == 1
    same(tilewise.asarray([s, s + 1]), numpy.asarray([2.0, 3.0]))
    assert max(tilewise.asarray([1.0, 5.0])) == 5.0


def test_copies_and_pickles():
    s = tilewise.asarray([2.5]).sum()
    assert copy.copy(s) == 2.5 and copy.deepcopy(s) == 2.5
    assert pickle.loads(pickle.dumps(s)) == 2.5


def test_numpy_functions_of_scalars():
    s = tilewise.asarray([2.0, 2.0]).sum()
    assert numpy.sqrt(s) == 2.0 and isinstance(numpy.sqrt(s), tilewise.scalar)
    assert numpy.asarray(s).shape == ()
    same(numpy.float64(3) + s, numpy.float64(7))
    same(s[()], numpy.float64(4))
    same(s.astype("int32"), numpy.int32(4))
    same(s.reshape(1), numpy.asarray([4.0]))


def test_wrong_uses():
    raises_the_same(lambda xp: len(xp.asarray([1.0]).sum()))
    raises_the_same(lambda xp: iter(xp.asarray([1.0]).sum()))
    with pytest.raises(TypeError):
        tilewise.asarray([1.0]).sum()[()] = 2
