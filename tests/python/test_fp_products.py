"""Floating-point warnings of products: NumPy's words, whatever the shape and the cut.

NumPy's own differ by shape: its BLAS multiplies infinities by the zeros of its padding (float32), and complex results
by 1 + 0j. Here a condition is one of the products and sums that make an element, and has its words written down.
"""

import numpy
import pytest
import tilewise
from compare import told

INF, NAN = numpy.inf, numpy.nan
LARGE = {"float16": 6e4, "float32": 3e38, "float64": 1e308, "complex64": 3e38, "complex128": 1e308}
SMALL = {"float16": 1e-4, "float32": 1e-30, "float64": 1e-200, "complex64": 1e-30, "complex128": 1e-200}

# Two factors of two elements each, and what they meet.
CASES = {
    "large product": (lambda d: ([LARGE[d], 1], [LARGE[d], 1]), ["overflow"]),
    "large sum": (lambda d: ([LARGE[d], LARGE[d]], [1, 1]), ["overflow"]),
    "infinite times zero": (lambda d: ([INF, 1], [0, 1]), ["invalid value"]),
    "infinities apart": (lambda d: ([INF, -INF], [1, 1]), ["invalid value"]),
    "not a number": (lambda d: ([NAN, 1], [1, 1]), []),
    "infinite": (lambda d: ([INF, 1], [1, 1]), []),
    "small": (lambda d: ([SMALL[d], 1], [SMALL[d], 0]), ["underflow"]),
    "plain": (lambda d: ([1, 2], [3, 4]), []),
}

# Of vectors x and y: the call and the name it is told under.
CALLS = {
    "operator": (lambda xp, x, y: x @ y, "matmul"),
    "matrices": (lambda xp, x, y: xp.matmul(xp.stack([x, x, x]), xp.stack([y, y]).T), "matmul"),
    "matrix and vector": (lambda xp, x, y: xp.stack([x, x, x]) @ y, "matmul"),
    "vector and matrix": (lambda xp, x, y: y @ xp.stack([x, x, x]).T, "matmul"),
    "vector and turned matrix": (lambda xp, x, y: y @ xp.ascontiguousarray(xp.stack([x, x, x]).T), "matmul"),
    "stack": (lambda xp, x, y: xp.stack([xp.stack([x, x])] * 5) @ xp.stack([y, y]).T, "matmul"),
    "dot": (lambda xp, x, y: xp.dot(x, y), "dot"),
    "dot of matrices": (lambda xp, x, y: xp.dot(xp.stack([x, x]), xp.stack([y, y]).T), "dot"),
    "dot of stacks": (lambda xp, x, y: xp.dot(xp.stack([x, x]), xp.stack([xp.stack([y, y]).T] * 2)), "dot"),
    "method": (lambda xp, x, y: x.dot(y), "dot"),
    "inner": (lambda xp, x, y: xp.inner(xp.stack([x, x]), y), "dot"),
    "tensordot": (lambda xp, x, y: xp.tensordot(xp.stack([x, x]), y, 1), "dot"),
    "vecdot": (lambda xp, x, y: xp.vecdot(xp.stack([x, x]), y), "vecdot"),
    "matvec": (lambda xp, x, y: xp.matvec(xp.stack([x, x]), y), "matvec"),
    "vecmat": (lambda xp, x, y: xp.vecmat(y, xp.stack([x, x]).T), "vecmat"),
    "vdot": (lambda xp, x, y: xp.vdot(x, y), None),
}


def words(kinds, name):
    return [f"{kind} encountered in {name}" for kind in kinds] if name else []


@pytest.mark.parametrize("dtype", LARGE)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("call", CALLS)
def test_words(call, case, dtype):
    (factors, kinds), (function, name) = CASES[case], CALLS[call]
    x, y = (numpy.asarray(v, dtype) for v in factors(dtype))
    if case == "infinite" and dtype.startswith("complex"):
        kinds = ["invalid value"]  # the imaginary part is inf * 0
    with numpy.errstate(under="warn"):
        assert told(lambda: function(tilewise, tilewise.asarray(x), tilewise.asarray(y))) == words(kinds, name)
        if not (dtype.startswith("complex") or (dtype == "float32" and case == "infinite")):
            assert told(lambda: function(numpy, x, y)) == words(kinds, name)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "bool"])
