"""The shape of the tree: sizes of files, what stands at the top, and the flags that the results depend on."""

import json
import subprocess
import sys

import pytest
from tree import ROOT, files

TOP = {"CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "pyproject.toml", "runtime", "partition", "comm",
       "ops", "python", "launcher", "tests", "scaling", "docs"}
CODE = {".h", ".hpp", ".cpp", ".cc", ".cu", ".cuh", ".py", ".def", ".inc"}


def test_top_level_entries():
    found = {f.parts[0] for f in files()}
    assert {name for name in found if not name.startswith(".")} <= TOP


def test_no_file_over_500_lines():
    lines = {str(f): len((ROOT / f).read_text().splitlines()) for f in files() if f.suffix in CODE}
    assert {name: count for name, count in lines.items() if count > 500} == {}


def test_scripts_are_executable():
    for name in ("launcher/install", "launcher/quickstart", "tests/run", "scaling/bench", ".ci/run"):
        if (ROOT / name).exists():
            assert (ROOT / name).stat().st_mode & 0o111, f"{name} is not executable"


def test_every_source_is_compiled_without_contraction():
    database = ROOT / "build" / "release" / "compile_commands.json"
    if not database.exists():
        pytest.skip("not configured")
    for entry in json.loads(database.read_text()):
        assert "-ffp-contract=off" in entry["command"], entry["file"]
        assert "-ffast-math" not in entry["command"] and "-Ofast" not in entry["command"], entry["file"]


def test_ruff_finds_nothing():
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--quiet", str(ROOT)], capture_output=True, text=True)
    if "No module named ruff" in done.stderr:
        pytest.skip("ruff is not installed")
    assert done.returncode == 0, done.stdout
