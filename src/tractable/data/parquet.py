"""Parquet files of any size, a few megabytes at a time."""

from collections.abc import Generator, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from tractable.data import arrow
from tractable.data.file_source import FileSource
from tractable.data.source import Batch, batch_rows
from tractable.value import value

__all__ = ["ParquetSource"]

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
        roles = arrow.common_roles(schemas, features, target, weight)
        if rows == 0:
            raise ValueError(f"path: no rows in {', '.join(map(str, paths))}")
        text = arrow.text_features(schemas[paths[0]], roles)
        return cls(
            paths=paths,
            roles=roles,
            dtype=arrow.common_dtype(schemas.values(), roles),
            rows=rows,
            text=tuple(f"{name!r} ({kind})" for name, kind in text.items()),
        )

    def tables(self) -> Iterator[Any]:
        for path in self.paths:
            yield from self._record_batches(path)

    def read(self, path: Path) -> Generator[Batch]:
        for part in self._record_batches(path):
            yield arrow.batch_of(part, self.roles, self.dtype, str(path))

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
