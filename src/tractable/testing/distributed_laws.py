"""Laws of rows on a cluster: any partitioning is the whole table, and no table comes to one machine."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tractable.engines.linear_estimate import NotComputedError
from tractable.testing.assertions import laws_above
from tractable.testing.estimator_laws import (
    N_COLUMNS,
    N_ROWS,
    ROW_METHODS,
    assert_close,
    cloned,
    example,
    learn,
    predictions,
    refusal,
)

#: Rows of each partition: uneven ones with an empty one, and single rows.
PARTITIONS = ((7, 0, 23, 1, 29), (1, 1, 0, 58))


def fixed_search(estimator: Any) -> Any:
    """Return an estimator whose search takes as many steps from the same start wherever its rows are.

    Hyper-parameters that an optimizer looks for are held: where the evidence is flat, a search multiplies the
    rounding of its values.
    """
    found, names = cloned(estimator), estimator.get_params(deep=False)
    given = {"max_iter": 5, "random_state": 0, "optimizer": None}
    if estimator.model_tags.streaming == "exact over several passes":
        given["tol"] = 0
    return found.set_params(**{name: x for name, x in given.items() if name in names})


def arrays_in_partitions(X: Any, y: Any, weights: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield rows, targets and weights as arrays of Dask, cut at several places; weights at others."""
    import dask.array as da

    for chunks in PARTITIONS:
        rows = da.from_array(X, chunks=(chunks, X.shape[1]))
        yield (
            rows,
            None if y is None else da.from_array(y, chunks=(chunks,)),
            da.from_array(weights, chunks=20),
        )


def any_partitioning_is_the_whole(estimator: Any, rng: np.random.Generator) -> None:
    """A fit to partitions is the fit to the table in memory, to 100·cond·eps, after as many iterations.

    The condition number is that of the covariance of the rows. Models that hold their rows refuse them.
    """
    if not estimator.model_tags.streaming.startswith("exact"):
        return
    estimator = fixed_search(estimator)
    X, y = example(estimator, rng)
    weights = rng.integers(1, 3, len(X)).astype(float)
    want = predictions(learn(estimator, X, y, sample_weight=weights), X)
    rtol = 100.0 * float(np.linalg.cond(np.cov(X.T))) * float(np.finfo(np.float64).eps)
    for rows, targets, counted in arrays_in_partitions(X, y, weights):
        try:
            fitted = learn(estimator, rows, targets, sample_weight=counted)
        except ValueError as error:
            assert "Dask" in str(error), f"refused for another reason: {error}"
            return
        assert_close(predictions(fitted, X), want, rtol)


#: Rounding of five steps of a search is smaller, and another start makes a larger difference; and where a
#: search that begins without a seed ends.
SAME_START, SAME_END = 1e-9, 1e-4


def one_seed_gives_one_answer(estimator: Any, rng: np.random.Generator, n_rows: int = N_ROWS) -> None:
    """A fit does not depend on where the rows are: in memory, in batches, in a file or in partitions."""
    _assert_same_answer(estimator, rng, n_rows, (_in_batches, _in_a_file, _in_partitions))


def one_seed_gives_one_answer_in_any_order(
    estimator: Any, rng: np.random.Generator, n_rows: int = N_ROWS
) -> None:
    """A fit does not depend on the order of the rows, in memory or in batches."""
    _assert_same_answer(estimator, rng, n_rows, (_in_another_order, _in_batches_of_another_order))


