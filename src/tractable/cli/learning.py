"""A model and a table: rows streamed where the model can, held in memory where it must."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tractable.cli.frames import WatchedFrames
from tractable.cli.names import shell_list
from tractable.cli.rows import WatchedRows
from tractable.cli.table import Table
from tractable.data.columns import Roles, assign_roles
from tractable.value import replace, value

__all__ = ["Fitted", "Question", "learn"]

#: Files of so many bytes are small: read once, and held.
HELD_BYTES = 2**24

#: What models that learn from a table as it passes say of themselves.
IN_ONE_WALK = "exact in one pass"


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
    model: Any, table: Table, question: Question, tell: Callable[[str], None] = lambda _: None
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


def _roles(model: Any, table: Table, question: Question) -> Roles:
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


def _check_target(model: Any, table: Table, roles: Roles) -> None:
    """Refuse to regress on words."""
    name = type(model).__name__
    if model.__sklearn_tags__().estimator_type == "regressor" and roles.target not in table.numbers:
        kind = f"{roles.target!r} ({table.types[roles.target]})"
        raise ValueError(
            f"{name} predicts numbers, which {kind} does not hold; `tractable models -k classification` "
            "lists models that predict words"
        )


def _has_whole_labels(model: Any, table: Table, roles: Roles) -> bool:
    """Say whether classes are whole numbers, which CSV files give as fractions."""
    from pyarrow import types

    classes = model.__sklearn_tags__().estimator_type == "classifier"
    return classes and roles.target in table.types and types.is_integer(table.types[roles.target])


def _number(text: str) -> int:
    if not text.isdigit():
        raise ValueError(f"columns of .npy files go by number; got {text!r}")
    return int(text)


def _check_features(model: Any, table: Table, words: Sequence[str], roles: Roles) -> None:
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


def _from_source(model: Any, table: Table, roles: Roles, *, drop: bool) -> Fitted:
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


def _from_frames(model: Any, table: Table, roles: Roles, *, drop: bool) -> Fitted:
    rows = _watched(model, table, roles, drop=drop)
    stopped = _fit(model, rows)
    return _fitted(model, roles, rows, stopped=stopped)


def _from_frame(model: Any, table: Table, roles: Roles, *, drop: bool) -> Fitted:
    import pandas as pd

    rows = _watched(model, table, roles, drop=drop)
    X, y, weights = zip(*rows, strict=True)
    joined = (None if parts[0] is None else np.concatenate(parts) for parts in (y, weights))
    stopped = _fit(model, pd.concat(X, ignore_index=True), *joined)
    return _fitted(model, roles, rows, stopped=stopped)


def _watched(model: Any, table: Table, roles: Roles, *, drop: bool) -> WatchedFrames:
    return WatchedFrames(
        table,
        roles,
        holes=model.model_tags.missing_values,
        drop=drop,
        label=type(model).__name__,
        whole=_has_whole_labels(model, table, roles),
    )


def _fitted(model: Any, roles: Roles, rows: WatchedFrames, *, stopped: bool) -> Fitted:
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
