"""The `tilewise` command: what it would run, and what it returns."""

import os
import subprocess
import sys

import pytest
from tilewise_launcher import command, mpi, options

pytestmark = pytest.mark.alone


def run(*words, **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith("TILEWISE_")} | environment
    return subprocess.run([sys.executable, "-m", "tilewise_launcher.main", *words], capture_output=True, text=True,
                          env=env, timeout=60)


def built(words, monkeypatch, version="mpirun (Open MPI) 4.1.4", environ=None):
    found = mpi.describe("/usr/bin/mpirun", version)
    monkeypatch.setattr(mpi, "find_mpirun", lambda: found)
    return command.build(*options.parse(words), environ={} if environ is None else environ)


def test_alone_it_is_the_same_python():
    added, words = command.build(*options.parse(["prog.py", "--ranks", "x"]), environ={})
    assert words == [sys.executable, "-m", "tilewise", "prog.py", "--ranks", "x"]
    assert added == {}


def test_module_and_double_dash_end_our_options(monkeypatch):
    assert built(["-m", "pkg.mod", "-q"], monkeypatch)[1][-3:] == ["-m", "pkg.mod", "-q"]
    words = built(["--cpus", "2", "--", "-odd.py", "--ranks", "9"], monkeypatch)[1]
    assert words[-4:] == ["--", "-odd.py", "--ranks", "9"]


def test_ranks_on_this_machine(monkeypatch):
    added, words = built(["--ranks", "4", "prog.py"], monkeypatch)
    assert words[:5] == ["/usr/bin/mpirun", "-n", "4", "--quiet", "--bind-to"]
    assert added["OMPI_ALLOW_RUN_AS_ROOT"] == "1" and added["OMPI_MCA_rmaps_base_oversubscribe"] == "1"
    assert added["PRTE_MCA_rmaps_default_mapping_policy"] == ":oversubscribe"


def test_what_the_user_set_stays(monkeypatch):
    name = "PRTE_MCA_rmaps_default_mapping_policy"
    assert name not in built(["--ranks", "2", "p.py"], monkeypatch, environ={name: "core"})[0]


def test_nodes_and_gpus(monkeypatch):
    added, words = built(["--nodes", "4", "--ranks", "8", "--gpus", "3", "prog.py"], monkeypatch)
    assert added["TILEWISE_DEVICES"] == "cuda:0,1,2"
    assert words[words.index("--map-by") + 1] == "ppr:2:node"


def test_hosts_get_the_environment(monkeypatch):
    environ = {"PATH": "/bin", "PYTHONPATH": "/p", "TILEWISE_MIN_TILE": "1", "SECRET": "x"}
    added, words = built(["--hosts", "a,b:2", "--cpus", "2", "prog.py"], monkeypatch, environ=environ)
    passed = [words[i + 1] for i, word in enumerate(words) if word == "-x"]
    assert passed == ["PATH", "PYTHONPATH", "TILEWISE_DEVICES", "TILEWISE_MIN_TILE"]
    assert words[words.index("--host") + 1] == "a,b:2" and words[2] == "2"


def test_hostfile_counts_its_lines(monkeypatch, tmp_path):
    (tmp_path / "hosts").write_text("# ours\na slots=2\n\nb\nc\n")
    words = built(["--hostfile", str(tmp_path / "hosts"), "prog.py"], monkeypatch)[1]
    assert words[2] == "3" and words[words.index("--hostfile") + 1] == str(tmp_path / "hosts")
    with pytest.raises(command.Unavailable, match="--hostfile"):
        built(["--hostfile", str(tmp_path / "none"), "prog.py"], monkeypatch)


@pytest.mark.parametrize("version, kind, number", [
    ("mpirun (Open MPI) 4.1.4", "openmpi", "4.1.4"),
    ("mpiexec (OpenRTE) 4.1.4", "openmpi", "4.1.4"),
    ("mpirun (Open MPI) 5.0.11\n", "openmpi", "5.0.11"),
    ("prterun (Open MPI) 5.0.3\n", "openmpi", "5.0.3"),
    ("HYDRA build details:\n    Version: 4.0.2", "mpich", "4.0.2"),
    ("Intel(R) MPI Library for Linux* OS, Version 2021.19", "other", "2021.19"),
])
def test_kinds_of_mpirun(version, kind, number):
    found = mpi.describe("mpirun", version)
    assert (found.kind, found.version) == (kind, number)


def test_mpich_is_spoken_to_in_its_own_words(monkeypatch):
    words = built(["--nodes", "2", "--ranks", "4", "--hosts", "a,b", "p.py"], monkeypatch, "HYDRA Version: 4.0")[1]
    assert words[:7] == ["/usr/bin/mpirun", "-n", "4", "-ppn", "2", "-hosts", "a,b"]


def test_slurm(monkeypatch):
    monkeypatch.setattr(command.shutil, "which", lambda name: "/usr/bin/" + name)
    words = built(["--nodes", "2", "--ranks", "4", "p.py"], monkeypatch, environ={"SLURM_JOB_ID": "7"})[1]
    assert words[:4] == ["srun", "--nodes=2", "--ntasks=4", "--cpu-bind=none"]


def test_without_mpi_the_message_names_the_package(monkeypatch):
    monkeypatch.setattr(mpi, "find_mpirun", lambda: None)
    with pytest.raises(command.Unavailable, match="openmpi-bin"):
        command.build(*options.parse(["--ranks", "2", "p.py"]), environ={})


