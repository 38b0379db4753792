"""Gravity of n bodies on each other, all pairs by broadcasting: small operands, a large domain."""

from .inputs import rand

SIZES = {"gpu": 16384, "cpu": 2048, "tiny": 41}
LEAST = 5


def setup(xp, n):
    return rand(xp, (n, 3), seed=1), rand(xp, (n, 1), seed=2)


def run(xp, state):
    pos, mass = state
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv = (dx * dx + dy * dy + dz * dz + 0.01) ** (-1.5)
    ax = xp.sum(dx * inv * mass.T, axis=1)
    ay = xp.sum(dy * inv * mass.T, axis=1)
    az = xp.sum(dz * inv * mass.T, axis=1)
    return ax, ay, az
