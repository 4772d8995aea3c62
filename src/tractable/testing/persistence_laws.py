"""Laws of saving: what comes back is what went in, to the bit."""

import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tractable.persistence import load, save
from tractable.persistence.names import is_estimator, is_value
from tractable.value import parameters


def survives_saving(instance: Any, rng: np.random.Generator) -> None:
    """``load(save(x))`` has the class, the parameters and the attributes of x, bit by bit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "saved")
        save(instance, path)
        assert_identical(load(path, types=_users_classes(instance)), instance, type(instance).__name__)


def saving_is_deterministic(instance: Any, rng: np.random.Generator) -> None:
    """Saving twice, or saving what was loaded, gives the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        first, second, third = (Path(folder, name) for name in ("first", "second", "third"))
        save(instance, first)
        save(instance, second)
        save(load(first, types=_users_classes(instance)), third)
        assert first.read_bytes() == second.read_bytes(), "saving twice gives different bytes"
        assert first.read_bytes() == third.read_bytes(), "saving what was loaded gives different bytes"


PERSISTENCE_LAWS = (survives_saving, saving_is_deterministic)


def check_persistence(instance: Any, rng: Any = 0) -> None:
    """Run every law of saving on one instance."""
    for law in PERSISTENCE_LAWS:
        law(instance, np.random.default_rng(rng))


def assert_identical(a: Any, b: Any, path: str) -> None:
    """Raise AssertionError where two objects differ in class, structure or a bit of their data."""
    assert type(a) is _plain(b), f"{path} is a {type(a).__name__}, not a {type(b).__name__}"
    parts = _parts(b)
    if parts is None:
        assert _bits(a) == _bits(b), f"{path} is {a!r}, not {b!r}"
        return
    others = _parts(a)
    assert list(others) == list(parts), f"{path} has the parts {list(others)}, not {list(parts)}"
    for name, part in parts.items():
        assert_identical(others[name], part, f"{path}.{name}")


def _plain(x: Any) -> type:
    return np.ndarray if isinstance(x, np.memmap) else type(x)


def _parts(x: Any) -> Any:
    """Return the named parts of a structured object, None for a leaf."""
    if isinstance(x, dict):
        return x
    if isinstance(x, (list, tuple)):
        return dict(enumerate(x))
    if is_value(type(x)):
        return parameters(x)
    return {**x.get_params(deep=False), **vars(x)} if is_estimator(type(x)) else None


def _bits(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype.kind == "O":
        return x.shape, [(type(item), _bits(item)) for item in x.ravel()]
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype.str, x.shape, x.tobytes()
    if isinstance(x, (float, complex)):
        return x.real != x.real or struct.pack("d", x.real), x.imag != x.imag or struct.pack("d", x.imag)
    return x


def _users_classes(x: Any) -> set[type]:
    """Return the classes inside x that are not this package's: those a caller gives to `load`."""
    found: set[type] = set()
    waiting = [x]
    while waiting:
        part = waiting.pop()
        if (inside := _parts(part)) is not None:
            found.add(type(part))
            waiting += inside.values()
    return {cls for cls in found if not cls.__module__.startswith("tractable.")}
