"""`tractable fit`: a model of a table, saved."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tractable.cli.console import FLAG, INTERRUPTED, AsJson, Debug, Quiet, Talk, shell_list, talking
from tractable.value import replace, value

if TYPE_CHECKING:
    from tractable.cli.tables import Table, WatchedFrames
    from tractable.data.columns import Roles

__all__ = ["Fitted", "Question", "fit", "learn"]

#: Facts of a fit that are worth a line.
FACTS = ("n_iter_", "converged_", "log_evidence_", "lower_bound_", "alpha_", "bandwidth_", "inertia_")


#: Files of so many bytes are small: read once, and held.
HELD_BYTES = 2**24


#: What models that learn from a table as it passes say of themselves.
IN_ONE_WALK = "exact in one pass"


def fit(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model; `tractable models` lists them.")],
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="A CSV or Parquet file, a folder, or a quoted pattern.")
    ],
    save: Annotated[
        Path, typer.Option("--save", "-s", metavar="FILE", help="Where to write the fitted model.")
    ],
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option("--weight", metavar="COLUMN", help="The column that says how often each row counts."),
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
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fit MODEL to DATA and save it.

    A model that streams (see `tractable models`) reads a table larger than memory a few megabytes at a time.

    Some examples:

      tractable fit NaiveBayes penguins.csv -t species -s species.tractable

      tractable fit GaussianMixture rows.csv --set n_components=2 -s m.tractable

      tractable fit BayesianRidge 'trips/*.parquet' -t fare -s fare.tractable
    """
    with talking(as_json=as_json, quiet=quiet, debug=debug) as say:
        from tractable.cli.console import names_in
        from tractable.cli.models import made
        from tractable.cli.tables import open_table

        _check_folder(save)
        say.progress(f"fitting {model} to {data} …")
        table = open_table(data)
        say.note(table.notes)
        if save.resolve() in [path.resolve() for path in table.paths]:
            raise ValueError(f"--save: {save} is a file that is being read")
        question = Question(
            target=target,
            weight=weight,
            features=None if features is None else names_in(features),
            drop_missing=drop_missing,
        )
        began = time.monotonic()
        found = learn(made(model, settings or ()), table, question, say.progress)
        if target is not None and found.target is None:
            say.warn(f"{model} predicts no column: {target} is left out")
        _report(say, found, save=save, seconds=time.monotonic() - began)
        if found.interrupted:
            raise typer.Exit(INTERRUPTED)


def _check_folder(save: Path) -> None:
    """Refuse a place that cannot be written before any work."""
    if save.is_dir():
        raise ValueError(f"--save: {save} is a folder")
    if not save.parent.is_dir():
        raise ValueError(f"--save: no such folder: {save.parent}")


def _report(say: Talk, found: Any, *, save: Path, seconds: float) -> None:
    from tractable.persistence import save as write

    write(found.model, save)
    if found.interrupted:
        say.warn("interrupted: the best model so far is saved")
    if found.dropped:
        say.warn(f"{found.dropped} rows with missing entries were left out")
    facts = {name.rstrip("_"): _scalar(found.model, name) for name in FACTS}
    facts = {name: fact for name, fact in facts.items() if fact is not None}
    if hasattr(found.model, "classes_"):
        facts["classes"] = list(found.model.classes_)
    say.answer(
        {
            "model": type(found.model).__name__,
            "parameters": {name: repr(x) for name, x in found.model.get_params(deep=False).items()},
            "target": found.target,
            "features": list(found.features),
            "rows": found.rows,
            "rows_left_out": found.dropped,
            "seconds": round(seconds, 3),
            "saved": str(save),
            **facts,
        },
        _lines(found, save, facts),
    )


def _lines(found: Any, save: Path, facts: dict[str, Any]) -> list[str]:
    of = "" if found.target is None else f" to predict {found.target}"
    columns = ", ".join(map(str, found.features[:8])) + (", …" if len(found.features) > 8 else "")
    return [
        f"model       {' '.join(repr(found.model).split())}",
        f"learned     from {found.rows:,} rows{of}",
        f"columns     {len(found.features)}: {columns}",
        *(f"{name:11s} {_shown(fact)}" for name, fact in facts.items()),
        f"saved       {save} ({save.stat().st_size:,} bytes)",
    ]


def _shown(fact: Any) -> str:
    if isinstance(fact, list):
        return ", ".join(map(str, fact[:12])) + (", …" if len(fact) > 12 else "")
    return f"{fact:.6g}" if isinstance(fact, float) else str(fact)


def _scalar(model: Any, name: str) -> Any:
    """Return a fact where it is one number or one truth value."""
    found: Any = getattr(model, name, None)
    found = found.item() if getattr(found, "ndim", None) == 0 else found
    return found if isinstance(found, bool | int | float) else None


@value
class Question:
    """Which columns are for what, and whether rows with missing entries are left out."""

    target: str | None = None
    weight: str | None = None
    features: tuple[str, ...] | None = None
    drop_missing: bool = False


@value
class Fitted:
    """A model that has learned, and from what."""

    model: Any
    target: Any
    features: tuple[Any, ...]
    rows: int
    dropped: int
    interrupted: bool = False


