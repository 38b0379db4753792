"""What is not native: it runs in NumPy, says so, and writes back what it changes."""

import subprocess
import sys
import warnings

import numpy
import pytest
import tilewise
from compare import both, same, sample


def run(code, **env):
    import os

    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_", "TILEWISE_FIRST"))}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**clean, **env}, timeout=120
    )


def test_every_public_name_is_there():
    missing = [name for name in numpy.__all__ if not hasattr(tilewise, name)]
    assert missing == []
    for module in (
        "linalg",
        "fft",
        "random",
        "ma",
        "polynomial",
        "testing",
        "lib",
        "char",
        "strings",
        "rec",
        "emath",
        "exceptions",
        "dtypes",
        "typing",
        "ctypeslib",
    ):
        ours, numpys = getattr(tilewise, module), getattr(numpy, module)
        names = getattr(numpys, "__all__", [])
        assert [name for name in names if not hasattr(ours, name)] == []


def test_types_and_constants_are_numpys():
    assert tilewise.float32 is numpy.float32 and tilewise.pi == numpy.pi and tilewise.newaxis is None
    assert tilewise.dtype("f4") == numpy.float32 and tilewise.errstate is numpy.errstate
    assert tilewise.finfo("f8").eps == numpy.finfo("f8").eps
    assert set(dir(tilewise)) >= set(numpy.__all__)


def test_import_forms():
    code = """
import tilewise.linalg, tilewise.random as random
from tilewise.fft import fft
from tilewise.lib.stride_tricks import sliding_window_view
import tilewise
print(type(fft(tilewise.ones(4))).__module__, type(random.default_rng(0).random(3)).__module__)
print(tilewise.linalg.norm([3.0, 4.0]))
"""
    done = run(code, TILEWISE_FALLBACK="silent")
    assert done.stdout.split() == ["tilewise", "tilewise", "5.0"], done.stderr
    assert run("from tilewise import *\nprint(sin(zeros(2)), linalg.norm(ones(4)))").stdout == "[0. 0.] 2.0\n"


def test_warning_names_function_bytes_and_line():
    code = """
import tilewise as np
a = np.arange(6.0)
for _ in range(3):
    np.convolve(a, [1, 2])
np.convolve(a, [1, 2])
"""
    done = run(code, TILEWISE_FALLBACK="warn")
    lines = [line for line in done.stderr.splitlines() if "FallbackWarning" in line]
    assert len(lines) == 2 and "numpy.convolve" in lines[0] and "48" in lines[0]
    assert ":5:" in lines[0] and ":6:" in lines[1]


def test_error_and_silent():
    code = "import tilewise as np; print(np.sum(np.arange(4)) + 1); np.convolve(np.arange(4), [1, 2])"
    done = run(code, TILEWISE_FALLBACK="error")
    assert (
        done.stdout == "7\n"
        and "NotImplementedError" in done.stderr
        and "convolve" in done.stderr
        and done.returncode == 1
    )
    done = run(code, TILEWISE_FALLBACK="silent")
    assert done.returncode == 0 and done.stderr == ""
    done = run(code, TILEWISE_FALLBACK="perhaps")
    assert done.returncode != 0 and "TILEWISE_FALLBACK='perhaps'" in done.stderr


def test_counted():
    before = tilewise.report().get("fallback.numpy.convolve", 0)
    tilewise.convolve(tilewise.arange(3), [1, 2])
    assert tilewise.report()["fallback.numpy.convolve"] == before + 1


def test_changed_arguments_are_written_back():
    def changes(xp):
        a = xp.array(sample((3, 4)))
        xp.place(a, a > 0, [1, 2])
        xp.put(a, [0, 5], 9)
        xp.putmask(a, a < 0, 4)
        b = xp.zeros((4, 4))
        xp.fill_diagonal(b, 3)
        c = xp.array(sample((3, 4)))
        xp.put_along_axis(c, xp.asarray([[0], [1], [2]]), 7, axis=1)
        view = xp.zeros((3, 4))
        xp.put(view[:, ::2], [1, 2], 8)
        return a, b, c, view

    both(changes)


def test_out_is_written():
    def outs(xp):
        out = xp.zeros(5)
        assert xp.take(xp.arange(5.0), [4, 0, 1, 2, 3], out=out) is out
        other = xp.zeros((2, 2))
        xp.linalg.multi_dot([xp.eye(2), xp.eye(2), xp.eye(2)], out=other)
        return out, other, xp.nan_to_num(xp.asarray([numpy.nan, 1]))

    both(outs)


def test_shuffle():
    def shuffled(xp):
        rng = xp.random.default_rng(3)
        a = xp.arange(10)
        rng.shuffle(a)
        return a, rng.integers(0, 9, 4), rng.permutation(xp.arange(5))

    both(shuffled)
    both(lambda xp: xp.random.RandomState(1).rand(3))


def test_results_in_containers():
    a = sample((4, 4))
    both(lambda xp: xp.linalg.svd(xp.asarray(a))[1], rtol=1e-12)
    both(lambda xp: xp.unique(xp.asarray([3, 1, 3]), return_counts=True))
    both(lambda xp: xp.histogram2d(xp.asarray(a[0]), xp.asarray(a[1]), 4))
    result = tilewise.linalg.eigh(tilewise.asarray(a @ a.T))
    assert isinstance(result.eigenvalues, tilewise.ndarray)
    both(lambda xp: xp.linalg.inv(xp.asarray(a)), rtol=1e-10)
    both(lambda xp: xp.polyfit(xp.arange(5.0), xp.arange(5.0) * 2, 1), rtol=1e-9)
    both(lambda xp: xp.apply_along_axis(lambda v: v.sum(), 0, xp.asarray(a)))
    both(lambda xp: xp.vectorize(lambda x: x + 1)(xp.arange(3)))


def test_types_do_not_gather():
    a = tilewise.zeros((3, 4), "float32")
    with warnings.catch_warnings():
        warnings.simplefilter("error", tilewise.FallbackWarning)
        assert tilewise.result_type(a, 1.0) == numpy.float32
        assert tilewise.can_cast(a.dtype, "float64") and tilewise.iscomplexobj(a) is False
        assert tilewise.broadcast_shapes((3, 1), (4,)) == (3, 4)
        assert tilewise.common_type(a) is numpy.float32


def test_masked_arrays_stay_numpys():
    m = tilewise.ma.masked_array(tilewise.arange(3), [0, 1, 0])
    assert isinstance(m, numpy.ma.MaskedArray) and m.sum() == 2


@pytest.mark.parametrize("name", ["sum", "where", "concatenate", "matmul", "ndarray.reshape", "add", "linalg.norm"])
def test_native_names(name):
    assert name in tilewise.native or name == "ndarray.reshape"


def test_native_is_a_set_of_names_of_numpy():
    assert isinstance(tilewise.native, set) and len(tilewise.native) > 150
    for name in tilewise.native:
        owner = numpy
        for part in name.split("."):
            owner = getattr(owner, part)


def test_scalar_results():
    same(tilewise.median(tilewise.arange(5.0)), numpy.float64(2.0))
