"""scaling/bench runs, and writes what a reader of its numbers needs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.alone
BENCH = Path(__file__).resolve().parents[2] / "scaling/bench"


def test_bench_times_and_describes(tmp_path):
    out = tmp_path / "out.json"
    done = subprocess.run([sys.executable, BENCH, "--size", "tiny", "--reps", "3", "--modules", "numpy", "--only",
                           "jacobi,reductions", "--json", out], capture_output=True, text=True, timeout=120,
                          env=os.environ | {"VIRTUAL_ENV": sys.prefix})
    assert done.returncode == 0, done.stderr
    assert "two busy processes take" in done.stdout
    written = json.loads(out.read_text())
    assert written["machine"]["cores"] >= 1 and written["machine"]["python"]
    result = written["programs"]["jacobi"]["results"]["numpy"]
    assert len(result["seconds"]) == len(result["processor_seconds"]) == 3
    assert result["median"] == sorted(result["seconds"])[1]


def test_goals_are_for_their_size_alone(tmp_path):
    done = subprocess.run([sys.executable, BENCH, "--size", "tiny", "--reps", "1", "--modules", "numpy,tilewise",
                           "--only", "jacobi,small_loop_1000", "--json", tmp_path / "out.json"], capture_output=True,
                          text=True, timeout=120, env=os.environ | {"VIRTUAL_ENV": sys.prefix})
    assert done.returncode == 0, done.stderr
    assert "below" not in done.stdout


def test_a_module_that_fails_does_not_stop_the_others(tmp_path):
    out = tmp_path / "out.json"
    # The math module has neither arrays nor zeros.
    done = subprocess.run([sys.executable, BENCH, "--size", "tiny", "--reps", "1", "--modules", "numpy,math", "--only",
                           "jacobi", "--json", out], capture_output=True, text=True, timeout=120,
                          env=os.environ | {"VIRTUAL_ENV": sys.prefix})
    assert done.returncode == 0, done.stderr
    results = json.loads(out.read_text())["programs"]["jacobi"]["results"]
    assert "AttributeError" in results["math"]["error"] and results["numpy"]["median"] > 0
