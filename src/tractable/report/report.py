"""`make_report`: from a table to the page."""

import logging
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator, either_seed_name
from tractable.data.names import number_of
from tractable.data.output import as_json, replacing
from tractable.data.text import TableError
from tractable.primitives.threads import single_threaded_blas
from tractable.report.page import Section, page
from tractable.report.reading import MAX_ROWS, Progress, read_table, table_of
from tractable.report.table import Table
from tractable.report.what_if import rows_data
from tractable.value import parameters, value

#: The sections in order, with the text of the progress: each is a module with `section(table, *, target=None,
#: rng)`, which returns a Section, or None if there is too little data; `why_not(table, target)` says why.
SECTIONS = (
    ("overview", "looking at each column"),
    ("dependence", "comparing pairs of columns"),
    ("clusters", "looking for clusters"),
    ("map", "computing principal components"),
    ("outliers", "looking for outliers"),
    ("models", "comparing models of the target"),
    ("what_if", "preparing the questions to the table"),
)

#: The table of the report when none is given.
BUNDLED = "penguins"


@value
class ReportSummary:
    """The summary of a report, for programs.

    Parameters
    ----------
    path : str
        The path of the page.
    title : str
        The title of the page.
    rows, columns : int
        Of the table.
    target : str, optional
        The column that was predicted.
    sections : tuple of str
        The keys of the sections.
    seconds : float
        How long the report took.
    findings : dict
        By section: its main numbers.
    notes : tuple of str
        How the table was read, and what was left out.
    """

    path: str
    title: str
    rows: int
    columns: int
    target: str | None
    sections: tuple[str, ...]
    seconds: float
    findings: dict[str, Any]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as text, numbers, lists and dicts, as in JSON."""
        return as_json(parameters(self))


@either_seed_name
def make_report(
    data: Any = None,
    *,
    target: str | None = None,
    path: Any = "report.html",
    kinds: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    max_rows: int | None = MAX_ROWS,
    progress: Progress | None = None,
    random_state: Any = 0,
) -> ReportSummary:
    """Write a report on a table: one HTML file that needs no network.

    Parameters
    ----------
    data : path, frame or Table, optional
        A CSV or Parquet file of any size, a frame (pandas, polars, Arrow), or the result of
        `read_table`; a bundled table when not given.
    target : str, optional
        The column to predict from the others.
    path : str or path
        Where to write the page.
    kinds : dict from column to kind, optional
        Kinds of columns that are not to be inferred: "number", "category", "date", "text" or "identifier".
    ignore : sequence of str
        Columns that the report leaves out.
    max_rows : int, optional
        Rows in memory, a uniform random sample if the table has more; None for all.
    progress : callable, optional
        Called with a text and the fraction that is done (0 to 1, or None).
    random_state : None, int or Generator
        The same seed gives the same page.

    Returns
    -------
    ReportSummary

    Raises
    ------
    TableError
        With a one-sentence message if there is no table or no such target.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> frame = pd.DataFrame({"x": [1.5, 2.0, 2.5, 4.0, 3.5] * 4, "y": [3.1, 4.2, 4.9, 8.3, 7.2] * 4})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = make_report(frame, path=f"{folder}/report.html")
    >>> summary.rows, summary.columns, summary.sections[:2]
    (20, 2, ('overview', 'dependence'))
    """
    started = time.perf_counter()
    report_progress = progress or (lambda _text, _done: None)
    _check_path(path, data)
    report_progress("reading the table", 0.0)
    rng = as_generator(random_state)
    chosen: Any = {"target": target, "kinds": kinds, "ignore": ignore, "max_rows": max_rows}
    table = _table(data, chosen, rng, progress)
    target, warned = _predictable(table, target)
    sections, failed = _sections(table, target, rng, report_progress)
    rows = _rows(table, target, failed)
    notes = (*table.notes, *warned, *failed)
    title = f"Report on {Path(table.path).name}"
    text = page(title, sections, notes, lead=_lead(table, target), rows=rows)
    report_progress("writing the page", 0.99)
    _write(path, text)
    return ReportSummary(
        path=str(path),
        title=title,
        rows=table.n_rows,
        columns=len(table.columns) + table.n_unseen,
        target=target,
        sections=tuple(section.key for section in sections),
        seconds=round(time.perf_counter() - started, 3),
        findings={section.key: section.findings or {} for section in sections},
        notes=notes,
    )


def _check_path(path: Any, data: Any) -> None:
    """Refuse a path that cannot be written, before any work."""
    page_file = Path(path)
    if page_file.is_dir():
        raise TableError(f"the report cannot be written to {path}: it is a folder")
    if not page_file.parent.is_dir():
        raise TableError(f"the report cannot be written to {path}: there is no folder {page_file.parent}")
    if isinstance(data, (str, Path)) and page_file.resolve() == Path(data).resolve():
        raise TableError(f"the report cannot be written to {path}: the table is there")


def _table(data: Any, chosen: Any, rng: np.random.Generator, progress: Progress | None) -> Table:
    if isinstance(data, Table):
        return data
    if data is None:
        from tractable import datasets

        source = f'table_of(tractable.datasets.load("{BUNDLED}").frame)'
        return table_of(datasets.load(BUNDLED).frame, name=BUNDLED, source=source, **chosen)
    if isinstance(data, (str, Path)) or hasattr(data, "__fspath__"):
        return read_table(data, random_state=rng, progress=progress, **chosen)
    return table_of(data, random_state=rng, **chosen)


def _predictable(table: Table, target: str | None) -> tuple[str | None, list[str]]:
    """Return the target if it can be predicted, else None and a note that says why."""
    if target is None:
        return None, []
    column = table.column(target)
    if column.is_number or column.is_category:
        return target, []
    why = {
        "constant": f"it has one value only ({column.note})",
        "empty": "it has no entry",
        "identifier": f"it names the rows ({column.note})",
        "text": "it holds texts of too many values",
        "date": "it holds dates",
    }[column.kind]
    return None, [
        f"The target {target!r} cannot be predicted: {why}. The report is of the table without a target."
    ]


def _sections(
    table: Table, target: str | None, rng: np.random.Generator, progress: Progress
) -> tuple[list[Section], list[str]]:
    """Return the sections, and notes on those that failed or had too little data."""
    made: list[Section] = []
    failed: list[str] = []
    for i, (name, words) in enumerate(SECTIONS):
        progress(words, 0.1 + 0.9 * i / len(SECTIONS))
        module = import_module(f"tractable.report.{name}")
        try:
            with single_threaded_blas():  # whose products here are small: threads would only wait
                section = module.section(table, target=target, rng=rng.spawn(1)[0])
        except Exception as error:  # noqa: BLE001  (one failing section must not prevent the report)
            logging.getLogger("tractable").warning("the section %r of the report failed: %r", name, error)
            failed.append(f"A part of the report, {words}, failed on this table and is left out.")
            continue
        if section is not None:
            made.append(section)
        elif hasattr(module, "why_not"):
            failed.append(module.why_not(table, target))
    return made, failed


def _rows(table: Table, target: str | None, failed: list[str]) -> dict[str, Any] | None:
    """Return the rows of the page; None, and a note more, if that fails."""
    try:
        return rows_data(table, target)
    except Exception as error:  # noqa: BLE001  (as above)
        logging.getLogger("tractable").warning("the rows of the report failed: %r", error)
        failed.append("The rows of this table could not be written into the page.")
        return None


def _lead(table: Table, target: str | None) -> str:
    missing = sum(column.n_missing for column in table.columns)
    entries = table.n_rows * len(table.columns)
    parts = [number_of(table.n_rows, "row"), number_of(len(table.columns) + table.n_unseen, "column")]
    of_all = f" of the {len(table.columns):,} columns looked at" if table.n_unseen else ""
    parts.append(
        f"{missing / entries:.1%} of the entries{of_all} missing" if missing else f"nothing{of_all} missing"
    )
    if target is not None:
        parts.append(f"to predict: {target}")
    return " · ".join(parts)


def _write(path: Any, text: str) -> None:
    try:
        with replacing(Path(path)) as file:
            file.write(text.encode("utf-8", errors="replace"))
    except OSError as error:
        raise TableError(f"the report cannot be written to {path}: {error.strerror}") from None
