"""A model and a table: rows streamed where the model can, held in memory where it must."""

from collections.abc import Sequence
from typing import Any

from tractable.cli.names import listed
from tractable.cli.rows import WatchedRows, as_whole, missing_entries, missing_target
from tractable.cli.table import Table
from tractable.data.columns import Roles, assign_roles
from tractable.value import replace, value

__all__ = ["Fitted", "Question", "learn"]

#: Files of so many bytes are small: read once, and held.
HELD_BYTES = 2**24


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


def learn(model: Any, table: Table, question: Question) -> Fitted:
    """Fit a model to a table.

    A model that streams is given a source of a large table, which need not fit in memory. A small table,
    columns of words and models that do not stream ask for a frame: with all rows at hand a model may know a
    short way.
    """
    roles = _roles(model, table, question)
    if table.types:
        _check_target(model, table, roles)
        words = [name for name in roles.features if name not in table.numbers]
        reads_words = bool(model.__sklearn_tags__().input_tags.string)
        if words and not reads_words:
            raise _not_numbers(model, table, words, roles)
        if words or model.model_tags.streaming == "no" or table.n_bytes <= HELD_BYTES:
            return _from_frame(model, table, roles, drop=question.drop_missing)
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


def _not_numbers(model: Any, table: Table, words: Sequence[str], roles: Roles) -> ValueError:
    left = [name for name in roles.features if name in table.numbers]
    kinds = ", ".join(f"{name!r} ({table.types[name]})" for name in words)
    hint = f"; --features {listed(left)} are those that do" if left else ""
    return ValueError(f"{type(model).__name__} takes numbers, which these columns do not hold: {kinds}{hint}")


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


def _from_frame(model: Any, table: Table, roles: Roles, *, drop: bool) -> Fitted:
    import pandas as pd

    frame = pd.concat((block.to_pandas() for block in table.blocks(roles.columns)), ignore_index=True)
    needed = list(roles.targets if model.model_tags.missing_values else (*roles.targets, *roles.features))
    holes = frame[needed].isna()
    bad = holes.any(axis=1)
    if bad.any() and not drop:
        column = holes.columns[holes.any()][0]
        raise missing_target() if column == roles.target else missing_entries(type(model).__name__, column)
    frame = frame[~bad]
    if frame.empty:
        raise ValueError("there are no rows without missing entries")
    y = None if roles.target is None else frame[roles.target].to_numpy()
    if y is not None and _has_whole_labels(model, table, roles):
        y = as_whole(y)
    weights = None if roles.weight is None else frame[roles.weight].to_numpy()
    stopped = _fit(model, frame[list(roles.features)], y, weights)
    return Fitted(
        model=model,
        target=roles.target,
        features=roles.features,
        rows=len(frame),
        dropped=int(bad.sum()),
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
