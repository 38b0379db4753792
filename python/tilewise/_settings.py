"""What the environment says to the Python package."""

import os

from tilewise._errors import SettingError


def choice(variable, allowed, default):
    """The variable's value, one of `allowed`."""
    value = os.environ.get(variable, default)
    if value not in allowed:
        raise SettingError(f"{variable}={value!r}: allowed are {', '.join(allowed)}")
    return value


fallback = choice("TILEWISE_FALLBACK", ("warn", "error", "silent"), "warn")
mode = choice("TILEWISE_MODE", ("leader", "spmd"), "leader")
