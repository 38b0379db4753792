"""Every row in every dtype against NumPy: bits where the row is exact, units in the last place where it has a bound,
and the floating-point warnings element by element."""

import os

import numpy as np
import pytest
from numpy._core import umath
from rows import (
    DTYPES,
    INTERPRETERS,
    NEGATIVE_POWER,
    ROWS,
    UNDERFLOW,
    numpy_flags,
    random_bits,
    run_cast,
    run_row,
    special_values,
    ulps,
)

NUMPY_ULP = 4  # what NumPy's own functions may be off
# Elements whose warnings are compared one by one, for each row and dtype.
WATCHED = 300 if os.environ.get("TILEWISE_TEST_QUICK") else 1500
CASES = [(name, loop) for name, row in ROWS.items() for loop in row.loops]


def make_complex(re, im):
    result = np.empty(re.shape, np.result_type(re, np.complex64))
    result.real, result.imag = re, im
    return result


# What NumPy calls the rows that are no ufunc of that name.
HELPERS = {
    "where": np.where, "clip": umath.clip, "real": np.real, "imag": np.imag, "make_complex": make_complex,
    "divmod_quotient": lambda a, b: np.divmod(a, b)[0], "divmod_remainder": lambda a, b: np.divmod(a, b)[1],
    "frexp_mantissa": lambda a: np.frexp(a)[0], "frexp_exponent": lambda a: np.frexp(a)[1],
    "modf_fraction": lambda a: np.modf(a)[0], "modf_integer": lambda a: np.modf(a)[1],
} | {f"{name}_mixed": getattr(np, name)
     for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")}


def numpy_of(name):
    return HELPERS[name] if name in HELPERS else getattr(np, name)


def operands_of(row, loop, limit):
    """Every combination of special values, thinned out to about `limit`, as dense operands."""
    types = [DTYPES[t] for t in row.loops[loop][:-1]]
    values = [special_values(t) for t in types]
    if row.arity == 3:
        values = [v[:: max(1, len(v) // 24)] for v in values]
    grids = [np.ascontiguousarray(g.ravel()) for g in np.meshgrid(*values, indexing="ij")]
    # A step that shares no factor with the grid's rows, so that no value is left out.
    step = max(1, len(grids[0]) // limit) | 1
    grids = [g[::step].copy() for g in grids]
    if row.name == "power" and types[0].kind == "i":
        keep = grids[1] >= 0
        grids = [g[keep] for g in grids]
    return grids


def distance(row, found, expected, operands):
    """Units in the last place, of the result. The logaddexp rows add to the larger operand a logarithm of up to 1:
    where the two cancel, the unit is that of the larger of them."""
    off = ulps(found, expected)
    if row.name.startswith("logaddexp"):
        with np.errstate(all="ignore"):
            size = np.maximum(np.maximum(*(np.abs(o.astype(float)) for o in operands)), 1)
            near = np.abs(found.astype(float) - expected.astype(float)) / (size * np.finfo(found.dtype).eps / 2)
        off = np.where(np.isfinite(near), np.minimum(off, near), off)
    return off


def bound(row):
    return row.ulp + NUMPY_ULP if row.ulp else 0


@pytest.mark.parametrize("which", INTERPRETERS)
@pytest.mark.parametrize("name, loop", CASES, ids=[f"{n}-{DTYPES[d]}" for n, d in CASES])
def test_values(which, name, loop):
    row = ROWS[name]
    operands = operands_of(row, loop, 20000)
    result, _ = run_row(which, row, loop, operands)
    with np.errstate(all="ignore"):
        expected = np.asarray(numpy_of(name)(*operands))
    assert result.dtype == expected.dtype
    off = distance(row, result, expected, operands)
    worst = np.argmax(off)
    assert off[worst] <= bound(row), f"{[o[worst] for o in operands]} gives {result[worst]}, NumPy {expected[worst]}"


INEXACT = [(n, d) for n, d in CASES if ROWS[n].ulp and DTYPES[d].kind == "f"]


@pytest.mark.parametrize("which", INTERPRETERS)
@pytest.mark.parametrize("name, loop", INEXACT, ids=[f"{n}-{DTYPES[d]}" for n, d in INEXACT])
def test_functions_over_all_magnitudes(which, name, loop):
    """Random bits: every exponent, subnormals, large arguments of the trigonometric functions. Float32 and float16 are
    held against double precision, so this is the row's own bound."""
    row, dtype = ROWS[name], DTYPES[loop]
    operands = [np.concatenate([random_bits(dtype, 20000), RNG.normal(size=5000).astype(dtype) * 10])
                for _ in range(row.arity)]
    result, _ = run_row(which, row, loop, operands)
    with np.errstate(all="ignore"):
        if dtype == np.float64:
            expected, allowed = numpy_of(name)(*operands), bound(row)
        else:
            expected, allowed = numpy_of(name)(*[o.astype(float) for o in operands]).astype(dtype), row.ulp
    off = distance(row, result, expected, operands)
    worst = np.argmax(off)
    assert off[worst] <= allowed, f"{[o[worst] for o in operands]} gives {result[worst]}, not {expected[worst]}"


RNG = np.random.default_rng(11)


def flags_differ_rightly(row, loop, operands, ours, theirs):
    """Where NumPy's report is an accident of its code that we do not repeat."""
    _, *rest = (o[0] for o in operands)
    if "power" in row.name:
        return np.isinf(rest[0])  # some loops of NumPy report 0 ** -inf, others large ** inf
    if row.name.startswith("logaddexp"):
        return theirs == 2  # the distance of the operands overflows, the result does not
    return False


@pytest.mark.parametrize("which", INTERPRETERS)
@pytest.mark.parametrize("name, loop", CASES, ids=[f"{n}-{DTYPES[d]}" for n, d in CASES])
def test_warnings(which, name, loop):
    row = ROWS[name]
    if name.startswith("divmod"):
        pytest.skip("test_divmod_warnings: NumPy reports both results at once")
    call = numpy_of(name)
    # Complex quotients, signs and sizes: what underflows between operands and result is not reported.
    exact = row.ulp == 0 and not (DTYPES[loop].kind == "c" and name in ("sign", "absolute", "divide"))
    watched = 15 if exact else 15 & ~UNDERFLOW
    for k in range(len((operands := operands_of(row, loop, WATCHED))[0])):
        one = [o[k : k + 1] for o in operands]
        _, flags = run_row(which, row, loop, one)
        expected = numpy_flags(call, *one)
        if (flags ^ expected) & watched and not flags_differ_rightly(row, loop, one, flags, expected):
            pytest.fail(f"{[o[0] for o in one]}: flags {flags}, NumPy {expected}")


@pytest.mark.parametrize("loop", ROWS["divmod_quotient"].loops, ids=lambda d: str(DTYPES[d]))
@pytest.mark.parametrize("which", INTERPRETERS)
def test_divmod_warnings(which, loop):
    pair = ROWS["divmod_quotient"], ROWS["divmod_remainder"]
    operands = operands_of(pair[0], loop, WATCHED)
    for k in range(len(operands[0])):
        one = [o[k : k + 1] for o in operands]
        flags = run_row(which, pair[0], loop, one)[1] | run_row(which, pair[1], loop, one)[1]
        assert flags == numpy_flags(np.divmod, *one), one


@pytest.mark.parametrize("which", INTERPRETERS)
def test_negative_powers_of_integers_are_errors(which):
    row = ROWS["power"]
    for loop in (d for d in row.loops if DTYPES[d].kind == "i"):
        one = np.array([2, 3], DTYPES[loop])
        assert run_row(which, row, loop, [one, -one])[1] == NEGATIVE_POWER
        assert run_row(which, row, loop, [one, one])[1] == 0


@pytest.mark.parametrize("which", INTERPRETERS)
@pytest.mark.parametrize("source", DTYPES, ids=str)
@pytest.mark.parametrize("target", DTYPES, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_casts(which, source, target):
    values = special_values(source)
    for k in range(len(values)):
        one = values[k : k + 1]
        result, flags = run_cast(which, one, target)
        with np.errstate(all="ignore"):
            expected = one.astype(target)
        assert ulps(result, expected)[0] == 0, f"{one[0]} gives {result[0]}, NumPy {expected[0]}"
        assert flags == numpy_flags(one.astype, target), one[0]
    one_by_one = np.concatenate([run_cast(which, values[k : k + 1], target)[0] for k in range(len(values))])
    assert ulps(run_cast(which, values, target)[0], one_by_one).max() == 0
