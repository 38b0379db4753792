"""Conjugate gradients on a 5-point Laplacian, without a matrix: in-place updates through shifted views, and reductions
whose results decide the next step."""

from .inputs import rand

SIZES = {"gpu": 8192, "cpu": 1024, "tiny": 29}
LEAST = 5


def setup(xp, n):
    return rand(xp, (n, n), dtype="float64", seed=1)


def laplacian(v):
    r = 4.0 * v
    r[1:, :] -= v[:-1, :]
    r[:-1, :] -= v[1:, :]
    r[:, 1:] -= v[:, :-1]
    r[:, :-1] -= v[:, 1:]
    return r


def run(xp, b, iters=25):
    x = xp.zeros_like(b)
    r = b - laplacian(x)
    p = r.copy()
    rs = xp.sum(r * r)
    for _ in range(iters):
        Ap = laplacian(p)
        alpha = rs / xp.sum(p * Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        rs2 = xp.sum(r * r)
        p = r + (rs2 / rs) * p
        rs = rs2
    return x
