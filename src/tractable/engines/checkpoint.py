"""Where long searches write themselves down, and find themselves again.

Engines know only this contract. Who keeps the states, and where, is said from above: see
:func:`tractable.checkpoint`.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol


class Store(Protocol):
    """Keeps the states of searches, numbered in the order in which they begin."""

    def load(self, number: int) -> Any | None:
        """Return the state of a search, where one was kept."""

    def save(self, number: int, state: Any) -> None:
        """Keep the state of a search."""


class Checkpoint:
    """One search's place in a store; without a store, a place where nothing is kept."""

    def __init__(self, store: Store | None, number: int, every: float) -> None:
        self._store, self._number, self._every = store, number, every
        self._last = time.monotonic()

    @property
    def state(self) -> Any | None:
        """What the search had written down, if anything."""
        return None if self._store is None else self._store.load(self._number)

    def offer(self, state: Callable[[], Any]) -> None:
        """Keep the state if it is time to."""
        if self._store is not None and time.monotonic() - self._last >= self._every:
            self.keep(state())

    def keep(self, state: Any) -> None:
        """Keep the state now."""
        if self._store is not None:
            self._store.save(self._number, state)
            self._last = time.monotonic()


class _Session:
    def __init__(self, store: Store, every: float) -> None:
        self.store, self.every, self.begun = store, every, 0


_session: ContextVar[_Session | None] = ContextVar("tractable checkpoint", default=None)


@contextmanager
def checkpointing(store: Store, every: float) -> Iterator[None]:
    """Let the searches that begin inside keep their states in a store, at most every so many seconds."""
    token = _session.set(_Session(store, every))
    try:
        yield
    finally:
        _session.reset(token)


def next_checkpoint() -> Checkpoint:
    """Return the place of a search that begins now."""
    session = _session.get()
    if session is None:
        return Checkpoint(None, 0, 0.0)
    session.begun += 1
    return Checkpoint(session.store, session.begun - 1, session.every)
