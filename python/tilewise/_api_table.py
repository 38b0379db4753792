"""Prints docs/api.md: which of NumPy's public names are native. python -m tilewise._api_table > docs/api.md"""

import textwrap
import types

import numpy

import tilewise

SUBMODULES = ("linalg", "fft", "random")
HEAD = """# NumPy's names: native or by fallback

Made by `python -m tilewise._api_table` from `tilewise.native`; a test compares. A *native* name runs on tiles, in the
forms that `tests/python/test_native.py` tries with `TILEWISE_FALLBACK=error`. All others work as well: NumPy computes
them on gathered data, and says so (`TILEWISE_FALLBACK`). Types, constants, files, printing and settings are NumPy's own
objects and are not listed.
"""


def functions(module):
    """Public names of a module that compute something."""
    names = getattr(module, "__all__", dir(module))
    for name in sorted(set(names)):
        value = getattr(module, name, None)
        if callable(value) and not isinstance(value, (type, types.ModuleType)) and not name.startswith("_"):
            yield name


def methods(kind=numpy.ndarray):
    for name in dir(kind):
        if callable(getattr(kind, name)) and not name.startswith("_"):
            yield name


def section(title, prefix, names):
    from tilewise import _namespace

    native = [name for name in names if prefix + name in tilewise.native]
    quiet = _namespace.QUIET | _namespace.SHAPES
    others = [name for name in names if prefix + name not in tilewise.native and name not in quiet]
    total = len(native) + len(others)
    yield f"## {title}: {len(native)} of {total} native\n"
    for what, listed in (("Native", native), ("By fallback", others)):
        if listed:
            yield (
                textwrap.fill(f"{what}: " + ", ".join(f"`{name}`" for name in listed), 118, break_on_hyphens=False)
                + "\n"
            )


def lines():
    yield HEAD
    ufuncs = [n for n in functions(numpy) if isinstance(getattr(numpy, n), numpy.ufunc)]
    yield from section("Ufuncs", "", ufuncs)
    yield from section("Functions", "", [n for n in functions(numpy) if n not in ufuncs])
    yield from section("Methods of ndarray", "ndarray.", list(methods()))
    for module in SUBMODULES:
        yield from section(f"numpy.{module}", module + ".", list(functions(getattr(numpy, module))))
    yield from section("Methods of random.Generator", "random.Generator.", list(methods(numpy.random.Generator)))


def table():
    return "\n".join(lines())


if __name__ == "__main__":
    print(table(), end="")
