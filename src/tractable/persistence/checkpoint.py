"""Long fits that survive being killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from tractable.engines.checkpoint import checkpointing
from tractable.persistence.verbs import load, save

__all__ = ["checkpoint"]


@contextmanager
def checkpoint(path: str | PathLike[str], *, every: float = 30.0) -> Iterator[None]:
    """Write the searches inside down in a file, and take up those that a killed run had written.

    Run the same code again after a kill: finished searches (restarts, say) are read, the one that was under
    way goes on, and the answer is the one that an undisturbed run would have given. The same code means the
    same data, parameters and seed; a search of another kind or size is refused. When the block ends well, the
    file is removed.

    Parameters
    ----------
    path : path
        The file.
    every : float
        Seconds between two writes.

    Examples
    --------
    >>> import os, tempfile, numpy as np, tractable
    >>> X = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 5.0], [4.0, 6.0]])
    >>> path = os.path.join(tempfile.mkdtemp(), "fit.checkpoint")
    >>> with tractable.checkpoint(path):
    ...     model = tractable.GaussianDensity().fit(X)
    >>> os.path.exists(path)
    False
    """
    if not every >= 0.0:
        raise ValueError(f"every must be a number of seconds, got {every!r}")
    file = Path(path)
    if not file.parent.is_dir():
        raise ValueError(f"path: there is no folder {file.parent}")
    with checkpointing(_File(file), every):
        yield
    file.unlink(missing_ok=True)


class _File:
    """States in one file, written whole each time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        found: Any = load(path) if path.exists() else {}
        if not (isinstance(found, dict) and all(isinstance(number, int) for number in found)):
            raise ValueError(f"path: {path} is not a checkpoint; choose another file")
        self.states: dict[int, Any] = found

    def load(self, number: int) -> Any | None:
        return self.states.get(number)

    def save(self, number: int, state: Any) -> None:
        self.states[number] = state
        save(self.states, self.path)
