"""Jacobi's iteration for the heat equation on a plate: a 5-point stencil through views, written back in place."""

SIZES = {"gpu": 16384, "cpu": 2048, "tiny": 37}
LEAST = 9


def setup(xp, n):
    g = xp.zeros((n + 2, n + 2), dtype="float32")
    if hasattr(g, "at"):  # arrays that cannot be changed
        return g.at[:, 0].set(-273.15).at[:, -1].set(-273.15).at[-1, :].set(-273.15).at[0, :].set(40.0)
    g[:, 0] = -273.15
    g[:, -1] = -273.15
    g[-1, :] = -273.15
    g[0, :] = 40.0
    return g


def run(xp, g, iters=50):
    center = g[1:-1, 1:-1]
    north, south = g[0:-2, 1:-1], g[2:, 1:-1]
    west, east = g[1:-1, 0:-2], g[1:-1, 2:]
    for _ in range(iters):
        work = 0.2 * (center + north + south + west + east)
        center[:] = work
    return center
