"""What makes planes those of logistic regression: the conditions of optimality, from the formula."""

import numpy as np
from scipy.special import softmax


def assert_logistic_optimal(X, y, coef, intercept, C, *, l1_ratio=0.0, weights=None, tol=1e-8):
    """Raise unless planes minimise C Σ w log 1/p(y | x) + (1 - l1_ratio)/2 |coef|² + l1_ratio Σ|coef|.

    The pull of the rows on a coefficient that is not zero is what its price is, and no larger on one that is;
    on intercepts they do not pull. Classes are 0, 1, …
    """
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    scores = X @ coef.T + intercept
    two = scores.shape[1] == 1
    scores = np.column_stack([np.zeros(len(X)), scores]) if two else scores
    wrong = w[:, None] * (np.eye(scores.shape[1])[y] - softmax(scores, axis=1))
    pull = C * wrong.T @ X
    pull = (pull[1:] if two else pull) - (1.0 - l1_ratio) * coef
    used = coef != 0.0
    np.testing.assert_allclose(pull[used], l1_ratio * np.sign(coef[used]), atol=tol)
    assert np.abs(pull).max() <= l1_ratio + tol, "a coefficient that should be in use is zero"
    np.testing.assert_allclose(C * wrong.sum(axis=0), 0.0, atol=tol)
