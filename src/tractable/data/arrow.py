"""Columns of Arrow memory as arrays: one contiguous copy a column, nulls as NaN."""

from collections.abc import Generator, Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from tractable.arrays.weights import check_weights
from tractable.data.columns import Roles, assign_roles, check_numeric
from tractable.data.file_source import FileSource
from tractable.data.source import Batch, batch_rows
from tractable.value import value

__all__ = [
    "ParquetSource",
    "batch_of",
    "check_types",
    "common_dtype",
    "common_roles",
    "is_numeric",
    "targets_of",
    "text_features",
    "weights_of",
]


def is_numeric(kind: Any) -> bool:
    """Say whether an Arrow type is a number; a column of nothing but nulls counts as NaN."""
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def is_label(kind: Any) -> bool:
    """Say whether an Arrow type is text, plain or dictionary-encoded."""
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    tests = (types.is_string, types.is_large_string, types.is_string_view)
    return any(test(kind) for test in tests) or is_numeric(kind)


def check_types(schema: Any, roles: Roles, where: str, *, text: tuple[Any, ...] = ()) -> None:
    """Refuse a column whose type does not suit its role; features may be `text` where it is said."""
    kinds = {name: schema.field(name).type for name in roles.columns}
    bad = {name for name in roles.numeric if not is_numeric(kinds[name]) and name not in text}
    bad |= {name for name in roles.targets if not is_label(kinds[name])}
    check_numeric((f"{name!r} ({kinds[name]})" for name in roles.columns if name in bad), where)


def text_features(schema: Any, roles: Roles) -> dict[Any, str]:
    """Return the features that are text, and what Arrow calls their types."""
    kinds = {name: schema.field(name).type for name in roles.features}
    return {name: str(kind) for name, kind in kinds.items() if is_label(kind) and not is_numeric(kind)}


def common_roles(schemas: dict[Path, Any], features: Any, target: Any, weight: Any) -> Roles:
    """Assign roles to columns that every file has, of a type that suits; the first file gives the order.

    Numbers may differ in type from file to file (whole where a file has no nulls, floats where it has): all
    become floats. Features that are text in all files are for those who take tables with text.
    """
    first = next(iter(schemas))
    roles = assign_roles(schemas[first].names, features, target, weight, where=str(first))
    texts = [set(text_features(schema, roles)) for schema in schemas.values() if _has(schema, roles)]
    text = tuple(set.intersection(*texts))
    for path, schema in schemas.items():
        found = assign_roles(schema.names, features, target, weight, where=str(path))
        odd = sorted(set(found.features) ^ set(roles.features))
        if odd:
            raise ValueError(f"{path} and {first} do not both have {', '.join(odd)}; choose features=")
        check_types(schema, roles, str(path), text=text)
    return roles


def _has(schema: Any, roles: Roles) -> bool:
    return set(roles.columns) <= set(schema.names)


def common_dtype(schemas: Iterable[Any], roles: Roles) -> type:
    """Return float32 where every feature is that or narrower, else float64."""
    kinds = {str(schema.field(name).type) for schema in schemas for name in roles.features}
    return np.float32 if kinds <= {"float", "halffloat"} else np.float64


def batch_of(table: Any, roles: Roles, dtype: type, where: str) -> Batch:
    """Turn a record batch or a table into the arrays a fold walks."""
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
    """Keep whole numbers, truth values and text as they are: they may be classes."""
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
    """Return the weights of a table's rows, checked."""
    if roles.weight is None:
        return None
    weights = np.array(_floats(table.column(roles.weight)))
    return check_weights(weights, len(weights), name=f"weights {roles.weight!r} of {where}")


#: Bytes read at a time from each column. Without it Arrow holds a row group's whole compressed columns.
BUFFER_BYTES = 2**16


@value
class ParquetSource(FileSource):
    """The rows of Parquet files, however large their row groups."""

    @classmethod
    def open(cls, paths: tuple[Path, ...], features: Any, target: Any, weight: Any) -> "ParquetSource":
        schemas, rows = {}, 0
        for path in paths:
            with _opened(path) as file:
                schemas[path] = file.schema_arrow
                rows += file.metadata.num_rows
        roles = common_roles(schemas, features, target, weight)
        if rows == 0:
            raise ValueError(f"path: no rows in {', '.join(map(str, paths))}")
        text = text_features(schemas[paths[0]], roles)
        return cls(
            paths=paths,
            roles=roles,
            dtype=common_dtype(schemas.values(), roles),
            rows=rows,
            text=tuple(f"{name!r} ({kind})" for name, kind in text.items()),
        )

    def tables(self) -> Iterator[Any]:
        for path in self.paths:
            yield from self._record_batches(path)

    def read(self, path: Path) -> Generator[Batch]:
        for part in self._record_batches(path):
            yield batch_of(part, self.roles, self.dtype, str(path))

    def _record_batches(self, path: Path) -> Generator[Any]:
        done = 0
        with _opened(path) as file:
            parts = self._pass(file)
            while True:
                try:
                    part = next(parts, None)
                except (OSError, ValueError) as error:
                    group = self._bad_row_group(file, done)
                    total = file.metadata.num_row_groups
                    raise ValueError(
                        f"{path}: row group {group} of {total} cannot be read: {error}"
                    ) from error
                if part is None:
                    return
                done += part.num_rows
                yield part

    def _pass(self, file: Any, row_groups: list[int] | None = None) -> Any:
        columns = list(self.roles.columns)
        return file.iter_batches(batch_size=batch_rows(len(columns)), row_groups=row_groups, columns=columns)

    def _bad_row_group(self, file: Any, done: int) -> int:
        """The row group that cannot be read, among those that hold the rows after the first `done`."""
        metadata = file.metadata
        ends = list(accumulate(metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)))
        suspects = [group for group, end in enumerate(ends) if end > done]
        return next((group for group in suspects if not self._reads(file, group)), suspects[0])

    def _reads(self, file: Any, group: int) -> bool:
        try:
            for _ in self._pass(file, [group]):
                pass
        except (OSError, ValueError):
            return False
        return True


def _opened(path: Path) -> Any:
    from pyarrow import parquet

    try:
        # Read-ahead by Arrow would hold whole row groups; reading ahead is `prefetched`'s.
        return parquet.ParquetFile(
            path, pre_buffer=False, buffer_size=BUFFER_BYTES, page_checksum_verification=True
        )
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {error}") from error
