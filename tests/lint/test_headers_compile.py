"""Each header compiles alone.

A header that some source includes before anything else has been compiled alone by the build; the others are compiled
here. A verdict is kept under a hash of all that went into it, so that a second run is quick.
"""

import hashlib
import os
import re
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from tree import ROOT, files, quoted_includes, sources

CACHE = ROOT / "build" / "lint-cache"
COMPILER = os.environ.get("CXX", "g++")
# A header that ends in -inl.h is compiled once for each instruction set, inside the file that includes it.
HEADERS = [p for p in sources() if p.suffix == ".h" and not p.name.endswith("-inl.h")]


def included_first():
    """The headers whose include is the first directive of a source."""
    firsts = (re.search(r"^\s*#.*$", (ROOT / f).read_text(), re.MULTILINE) for f in files() if f.suffix == ".cpp")
    found = (re.match(r'\s*#\s*include\s+"([^"]+)"', first.group()) for first in firsts if first)
    return {match[1] for match in found if match}


@cache
def flags():
    import numpy
    import pybind11

    system = [sysconfig.get_path("include"), numpy.get_include(), pybind11.get_include()]
    mpi = subprocess.run(["sh", "-c", "mpicxx --showme:incdirs"], capture_output=True, text=True)
    system += mpi.stdout.split() if mpi.returncode == 0 else []
    return ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-DOMPI_SKIP_MPICXX",
            "-I", str(ROOT), *[part for folder in system for part in ("-isystem", folder)]]


def closure(path):
    """The header and all project files that it includes, directly or not."""
    seen, todo = set(), [str(path)]
    while todo:
        name = todo.pop()
        if name not in seen and (ROOT / name).is_file():
            seen.add(name)
            todo += quoted_includes(name)
    return sorted(seen)


def key(path):
    h = hashlib.sha256(" ".join([COMPILER, *flags()]).replace(str(ROOT), "").encode())
    for name in closure(path):
        h.update(name.encode() + b"\0" + (ROOT / name).read_bytes())
    return h.hexdigest()


def compile_alone(path):
    """What the compiler says; empty if it is content."""
    known = CACHE / key(path)
    if known.exists():
        return ""
    done = subprocess.run([COMPILER, *flags(), "-x", "c++", "-"], input=f'#include "{path}"\n', cwd=ROOT,
                          capture_output=True, text=True)
    if done.returncode == 0:
        CACHE.mkdir(parents=True, exist_ok=True)
        known.touch()
        return ""
    return done.stderr or f"{COMPILER} ended with status {done.returncode}"


def test_headers_compile_alone():
    built = included_first()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [said for said in pool.map(compile_alone, (p for p in HEADERS if str(p) not in built)) if said]
    assert not wrong, "\n".join(wrong)


def test_headers_open_with_a_comment_and_pragma_once():
    for path in HEADERS:
        text = (ROOT / path).read_text()
        assert text.startswith("//"), f"{path}: no opening comment"
        assert re.search(r"^#pragma once$", text, re.MULTILINE), f"{path}: no #pragma once"
