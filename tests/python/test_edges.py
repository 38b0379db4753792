"""Rare arguments whose results or errors are easily another library's: each case is run on NumPy too."""

import warnings

import numpy
import pytest
import tilewise
from compare import both, raises_the_same, same

MATRIX = [[0, 0, 0], [0, 1, 0], [2, 0, -3], [2, 0, -3]]
VIEWS = {
    "as it is": lambda a: a,
    "transposed": lambda a: a.T,
    "columns reversed": lambda a: a[..., ::-1],
    "rows reversed": lambda a: a[::-1],
    "both reversed": lambda a: a[::-1, ::-1],
    "steps": lambda a: a[::2, 1:],
    "three axes": lambda a: a.reshape(2, 2, 3).transpose(1, 2, 0)[:, ::-1],
    "one column": lambda a: a[:, 1],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_in_views(name, view):
    for keepdims in (False, True):
        for axis in (None, 0, -1):
            both(lambda xp, k=keepdims, x=axis: getattr(xp, name)(VIEWS[view](xp.asarray(MATRIX)), axis=x, keepdims=k))

    def into(xp):
        a = VIEWS[view](xp.asarray(MATRIX))
        out = xp.zeros((1,) * a.ndim, int)
        getattr(xp, name)(a, out=out, keepdims=True)
        return out

    both(into)


@pytest.mark.parametrize(
    "make", [lambda xp: xp.ones(()), lambda xp: xp.asarray("text"), lambda xp: xp.ones((2, 2))[0, 0, ...]]
)
def test_no_iteration_without_axes(make):
    raises_the_same(lambda xp: list(make(xp)))
    raises_the_same(lambda xp: (lambda x, *rest: x)(*make(xp)))


RAISING = {
    "astype": lambda xp, a: a.astype("float32"),
    "astype of a scalar": lambda xp, a: a[0].astype("float32"),
    "store": lambda xp, a: xp.zeros(3, "float32").__setitem__(slice(None), a),
    "store at a mask": lambda xp, a: xp.zeros(3, "float32").__setitem__(xp.asarray([True, False, True]), a[0]),
    "copyto": lambda xp, a: xp.copyto(xp.zeros(3, "float32"), a, casting="same_kind"),
    "masked copyto": lambda xp, a: xp.copyto(xp.zeros(3, "float32"), a, where=xp.asarray([True, False, True])),
    "sum": lambda xp, a: xp.sum(a * 1e8),
    "in place": lambda xp, a: a.__imul__(a),
}


@pytest.mark.parametrize("name", RAISING)
def test_raised_where_the_call_is(name):
    """With errstate(all="raise") the call itself raises, not a later one."""
    for xp in (numpy, tilewise):
        with numpy.errstate(all="raise"):
            a = xp.asarray([1e300, 2e300, 3e300])
            with pytest.raises(FloatingPointError):
                RAISING[name](xp, a)


def test_ranges_too_long():
    for arguments in ((2**70,), (-(2**70),), (2**64,), (2**62,), (1e30,), (0, 2**62, 1)):
        raises_the_same(lambda xp, arguments=arguments: xp.arange(*arguments))
    raises_the_same(lambda xp: xp.arange(2**70, dtype=float))
    both(lambda xp: xp.arange(2**62 - 3, 2**62))
    both(lambda xp: xp.arange(-(2**62) - 3, -(2**62)))
    both(lambda xp: xp.arange(5, -(2**61)))


@pytest.mark.parametrize("exponent", [2, 2.0, 1, 0.5, 3, True, numpy.int64(2)])
def test_powers_of_bools(exponent):
    both(lambda xp: xp.asarray([True, False, True]) ** exponent)


@pytest.mark.parametrize("shape", [(0,), (0, 0), (0, 3), (3, 0), (0, 0, 3), (2, 0, 0)])
@pytest.mark.parametrize("name", ["max", "min", "ptp", "sum", "all", "argmax"])
def test_reductions_of_nothing(name, shape):
    def run(xp, axis):
        try:
            return getattr(xp, name)(xp.ones(shape), axis=axis)
        except ValueError as error:
            return str(error)

    for axis in [None, *range(len(shape)), -1]:
        same(run(tilewise, axis), run(numpy, axis))


@pytest.mark.parametrize(
    "bounds",
    [
        (1.5, numpy.float16(2)),
        (1, numpy.int64(2)),
        (numpy.float32(0), 1.5),
        ([1.5] * 3, numpy.float16(2)),
        (2, [0, 1, 9]),
    ],
)
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
def test_types_of_clip(dtype, bounds):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both(lambda xp: xp.clip(xp.asarray([-1, 0, 4], dtype), *bounds))


def test_more_than_64_axes():
    for index in (None, (None, ...), (..., None)):
        raises_the_same(lambda xp, index=index: xp.ones((1,) * 64)[index])
    raises_the_same(lambda xp: xp.expand_dims(xp.ones((1,) * 64), 0))
    both(lambda xp: xp.ones((1,) * 63)[None])


PAIRS = {
    "text": lambda xp, f: f(xp.ones(2), "a"),
    "complex": lambda xp, f: f(xp.ones(2), 1j),
    "none": lambda xp, f: f(xp.ones(2), None),
    "shapes": lambda xp, f: f(xp.ones(2), xp.ones(3)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_names_of_functions_with_two_results(name):
    raises_the_same(lambda xp: PAIRS[name](xp, divmod))
    raises_the_same(lambda xp: PAIRS[name](xp, xp.divmod))


def test_two_results():
    for function in ("modf", "frexp"):
        raises_the_same(lambda xp, function=function: getattr(xp, function)(xp.ones(2, complex)))
    raises_the_same(lambda xp: xp.divmod(xp.ones(2), 1, dtype="c8"))
    for other in (2, 2.5, [1, 2, 3], numpy.int8(3), True):
        both(lambda xp, other=other: divmod(xp.asarray([7, -7, 5]), other))
        both(lambda xp, other=other: divmod(other, xp.asarray([7, -7, 5])))
    both(lambda xp: divmod(xp.asarray([7, -7])[0], xp.asarray([2, 3])[1]))


def test_products_of_what_has_no_axes():
    for left, right in ((0, 1), (1, 0), (0, 0)):
        raises_the_same(lambda xp, m=left, n=right: xp.ones((2,) * m) @ xp.ones((2,) * n))
    for make in (lambda s: s @ s, lambda s: s @ 2, lambda s: 2 @ s):
        for xp in (numpy, tilewise):
            with pytest.raises(TypeError, match="unsupported operand"):
                make(xp.ones(2)[0])


def test_scalars_made_by_their_type():
    s = tilewise.ones(2)[0]
    for value in (2.5, 7, True, 1j, numpy.float32(1.5), s):
        made = type(s)(value)
        assert isinstance(made, numpy.generic) and made == value
    with pytest.raises(TypeError):
        type(s)([1, 2])
    assert s.fill(3) is None and s == 1


def test_seeds():
    for seed in (lambda xp: xp.arange(9)[5], lambda xp: xp.arange(9), lambda xp: [xp.arange(9)[5], 3]):
        both(lambda xp, seed=seed: xp.random.default_rng(seed(xp)).random(3))
    both(lambda xp: xp.random.RandomState(xp.arange(9)[5]).rand(3))


def test_what_the_package_shows():
    assert [name for name in dir(tilewise) if name.startswith("_") and not name.startswith("__")] == []
    assert {"native", "array", "synchronize", "linalg"} <= set(dir(tilewise))
