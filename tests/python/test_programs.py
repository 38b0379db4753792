"""Every program of scaling/programs gives NumPy's results, and the same bits in every configuration."""

import sys
from pathlib import Path

import numpy
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scaling"))
import programs  # noqa: E402

pytest.importorskip("tilewise._core")
import tilewise  # noqa: E402

# Programs of + - * /, comparisons and copies alone have NumPy's very bits; NumPy itself need not sum or call a
# transcendental function as we do, and what iterates amplifies that.
EXACT = {"jacobi", "small_loop_1000", "small_loop_1", "sort", "mandelbrot", "richardson_lucy"}
TOLERANCE = {"cg": 1e-9, "gemm_f64": 1e-12, "fft2": 1e-4}
NOT_PORTABLE = {"fft2"}  # within its error bound only, whatever the cut


@pytest.mark.parametrize("name", programs.NAMES)
def test_program(name, same_bits):
    program = programs.load(name)
    n = program.SIZES["tiny"]
    want = program.run(numpy, program.setup(numpy, n))
    got = program.run(tilewise, program.setup(tilewise, n))
    want, got = (x if isinstance(x, tuple) else (x,) for x in (want, got))
    got = [numpy.asarray(x) for x in got]
    for w, g in zip(want, got, strict=True):
        assert g.dtype == w.dtype and g.shape == w.shape
        if name in EXACT:
            numpy.testing.assert_array_equal(g, w)
        else:
            limit = TOLERANCE.get(name, 2e-5)
            numpy.testing.assert_allclose(g, w, rtol=limit, atol=limit * float(abs(w).max()))
    if name not in NOT_PORTABLE:
        same_bits(*got)
