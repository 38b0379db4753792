"""Plain operations (dense, one shape, one type) are recorded without a record; with TILEWISE_DUMP=stream they make one.
Both ways must give the same bits, in whatever order they meet other statements on the same arrays."""

import pytest

pytest.importorskip("tilewise._core")
pytestmark = pytest.mark.alone

PROGRAM = """
import hashlib, random, sys
import numpy, tilewise as np
choose = random.Random(int(sys.argv[1]))
shape = choose.choice([(1,), (7,), (3, 5), (2, 1, 4), (1000,), (0,)])
dtype = choose.choice(["float64", "float32", "int64", "bool"])
base = numpy.random.default_rng(1).integers(-9, 9, shape).astype(dtype)
arrays = [np.asarray(base), np.asarray(base) == 0, np.asarray(base) * 2]
constants = [0, 2, 0.5, 1.5, numpy.float32(3), numpy.float64(-1), True]
numpy.seterr(all="ignore")
for step in range(400):
    a, b = choose.choice(arrays), choose.choice(arrays)
    kind = choose.randrange(12)
    try:
        if kind < 4: c = choose.choice([np.add, np.multiply, np.less, np.maximum])(a, b)
        elif kind < 6: c = a + choose.choice(constants)
        elif kind == 6: c = choose.choice(constants) - a
        elif kind == 7: c = -a
        elif kind == 8: a[1:] = b[:-1]; continue
        elif kind == 9: a += b; continue
        elif kind == 10: c = a + a.sum()
        else: c = a[::-1] * b
    except TypeError:  # no such loop for bool
        continue
    if c.dtype.kind == "f":
        c = np.minimum(np.maximum(c, -1e3), 1e3)
    arrays[choose.randrange(len(arrays)) if len(arrays) > 5 else len(arrays):][:1] = [c]
    if step % 97 == 0:
        arrays = arrays[-3:]
digest = hashlib.sha256()
for a in arrays:
    digest.update(str(a.dtype).encode() + numpy.asarray(a).tobytes())
print(digest.hexdigest(), len(arrays))
"""


@pytest.mark.parametrize("seed", range(6))
def test_with_and_without_records(run_program, seed):
    plain = run_program(PROGRAM, str(seed), TILEWISE_MIN_TILE=100).stdout
    recorded = run_program(PROGRAM, str(seed), TILEWISE_MIN_TILE=100, TILEWISE_DUMP="stream").stdout
    numpy = run_program(PROGRAM.replace("tilewise as np", "numpy as np"), str(seed)).stdout
    assert plain == recorded == numpy
