"""Functions of selection: results, types and errors as NumPy's, natively."""

import numpy
import pytest
import tilewise
from compare import same
from tilewise import _settings

A = numpy.random.default_rng(0).integers(-3, 4, (5, 6)).astype("f8")
AT = numpy.random.default_rng(1).integers(0, 5, (3, 2))


@pytest.fixture(autouse=True)
def no_fallback(monkeypatch):
    monkeypatch.setattr(_settings, "fallback", "error")


def outcome(function, xp):
    try:
        result = function(xp)
    except Exception as error:
        return type(error).__name__, str(error)
    return result if isinstance(result, tuple) else (result,)


READS = [
    lambda xp, a: xp.nonzero(a),
    lambda xp, a: a.nonzero(),
    lambda xp, a: xp.nonzero(a[::-1, ::2].T),
    lambda xp, a: xp.nonzero(a.astype(complex)),
    lambda xp, a: xp.nonzero(xp.asarray(3.0)),
    lambda xp, a: xp.nonzero(a[:0]),
    lambda xp, a: xp.flatnonzero(a),
    lambda xp, a: xp.argwhere(a),
    lambda xp, a: xp.argwhere(xp.asarray(3.0)),
    lambda xp, a: xp.argwhere(xp.asarray(0)),
    lambda xp, a: xp.where(a > 0),
    lambda xp, a: xp.take(a, AT),
    lambda xp, a: xp.take(a, xp.asarray(AT), 0),
    lambda xp, a: xp.take(a, AT, axis=1),
    lambda xp, a: xp.take(a, 3),
    lambda xp, a: xp.take(a, 3, axis=-1),
    lambda xp, a: xp.take(a, [100]),
    lambda xp, a: xp.take(a, [6], axis=1),
    lambda xp, a: xp.take(a, [100, -100], mode="wrap"),
    lambda xp, a: xp.take(a, [100, -100], mode="clip"),
    lambda xp, a: xp.take(a, [1], mode="x"),
    lambda xp, a: xp.take(a, [1.5]),
    lambda xp, a: xp.take(a, xp.asarray([1.5])),
    lambda xp, a: xp.take(a, []),
    lambda xp, a: xp.take(a, [True]),
    lambda xp, a: xp.take(a, [0], axis=5),
    lambda xp, a: a.take([[1, 2]], 1),
    lambda xp, a: xp.take(xp.zeros((0, 3)), [0], 0),
    lambda xp, a: xp.compress([True, False, True], a, axis=0),
    lambda xp, a: xp.compress([0, 1, 1, 1, 0, 0, 0, 0, 1], a),
    lambda xp, a: a.compress([True], 1),
    lambda xp, a: xp.compress([[1]], a),
    lambda xp, a: xp.compress([1] * 9, a, 0),
    lambda xp, a: xp.extract(a > 0, a),
    lambda xp, a: xp.take_along_axis(a, xp.asarray(numpy.argsort(A, 1)), 1),
    lambda xp, a: xp.take_along_axis(a, xp.asarray([[1]]), 0),
    lambda xp, a: xp.take_along_axis(a, xp.asarray([1, 4]), None),
    lambda xp, a: xp.take_along_axis(a, xp.asarray([1, 4]), 0),
    lambda xp, a: xp.take_along_axis(a, xp.asarray([[9]]), 0),
    lambda xp, a: xp.take_along_axis(a, xp.asarray([[1.0]]), 0),
]
WRITES = [
    lambda xp, b: xp.put(b, [0, 3, -1], [9, 8]),
    lambda xp, b: b.put([1, 1], 5),
    lambda xp, b: xp.put(b, [100], 1),
    lambda xp, b: xp.put(b, [100, -200], 1, mode="clip"),
    lambda xp, b: xp.put(b.T, [1, 2], [7, 6]),
    lambda xp, b: xp.put(b, [], []),
    lambda xp, b: xp.put(xp.zeros(0), [0], [1]),
    lambda xp, b: xp.place(b, b > 0, [1.0, 2.0, 3.0]),
    lambda xp, b: xp.place(b, b > 0, []),
    lambda xp, b: xp.place(b, [1], [2]),
    lambda xp, b: xp.put_along_axis(b, xp.asarray([[1]] * 5), 99, 1),
    lambda xp, b: xp.put_along_axis(b, xp.asarray([1, 3]), [5.0, 6.0], None),
    lambda xp, b: xp.put_along_axis(b, xp.asarray([[9]] * 5), 99, 1),
]


@pytest.mark.parametrize("number", range(len(READS)))
def test_reads(number, same_bits):
    want, got = (outcome(lambda xp: READS[number](xp, xp.asarray(A)), xp) for xp in (numpy, tilewise))
    if isinstance(want[0], str):
        assert got == want
        return
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        same(g, w)
        same_bits(g)


@pytest.mark.parametrize("number", range(len(WRITES)))
def test_writes(number, same_bits):
    found = []
    for xp in (numpy, tilewise):
        b = xp.asarray(A.copy())
        result = outcome(lambda xp, b=b: WRITES[number](xp, b), xp)
        found.append((result, b))
    (want, a), (got, b) = found
    assert got == want
    same(b, a)
    same_bits(b)


@pytest.mark.parametrize("n", [4095, 4096, 4097, 100_003])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_around_block_borders(n, dtype, same_bits):
    rng = numpy.random.default_rng(n)
    values = rng.integers(0, 100, n).astype(dtype)
    for share in (0.0, 0.01, 0.5, 1.0):
        mask = rng.random(n) < share
        a, m = tilewise.asarray(values), tilewise.asarray(mask)
        same(a[m], values[mask])
        same(tilewise.flatnonzero(m), numpy.flatnonzero(mask))
        b, want = a.copy(), values.copy()
        b[m] = a[m][::-1]
        want[mask] = values[mask][::-1]
        same(b, want)
        same_bits(b, a[m])


def test_a_lopsided_selection_is_spread():
    """All chosen lie at the end: what follows works on all devices all the same."""
    a = tilewise.arange(200_000.0)
    part = a[a >= 150_000]
    assert float((part * 2).sum()) == float((numpy.arange(150_000.0, 200_000.0) * 2).sum())
