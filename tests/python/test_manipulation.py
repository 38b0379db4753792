"""Shapes, joining, splitting, repeating, padding."""

import numpy
import pytest
import tilewise
from compare import LAYOUTS, both, layout, raises_the_same, same, sample

CUBE = sample((2, 3, 4))


@pytest.mark.parametrize("name", LAYOUTS)
def test_flattening(name):
    make = layout(name)
    for order in "CFAK":
        both(lambda xp, order=order: make(xp).ravel(order))
        both(lambda xp, order=order: make(xp).flatten(order))
    both(lambda xp: make(xp).T)
    both(lambda xp: xp.squeeze(make(xp)))
    both(lambda xp: xp.expand_dims(make(xp), 0))
    both(lambda xp: xp.flip(make(xp)))
    both(lambda xp: xp.atleast_1d(make(xp)))
    both(lambda xp: xp.atleast_2d(make(xp)))
    both(lambda xp: xp.atleast_3d(make(xp)))
    both(lambda xp: make(xp).real)
    both(lambda xp: make(xp).imag)


@pytest.mark.parametrize("shape", [(24,), (-1,), (6, 4), (4, -1), (2, 1, 3, 4), (1, 24, 1), (3, 2, 2, 2), 24], ids=str)
@pytest.mark.parametrize(
    "view", [lambda a: a, lambda a: a.T, lambda a: a[:, ::-1]], ids=["plain", "transposed", "reversed"]
)
def test_reshape(shape, view):
    both(lambda xp: view(xp.array(CUBE)).reshape(shape))
    both(lambda xp: xp.reshape(view(xp.array(CUBE)), shape, order="F"))
    got, want = (numpy_base(view(xp.array(CUBE)), shape) for xp in (tilewise, numpy))
    assert got == want


def numpy_base(a, shape):
    """Whether writing to the reshaped array is seen in the first."""
    b = a.reshape(shape)
    b[...] = 77
    return bool((a == 77).all())


def test_reshape_errors():
    for shape in ((5, 5), (-1, -1), (7, -1), (2, 3, 5)):
        got, want = raises_the_same(lambda xp, shape=shape: xp.array(CUBE).reshape(shape))
    got, want = raises_the_same(lambda xp: xp.array(CUBE).reshape(5, 5))
    assert got == want
    raises_the_same(lambda xp: xp.array(CUBE).T.reshape(24, copy=False))


def test_axes():
    both(lambda xp: xp.transpose(CUBE, (2, 0, 1)))
    both(lambda xp: xp.array(CUBE).transpose(-1, 0, 1))
    both(lambda xp: xp.swapaxes(CUBE, 0, -1))
    both(lambda xp: xp.moveaxis(CUBE, 0, -1))
    both(lambda xp: xp.moveaxis(CUBE, [0, 2], [2, 0]))
    both(lambda xp: xp.rollaxis(CUBE, 2))
    both(lambda xp: xp.rollaxis(CUBE, 0, 3))
    both(lambda xp: xp.matrix_transpose(CUBE))
    both(lambda xp: xp.array(CUBE).mT)
    both(lambda xp: xp.expand_dims(CUBE, (0, 2)))
    both(lambda xp: xp.squeeze(xp.array(CUBE)[:1, :, 1:2], 0))
    both(lambda xp: xp.diagonal(CUBE, 1, 1, 2))
    both(lambda xp: xp.rot90(CUBE, 1, (1, 2)))
    both(lambda xp: [xp.rot90(CUBE, k) for k in range(5)])
    both(lambda xp: [xp.fliplr(CUBE), xp.flipud(CUBE), xp.flip(CUBE, (0, 2))])
    both(lambda xp: xp.broadcast_to(xp.arange(4), (3, 4)))
    both(lambda xp: xp.broadcast_arrays(xp.arange(4), xp.arange(3)[:, None]))
    for function in (
        lambda xp: xp.transpose(CUBE, (0, 1)),
        lambda xp: xp.transpose(CUBE, (0, 0, 1)),
        lambda xp: xp.swapaxes(CUBE, 0, 3),
        lambda xp: xp.moveaxis(CUBE, 0, 5),
        lambda xp: xp.expand_dims(CUBE, 7),
        lambda xp: xp.squeeze(CUBE, 0),
        lambda xp: xp.broadcast_to(CUBE, (2, 3, 5)),
        lambda xp: xp.flip(CUBE, 3),
        lambda xp: xp.array(CUBE).transpose(0, 1, 3),
    ):
        raises_the_same(function)


def test_views_write_through():
    def run(xp):
        a = xp.array(CUBE)
        a.T[0] = 1
        xp.swapaxes(a, 0, 1)[1] += 2
        xp.diagonal(a, 0, 1, 2).sum()
        xp.moveaxis(a, 0, 2)[2, 1] = 5
        a.reshape(6, 4)[5] = 9
        xp.flip(a, 1)[0, 0] = -1
        return a

    both(run)


