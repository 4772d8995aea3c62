"""Progress of long work: a bar in a terminal, a line a step elsewhere."""

import sys
import time
from typing import Any, Self

from tractable.cli.printable import printable
from tractable.cli.talk import Talk

__all__ = ["Steps"]

#: Seconds between lines of one step where nobody watches.
PATIENCE = 5.0


class Steps:
    """What to call as work goes on: with what is being done, and how much of all is (0 to 1, or None).

    Examples
    --------
    >>> from tractable.cli.talk import talking
    >>> with talking(quiet=True) as say, Steps(say) as step:
    ...     step("reading", 0.5)
    """

    def __init__(self, say: Talk) -> None:
        self.say = say
        self.bar: Any = None
        self.said, self.when = "", 0.0

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and not (self.say.quiet or self.say.as_json):
            self.bar, self.task = _bar()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, text: str, done: float | None = None) -> None:
        if self.bar is not None:
            self.bar.update(
                self.task,
                description=printable(text),
                completed=done or 0.0,
                total=None if done is None else 1.0,
            )
            return
        step, now = text.partition(": ")[0], time.monotonic()
        if step != self.said or now - self.when > PATIENCE:
            self.say.progress(f"{text} …")
            self.said, self.when = step, now


def _bar() -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.start()
    return bar, bar.add_task("starting", total=1.0)
