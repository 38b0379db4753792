"""repr and str as NumPy's. Of a large array only the shown edges are gathered."""

import itertools

import numpy

from tilewise import _core


def _shown(a):
    """(a NumPy array to print, whether it stands for a larger one).

    A summarised axis is cut to its edges and one element between them, which NumPy then leaves out again.
    """
    held = a._host()
    if held is not None:
        return held, False
    options = numpy.get_printoptions()
    edge = options["edgeitems"]
    if a.size <= options["threshold"]:
        return a._gather(), False
    parts = [[slice(None)] if n <= 2 * edge else [slice(0, edge + 1), slice(n - edge, n)] for n in a.shape]
    shown = numpy.empty([n if n <= 2 * edge else 2 * edge + 1 for n in a.shape], a.dtype)
    places = [[slice(None)] if n <= 2 * edge else [slice(0, edge + 1), slice(edge + 1, None)] for n in a.shape]
    for source, place in zip(itertools.product(*parts), itertools.product(*places), strict=True):
        shown[place] = _core.ndarray.__getitem__(a, source)._gather()
    return shown, True


def array_repr(a):
    shown, cut = _shown(a)
    if not cut:
        text = repr(shown)
    else:
        with numpy.printoptions(threshold=0):
            text = repr(shown).replace(f"shape={shown.shape}", f"shape={a.shape}")
    if type(a) is not _core.ndarray and text.startswith("array("):
        name = type(a).__name__
        text = name + text[5:].replace("\n", "\n" + " " * (len(name) - 5))
    return text


def array_str(a):
    shown, cut = _shown(a)
    if not cut:
        return str(shown)
    with numpy.printoptions(threshold=0):
        return str(shown)
