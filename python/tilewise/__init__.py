"""Tilewise: a NumPy-compatible array whose data lies in tiles on the devices of one machine or a cluster.

    import tilewise as np

Every public name of NumPy is here: native where `tilewise.native` holds it, otherwise run by NumPy on gathered data.
"""

from importlib import import_module as _import_module

import numpy as _numpy

from tilewise import _core, _process

_process.start()

# After the start: under mpirun a worker never comes here.
from tilewise import _fp, _namespace  # noqa: E402
from tilewise._errors import FallbackWarning as FallbackWarning  # noqa: E402

_CHAPTERS = """creation manipulation joining padding reductions scans searching logic products formulas selection
    sorting methods protocols modules submodules random"""
for _chapter in _CHAPTERS.split():
    _import_module("tilewise._" + _chapter)
_fp.install()

ndarray = _core.ndarray
scalar = _core.scalar
ufunc = _core.ufunc
globals().update(_namespace.NAMES)

try:
    from tilewise._build_info import version as __version__
except ImportError:
    __version__ = "0"


def synchronize():
    """Waits for all recorded work and raises what failed."""
    _core.settle()


def report():
    """Counters since the start: operations, tasks, kernels, bytes by path, fallbacks by name; peak bytes by device.

    A peak is the most since the last synchronize() but one: two of them measure what lies between.
    """
    return dict(sorted(_core.counters().items()))


def __getattr__(name):
    if name == "native":
        value = _namespace.native()
    else:
        value = _namespace.find(name)
    globals()[name] = value
    return value


def __dir__():
    own = {name for name in globals() if not name.startswith("_") or name.startswith("__")}
    return sorted(set(_numpy.__all__) | own | {"native"})


__all__ = sorted({*_numpy.__all__, "synchronize", "report", "native", "FallbackWarning"})
