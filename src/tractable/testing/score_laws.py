"""Laws of scores: of a clustering, and of ridge regression's cross-validation."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.testing.assertions import check_laws, laws_above, refused

Score = Callable[..., float]


def names_do_not_matter(score: Score, rng: np.random.Generator) -> None:
    """Labels may be any numbers, or strings."""
    X, labels = _clusters(rng)
    called = np.array(["pear", "apple", "fig"])[labels]
    _same(score(X, labels), score(X, called))
    _same(score(X, labels), score(X, 7 - 3 * labels))


def order_does_not_matter(score: Score, rng: np.random.Generator) -> None:
    """Rows may come in any order."""
    X, labels = _clusters(rng)
    order = rng.permutation(len(X))
    _same(score(X, labels), score(X[order], labels[order]))


def location_does_not_matter(score: Score, rng: np.random.Generator) -> None:
    """Rows at 1e8 score as those at 0 do; the shift rounds nothing off."""
    X, labels = _clusters(rng)
    X = np.round(X * 2.0**20) / 2.0**20
    _same(score(X, labels), score(X + 2.0**27, labels))


def scale_does_not_matter(score: Score, rng: np.random.Generator) -> None:
    """The score is a ratio of distances, however large or small."""
    X, labels = _clusters(rng)
    for scale in (1e-100, 3.0, 1e100):
        _same(score(X, labels), score(scale * X, labels))


def directions_do_not_matter(score: Score, rng: np.random.Generator) -> None:
    """Turning the axes changes no distance."""
    X, labels = _clusters(rng)
    turn = np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
    _same(score(X, labels), score(X @ turn, labels))


def weights_are_repetitions(score: Score, rng: np.random.Generator) -> None:
    """A row of weight 3 is three rows; a row of weight 0 is none."""
    X, labels = _clusters(rng)
    counts = rng.integers(0, 4, len(X))
    repeated = score(np.repeat(X, counts, axis=0), np.repeat(labels, counts))
    _same(repeated, score(X, labels, sample_weight=counts))
    _same(score(X, labels), score(X, labels, sample_weight=np.ones(len(X))))


def clusters_without_weight_are_not_there(score: Score, rng: np.random.Generator) -> None:
    """A label that only rows of weight zero bear is no cluster."""
    X, labels = _clusters(rng)
    counts = np.where(labels == 1, 0.0, 1.0)
    rest = labels != 1
    _same(score(X[rest], labels[rest]), score(X, labels, sample_weight=counts))


def apart_and_together_is_better(score: Score, rng: np.random.Generator) -> None:
    """The score orders chance labels, true labels and true labels farther apart."""
    X, labels = _clusters(rng)
    chance = rng.permutation(labels)
    mixed, apart, further = score(X, chance), score(X, labels), score(X + 20.0 * labels[:, None], labels)
    assert mixed < apart < further or mixed > apart > further, f"chance {mixed}, {apart}, further {further}"


def bad_input_is_one_clear_error(score: Score, rng: np.random.Generator) -> None:
    """Bad input is one ValueError that names the argument."""
    X, labels = _clusters(rng)
    n = len(X)
    hole = np.where(np.arange(X.size).reshape(X.shape) == 5, np.nan, X)
    for args, weights, named in (
        ((hole, labels), None, "X"),
        ((X[:, 0], labels), None, "X"),
        ((X[:0], labels[:0]), None, "X"),
        ((X, labels[:-1]), None, "labels"),
        ((X, labels[:, None]), None, "labels"),
        ((X, np.where(labels == 1, np.nan, labels)), None, "labels"),
        ((X, np.zeros(n)), None, "labels"),
        ((X, np.arange(n)), None, "labels"),
        ((X, labels), -np.ones(n), "sample_weight"),
        ((X, labels), np.zeros(n), "sample_weight"),
        ((X, labels), np.ones(n - 1), "sample_weight"),
    ):
        refused(partial(score, *args, sample_weight=weights), named)


CLUSTER_SCORE_LAWS = laws_above(globals())


def _clusters(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return three round clusters that touch, of different sizes, in three columns."""
    labels = np.repeat([0, 1, 2], [12, 20, 31])
    centers = 4.0 * np.eye(3) + 0.2 * rng.standard_normal((3, 3))
    return centers[labels] + rng.standard_normal((len(labels), 3)), labels