def _assert_same_answer(estimator: Any, rng: np.random.Generator, n_rows: int, places: Any) -> None:
    if not estimator.model_tags.streaming.startswith("exact"):
        return
    begins_at_random = "random_state" in estimator.get_params()
    if begins_at_random:
        estimator = fixed_search(estimator)
    else:
        steps = {"tol": 1e-10, "max_iter": 1_000}
        names = estimator.get_params(deep=False)
        estimator = cloned(estimator).set_params(**{name: x for name, x in steps.items() if name in names})
    X, y = example(estimator, rng, n_rows)
    for part in (X, y):  # rows may occur twice
        if part is not None:
            part[n_rows // 2 : n_rows // 2 + 5] = part[:5]
    weights = rng.integers(0, 3, n_rows).astype(float)
    asked = X[weights > 0][:N_ROWS]
    want = predictions(learn(estimator, X, y, sample_weight=weights), asked)
    for place in places:
        with place(X, y, weights, rng) as (rows, targets, counted):
            try:
                fitted = learn(estimator, rows, targets, sample_weight=counted)
            except ValueError as error:
                assert "Dask" in str(error) or "in memory" in str(error), (
                    f"refused for another reason: {error}"
                )
                continue
        try:
            assert_close(predictions(fitted, asked), want, SAME_START if begins_at_random else SAME_END)
        except AssertionError as error:
            raise AssertionError(f"{place.__name__.strip('_')}: {error}") from error


@contextmanager
def _in_another_order(X: Any, y: Any, weights: Any, rng: Any) -> Iterator[tuple[Any, Any, Any]]:
    order = rng.permutation(len(X))
    yield X[order], None if y is None else y[order], weights[order]


@contextmanager
def _in_batches(X: Any, y: Any, weights: Any, rng: Any) -> Iterator[tuple[Any, Any, Any]]:
    edges = [0, *np.sort(rng.integers(0, len(X), 3)), len(X)]
    cuts = [slice(a, b) for a, b in itertools.pairwise(edges)]
    yield [(X[cut], None if y is None else y[cut], weights[cut]) for cut in cuts], None, None


@contextmanager
def _in_batches_of_another_order(X: Any, y: Any, weights: Any, rng: Any) -> Iterator[tuple[Any, Any, Any]]:
    with _in_another_order(X, y, weights, rng) as rows, _in_batches(*rows, rng) as batches:
        yield batches


@contextmanager
def _in_a_file(X: Any, y: Any, weights: Any, rng: Any) -> Iterator[tuple[Any, Any, Any]]:
    from tempfile import TemporaryDirectory

    from tractable.data import scan

    columns = [part for part in (X, y, weights) if part is not None]
    d = X.shape[1]
    with TemporaryDirectory() as folder:
        np.save(f"{folder}/rows.npy", np.column_stack(columns))
        target = None if y is None else d
        yield scan(f"{folder}/rows.npy", list(range(d)), target, len(columns) + d - 2), None, None


@contextmanager
def _in_partitions(X: Any, y: Any, weights: Any, rng: Any) -> Iterator[tuple[Any, Any, Any]]:
    import dask
    import dask.array as da

    with dask.config.set(scheduler="synchronous"):
        chunks = max(1, len(X) // 6 + 1)
        targets = None if y is None else da.from_array(y, chunks=chunks)
        yield da.from_array(X, chunks=(chunks, X.shape[1])), targets, da.from_array(weights, chunks=chunks)


#: Rows of the two tables that `no_row_travels` compares, and of a partition.
TRAVELLING_ROWS, TRAVELLING_PARTITION = (400, 1_600), 200

#: Entries of rows that may be in what travels: a few rows to begin with, extremes.
TRAVELLING_ENTRIES = 256


def no_row_travels(estimator: Any, rng: np.random.Generator) -> None:
    """What travels between machines does not grow with the number of rows, and does not contain the rows.

    These are the statistics of partitions and their sums, the parameters that are sent to the workers, and
    the fitted model. A statistic that is a sample says in `most_rows` how many rows it holds at most.
    """
    import pickle

    import dask
    import dask.array as da

    if not estimator.model_tags.streaming.startswith(("exact", "approximate")):
        return
    estimator, sizes = fixed_search(estimator), []
    for n_rows in TRAVELLING_ROWS:
        X, y = example(estimator, rng, n_rows)
        rows = da.from_array(X, chunks=(TRAVELLING_PARTITION, X.shape[1]))
        targets = None if y is None else da.from_array(y, chunks=TRAVELLING_PARTITION)
        with dask.config.set(scheduler="synchronous"), _Travelling() as travelling:
            try:
                fitted = learn(estimator, rows, targets)
            except ValueError as error:
                assert "Dask" in str(error), f"refused for another reason: {error}"
                fitted = None
        pickles = [*travelling.pickles, *([] if fitted is None else [pickle.dumps(fitted)])]
        sizes.append(max(map(len, pickles), default=0))
        most = max((_entries_within(X, found) for found in pickles), default=0)
        assert most <= TRAVELLING_ENTRIES, f"{most} entries of rows travel, in {sizes[-1]} bytes"
    assert sizes[1] <= 1.25 * sizes[0] + 2_000, (
        f"of four times the rows {sizes[1]} bytes travel, not {sizes[0]}"
    )


class _Travelling:
    """The pickled results of tasks that leave the worker which holds a partition."""

    def __enter__(self) -> "_Travelling":
        from dask.callbacks import Callback

        self.pickles: list[bytes] = []
        self.callback = Callback(posttask=self._note)
        self.callback.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.callback.__exit__(*error)

    def _note(self, _key: Any, result: Any, *_: Any) -> None:
        import cloudpickle

        from tractable.data import Batch

        if isinstance(result, Batch | np.ndarray):
            return
        pickled, most_rows = (
            cloudpickle.dumps(result),
            getattr(getattr(result, "total", None), "most_rows", None),
        )
        if most_rows is None:
            self.pickles.append(pickled)
        else:  # rows have their targets, weights and keys beside them
            most = 8 * most_rows * (N_COLUMNS + 3) + 5_000
            assert len(pickled) <= most, f"a sample of {most_rows} rows travels in {len(pickled)} bytes"


def _entries_within(X: np.ndarray, pickled: bytes) -> int:
    """Return how many distinct entries of X a pickle contains, byte for byte, at any place."""
    entries = np.unique(np.ascontiguousarray(X).view(np.uint64))
    words = [
        np.frombuffer(pickled[at : len(pickled) - (len(pickled) - at) % 8], np.uint64) for at in range(8)
    ]
    return int(np.isin(entries, np.concatenate(words)).sum())


def collections_are_folded_or_refused(estimator: Any, rng: np.random.Generator) -> None:
    """A collection is learned from on its workers, or one ValueError says that its rows must be in memory."""
    import dask.dataframe as dd
    import pandas as pd

    estimator = fixed_search(estimator)
    X, y = example(estimator, rng)
    fresh, frame = cloned(estimator), pd.DataFrame(X, columns=["a", "b", "c"])
    if y is not None:
        frame["target"] = y
    rows, targets = dd.from_pandas(frame, npartitions=2), None if y is None else "target"
    with _never_computed(rows):
        try:
            fitted = learn(estimator, rows, targets)
        except ValueError:
            with refusal("X", fresh):
                fresh.fit(rows, targets)
            return
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]


class _never_computed:  # noqa: N801  (reads as a statement)
    """Let a collection raise where it is brought to this process as a whole."""

    def __init__(self, collection: Any) -> None:
        self.kind, self.names = type(collection), ("__array__", "compute")

    def __enter__(self) -> None:
        self.own = {name: self.kind.__dict__.get(name) for name in self.names}
        for name in self.names:
            setattr(self.kind, name, _computed)

    def __exit__(self, *_: object) -> None:
        for name, own in self.own.items():
            if own is None:
                delattr(self.kind, name)
            else:
                setattr(self.kind, name, own)


def _computed(self: Any, *_: Any, **__: Any) -> Any:
    raise AssertionError("the collection was brought to one machine")


def answers_to_collections_are_lazy(estimator: Any, rng: np.random.Generator) -> None:
    """What a model says of a collection is a collection, of the shape and type that it has once computed."""
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd
    from dask import compute, is_dask_collection

    X, y = example(estimator, rng)
    fitted = learn(fixed_search(estimator), X, y)
    rows = da.from_array(X, chunks=((7, 0, 53), 3))
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=3)
    arrays, frames, wanted = [], [], []
    for name in (method for method in ROW_METHODS if hasattr(fitted, method)):
        try:
            want = np.asarray(getattr(fitted, name)(X))
        except NotComputedError:  # of coefficients without standard errors
            continue
        found, tabled = getattr(fitted, name)(rows), getattr(fitted, name)(frame)
        for answer in (found, tabled):
            assert is_dask_collection(answer), f"{name} of a collection is a {type(answer).__name__}"
        arrays.append(found)
        frames.append(tabled)
        wanted.append(want)
    answered = zip(arrays, wanted, compute(*arrays), compute(*frames), strict=True)
    for found, want, computed, tabled in answered:
        assert found.shape == computed.shape == want.shape
        assert found.dtype == computed.dtype == want.dtype
        for answers in (computed, tabled.to_numpy()):
            if want.dtype.kind == "f":
                assert_close(answers, want, 1e-12)
            else:
                np.testing.assert_array_equal(answers, want)


DISTRIBUTED_LAWS = laws_above(globals())
