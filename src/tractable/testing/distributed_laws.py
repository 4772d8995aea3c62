"""Laws of rows on a cluster: any partitioning is the whole table, and no table comes to one machine."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.engines.least_squares import NotComputedError
from tractable.testing.assertions import laws_above
from tractable.testing.estimator_laws import (
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
