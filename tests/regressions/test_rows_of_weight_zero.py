"""Rows of weight zero may hold anything that squares: numbers that mark missing rows, for instance."""

import numpy as np
import pytest

import tractable
from tractable.statistics import DiagonalMoments, Moments

N_ROWS, N_MASKED = 60_000, 25_000
REGRESSIONS = [tractable.LinearRegression, tractable.Ridge, tractable.BayesianRidge, tractable.Lasso]
CLASSIFIERS = [tractable.GaussianNB, tractable.LinearDiscriminant, tractable.LogisticRegression]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fill", [1.0, 1e10, 9.96921e36])
@pytest.mark.parametrize("of", [*REGRESSIONS, *CLASSIFIERS], ids=lambda of: of.__name__)
def test_masked_rows_change_no_digit(rng, of, fill):
    X = rng.standard_normal((N_ROWS, 10))
    y = X @ np.arange(10.0) + rng.standard_normal(N_ROWS)
    y = (y > 0.0).astype(int) if of in CLASSIFIERS else y
    weights = np.ones(N_ROWS)
    X[:N_MASKED], weights[:N_MASKED] = fill, 0.0
    found = of().fit(X, y, sample_weight=weights)
    wanted = of().fit(X[N_MASKED:], y[N_MASKED:])
    name = "var_" if of is tractable.GaussianNB else "coef_"
    np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-11, atol=1e-12)


def test_blocks_that_hold_masked_rows_alone(rng):
    X, weights = rng.standard_normal((300_000, 4)), np.ones(300_000)
    X[:200_000], weights[:200_000] = 1e30, 0.0
    for of in (Moments.of, DiagonalMoments.of):
        found, wanted = tractable.fold(of, X, weights=weights), tractable.fold(of, X[200_000:])
        np.testing.assert_allclose(found.mean, wanted.mean, rtol=0.0, atol=1e-15)
        np.testing.assert_allclose(found.scatter, wanted.scatter, rtol=0.0, atol=1e-9)
