"""The joint distribution of the columns, which readers of the page condition on what they like."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.data.text import TableError
from tractable.distributions import Bernoulli, Categorical, MultivariateNormal, Normal, Product
from tractable.mixture import TableMixture
from tractable.report.clusters import grouping_of
from tractable.report.joint import JointTable, joint_mixture, question_table
from tractable.report.mixtures import fitted_mixtures, membership
from tractable.report.overview import view_limits
from tractable.report.page import Section, shortened
from tractable.report.rows import chosen_rows, code_head, listed, sampled, unused_note
from tractable.report.table import CONTROLS, Column, Table

#: Rows and columns that a page contains at most, the bytes that they take, and the characters of a text.
MAX_ROWS, MAX_COLUMNS, MAX_BYTES, MAX_TEXT = 2_000, 60, 1_000_000, 80

#: Steps from one end of a slider to the other, about.
STEPS = 200

#: Families of columns that the script of the page knows.
FAMILIES = (Normal, MultivariateNormal, Categorical, Bernoulli)


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section | None:
    """Return the joint distribution of all columns, for the reader to ask; None if none can be fitted."""
    del rng  # nothing is drawn
    try:
        asked = question_table(table)
        model = joint_mixture(asked)
    except TableError:
        return None
    names = list(asked.frame.columns)
    return Section(
        key="what_if",
        title="Ask the table",
        done=_done(model, asked),
        meaning=_meaning(names),
        assumptions=_assumptions(model),
        code=_code(table, asked.frame, target),
        notes=(*asked.notes, *unused_note(table)),
        headline="",
        findings={"columns": names, "n_components": int(model.n_components)},
        data={"model": panel_data(model, table, logged=asked.logged, target=target)},
    )


def _meaning(names: list[str]) -> str:
    columns = number_of(len(names), "column")
    return (
        f"One distribution describes {columns} together, so each can be asked for given any others. Fix "
        "some columns, or choose a row and vary it: the others show what is then to be expected. Nothing "
        "leaves this page."
    )


def _done(model: TableMixture, asked: JointTable) -> str:
    skewed = f" The logarithm of {listed(asked.logged)} was modelled, and axes are logarithmic there."
    return (
        f"A mixture of numbers and categories with {number_of(int(model.n_components), 'component')}, of "
        f"least BIC, was fitted to {number_of(len(asked.frame), 'row')}; missing entries were marginalised. "
        "The page conditions it exactly on the columns that are fixed. Intervals are equal-tailed. A row is "
        "as unusual as the share of rows with a lower density in the same columns is small, and the most "
        "likely completion is the highest mode of the columns that are not fixed."
        + (skewed if asked.logged else "")
    )


def _assumptions(model: TableMixture) -> str:
    others = " and categories independent" if model.covariance_type == "full" else ", columns independent"
    return (
        f"Within a component numbers are normal{others}; rows are independent draws, and entries are missing "
        "at random. What goes together need not cause each other: the answers are those for rows in which an "
        "entry is found, not for rows in which it is changed."
    )


def _code(table: Table, frame: Any, target: str | None) -> str:
    """Return code that fits the model, and asks it for one column given another."""
    names = list(frame.columns)
    asked = target if target in names else names[-1]
    given = next((name for name in names if name != asked), None)
    lines = "model = joint_mixture(question_table(table))\n"
    if given is None:
        lines += "answer = model.distribution_\n"
    else:
        entries = frame[given].dropna()
        category = hasattr(entries.dtype, "categories")
        value = entries.mode()[0] if category else float(f"{entries.median():.6g}")
        lines += f"answer = model.condition({{{given!r}: {value!r}}}).marginal([{asked!r}])\n"
    if hasattr(frame[asked].dtype, "categories"):
        lines += (
            f"levels = model.categories_[{asked!r}]\n"
            "print(dict(zip(levels, answer.prob([[code] for code in range(len(levels))]))))\n"
        )
    else:
        lines += "print(answer.as_univariate().interval(0.9))\n"
    return code_head(table, "from tractable.report import joint_mixture, question_table\n") + lines


def panel_data(
    model: Any, table: Table, *, logged: Sequence[str] = (), target: str | None = None
) -> dict[str, Any]:
    """Return what the panel of a page needs to ask a model of some columns of a table.

    Parameters
    ----------
    model : TableMixture or GaussianMixture
        Fitted to columns of the table: numbers, and categories of `Table.category_types`.
    table : Table
        The table.
    logged : sequence of str
        The columns whose logarithms the model has.
    target : str, optional
        The column that is asked for first.
    """
    names = [str(name) for name in model.feature_names_in_]
    return {**model_data(model), "columns": _controls(table, names, logged), "target": target}


def model_data(model: Any) -> dict[str, Any]:
    """Return the parameters of a mixture over the columns of a table, as JSON has them.

    Parameters
    ----------
    model : TableMixture or GaussianMixture
        Fitted; its columns are numbers, categories and truth values.

    Returns
    -------
    dict
        ``weights`` (K); ``normal``, the positions of the p normal columns, with ``means`` (K, p) and
        ``covariances`` (K, p, p); ``tables``, by position the probabilities (K, C) of the categories.

    Examples
    --------
    >>> import pandas as pd
    >>> from tractable import TableMixture
    >>> frame = pd.DataFrame({"x": [1.0, 2.0, 4.0, 5.0], "k": ["a", "a", "b", "b"]})
    >>> data = model_data(TableMixture(1, alpha=0.0).fit(frame))
    >>> data["weights"], data["normal"], data["means"], data["tables"]
    ([1.0], [0], [[3.0]], {'1': [[0.5, 0.5]]})
    """
    mixture = model.distribution_
    present = np.flatnonzero(np.asarray(mixture.weights) > 0.0)
    components = mixture.components
    placed = components.placed() if isinstance(components, Product) else [(components, range(components.dim))]
    for part, where in placed:
        if not isinstance(part, FAMILIES):
            raise ValueError(f"model must not have {type(part).__name__} columns, as column {where[0]} is")
    normal: list[tuple[Any, Any]] = [
        (part, where) for part, where in placed if isinstance(part, (Normal, MultivariateNormal))
    ]
    columns = sorted(j for _, where in normal for j in where)
    means = np.zeros((len(present), len(columns)))
    covariances = np.zeros((len(present), len(columns), len(columns)))
    for part, where in normal:
        at = np.searchsorted(columns, list(where))
        means[:, at] = np.reshape(np.asarray(part.mean)[present], (-1, len(at)))
        spread = part.covariance if part.event_shape else part.variance[:, None, None]
        covariances[:, at[:, None], at] = np.asarray(spread)[present]
    return {
        "weights": np.asarray(mixture.weights)[present].tolist(),
        "normal": columns,
        "means": means.tolist(),
        "covariances": covariances.tolist(),
        "tables": {
            str(where[0]): np.asarray(_probabilities(part))[present].tolist()
            for part, where in placed
            if isinstance(part, (Categorical, Bernoulli))
        },
    }


def _probabilities(part: Any) -> Any:
    """Return the probabilities of the categories of each component, (K, C)."""
    if isinstance(part, Categorical):
        return part.probabilities
    return np.stack([1.0 - part.probability, part.probability], axis=1)


def _controls(table: Table, names: Sequence[str], logarithms: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each column of the model what its control needs."""
    made: list[dict[str, Any]] = []
    types = table.category_types(names)
    for name in names:
        if name in types:
            made.append({"name": name, "levels": [str(level) for level in types[name].categories]})
            continue
        x = table.frame[name].to_numpy(dtype=np.float64)
        x = x[np.isfinite(x)]
        logged = name in logarithms
        low, high, _ = view_limits(np.log(x) if logged else x)
        low, high = (float(np.exp(end)) if logged else end for end in (low, high))
        whole = bool(np.all(x == np.rint(x)))
        made.append({
            "name": name,
            "logged": logged,
            "low": low,
            "high": high,
            "step": _step(low, high, whole=whole),
            "year": table.column(name).is_year,
        })  # fmt: skip
    return made


