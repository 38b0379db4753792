"""The rows and the type rules, called in the built test library (tests/ops/abi) by ctypes.

ROWS maps a row's name to a Row; run_row, run_cast and resolve call the library. Values for tests of a dtype come from
special_values: every special value of the type, and random ones.
"""

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
DTYPES = [np.dtype(name) for name in NAMES]
CODE = {dtype.char: number for number, dtype in enumerate(DTYPES)}
FLAGS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
UNDERFLOW = 4
NEGATIVE_POWER = 16


def library():
    build = Path(os.environ.get("TILEWISE_BUILD", ROOT / "build" / "release"))
    path = build / "tests" / "libtilewise_abi.so"
    if not path.exists():
        pytest.skip(f"{path} is not built", allow_module_level=True)
    lib = ctypes.CDLL(str(path))
    lib.tw_row.restype = lib.tw_resolve.restype = ctypes.c_char_p
    return lib


LIB = library()


@dataclass
class Row:
    number: int
    name: str
    arity: int
    helper: bool
    ulp: float
    loops: dict  # number of the loop's dtype -> numbers of the operands' dtypes and the result's


def read_rows():
    rows = {}
    for number in range(LIB.tw_rows()):
        name, arity, helper, ulp, *loops = LIB.tw_row(number).decode().split()
        parts = [[int(n) for n in loop.split(",")] for loop in loops]
        rows[name] = Row(number, name, int(arity), helper == "1", float(ulp), {p[0]: p[1:] for p in parts})
    return rows


ROWS = read_rows()
INTERPRETERS = ["reference", "installed"] if LIB.tw_has_simd() else ["reference"]


def run_row(which, row, loop, operands):
    """(result, flags) of a row over dense operands of the loop's types."""
    result = np.empty(len(operands[0]), DTYPES[row.loops[loop][-1]])
    pointers = (ctypes.c_void_p * 3)(*[a.ctypes.data for a in operands])
    flags = LIB.tw_run_row(INTERPRETERS.index(which), row.number, loop, ctypes.c_int64(len(result)), pointers,
                           ctypes.c_void_p(result.ctypes.data))
    return result, flags


def run_cast(which, values, dtype):
    result = np.empty(len(values), dtype)
    flags = LIB.tw_run_cast(INTERPRETERS.index(which), CODE[values.dtype.char], CODE[dtype.char],
                            ctypes.c_int64(len(values)), ctypes.c_void_p(values.ctypes.data),
                            ctypes.c_void_p(result.ctypes.data))
    return result, flags


def numpy_flags(call, *operands, **options):
    """What NumPy reports for one call, as the bits of FLAGS."""
    seen = []
    with np.errstate(all="call", call=lambda kind, _: seen.append(kind)):
        call(*operands, **options)
    return sum({bit for start, bit in FLAGS.items() if any(kind.startswith(start) for kind in seen)})


RNG = np.random.default_rng(7)


def random_bits(dtype, count):
    return np.frombuffer(RNG.bytes(count * dtype.itemsize), dtype)


def float_values(dtype):
    info = np.finfo(dtype)
    values = [0.0, 1, 2, 0.5, 3, 1.5, 2.5, 10, 0.1, np.inf, info.max, info.tiny, info.smallest_subnormal, info.tiny / 2,
              info.eps, 1 + info.eps, 1 - info.eps / 2, np.pi, 1e3]
    if dtype.itemsize > 2:
        values += [1e5, 1e10, 2.0**31, 2.0**63, 88.0, 89.0, 104.0, 87.5, 709.0, 710.0, 745.0, 746.0, 1e22]
    with np.errstate(all="ignore"):
        signed = np.array([sign * v for v in values for sign in (1, -1)] + [np.nan]).astype(dtype)
        return np.concatenate([signed, RNG.normal(size=20).astype(dtype), (100 * RNG.normal(size=10)).astype(dtype)])


def special_values(dtype):
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = [0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64, 100]
        values += [info.max, info.max - 1, info.max // 2, info.min, info.min + 1]
        values += [-1, -2, -3, -7, -8, -64, -100] if dtype.kind == "i" else []
        return np.concatenate([np.array(values, dtype), random_bits(dtype, 8)])
    if dtype.kind == "f":
        return float_values(dtype)
    parts = [0.0, -0.0, 1, -1, 0.5, 2, -3.0, np.inf, -np.inf, np.nan, 1e-30, 1e30, 100.0]
    grid = np.array([complex(x, y) for x in parts for y in parts], dtype)
    return np.concatenate([grid, (RNG.normal(size=30) + 1j * RNG.normal(size=30)).astype(dtype)])


def ulps(found, expected):
    """Distance of each element in units in the last place; infinite where a NaN, an infinity or a zero's sign
    differs."""
    if found.dtype.kind == "c":
        part = np.dtype(f"f{found.itemsize // 2}")
        return ulps(found.view(part), expected.view(part)).reshape(-1, 2).max(axis=1)
    if found.dtype.kind != "f":
        return np.where(found == expected, 0.0, np.inf)
    bits = np.dtype(f"i{found.itemsize}")
    least = int(np.iinfo(bits).min)

    def place(values):
        whole = values.view(bits).astype(object)
        return np.where(whole >= 0, whole, least - whole)

    distance = np.abs(place(found) - place(expected)).astype(float)
    distance[np.isnan(found) & np.isnan(expected)] = 0
    odd = (np.isnan(found) != np.isnan(expected)) | (np.isinf(found) != np.isinf(expected))
    odd |= (found == 0) & (expected == 0) & (np.signbit(found) != np.signbit(expected))
    distance[odd] = np.inf
    return distance


def resolve(name, kinds, dtype=-1, casting="same_kind", values=None):
    """The library's answer for operands given by dtype characters or by 'int', 'float', 'complex' for Python scalars:
    (row, loop, result, operands...), or (number of the error kind, text)."""
    weak = {"int": 102, "float": 103, "complex": 104}
    numbers = (ctypes.c_int * 3)(*[weak.get(k, CODE.get(k)) for k in kinds])
    integers = (ctypes.c_int64 * 3)(*(values or [1] * len(kinds)))
    rule = ["no", "equiv", "safe", "same_kind", "unsafe"].index(casting)
    text = LIB.tw_resolve(name.encode(), len(kinds), numbers, integers, dtype, rule).decode()
    if text.startswith("!"):
        kind, message = text[1:].split(" ", 1)
        return int(kind), message
    row, *types = text.split()
    return row, *[DTYPES[int(t)] for t in types]
