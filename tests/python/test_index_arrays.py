"""Index arrays and masks: random keys against NumPy, natively, with the same bits in every configuration."""

import numpy
import pytest
import tilewise
from compare import same, sample
from tilewise import _settings


@pytest.fixture(autouse=True)
def no_fallback(monkeypatch):
    monkeypatch.setattr(_settings, "fallback", "error")


def views(xp, a, kind):
    a = xp.asarray(a)
    if kind == "steps":
        return a[::-1, ..., ::2] if a.ndim > 1 else a[::-2]
    return {"plain": a, "turned": a.T, "part": a[1:]}[kind]


def random_key(rng, shape):
    """Any mix of integers, slices, None, Ellipsis, index arrays and masks that fits the shape."""
    key, axis, arrays = [], 0, 0
    lists = [tuple(rng.integers(1, 4, rng.integers(0, 3))) for _ in range(1)][0]
    while axis < len(shape):
        n = shape[axis]
        kind = rng.integers(0, 9)
        if kind == 0:
            key.append(None)
        elif kind == 1 and n:
            key.append(int(rng.integers(-n, n)))
            axis += 1
        elif kind in (2, 3):
            start, stop = rng.integers(-n - 1, n + 2, 2)
            key.append(slice(int(start), int(stop), int(rng.choice([-2, -1, 1, 2]))))
            axis += 1
        elif kind == 4 and Ellipsis not in [k for k in key if not isinstance(k, numpy.ndarray)] and arrays:
            key.append(Ellipsis)
            break
        elif kind == 5 and not arrays:
            m = int(rng.integers(1, len(shape) - axis + 1))
            key.append(rng.random(shape[axis : axis + m]) < 0.4)
            arrays, axis = 2, axis + m
        elif n and arrays < 2:
            some = tuple(x if rng.random() < 0.8 else 1 for x in lists[int(rng.integers(0, len(lists) + 1)) :])
            key.append(rng.integers(-n, n, some).astype(rng.choice(["int64", "int8", "int32"])))
            axis += 1
        else:
            break
    return tuple(key) if len(key) != 1 or rng.random() < 0.5 else key[0]


def converted(xp, key, ours):
    """Some index arrays as arrays of the module, some as NumPy's."""
    items = key if isinstance(key, tuple) else (key,)
    found = tuple(
        xp.asarray(k) if isinstance(k, numpy.ndarray) and k.ndim and use else k
        for k, use in zip(items, ours, strict=False)
    )
    return found if isinstance(key, tuple) else found[0]


SHAPES = [(7,), (40,), (5, 6), (3, 4, 5), (2, 3, 4, 3), (0, 3), (9, 1)]


@pytest.mark.parametrize("seed", range(60))
def test_random_keys(seed, same_bits):
    rng = numpy.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    dtype = rng.choice(["float64", "float32", "int16", "bool", "complex128", "uint8"])
    kind = rng.choice(["plain", "turned", "steps", "part"])
    base = sample(shape, dtype, seed)
    for _ in range(8):
        key = random_key(rng, views(numpy, base, kind).shape)
        ours = rng.random(16) < 0.5
        try:
            want = views(numpy, base, kind)[key]
        except IndexError as error:
            with pytest.raises(IndexError) as raised:
                views(tilewise, base, kind)[converted(tilewise, key, ours)]
            assert str(raised.value).strip() == str(error).strip()
            continue
        got = views(tilewise, base, kind)[converted(tilewise, key, ours)]
        same(got, want)
        same_bits(got)
        one = numpy.array(3).astype(dtype)
        for value in (sample(want.shape, dtype, seed + 1), sample(want.shape[-1:], dtype, 3), one):
            if value.size != 1 and value.size == 0 and want.size:
                continue
            results = []
            for xp in (numpy, tilewise):
                a = xp.asarray(base.copy())
                view = views(xp, a, kind)
                k = converted(xp, key, ours) if xp is tilewise else key
                view[k] = xp.asarray(value)
                if dtype != "bool":
                    view[k] += xp.asarray(value)
                results.append(a)
            same(results[1], results[0])
            same_bits(results[1])


@pytest.mark.parametrize("seed", range(30))
def test_ufunc_at(seed, same_bits):
    rng = numpy.random.default_rng(seed)
    shape = SHAPES[seed % 4]
    dtype = rng.choice(["float64", "float32", "int64", "int16"])
    kind = rng.choice(["plain", "turned", "steps", "part"])
    base = sample(shape, dtype, seed)
    for function in ("add", "multiply", "maximum", "subtract", "negative"):
        key = random_key(rng, views(numpy, base, kind).shape)
        try:
            part = views(numpy, base, kind)[key]
        except IndexError:
            continue
        value = sample(numpy.shape(part), dtype, seed + 1)
        results = []
        for xp in (numpy, tilewise):
            a = xp.asarray(base.copy())
            getattr(xp, function).at(views(xp, a, kind), key, *([] if function == "negative" else [xp.asarray(value)]))
            results.append(a)
        same(results[1], results[0])
        same_bits(results[1])


@pytest.mark.parametrize("n", [100_000, 300_000])
@pytest.mark.parametrize("rest", [(), (3,)])
def test_long_lists(n, rest, same_bits):
    """Lists long enough to be exchanged: reads, writes with repeated positions, sums."""
    rng = numpy.random.default_rng(n)
    base, rows, values = sample((n // 2, *rest)), rng.integers(-n // 2, n // 2, n), sample((n, *rest), seed=5)
    results = []
    for xp in (numpy, tilewise):
        a, at = xp.asarray(base.copy()), xp.asarray(rows)
        read = a[at]
        mask = a > 0.4
        chosen = a[mask]
        a[at[:70_000]] = xp.asarray(values[:70_000])
        xp.add.at(a, at, xp.asarray(values))
        b = a.copy()
        b[mask] = chosen * 2
        results.append((read, chosen, a, b))
    for want, got in zip(*results, strict=True):
        same(got, want)
        same_bits(got)


@pytest.mark.parametrize(
    "key", [[7], ([0, 1], [0, -6]), (slice(None), [0, 5]), numpy.ones(3, bool), (0, numpy.ones((5, 6), bool))]
)
def test_wrong_indices_change_nothing(key):
    a, b = sample((4, 5)), tilewise.asarray(sample((4, 5)))
    for use in (key, converted(tilewise, key, [True] * 4)):
        with pytest.raises(IndexError) as want:
            a[key] = 1
        with pytest.raises(IndexError) as got:
            b[use] = tilewise.asarray(1.0)
        assert str(got.value).strip() == str(want.value).strip()
    same(b, a)


def test_values_of_another_length():
    a, mask = tilewise.arange(6.0), tilewise.arange(6) > 2
    for key, value in ((mask, [1.0, 2.0]), ([0, 1], [1.0, 2.0, 3.0]), ([[0], [1]], [[1.0, 2.0]] * 3)):
        b = numpy.arange(6.0)
        with pytest.raises(ValueError) as want:
            b[numpy.asarray(key)] = value
        with pytest.raises(ValueError) as got:
            a[key] = tilewise.asarray(value)
        assert str(got.value).strip() == str(want.value).strip()
    same(a, numpy.arange(6.0))