def test_integers_wrap_silently(dtype):
    x = numpy.full((3, 3), numpy.iinfo(dtype).max if dtype != "bool" else True, dtype)
    assert told(lambda: tilewise.asarray(x) @ tilewise.asarray(x)) == []


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (3, 5, 2), (37, 401, 53), (61, 33, 1), (1, 45, 97), (5, 9000, 3), (2, 9000, 1)]
)
def test_padding_meets_nothing(shape, dtype):
    """The last row and the last column are infinite, and no factor is zero."""
    rows, depth, columns = shape
    a, b = numpy.ones((rows, depth), dtype), numpy.full((depth, columns), 0.5, dtype)
    a[-1], b[:, -1] = INF, INF
    for x, y in ((a, b), (numpy.asfortranarray(a), numpy.asfortranarray(b))):
        assert told(lambda x=x, y=y: tilewise.asarray(x) @ tilewise.asarray(y)) == []
        assert told(lambda x=x, y=y: tilewise.asarray(y.T) @ tilewise.asarray(x.T)) == []


@pytest.mark.parametrize("at", [0, 383, 384, 8999])
@pytest.mark.parametrize("shape", [(1, 9000, 1), (4, 9000, 3), (300, 9000, 2)])
def test_one_element_far_inside(shape, at):
    rows, depth, columns = shape
    a, b = numpy.ones((rows, depth)), numpy.ones((depth, columns))
    a[-1, at], b[at, -1] = 1e200, 1e200
    assert told(lambda: tilewise.asarray(a) @ tilewise.asarray(b)) == words(["overflow"], "matmul")
    a[-1, at], b[at, -1] = INF, 0
    assert told(lambda: tilewise.asarray(a) @ tilewise.asarray(b)) == words(["invalid value"], "matmul")


def test_sums_of_chunks_meet_too():
    """Each chunk of the contracted axis is finite, or infinite, alone."""
    a = numpy.zeros((2, 100_000))
    a[1, 0] = a[1, -1] = 1e308
    b = numpy.ones((100_000, 2))
    assert told(lambda: tilewise.asarray(a) @ tilewise.asarray(b)) == words(["overflow"], "matmul")
    a[1, 0], a[1, -1] = INF, -INF
    assert told(lambda: tilewise.asarray(a) @ tilewise.asarray(b)) == words(["invalid value"], "matmul")


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_empty(shape):
    x = numpy.ones(shape)
    assert told(lambda: tilewise.asarray(x) @ tilewise.asarray(x.T)) == []


def overflowing():
    return tilewise.asarray([[1e200, 1.0]] * 3) @ tilewise.asarray([1e200, 1.0])


def test_errstate():
    def ignored():
        with numpy.errstate(over="ignore"):
            return overflowing()

    assert told(ignored) == []
    with numpy.errstate(all="raise"), pytest.raises(FloatingPointError, match="overflow encountered in matmul"):
        overflowing()
    seen = []
    former = numpy.seterrcall(lambda kind, bits: seen.append((kind, bits)))
    try:
        with numpy.errstate(over="call"):
            overflowing()
    finally:
        numpy.seterrcall(former)
    assert seen == [("overflow", 2)]


def test_each_line_its_own_name():
    def run():
        x = tilewise.asarray([1e200, 1.0])
        return x @ x, tilewise.dot(x, x), x * 1e200

    assert told(run) == [f"overflow encountered in {name}" for name in ("dot", "matmul", "multiply")]


def test_cast_into_out_is_the_products():
    out = tilewise.zeros((2, 2), "float32")
    x = tilewise.full((2, 2), 1e30)
    assert told(lambda: tilewise.matmul(x, x, out=out)) == words(["overflow"], "matmul")
