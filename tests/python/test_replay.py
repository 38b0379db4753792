"""A saved stream gives the same values in every configuration; in spmd mode every rank records it, and they compare."""

import subprocess
import sys

import pytest

pytest.importorskip("tilewise._core")
pytestmark = pytest.mark.alone

PROGRAMS = {
    "updates and reductions": """
import numpy, tilewise as np
a = np.arange(600.0).reshape(20, 30)
b = np.asarray(numpy.linspace(0, 1, 30))
a[1:] += a[:-1] * b
a[:, ::2] -= 1
print(float(a.sum()), a.max(axis=0)[:3].tolist())
c = (a.T @ a) / 7
for _ in range(3):
    c = c * 0.5 + c.mean()
print(numpy.asarray(c).shape, int((c > 1).sum()))
""",
    "a stencil": """
import numpy, tilewise as np
u = np.zeros((40, 40))
u[0] = 1
for _ in range(10):
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
print(u[3, 3], u.std())
x = np.exp(-u) + np.where(u > 0.1, u, 2)
print(numpy.asarray(x).sum())
""",
    "random numbers": """
import numpy, tilewise as np
rng = np.random.default_rng(5)
a, b = rng.standard_normal((3, 30000)), rng.standard_exponential(60000)
print(a.sum(), b.mean(), rng.integers(0, 200, 3000, "u1").max())
print(numpy.asarray(rng.random(7)).sum())
""",
}
CONFIGS = [{"TILEWISE_DEVICES": "cpu:1"}, {"TILEWISE_DEVICES": "cpu:3", "TILEWISE_MIN_TILE": "1"},
           {"TILEWISE_DEVICES": "cpu:1", "TILEWISE_MIN_TILE": "1", "ranks": 2}]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_stream_replayed_gives_the_same_values(run_program, tmp_path, name):
    saved = str(tmp_path / "stream")
    run_program(PROGRAMS[name], TILEWISE_SAVE_STREAM=saved, TILEWISE_MIN_TILE=1, TILEWISE_DEVICES="cpu:1")
    replay = "import sys\nfrom tilewise.replay import main\nmain(sys.argv[1:])\n"
    outputs = [run_program(replay, saved, **config).stdout for config in CONFIGS]
    assert outputs[0].count("read ") >= 3
    assert outputs[1] == outputs[0] and outputs[2] == outputs[0]


def test_equal_programs_give_equal_streams(run_program, tmp_path):
    saved = [tmp_path / "one", tmp_path / "three"]
    for path, devices in zip(saved, ("cpu:1", "cpu:3"), strict=True):
        run_program(PROGRAMS["a stencil"], TILEWISE_SAVE_STREAM=path, TILEWISE_DEVICES=devices)
    assert saved[0].read_bytes() == saved[1].read_bytes()


def test_a_file_that_is_no_stream(run_program, tmp_path):
    (tmp_path / "text").write_text("hello")
    command = [sys.executable, "-m", "tilewise.replay", str(tmp_path / "text")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "is no saved stream" in done.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_spmd_runs_the_program_on_every_rank(run_program, tmp_path, name):
    alone = run_program(PROGRAMS[name], TILEWISE_DEVICES="cpu:1", TILEWISE_MIN_TILE=1).stdout
    # Each rank writes to a file of its own: mpirun may mix what they print within a line.
    own_file = "import os, sys\nsys.stdout = open('printed.' + os.environ['OMPI_COMM_WORLD_RANK'], 'w')\n"
    run_program(own_file + PROGRAMS[name], ranks=2, TILEWISE_MODE="spmd", TILEWISE_DEVICES="cpu:1", TILEWISE_MIN_TILE=1)
    assert [(tmp_path / f"printed.{rank}").read_text() for rank in range(2)] == [alone, alone]


def test_spmd_names_where_the_ranks_differ(run_program):
    done = run_program("""
import os, tilewise as np
a = np.ones(100000)
b = a + 1
if os.environ["OMPI_COMM_WORLD_RANK"] == "1":
    b = b * 2
else:
    b = b - 3
print(float(b.sum()))
""", ranks=2, check=False, TILEWISE_MODE="spmd", TILEWISE_DEVICES="cpu:1")
    assert done.returncode != 0 and done.stdout == ""
    assert done.stderr.count("RuntimeError: the ranks' programs differ") == 2
    assert "rank 0: " in done.stderr and "prog.py:8" in done.stderr
    assert "rank 1: " in done.stderr and "prog.py:6" in done.stderr


def test_spmd_ends_with_the_programs_status(run_program):
    done = run_program("import tilewise as np, sys\nfloat(np.ones(100000).sum())\nsys.exit(3)\n", ranks=2, check=False,
                       TILEWISE_MODE="spmd")
    assert done.returncode == 3
