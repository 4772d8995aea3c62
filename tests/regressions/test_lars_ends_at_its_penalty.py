"""The last step of the path rounded to beside the penalty asked for, and a column left that belonged."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from optimality import assert_lasso_optimal
from tractable import Lasso, LassoLars


@pytest.mark.slow
def test_the_end_of_the_path_is_the_lasso(rng):
    for _ in range(200):
        X = rng.standard_normal((40, 4))
        y = X @ rng.standard_normal(4) + rng.standard_normal(40)
        alpha = float(np.exp(rng.uniform(-7.0, 0.0)))
        model = LassoLars(alpha=alpha).fit(X, y)
        assert model.alphas_[-1] == alpha or not model.coef_.any()
        assert_lasso_optimal(X, y, model.coef_, alpha)
        np.testing.assert_allclose(model.coef_, Lasso(alpha=alpha).fit(X, y).coef_, atol=1e-10)


def test_the_diabetes_rows_in_their_own_units():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    for alpha in (0.01, 0.1, 1.0):
        exact, lasso = LassoLars(alpha=alpha).fit(X, y), Lasso(alpha=alpha).fit(X, y)
        np.testing.assert_allclose(exact.coef_, lasso.coef_, rtol=1e-8, atol=1e-10)
