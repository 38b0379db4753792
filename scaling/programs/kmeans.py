"""k-means (Lloyd's iterations) with 32 centres in 16 dimensions, through matrix products."""

from .inputs import rand

SIZES = {"gpu": 8_000_000, "cpu": 400_000, "tiny": 203}
LEAST = 3


def setup(xp, n):
    return rand(xp, (n, 16), seed=1), rand(xp, (32, 16), seed=2)


def run(xp, state, iters=5):
    data, cent = state
    for _ in range(iters):
        d2 = xp.sum(data * data, axis=1)[:, None] + xp.sum(cent * cent, axis=1)[None, :] - 2.0 * (data @ cent.T)
        lab = xp.argmin(d2, axis=1)
        one = (lab[:, None] == xp.arange(32)[None, :]).astype("float32")
        cnt = xp.maximum(xp.sum(one, axis=0), 1.0)
        cent = (one.T @ data) / cnt[:, None]
    return cent
