"""`tractable fit`: fit a model to a table and save it."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tractable.cli.console import (
    FLAG,
    INTERRUPTED,
    Console,
    Data,
    Target,
    abbreviated,
    shell_list,
    split_names,
    with_console,
)
from tractable.cli.streams import check_outputs
from tractable.value import replace, value

if TYPE_CHECKING:
    from tractable.cli.tables import TableFiles
    from tractable.data.columns import Roles

#: Fitted attributes that are printed.
ATTRIBUTES = ("n_iter_", "converged_", "log_evidence_", "lower_bound_", "alpha_", "bandwidth_", "inertia_")

#: Files of at most so many bytes are read into memory whatever the model.
HELD_BYTES = 2**24

#: What a model is scored by, and the most rows of the fit that it is scored on.
SCORES = {"regressor": "R²", "classifier": "accuracy", "density_estimator": "log density a row"}
SCORED_ROWS = 5_000

#: The streaming tag of models that learn from batches of frames.
SINGLE_SWEEP = "exact in one pass"


@with_console
def fit(
    console: Console,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model; `tractable models` lists them.")],
    data: Data,
    save: Annotated[
        Path, typer.Option("--save", "-s", metavar="FILE", help="Where to write the fitted model, or -.")
    ],
    target: Target = None,
    weight: Annotated[
        str | None,
        typer.Option("--weight", metavar="COLUMN", help="The column with the frequency of each row."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            "--features", "-f", metavar="A,B,…", help="Columns to learn from; all others when not given."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the model; may be repeated."),
    ] = None,
    drop_missing: Annotated[
        bool,
        typer.Option(
            "--drop-missing", metavar=FLAG, help="Leave out rows with entries missing that the model needs."
        ),
    ] = False,
) -> None:
    """Fit MODEL to DATA and save it.

    A model that streams (see `tractable models`) reads a table larger than memory a few megabytes at a time.

    Some examples:

      tractable fit NaiveBayes penguins.csv -t species -s species.tractable

      tractable fit GaussianMixture rows.csv --set n_components=2 -s m.tractable

      tractable fit BayesianRidge 'trips/*.parquet' -t fare -s fare.tractable
    """
    from tractable.cli.models import make_model
    from tractable.cli.tables import open_table, table_paths

    console.leave_stdout_to("--save", save)
    check_outputs({"--save": save}, table_paths(data))
    console.progress(f"fitting {model} to {data} …")
    table = open_table(data)
    console.note(table.notes)
    names = None if features is None else split_names(features)
    requested = RequestedColumns(target=target, weight=weight, features=names, drop_missing=drop_missing)
    began = time.monotonic()
    result = fit_table(make_model(model, settings or ()), table, requested, console.progress)
    if target is not None and result.target is None:
        console.warn(f"{model} predicts no column: {target} is left out")
    _save(console, result, save, time.monotonic() - began)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)


def _save(console: Console, result: "FitResult", path: Path, seconds: float) -> None:
    from tractable.cli.streams import output_path
    from tractable.persistence import save

    model = result.model
    with output_path(path) as file:
        save(model, file)
        size = file.stat().st_size
    if result.interrupted:
        console.warn("interrupted: the best model so far is saved")
    if result.dropped:
        console.warn(f"{result.dropped} rows with missing entries were left out")
    facts = {name.rstrip("_"): _scalar(model, name) for name in ATTRIBUTES}
    facts = {name: fact for name, fact in facts.items() if fact is not None}
    if hasattr(model, "classes_"):
        facts["classes"] = list(model.classes_)
    found = {
        "model": type(model).__name__,
        "parameters": {name: repr(x) for name, x in model.get_params(deep=False).items()},
        "target": result.target,
        "features": list(result.features),
        "rows": result.rows,
        "rows_left_out": result.dropped,
        "score": result.score,
        "rows_scored": result.scored,
        "seconds": round(seconds, 3),
        "saved": str(path),
        **facts,
    }
    printed = {name: f"{fact:.6g}" if isinstance(fact, float) else str(fact) for name, fact in facts.items()}
    if hasattr(model, "classes_"):
        printed["classes"] = abbreviated(model.classes_)
    of = "" if result.target is None else f" to predict {result.target}"
    lines = [
        f"model       {' '.join(repr(model).split())}",
        f"learned     from {result.rows:,} rows{of}",
        f"columns     {len(result.features)}: {abbreviated(result.features, 8)}",
        *_score_line(result),
        *(f"{name:11s} {shown}" for name, shown in printed.items()),
        f"saved       {path} ({size:,} bytes)",
    ]
    console.result(found, [*lines, *_summary_lines(model)])


def _score_line(result: "FitResult") -> list[str]:
    """Return the score of a fit, which is of rows that were learned from."""
    if result.score is None:
        return []
    name = SCORES[result.model.__sklearn_tags__().estimator_type]
    which = "the" if result.scored >= result.rows else f"the first {result.scored:,}"
    return [f"score       {name} {result.score:.4g}, on {which} rows it learned from"]


def _summary_lines(model: Any) -> list[str]:
    """Return the table of coefficients of a model that has one, with its standard errors and tests."""
    if not hasattr(model, "summary"):
        return []
    try:
        return ["", *str(model.summary()).splitlines()]
    except ValueError:  # there are no standard errors: fewer rows than coefficients, separated classes
        return []


def _scalar(model: Any, name: str) -> Any:
    """Return an attribute if it is one number or truth value, else None."""
    found: Any = getattr(model, name, None)
    found = found.item() if getattr(found, "ndim", None) == 0 else found
    return found if isinstance(found, bool | int | float) else None


@value
class RequestedColumns:
    """The options of the command that name columns, and whether rows with missing entries are left out."""

    target: str | None = None
    weight: str | None = None
    features: tuple[str, ...] | None = None
    drop_missing: bool = False


@value
class FitResult:
    """A fitted model, with the columns and the number of rows of the fit."""

    model: Any
    target: Any
    features: tuple[Any, ...]
    rows: int
    dropped: int
    interrupted: bool = False
    score: float | None = None
    scored: int = 0  # rows that the score is of


def fit_table(
    model: Any,
    table: "TableFiles",
    requested: RequestedColumns,
    progress: Callable[[str], None] = lambda _: None,
) -> FitResult:
    """Fit a model to a table.

    Large tables are streamed: columns of numbers as a source to every model that streams, columns of words
    as frames to models that learn in one pass. A small table, and one for a model that does not stream, is
    read into memory. `progress` is called with how a large table is read.
    """
    roles = _roles(model, table, requested)
    name, streaming = type(model).__name__, model.model_tags.streaming
    words = [column for column in roles.features if column not in table.numbers] if table.types else []
    if table.types:
        _check_target(model, table, roles)
        _check_features(model, table, words, roles)
    small = bool(table.types) and table.n_bytes <= HELD_BYTES
    size = f"{table.n_bytes / 1e6:,.0f} MB"
    options = {
        "allow_missing": model.model_tags.missing_values,
        "drop": requested.drop_missing,
        "label": name,
        "integer_labels": _has_integer_labels(model, table, roles),
    }
    if small or (table.types and (words or streaming == "no") and not (words and streaming == SINGLE_SWEEP)):
        if not small:
            why = "needs all rows at once" if streaming == "no" else "reads columns of words all at once"
            progress(f"reading {size} into memory: {name} {why} …")
        return _fit(model, table, roles, options, frames=True, in_memory=True)
    progress(f"reading {size} piece by piece …")
    return _fit(model, table, roles, options, frames=bool(words), in_memory=False)


def _roles(model: Any, table: "TableFiles", requested: RequestedColumns) -> "Roles":
    from tractable.data.columns import Roles, assign_roles

    name, predicts = type(model).__name__, model.__sklearn_tags__().target_tags.required
    if requested.target is None and predicts:
        some = f": one of {', '.join(list(table.types)[:12])}" if table.types else ""
        raise ValueError(f"{name} learns to predict a column; name it by --target{some}")
    if not table.types:
        names = (requested.target, requested.weight, *(requested.features or ()))
        target, weight, *features = (None if text is None else _column_number(text) for text in names)
        return Roles(features=tuple(features), target=target, weight=weight)
    roles = assign_roles(
        list(table.types),
        requested.features,
        requested.target,
        requested.weight,
        where=table.name,
        arguments=("--features", "--target", "--weight"),
    )
    return roles if predicts else replace(roles, target=None)


def _column_number(text: str) -> int:
    if not text.isdigit():
        raise ValueError(f"columns of .npy files go by number; got {text!r}")
    return int(text)


def _check_target(model: Any, table: "TableFiles", roles: "Roles") -> None:
    """Refuse to regress on words."""
    if model.__sklearn_tags__().estimator_type == "regressor" and roles.target not in table.numbers:
        kind = f"{roles.target!r} ({table.types[roles.target]})"
        raise ValueError(
            f"{type(model).__name__} predicts numbers, which {kind} does not hold; `tractable models "
            "-k classification` lists models that predict words"
        )


def _check_features(model: Any, table: "TableFiles", words: Sequence[str], roles: "Roles") -> None:
    """Refuse columns that a model cannot read; the error lists those that it can."""
    reads_words = bool(model.__sklearn_tags__().input_tags.string)
    bad = [name for name in words if not (reads_words and _is_text(table.types[name]))]
    if not bad:
        return
    left = [name for name in roles.features if name not in set(bad)]
    kinds = ", ".join(f"{name!r} ({table.types[name]})" for name in bad)
    hint = f"; --features {shell_list(left)} are those that do" if left else ""
    takes = "numbers and words" if reads_words else "numbers"
    raise ValueError(f"{type(model).__name__} takes {takes}, which these columns do not hold: {kinds}{hint}")


def _is_text(kind: Any) -> bool:
    """Return whether a column holds text, or nothing at all."""
    from pyarrow import types

    from tractable.data.text import is_text

    return is_text(kind.value_type if types.is_dictionary(kind) else kind) or types.is_null(kind)


def _has_integer_labels(model: Any, table: "TableFiles", roles: "Roles") -> bool:
    """Return whether classes are integers, which are read as floats."""
    from pyarrow import types

    classifier = model.__sklearn_tags__().estimator_type == "classifier"
    return classifier and roles.target in table.types and types.is_integer(table.types[roles.target])


def _fit(
    model: Any, table: "TableFiles", roles: "Roles", options: dict[str, Any], *, frames: bool, in_memory: bool
) -> FitResult:
    """Fit a model to frames or to a source of numbers; after Ctrl-C, the best model so far is kept."""
    from tractable.base.estimator import FitInterrupted
    from tractable.cli.tables import CountedFrames, CountedRows

    rows: Any = (
        CountedFrames(table, roles, **options) if frames else CountedRows(table.source(roles), **options)
    )
    features = roles.features if frames else rows.feature_names or tuple(range(rows.n_features))
    result = FitResult(model=model, target=roles.target, features=features, rows=0, dropped=0)
    held = _collected(rows) if in_memory else None
    try:
        model.fit(*((rows,) if held is None else held))
    except FitInterrupted:
        result = replace(result, interrupted=True)
    result = replace(result, rows=rows.counted, dropped=rows.dropped)
    return _scored(result, _first(rows) if held is None else held)


def _first(rows: Any) -> tuple[Any, ...]:
    """Return the features, targets and weights of the first rows of a stream."""
    from tractable.cli.tables import CountedFrames

    if isinstance(rows, CountedFrames):
        return next(iter(rows))
    batch, names = next(iter(rows.batches())), rows.feature_names
    if names is None:
        return batch.X, batch.y, batch.weights
    import pandas as pd

    return pd.DataFrame(batch.X, columns=list(names)), batch.y, batch.weights


def _scored(result: FitResult, held: tuple[Any, ...]) -> FitResult:
    """Return a result with the score of the first rows of the fit, if the model has one."""
    kind = result.model.__sklearn_tags__().estimator_type
    if kind not in SCORES or not hasattr(result.model, "score"):
        return result
    X, y, weights = (None if part is None else part[:SCORED_ROWS] for part in held)
    if y is not None and kind == "regressor" and len(y) < 2:
        return result  # R² needs two rows
    try:
        score = float(result.model.score(X, y, weights))
    except (TypeError, ValueError):  # a model that has no score of such rows
        return result
    return replace(result, score=score, scored=min(result.rows, len(held[0]), SCORED_ROWS))


def _collected(rows: Any) -> tuple[Any, ...]:
    """Return the features, targets and weights of all rows."""
    import numpy as np
    import pandas as pd

    X, y, weights = zip(*rows, strict=True)
    targets, row_weights = (None if part[0] is None else np.concatenate(part) for part in (y, weights))
    return pd.concat(X, ignore_index=True), targets, row_weights