def _step(low: float, high: float, *, whole: bool) -> float:
    """Return 1, 2 or 5 times a power of ten, of which about `STEPS` are from one end to the other.

    Examples
    --------
    >>> _step(32.1, 59.6, whole=False), _step(2700.0, 6300.0, whole=True), _step(1.0, 9.0, whole=True)
    (0.1, 20.0, 1.0)
    """
    about = (high - low) / STEPS
    power = 10.0 ** np.floor(np.log10(about))
    step = float(min((m * power for m in (1.0, 2.0, 5.0, 10.0)), key=lambda s: abs(np.log(s / about))))
    return max(step, 1.0) if whole else float(f"{step:.12g}")


def rows_data(table: Table, target: str | None = None, *, clusters: bool = True) -> dict[str, Any]:
    """Return rows of a table for the page: all, or a random sample that a page has room for.

    With `clusters`, those of the rows are one more column, if they are natural. Categories are codes of
    `levels`, and missing entries are None.

    Examples
    --------
    >>> import pandas as pd
    >>> from tractable.report import table_of
    >>> data = rows_data(table_of(pd.DataFrame({"x": [1.5, None, 2.5], "k": ["a", "b", "a"]})))
    >>> data["numbers"], data["columns"][0]["values"], data["columns"][1]["values"]
    ([1, 2, 3], [1.5, None, 2.5], [0, 1, 0])
    """
    shown = _shown_columns(table, target)
    positions = np.arange(len(table.frame))
    most = min(MAX_ROWS, len(positions))
    while True:
        chosen = sampled(positions, most, np.random.default_rng(0))
        columns = [_entries(table.frame[column.name].iloc[chosen], column) for column in shown]
        size = len(json.dumps(columns))
        if size <= MAX_BYTES or most <= 1:
            break
        most = max(1, int(0.9 * most * MAX_BYTES / size))
    return {
        "total": table.n_rows,
        "numbers": [table.row_number(i) for i in chosen],
        "columns": [*columns, *(_clusters(table, target, chosen) if clusters else [])],
    }


