"""`tractable complete`: tables whose missing entries are drawn from the joint model of all columns."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tractable.cli.console import Console, Data, StepProgress, with_console
from tractable.cli.streams import check_outputs

#: What stands for the number of a draw in the name of a file.
EACH = "{draw}"


@with_console
def complete(
    console: Console,
    data: Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write, .parquet or .csv, or -; {draw} in its name gives one file a draw.",
        ),
    ] = Path("-"),
    draws: Annotated[
        int, typer.Option("--draws", "-n", metavar="N", help="The number of completed tables.")
    ] = 5,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="The same seed gives the same tables.")
    ] = 0,
) -> None:
    """Write DATA with its missing entries drawn from the joint distribution of all columns, several times.

    Multiple imputation: compute what you want to know from each of the tables, and pool the results by
    Rubin's rules; the spread between the tables is what the missing entries leave open. The tables are
    written one below the other, with the columns draw (1, 2, …) and row (of DATA) before the others.

    Entries that are there stay as they are written. Columns of dates and of free text keep their gaps.

    Some examples:

      tractable complete survey.csv --draws 5 -o completed.csv

      tractable complete survey.csv -o 'completed_{draw}.parquet'

      tractable complete - < survey.csv > completed.csv
    """
    from tractable.cli.tables import (
        check_csv_types,
        check_output,
        held_copies,
        open_table,
        table_paths,
        write_tables,
    )
    from tractable.data.copies import completed, exactly_typed
    from tractable.data.names import number_of
    from tractable.report.joint import completed_frames

    if draws < 1:
        raise ValueError(f"--draws must be at least 1; got {draws}")
    if seed < 0:
        raise ValueError(f"--seed must not be negative; got {seed}")
    console.leave_stdout_to("--output", output)
    check_output(output)
    paths = _paths(output, draws)
    began = time.monotonic()
    with StepProgress(console) as step:
        step(f"reading {data}")
        files = table_paths(data)
        check_outputs({"--output": paths}, files)
        opened = open_table(data)
        console.note(opened.notes)
        if not opened.types:
            raise ValueError(f"{data} has no names of columns")
        _check_names(list(opened.types), output)
        kind = check_output(output)
        if kind == ".csv":
            check_csv_types(opened.types, "DATA")
        frame, copies = held_copies(opened)
        missing = frame.isna()
        gaps = {str(name): int(n) for name, n in missing.sum().items() if n}
        found, table = completed_frames(frame, draws, random_state=seed, progress=step)
        console.note(table.notes)
        left = {name: n for name, n in gaps.items() if name not in table.frame.columns}
        step("writing")
        whole = [completed(copies, frame, one) for one in found]
        if kind == ".parquet" and opened.text is not None:
            whole = exactly_typed(whole)
        for path, tables in zip(paths, _parts(whole, numbered=EACH not in str(output)), strict=True):
            write_tables(tables, path)
    if not gaps:
        console.warn(f"{data} has no missing entry: the tables are copies of it")
    if left:
        console.warn(f"these columns keep their missing entries: {', '.join(left)}")
    drawn = sum(gaps.values()) - sum(left.values())
    said = {
        "rows": len(frame),
        "draws": draws,
        "seed": seed,
        "missing": gaps,
        "left_missing": list(left),
        "drawn": drawn,
        "seconds": round(time.monotonic() - began, 3),
        "saved": [str(path) for path in paths],
    }
    size = f"{number_of(draws, 'table')} of {number_of(len(frame), 'row')}"
    entries = f"{number_of(drawn, 'missing entry', 'missing entries')} drawn in each"
    lines = [f"{size}: {entries}"]
    lines += [f"saved {', '.join(map(str, paths[:3]))}{', …' if len(paths) > 3 else ''}"]
    console.result(said, lines[: 1 if console.err else 2])


def _check_names(names: Sequence[Any], output: Path) -> None:
    """Refuse a table with a column of the name of one that is added."""
    for name in ("draw", "row"):
        if EACH not in str(output) and name in names:
            raise ValueError(f"DATA has a column {name!r}, which is added: write -o 'name_{EACH}.csv'")


def _paths(output: Path, draws: int) -> list[Path]:
    if EACH not in str(output):
        return [output]
    return [Path(str(output).replace(EACH, str(k + 1))) for k in range(draws)]


def _parts(whole: Sequence[Any], *, numbered: bool) -> list[list[Any]]:
    """Return the Arrow tables of each file: one, or all of them with the numbers of draws and rows."""
    import pyarrow as pa

    if not numbered:
        return [[one] for one in whole]
    long = []
    for k, one in enumerate(whole):
        rows = pa.array(range(1, one.num_rows + 1), pa.int64())
        draw = pa.array([k + 1] * one.num_rows, pa.int64())
        long.append(one.add_column(0, "draw", draw).add_column(1, "row", rows))
    return [long]
