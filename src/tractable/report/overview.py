"""What is in the table: what each column holds, what is missing, and how its values are spread."""

from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.report.marginals import picture_of_column, shows_density, smoothed, values_of
from tractable.report.repeats import copied_rows, equal_rows, without_repeats
from tractable.report.section import Grid, Section
from tractable.report.table import Column, Table
from tractable.report.tally import MOST_DISTINCT

__all__ = ["section"]

#: Columns that are pictured, and columns that are named in a sentence.
MOST_PICTURES = 24
FEW = 4

KIND_WORDS = {
    "number": ("column of numbers", "columns of numbers"),
    "category": ("of categories", "of categories"),
    "boolean": ("of truth values", "of truth values"),
    "date": ("of dates", "of dates"),
    "text": ("of free text", "of free text"),
    "constant": ("constant", "constant"),
    "empty": ("empty", "empty"),
    "identifier": ("that names the rows", "that name the rows"),
}


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section:  # noqa: ARG001
    """Describe each column, the target first."""
    shown = sorted(table.columns, key=lambda column: column.name != target)
    drawable = [column for column in shown if column.is_number or column.is_category]
    pictured = sorted(drawable, key=lambda column: (column.name != target, column.is_category))[
        :MOST_PICTURES
    ]
    once = without_repeats(table)  # copies look like sharp peaks to a bandwidth
    pictures = [picture_of_column(once, column) for column in pictured]
    drawn = [picture for picture in pictures if picture is not None]
    return Section(
        key="overview",
        title="What is in the table",
        done=_done(table, once, pictured),
        meaning=_meaning(table) + _repeats(table),
        assumptions=(
            "Rows are independent draws, so that bands and intervals show what chance alone would change; "
            "densities are smooth at the scale of the bandwidth; what a column holds is judged by its "
            "entries and may be judged wrongly."
        ),
        code=_code(once, pictured),
        pictures=tuple(drawn),
        tables=(_columns_grid(table, shown),),
        notes=_left_out(table, pictured),
        findings=_findings(table),
    )


def _done(table: Table, once: Table, pictured: list[Column]) -> str:
    counted = "Every entry of the file was counted and its kind told from what is written. "
    which = "different rows" if once is not table else "rows that are kept"
    sampled = f" (of the {len(once.frame):,} {which})" if once.is_sample else ""
    numbers = [column for column in pictured if column.is_number]
    smooth = [column for column in numbers if shows_density(once, column)]
    if smooth:
        counted += (
            f"Numbers{sampled} are smoothed by a kernel density, whose bandwidth is chosen by the improved "
            "Sheather-Jones rule (Silverman's for fewer than 100 values) and is not below the step of "
            "rounded numbers; the band holds each height with 90% probability, and grey bars are a "
            "histogram. "
        )
    if len(smooth) < len(numbers):
        counted += "Numbers of few values are shown as they are. "
    if any(column.is_category for column in pictured):
        counted += "Categories are counted, with intervals of 90% for their shares."
    return counted.strip()


def _meaning(table: Table) -> str:
    by_kind = {kind: table.names(kind) for kind in KIND_WORDS}
    parts = [f"{len(names)} {KIND_WORDS[kind][len(names) > 1]}" for kind, names in by_kind.items() if names]
    sentences = [f"{number_of(table.n_rows, 'row')}; {_listed(parts)}."]
    gaps = sorted((c for c in table.columns if c.n_missing), key=lambda c: -c.n_missing)
    if gaps:
        shown = FEW if len(gaps) > FEW + 1 else FEW + 1
        worst = [f"{c.name} ({c.n_missing / table.n_rows:.1%})" for c in gaps[:shown]]
        more = [f"{len(gaps) - shown} more"] if len(gaps) > shown else []
        sentences.append(f"Entries are missing in {_listed([*worst, *more])}.")
    else:
        sentences.append("No entry is missing.")
    useless = [*by_kind["constant"], *by_kind["empty"]]
    if useless:
        sentences.append(f"Nothing can be learned from {_some(useless)}.")
    return " ".join(sentences)


