"""Results of fitted models for collections of Dask: lazy collections, and folders of Parquet files."""

import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
from dask.delayed import delayed

from tractable.data.columns import check_known
from tractable.data.predict_to import answer_columns
from tractable.data.table_columns import is_number
from tractable.distributed.cluster import computed, sent
from tractable.distributed.collections import kind_of, one_chunk_of_columns, partition_list
from tractable.value import value


def lazy_result(estimator: Any, method: str, X: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return a method with one result a row, of a collection: a collection like it, not yet computed.

    Of an array it is an array; of a dataframe a series, or a dataframe where a row has several results; of
    delayed partitions a list of delayed arrays. A method with several results gives a tuple of them.

    Parameters
    ----------
    estimator : fitted estimator
        The model.
    method : str
        The name of the method.
    X : collection of Dask
        Rows.
    args, options : tuple and dict
        The other arguments of the method.
    """
    _refuse_containers(estimator, method)
    kind = kind_of(X)
    call = _MethodCall(method=method, args=args, options=options)
    if kind == "Delayed":
        model, one = sent(estimator), delayed(call)
        return [one(model, part) for part in partition_list(X)]
    if kind == "Array":
        return _of_array(estimator, call, one_chunk_of_columns(X))
    return _of_frame(estimator, call, X)


@value
class _MethodCall:
    """A method of a model and its arguments besides the rows; called on a worker."""

    method: str
    args: tuple[Any, ...]
    options: dict[str, Any]

    def __call__(self, model: Any, rows: Any) -> Any:
        rows = rows[0] if isinstance(rows, tuple) else rows  # of a delayed partition, with its targets
        return getattr(model, self.method)(rows, *self.args, **self.options)


def _of_array(estimator: Any, call: _MethodCall, X: Any) -> Any:
    rows = [np.full((2, X.shape[1]), fill, dtype=X.dtype) for fill in (0, 1)]
    like = _example(estimator, call, [*rows, lambda: _first_row(X)])
    model = sent(estimator)
    if isinstance(like, tuple):
        return tuple(_map_blocks(X, call, model, part, i) for i, part in enumerate(like))
    return _map_blocks(X, call, model, like, None)


def _map_blocks(X: Any, call: _MethodCall, model: Any, like: np.ndarray, part: int | None) -> Any:
    like = np.asarray(like)
    axes: dict[str, Any] = {"drop_axis": 1} if like.ndim == 1 else {}
    if like.ndim > 2:
        axes = {"new_axis": list(range(2, like.ndim))}
    chunks = (X.chunks[0], *((n,) for n in like.shape[1:]))
    return X.map_blocks(
        _block_result, model=model, call=call, like=like[:0], part=part, dtype=like.dtype, chunks=chunks,
        meta=like[:0], name=None, **axes,
    )  # fmt: skip


def _block_result(
    rows: np.ndarray, *, model: Any, call: _MethodCall, like: np.ndarray, part: int | None
) -> np.ndarray:
    if not len(rows):
        return like
    found = call(model, rows)
    return np.asarray(found if part is None else found[part])


def _of_frame(estimator: Any, call: _MethodCall, X: Any) -> Any:
    columns = _columns_of(estimator, list(X.columns))
    X = X[list(columns)] if columns is not None else X
    shape = _Framed(call=call, as_array=columns is None and not _reads_text(estimator))
    nonempty = X._meta_nonempty  # noqa: SLF001
    like = _example(
        estimator,
        lambda model, rows: shape.framed(model, rows, None),
        [nonempty, _without_values(nonempty), lambda: _first_row(X)],
    )
    model = sent(estimator)
    if isinstance(like, tuple):
        return tuple(
            X.map_partitions(_framed_part, model, shape, part.iloc[:0], i, meta=part.iloc[:0])
            for i, part in enumerate(like)
        )
    return X.map_partitions(_framed_part, model, shape, like.iloc[:0], None, meta=like.iloc[:0])


@value
class _Framed:
    """Results of a frame as a series or a frame with its index."""

    call: _MethodCall
    as_array: bool

    def framed(self, model: Any, frame: Any, part: int | None) -> Any:
        """Return the results, or one part of several."""
        found = self.call(model, frame.to_numpy() if self.as_array else frame)
        if isinstance(found, tuple):
            return (
                tuple(self._wrapped(model, each, frame) for each in found)
                if part is None
                else self._wrapped(model, found[part], frame)
            )
        return self._wrapped(model, found, frame)

    def _wrapped(self, model: Any, found: Any, frame: Any) -> Any:
        import pandas as pd

        found = np.asarray(found)
        if found.ndim > 2:
            raise ValueError(
                f"X is a DataFrame of Dask, and {self.call.method} has a table of results a row, which is no "
                "column: give an array, X.to_dask_array()"
            )
        columns = answer_columns(model, self.call.method, found, len(frame))
        made = pd.DataFrame(columns, index=frame.index)
        return made[next(iter(columns))] if found.ndim == 1 else made


def _framed_part(frame: Any, model: Any, shape: _Framed, like: Any, part: int | None) -> Any:
    return shape.framed(model, frame, part) if len(frame) else like


def _example(estimator: Any, call: Any, rows: Sequence[Any]) -> Any:
    """Return the results of rows of the collection's kind, whose types and shapes Dask has to know.

    Made-up rows serve most models; the first row of the collection, which is computed, serves the others.
    """
    for i, some in enumerate(rows):
        last = i == len(rows) - 1
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                return call(estimator, some() if callable(some) else some)
        except ValueError:
            if last:
                raise
    raise AssertionError


def _without_values(frame: Any) -> Any:
    """Return a frame whose numbers are NaN, or, beside numbers that are there, whose words are missing."""
    words = [name for name in frame.columns if not is_number(frame[name])]
    if not words:
        return frame.iloc[:1] * np.nan
    found = frame.copy()
    found[words] = None
    return found


def _first_row(X: Any) -> Any:
    """Return the first row of an array or a dataframe: no partition is computed after the one that has it."""
    for part in np.ravel(X.to_delayed()):
        (rows,) = computed(delayed(_head)(part))
        if len(rows):
            return rows
    raise ValueError("X has no rows: every partition is empty")


def _head(rows: Any) -> Any:
    return rows[:1]


def _columns_of(estimator: Any, names: list[Any]) -> list[Any] | None:
    """Return the columns that a model was fitted on, or None where it was fitted on no names."""
    wanted = getattr(estimator, "feature_names_in_", None)
    if wanted is None:
        width = getattr(estimator, "n_features_in_", len(names))
        if width != len(names):
            raise ValueError(f"X has {len(names)} features, the model was fitted on {width} features")
        return None
    check_known(wanted, names, "X", "the collection")
    return list(wanted)


def _reads_text(estimator: Any) -> bool:
    return bool(estimator.__sklearn_tags__().input_tags.string)


def _refuse_containers(estimator: Any, method: str) -> None:
    """Refuse outputs of pandas and polars, into which scikit-learn would bring all rows."""
    from sklearn.utils._set_output import _get_output_config

    if method == "transform" and _get_output_config(method, estimator)["dense"] != "default":
        raise ValueError(
            "X is a collection of Dask, and set_output asks for a table in memory: leave it at its default; "
            "the result of a DataFrame of Dask is one too"
        )


def predict_to_folder(
    estimator: Any,
    X: Any,
    target: Path,
    *,
    method: str,
    interval: float | None,
    columns: Sequence[str] | None,
) -> Path:
    """Write the predictions for a collection to a folder of Parquet files, one a partition.

    The workers write to a folder beside the target, on a disk that all machines share; it gets its name when
    the last file is there, and is removed where one fails.

    Parameters
    ----------
    estimator : fitted estimator
        The model.
    X : collection of Dask
        Rows.
    target : Path
        The folder, which must not be there.
    method, interval, columns
        As in :func:`tractable.predict_to`.
    """
    kind = kind_of(X)
    copied = [columns] if isinstance(columns, str) else list(columns or ())
    if copied and kind != "DataFrame":
        raise ValueError(f"columns: {kind} of Dask has no names; give a DataFrame")
    if target.exists():
        raise ValueError(f"path: {target} is there already; remove it, or choose another")
    if kind == "DataFrame":
        check_known(copied, list(X.columns), "columns", "the collection")
        wanted = _columns_of(estimator, list(X.columns))
        parts = list(X[list(dict.fromkeys([*(wanted or X.columns), *copied]))].to_delayed())
    else:
        wanted = None
        parts = partition_list(X) if kind == "Delayed" else list(one_chunk_of_columns(X).to_delayed().ravel())
    draft = target.with_name(f".{target.name[:100]}.{token_hex(8)}.part")
    draft.mkdir()
    try:
        how = sent(_Written(
            estimator=estimator, method=method, interval=interval, features=wanted, copied=tuple(copied),
            as_array=kind == "DataFrame" and wanted is None and not _reads_text(estimator),
        ))  # fmt: skip
        one = delayed(_write)
        names = [f"part-{i:05d}.parquet" for i in range(len(parts))]
        tasks = [one(how, part, str(draft / name)) for part, name in zip(parts, names, strict=True)]
        rows = computed(*tasks)
        _check_written(rows, [draft / name for name in names], target)
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return target


def _check_written(rows: Sequence[int], files: list[Path], target: Path) -> None:
    """Refuse an output without rows, and files that the workers wrote where they are not seen."""
    if not sum(rows):
        raise ValueError("source has no rows")
    missing = [file for n, file in zip(rows, files, strict=True) if n and not file.is_file()]
    if missing:
        raise ValueError(
            f"path: the workers wrote {missing[0].name} to a disk that is not seen here: {target} must be on "
            "one that all machines share"
        )


@value
class _Written:
    """The predictions of a model for a partition, as columns to write; runs on a worker."""

    estimator: Any
    method: str
    interval: float | None
    features: list[Any] | None
    copied: tuple[str, ...]
    as_array: bool

    def __call__(self, rows: Any) -> dict[str, Any]:
        from tractable.data.predict_to import predicted_columns

        X = rows if self.features is None else rows[self.features]
        X = X.to_numpy() if self.as_array else X
        given = {name: np.asarray(rows[name]) for name in self.copied}
        return predicted_columns(self.estimator, X, self.method, self.interval, given)


def _write(how: _Written, rows: Any, path: str) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    rows = rows[0] if isinstance(rows, tuple) else rows
    if len(rows):
        parquet.write_table(pa.table(how(rows)), path)
    return len(rows)
