"""Prints, for each of a set of programs, a hash of the bits of all that it gives: one line `name hash`.

Run in one configuration after the other, it shows whether results depend on the number of devices or ranks.

usage: python -m tilewise bits_programs.py [TEXT]     programs whose name contains TEXT
"""

import hashlib
import sys
from pathlib import Path

import numpy

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "scaling")]
import programs  # noqa: E402

FLOATS = ("float16", "float32", "float64", "complex64", "complex128")
# Within its error bound in every configuration, but not the same bits.
NOT_THE_SAME = {"fft2"}


def values(shape, dtype):
    """Values of many sizes, so that every order of a sum has bits of its own."""
    rng = numpy.random.default_rng(7)
    made = rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 7, shape)
    if numpy.dtype(dtype).kind == "c":
        made = made + 1j * rng.standard_normal(shape)
    return made.astype(dtype)


def sums(xp, dtype):
    for shape in ((1,), (127,), (5000,), (70001,), (300, 170), (33, 4, 129), (5, 9000), (9000, 5), (64, 64, 3)):
        x = xp.asarray(values(shape, dtype))
        for axis in (None, 0, -1, tuple(range(len(shape) - 1)), tuple(range(0, len(shape), 2))):
            yield x.sum(axis=axis)
        yield x.T.sum(axis=0)
        yield x[::-1].sum(axis=-1)
        yield x[1::2].sum()
        yield (x * 2 + 1).sum(axis=0)


def moments(xp, dtype):
    for shape in ((5000,), (70001,), (300, 170), (33, 4, 129)):
        x = xp.asarray(values(shape, dtype))
        for axis in (None, 0, -1):
            yield x.mean(axis=axis)
            yield x.var(axis=axis)
            yield x.std(axis=axis, ddof=1)


def softmax(xp, dtype):
    for shape in ((40, 33), (7, 5000)):
        x = xp.asarray(values(shape, dtype))
        e = xp.exp(x - x.max(axis=-1, keepdims=True))
        yield e / e.sum(axis=-1, keepdims=True)
        e = xp.exp(x - x.max(axis=0))
        yield e / e.sum(axis=0)


def stencil(xp, dtype):
    u = xp.asarray(values((90, 101), dtype))
    for _ in range(5):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u[0] = u[-2]
    yield u
    yield abs(u).sum()
    line = xp.asarray(values((5003,), dtype))
    line[1:] += line[:-1] * 0.5
    yield line


def laplacians(xp, dtype):
    """Statements on parts of what is then reduced: one pass over rows that are cut where the parts begin and end."""
    for shape in ((90, 301), (9003,), (5, 33, 260), (300, 5)):
        v = xp.asarray(values(shape, dtype))
        r = 4 * v
        for axis in range(len(shape)):
            lead = (slice(None),) * axis
            for by in (1, 3):
                low, high = (*lead, slice(None, -by)), (*lead, slice(by, None))
                r[high] -= v[low]
                r[low] -= v[high]
        yield (v * r).sum()
        yield r
        r = v * 2
        r[..., 1:-1] += v[..., 2:]
        yield (r * v).sum(axis=0)
        yield r.sum(axis=-1)
        r = v * 3
        r[2:] -= v[:1]
        yield r.mean()
        yield r.std(axis=0)
        yield abs(r).max()


def products(xp, dtype):
    a, b = xp.asarray(values((130, 1100), dtype)), xp.asarray(values((1100, 70), dtype))
    yield a @ b
    yield a @ b[:, 0]
    yield a[0] @ b
    yield a.T[:50] @ a
    yield xp.dot(a[3], a[4])
    yield a[::-2] @ b[:, ::3]


def norms(xp, dtype):
    x = xp.asarray(values((800, 60), dtype))
    for _ in range(3):
        x -= x.mean(axis=0)
        x /= xp.sqrt((x * x).sum(axis=1, keepdims=True)) + 1
    yield x
    yield (abs(x) > 0.1).sum()
    yield x[x[:, 0] != 0].sum(axis=0) if xp is numpy else x.sum(axis=0)


def scans(xp, dtype):
    for shape in ((5000,), (70001,), (5, 9000), (9000, 5)):
        x = xp.asarray(values(shape, dtype))
        for axis in range(len(shape)):
            yield x.cumsum(axis)
            yield (x / 64 + 1).cumprod(axis)
        yield x.T.cumsum(0)
        yield x[::-1].cumsum()


def own_programs():
    for function in (sums, moments, stencil, laplacians, products, scans):
        for dtype in FLOATS:
            if not (function is products and dtype == "float16"):
                yield f"{function.__name__}_{dtype}", lambda xp, f=function, d=dtype: tuple(f(xp, d))
    for function in (softmax, norms):
        for dtype in ("float32", "float64"):
            yield f"{function.__name__}_{dtype}", lambda xp, f=function, d=dtype: tuple(f(xp, d))


def plain_programs():
    for name in programs.NAMES:
        if name not in NOT_THE_SAME:
            program = programs.load(name)
            yield name, lambda xp, p=program: p.run(xp, p.setup(xp, p.SIZES["tiny"]))


def digest(results):
    text = hashlib.sha256()
    for result in results if isinstance(results, (tuple, list)) else (results,):
        host = numpy.array(result)
        parts = host.view(f"f{host.itemsize // 2}") if host.dtype.kind == "c" and host.ndim else host
        if parts.dtype.kind == "f":
            parts[...] = numpy.where(numpy.isnan(parts), numpy.nan, parts)
        text.update(f"{host.dtype} {host.shape}".encode() + host.tobytes())
    return text.hexdigest()[:20]


def main():
    import tilewise

    chosen = sys.argv[1] if len(sys.argv) > 1 else ""
    with tilewise.errstate(all="ignore"):
        for name, run in (*plain_programs(), *own_programs()):
            if chosen in name:
                print(name, digest(run(tilewise)), flush=True)


if __name__ == "__main__":
    main()