@pytest.mark.parametrize("words, message", [
    ([], "no program given"),
    (["--ranks", "2"], "no program given"),
    (["--ranks", "0", "p.py"], "0 is not a positive number"),
    (["--ranks", "3", "--nodes", "2", "p.py"], "spread evenly"),
    (["--gpus", "1", "--cpus", "1", "p.py"], "exclude each other"),
    (["--frobnicate", "p.py"], "--frobnicate"),
])
def test_wrong_options_are_named(words, message):
    done = run(*words)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


def test_dry_run_prints_one_line_and_runs_nothing():
    done = run("--ranks", "2", "--dry-run", "no such file.py")
    if "no mpirun was found" in done.stderr:
        pytest.skip("no mpirun")
    assert done.returncode == 0 and done.stdout.count("\n") == 1
    assert done.stdout.endswith("-m tilewise 'no such file.py'\n")


def test_info():
    done = run("info")
    assert done.returncode == 0
    for word in ("tilewise", "Python", "mpirun", "cores", "memory", "GPUs", "settings"):
        assert any(line.startswith(word) for line in done.stdout.splitlines()), word


def test_a_missing_file_is_named():
    done = run("nowhere.py")
    assert done.returncode == 2 and "nowhere.py" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("ending, status", [("pass", 0), ("sys.exit(7)", 7), ("raise ValueError('gone')", 1)])
def test_exit_status_is_the_programs(tmp_path, ranks, ending, status):
    if ranks > 1:
        pytest.importorskip("tilewise._core")  # without it nothing keeps the second rank from running the program
    program = tmp_path / "prog.py"
    program.write_text(f"import sys\nprint(sys.argv[1:])\nsys.stdout.flush()\n{ending}\n")
    done = run(*(["--ranks", str(ranks)] if ranks > 1 else []), str(program), "--ranks", "x")
    assert done.returncode == status, done.stderr
    assert done.stdout == "['--ranks', 'x']\n"
    assert done.stderr.count("ValueError: gone") == (1 if "ValueError" in ending else 0)


def test_program_sees_its_own_folder_and_name(run_program, tmp_path):
    (tmp_path / "beside.py").write_text("value = 41\n")
    done = run_program("import beside, sys\nprint(beside.value + 1, __name__, sys.argv[0].endswith('prog.py'))")
    assert done.stdout == "42 __main__ True\n"


def test_standard_input_reaches_the_program(tmp_path):
    (tmp_path / "p.py").write_text("print(input())\n")
    done = subprocess.run([sys.executable, "-m", "tilewise_launcher.main", str(tmp_path / "p.py")], input="hello\n",
                          capture_output=True, text=True, timeout=60)
    assert done.stdout == "hello\n"


def test_a_job_started_by_a_program_is_a_job_of_its_own():
    done = run("--cpus=2", "-m", "timeit", "-n1", "-r1", "-simport os", "print(os.environ.get('TILEWISE_ALONE'))",
               TILEWISE_ALONE="1")
    assert done.stdout.startswith("None\n"), done.stderr


SHOW = """
import sys, os
def deep():
    print(sys.argv, repr(__name__), globals().get("__file__"), sys.path[0], sorted(vars())[:1], flush=True)
    raise KeyError("gone")
deep()
"""


@pytest.mark.parametrize("start", [["-m", "tilewise"], ["-m", "tilewise_launcher.main"]])
@pytest.mark.parametrize("way", ["file", "./file", "-c", "-", "-m"])
def test_a_program_sees_what_python_shows(tmp_path, start, way):
    """The same words, names, places and traceback as under `python` itself."""
    (tmp_path / "prog.py").write_text(SHOW)
    words = {"file": ["prog.py"], "./file": ["./prog.py"], "-c": ["-c", SHOW], "-": ["-"], "-m": ["-m", "prog"]}[way]
    env = {k: v for k, v in os.environ.items() if not k.startswith("TILEWISE_")}
    got, want = (
        subprocess.run([sys.executable, *before, *words, "-x", "y"], input=SHOW, capture_output=True, text=True,
                       env=env, cwd=tmp_path, timeout=60)
        for before in (start, []))
    assert want.returncode == got.returncode == 1
    if way == "-m":
        assert got.stdout.split("'-x'")[1] == want.stdout.split("'-x'")[1]
        assert "tilewise" not in got.stderr and "runpy" not in got.stderr
    else:
        assert (got.stdout, got.stderr) == (want.stdout, want.stderr)


def test_a_program_that_does_not_parse_shows_itself_only(run_program):
    done = run_program("x = (\n", check=False)
    assert done.returncode == 1 and "SyntaxError" in done.stderr
    assert "runpy" not in done.stderr and "__main__" not in done.stderr


WRONG = [("TILEWISE_MIN_TILE", "many"), ("TILEWISE_MIN_TILE", "\udcff"), ("TILEWISE_MODE", "x"),
         ("TILEWISE_FALLBACK", "x"), ("TILEWISE_DEVICES", "cpu:0"), ("TILEWISE_HOST_MEMORY", "lots"),
         ("TILEWISE_SPEED", "fast")]


@pytest.mark.parametrize("name, value", WRONG)
def test_settings_that_mean_nothing(run_program, name, value):
    """One line under `python -m tilewise`; one class of exception where a program imports the package."""
    done = run_program("pass", check=False, **{name: value})
    assert done.returncode == 1 and done.stderr.startswith(f"tilewise: {name}=") and done.stderr.count("\n") == 1
    caught = run_program("""
try:
    import tilewise
except ValueError as error:
    print(type(error).__module__, type(error).__name__, error)
""", bare=True, **{name: value})
    assert caught.stdout.startswith(f"tilewise._errors SettingError {name}=")
