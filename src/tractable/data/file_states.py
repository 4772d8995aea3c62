"""The size and the time of files, by which a change between two passes over them is noticed."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tractable.value import value


@value
class FileStates:
    """Files as they were when they were opened.

    A model that is fitted in several passes needs the same rows in each of them. Files that have been
    replaced, extended or cut short since are refused.

    Examples
    --------
    >>> import os, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_text("x,1,2,3")
    >>> states = FileStates.of([path])
    >>> list(states.unchanged(path, ["a", "b"]))
    ['a', 'b']
    >>> os.truncate(path, 3)
    >>> list(states.unchanged(path, []))
    Traceback (most recent call last):
        ...
    ValueError: /tmp/.../rows.csv has changed since it was opened: it had 7 bytes, and has 3; open it again
    """

    states: dict[Path, tuple[int, int]]  # size, and time of the last change in nanoseconds

    @classmethod
    def of(cls, paths: Iterable[Path]) -> "FileStates":
        """Return the states of files now."""
        return cls(states={path: _state(path) for path in paths})

    def check(self, path: Path) -> None:
        """Refuse a file that has changed."""
        was = self.states.get(path)
        if was is None:
            return
        try:
            now = _state(path)
        except OSError as error:
            raise ValueError(f"{path} is gone since it was opened: {error.strerror}") from None
        if now != was:
            sizes = f"it had {was[0]} bytes, and has {now[0]}" if now[0] != was[0] else "it was written anew"
            raise ValueError(f"{path} has changed since it was opened: {sizes}; open it again")

    def unchanged(self, path: Path, parts: Iterable[Any]) -> Iterator[Any]:
        """Yield the parts of a file, which must be the same before, after them, and at an error."""
        self.check(path)
        try:
            yield from parts
        except Exception:
            self.check(path)
            raise
        self.check(path)


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
