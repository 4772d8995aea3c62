"""The native core: hot loops compiled ahead of time for each level of processors, and their pool of threads.

The sources are in ``src/native``. A library that was built without a compiler has no modules: `primitives`
then runs its array-API forms alone.
"""

import os
import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

#: Levels of x86-64 that modules are built for, the highest first; every other processor has level 1.
LEVELS = (4, 3, 1)


@cache
def native_core() -> Any:
    """Return the module of `native_level`; None without one."""
    level = native_level()
    return import_module(f"tractable._core.v{level}") if level else None


@cache
def native_level() -> int:
    """Return the highest level of which this processor is and a module is there; 0 without a module.

    ``TRACTABLE_LEVEL`` names a lower level. At 0 no module is used.
    """
    try:
        processor: Any = import_module("tractable._core.processor")
    except ImportError:  # built without a compiler
        return 0
    most = min(asked_level(), processor.level())
    built = (level for level in LEVELS if level <= most and find_spec(f"tractable._core.v{level}"))
    return next(built, 0)


def asked_level() -> int:
    """Return the level that ``TRACTABLE_LEVEL`` names, or the highest."""
    given = os.environ.get("TRACTABLE_LEVEL", "").strip()
    if given in {"", "0", *map(str, LEVELS)}:
        return int(given or max(LEVELS))
    warnings.warn(f"TRACTABLE_LEVEL must be 0, 1, 3 or 4, got {given!r}: it is ignored", stacklevel=2)
    return max(LEVELS)
