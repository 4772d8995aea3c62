"""Laws of ridge regression's criteria: a short cut must arrive where the long way does."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["CROSS_VALIDATION_LAWS"]

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
        expected = [
            np.mean(
                [
                    (y[~kept] - _ridge(estimator, a).fit(X[kept], y[kept]).predict(X[~kept])) ** 2
                    for kept in others
                ]
            )
            for a in estimator.alphas
        ]
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


def _hat(estimator: Any, X: np.ndarray, alpha: float) -> np.ndarray:
    """Return X (XᵀX + αP)⁻¹ Xᵀ, with the column of ones and the penalty P as the estimator has them."""
    n, penalty = len(X), np.full(X.shape[1], alpha)
    if estimator.fit_intercept:
        X = np.column_stack([np.ones(n), X])
        penalty = np.concatenate([[alpha if estimator.penalize_intercept else 0.0], penalty])
    return X @ np.linalg.solve(X.T @ X + np.diag(penalty), X.T)


#: Laws of estimators that choose a ridge penalty.
CROSS_VALIDATION_LAWS: tuple[Callable[[Any, np.random.Generator], None], ...] = (
    leaving_out_is_fitting_again,
    copies_are_left_out_one_by_one,
    generalised_is_the_formula,
)
