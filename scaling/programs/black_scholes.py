"""Black-Scholes prices of calls and puts: a long chain of elementwise operations."""

from .inputs import rand

SIZES = {"gpu": 100_000_000, "cpu": 4_000_000, "tiny": 1003}
LEAST = 10
RATE, VOLATILITY = 0.02, 0.30


def setup(xp, n):
    S = rand(xp, n, seed=1) * 100 + 1
    X = rand(xp, n, seed=2) * 100 + 1
    T = rand(xp, n, seed=3) * 2 + 0.1
    return S, X, T


def normal_distribution(xp, d):
    A1, A2, A3, A4, A5 = 0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429
    RSQRT2PI = 0.39894228040143267793994605993438
    K = 1.0 / (1.0 + 0.2316419 * xp.absolute(d))
    cnd = RSQRT2PI * xp.exp(-0.5 * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))))
    return xp.where(d > 0, 1.0 - cnd, cnd)


def run(xp, state):
    S, X, T = state
    R, V = RATE, VOLATILITY
    sqrt_t = xp.sqrt(T)
    d1 = (xp.log(S / X) + (R + 0.5 * V * V) * T) / (V * sqrt_t)
    d2 = d1 - V * sqrt_t
    c1, c2 = normal_distribution(xp, d1), normal_distribution(xp, d2)
    e = xp.exp(-R * T)
    call = S * c1 - X * e * c2
    put = X * e * (1.0 - c2) - S * (1.0 - c1)
    return call, put


def run_numexpr(ne, state):
    """The same for numexpr, which takes its expressions as text."""
    S, X, T = state
    R, V = RATE, VOLATILITY  # noqa: F841  (read by name, as are the variables below)
    d1 = ne.evaluate("(log(S / X) + (R + 0.5 * V * V) * T) / (V * sqrt(T))")
    d2 = ne.evaluate("d1 - V * sqrt(T)")

    def cnd(d):
        K = ne.evaluate("1.0 / (1.0 + 0.2316419 * abs(d))")  # noqa: F841
        polynomial = "0.31938153 + K * (-0.356563782 + K * (1.781477937 + K * (-1.821255978 + K * 1.330274429)))"
        c = ne.evaluate(f"0.3989422804014327 * exp(-0.5 * d * d) * (K * ({polynomial}))")  # noqa: F841
        return ne.evaluate("where(d > 0, 1.0 - c, c)")

    c1, c2 = cnd(d1), cnd(d2)  # noqa: F841
    return (ne.evaluate("S * c1 - X * exp(-R * T) * c2"),
            ne.evaluate("X * exp(-R * T) * (1.0 - c2) - S * (1.0 - c1)"))
