"""Linear products."""

import numpy
import pytest
import tilewise
from compare import both, raises_the_same, sample

KINDS = ["int32", "uint8", "float32", "float64", "complex64", "complex128", "bool"]


@pytest.mark.parametrize("dtype", KINDS)
def test_matmul_types(dtype):
    a, b = sample((5, 4), dtype, 1), sample((4, 3), dtype, 2)
    rtol = 1e-5 if dtype in ("float32", "complex64") else 1e-12
    both(lambda xp: xp.matmul(xp.asarray(a), xp.asarray(b)), rtol=rtol)
    both(lambda xp: xp.dot(xp.asarray(a), xp.asarray(b)[:, 0]), rtol=rtol)


@pytest.mark.parametrize(
    "shapes",
    [
        ((4,), (4,)),
        ((3, 4), (4,)),
        ((4,), (4, 5)),
        ((3, 4), (4, 5)),
        ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (6, 4, 5)),
        ((0, 4), (4, 3)),
        ((3, 0), (0, 2)),
        ((2, 3, 4), (4,)),
    ],
    ids=str,
)
def test_matmul_shapes(shapes):
    a, b = sample(shapes[0], seed=1), sample(shapes[1], seed=2)
    both(lambda xp: xp.matmul(xp.asarray(a), xp.asarray(b)), rtol=1e-12)
    both(lambda xp: xp.asarray(a).T[..., ::-1] @ xp.asarray(a) if a.ndim == 2 else xp.asarray(a), rtol=1e-12)


@pytest.mark.parametrize(
    "shapes",
    [
        ((4,), (4,)),
        ((3, 4), (4,)),
        ((4,), (4, 5)),
        ((3, 4), (4, 5)),
        ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (6, 4, 5)),
        ((3, 4), (2, 4, 5)),
        ((), (3,)),
        ((2, 2), ()),
    ],
    ids=str,
)
def test_dot_shapes(shapes):
    a, b = sample(shapes[0], seed=1), sample(shapes[1], seed=2)
    both(lambda xp: xp.dot(xp.asarray(a), xp.asarray(b)), rtol=1e-12)
    both(lambda xp: xp.asarray(a).dot(b), rtol=1e-12)


def test_mixed_types_and_out():
    a, b = sample((3, 4), "int32", 1), sample((4, 3), "float32", 2)
    both(lambda xp: xp.matmul(xp.asarray(a), xp.asarray(b)), rtol=1e-12)
    both(lambda xp: xp.matmul(a, b, out=xp.zeros((3, 3))), rtol=1e-5)
    both(lambda xp: xp.dot(b, b.T, out=xp.zeros((4, 4), "float32")), rtol=1e-5)

    def aliased(xp):
        c = xp.asarray(sample((3, 3)))
        xp.matmul(c, c, out=c)
        return c

    both(aliased, rtol=1e-12)


def test_others():
    a, b, c = sample((3, 4), seed=1), sample((3, 4), seed=2), sample((2, 4, 3), "complex128", 3)
    both(lambda xp: xp.inner(a, b), rtol=1e-12)
    both(lambda xp: xp.inner(a[0], b[0]), rtol=1e-12)
    both(lambda xp: xp.outer(a[0], b[:, 1]))
    both(lambda xp: xp.vdot(a, b), rtol=1e-12)
    both(lambda xp: xp.vdot(c, c), rtol=1e-12)
    both(lambda xp: xp.tensordot(a, b, ([0, 1], [0, 1])), rtol=1e-12)
    both(lambda xp: xp.tensordot(a, c, ([0], [2])), rtol=1e-12)
    both(lambda xp: xp.tensordot(a, b, 0), rtol=1e-12)
    both(lambda xp: xp.kron(a[:2, :2], b))
    both(lambda xp: xp.vecdot(a, b), rtol=1e-12)
    both(lambda xp: xp.vecdot(c, c), rtol=1e-12)
    both(lambda xp: xp.matvec(a, b[0]), rtol=1e-12)
    both(lambda xp: xp.vecmat(a[:, 0], b), rtol=1e-12)
    both(lambda xp: xp.einsum("ij,kj->ik", xp.asarray(a), xp.asarray(b)), rtol=1e-12)
    both(lambda xp: xp.linalg.norm(xp.asarray(a)), rtol=1e-12)
    both(lambda xp: xp.linalg.norm(xp.asarray(a), axis=1), rtol=1e-12)
    both(lambda xp: xp.linalg.norm(xp.asarray(a[0]), 1), rtol=1e-12)
    both(lambda xp: xp.linalg.norm(xp.asarray(a), 2), rtol=1e-12)


def test_wrong_shapes():
    a = sample((3, 4))
    for function in ("matmul", "dot", "inner", "tensordot"):
        raises_the_same(lambda xp, f=function: getattr(xp, f)(xp.asarray(a), xp.asarray(a[:, :3])))
    got, want = raises_the_same(lambda xp: xp.dot(xp.asarray(a), xp.asarray(a)))
    assert got == want
    raises_the_same(lambda xp: xp.matmul(xp.asarray(a), 2))
    raises_the_same(lambda xp: xp.vdot(xp.asarray(a), xp.zeros(3)))
    raises_the_same(lambda xp: xp.matmul(a, a.T, out=xp.zeros((2, 2))))
    assert numpy.matmul(tilewise.asarray(a), a.T).__class__ is tilewise.ndarray
