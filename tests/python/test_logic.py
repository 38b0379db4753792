"""Choosing, rounding, comparing whole arrays."""

import numpy
import pytest
import tilewise
from compare import LAYOUTS, both, layout, raises_the_same, sample


def test_where():
    mask, a, b = sample((3, 4), "bool"), sample((3, 4), "float32", 1), sample((4,), "int16", 2)
    both(lambda xp: xp.where(xp.asarray(mask), xp.asarray(a), xp.asarray(b)))
    both(lambda xp: xp.where(xp.asarray(mask), a, 0))
    both(lambda xp: xp.where(xp.asarray(a) > 0, 1.0, xp.asarray(a)))
    both(lambda xp: xp.where(mask, 1, 2.5))
    both(lambda xp: xp.where(xp.asarray(a), a, -a))
    both(lambda xp: xp.where(True, a, 0))
    both(lambda xp: xp.where(xp.asarray(mask)))
    raises_the_same(lambda xp: xp.where(mask, a))
    raises_the_same(lambda xp: xp.where(mask, a, xp.zeros(3)))


@pytest.mark.parametrize("name", LAYOUTS)
def test_clip_and_round(name):
    make = layout(name)
    both(lambda xp: xp.clip(make(xp), -1, 2))
    both(lambda xp: make(xp).clip(-1.5, None))
    both(lambda xp: xp.clip(make(xp), None, 0.5))
    both(lambda xp: xp.clip(make(xp), min=0))
    both(lambda xp: xp.round(make(xp)))
    both(lambda xp: xp.round(make(xp), 1))
    both(lambda xp: make(xp).round(-1))
    both(lambda xp: xp.fix(make(xp)))


def test_clip_types():
    a = sample((6,), "int32")
    both(lambda xp: xp.clip(xp.asarray(a), 0, 2.5))
    both(lambda xp: xp.clip(xp.asarray(a), xp.zeros(6, "int64"), 5, out=xp.zeros(6)))
    both(lambda xp: xp.clip(xp.asarray([1.0, numpy.nan]), 2, 3))
    both(lambda xp: xp.round(xp.asarray(sample((4,), "complex128")), 1))
    both(lambda xp: xp.round(xp.asarray(a), 1))


def test_select_and_copyto():
    a = sample((6,))
    both(lambda xp: xp.select([xp.asarray(a) > 1, xp.asarray(a) < -1], [xp.asarray(a), -xp.asarray(a)], 9))

    def copy(xp):
        b = xp.zeros((2, 6), "float32")
        xp.copyto(b, xp.asarray(a))
        xp.copyto(b, 5, where=xp.asarray(a) > 0)
        return b

    both(copy)
    raises_the_same(lambda xp: xp.copyto(xp.zeros(6, int), xp.asarray(a)))


def test_close_and_equal():
    a = sample((3, 4))
    b = a + 1e-9
    both(lambda xp: xp.isclose(xp.asarray(a), xp.asarray(b)))
    both(lambda xp: xp.isclose(xp.asarray([numpy.inf, numpy.nan, 1]), [numpy.inf, numpy.nan, 2], equal_nan=True))
    both(lambda xp: xp.allclose(xp.asarray(a), b))
    both(lambda xp: xp.array_equal(xp.asarray(a), a))
    both(lambda xp: xp.array_equal(xp.asarray(a), b))
    both(lambda xp: xp.array_equal(xp.asarray(a), a[0]))
    both(lambda xp: xp.array_equiv(xp.asarray(a)[:1], a[0]))


def test_differences():
    a = sample((4, 6))
    both(lambda xp: xp.diff(xp.asarray(a)))
    both(lambda xp: xp.diff(xp.asarray(a), 2, axis=0))
    both(lambda xp: xp.diff(xp.asarray(a) > 0))
    both(lambda xp: xp.diff(xp.asarray(a), prepend=0, append=a[:, :2]))
    both(lambda xp: xp.ediff1d(xp.asarray(a)))


def test_complex_parts():
    c = sample((5,), "complex64")
    both(lambda xp: [xp.real(xp.asarray(c)), xp.imag(xp.asarray(c))])
    both(lambda xp: xp.asarray(c).conj())
    both(lambda xp: xp.angle(xp.asarray(c)), rtol=1e-6)
    both(lambda xp: [xp.isreal(xp.asarray(c)), xp.iscomplex(xp.asarray(c)), xp.isreal(xp.arange(3))])
    both(lambda xp: [xp.iscomplexobj(xp.asarray(c)), xp.isrealobj(xp.asarray(c))])


def test_shapes_and_sharing():
    a = tilewise.zeros((4, 6))
    assert (tilewise.shape(a), tilewise.ndim(a), tilewise.size(a), tilewise.size(a, 1)) == ((4, 6), 2, 24, 6)
    assert tilewise.isscalar(a.sum()) and not tilewise.isscalar(a)
    assert tilewise.shares_memory(a, a[1:]) and not tilewise.shares_memory(a[:, ::2], a[:, 1::2])
    assert tilewise.may_share_memory(a[:, ::2], a[:, 1::2]) and not tilewise.may_share_memory(a, a.copy())
    assert tilewise.result_type(a, "complex64") == numpy.dtype("complex128")
