"""Statements on parts of an array, in one pass with what reads the whole: NumPy's values in every configuration.

Values are whole numbers, so that sums have one right answer whatever their order.
"""

import warnings

import numpy
import pytest
import tilewise
from compare import both

SHAPES = [(7,), (1003,), (9, 301), (40, 300), (1, 500), (6, 7, 260), (300, 4), (2, 9000)]
DTYPES = ["float64", "float32", "int64", "int16", "complex128"]


def whole(xp, shape, dtype, seed=1):
    return xp.asarray(numpy.random.default_rng(seed).integers(-9, 9, shape).astype(dtype))


def sides(rank, by=1, step=1):
    for axis in range(rank):
        lead = (slice(None),) * axis
        yield (*lead, slice(by, None, step)), (*lead, slice(None, -by, step))
        yield (*lead, slice(None, -by, step)), (*lead, slice(by, None, step))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_laplacian_and_its_reductions(shape, dtype):
    def run(xp):
        v = whole(xp, shape, dtype)
        r = 4 * v
        for to, source in sides(len(shape)):
            r[to] -= v[source]
        out = [(v * r).sum(), r, r.sum(axis=0), r.sum(axis=-1)]
        return (*out, r.argmax(axis=0), abs(r).max()) if numpy.dtype(dtype).kind != "c" else out

    both(run)


@pytest.mark.parametrize("by", [1, 2, 5])
@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("shape", [(1003,), (9, 301), (6, 7, 260)])
def test_other_offsets_and_steps(shape, by, step):
    def run(xp):
        v, w = whole(xp, shape, "float64"), whole(xp, shape, "float64", 2)
        r = v + w
        for to, source in sides(len(shape), by, step):
            if step > 0:
                r[to] += v[source] * 2
        if step < 0:
            r[by:] -= v[::-1][by:]
        return r.sum(), r, (r * w).sum(axis=-1)

    both(run)


def test_parts_that_are_empty_or_all():
    def run(xp):
        v = whole(xp, (30, 400), "float64")
        r = v * 2
        r[5:5] -= v[7:7]
        r[:, 3:400] += v[:, :397]
        r[0:30, 0:400] += v
        r[29:] = 0
        r[:, 399:] = 1
        return r.sum(), r

    both(run)


def test_the_innermost_axis_only():
    def run(xp):
        v = whole(xp, (20, 513), "float32")
        r = v * 2
        r[:, 1:] -= v[:, :-1]
        r[:, :-1] -= v[:, 1:]
        r[:, 8:16] = 5
        return r.sum(axis=1), (r * v).sum(), r.max(axis=0)

    both(run)


@pytest.mark.parametrize("shape", [(50, 300), (15000,)])
def test_forty_parts(shape):
    def run(xp):
        v = whole(xp, shape, "int64")
        r = v * 2
        for k in range(1, 41):
            r[k:] -= v[:-k]
        return r.sum(), r

    both(run)


def test_parts_within_parts():
    def run(xp):
        v = whole(xp, (40, 300), "float64")
        r = v * 1
        for k in range(1, 15):
            r[k:-k, k:-k] += v[: -2 * k, 2 * k :]
        return r.sum(), r

    both(run)


def test_transposed():
    def run(xp):
        v = whole(xp, (300, 40), "float64").T
        r = v * 4
        for to, source in sides(2):
            r[to] -= v[source]
        return (r * v).sum(), r.sum(axis=0), r

    both(run)


def test_in_place_updates_of_parts_and_their_sum():
    def run(xp):
        x, y = whole(xp, (37, 333), "float64"), whole(xp, (37, 333), "float64", 2)
        x *= 2
        x[1:] += y[:-1]
        x[:, 1:] *= y[:, 1:]
        total = x.sum()
        x[2:] -= total
        return total, x, x.sum(axis=0)

    both(run)


def test_borders_of_a_new_array():
    def run(xp):
        g = xp.zeros((70, 310))
        g[0], g[-1], g[:, 0], g[:, -1] = 1, 2, 3, 4
        return g.sum(), g

    both(run)


@pytest.mark.parametrize("start", [0, 1])
def test_warnings_come_from_the_part_alone(start):
    x = numpy.ones((30, 400))
    x[0, 0] = 0

    def run(xp):
        v = xp.asarray(x)
        r = v * 0 + 0
        r[start:, start:] /= v[start:, start:]
        return r, numpy.asarray(r[1:].sum())

    def told(xp):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            kept = run(xp)
            if xp is tilewise:
                tilewise.synchronize()
        del kept
        return sorted({str(w.message) for w in found if issubclass(w.category, RuntimeWarning)})

    assert told(tilewise) == told(numpy)
    assert len(told(numpy)) == (start == 0)
