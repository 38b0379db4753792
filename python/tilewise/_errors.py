"""Exceptions and warnings of Tilewise's own; all others are Python's and NumPy's."""

from numpy._core._exceptions import UFuncTypeError as _NumpyUFuncTypeError


class UFuncTypeError(_NumpyUFuncTypeError):
    """NumPy's UFuncTypeError with the runtime's text."""

    def __init__(self, text):
        TypeError.__init__(self, text)
        self.ufunc = None

    def __str__(self):
        return self.args[0]


class FallbackWarning(UserWarning):
    """A function that is not native ran in NumPy on gathered data. TILEWISE_FALLBACK=error or silent changes this."""


class SettingError(ValueError):
    """A TILEWISE_* variable holds something else than what is allowed."""
