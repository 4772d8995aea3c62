"""The special functions of `tractable.arrays`, whichever of its modules they are in."""

from types import SimpleNamespace

from tractable.arrays import error_function, gamma, incomplete, log_space, student

__all__ = ["special"]

MODULES = (error_function, gamma, incomplete, log_space, student)

special = SimpleNamespace(
    **{name: getattr(module, name) for module in MODULES for name in module.__all__ if name.islower()}
)
