"""The bits of results do not depend on how many devices or ranks computed them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tilewise._core")
from tilewise_launcher import mpi  # noqa: E402  (conftest.py puts it on the path)

PROGRAMS = Path(__file__).with_name("bits_programs.py")
ONE_DEVICE = {"TILEWISE_DEVICES": "cpu:1"}
pytestmark = pytest.mark.alone


def lines(ranks=1, **environment):
    command = [sys.executable, "-m", "tilewise", str(PROGRAMS)]
    if ranks > 1:
        found = mpi.find_mpirun()
        if not found:
            pytest.skip("no mpirun")
        command = [found.path, "-n", str(ranks), *command]
    env = {k: v for k, v in os.environ.items() if not k.startswith("TILEWISE_")}
    env |= mpi.missing(env) | {"TILEWISE_MIN_TILE": "1", "TILEWISE_FALLBACK": "silent"} | environment
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=env)
    assert done.returncode == 0, done.stderr
    return dict(line.split() for line in done.stdout.splitlines())


@pytest.fixture(scope="module")
def one_device():
    return lines(**ONE_DEVICE)


def differing(found, want):
    assert found.keys() == want.keys()
    return [name for name in want if found[name] != want[name]]


@pytest.mark.parametrize("devices", ["cpu:2", "cpu:3", "cpu:7"])
def test_devices(devices, one_device):
    assert not differing(lines(TILEWISE_DEVICES=devices), one_device)


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)])
def test_ranks(ranks, one_device):
    assert not differing(lines(ranks, **ONE_DEVICE), one_device)
