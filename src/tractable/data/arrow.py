"""Columns of Arrow memory as arrays: one contiguous copy a column, nulls as NaN."""

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tractable.arrays.weights import check_weights
from tractable.data.columns import Roles, assign_roles, check_numeric
from tractable.data.source import Batch


def read_errors() -> tuple[type[Exception], ...]:
    """Return the errors that Arrow raises for files that are damaged, or hold what it does not know."""
    import pyarrow as pa

    return (OSError, ValueError, pa.ArrowException)


def check_entries(rows: Any) -> None:
    """Refuse a record batch of a damaged file: text that is not UTF-8, codes without a category."""
    if not all(is_numeric(field.type) for field in rows.schema):
        rows.validate(full=True)


def is_numeric(kind: Any) -> bool:
    """Whether an Arrow type is numeric; a column of nulls alone is one of NaN."""
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def is_label(kind: Any) -> bool:
    """Whether an Arrow type may be a label: a number, or text, plain or dictionary-encoded."""
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    tests = (types.is_string, types.is_large_string, types.is_string_view)
    return any(test(kind) for test in tests) or is_numeric(kind)


def check_types(schema: Any, roles: Roles, where: str, *, text: tuple[Any, ...] = ()) -> None:
    """Refuse columns whose types do not suit their roles; the features named in `text` may be text."""
    kinds = {name: schema.field(name).type for name in roles.columns}
    bad = {name for name in roles.numeric if not is_numeric(kinds[name]) and name not in text}
    bad |= {name for name in roles.targets if not is_label(kinds[name])}
    check_numeric((f"{name!r} ({kinds[name]})" for name in roles.columns if name in bad), where)


def text_features(schema: Any, roles: Roles) -> dict[Any, str]:
    """Return the features that are text, with the names of their Arrow types."""
    kinds = {name: schema.field(name).type for name in roles.features}
    return {name: str(kind) for name, kind in kinds.items() if is_label(kind) and not is_numeric(kind)}


def saved_index(schema: Any) -> tuple[str, ...]:
    """Return the columns of a schema that pandas wrote as the index of its rows, by the metadata it adds.

    Examples
    --------
    >>> import pandas as pd
    >>> import pyarrow as pa
    >>> some = pd.DataFrame({"km": [1.5, 8.0, 3.0]}).iloc[1:]
    >>> saved_index(pa.Table.from_pandas(some, preserve_index=True).schema)
    ('__index_level_0__',)
    """
    try:
        said = (schema.pandas_metadata or {}).get("index_columns", [])
    except (ValueError, AttributeError):  # metadata of another writer, which is no JSON, or no mapping
        said = []
    # An index that counts is written as a mapping, and has no column.
    named = {name for name in said if isinstance(name, str)}
    return tuple(name for name in schema.names if name in named or re.fullmatch(r"__index_level_\d+__", name))


def common_roles(
    schemas: dict[Path, Any], features: Any, target: Any, weight: Any, index: Collection[str] = ()
) -> Roles:
    """Return the roles of columns that every file has, with suitable types, in the order of the first file.

    Numbers may differ in type from file to file (whole where a file has no nulls, floats where it has): all
    become floats. Features may be text, in all files, for models of tables with text. The columns in `index`
    are features only where they are named.
    """
    first = next(iter(schemas))
    roles = assign_roles(schemas[first].names, features, target, weight, where=str(first), index=index)
    texts = [
        set(text_features(schema, roles))
        for schema in schemas.values()
        if set(roles.columns) <= set(schema.names)
    ]
    text = tuple(set.intersection(*texts))
    for path, schema in schemas.items():
        found = assign_roles(schema.names, features, target, weight, where=str(path), index=index)
        odd = sorted(set(found.features) ^ set(roles.features))
        if odd:
            raise ValueError(f"{path} and {first} do not both have {', '.join(odd)}; choose features=")
        check_types(schema, roles, str(path), text=text)
    return roles


def common_dtype(schemas: Iterable[Any], roles: Roles) -> type:
    """Return float32 where every feature is that or narrower, else float64."""
    kinds = {str(schema.field(name).type) for schema in schemas for name in roles.features}
    return np.float32 if kinds <= {"float", "halffloat"} else np.float64


def batch_of(table: Any, roles: Roles, dtype: type, where: str) -> Batch:
    """Return a record batch or a table as arrays."""
    X = np.empty((table.num_rows, len(roles.features)), dtype, order="F")
    for j, name in enumerate(roles.features):
        X[:, j] = _floats(table.column(name), dtype)
    return Batch(X=X, y=targets_of(table, roles), weights=weights_of(table, roles, where))


def _floats(column: Any, dtype: type = np.float64) -> np.ndarray:
    import pyarrow as pa

    kind = pa.from_numpy_dtype(dtype)
    if column.type != kind:
        column = column.cast(kind, safe=False)
    if column.null_count:
        column = column.fill_null(np.nan)
    return _view(column)


def _view(column: Any) -> np.ndarray:
    """Read a column without nulls in place; `to_numpy` would import pandas."""
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    return np.from_dlpack(column)


def targets_of(table: Any, roles: Roles) -> np.ndarray | None:
    """Return the targets of a table; a single one keeps its type."""
    if roles.target is None:
        return None
    if isinstance(roles.target, tuple):
        return np.column_stack([_floats(table.column(name)) for name in roles.targets])
    return _labels(table.column(roles.target))


def _labels(column: Any) -> np.ndarray:
    """Return a target column with its type: whole numbers, truth values and text may be classes."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not is_numeric(column.type):
        return np.array(column.to_pylist(), dtype=object)
    if types.is_boolean(column.type) and not column.null_count:
        return _view(column.cast("int8")).astype(bool)
    if types.is_integer(column.type) and not column.null_count:
        return np.array(_view(column))
    return np.array(_floats(column))


def weights_of(table: Any, roles: Roles, where: str) -> np.ndarray | None:
    """Return the checked weights of the rows of a table."""
    if roles.weight is None:
        return None
    weights = np.array(_floats(table.column(roles.weight)))
    return check_weights(weights, len(weights), name=f"weights {roles.weight!r} of {where}")
