"""From a table to its report: the page, its findings, and the model that predicts best."""

import logging
import tempfile
import time
import webbrowser
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator, either_seed_name
from tractable.data.names import number_of
from tractable.data.output import as_json, check_outputs, check_writable, replacing
from tractable.data.text import TableError
from tractable.primitives.threads import single_threaded_blas
from tractable.report.page import Section, page
from tractable.report.predictor import TablePredictor, best_predictor
from tractable.report.reading import MAX_ROWS, Progress, read_table, table_of
from tractable.report.table import Table
from tractable.report.what_if import rows_data
from tractable.value import parameters, replace, value

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

#: How tall a report is in a notebook, in pixels.
FRAME_HEIGHT = 720


@value
class ReportSummary:
    """The summary of a report, for programs.

    Parameters
    ----------
    path : str
        The path of the page; empty where it was not written.
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


@value
class Report:
    """A report on a table: in a notebook it shows itself.

    `tractable.report` makes it.

    Parameters
    ----------
    html : str
        The page: one file that needs nothing else.
    summary : ReportSummary
        What is in it, for programs: rows, columns, the main numbers of each section.
    table : Table
        The table as it was read.

    Examples
    --------
    >>> import pandas as pd, tractable
    >>> frame = pd.DataFrame({"x": [1.5, 2.0, 2.5, 4.0, 3.5] * 4, "y": [3.1, 4.2, 4.9, 8.3, 7.2] * 4})
    >>> report = tractable.report(frame)
    >>> report
    Report on the table: 20 rows, 2 columns; .save(path) writes the page, .open() shows it
    >>> report.findings["overview"]["kinds"]
    {'x': 'number', 'y': 'number'}
    """

    html: str
    summary: ReportSummary
    table: Table

    @property
    def findings(self) -> dict[str, Any]:
        """By section: its main numbers."""
        return self.summary.findings

    def save(self, path: Any) -> Path:
        """Write the page to a file and return its path.

        Parameters
        ----------
        path : str or path
            Where to write it.
        """
        check_path(path, self.table.path)
        _write(path, self.html)
        return Path(path)

    def open(self) -> Path:
        """Show the page in the web browser, from a file in the folder of temporary files; return its path."""
        with tempfile.NamedTemporaryFile(prefix="report-", suffix=".html", delete=False) as file:
            file.write(self.html.encode("utf-8", errors="replace"))
        path = Path(file.name)
        webbrowser.open(path.as_uri())
        return path

    def predictor(self) -> TablePredictor:
        """Return the model that predicts the target best, fitted to all rows in memory, for new tables.

        `tractable.save` writes it to a file, which ``tractable predict`` runs.
        """
        if self.summary.target is None:
            raise TableError("target: the report has none, and so no model of it; name a column to predict")
        name = self.findings.get("models", {}).get("best")
        if name is None:
            raise TableError(f"target: {self.summary.target!r} cannot be predicted; the report says why")
        return best_predictor(self.table, self.summary.target, name)

    def __repr__(self) -> str:
        said = self.summary
        size = f"{number_of(said.rows, 'row')}, {number_of(said.columns, 'column')}"
        return f"{said.title}: {size}; .save(path) writes the page, .open() shows it"

    def _repr_html_(self) -> str:
        """Return the page in a frame that can neither read nor change the notebook around it."""
        return (
            f'<iframe title="{escape(self.summary.title)}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 1px solid #8884" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


@either_seed_name
def report_on(
    data: Any = None,
    *,
    target: str | None = None,
    kinds: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    max_rows: int | None = MAX_ROWS,
    progress: Progress | None = None,
    random_state: Any = 0,
) -> Report:
    """Return a report on a table, which shows itself in a notebook; `tractable.report` is this function.

    Parameters
    ----------
    data : path, frame or Table, optional
        A CSV or Parquet file of any size, a frame (pandas, polars, Arrow), or the result of
        `read_table`; a bundled table when not given.
    target : str, optional
        The column to predict from the others.
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
    Report

    Raises
    ------
    TableError
        With a one-sentence message if there is no table or no such target.

    Examples
    --------
    >>> import pandas as pd, tractable
    >>> frame = pd.DataFrame({"x": [1.5, 2.0, 2.5, 4.0, 3.5] * 4, "y": [3.1, 4.2, 4.9, 8.3, 7.2] * 4})
    >>> tractable.report(frame).summary.sections[:2]
    ('overview', 'dependence')
    """
    started = time.perf_counter()
    report_progress = progress or (lambda _text, _done: None)
    report_progress("reading the table", 0.0)
    rng = as_generator(random_state)
    chosen: Any = {"target": target, "kinds": kinds, "ignore": ignore, "max_rows": max_rows}
    table = _table(data, chosen, rng, progress)
    target, warned = _predictable(table, target)
    sections, failed = _sections(table, target, rng, report_progress)
    rows = _rows(table, target, sections, failed)
    notes = (*table.notes, *warned, *failed)
    title = f"Report on {Path(table.path).name}"
    report_progress("writing the page", 0.99)
    text = page(title, sections, notes, lead=_lead(table, target), rows=rows)
    summary = ReportSummary(
        path="",
        title=title,
        rows=table.n_rows,
        columns=len(table.columns) + table.n_unseen,
        target=target,
        sections=tuple(section.key for section in sections),
        seconds=round(time.perf_counter() - started, 3),
        findings={section.key: section.findings or {} for section in sections},
        notes=notes,
    )
    return Report(html=text, summary=summary, table=table)


def make_report(data: Any = None, *, path: Any = "report.html", **options: Any) -> ReportSummary:
    """Write a report on a table: one HTML file that needs nothing else.

    Parameters
    ----------
    data : path, frame or Table, optional
        The table, as in `report_on`.
    path : str or path
        Where to write the page.
    **options
        As in `report_on`.

    Returns
    -------
    ReportSummary

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> frame = pd.DataFrame({"x": [1.5, 2.0, 2.5, 4.0, 3.5] * 4, "y": [3.1, 4.2, 4.9, 8.3, 7.2] * 4})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = make_report(frame, path=f"{folder}/report.html")
    >>> summary.rows, summary.columns, summary.sections[:2]
    (20, 2, ('overview', 'dependence'))
    """
    check_path(path, data)
    found = report_on(data, **options)
    _write(path, found.html)
    return replace(found.summary, path=str(path))


def check_path(path: Any, data: Any) -> None:
    """Refuse a path that cannot be written, before any work."""
    try:
        check_writable(Path(path), "path")
        check_outputs([("path", path)], [data] if isinstance(data, (str, Path)) else ())
    except ValueError as error:
        raise TableError(str(error)) from None


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


def _rows(
    table: Table, target: str | None, sections: list[Section], failed: list[str]
) -> dict[str, Any] | None:
    """Return the rows of the page; None, and a note more, if that fails."""
    try:
        return rows_data(table, target, clusters=any(section.key == "clusters" for section in sections))
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
        reason = (error.strerror or str(error)).lower()
        raise TableError(f"the report cannot be written to {path}: {reason}") from None