def _shown_columns(table: Table, target: str | None) -> list[Column]:
    """Return the columns of the page's rows, of very many those that the model has and the first others."""
    used = {target, *chosen_rows(table).frame.columns}
    first = sorted(table.columns, key=lambda column: column.name not in used)[:MAX_COLUMNS]
    names = {column.name for column in first}
    return [column for column in table.columns if column.name in names and column.kind != "empty"]


def _entries(entries: Any, column: Column) -> dict[str, Any]:
    missing = entries.isna().to_numpy()
    shown: list[Any]
    if column.is_category:
        levels = list(column.levels or sorted(level for level, _ in column.counts))
        code = {level: i for i, level in enumerate(levels)}
        shown = [None if gap else code.get(entry) for entry, gap in zip(entries, missing, strict=True)]
        return {"name": column.name, "kind": "category", "levels": levels, "values": shown}
    if column.is_number:
        numbers = entries.to_numpy(dtype=np.float64)
        shown = [float(x) if np.isfinite(x) else None for x in numbers]
        return {"name": column.name, "kind": "number", "year": column.is_year, "values": shown}
    texts = entries.astype(object)
    if column.kind == "date":
        texts = [None if gap else _date(entry) for entry, gap in zip(entries, missing, strict=True)]
    shown = [
        None if gap else shortened(str(entry).translate(CONTROLS), MAX_TEXT)
        for entry, gap in zip(texts, missing, strict=True)
    ]
    return {"name": column.name, "kind": "text", "values": shown}


def _date(moment: Any) -> str:
    """Return a date as text, with the time where there is one."""
    return moment.isoformat(sep=" ").removesuffix(" 00:00:00")


def _clusters(table: Table, target: str | None, chosen: np.ndarray) -> list[dict[str, Any]]:
    """Return the clusters of rows as one more column, from 1, if they are natural."""
    found = fitted_mixtures(table, target)
    if found is None:
        return []
    members = membership(found)
    if not grouping_of(table, target, found, members).natural:
        return []
    labels = dict(zip(found.rows.frame.index.tolist(), (members.labels + 1).tolist(), strict=True))
    names = [str(k + 1) for k in range(len(members.sizes))]
    codes = [None if (k := labels.get(i)) is None else k - 1 for i in chosen.tolist()]
    name = "cluster" if "cluster" not in table.names() else "cluster of the rows"
    return [{"name": name, "kind": "cluster", "levels": names, "values": codes}]
