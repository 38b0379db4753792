"""Runs the tests step by step and counts: the C++ tests, the lint tests, then the Python tests and the cases over
configurations of devices and ranks. Called by tests/run.

A step's output goes to build/test-results/NAME.log; of a step that fails, the end is shown. The last line printed
is the sum over all steps.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "build" / "test-results"
sys.path.insert(0, str(ROOT / "launcher"))
from tilewise_launcher import mpi  # noqa: E402

THREE_TILES = {"TILEWISE_DEVICES": "cpu:3", "TILEWISE_MIN_TILE": "1"}
TAIL = 60  # lines shown of a failed step


@dataclass
class Step:
    name: str
    command: list
    counts: str  # where the counts are: "junit" (a file) or "lines" (the closing line of the cases)
    env: dict = field(default_factory=dict)
    limit_s: float = 900

    @property
    def junit(self):
        return RESULTS / f"{self.name}.xml"

    @property
    def log(self):
        return RESULTS / f"{self.name}.log"


def ctest(name, preset, limit_s=900, extra=()):
    command = ["ctest", "--preset", preset, "-j", str(os.cpu_count()), "--no-tests=ignore",
               "--output-junit", str(RESULTS / f"{name}.xml"), *extra]
    return Step(name, command, "junit", limit_s=limit_s)


def built(name, preset, targets=(), **options):
    """A preset that launcher/install does not build: configured and built first, in the same step."""
    run = ctest(name, preset, **options)
    build = ["cmake", "--build", "--preset", preset, *(("--target", *targets) if targets else ())]
    parts = [["cmake", "--preset", preset, f"-DPython_EXECUTABLE={sys.executable}"], build, run.command]
    run.command = ["sh", "-c", " && ".join(" ".join(map(str, part)) for part in parts)]
    run.limit_s = 1800
    return run


def ranks(count):
    found = mpi.find_mpirun()
    return [found.path, "-n", str(count), *(["--bind-to", "none"] if found.kind == "openmpi" else [])]


def pytest(name, folder, before=(), env=None, module=("-m", "pytest"), limit_s=900):
    command = [*before, sys.executable, *module, "-q", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=120",
               f"--junitxml={RESULTS / name}.xml", str(ROOT / "tests" / folder)]
    return Step(name, command, "junit", dict(env or {}, TILEWISE_TEST_CONFIG=name), limit_s)


def cases(name, before=(), env=None):
    command = [*before, sys.executable, str(ROOT / "tests/cases/run_cases.py"), "tilewise"]
    return Step(name, command, "lines", dict(env or {}, TILEWISE_FALLBACK="silent"))


def configurations(quick):
    """(name, words before the interpreter, environment): one tile, three tiles, several ranks."""
    yield "default", (), {}
    yield "3_tiles", (), THREE_TILES
    if mpi.find_mpirun():
        for count in (2,) if quick else (2, 3, 4):
            yield f"{count}_ranks", ranks(count), {"TILEWISE_MIN_TILE": "1"}


def steps(quick, arm, sanitize):
    yield ctest("cpp", "release")
    yield pytest("lint", "lint")
    yield pytest("ops", "ops")
    if not any((ROOT / "python/bind").glob("*.cpp")):
        yield pytest("python_default", "python")
    else:
        for name, before, env in configurations(quick):
            # Under mpirun the workers are captured before pytest starts; rank 0 alone runs it.
            yield pytest(f"python_{name}", "python", before, env, ("-m", "tilewise", "-m", "pytest"), limit_s=1200)
        for name, before, env in configurations(quick):
            yield cases(f"cases_{name}", before, env)
    if not quick:
        for python in other_pythons():
            name = Path(python).name
            yield Step(name, ["tests/with_python", python, str(RESULTS / f"{name}.xml")], "junit",
                       {"TILEWISE_TEST_QUICK": "1", "TILEWISE_TEST_CONFIG": name}, limit_s=1800)
    if sanitize:
        yield built("cpp_asan_ubsan", "asan-ubsan")
        # Threads meet in the transports, the devices and the engine; the kernels' tests would only take long.
        yield built("cpp_tsan", "tsan", ("test_comm", "test_runtime", "test_ops"),
                    extra=("-L", "'test_comm|test_runtime|test_ops'", "-E", "'^(Rows|Reference|Reductions)'"))
    if arm:
        yield Step("neon", ["tests/neon", str(RESULTS / "neon.xml")], "junit", limit_s=3600)


def other_pythons():
    """Interpreters of the supported versions, besides the one of .venv: on the path, or pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in range(11, 14):
        if minor != sys.version_info[1]:
            name = f"python3.{minor}"
            found = [*map(str, sorted(pyenv.glob(f"3.{minor}.*/bin/{name}"))), shutil.which(name)]
            yield from [path for path in found if path and works(path)][:1]


def works(python):
    return subprocess.run([python, "-c", "import ensurepip"], capture_output=True).returncode == 0


def run(step, env):
    """The step's exit status; -1 where its time ran out. Whatever it started is ended with it."""
    with open(step.log, "w") as log:
        child = subprocess.Popen(step.command, cwd=ROOT, env=env | step.env, stdout=log, stderr=subprocess.STDOUT,
                                 stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            return child.wait(step.limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            log.write(f"\nstopped: it ran longer than {step.limit_s:g} s\n")
            return -1


def counts(step, status):
    """(passed, failed, skipped). A step that failed without a failed test counts as one failure."""
    passed = failed = skipped = 0
    if step.counts == "junit" and step.junit.exists():
        for suite in ElementTree.parse(step.junit).getroot().iter("testsuite"):
            tests, bad, not_run = (int(suite.get(key) or 0) for key in ("tests", "failures", "skipped"))
            bad += int(suite.get("errors") or 0)
            not_run += int(suite.get("disabled") or 0)
            passed, failed, skipped = passed + tests - bad - not_run, failed + bad, skipped + not_run
    elif step.counts == "lines":
        found = re.findall(r"^(\d+) passed, (\d+) failed", step.log.read_text(errors="replace"), re.MULTILINE)
        passed, failed = map(int, found[-1]) if found else (0, 0)
    nothing_to_run = step.counts == "junit" and status == 5 and not (passed or failed)  # pytest's word for it
    if status and not failed and not nothing_to_run:
        failed = 1
    return passed, failed, skipped


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--quick", action="store_true")
    p.add_argument("--arm", action="store_true")
    p.add_argument("--sanitize", action="store_true")
    p.add_argument("-k", default="", metavar="TEXT")
    options = p.parse_args()
    chosen = list(steps(options.quick, options.arm, options.sanitize))
    if options.k == "list":
        print("\n".join(step.name for step in chosen))
        return 0
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir(parents=True)
    env = os.environ | mpi.missing(os.environ) | {"TILEWISE_TEST_QUICK": "1" if options.quick else ""}
    total_passed = total_failed = 0
    for step in chosen:
        if options.k not in step.name:
            continue
        start = time.monotonic()
        status = run(step, env)
        passed, failed, skipped = counts(step, status)
        total_passed, total_failed = total_passed + passed, total_failed + failed
        print(f"{step.name:20s} {passed:6d} passed {failed:5d} failed {skipped:5d} skipped "
              f"{time.monotonic() - start:7.1f} s", flush=True)
        if failed:
            lines = step.log.read_text(errors="replace").splitlines()
            print("\n".join(f"    | {line}" for line in lines[-TAIL:]), flush=True)
    print(f"{total_passed} passed, {total_failed} failed", flush=True)
    return 1 if total_failed or not total_passed else 0


if __name__ == "__main__":
    sys.exit(main())
