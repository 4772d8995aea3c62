"""A progress line on the terminal, once work has taken a second."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 1.0


class Progress:
    """A progress line on standard error, shown after `PATIENCE` seconds on a terminal.

    ``TRACTABLE_PROGRESS=0`` or ``1`` decides; else whether standard error is a terminal.
    """

    def __init__(self, label: str, total: float | None) -> None:
        self.label, self.total, self.done = label, total, 0.0
        asked = os.environ.get("TRACTABLE_PROGRESS", "")
        self.watched = asked == "1" if asked in {"0", "1"} else sys.stderr.isatty()
        self.began = time.monotonic()
        self.bar: Any = None

    def advance(self, amount: float = 1.0, note: str = "") -> None:
        """Advance the progress by an amount; the note is shown after the label."""
        self.done += amount
        if not self.watched or time.monotonic() - self.began < PATIENCE:
            return
        if self.bar is None:
            self.bar, self.task = _bar(self.label, self.total)
        text = f"{self.label}  {note}" if note else self.label
        self.bar.update(self.task, completed=self.done, description=text)

    def close(self) -> None:
        """Remove the progress line."""
        if self.bar is not None:
            self.bar.stop()


@contextmanager
def progress(label: str, total: float | None = None) -> Iterator[Progress]:
    """Count work under a label.

    Examples
    --------
    >>> with progress("reading", total=10) as line:
    ...     line.advance(10)
    """
    line = Progress(label, total)
    try:
        yield line
    finally:
        line.close()


def _bar(label: str, total: float | None) -> tuple[Any, Any]:
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(),
    )
    console = Console(stderr=True, force_terminal=True)
    bar = rich.Progress(rich.TextColumn("{task.description}"), *columns, console=console, transient=True)
    bar.start()
    return bar, bar.add_task(label, total=total)