def _repeats(table: Table) -> str:
    """Say how many rows have the same entries as an earlier one, and warn of them where they are copies."""
    equal, copies = int(equal_rows(table).sum()), int(copied_rows(table).sum())
    if not equal:
        return ""
    kept = number_of(len(table.frame), "row")
    among = f" of the {kept} that are kept" if table.is_sample else f" of {kept}"
    aside = ", the columns that name rows aside" if table.names("identifier") else ""
    has = "has" if equal == 1 else "have"
    said = f"{equal:,}{among} {has} the same entries as an earlier row{aside}"
    if not copies:
        return f" {said}, as may be by chance where there are few different values."
    more = " In the whole table there will be more." if table.is_sample else ""
    return (
        f"\nBeware of copies. {said}, more than chance would make.{more} Sections that suppose independent "
        "rows take each once and say so; if the rows are no copies, something that tells them apart is not "
        "in the table."
    )


def _columns_grid(table: Table, shown: list[Column]) -> Grid:
    rows = tuple(
        (
            column.name,
            column.kind,
            _missing(column, table.n_rows),
            f">{MOST_DISTINCT:,}" if column.n_distinct > MOST_DISTINCT else f"{column.n_distinct:,}",
            _values(table, column),
            column.note if column.kind != "constant" else "",
        )
        for column in shown
    )
    return Grid(title="Columns", head=("column", "kind", "missing", "different", "values", "note"), rows=rows)


def _missing(column: Column, n_rows: int) -> str:
    return f"{column.n_missing:,} ({column.n_missing / n_rows:.1%})" if column.n_missing else "0"


def _values(table: Table, column: Column) -> str:
    """Return the spread of numbers, the most frequent categories, or the one value there is."""
    if column.is_number:
        median = float(np.nanmedian(table.frame[column.name]))
        return f"{column.low:.6g} to {column.high:.6g}, half of them below {median:.6g}"
    if column.is_category:
        listed = ", ".join(f"{_short(name)} ({count:,})" for name, count in column.counts[:FEW])
        return listed + (", …" if len(column.counts) > FEW else "")
    return column.note if column.kind == "constant" else ""


def _left_out(table: Table, pictured: list[Column]) -> tuple[str, ...]:
    drawable = [c for c in table.columns if c.is_number or c.is_category]
    if len(pictured) == len(drawable):
        return ()
    return (f"{len(pictured)} of {len(drawable)} columns are pictured, numbers first.",)


def _code(table: Table, pictured: list[Column]) -> str:
    lines = ["for column in table.columns:", "    print(column.name, column.kind, column.n_missing)"]
    number = next((c for c in pictured if c.is_number and shows_density(table, c)), None)
    category = next((c for c in pictured if c.is_category), None)
    if number is not None:
        model = smoothed(values_of(table, number.name), number.low)
        bounds = "" if model.bounds is None else f", bounds={model.bounds!r}"
        lines += [
            "",
            f"x = table.frame[[{number.name!r}]].dropna()",
            f"density = tractable.KernelDensity(bandwidth={model.bandwidth_[0]:.6g}{bounds}).fit(x)",
            "tractable.plot(density, data=x)",
        ]
    if category is not None:
        lines += ["", f"print(table.column({category.name!r}).counts)"]
    return table.code + "\n" + "\n".join(lines) + "\n"


def _findings(table: Table) -> dict[str, Any]:
    return {
        "kinds": {column.name: column.kind for column in table.columns},
        "missing": {column.name: column.n_missing for column in table.columns if column.n_missing},
        "equal_rows": int(equal_rows(table).sum()),
        "copies": int(copied_rows(table).sum()),
    }


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _some(names: list[str]) -> str:
    more = len(names) - FEW
    return _listed([*names[:FEW], *([number_of(more, "other")] if more > 0 else [])])


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:23]}…"