def _same(a: float, b: float) -> None:
    np.testing.assert_allclose(b, a, rtol=1e-10)


SHAPES = ((12, 3), (9, 20), (6, 6))


def _rows(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal(shape) + 2.0
    return X, X[:, 0] + rng.standard_normal(shape[0]) + 5.0


def _criterion(estimator: Any, method: str, X: np.ndarray, y: np.ndarray, **options: Any) -> np.ndarray:
    from sklearn.base import clone

    return clone(estimator).set_params(method=method).fit(X, y, **options).cv_curve_.scores


def _ridge(estimator: Any, alpha: float) -> Any:
    from tractable.linear_model import Ridge

    return Ridge(
        alpha, fit_intercept=estimator.fit_intercept, penalize_intercept=estimator.penalize_intercept
    )


def leaving_out_is_fitting_again(estimator: Any, rng: np.random.Generator) -> None:
    """The leave-one-out error of every penalty is that of n fits to the other rows."""
    for shape in SHAPES:
        X, y = _rows(rng, shape)
        others = [np.arange(len(y)) != i for i in range(len(y))]
        expected = []
        for alpha in estimator.alphas:
            fits = [_ridge(estimator, alpha).fit(X[rest], y[rest]) for rest in others]
            errors = [y[~rest] - fit.predict(X[~rest]) for fit, rest in zip(fits, others, strict=True)]
            expected.append(np.mean(np.square(errors)))
        np.testing.assert_allclose(_criterion(estimator, "loo", X, y), expected, rtol=1e-9)


def copies_are_left_out_one_by_one(estimator: Any, rng: np.random.Generator) -> None:
    """A row that counts three times is three rows, whatever the criterion."""
    for shape in SHAPES:
        X, y = _rows(rng, shape)
        times = rng.integers(0, 4, len(y))
        times[:2] = 2
        repeated = np.repeat(X, times, axis=0), np.repeat(y, times)
        for method in ("loo", "gcv"):
            found = _criterion(estimator, method, X, y, sample_weight=times)
            np.testing.assert_allclose(found, _criterion(estimator, method, *repeated), rtol=1e-9)


def generalised_is_the_formula(estimator: Any, rng: np.random.Generator) -> None:
    """GCV is (Σ r² / n) / (1 - Tr H / n)², with the hat matrix written out."""
    for shape in SHAPES:
        X, y = _rows(rng, shape)
        hats = [_hat(estimator, X, a) for a in estimator.alphas]
        n = len(y)
        expected = [np.mean((y - H @ y) ** 2) / (1.0 - np.trace(H) / n) ** 2 for H in hats]
        np.testing.assert_allclose(_criterion(estimator, "gcv", X, y), expected, rtol=1e-9)


#: Laws of estimators that choose a ridge penalty.
CROSS_VALIDATION_LAWS = laws_above(globals())


def _hat(estimator: Any, X: np.ndarray, alpha: float) -> np.ndarray:
    """Return X (XᵀX + αP)⁻¹ Xᵀ, with the column of ones and the penalty P as the estimator has them."""
    n, penalty = len(X), np.full(X.shape[1], alpha)
    if estimator.fit_intercept:
        X = np.column_stack([np.ones(n), X])
        penalty = np.concatenate([[alpha if estimator.penalize_intercept else 0.0], penalty])
    return X @ np.linalg.solve(X.T @ X + np.diag(penalty), X.T)


def check_cluster_score(score: Any, rng: Any = 0) -> None:
    """Run every law of scores of a clustering, ``score(X, labels, sample_weight=None)``.

    Examples
    --------
    >>> import tractable
    >>> check_cluster_score(tractable.silhouette_score)
    """
    check_laws(CLUSTER_SCORE_LAWS, score, rng)
