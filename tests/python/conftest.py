"""Configurations for the Python tests.

A test is written once; tests/run runs it in each configuration by setting the environment (TILEWISE_DEVICES,
TILEWISE_MIN_TILE) and starting pytest alone or under mpirun, where rank 0 runs the tests and the others are workers.

Fixtures and markers for test authors:

  same_bits(array, ...)  the bits must be those of the first configuration that ran this test
  run_program(text)      runs a Python program in processes of its own, on one or several ranks
  @pytest.mark.slow      not part of --quick
  @pytest.mark.alone     runs in one process only: tests that start programs of their own, or that look at one process
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "launcher"))
from tilewise_launcher import mpi  # noqa: E402

CONFIG = os.environ.get("TILEWISE_TEST_CONFIG", "by hand")
QUICK = bool(os.environ.get("TILEWISE_TEST_QUICK"))
BITS = ROOT / "build" / "test-results" / "bits"
# Set by Open MPI, by MPICH and Intel MPI, and by Slurm for each process that they start.
RANK_VARIABLES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")


def ranks():
    return next((int(os.environ[name]) for name in RANK_VARIABLES if name in os.environ), 1)


# Where tests marked `alone` run: by hand, in the first configuration, and under each other version of Python.
ONE_PROCESS = ranks() == 1 and (CONFIG in ("by hand", "python_default") or CONFIG.startswith("python3"))


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: not part of tests/run --quick")
    config.addinivalue_line("markers", "alone: runs in one process only, not under mpirun")
    config.addinivalue_line("filterwarnings", "ignore:.*is not native. it ran in NumPy:UserWarning")


def pytest_report_header():
    return (f"configuration: {CONFIG}: {ranks()} rank(s), devices {os.environ.get('TILEWISE_DEVICES', 'default')}, "
            f"min tile {os.environ.get('TILEWISE_MIN_TILE', 'default')}")


def pytest_collection_modifyitems(items):
    for item in items:
        if QUICK and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow"))
        if item.get_closest_marker("alone") and not ONE_PROCESS:
            item.add_marker(pytest.mark.skip(reason="needs no second configuration"))


def bits_of(value):
    """A text that is equal exactly for equal bits; NaNs are all one, since their sign and payload are no promise."""
    host = numpy.array(value, copy=True)
    parts = host.view(f"f{host.itemsize // 2}") if host.dtype.kind == "c" and host.ndim else host
    if parts.dtype.kind == "f":
        numpy.copyto(parts, numpy.nan, where=numpy.isnan(parts))
    return f"{host.dtype} {host.shape} {hashlib.sha256(numpy.ascontiguousarray(host).tobytes()).hexdigest()}"


@pytest.fixture
def same_bits(request):
    """Compares with what an earlier configuration of the same test run stored; the first one stores."""
    name = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:24]
    calls = iter(range(10**6))

    def check(*values):
        path = BITS / f"{name}-{next(calls)}.json"
        found = [bits_of(value) for value in values]
        if CONFIG == "by hand":
            return
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"config": CONFIG, "bits": found}))
            return
        first = json.loads(path.read_text())
        assert found == first["bits"], f"other bits than in {first['config']}"

    return check


def end(job):
    """Ends a job and all that it started: politely first, since mpirun's ranks are not of its process group."""
    job.terminate()
    try:
        job.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)


@pytest.fixture
def run_program(tmp_path):
    """run(text, *arguments, ranks=1, bare=False, check=True, timeout=60, **environment) -> CompletedProcess.

    With ranks > 1 the program runs under mpirun; `bare` starts it as `mpirun python prog.py`, without
    `python -m tilewise`. Unless check is False, a program that fails fails the test with its output."""

    def run(text, *arguments, ranks=1, bare=False, check=True, timeout=60, **environment):
        program = tmp_path / "prog.py"
        program.write_text(text)
        command = [sys.executable, *(() if bare else ("-m", "tilewise")), str(program), *arguments]
        if ranks > 1:
            found = mpi.find_mpirun()
            if not found:
                pytest.skip("no mpirun")
            command = [found.path, "-n", str(ranks), *command]
        env = {k: v for k, v in os.environ.items() if not k.startswith("TILEWISE_")}
        env |= mpi.missing(env) | {k: str(v) for k, v in environment.items()}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, cwd=tmp_path,
                              start_new_session=True) as job:
            try:
                out, err = job.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                end(job)
                out, err = job.communicate()
                pytest.fail(f"still running after {timeout} s\n{out}\n{err}")
        if check and job.returncode:
            pytest.fail(f"status {job.returncode}\n{out}\n{err}")
        return subprocess.CompletedProcess(command, job.returncode, out, err)

    return run
