"""The cells of the sweep, the file that keeps them, and the heat map of the page of results."""

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median

KEPT = Path(__file__).parents[1] / "shapes.json"

#: The colour of a ratio, from the slowest: the first whose bound it is below.
COLOURS = ((0.5, "#e34a33"), (0.9, "#fdbb84"), (1.1, "#f7f7f7"), (3.0, "#c7e9c0"), (10.0, "#74c476"))
FASTEST = "#238b45"

SLOW = 0.9  # ratios below are worth a word


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One case on one shape: CPU seconds of both, and their ratio; or what was wrong."""

    case: str
    shape: tuple
    ratio: float | None = None
    wall_ratio: float | None = None
    ours: float | None = None
    peer: float | None = None
    problem: str = ""

    @property
    def key(self):
        return f"{self.case} | {' × '.join(map(str, self.shape))}"

    @property
    def row(self):
        """What is kept."""
        names = ("ratio", "wall_ratio", "ours", "peer")
        found = {name: getattr(self, name) for name in names}
        figures = {name: None if x is None else float(f"{x:.3g}") for name, x in found.items()}
        return {"case": self.case, "shape": list(self.shape), **figures, "problem": self.problem}

    @property
    def lost(self):
        """Whether ours is slower by the clock and is more work too."""
        return is_lost(self.row)

    @property
    def line(self):
        """What is printed."""
        head = f"{self.case:46s}{shape_words(self.shape):>26s}"
        if self.problem:
            return f"{head}  {self.problem}"
        mark = "  lost" if self.lost else ""
        return f"{head}{self.ratio:9.2f}{self.wall_ratio:9.2f}{self.ours:11.2e} s{mark}"


def is_lost(row):
    """Whether both ratios of a cell, of CPU and of wall seconds, are below 0.9."""
    return row["ratio"] is not None and max(row["ratio"], row["wall_ratio"]) < SLOW


def shape_words(shape):
    """Say rows × columns, and groups where there are any."""
    n, d, k = shape
    return f"{n:,} × {d:,}" + (f", {k}" if k else "")


def read():
    """Return what is kept: the machine, and cells by name and shape."""
    return json.loads(KEPT.read_text()) if KEPT.exists() else {"machine": "", "cells": {}}


def write(known):
    KEPT.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


def heat_map(known):
    """Return the section of the page, in Markdown with a table in HTML."""
    cells = known["cells"].values()
    if not cells:
        return f"{INTRODUCTION}\nNot measured.\n"
    told = [cell["ratio"] for cell in cells if cell["ratio"] is not None]
    slow, lost = sum(ratio < SLOW for ratio in told), sum(map(is_lost, cells))
    shapes = sorted({tuple(cell["shape"][:2]) for cell in cells})
    head = "".join(f"<th>{n:,}<br>× {d:,}</th>" for n, d in shapes)
    rows = dict.fromkeys((cell["case"], cell["shape"][2]) for cell in cells)
    found = {(cell["case"], *cell["shape"]): cell for cell in cells}
    body = "\n".join(
        f"<tr><th>{case}{f', {k}' if k else ''}</th>"
        + "".join(_box(found.get((case, n, d, k))) for n, d in shapes)
        + "</tr>"
        for case, k in rows
    )
    return (
        f"{INTRODUCTION}\n{len(told)} cells: median {median(told):.2f}, {slow} below 0.9, {lost} of them "
        f"lost. {known['machine']}\n\n<table>\n<tr><th></th>{head}</tr>\n{body}\n</table>\n"
    )


def _box(cell):
    if cell is None:
        return "<td></td>"
    if cell["ratio"] is None:
        return f'<td title="{cell["problem"]}">≠</td>'
    ratio = cell["ratio"]
    colour = next((name for bound, name in COLOURS if ratio < bound), FASTEST)
    words = f"{cell['ours']:.2g} s against {cell['peer']:.2g} s of CPU; wall {cell['wall_ratio']:.2g}"
    return f'<td style="background:{colour};color:#000" title="{words}">{ratio:.2g}</td>'


INTRODUCTION = """\
## Shapes

Every estimator that scikit-learn has too, at its defaults and tolerance, over tables of many shapes: rows ×
columns, and behind the name classes, clusters or components. Names with a method time its call for one row.
Figures are scikit-learn's CPU seconds over ours, each the least of its turns: above one ours is faster. A
cell is lost where this ratio and that of wall seconds are below 0.9. A cell whose answers differ has none
(≠). On a busy machine, threads of BLAS that wait for each other count as CPU seconds of either side: figures
far from the neighbouring ones are of such moments. `LogisticRegression`, whose tolerance bounds the objective
and the peer's the gradient, has the loosest of six tolerances with which it ends no higher than the peer; at
its own default, four to eight digits nearer the minimum, it takes about as long where there are few
parameters, and up to three times as long where there are hundreds of columns. Each side has two cores. On
one thread each, as in processes of joblib, fits of `KMeans` to one to four thousand rows take up to 1.7 times
the peer's time, and of `Lasso` and `ElasticNet` with 65 to 300 columns up to 1.4 times. `python -m
benchmarks.shapes --keep` measures cells of up to 20,000,000 entries; those that were not measured are empty.
"""
