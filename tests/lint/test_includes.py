"""The layers include downwards only, and no foreign type appears in a public header."""

from tree import ROOT, quoted_includes, sources, system_includes

# Each layer and those it may use. partition and comm do not know each other.
MAY_USE = {
    "runtime/base": set(),
    "partition": {"runtime/base"},
    "comm": {"runtime/base"},
    "runtime": {"runtime/base", "partition", "comm"},
    "ops": {"runtime/base", "partition", "comm", "runtime"},
    "python": {"runtime/base", "partition", "comm", "runtime", "ops"},
}
# Folders of back ends: their headers stay inside the layer that they serve.
BACK_ENDS = {"cpu", "cuda", "local", "mpi", "ucx", "nccl", "stub", "simd"}
FOREIGN = ("mpi.h", "cuda", "nccl", "ucp/", "uct/", "pybind11/", "Python.h", "numpy/", "asio", "hwloc", "hwy/", "sleef",
           "cblas")


def layer_of(path):
    parts = str(path).split("/")
    return "runtime/base" if parts[:2] == ["runtime", "base"] else parts[0]


def test_includes_go_downwards():
    wrong = []
    for path in sources():
        own = layer_of(path)
        for name in quoted_includes(path):
            if name.startswith("hwy/"):
                continue
            other = layer_of(name)
            if not (ROOT / name).is_file():
                wrong.append(f"{path} includes {name}, which is not a path from the root")
            elif other != own and other not in MAY_USE[own]:
                wrong.append(f"{path} includes {name}: {own} may not use {other}")
            elif other != own and set(name.split("/")[1:-1]) & BACK_ENDS:
                wrong.append(f"{path} includes {name}, a back end's header of another layer")
    assert not wrong, "\n".join(wrong)


def test_public_headers_name_nothing_foreign():
    public = [path for path in sources() if path.suffix == ".h" and len(path.parts) == 2]
    wrong = [f"{path} is a public header and includes {name}" for path in public
             for name in system_includes(path) + quoted_includes(path) if name.startswith(FOREIGN)]
    assert not wrong, "\n".join(wrong)
