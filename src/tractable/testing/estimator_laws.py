"""Laws of estimators: the contract beyond scikit-learn's own checks.

Laws compare answers (densities, predictions, transformed rows), never how a model stores what it learned.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator
from tractable.testing.estimator_answers import (
    N_COLUMNS,
    N_ROWS,
    answers,
    assert_close,
    assert_same_answers,
    example,
    learn,
    refused,
)
from tractable.testing.streaming_laws import STREAMING_LAWS

__all__ = ["ESTIMATOR_LAWS", "check_estimator"]


def rows_may_be_stored_anyhow(estimator: Any, rng: np.random.Generator) -> None:
    """Order in memory, strides, write protection and lists make no difference."""
    X, y = example(estimator, rng)
    before = X.copy()
    fitted = learn(estimator, X, y)
    frozen = X.copy()
    frozen.setflags(write=False)
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], frozen, X.tolist()):
        assert_same_answers(learn(estimator, same, y), fitted, X)
    np.testing.assert_array_equal(X, before)


def float32_is_accepted(estimator: Any, rng: np.random.Generator) -> None:
    """Single precision gives the answer of the same numbers in double precision."""
    X, y = example(estimator, rng)
    single = X.astype(np.float32)
    assert_same_answers(learn(estimator, single, y), learn(estimator, single.astype(float), y), X, rtol=1e-4)


def bad_rows_are_one_clear_error(estimator: Any, rng: np.random.Generator) -> None:
    """What cannot be rows is a ValueError that names X, and the fitted model is as it was."""
    X, y = example(estimator, rng)
    fitted = learn(estimator, X, y)
    takes = estimator.__sklearn_tags__().input_tags
    for bad in _bad_rows(X, allow_nan=takes.allow_nan, text=takes.string):
        with refused("X", fitted):
            fitted.fit(bad, y)
    spoiled = X.copy()
    spoiled[3, 1] = np.inf
    for name in ("score_samples", "predict", "predict_proba", "transform"):
        for bad in (X[:, :-1], X[0], spoiled, np.asarray(X, dtype=str)[:, :1].astype(object) + "a"):
            if hasattr(fitted, name):
                with refused("X", fitted):
                    getattr(fitted, name)(bad)


def bad_weights_are_one_clear_error(estimator: Any, rng: np.random.Generator) -> None:
    """What cannot be weights is a ValueError that names sample_weight."""
    X, y = example(estimator, rng)
    fitted, good = learn(estimator, X, y), np.ones(len(X))
    bad = (-good, good * np.nan, good * np.inf, good[:-1], good[:, None], good * 0.0, ["a"] * len(X))
    for weights in bad:
        with refused("sample_weight", fitted):
            fitted.fit(X, y, sample_weight=weights)


def weights_are_repetitions(estimator: Any, rng: np.random.Generator) -> None:
    """Integer weights count rows; zero leaves a row out; none at all is one each."""
    X, y = example(estimator, rng)
    times = rng.integers(0, 4, len(X))
    repeated = np.repeat(X, times, axis=0), None if y is None else np.repeat(y, times)
    weighted = learn(estimator, X, y, sample_weight=times)
    assert_same_answers(weighted, learn(estimator, *repeated), X)
    assert_same_answers(learn(estimator, X, y, sample_weight=np.ones(len(X))), learn(estimator, X, y), X)


def extreme_scales_change_units_alone(estimator: Any, rng: np.random.Generator) -> None:
    """Columns of 1e100 and of 1e-100 give finite answers, and log densities that differ by log |scale|."""
    takes = estimator.__sklearn_tags__().input_tags
    if takes.positive_only:
        return  # categories and counts have no units
    X, y = example(estimator, rng)
    whole = learn(estimator, X, y)
    for scale in (1e-100, 1e100, np.array([1e-100, 1.0, 1e100])):
        scaled = learn(estimator, X * scale, y)
        assert np.all(np.isfinite(answers(scaled, X * scale)))
        if hasattr(whole, "distribution_") and np.ndim(scale) == 0:
            # Where events are counted, scores are probabilities and have no units.
            width = 0 if whole.distribution_.discrete else N_COLUMNS
            moved = scaled.score_samples(X * scale) + width * np.log(scale)
            assert_close(moved, whole.score_samples(X))


def degenerate_rows_are_answered_or_refused(estimator: Any, rng: np.random.Generator) -> None:
    """One row, equal rows, constant and repeated columns: a finite answer or one ValueError."""
    X, y = example(estimator, rng)
    constant, twice = X.copy(), X.copy()
    constant[:, 1], twice[:, 1] = 7.0, X[:, 0]
    for rows in (X[:1], X[:2], np.repeat(X[:1], N_ROWS, axis=0), constant, twice, np.zeros_like(X)):
        target = None if y is None else y[: len(rows)]
        try:
            fitted = learn(estimator, rows, target)
        except ValueError as error:
            assert any(name in str(error) for name in ("X", "y", "sample")), f"what is wrong? {error}"
            continue
        assert np.all(np.isfinite(answers(fitted, rows))), "a silent NaN"


def asking_changes_nothing(estimator: Any, rng: np.random.Generator) -> None:
    """Predicting, scoring, sampling and transforming set no attributes and are repeatable."""
    X, y = example(estimator, rng)
    fitted = learn(estimator, X, y)
    before = dict(vars(fitted))
    first = answers(fitted, X)
    if hasattr(fitted, "sample"):
        draws = [_drawn(fitted, 4, 7) for _ in range(2)]
        np.testing.assert_array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(answers(fitted, X), first)
    assert vars(fitted).keys() == before.keys()
    assert all(vars(fitted)[name] is kept for name, kept in before.items())


def column_names_are_remembered(estimator: Any, rng: np.random.Generator) -> None:
    """A model fitted on a frame knows its columns, and refuses others."""
    import pandas as pd

    X, y = example(estimator, rng)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = learn(estimator, frame, y)
    assert list(getattr(fitted, "feature_names_in_", ())) == ["a", "b", "c"]
    assert_close(answers(fitted, frame), answers(learn(estimator, X, y), X))
    with refused("", fitted):
        answers(fitted, frame.rename(columns={"a": "z"}))


def density_questions_agree(estimator: Any, rng: np.random.Generator) -> None:
    """`score`, `outlier_scores`, `sample` and `distribution_` tell one story."""
    X, y = example(estimator, rng)
    fitted = learn(estimator, X, y)
    if not hasattr(fitted, "distribution_"):
        return
    scores = fitted.score_samples(X)
    if hasattr(fitted, "outlier_scores"):  # a classifier's `score` is how often it is right
        np.testing.assert_allclose(fitted.score(X), np.mean(scores))
        np.testing.assert_allclose(fitted.outlier_scores(X), -scores)
    # Some models read rows as events of another kind: numbers above a threshold as ones, say.
    events = getattr(fitted, "_events", np.asarray)(X)
    np.testing.assert_allclose(fitted.distribution_.log_prob(events), scores)
    assert _drawn(fitted, 5, 0).shape == (5, N_COLUMNS)


def _drawn(fitted: Any, n: int, seed: int) -> np.ndarray:
    """Return new rows, without the labels that some models give with them."""
    found = fitted.sample(n, random_state=seed)
    return np.asarray(found[0] if isinstance(found, tuple) else found)


def _bad_rows(X: np.ndarray, *, allow_nan: bool, text: bool) -> Iterator[Any]:
    spoiled = X.copy()
    spoiled[2, 1] = -np.inf
    yield from (X[:0], X[:, :0], X[0], X[None], 3.0, "rows", spoiled, X + 1j)
    yield [[1.0, 2.0], [3.0]]
    if not text:
        yield np.full(X.shape, "a")
    if not allow_nan:
        spoiled = X.copy()
        spoiled[0, 0] = np.nan
        yield spoiled
    yield np.full_like(X, np.nan)


Law = Callable[[Any, np.random.Generator], None]

#: Laws of every estimator.
ESTIMATOR_LAWS: tuple[Law, ...] = (
    rows_may_be_stored_anyhow,
    float32_is_accepted,
    bad_rows_are_one_clear_error,
    bad_weights_are_one_clear_error,
    weights_are_repetitions,
    extreme_scales_change_units_alone,
    degenerate_rows_are_answered_or_refused,
    asking_changes_nothing,
    column_names_are_remembered,
    density_questions_agree,
)


def check_estimator(estimator: Any, rng: Any = 0) -> None:
    """Run every law that applies to an estimator.

    Examples
    --------
    >>> import tractable
    >>> check_estimator(tractable.GaussianDensity())
    """
    for law in ESTIMATOR_LAWS + STREAMING_LAWS.get(estimator.model_tags.streaming, ()):
        law(estimator, as_generator(rng))
