"""`flags` and `flat` of arrays."""

import numpy

from tilewise import _core


class Flags:
    """As NumPy's flags. Contiguity is that of the view; data never aligns with an address."""

    def __init__(self, array):
        held = array._host()
        self._array = array
        self.c_contiguous = array._is_c() if held is None else held.flags.c_contiguous
        self.f_contiguous = array._is_f() if held is None else held.flags.f_contiguous
        self.owndata = array.base is None
        self.writeable = not isinstance(array, _core.scalar) and 0 not in [
            s for s, n in zip(array.strides, array.shape, strict=True) if n > 1
        ]
        self.aligned = True
        self.writebackifcopy = False

    contiguous = property(lambda self: self.c_contiguous)
    fortran = property(lambda self: self.f_contiguous)
    fnc = property(lambda self: self.f_contiguous and not self.c_contiguous)
    forc = property(lambda self: self.f_contiguous or self.c_contiguous)
    carray = behaved = property(lambda self: self.writeable)

    _LETTERS = {
        "C": "c_contiguous",
        "F": "f_contiguous",
        "O": "owndata",
        "W": "writeable",
        "A": "aligned",
        "X": "writebackifcopy",
        "CONTIGUOUS": "c_contiguous",
        "FORTRAN": "f_contiguous",
    }

    def __getitem__(self, key):
        name = self._LETTERS.get(key, key.lower())
        if not hasattr(self, name):
            raise KeyError("Unknown flag")
        return getattr(self, name)

    def __repr__(self):
        names = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY")
        return "".join(f"  {name} : {self[name]}\n" for name in names)


class Flat:
    """As NumPy's flatiter: the elements in C order, read and written by position."""

    def __init__(self, array):
        self.base = array
        self.index = 0

    def _line(self):
        return self.base.reshape(-1)

    def __len__(self):
        return self.base.size

    def __iter__(self):
        return iter(self._line())

    def __next__(self):
        if self.index >= len(self):
            raise StopIteration
        self.index += 1
        return self._line()[self.index - 1]

    @property
    def coords(self):
        return numpy.unravel_index(self.index, self.base.shape)

    def copy(self):
        return self._line().copy()

    def __array__(self, dtype=None, copy=None):
        return numpy.asarray(self._line()).astype(dtype) if dtype else numpy.asarray(self._line())

    def __getitem__(self, key):
        result = self._line()[key]
        return result.copy() if isinstance(result, _core.ndarray) else result

    def __setitem__(self, key, value):
        line = self._line()
        copied = not line._shares(self.base)
        chosen = line[key]
        if isinstance(chosen, _core.ndarray):
            value = _core.from_numpy(numpy.asarray(value)) if not isinstance(value, _core.ndarray) else value
            value = value.reshape(-1)
            if value.size and value.size != chosen.size:
                from tilewise import resize

                value = resize(value, chosen.size)
        line[key] = value
        if copied:
            self.base[...] = line.reshape(self.base.shape)
