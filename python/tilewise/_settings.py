"""What the environment says to the Python package. The runtime checks the values when it starts."""

import os

fallback = os.environ.get("TILEWISE_FALLBACK") or "warn"
mode = os.environ.get("TILEWISE_MODE") or "leader"
