"""What laws of estimators ask: rows to learn from, and what a fitted estimator says about them."""

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = [
    "N_COLUMNS",
    "N_ROWS",
    "answers",
    "assert_close",
    "assert_same_answers",
    "cloned",
    "example",
    "learn",
    "quiet",
    "refused",
]

N_ROWS, N_COLUMNS = 60, 3


def example(estimator: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    """Return rows, and a target where the estimator needs one."""
    X = rng.standard_normal((N_ROWS, N_COLUMNS)) @ rng.standard_normal((N_COLUMNS, N_COLUMNS)) + 3.0
    tags = estimator.__sklearn_tags__()
    if tags.input_tags.positive_only:  # codes of categories, or counts
        X = np.round(X - X.min())
    if not tags.target_tags.required:
        return X, None
    y = X @ np.arange(1.0, N_COLUMNS + 1) + 0.1 * rng.standard_normal(N_ROWS)
    return X, (y > np.median(y)).astype(int) if tags.estimator_type == "classifier" else y


def answers(estimator: Any, X: Any) -> np.ndarray:
    """Return what a fitted estimator says about rows, one line a row."""
    asked = ("score_samples", "predict_proba", "predict", "transform")
    found = [getattr(estimator, name)(X) for name in asked if hasattr(estimator, name)]
    found = found or [estimator.kneighbors(X)[0]]  # a search says how far neighbours are
    return np.column_stack([np.asarray(part, dtype=float) for part in found])


def assert_same_answers(a: Any, b: Any, X: Any, rtol: float = 1e-7) -> None:
    """Raise unless two fitted estimators agree on the rows."""
    assert_close(answers(a, X), answers(b, X), rtol)


def assert_close(a: np.ndarray, b: np.ndarray, rtol: float = 1e-7) -> None:
    # An impossible row has a score of -inf under both.
    size = np.abs(b[np.isfinite(b)]).max(initial=1.0)
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * float(size))


def cloned(estimator: Any) -> Any:
    from sklearn.base import clone

    return clone(estimator)


def learn(estimator: Any, X: Any, y: Any, **options: Any) -> Any:
    with quiet():
        return cloned(estimator).fit(X, y, **options)


@contextmanager
def quiet() -> Iterator[None]:
    """Degenerate rows may be warned about; whether they are answered is the question here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@contextmanager
def refused(named: str, fitted: Any) -> Iterator[None]:
    """Expect one ValueError that names the argument and leaves the estimator as it was."""
    before = copy.copy(vars(fitted))
    try:
        yield
    except ValueError as error:
        assert named in str(error), f"the error does not name {named}: {error}"
    else:
        raise AssertionError(f"bad {named or 'input'} was accepted")
    assert vars(fitted).keys() == before.keys(), "a failed call left attributes behind"
    assert all(vars(fitted)[name] is kept for name, kept in before.items()), "a failed call changed the model"