def learn(
    model: Any, table: "Table", question: Question, tell: Callable[[str], None] = lambda _: None
) -> Fitted:
    """Fit a model to a table.

    A model that streams is given a large table a few megabytes at a time, so that it need not fit in memory;
    so are columns of words by models that learn in one pass. A small table and other models ask for a frame:
    with all rows at hand a model may know a short way. `tell` is told which way a large table is read.
    """
    roles = _roles(model, table, question)
    name, streaming = type(model).__name__, model.model_tags.streaming
    words = [column for column in roles.features if column not in table.numbers] if table.types else []
    if table.types:
        _check_target(model, table, roles)
        _check_features(model, table, words, roles)
    small = bool(table.types) and table.n_bytes <= HELD_BYTES
    size = f"{table.n_bytes / 1e6:,.0f} MB"
    if words and streaming == IN_ONE_WALK and not small:
        tell(f"reading {size} piece by piece …")
        return _from_frames(model, table, roles, drop=question.drop_missing)
    if small or (table.types and (words or streaming == "no")):
        if not small:
            why = "needs all rows at once" if streaming == "no" else "reads columns of words all at once"
            tell(f"reading {size} into memory: {name} {why} …")
        return _from_frame(model, table, roles, drop=question.drop_missing)
    if not small:
        tell(f"reading {size} piece by piece …")
    return _from_source(model, table, roles, drop=question.drop_missing)


def _roles(model: Any, table: "Table", question: Question) -> "Roles":
    from tractable.data.columns import Roles, assign_roles

    name, predicts = type(model).__name__, model.__sklearn_tags__().target_tags.required
    if question.target is None and predicts:
        some = f": one of {', '.join(list(table.types)[:12])}" if table.types else ""
        raise ValueError(f"{name} learns to predict a column; name it by --target{some}")
    if not table.types:
        asked = (question.target, question.weight, *(question.features or ()))
        target, weight, *features = (None if text is None else _number(text) for text in asked)
        return Roles(features=tuple(features), target=target, weight=weight)
    roles = assign_roles(
        list(table.types),
        question.features,
        question.target,
        question.weight,
        where=table.name,
        arguments=("--features", "--target", "--weight"),
    )
    return roles if predicts else replace(roles, target=None)


def _check_target(model: Any, table: "Table", roles: "Roles") -> None:
    """Refuse to regress on words."""
    name = type(model).__name__
    if model.__sklearn_tags__().estimator_type == "regressor" and roles.target not in table.numbers:
        kind = f"{roles.target!r} ({table.types[roles.target]})"
        raise ValueError(
            f"{name} predicts numbers, which {kind} does not hold; `tractable models -k classification` "
            "lists models that predict words"
        )


def _has_whole_labels(model: Any, table: "Table", roles: "Roles") -> bool:
    """Say whether classes are whole numbers, which CSV files give as fractions."""
    from pyarrow import types

    classes = model.__sklearn_tags__().estimator_type == "classifier"
    return classes and roles.target in table.types and types.is_integer(table.types[roles.target])


def _number(text: str) -> int:
    if not text.isdigit():
        raise ValueError(f"columns of .npy files go by number; got {text!r}")
    return int(text)


def _check_features(model: Any, table: "Table", words: Sequence[str], roles: "Roles") -> None:
    """Refuse columns that a model cannot read, with a list of those that it can."""
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
    """Say whether a column holds words, or nothing at all."""
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind)


def _from_source(model: Any, table: "Table", roles: "Roles", *, drop: bool) -> Fitted:
    from tractable.cli.tables import WatchedRows

    source = WatchedRows(
        table.source(roles),
        holes=model.model_tags.missing_values,
        drop=drop,
        label=type(model).__name__,
        whole=_has_whole_labels(model, table, roles),
    )
    names = source.feature_names
    features = tuple(range(source.n_features)) if names is None else names
    stopped = _fit(model, source)
    return Fitted(
        model=model,
        target=roles.target,
        features=features,
        rows=source.counted,
        dropped=source.dropped,
        interrupted=stopped,
    )


def _from_frames(model: Any, table: "Table", roles: "Roles", *, drop: bool) -> Fitted:
    rows = _watched(model, table, roles, drop=drop)
    stopped = _fit(model, rows)
    return _fitted(model, roles, rows, stopped=stopped)


def _from_frame(model: Any, table: "Table", roles: "Roles", *, drop: bool) -> Fitted:
    import numpy as np
    import pandas as pd

    rows = _watched(model, table, roles, drop=drop)
    X, y, weights = zip(*rows, strict=True)
    joined = (None if parts[0] is None else np.concatenate(parts) for parts in (y, weights))
    stopped = _fit(model, pd.concat(X, ignore_index=True), *joined)
    return _fitted(model, roles, rows, stopped=stopped)


def _watched(model: Any, table: "Table", roles: "Roles", *, drop: bool) -> "WatchedFrames":
    from tractable.cli.tables import WatchedFrames

    return WatchedFrames(
        table,
        roles,
        holes=model.model_tags.missing_values,
        drop=drop,
        label=type(model).__name__,
        whole=_has_whole_labels(model, table, roles),
    )


def _fitted(model: Any, roles: "Roles", rows: "WatchedFrames", *, stopped: bool) -> Fitted:
    return Fitted(
        model=model,
        target=roles.target,
        features=roles.features,
        rows=rows.counted,
        dropped=rows.dropped,
        interrupted=stopped,
    )


def _fit(model: Any, *rows: Any) -> bool:
    """Fit, and say whether it was stopped by Ctrl-C with a model in hand."""
    from tractable.base.estimator import FitInterrupted

    try:
        model.fit(*rows)
    except FitInterrupted:
        return True
    return False
