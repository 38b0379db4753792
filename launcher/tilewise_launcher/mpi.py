"""Which mpirun is there, and what it needs to be told. Open MPI 4 and 5, MPICH and Intel MPI are known.

The command must belong to the MPI that the transport library was built with, so the build's own is preferred to
the first on the path.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Containers run as root, and ranks may outnumber cores: the names of Open MPI 4 and 5. Harmless to any other MPI.
NEEDED = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
# Variables that remote ranks get, besides all whose name starts with one of the prefixes.
PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "PYTHONPATH")
PASSED_PREFIXES = ("TILEWISE_", "OPENBLAS_", "PYTHON")
# What a running program leaves for its children, which are to run alone. A job that we start is no child of it.
OWN_MARKS = ("TILEWISE_FIRST_PROCESS", "TILEWISE_ALONE")


@dataclass(frozen=True)
class Mpirun:
    path: str
    kind: str  # "openmpi", "mpich" or "other"
    version: str

    @property
    def name(self):
        return {"openmpi": "Open MPI", "mpich": "MPICH"}.get(self.kind, "MPI") + " " + self.version


def build_info():
    """What the installed package was built with, as a module; None where there is no package. Does not import it."""
    spec = importlib.util.find_spec("tilewise")
    for folder in (spec and spec.submodule_search_locations) or []:
        path = Path(folder) / "_build_info.py"
        if path.exists():
            info = importlib.util.spec_from_file_location("tilewise_build_info", path)
            module = importlib.util.module_from_spec(info)
            info.loader.exec_module(module)
            return module
    return None


def find_mpirun():
    """The mpirun to use, or None."""
    built = getattr(build_info(), "mpiexec", "")
    path = built if built and os.access(built, os.X_OK) else shutil.which("mpirun") or shutil.which("mpiexec")
    if not path:
        return None
    done = subprocess.run([path, "--version"], capture_output=True, text=True)
    return describe(path, done.stdout + done.stderr)


def describe(path, text):
    """An Mpirun from what `mpirun --version` says."""
    number = re.search(r"\d+\.\d+(\.\d+)*", text)
    if re.search(r"Open ?MPI|OpenRTE|prterun|open-mpi", text, re.IGNORECASE):
        kind = "openmpi"
    elif re.search(r"HYDRA|MPICH", text, re.IGNORECASE):
        kind = "mpich"
    else:
        kind = "other"
    return Mpirun(path, kind, number.group() if number else "")


def missing(environ):
    """What must be added to the environment; what the user set stays as it is."""
    return {name: value for name, value in NEEDED.items() if name not in environ}


def passed_on(environ):
    """Names of the variables that remote ranks get."""
    return sorted(n for n in environ
                  if n in PASSED_ON or n.startswith(PASSED_PREFIXES) and n not in OWN_MARKS)
