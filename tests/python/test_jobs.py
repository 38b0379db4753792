"""A job from its start to its end: one program, many ranks, and what becomes of them whatever the program does."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tilewise_launcher import mpi

pytest.importorskip("tilewise._core")
pytestmark = pytest.mark.alone

STARTS = {"alone": {}, "launched": {"ranks": 2}, "bare": {"ranks": 2, "bare": True}}
USE = "import tilewise as np\na = np.arange(100000.0)\n"


@pytest.fixture(params=STARTS)
def start(request, run_program):
    return lambda text, *args, **more: run_program(text, *args, **STARTS[request.param], **more)


def test_the_program_runs_once(start, tmp_path):
    done = start(USE + f"print('sum', float(a.sum()))\nopen({str(tmp_path / 'once')!r}, 'a').write('x')\n")
    assert done.stdout == "sum 4999950000.0\n" and done.stderr == ""
    assert (tmp_path / "once").read_text() == "x"


def test_exit_status_of_sys_exit(start):
    assert start(USE + "import sys\na += 1\nsys.exit(7)\n", check=False).returncode == 7


def test_an_exception_is_told_once(start):
    done = start(USE + "a.sum()\nraise LookupError('lost')\n", check=False)
    assert done.returncode == 1
    assert done.stderr.count("LookupError: lost") == 1


def test_a_failing_call_names_the_users_line(start):
    done = start(USE + "a + np.ones(3)\n", check=False)
    assert done.returncode == 1 and "could not be broadcast" in done.stderr and "prog.py\", line 3" in done.stderr


@pytest.mark.parametrize("environ", ["None", "dict(os.environ)"])
def test_children_by_subprocess_run_alone(start, environ):
    done = start(USE + f"""
import os, subprocess, sys
s = a.sum()
child = "import tilewise as np; print('child', float(np.ones(70000).sum()))"
done = subprocess.run([sys.executable, '-c', child], capture_output=True, text=True, check=True, env={environ})
print(done.stdout.strip())
print('parent', float(s))
""")
    assert done.stdout == "child 70000.0\nparent 4999950000.0\n"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_by_multiprocessing_run_alone(start, method):
    done = start(f"""
import multiprocessing
import tilewise as np

def work(n):
    return float(np.ones(n).sum())

if __name__ == '__main__':
    a = np.arange(100000.0)
    float(a.sum())
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(pool.map(work, [70000, 80000]))
    print(float(a.sum()))
""")
    assert done.stdout == "[70000.0, 80000.0]\n4999950000.0\n"


CONDITIONS = """
import warnings
import numpy
import tilewise as np
divisor = numpy.ones(80)
divisor[79] = 0  # on the last rank
a, z = np.ones(80), np.array(divisor)

