"""Run a page of the gallery once, and keep what it made, printed and drew."""

import io
import re
import runpy
import warnings
from contextlib import redirect_stdout
from functools import cache
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
    """Run a page, with every warning but that of a window that cannot be shown an error."""
    out = io.StringIO()
    try:
        with redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*non-interactive.*")
            warnings.filterwarnings("ignore", message=".*cannot cache function.*")
            names = runpy.run_path(str(EXAMPLES / room / f"{name}.py"))
        n_axes = sum(len(plt.figure(n).axes) for n in plt.get_fignums())
    finally:
        plt.close("all")
    return Page(names, out.getvalue().splitlines(), n_axes)
