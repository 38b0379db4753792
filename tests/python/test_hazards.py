"""Programs in which what is written meets what is read: overlaps, exchanges, outputs that alias operands."""

import numpy
import pytest
from compare import both

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def grid(xp, rows=3, columns=4):
    return xp.asarray(numpy.arange(float(rows * columns)).reshape(rows, columns))


@program
def exchange(xp):
    x, y = grid(xp), grid(xp) + 100
    t = x.copy()
    x[...] = y
    y[...] = t
    del t
    return x, y


@program
def exchange_after_arithmetic(xp):
    x, y = grid(xp), grid(xp) + 100
    t = x * 2
    x[...] = y * 3
    y[...] = t
    return x, y


@program
def cycle_of_three(xp):
    x, y, z = grid(xp), grid(xp) + 100, grid(xp) + 200
    t = x.copy()
    x[...] = y
    y[...] = z
    z[...] = t
    return x, y, z


@program
def row_overwritten_after_its_maximum(xp):
    x = grid(xp, 5, 300)
    w = x - x.max(axis=1, keepdims=True)
    x[...] = 7
    return x, w


@program
def row_overwritten_before_its_reduction_is_used(xp):
    x = grid(xp, 5, 300)
    w = x * 1
    x[...] = 7
    return x, w - w.max(axis=1, keepdims=True)


@program
def normalised_in_place(xp):
    x = grid(xp, 5, 8)
    x -= x.max(axis=1, keepdims=True)
    x *= x.min(axis=1, keepdims=True)
    return (x,)


@program
def results_in_the_place_of_operands(xp):
    x, y = grid(xp, 50, 300), grid(xp, 50, 300) + 100
    for _ in range(4):
        x, y = x + y, (x - y) * 0.5
        x = x - 0.25 * y
        y = y + (x * y).max()
    z = y[::-1] - x
    w = x.T + y.T
    total = (x * z).max()
    x = y + total
    return x, z, w, total


@program
def results_in_the_place_of_shifted_operands(xp):
    v = grid(xp, 50, 300)
    for _ in range(3):
        r = v * 4
        r[1:] -= v[:-1]
        r[:, :-1] -= v[:, 1:]
        v = r * 0.25
        v[2:] += 1
    return (v, v.max())


@program
def an_operand_that_is_still_wanted(xp):
    x = grid(xp, 50, 300)
    y = x
    x = x + 1
    z = x.reshape(300, 50)
    x = x * 2
    return x, y, z


@program
def stretched_operand_overwritten(xp):
    x = grid(xp)
    wide = xp.broadcast_to(x, (5, 3, 4))
    y = (wide + 2) * wide
    x[None, :, ...] = 2
    return x, y, wide * 1


@program
def column_of_ones_read_at_its_own_place(xp):
    x = xp.ones((5, 5), "bool")
    return ((x[1:3, 2:3] * 2 + 6)[..., ::-1],)


@program
def box_of_a_product_used_again(xp):
    x = grid(xp, 4, 6).astype("int32")
    y = x[1:3, 0:1] != 0
    z = y * 3
    return y, z, z.sum()


@program
def output_within_the_operand(xp):
    x = grid(xp)
    xp.sum(x, axis=0, out=x[1])
    xp.max(x, axis=1, out=x[:, 0])
    xp.sum(x, axis=1, keepdims=True, out=x[:, 1:2])
    return (x,)


@program
def output_read_before_and_after(xp):
    x, out = grid(xp), xp.zeros(3)
    y = out + 1
    xp.max(x, axis=1, out=out)
    return x, y, out, out * 2


@program
def output_in_a_column(xp):
    x, out = grid(xp), xp.zeros((3, 4))
    out += 3
    xp.max(x, axis=1, out=out[:, 1])
    out += 1
    xp.sum(out, axis=1, out=out[:, 2])
    x -= out[:, 1:2]
    return x, out


@program
def products_over_operands(xp):
    x = grid(xp)
    xp.cumsum(x, axis=0, out=x)
    xp.matmul(x, x.T, out=x[:, :3])
    xp.dot(grid(xp, 3, 3), x[:, :3].T.copy(), out=x[:, :3].T.copy().T.copy())
    return (x,)


@program
def elementwise_over_operands(xp):
    x = grid(xp)
    xp.multiply(x[:, ::-1], x, out=x)
    xp.add(x[::-1], 1, out=x)
    x /= x[0] + 1
    x[1:] += x[:-1]
    x[:, 1:] = x[:, :-1]
    return (x,)


@program
def own_transpose(xp):
    x = grid(xp, 5, 5)
    x += x.T
    x[...] = x.T[::-1]
    x[x > 30] = 0
    x[[0, 0, 2]] = x[[1, 2, 0]]
    return (x,)


@program
def masked_by_itself(xp):
    x = xp.asarray(numpy.arange(9))
    xp.add(x, 1, out=x, where=x[::-1] > 4)
    x[xp.asarray([3, 3, 1])] = x[:3]
    return (x,)


@program
def view_outlives_its_base(xp):
    x = xp.asarray(numpy.arange(9.0))
    y, z = x[1:5], x[::-2]
    y += 1
    del x
    z[1:] = 9
    return y, z


@program
def flat_copies(xp):
    x = xp.asarray(numpy.arange(12))
    line, turned = x[::-1].ravel(), x.reshape(3, 4).T.ravel()
    even, whole = x[::2].ravel(), x.reshape(3, 4).ravel()
    for flat in (line, turned, even):
        flat[...] = -1
    whole[0] = 50
    return x, line, turned, even, whole


@program
def deep_views(xp):
    x = xp.asarray(numpy.arange(4000))
    v = x
    for _ in range(300):
        v = v[1:][::-1][1:-1][::-1].reshape(-1, 1)[:, 0]
    v += 1
    v[::3] = 0
    return x, v


@program
def forty_axes(xp):
    x = xp.asarray(numpy.arange(96.0)).reshape((1,) * 20 + (2, 3) + (1,) * 15 + (4, 2, 2))
    y = x.transpose(tuple(range(39, -1, -1))) + 1
    x[..., 0] *= 2
    return x, y, y.sum(axis=tuple(range(0, 40, 2))), x + x[..., :1, :]


@program
def loop_through_a_window(xp):
    x = xp.zeros((6, 50))
    for k in range(20):
        x[k % 6, k : k + 10] += x[(k + 1) % 6, k + 2 : k + 12] + k
    return (x,)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_hazard(name, same_bits):
    same_bits(*both(PROGRAMS[name]))
