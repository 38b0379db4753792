"""What the studies share: a process that runs programs when asked, and facts about the machine."""

import json
import os
import platform
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path

from tilewise_launcher import mpi

HERE = Path(__file__).resolve().parent
SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


class Worker:
    """scaling/worker.py on one module, alone or on several ranks. One that hangs or dies is started again at the next
    request."""

    def __init__(self, label, module, ranks=1, env=None):
        self.label, self.module, self.ranks, self.env = label, module, ranks, env or {}
        self.process, self.version = None, ""

    def start(self):
        command = [sys.executable, str(HERE / "worker.py"), self.module]
        env = {k: v for k, v in os.environ.items() if k not in SLOWING} | self.env
        if self.ranks > 1:
            found = mpi.find_mpirun()
            command = [found.path, "-n", str(self.ranks), *command]  # rank 0 reads standard input and answers
            env |= mpi.missing(env)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True,
                                        start_new_session=True)
        self.version = self.answer(60).get("ready", "")

    def ask(self, request, limit_s):
        """The answer, or {"error": ...}."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass
        return self.answer(limit_s)

    def answer(self, limit_s):
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(limit_s):
                self.kill()
                return {"error": f"took longer than {limit_s:g} s"}
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            return {"error": f"the process ended with status {status}"}
        return json.loads(line)

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()


def two_busy_processes():
    """How many times longer two busy processes take than one: 1.0 where two cores are free."""
    work = "import time\nt = time.perf_counter()\nfor i in range(6_000_000): pass\nprint(time.perf_counter() - t)"

    def longest(count):
        running = [subprocess.Popen([sys.executable, "-c", work], stdout=subprocess.PIPE, text=True)
                   for _ in range(count)]
        return max(float(p.communicate()[0]) for p in running)

    alone = min(longest(1) for _ in range(3))
    return min(longest(2) for _ in range(3)) / alone


def machine():
    """What a reader of the numbers must know about where they were measured."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    models = {line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")}
    found = mpi.find_mpirun()
    return {
        "processor": ", ".join(sorted(models)) or platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "caches": caches(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "mpi": found.name if found else "",
        "settings": {k: v for k, v in os.environ.items() if k.startswith("TILEWISE_")},
        "when": time.strftime("%Y-%m-%d %H:%M"),
    }


def caches():
    """{"L1d": "48K", ...} of the first core."""
    found = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = ((index / part).read_text().strip() for part in ("level", "type", "size"))
        except OSError:
            continue
        found[f"L{level}" + {"Data": "d", "Instruction": "i"}.get(kind, "")] = size
    return found
