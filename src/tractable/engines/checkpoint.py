"""Checkpoints: states of long searches, saved now and then, from which they are resumed.

Engines know only this contract. Who keeps the states, and where, is said from above: see
:func:`tractable.checkpoint`.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import is_dataclass
from typing import Any, Protocol

import numpy as np

from tractable.arrays.namespace import is_foreign_array, to_numpy
from tractable.value import parameters, value


class Store(Protocol):
    """Stores the states of searches, numbered in the order in which they begin."""

    def load(self, number: int) -> Any | None:
        """Return the state of a search, where one was saved."""

    def save(self, number: int, state: Any) -> None:
        """Save the state of a search."""


class Checkpoint:
    """The saved state of one search in a store; without a store nothing is saved."""

    def __init__(self, store: Store | None, number: int, every: float) -> None:
        self._store, self._number, self._every = store, number, every
        self._last = time.monotonic()

    @property
    def is_stored(self) -> bool:
        """Whether there is a store."""
        return self._store is not None

    @property
    def state(self) -> Any | None:
        """The state that an earlier run of the search saved, or None."""
        return None if self._store is None else self._store.load(self._number)

    def save_if_due(self, state: Callable[[], Any]) -> None:
        """Save the state if the last save was long enough ago."""
        if self._store is not None and time.monotonic() - self._last >= self._every:
            self.save(state())

    def save(self, state: Any) -> None:
        """Save the state now."""
        if self._store is not None:
            self._store.save(self._number, state)
            self._last = time.monotonic()


class _Session:
    def __init__(self, store: Store, every: float) -> None:
        self.store, self.every, self.begun = store, every, 0


_session: ContextVar[_Session | None] = ContextVar("tractable checkpoint", default=None)


@contextmanager
def checkpointing(store: Store, every: float) -> Iterator[None]:
    """Let the searches that begin inside save their states to a store, at most every so many seconds."""
    token = _session.set(_Session(store, every))
    try:
        yield
    finally:
        _session.reset(token)


def checkpoints() -> bool:
    """Return whether searches that begin now save their states."""
    return _session.get() is not None


def next_checkpoint() -> Checkpoint:
    """Return the checkpoint of a search that begins now."""
    session = _session.get()
    if session is None:
        return Checkpoint(None, 0, 0.0)
    session.begun += 1
    return Checkpoint(session.store, session.begun - 1, session.every)


@value
class BlockDigest:
    """A function of a block of data: a number that changes with any entry, and adds."""

    def __call__(self, block: Any) -> int:
        return int.from_bytes(fingerprint(block)[:7])


def fingerprint(x: Any) -> bytes:
    """Return a digest of what an object holds: numbers, text, arrays, and values and containers of them.

    Of anything else, functions and generators of random numbers say, the type alone counts: a digest is equal
    in every process that runs the same code.

    Examples
    --------
    >>> same = fingerprint({"tol": 0.1, "start": np.zeros(3)})
    >>> same == fingerprint({"tol": 0.1, "start": np.zeros(3)}), same == fingerprint({"tol": 0.2})
    (True, False)
    """
    digest = hashlib.blake2b(type(x).__name__.encode(), digest_size=16)
    for part in _parts(x):
        digest.update(part if isinstance(part, bytes) else fingerprint(part))
    return digest.digest()


def _parts(x: Any) -> list[Any]:
    """Return what a digest is of: bytes, or the parts of an object."""
    if x is None or isinstance(x, bool | int | float | complex | str | np.generic):
        return [repr(x).encode()]
    if isinstance(x, np.ndarray) or is_foreign_array(x):
        array = to_numpy(x)
        entries = array.ravel().tolist() if array.dtype.hasobject else [np.ascontiguousarray(array).tobytes()]
        return [array.dtype.str, *array.shape, *entries]
    if isinstance(x, Mapping):
        return [part for pair in x.items() for part in pair]
    if isinstance(x, list | tuple):
        return [*x]
    if isinstance(x, type) or not (is_dataclass(x) or hasattr(x, "get_params")):
        return []
    return [parameters(x) if is_dataclass(x) else x.get_params(deep=False)]
