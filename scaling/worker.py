"""Measures programs on one module, as told line by line on standard input. Started by scaling/bench.

usage: python worker.py MODULE       MODULE: numpy, jax, jaxjit, numexpr, or any module with NumPy's functions

Each line is a JSON request, {"do": "setup", "program": name, "n": size} or {"do": "run"}; each answer is one JSON line
with "seconds" and "processor_seconds" (of the whole process), or with "error".
"""

import importlib
import json
import os
import resource
import sys
import time

MODULE = sys.argv[1]
# First of all: under mpirun this keeps every rank but the first.
xp = importlib.import_module({"jax": "jax.numpy", "jaxjit": "jax.numpy"}.get(MODULE, MODULE))

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import programs  # noqa: E402


def leaves(out):
    return out if isinstance(out, tuple) else (out,)


def wait(out):
    """Returns when the values are there."""
    if hasattr(xp, "synchronize"):
        xp.synchronize()
    elif MODULE.startswith("jax"):
        importlib.import_module("jax").block_until_ready(out)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def be_quiet(limit_s=1.0):
    """Returns when this process no longer computes: OpenBLAS's threads spin for some 30 ms after a product, which would
    slow down whoever has the next turn."""
    end = time.perf_counter() + limit_s
    while time.perf_counter() < end:
        used = processor_seconds()
        time.sleep(0.01)
        if processor_seconds() - used < 0.001:
            return


class Session:
    """The program that was set up last, and its input."""

    def setup(self, program, n):
        module = programs.load(program)
        special = getattr(module, "run_" + MODULE, None)  # a module with words of its own, such as numexpr
        if special is None and MODULE == "numexpr":
            raise NotImplementedError("not written for numexpr")
        self.function = special or module.run
        self.state = module.setup(importlib.import_module("numpy") if special else xp, n)
        if MODULE == "jaxjit":
            jax = importlib.import_module("jax")
            compiled = jax.jit(lambda state: module.run(xp, state))
            self.function = lambda _, state: compiled(state)
        wait(self.state)

    def run(self):
        start, used = time.perf_counter(), processor_seconds()
        out = self.function(xp, self.state)
        wait(out)
        seconds, used = time.perf_counter() - start, processor_seconds() - used
        # A few values, by which the modules are seen to have done the same work.
        check = [float(abs(x.ravel()[:1000]).sum()) if getattr(x, "ndim", 0) else float(x) for x in leaves(out)]
        return {"seconds": seconds, "processor_seconds": used, "check": check}


def main():
    if MODULE.startswith("jax"):
        importlib.import_module("jax").config.update("jax_enable_x64", True)
    # Answers leave through a copy of standard output: what a library prints cannot come between.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    session = Session()
    version = getattr(importlib.import_module(MODULE.removesuffix("jit")), "__version__", "")
    print(json.dumps({"ready": version}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = session.run() if request.pop("do") == "run" else session.setup(**request) or {}
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"[:150]}
        be_quiet()
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
