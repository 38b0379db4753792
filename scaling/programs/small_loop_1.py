"""small_loop_1000 with a single element: nothing but the cost of operations."""

from .small_loop_1000 import run, setup

__all__ = ["LEAST", "SIZES", "run", "setup"]
SIZES = {"gpu": 1, "cpu": 1, "tiny": 1}
LEAST = 1
