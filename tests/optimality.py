"""What makes coefficients the lasso's: the conditions of Karush, Kuhn and Tucker."""

import numpy as np


def centred(X, y, weights=None, *, fit_intercept=True):
    """Rows and targets about their means, times the roots of the weights; and the weight of all."""
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    if fit_intercept:
        X, y = X - np.average(X, axis=0, weights=w), y - np.average(y, weights=w)
    return X * np.sqrt(w)[:, None], y * np.sqrt(w), w.sum()


def assert_lasso_optimal(
    X, y, coef, alpha, *, l1_ratio=1.0, weights=None, fit_intercept=True, positive=False, tol=1e-9
):
    """Raise unless `coef` minimises (1/2n)|y - Xw|² + alpha l1_ratio |w|₁ + alpha (1 - l1_ratio)/2 |w|².

    The slope of the smooth part is alpha l1_ratio times the sign of a coefficient that is not zero, and no
    larger in size for one that is.
    """
    A, b, n = centred(X, y, weights, fit_intercept=fit_intercept)
    scale = max(np.abs(A.T @ b).max() / n, alpha, 1e-300)
    slope = A.T @ (b - A @ coef) / n - alpha * (1.0 - l1_ratio) * coef
    used = coef != 0
    np.testing.assert_allclose(slope[used], alpha * l1_ratio * np.sign(coef[used]), rtol=0, atol=tol * scale)
    sizes = slope if positive else np.abs(slope)
    assert np.all(sizes <= alpha * l1_ratio + tol * scale), "a column that should be in use is left out"
    assert not positive or np.all(coef >= 0), "a negative coefficient"


def objective(X, y, coef, alpha, *, fit_intercept=True):
    """(1/2n)|y - Xw|² + alpha |w|₁."""
    A, b, n = centred(X, y, fit_intercept=fit_intercept)
    return 0.5 * np.sum((b - A @ coef) ** 2) / n + alpha * np.abs(coef).sum()


def awkward(rng):
    """Rows of every awkward kind: equal and dependent columns, few rows, zeros and ones."""
    n, p = int(rng.integers(2, 25)), int(rng.integers(1, 30))
    k = max(1, p // 3)
    kinds = (
        lambda: rng.standard_normal((n, p)),
        lambda: rng.integers(0, 2, (n, p)).astype(float),
        lambda: rng.integers(-1, 2, (n, p)).astype(float),
        lambda: rng.standard_normal((n, k)) @ rng.integers(-1, 2, (k, p)),
    )
    X = kinds[int(rng.integers(4))]()
    y = X @ rng.integers(-1, 2, p) if rng.random() < 0.5 else rng.standard_normal(n)
    return np.asfortranarray(X), y.astype(float)
