"""Type resolution against NumPy's: every ufunc with every pair of dtypes and Python scalars, dtype= and casting=."""

import itertools

import numpy as np
import pytest
from rows import CODE, DTYPES, NAMES, resolve

CHARS = [d.char for d in DTYPES]
WEAK = {"int": int, "float": float, "complex": complex}
ONE = {"int": 1, "float": 1.0, "complex": 1j}
PAIRS = {"divmod": "divmod_quotient", "modf": "modf_fraction", "frexp": "frexp_mantissa"}
NOT_OURS = {"matmul", "matvec", "vecmat", "vecdot", "isnat"}
UFUNCS = sorted({name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)} - NOT_OURS)
KINDS = {"TypeError": 0, "OverflowError": 5, "UFuncTypeError": 9}


def same_size(char):
    return {"q": "l", "Q": "L"}.get(char, char)


def numpy_resolve(ufunc, kinds):
    """(operand types, result type), or None where there is no loop."""
    try:
        types = ufunc.resolve_dtypes(tuple(WEAK.get(k) or np.dtype(k) for k in kinds) + (None,) * ufunc.nout)
    except TypeError:
        return None
    chars = [same_size(t.char) for t in types[: ufunc.nin + 1]]
    if ufunc is np.ldexp:
        chars[1] = "l"  # one loop for all exponents
    if chars[0] == "O":
        chars = ["l", "l", "?"]  # two Python integers: ours have 64 bits
    return chars


@pytest.mark.parametrize("name", UFUNCS)
def test_every_ufunc_has_numpys_loop(name):
    ufunc = getattr(np, name)
    for kinds in itertools.product(CHARS + list(WEAK), repeat=ufunc.nin):
        found = resolve(PAIRS.get(name, name), kinds)
        expected = numpy_resolve(ufunc, kinds)
        if expected is None:
            assert isinstance(found[0], int), (kinds, found)
        else:
            assert [t.char for t in (*found[3:], found[2])] == expected, (kinds, found)


def outcome(ufunc, kinds, **options):
    try:
        return ufunc(*[ONE[k] if k in ONE else np.ones(1, k) for k in kinds], **options).dtype
    except (TypeError, OverflowError) as e:
        return KINDS[type(e).__name__], str(e)


SAME_NAME = [n for n in UFUNCS if n == getattr(np, n).__name__ and n not in PAIRS and n not in ("radians", "degrees")]


@pytest.mark.parametrize("name", SAME_NAME)
@pytest.mark.filterwarnings("ignore")
def test_messages_are_numpys(name):
    ufunc = getattr(np, name)
    for kinds in itertools.product(["?", "b", "l", "L", "e", "d", "F", *WEAK], repeat=ufunc.nin):
        found = resolve(name, kinds)
        assert (found if isinstance(found[0], int) else found[2]) == outcome(ufunc, kinds), kinds


@pytest.mark.parametrize("name", [n for n in SAME_NAME if n not in ("ldexp", "gcd", "lcm", "bitwise_count", "signbit")])
@pytest.mark.filterwarnings("ignore")
def test_dtype_and_casting(name):
    ufunc = getattr(np, name)
    for kinds in itertools.product(["?", "b", "l", "e", "d", "D"], repeat=ufunc.nin):
        for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
            found = resolve(name, kinds, casting=casting)
            assert (found if isinstance(found[0], int) else found[2]) == outcome(ufunc, kinds, casting=casting)
        for char, casting in itertools.product(["?", "b", "l", "e", "d", "F", "D"], ["same_kind", "unsafe"]):
            found = resolve(name, kinds, dtype=CODE[char], casting=casting)
            expected = outcome(ufunc, kinds, dtype=char, casting=casting)
            # What is wrong is told, though NumPy's text for a dtype= without a loop varies from ufunc to ufunc.
            if isinstance(expected, tuple) and "Cannot cast" not in expected[1]:
                assert isinstance(found[0], int), (kinds, char)
            else:
                assert (found if isinstance(found[0], int) else found[2]) == expected, (kinds, char)


@pytest.mark.parametrize("name", [n for n, d in zip(NAMES, DTYPES, strict=True) if d.kind in "iu"])
def test_python_integers_that_do_not_fit(name):
    dtype = np.dtype(name)
    info = np.iinfo(dtype)
    edges = (info.min, info.max, info.min - 1, info.max + 1, -1)
    for value in (v for v in edges if -(2**63) <= v < 2**63):
        found = resolve("add", (dtype.char, "int"), values=[0, value])
        if info.min <= value <= info.max:
            assert found[2] == dtype
        else:
            assert found == (KINDS["OverflowError"], f"Python integer {value} out of bounds for {name}")
            assert resolve("less", (dtype.char, "int"), values=[0, value])[2].kind == "b"  # as it is


def test_int64_and_uint64_are_compared_exactly():
    assert resolve("less", ("l", "L"))[0] == "less_mixed"
    assert resolve("less", ("L", "b"))[:2] == ("less_mixed", np.dtype("uint64"))
    assert resolve("less", ("L", "int"), values=[0, -1])[0] == "less_mixed"
    assert resolve("equal", ("b", "int"), values=[0, 300])[1] == np.int64
