"""What all Python tests share: standard arrays, and the comparison with NumPy."""

import warnings

import numpy
import tilewise

DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
NUMBERS = DTYPES[1:]
SHAPES = [(), (0,), (1,), (5,), (3, 4), (0, 3), (2, 3, 4)]


def sample(shape, dtype="float64", seed=0):
    """Values of both signs, none zero, small enough that no operation overflows by accident."""
    rng = numpy.random.default_rng(seed)
    dtype = numpy.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "u":
        return rng.integers(1, 9, shape).astype(dtype)
    values, others = (rng.integers(1, 9, shape) * rng.choice([-1, 1], shape) for _ in range(2))
    if dtype.kind == "i":
        return values.astype(dtype)
    values = values * 0.375
    return (values + 0.375j * others if dtype.kind == "c" else values).astype(dtype)


def layouts(dtype="float64"):
    """(name, function of a module that gives an array): contiguous, transposed, strided, reversed, broadcast, empty."""

    def made(base, view):
        return lambda xp: view(xp, xp.asarray(base))

    cube = sample((4, 6, 5), dtype)
    yield "scalar", made(sample((), dtype), lambda xp, a: a)
    yield "empty", made(sample((0,), dtype), lambda xp, a: a)
    yield "one", made(sample((1,), dtype), lambda xp, a: a)
    yield "line", made(sample((5,), dtype), lambda xp, a: a)
    yield "matrix", made(sample((3, 4), dtype), lambda xp, a: a)
    yield "empty rows", made(sample((0, 3), dtype), lambda xp, a: a)
    yield "cube", made(sample((2, 3, 4), dtype), lambda xp, a: a)
    yield "transposed", made(cube, lambda xp, a: a.transpose(2, 0, 1))
    yield "steps", made(cube, lambda xp, a: a[1:, ::2, 1:4])
    yield "reversed", made(cube, lambda xp, a: a[::-1, ::-2, 3])
    yield "stretched", made(sample((3, 1), dtype), lambda xp, a: xp.broadcast_to(a, (2, 3, 4)))


LAYOUTS = [name for name, _ in layouts()]


def layout(name, dtype="float64"):
    return dict(layouts(dtype))[name]


def host(x):
    if isinstance(x, (tilewise.ndarray, tilewise.scalar)):
        return numpy.asarray(x)
    return numpy.asarray(x)


def same(got, want, rtol=0.0, atol=0.0):
    """Asserts equal structure, shape, dtype and values: bit for bit (but for NaN's payload) without a tolerance."""
    if isinstance(want, (tuple, list)):
        assert type(got) is type(want) or isinstance(got, tuple), (type(got), type(want))
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w, rtol, atol)
        return
    if want is None or isinstance(want, (str, bytes)) or type(want) in (bool, int):
        assert got == want and type(got) is type(want), (got, want)
        return
    assert isinstance(got, (tilewise.ndarray, tilewise.scalar, numpy.generic, float, complex)), type(got)
    g, w = host(got), numpy.asarray(want)
    assert g.shape == w.shape, (g.shape, w.shape)
    assert g.dtype == w.dtype, (g.dtype, w.dtype)
    if isinstance(want, numpy.generic):
        assert not isinstance(got, tilewise.ndarray), "an array instead of a scalar"
    if rtol or atol:
        numpy.testing.assert_allclose(g, w, rtol, atol)
    else:
        numpy.testing.assert_array_equal(g, w)
        if w.dtype.kind in "fc":
            keep = ~numpy.isnan(w)
            numpy.testing.assert_array_equal(numpy.signbit(g.real[keep]), numpy.signbit(w.real[keep]))


def both(function, *args, **kwargs):
    """Runs function(xp, ...) on both modules and compares."""
    rtol = kwargs.pop("rtol", 0.0)
    want = function(numpy, *args, **kwargs)
    got = function(tilewise, *args, **kwargs)
    same(got, want, rtol)
    return got


def raises_the_same(function, *args):
    """Both modules raise the same class with the same text."""
    errors = []
    for xp in (numpy, tilewise):
        try:
            function(xp, *args)
        except Exception as error:
            errors.append(error)
        else:
            raise AssertionError(f"{xp.__name__} raised nothing")
    want, got = errors
    assert (
        isinstance(got, type(want).__mro__[0])
        or issubclass(type(want), type(got))
        or type(got).__name__ in type(want).__name__
    ), (type(got), type(want))
    return str(got), str(want)


def told(call):
    """The texts of the runtime warnings. The result is kept: what is dropped unread need not be computed at all."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        kept = call()
    del kept
    return sorted({str(w.message) for w in found if issubclass(w.category, RuntimeWarning)})
