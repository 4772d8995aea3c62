"""Run a page of the gallery once, and keep what it made, printed and drew."""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

EXAMPLES = Path(__file__).parent.parent / "examples"
#: A number that does not belong to a word, such as the 0 of "x0".
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


class Page(NamedTuple):
    """The names a page leaves behind, the lines it prints, and the axes that it draws."""

    names: dict[str, Any]
    lines: list[str]
    n_axes: int

    def numbers(self, start: str = "") -> list[list[float]]:
        """Return the numbers of every line that begins so, those of the beginning left out."""
        return [numbers(line[len(start) :]) for line in self.lines if line.startswith(start)]


def numbers(line: str) -> list[float]:
    """Return the numbers of a line."""
    return [float(x) for x in NUMBER.findall(line)]


def pages(room: str) -> list[str]:
    """Return the names of a room's pages."""
    return sorted(page.stem for page in (EXAMPLES / room).glob("plot_*.py"))


@cache
def page(room: str, name: str) -> Page:
    """Run a page as the documentation does: each part in turn, its figures taken when it ends.

    Every warning is an error, but that of a window that cannot be shown.
    """
    path, out, n_axes = EXAMPLES / room / f"{name}.py", io.StringIO(), 0
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        with redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*non-interactive.*")
            warnings.filterwarnings("ignore", message=".*cannot cache function.*")
            for part in parts(path.read_text(encoding="utf-8")):
                exec(compile(part, str(path), "exec"), names)
                n_axes += drawn(path)
    finally:
        plt.close("all")
    return Page(names, out.getvalue().splitlines(), n_axes)


def parts(source: str) -> Iterator[str]:
    """Yield the parts of a page, each at the lines where it stands."""
    lines = source.splitlines()
    starts = [0, *(i for i, line in enumerate(lines) if line.startswith("# %%")), len(lines)]
    for start, stop in pairwise(starts):
        yield "\n" * start + "\n".join(lines[start:stop])


def drawn(path: Path) -> int:
    """Close the figures of a part and return how many axes they have, none of which may be empty."""
    axes = [ax for n in plt.get_fignums() for ax in plt.figure(n).axes]
    assert all(ax.has_data() for ax in axes), f"{path.name} has axes that are empty when their part ends"
    plt.close("all")
    return len(axes)
