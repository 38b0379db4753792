"""Random programs give NumPy's bits in every configuration.

The number of programs is small and the same each time; TILEWISE_TEST_RANDOM=N runs N others.
"""

import os

import numpy
import pytest
import random_program

tilewise = pytest.importorskip("tilewise")
from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

MANY = int(os.environ.get("TILEWISE_TEST_RANDOM", "0"))
ROW = st.lists(st.integers(0, 999), min_size=12, max_size=12)
PROGRAMS = st.lists(ROW, min_size=1, max_size=30)


def check(name, got, want):
    got, want = numpy.asarray(got), numpy.asarray(want)
    assert got.dtype == want.dtype, f"{name}: {got.dtype} instead of {want.dtype}"
    assert got.shape == want.shape, f"{name}: shape {got.shape} instead of {want.shape}"
    numpy.testing.assert_array_equal(got, want, err_msg=name)


@settings(
    max_examples=MANY or 150,
    derandomize=not MANY,
    deadline=None,
    database=None,
    print_blob=False,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
@given(PROGRAMS)
def test_random_program(rows):
    text, want, read_want = random_program.write(rows)
    try:
        with tilewise.errstate(all="ignore"):
            got, read_got = random_program.run(text, tilewise)
            for i, (g, w) in enumerate(zip(read_got, read_want, strict=True)):
                check(f"read {i}", g, w)
            for name in reversed(want):
                check(name, got[name], want[name])
    except BaseException as error:
        error.add_note(f"the program:\n{text}")
        raise
