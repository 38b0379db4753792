"""tilewise.random: NumPy's values, and NumPy's state after every call, in every configuration."""

import copy
import pickle

import numpy
import pytest
import tilewise
from compare import both, same
from tilewise import _settings

SIZES = [0, 1, 2, 3, 7, 100, (), (0, 3), (3, 5), (2, 3, 4), 4099, 70001, (2, 60001), (300, 7, 11)]
INTEGER_TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


@pytest.fixture
def native(monkeypatch):
    monkeypatch.setattr(_settings, "fallback", "error")


class Pair:
    """A generator of each module; every call is compared, and the states at times."""

    def __init__(self, seed=7, shared=False):
        self.ours, self.numpys = tilewise.random.default_rng(seed), numpy.random.default_rng(seed)
        if shared:
            assert self.ours.bit_generator.state == self.numpys.bit_generator.state  # and is kept current from now on

    def __call__(self, name, *args, **kwargs):
        want, got = getattr(self.numpys, name)(*args, **kwargs), getattr(self.ours, name)(*args, **kwargs)
        same(got, want)
        return got

    def check(self):
        assert self.ours._current().bit_generator.state == self.numpys.bit_generator.state


def ranges(dtype):
    """(low, high), high included: one value, powers of two, what is rejected often, the whole type."""
    info = numpy.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    for width in (0, 1, 2, 5, 99, 127, (high - low) // 2 + 1, (high - low) // 3 * 2, high - low - 1, high - low):
        yield low, low + width
        yield high - width, high
    for width in (0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0x100000000, 3 << 62):
        if width <= high - low:
            yield low, low + width


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("method", ["random", "standard_normal", "standard_exponential"])
def test_floats(native, method, dtype):
    for shared in (False, True):
        pair = Pair(11, shared)
        for size in SIZES:
            pair(method, size, dtype=dtype)
            if shared:
                pair.check()
        pair.check()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_exponential_by_inverse(native, dtype):
    pair = Pair()
    for size in SIZES:
        pair("standard_exponential", size, dtype=dtype, method="inv")
    pair.check()


def test_scaled(native):
    pair = Pair()
    for size in SIZES:
        pair("uniform", -2.5, 7, size)
        pair("normal", 3, 0.1, size)
        pair("normal", size=size)
        pair("normal", numpy.float32(-1), 0, size)
        pair("exponential", 2.5, size)
        pair("exponential", numpy.inf, size)
        pair("uniform", size=size)
    pair.check()


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_integers(native, dtype):
    pair = Pair(3)
    for low, high in ranges(dtype):
        for size in (0, 1, 2, 3, 5, 101, (3, 5)):
            pair("integers", low, high, size, dtype, True)
        pair.check()
        pair("integers", low, high, (2, 20011), dtype, endpoint=True)
        pair.check()


def test_booleans_and_defaults(native):
    pair = Pair()
    for size in SIZES:
        pair("integers", 2, size=size, dtype=bool)
        pair("integers", 10, size=size)
        pair("integers", 0, 1, size, bool, True)
        pair("integers", 1, 2, size=size, dtype=bool)
        pair("integers", numpy.int8(-3), 7, size=size, dtype=int)
        pair("choice", 1000, size)
    pair.check()


def test_all_lengths(native):
    """Every method begins where the one before ended, with and without half a word left."""
    pair = Pair(5)
    for n in range(40):
        pair("random", n, dtype="float32")
        pair("integers", 0, 3, n, "u1")
        pair("standard_normal", n)
        pair("integers", 0, 1000, n, "i2")
        pair("standard_normal", n, dtype="float32")
        pair("integers", -5, 5, n)
        pair("standard_exponential", n, dtype="float32")
        pair("random", n)
        pair("integers", 0, 1 << 40, n)
        pair("integers", 0, 2, n, bool)
        if n % 7 == 0:
            pair.check()
    pair.check()


@pytest.mark.parametrize("method", ["random", "standard_normal", "standard_exponential"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_out(native, method, dtype):
    pair = Pair(2)
    for shape in [(), (0,), (5,), (3, 4), (70000,), (3, 4, 5001)]:
        for order in "CF":
            mine, numpys = tilewise.zeros(shape, dtype, order), numpy.zeros(shape, dtype, order)
            assert getattr(pair.ours, method)(dtype=dtype, out=mine) is mine
            assert getattr(pair.numpys, method)(dtype=dtype, out=numpys) is numpys
            same(mine, numpys)
    whole, other = tilewise.ones((6, 5), dtype), numpy.ones((6, 5), dtype)
    getattr(pair.ours, method)(out=whole[2:4], size=(2, 5), dtype=dtype)
    getattr(pair.numpys, method)(out=other[2:4], size=(2, 5), dtype=dtype)
    same(whole, other)
    pair.check()


def test_single_numbers(native):
    pair = Pair()
    for _ in range(3):
        pair("random")
        pair("random", dtype="f4")
        pair("uniform", 1, 2)
        pair("integers", 5)
        pair("integers", 5, dtype="u1")
        pair("integers", 5, 9, dtype=int, endpoint=True)
        pair("standard_normal")
        pair("normal", 2.0, 3.0)
        pair("standard_exponential", method="inv")
        pair("exponential", 2.0)
        pair("choice", 9)
        pair("random", 3)
    pair.check()


def test_rejection_over_tiles(native):
    """Long enough for several counted blocks, twice in a row without a look at the state between."""
    pair = Pair(23)
    pair("random", 1, dtype="float32")
    for size in (300_000, (2, 90_001), (90_001, 3)):
        pair("standard_normal", size)
        pair("standard_exponential", size)
        pair("standard_normal", size, dtype="float32")
        pair("integers", 0, 200, size, "u1")
        pair("integers", 0, 3 << 30, size, "u4")
        pair("integers", 0, 3 << 62, size, "u8")
    pair.check()


def test_mixed_with_fallbacks():
    pair = Pair(9)
    beta = pair.ours.beta
    for size in (5, 5000):
        pair("standard_normal", size)
        same(beta(2.0, 3.0, size), pair.numpys.beta(2.0, 3.0, size))
        pair("integers", 0, 100, size, "u1")
        pair("permutation", size)
        pair("poisson", 3.0, size)
        pair("random", size, dtype="f4")
        pair("choice", size, 4, replace=False)
        pair("choice", numpy.arange(7.0), size)
        pair("normal", numpy.arange(3.0), 1.0, (size, 3))
        pair("integers", [1, 2], [5, 9], (size, 2))
        pair("uniform", 0, [1.0, 2.0])
        pair("integers", 1.0, 9.0, size)
        a, b = tilewise.arange(size), numpy.arange(size)
        pair.ours.shuffle(a)
        pair.numpys.shuffle(b)
        same(a, b)
    pair.check()


@pytest.mark.filterwarnings("ignore::tilewise.FallbackWarning")
def test_orders():
    """Permutations, shuffles and choices of arrays: by position, along any axis, in place."""
    ours, numpys = tilewise.random.default_rng(12), numpy.random.default_rng(12)
    for shape, axes in (((0,), (0,)), ((1,), (0,)), ((9,), (0, -1)), ((5, 3), (0, 1, -1)), ((1000, 2, 3), (0, 2))):
        for axis in axes:
            want = numpy.arange(float(numpy.prod(shape))).reshape(shape)
            got = tilewise.asarray(want)
            same(ours.permutation(got, axis), numpys.permutation(want, axis))
            if want.size:
                same(ours.choice(got, 4, axis=axis), numpys.choice(want, 4, axis=axis))
                same(ours.choice(got, (2, 3), axis=axis), numpys.choice(want, (2, 3), axis=axis))
            want = want.copy()
            assert ours.shuffle(got, axis) is None
            numpys.shuffle(want, axis)
            same(got, want)
            same(ours.permuted(got, axis=axis), numpys.permuted(want, axis=axis))
    for n in (0, 1, 17, 5000):
        same(ours.permutation(n), numpys.permutation(n))
    want = numpy.arange(12)
    got = tilewise.asarray(want)
    ours.shuffle(got[2:9:2])
    numpys.shuffle(want[2:9:2])
    same(got, want)
    words, others = ["a", "b", "c"], ["a", "b", "c"]
    ours, numpys = tilewise.random.default_rng(1), numpy.random.default_rng(1)
    ours.shuffle(words)
    numpys.shuffle(others)
    assert words == others
    assert ours.choice(["x", "y"]) == numpys.choice(["x", "y"])


def test_who_holds_the_state():
    bits = numpy.random.PCG64(4)
    ours, numpys = tilewise.random.Generator(bits), numpy.random.default_rng(4)
    same(ours.standard_normal(1000), numpys.standard_normal(1000))
    assert bits.state == numpys.bit_generator.state
    assert bits.random_raw() == numpys.bit_generator.random_raw()
    same(ours.random(3), numpys.random(3))
    ours.bit_generator.state = numpy.random.PCG64(8).state
    same(ours.integers(0, 9, 100), numpy.random.default_rng(8).integers(0, 9, 100))
    assert tilewise.random.default_rng(ours) is ours
    assert isinstance(ours, tilewise.random.Generator)


def test_copies_and_children():
    pair = Pair(6)
    pair("standard_normal", 1001)
    for twin in (copy.deepcopy(pair.ours), pickle.loads(pickle.dumps(pair.ours))):
        same(twin.random(9), copy.deepcopy(pair.numpys).random(9))
    twin, other = copy.copy(pair.ours), copy.copy(pair.numpys)
    for _ in range(2):
        same(twin.standard_normal(9), other.standard_normal(9))
        pair("standard_normal", 9)
    for child, other in zip(pair.ours.spawn(2), pair.numpys.spawn(2), strict=True):
        same(child.standard_exponential(100), other.standard_exponential(100))
    assert str(pair.ours) == str(pair.numpys)


def test_other_bit_generators():
    for kind in (numpy.random.MT19937, numpy.random.PCG64DXSM, numpy.random.Philox):
        ours, numpys = tilewise.random.Generator(kind(1)), numpy.random.Generator(kind(1))
        for name, args in (("random", (5,)), ("normal", (1, 2, 5)), ("integers", (0, 9, 5)), ("choice", (9, 3))):
            same(getattr(ours, name)(*args), getattr(numpys, name)(*args))


@pytest.mark.parametrize(
    "call",
    [
        lambda rng, xp: rng.random(-1),
        lambda rng, xp: rng.random(3, dtype="i8"),
        lambda rng, xp: rng.random(2.5),
        lambda rng, xp: rng.random(3, out=xp.zeros(4)),
        lambda rng, xp: rng.random(out=xp.zeros(4, "f4")),
        lambda rng, xp: rng.random(out=xp.zeros(8)[::2]),
        lambda rng, xp: rng.uniform(1, 0, 3),
        lambda rng, xp: rng.uniform(0, xp.inf, 3),
        lambda rng, xp: rng.normal(0, -1, 3),
        lambda rng, xp: rng.exponential(-0.0, 3),
        lambda rng, xp: rng.integers(5, 5, 3),
        lambda rng, xp: rng.integers(0, 300, 3, "u1"),
        lambda rng, xp: rng.integers(-1, 3, 3, "u8"),
        lambda rng, xp: rng.integers(0, 3, 3, "f8"),
        lambda rng, xp: rng.integers(0, 3, -1),
        lambda rng, xp: rng.integers(0, 3, -1, "u1"),
        lambda rng, xp: rng.standard_normal((2, -3)),
        lambda rng, xp: rng.choice(0, 3),
        lambda rng, xp: rng.nothing(),
    ],
)
def test_errors(call):
    errors = []
    for xp in (numpy, tilewise):
        rng = xp.random.default_rng(1)
        before = rng.bit_generator.state
        try:
            call(rng, xp)
        except Exception as error:
            errors.append(type(error))
        else:
            errors.append(None)
        assert rng.bit_generator.state == before
    assert errors[0] is errors[1] or issubclass(errors[1], errors[0]), errors


def test_results_enter_work(native):
    """Draws that nobody has waited for are operands like others."""
    both(lambda xp: (g := xp.random.default_rng(3)).random((400, 300)) + g.standard_normal((400, 300)) * 2, rtol=1e-15)
