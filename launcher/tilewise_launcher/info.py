"""`tilewise info`: what was built, what this machine has, and what the environment asks for."""

import importlib
import os
import platform
from pathlib import Path

from . import mpi

INDENT = 12  # width of the column of names
# Instruction sets with kernels of their own, widest first, by their names in /proc/cpuinfo.
VECTOR_SETS = {"avx512f": "AVX-512", "avx2": "AVX2", "sse4_1": "SSE4", "asimd": "NEON"}


def rows():
    """(what, text) in the order in which they are printed."""
    built = mpi.build_info()
    if built is None:
        yield "tilewise", "not installed in this Python: run launcher/install or pip install ."
    else:
        yield "tilewise", f"{built.version} ({built.build_type}, {built.compiler})"
        yield "built with", ", ".join(f"{name} {value}" for name, value in (
            ("NumPy", built.numpy), ("hwloc", built.hwloc),
            ("Highway", built.highway)))
        yield "package", str(Path(built.__file__).parent)
        yield "runtime", runtime_state()
    yield "Python", f"{platform.python_version()} with NumPy {version_of('numpy')}"
    yield from mpi_rows(built)
    yield "cores", f"{len(os.sched_getaffinity(0))} usable of {os.cpu_count()}, {vector_sets()}"
    yield "memory", f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.1f} GiB"
    yield "GPUs", gpus()
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items())
                if name.startswith("TILEWISE_") and name not in mpi.OWN_MARKS]
    yield "settings", " ".join(settings) or "no TILEWISE_ variable is set"


def version_of(package):
    try:
        return importlib.import_module(package).__version__
    except ImportError:
        return "(missing)"


def runtime_state():
    """What the extension module says of the devices it would use, or why it cannot be loaded."""
    try:
        importlib.import_module("tilewise")
        core = importlib.import_module("tilewise._core")
        return core.describe_devices().strip().replace("\n", "\n" + " " * INDENT)
    except Exception as e:
        return f"cannot be loaded: {e}"


def mpi_rows(built):
    found = mpi.find_mpirun()
    yield "mpirun", f"{found.name} ({found.path})" if found else "none: one process only (apt-get install openmpi-bin)"
    if built is not None:
        there = (Path(built.__file__).parent / "libtilewise_mpi.so").exists()
        yield "transports", "local, mpi" if there else "local (built without MPI)"


def vector_sets():
    try:
        words = set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return "instruction set unknown"
    return next((name for flag, name in VECTOR_SETS.items() if flag in words), "no vector set with kernels of its own")


def gpus():
    folder = Path("/proc/driver/nvidia/gpus")
    models = []
    for path in sorted(folder.glob("*/information")):
        lines = dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
        models.append(lines.get("Model", "GPU").strip())
    return ", ".join(models) or "none"


def print_info():
    text = "".join(f"{what:{INDENT}s}{text}\n" for what, text in rows())
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:  # the reader, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0
