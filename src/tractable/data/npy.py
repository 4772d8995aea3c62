"""NumPy's own files, mapped into memory a batch at a time."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np

from tractable.arrays.weights import check_weights
from tractable.data.arrays import as_floats
from tractable.data.columns import assign_roles
from tractable.data.file_source import FileSource
from tractable.data.source import Batch, row_slices
from tractable.value import value

__all__ = ["NpySource"]


@value
class NpySource(FileSource):
    """The rows of `.npy` matrices; columns go by their number."""

    @classmethod
    def open(cls, paths: tuple[Path, ...], features: Any, target: Any, weight: Any) -> "NpySource":
        arrays = [_mapped(path) for path in paths]
        widths = {array.shape[1] for array in arrays}
        if len(widths) > 1:
            raise ValueError(f"path: the files differ in width: {sorted(widths)} columns")
        columns = range(widths.pop())
        roles = assign_roles(columns, features, target, weight, where=str(paths[0]))
        rows = sum(len(array) for array in arrays)
        if rows == 0:
            raise ValueError(f"path: no rows in {', '.join(map(str, paths))}")
        small = all(array.dtype == np.float32 for array in arrays)
        return cls(paths=paths, roles=roles, dtype=np.float32 if small else np.float64, rows=rows)

    def read(self, path: Path) -> Generator[Batch]:
        n_rows, n_columns = _mapped(path).shape
        for rows in row_slices(n_rows, n_columns):
            # A map of its own for every batch: pages that stay mapped count as this process's memory.
            part = np.array(_mapped(path)[rows])
            yield self._batch(part, path)

    def _batch(self, part: np.ndarray, path: Path) -> Batch:
        roles = self.roles
        everything = roles.features == tuple(range(part.shape[1]))
        X = part if everything else part[:, list(roles.features)]
        y = None
        if roles.target is not None:
            y = part[:, list(roles.target) if isinstance(roles.target, tuple) else roles.target]
        where = f"weights, column {roles.weight} of {path}"
        weights = (
            None if roles.weight is None else check_weights(part[:, roles.weight], len(part), name=where)
        )
        return Batch(X=as_floats(X).astype(self.dtype, copy=False), y=y, weights=weights)


def _mapped(path: Path) -> np.ndarray:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as an .npy array: {error}") from error
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiub":
        found = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else "an archive"
        raise ValueError(f"{path} must hold a matrix of numbers; it holds {found}")
    return array