def told(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter('always')
        call()
        return [str(w.message) for w in found]

by_zero = 'divide by zero encountered in divide'
for call in (lambda: (a / z).tolist(), lambda: float((a / z).sum()), lambda: (a / z)[:1].tolist() and np.synchronize()):
    assert told(call) == [by_zero], call
assert told(lambda: (a * 2).tolist()) == []
kept = []
with np.errstate(all='raise'):
    try:
        kept.append(a / z)
    except FloatingPointError as error:
        assert str(error) == by_zero
    else:
        raise AssertionError('nothing raised')
with np.errstate(all='ignore'):
    assert told(lambda: (a / z).tolist()) == []
print('fine')
"""


@pytest.mark.parametrize("mode", ["leader", "spmd"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_conditions_of_every_rank_are_told(run_program, ranks, mode):
    done = run_program(CONDITIONS, ranks=ranks, TILEWISE_MIN_TILE=1, TILEWISE_MODE=mode)
    # mpirun may put one rank's line end behind another's word.
    assert done.stdout.replace("\n", "") == "fine" * (ranks if mode == "spmd" else 1) and done.stderr == ""


def test_no_rank_runs_far_ahead(run_program):
    """What is recorded and not yet done is memory, on every rank; the loop below never waits for anything."""
    done = run_program("""
import os
from pathlib import Path
import tilewise as np

def kib():
    ranks = [p for p in Path('/proc').iterdir() if p.name.isdigit() and (p / 'stat').exists()]
    ranks = [p for p in ranks if (p / 'stat').read_text().rsplit(') ', 1)[1].split()[1] == str(os.getppid())]
    return [4 * int((p / 'statm').read_text().split()[1]) for p in ranks]

a = np.ones(100)
def loop(count):
    for _ in range(count):
        a[::-1] = a
    return kib()
before, after = loop(4000), loop(12000)
print(len(before), max(a - b for a, b in zip(after, before)) < 6000)
""", ranks=3, TILEWISE_MIN_TILE=1, timeout=120)
    assert done.stdout == "3 True\n"


@pytest.mark.parametrize("text", [
    "try:\n    sys.exit(3)\nexcept SystemExit as e:\n    assert e.code == 3 and type(e).__name__ == 'SystemExit'",
    "try:\n    sys.exit('no')\nexcept SystemExit as e:\n    kept = e\n    assert str(e) == 'no'",
    "def f():\n    try:\n        sys.exit(3)\n    finally:\n        return 1\nf()",
])
def test_sys_exit_that_is_caught_is_no_end(start, text):
    assert start(USE + f"import sys\n{text}\nprint(float(a.sum()))\n").stdout == "4999950000.0\n"


def test_exit_status_after_a_caught_sys_exit(start):
    text = "import sys\ntry:\n    sys.exit(3)\nexcept SystemExit:\n    sys.exit(4)\n"
    assert start(USE + text, check=False).returncode == 4


def test_sys_exit_in_a_thread_ends_the_thread_only(start):
    done = start(USE + """
import sys, threading
thread = threading.Thread(target=lambda: (a.sum(), sys.exit(5)))
thread.start()
thread.join()
print('alive')
""")
    assert done.stdout == "alive\n" and done.stderr == ""


def test_daemon_threads_may_compute_until_the_end(start):
    done = start(USE + """
import threading, time
def work():
    x = np.ones(100000)
    while True:
        x = x * 1.0 + 0
        float(x.sum())
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print('leaving')
""")
    assert done.stdout == "leaving\n" and done.stderr == ""


def test_after_the_end_a_plain_error_says_so(run_program):
    done = run_program("import atexit\natexit.register(lambda: last())\n" + USE + """
def last():
    try:
        (a + 1).sum().item()
    except RuntimeError as error:
        print(error)
class Late:
    def __del__(self, a=a):
        self.b = a[:10] * 2
late = Late()
late.me = late
""", ranks=2, bare=True)
    assert done.stdout == "the job has ended: the arrays that its ranks shared are gone\n"
    assert "internal error" not in done.stderr


def test_threads_may_all_record(start):
    done = start(USE + """
import threading
results = [None] * 4
def work(k):
    x = np.full(50000, float(k))
    for _ in range(50):
        x = x + 1.0
    results[k] = float(x.sum())
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(results)
""")
    assert done.stdout == f"{[50000.0 * (k + 50) for k in range(4)]}\n"


def start_job(tmp_path, text, ranks):
    """A job in a process group of its own, for tests that end it from outside."""
    (tmp_path / "prog.py").write_text(text)
    command = [sys.executable, "-m", "tilewise", str(tmp_path / "prog.py")]
    if ranks > 1:
        found = mpi.find_mpirun()
        if not found:
            pytest.skip("no mpirun")
        command = [found.path, "-n", str(ranks), *command]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                            env=os.environ | mpi.missing(os.environ))


def stat(pid):
    """The fields of /proc/PID/stat after the name: state, parent, ..."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()


def descendants(pid):
    """Process ids of a process's children and theirs."""
    children = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                children.setdefault(int(stat(entry.name)[1]), []).append(int(entry.name))
            except OSError:  # it ended meanwhile
                pass
    found, todo = [], [pid]
    while todo:
        new = children.get(todo.pop(), [])
        found += new
        todo += new
    return found


def ranks_of(job):
    return [pid for pid in descendants(job.pid) if "prog.py" in Path(f"/proc/{pid}/cmdline").read_text()]


def alive(pids):
    return [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def wait_until_gone(pids, seconds=20):
    end = time.monotonic() + seconds
    while alive(pids) and time.monotonic() < end:
        time.sleep(0.1)
    return alive(pids)


WAITING = USE + "import time\nfloat(a.sum())\nprint('ready', flush=True)\ntime.sleep(60)\nprint(float(a.sum()))\n"


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all(tmp_path, ranks, which):
    job = start_job(tmp_path, WAITING, ranks)
    assert job.stdout.readline() == "ready\n"
    family = descendants(job.pid)
    os.kill(job.pid, which)
    assert job.wait(30) != 0
    assert wait_until_gone(family) == []


COMPUTING = USE + "print('ready', flush=True)\nwhile True:\n    a[1:] += a[:-1]\n    a *= 0.5\n"


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("text", [WAITING, COMPUTING], ids=["waiting", "computing"])
def test_ctrl_c_is_told_once(tmp_path, ranks, text):
    """To the process group, as a terminal sends it."""
    job = start_job(tmp_path, text, ranks)
    assert job.stdout.readline() == "ready\n"
    family = descendants(job.pid)
    os.killpg(job.pid, signal.SIGINT)
    error = job.communicate(timeout=30)[1]
    assert job.returncode == -signal.SIGINT if ranks == 1 else job.returncode != 0
    # mpirun itself may complain of descriptors that are gone: only what we say counts.
    assert error.count("\nKeyboardInterrupt\n") == 1 and error.count("Traceback") == 1 and "tilewise: " not in error
    assert wait_until_gone(family) == []


def test_a_job_that_was_told_to_end_does_not_call_that_a_failure(tmp_path):
    """mpirun sends SIGTERM to all ranks, and SIGKILL a second later to the slow."""
    job = start_job(tmp_path, WAITING.replace("'ready'", "'ready', __import__('os').getpid()"), 2)
    leader = int(job.stdout.readline().split()[1])
    family = descendants(job.pid)
    worker = next(pid for pid in ranks_of(job) if pid != leader)
    os.kill(worker, signal.SIGTERM)
    os.kill(leader, signal.SIGKILL)
    assert "tilewise: " not in job.communicate(timeout=30)[1]
    assert wait_until_gone(family) == []


def test_ctrl_c_can_be_caught_and_the_session_goes_on(run_program):
    done = run_program(USE + """
import os, signal, threading, time
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    end = time.time() + 20
    while time.time() < end:
        b = a * 2 + 1
        float(b.sum())
except KeyboardInterrupt:
    print('caught')
print(float(a.sum()))
""", ranks=2)
    assert done.stdout == "caught\n4999950000.0\n"


@pytest.mark.parametrize("victim", ["leader", "worker"])
def test_a_rank_that_is_killed_takes_the_job_with_it(tmp_path, victim):
    job = start_job(tmp_path, WAITING.replace("'ready'", "'ready', __import__('os').getpid()"), 2)
    leader = int(job.stdout.readline().split()[1])
    family = descendants(job.pid)
    os.kill(next(pid for pid in ranks_of(job) if (pid == leader) == (victim == "leader")), signal.SIGKILL)
    assert job.wait(40) != 0
    assert wait_until_gone(family) == []


@pytest.mark.parametrize("victim", [0, 1])
def test_a_rank_that_stands_still_is_named_and_ends_the_job(tmp_path, victim, monkeypatch):
    monkeypatch.setenv("TILEWISE_TIMEOUT", "2")
    text = USE + "import os\nprint('ready', os.getpid(), flush=True)\nwhile True:\n    float((a * 2).sum())\n"
    job = start_job(tmp_path, text, 2)
    leader = int(job.stdout.readline().split()[1])
    family = descendants(job.pid)
    os.kill(next(pid for pid in ranks_of(job) if (pid == leader) == (victim == 0)), signal.SIGSTOP)
    assert job.wait(40) != 0
    assert wait_until_gone(family) == []
    assert re.search(rf"rank {victim} on .* failed: no sign of life for 2 s", job.stderr.read())


def processor_seconds(pid):
    fields = stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_who_has_nothing_to_do_uses_no_processor(tmp_path):
    job = start_job(tmp_path, WAITING, 3)
    try:
        assert job.stdout.readline() == "ready\n"
        time.sleep(1)
        ranks = ranks_of(job)
        assert len(ranks) == 3
        before = [processor_seconds(pid) for pid in ranks]
        time.sleep(5)
        used = [processor_seconds(pid) - b for pid, b in zip(ranks, before, strict=True)]
        assert max(used) <= 0.05, used  # 1 % of a core
    finally:
        os.kill(job.pid, signal.SIGTERM)
        job.wait(30)


def test_import_takes_little_longer_than_numpys(run_program):
    """Processor time, since other work on the machine must not decide; the best of five."""
    program = "import time\nt = time.process_time()\nimport {}\nprint(time.process_time() - t)\n"
    times = {name: min(float(run_program(program.format(name), bare=True).stdout) for _ in range(5))
             for name in ("numpy", "tilewise")}
    assert times["tilewise"] - times["numpy"] < 0.1, times


@pytest.mark.parametrize("name, value, says", [
    ("TILEWISE_DEVICES", "cpu:zero", "cpu:zero"),
    ("TILEWISE_MIN_TILE", "-1", "positive"),
    ("TILEWISE_FALLBACK", "maybe", "warn, error, silent"),
    ("TILEWISE_DEVICE", "cpu", "TILEWISE_DEVICES"),
])
def test_settings_that_are_wrong_are_named_in_one_line(run_program, name, value, says):
    done = run_program("import tilewise\n", bare=True, check=False, **{name: value})
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode != 0
    assert name in last and value in last and says in last
