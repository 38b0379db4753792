"""What elementwise calls decide before they are recorded: layout of results, masks, casts, assignment, overlap."""

import warnings

import numpy
import pytest
import tilewise
from compare import DTYPES, both, raises_the_same, same, sample


def strides(function):
    return both(lambda xp: function(xp).strides)


def test_results_lie_as_their_operands():
    a, cube = sample((4, 6)), sample((3, 4, 5))
    strides(lambda xp: xp.asarray(a).T + 1)
    strides(lambda xp: xp.asarray(a).T + xp.zeros((6, 4)))
    strides(lambda xp: xp.zeros((6, 4)) + xp.asarray(a).T)
    strides(lambda xp: xp.asarray(a).T * xp.zeros(4))
    strides(lambda xp: xp.asarray(cube).transpose(1, 2, 0) + 1)
    strides(lambda xp: xp.asarray(cube)[::-1, :, ::2] * 2)
    strides(lambda xp: xp.negative(xp.asarray(cube).transpose(2, 0, 1)[:, 1:3]))
    strides(lambda xp: xp.asarray(cube).transpose(2, 0, 1).astype("float32"))
    strides(lambda xp: xp.asarray(cube).transpose(2, 1, 0).copy(order="C"))
    strides(lambda xp: xp.asarray(cube).copy(order="F"))


@pytest.mark.parametrize("rows", [7, 300])
def test_masks_leave_the_rest(rows, same_bits):
    a, mask = sample((rows, 5)), sample((rows, 1), "bool")

    def masked(xp):
        out = xp.full((rows, 5), -3.0)
        return xp.add(xp.asarray(a), 1, out=out, where=xp.asarray(mask))

    same_bits(both(masked))
    both(lambda xp: xp.add(1.0, 2.0, out=xp.zeros(3), where=False))
    both(lambda xp: xp.sqrt(xp.asarray(numpy.abs(a)), out=xp.zeros((rows, 5), "float32"), where=xp.asarray(mask)))


def test_no_warning_from_elements_outside_the_mask():
    a, b = numpy.ones(6), numpy.array([1.0, 0, 2, 0, 4, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both(lambda xp: xp.divide(xp.asarray(a), xp.asarray(b), out=xp.zeros(6), where=xp.asarray(b) != 0))
        both(lambda xp: xp.log(xp.asarray(b), out=xp.zeros(6), where=xp.asarray(b) > 0))
        both(lambda xp: xp.arctanh(xp.asarray(b), out=xp.zeros(6), where=xp.asarray(b) < 1), rtol=1e-12)
        tilewise.synchronize()


@pytest.mark.parametrize("source", DTYPES)
def test_assignment_casts(source):
    for target in DTYPES:
        if numpy.dtype(source).kind in "fc" and numpy.dtype(target).kind == "u":
            continue  # out of range

        def assigned(xp, target=target):
            a = xp.zeros((6, 4), target)
            a[1:5, ::2] = xp.asarray(sample((4, 1), source))
            return a

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both(assigned)


def test_assignment_of_python_numbers():
    def into(dtype, value):
        def run(xp):
            a = xp.zeros(5, dtype)
            a[1:4] = value
            return a
        return run

    for dtype in DTYPES:
        both(into(dtype, 1))
        both(into(dtype, True))
    both(into("int32", 2.75))
    both(into("float32", 10**20))
    raises_the_same(into("uint8", 300))
    raises_the_same(into("int8", -129))
    raises_the_same(into("int64", float("nan")))
    raises_the_same(into("int64", float("inf")))


def test_shapes_that_do_not_fit():
    got, want = raises_the_same(lambda xp: xp.zeros((2, 3)) + xp.zeros((2, 4)))
    assert got == want
    raises_the_same(lambda xp: xp.add(xp.zeros(3), 1, out=xp.zeros(2)))

    def assigned(xp):
        a = xp.zeros((2, 3))
        a[...] = xp.zeros((3, 3))

    got, want = raises_the_same(assigned)
    assert got == want
    raises_the_same(lambda xp: xp.add(xp.zeros(3), 1, out=xp.zeros(3, "int32")))
    raises_the_same(lambda xp: xp.add(xp.zeros(3), 1, out=xp.zeros(3), where=xp.zeros(3)))


@pytest.mark.parametrize("n", [9, 1000])
def test_overlap_reads_before_it_writes(n, same_bits):
    def program(xp):
        a = xp.arange(float(n))
        a[1:] += a[:-1]
        a[::2] = a[::-1][::2]
        a[: n // 2] = a[n // 4 : n // 4 + n // 2]
        b = xp.arange(float(n * n)).reshape(n, n) if n < 50 else xp.arange(900.0).reshape(30, 30)
        b += b.T
        b /= b[1]
        b[1:] = b[:-1]
        return a, b

    same_bits(*both(program))


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_ranges_fill_as_numpy_does(dtype):
    for arguments in [(5,), (1, 8), (2, 11, 3), (0.5, 3.1, 0.1), (10, 0, -3), (0, 0), (1e15, 1e15 + 9, 0.7)]:
        if numpy.dtype(dtype).itemsize < 8 and arguments[0] == 1e15:
            continue
        both(lambda xp, a=arguments: xp.arange(*a, dtype=dtype))
    both(lambda xp: xp.eye(5, 7, 2, dtype=dtype))
    both(lambda xp: xp.eye(6, k=-3, dtype=dtype))


@pytest.mark.parametrize("arguments", [(0, 1, 50), (-1, 7, 13), (3, 3, 4), (2, 9, 1), (2, 9, 0), (0, 5e-324, 4),
                                       (1, -1e300, 77)], ids=str)
def test_linspace_is_exact(arguments):
    both(lambda xp: xp.linspace(*arguments))
    both(lambda xp: xp.linspace(*arguments, endpoint=False))


@pytest.mark.parametrize("size", [0, 1, 7, 5000])
def test_snapshots_of_strided_host_data(size):
    base = numpy.arange(size * 6, dtype="int32").reshape(size, 6)
    stretched = numpy.broadcast_to(base[:1], (3, 6)) if size else base
    for view in (base, base.T, base[::-1, ::2], base[:, ::-3].T, stretched):
        same(tilewise.asarray(view), numpy.ascontiguousarray(view))
    a = tilewise.asarray(base)
    want = base.copy()
    base[...] = -1
    same(a, want)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16"])
def test_negative_integer_powers(dtype):
    base = sample((6,), dtype)
    if numpy.dtype(dtype).kind == "i":
        got, want = raises_the_same(lambda xp: xp.asarray(base) ** xp.asarray(numpy.array([1, 2, 0, 3, -1, 2], dtype)))
        assert got == want
        got, want = raises_the_same(lambda xp: xp.asarray(base) ** -1)
        assert got == want
    both(lambda xp: xp.asarray(base) ** xp.asarray(numpy.array([1, 2, 0, 1, 1, 2], dtype)))
    both(lambda xp: xp.asarray(base) ** 2)