@pytest.mark.parametrize(
    "shift,axis", [(1, None), (-3, None), (2, 1), ((1, 2), (0, 2)), (5, 0), ((1, 1), (1, 1)), (0, 2)], ids=str
)
def test_roll(shift, axis):
    both(lambda xp: xp.roll(CUBE, shift, axis))
    both(lambda xp: xp.roll(xp.zeros((0, 3)), shift, None))


def test_joining():
    a, b = sample((2, 3), "float32", 1), sample((2, 3), "int32", 2)
    for axis in (0, 1, -1, None):
        both(lambda xp, axis=axis: xp.concatenate([a, b, a], axis))
    for axis in (0, 1, 2, -1):
        both(lambda xp, axis=axis: xp.stack([a, b], axis))
    both(lambda xp: xp.concatenate((xp.asarray(a), b), dtype="complex64"))
    both(lambda xp: xp.concatenate((a, b), out=xp.zeros((4, 3))))
    both(lambda xp: [xp.vstack((a, b)), xp.hstack((a, b)), xp.dstack((a, b)), xp.column_stack((a[0], b[1]))])
    both(lambda xp: [xp.vstack((a[0], b[0])), xp.hstack((a[0], b[0])), xp.dstack((a[0], b[0]))])
    both(lambda xp: xp.append(a, b))
    both(lambda xp: xp.append(a, b, 0))
    both(lambda xp: xp.block([[xp.asarray(a), xp.asarray(b)], [xp.asarray(b), xp.asarray(a)]]))
    for function in (
        lambda xp: xp.concatenate([]),
        lambda xp: xp.concatenate([a, a[0]]),
        lambda xp: xp.concatenate([a, a[:, :2]]),
        lambda xp: xp.concatenate([1, 2]),
        lambda xp: xp.stack([a, a[0]]),
        lambda xp: xp.concatenate([a, b], 2),
        lambda xp: xp.concatenate([a, b], dtype=int),
        lambda xp: xp.concatenate([a], out=xp.zeros((3, 3))),
    ):
        raises_the_same(function)


def test_splitting():
    a = sample((6, 4, 4))
    both(lambda xp: xp.split(a, 3))
    both(lambda xp: xp.split(a, [1, 4]))
    both(lambda xp: xp.array_split(a, 4))
    both(lambda xp: xp.array_split(a, [2, 9], 1))
    both(lambda xp: [*xp.hsplit(a, 2), *xp.vsplit(a, 2), *xp.dsplit(a, [1])])
    both(lambda xp: xp.unstack(a, axis=1))
    raises_the_same(lambda xp: xp.split(a, 4))


def test_repeating():
    a = sample((2, 3))
    for reps in (2, (2, 1), (3, 2, 2), (0, 1), ()):
        both(lambda xp, reps=reps: xp.tile(a, reps))
    both(lambda xp: xp.repeat(a, 3))
    both(lambda xp: xp.repeat(a, 2, 0))
    both(lambda xp: xp.repeat(a, [1, 0, 2], 1))
    both(lambda xp: xp.repeat(4, 3))
    both(lambda xp: xp.resize(a, (4, 5)))
    raises_the_same(lambda xp: xp.repeat(a, -1))


MODES = ["constant", "edge", "wrap", "reflect", "symmetric", "linear_ramp", "maximum", "minimum", "mean", "median"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", [1, (1, 2), ((1, 0), (0, 2)), ((0, 0), (2, 1)), 4, ((9, 2), (0, 11))], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_pad(mode, width, dtype):
    both(lambda xp: xp.pad(xp.asarray(sample((3, 4), dtype)), width, mode))


@pytest.mark.parametrize("width", [1, 5, (2, 9)])
def test_pad_options(width):
    a = sample((4, 3))
    for mode in ("reflect", "symmetric"):
        both(lambda xp, mode=mode: xp.pad(xp.asarray(a), width, mode, reflect_type="odd"))
        both(lambda xp, mode=mode: xp.pad(xp.asarray(a)[:1], width, mode))
    both(lambda xp: xp.pad(xp.asarray(a), width, "linear_ramp", end_values=(5, -4)))
    for mode in ("maximum", "minimum", "mean"):
        both(lambda xp, mode=mode: xp.pad(xp.asarray(a), width, mode, stat_length=2))


def test_pad_values():
    both(lambda xp: xp.pad(sample((3, 4)), 2, constant_values=7))
    both(lambda xp: xp.pad(sample((3, 4)), ((1, 2), (3, 0)), constant_values=((1, 2), (3, 4))))
    both(lambda xp: xp.pad(xp.zeros((0, 2)), 1))
    raises_the_same(lambda xp: xp.pad(sample((3, 4)), -1))
    raises_the_same(lambda xp: xp.pad(sample((3, 4)), 1.5))


def test_windows():
    both(lambda xp: xp.lib.stride_tricks.sliding_window_view(xp.asarray(sample((5, 4))), (2, 3)))
    both(lambda xp: xp.lib.stride_tricks.sliding_window_view(xp.arange(6), 3).sum(axis=1))


def test_set_shape_and_resize():
    def run(xp):
        a = xp.asarray(sample((2, 6)))
        a.shape = (3, 4)
        return a

    both(run)
    same(tilewise.asarray(CUBE).swapaxes(0, 2), CUBE.swapaxes(0, 2))
