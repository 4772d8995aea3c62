"""The law of sparse rows: they have the answers of the same rows, dense, or are refused."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from tractable.primitives.sparse_rows import GRAM_COLUMNS
from tractable.testing.assertions import laws_above
from tractable.testing.estimator_laws import assert_close, cloned, learn, refusal

#: Methods with one answer a row, and what is learned of the columns.
ANSWERS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
LEARNED = (
    *("coef_", "intercept_", "components_", "explained_variance_", "noise_variance_", "mean_"),
    *("cluster_centers_", "inertia_", "labels_", "counts_", "alpha_", "C_", "feature_log_prob_", "loss_"),
)

#: Rows and columns of a table whose columns are few, and of one whose products would be too many.
NARROW, WIDE = (70, 6), (40, GRAM_COLUMNS + 10)


def sparse_rows_are_the_dense_rows(estimator: Any, rng: np.random.Generator) -> None:
    """In any format and order, weighted or not, stored in parts or with zeros: the dense answers, to 1e-9.

    Columns and rows without an entry are among them. A model that takes dense rows alone says so, in one
    ValueError; so it does with entries that are no finite numbers.
    """
    X, y = _example(estimator, rng, NARROW)
    if not estimator.__sklearn_tags__().input_tags.sparse:
        fresh = cloned(estimator)
        with refusal("toarray", fresh):
            fresh.fit(sparse.csr_array(X), y)
        return
    weights = rng.integers(0, 3, len(X)).astype(float)
    for options in ({}, {"sample_weight": weights}):
        want = learn(estimator, X, y, **options)
        for rows in _stored(X, rng):
            _assert_same(learn(estimator, rows, y, **options), want, rows, X, y)
    single = learn(estimator, sparse.csr_matrix(X.astype(np.float32)), y)
    assert_close(_answers(single, X, y), _answers(learn(estimator, X.astype(np.float32), y), X, y), 1e-5)
    _assert_bad_entries_are_refused(estimator, X, y)


def wide_sparse_rows_are_the_dense_rows(estimator: Any, rng: np.random.Generator) -> None:
    """So they do where there are more columns than can be multiplied with each other, if they are taken."""
    if not estimator.__sklearn_tags__().input_tags.sparse:
        return
    X, y = _example(estimator, rng, WIDE)
    rows = sparse.csr_array(X)
    try:
        found = learn(estimator, rows, y)
    except ValueError as error:
        assert "sparse" in str(error), f"the error does not say that X is sparse: {error}"
        return
    _assert_same(found, learn(estimator, X, y), rows, X, y)


SPARSE_LAWS = laws_above(globals())


def _example(estimator: Any, rng: np.random.Generator, shape: tuple[int, int]) -> tuple[np.ndarray, Any]:
    """Return rows with many zeros, whose columns have means beside zero, and a target if there is one."""
    tags = estimator.__sklearn_tags__()
    count = tags.input_tags.positive_only
    entries = rng.integers(1, 6, shape) if count else 2.0 + 1.5 * rng.standard_normal(shape)
    X = np.where(rng.random(shape) < min(0.4, 8.0 / shape[1] ** 0.5), entries, 0.0)
    X[3] = 0.0
    X[:, 5] += 3.0  # a column without zeros
    if not tags.target_tags.required and estimator.model_tags.kind == "generative":
        return X, None  # a constant column has no density
    X[:, 4] = 0.0
    if not tags.target_tags.required:
        return X, None
    signal = X[:, :6] @ np.array([2.0, -1.0, 0.5, 1.0, 0.0, 0.5]) + rng.standard_normal(len(X))
    if tags.target_tags.positive_only:
        signal = np.round(1.0 + signal - signal.min())
    return X, (signal > np.median(signal)).astype(int) if tags.estimator_type == "classifier" else signal


def _stored(X: np.ndarray, rng: np.random.Generator) -> Iterator[Any]:
    """Yield the same rows in formats of SciPy, and in forms that are allowed and not canonical."""
    rows = sparse.csr_matrix(X)
    yield rows
    yield sparse.csc_array(X)
    where = sparse.coo_array(X)
    i, j, entries = np.tile(where.row, 2), np.tile(where.col, 2), where.data
    yield sparse.coo_matrix((np.concatenate([entries - 0.5, np.full(len(entries), 0.5)]), (i, j)), X.shape)
    shuffled = sparse.csr_array(X)
    for start, end in zip(shuffled.indptr[:-1], shuffled.indptr[1:], strict=True):
        order = start + rng.permutation(end - start)
        shuffled.indices[start:end], shuffled.data[start:end] = shuffled.indices[order], shuffled.data[order]
    shuffled.has_sorted_indices = False
    yield shuffled
    zeros = sparse.csr_array(np.where(X == 0.0, 1.0, X))
    zeros.data[(X == 0.0).ravel()] = 0.0  # all entries are stored
    zeros.indices, zeros.indptr = zeros.indices.astype(np.int64), zeros.indptr.astype(np.int64)
    yield zeros


def _assert_same(found: Any, want: Any, rows: Any, X: np.ndarray, y: Any) -> None:
    assert_close(_answers(found, rows, y), _answers(want, X, y), 1e-9)
    assert_close(_answers(found, X, y), _answers(want, X, y), 1e-9)
    for name in LEARNED:
        if name in vars(want) and name in vars(found):
            mine, theirs = (np.asarray(getattr(model, name), dtype=float) for model in (found, want))
            assert_close(mine, theirs, 1e-9)


def _answers(fitted: Any, X: Any, y: Any) -> np.ndarray:
    """Return the answers to rows and, behind them, the score."""
    found = [getattr(fitted, name)(X) for name in ANSWERS if hasattr(fitted, name)]
    scores = (
        np.full(X.shape[0], fitted.score(X, y)) if hasattr(fitted, "score") else np.empty((X.shape[0], 0))
    )
    return np.column_stack([*(np.asarray(part, dtype=float) for part in found), scores])


def _assert_bad_entries_are_refused(estimator: Any, X: np.ndarray, y: Any) -> None:
    missing = estimator.__sklearn_tags__().input_tags.allow_nan
    fitted = learn(estimator, X, y)
    for bad in (np.inf, *(() if missing else (np.nan,))):
        rows = sparse.csr_matrix(X)
        rows.data[1] = bad
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            with refusal("X", fitted):
                fitted.fit(rows, y)
    for rows in (sparse.csr_matrix(X[:, :-1]), sparse.csr_matrix((0, X.shape[1]))):
        with refusal("X", fitted):
            _answers(fitted, rows, y)
