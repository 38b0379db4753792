"""The Mandelbrot set by 20 iterations over the whole plane: complex arithmetic and a condition for each point."""

SIZES = {"gpu": 8192, "cpu": 1024, "tiny": 33}
LEAST = 5


def setup(xp, n):
    x = xp.linspace(-2.0, 0.5, n)
    y = xp.linspace(-1.25, 1.25, n)
    return x[None, :] + 1j * y[:, None]


def run(xp, c, iters=20):
    z = xp.zeros_like(c)
    cnt = xp.zeros(c.shape, dtype="int32")
    for _ in range(iters):
        ok = xp.abs(z) < 2.0
        z = xp.where(ok, z * z + c, z)
        cnt = cnt + ok
    return cnt
