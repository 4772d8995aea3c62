"""`tractable compare`: what changed from one table to another."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from tractable.cli.console import FLAG, Console, StepProgress, with_console
from tractable.value import value

#: What the comparisons of each kind are called in lines.
HEADS = {"column": "columns", "missing": "missing entries", "pair": "pairs", "cluster": "clusters"}

#: The widest name, and the comparisons of a kind that are printed without --all.
WIDEST, N_SHOWN = 76, 10


@with_console
def compare(
    console: Console,
    old: Annotated[
        str, typer.Argument(metavar="OLD", help="A CSV or Parquet file, a folder, a quoted pattern, or -.")
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The table that is compared with it.")],
    level: Annotated[
        float, typer.Option("--level", metavar="P", help="The probability of any false alarm, at most.")
    ] = 0.05,
    everything: Annotated[
        bool, typer.Option("--all", metavar=FLAG, help="Print every comparison, not only what changed.")
    ] = False,
    no_clusters: Annotated[
        bool, typer.Option("--no-clusters", metavar=FLAG, help="Fit no mixture: columns and pairs alone.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the samples of large tables.")] = 0,
) -> None:
    """Compare two tables: which columns, pairs of columns and clusters changed, and by how much.

    Each table is read twice, in parts, so that it may be larger than memory. Changes have intervals of 95 %.
    A change is called drift if its p-value, adjusted by Holm's method for all comparisons, is below --level:
    two tables of the same kind give any false alarm with that probability at most.

    Some examples:

      tractable compare last_year.csv this_year.csv

      tractable compare 'train/*.parquet' 'live/*.parquet' --level 0.01 --json

      tractable compare old.csv - < new.csv
    """
    from tractable.report.drift import compare_tables

    if not 0.0 < level < 1.0:
        raise ValueError(f"--level is a probability between 0 and 1; got {level:g}")
    if seed < 0:
        raise ValueError(f"--seed must not be negative; got {seed}")
    with StepProgress(console) as step:
        step("reading both tables")
        tables = [_opened(data, console) for data in (old, new)]
        found = compare_tables(
            *tables, level=level, clusters=not no_clusters, random_state=seed, progress=step
        )
    console.note(found.notes)
    console.result(
        {"old": old, "new": new, **found.as_dict()}, [*_head(found, old, new), *_tables(found, everything)]
    )


@value
class FrameBlocks:
    """A table of files as pandas frames of a few megabytes; it can be read again."""

    table: Any

    def __iter__(self) -> Iterator[Any]:
        import numpy as np

        from tractable.data.text import date_format, dates_of

        formats: dict[str, str | None] = {}
        for block in self.table.blocks(list(self.table.types)):
            frame = block.to_pandas()
            for name in self._dates_as_text(block.schema):
                texts = block.column(name)
                formats[name] = form = formats.get(name) or date_format(texts)
                frame[name] = np.datetime64("NaT", "us") if form is None else dates_of(texts, form)
            yield frame

    def _dates_as_text(self, schema: Any) -> list[str]:
        """Return the columns of dates that the blocks have as text."""
        from pyarrow import types

        from tractable.data.text import is_text

        dates = [name for name, kind in self.table.types.items() if types.is_temporal(kind)]
        return [name for name in dates if is_text(schema.field(name).type)]


def _opened(data: str, console: Console) -> FrameBlocks:
    from tractable.cli.tables import open_table

    table = open_table(data)
    console.note(table.notes)
    if not table.types:
        raise ValueError(f"{data} has no names of columns")
    return FrameBlocks(table=table)


def _head(found: Any, old: str, new: str) -> list[str]:
    from tractable.data.names import number_of

    n, drifted = len(found.comparisons), len(found.drifted)
    compared = number_of(n, "comparison")
    said = "no drift" if not drifted else f"drift in {drifted}"
    control = f"any false alarm: {found.level:g}, Holm's method"
    return [
        f"old      {old}: {number_of(found.rows[0], 'row')}",
        f"new      {new}: {number_of(found.rows[1], 'row')}",
        *(f"columns  {text}" for text in found.schema),
        f"result   {said} of {compared} ({control})" if n else "result   nothing could be compared",
    ]


def _tables(found: Any, everything: bool) -> list[str]:
    """Return the lines of each kind of comparison: what changed, and how many did not."""
    lines = []
    for what, head in HEADS.items():
        mine = [one for one in found.comparisons if one.what == what]
        shown = mine if everything else [one for one in mine if one.adjusted < found.level]
        if not mine or not (shown or everything):
            continue
        lines += ["", f"{head}: {sum(one.adjusted < found.level for one in mine)} of {len(mine)} changed"]
        most = len(shown) if everything else N_SHOWN
        for one in shown[:most]:
            lines += _of_one(one, found.level)
        lines += [f"  … and {len(shown) - most} more; --all prints them"] if len(shown) > most else []
    return lines


def _of_one(one: Any, level: float) -> list[str]:
    mark = "*" if one.adjusted < level else " "
    share = one.measure.startswith("share")
    old, new = (f"{x:.1%}" if share else _date(one.since, x) or f"{x:.4g}" for x in (one.old, one.new))
    change, low, high = (
        f"{100.0 * x:+.1f}" if share else f"{x:+.4g}" for x in (one.change, one.low, one.high)
    )
    points = " points" if share else " days" if one.since else ""
    p = f"p {one.adjusted:.2g}" if one.adjusted >= 1e-4 else "p < 0.0001"
    name = one.name if len(one.name) <= WIDEST else f"{one.name[: WIDEST - 1]}…"
    return [f"{mark} {name}", f"    {one.measure} {old} → {new}: {change}{points} ({low} to {high}), {p}"]


def _date(since: str, days: float) -> str:
    """Return the date so many days after another; nothing of numbers that are no dates."""
    from datetime import date, timedelta

    return str(date.fromisoformat(since) + timedelta(days=round(days))) if since else ""
