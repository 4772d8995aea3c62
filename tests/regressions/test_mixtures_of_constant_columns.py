"""Held-out rows of mixtures had log densities of -1e26 where a column was constant, without a warning."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import tractable
from quick import some
from tractable.base import DegenerateCovarianceWarning

MODELS = [
    tractable.GaussianMixture(2, random_state=0),
    tractable.GaussianMixture(2, covariance_type="diag", random_state=0),
    tractable.BayesianGaussianMixture(2, random_state=0),
    tractable.BayesianGaussianMixture(2, covariance_type="tied", random_state=0),
    tractable.StudentTMixture(2, random_state=0),
    tractable.TableMixture(2, random_state=0),
]


def rows(rng):
    return np.column_stack([rng.standard_normal((200, 2)), np.full(200, 7.0)])


@pytest.mark.parametrize("model", some(MODELS, 2), ids=str)
def test_a_constant_column_is_warned_of(model, rng):
    with pytest.warns(DegenerateCovarianceWarning, match=r"columns \[2\] of X are constant"):
        model.fit(rows(rng))


@pytest.mark.parametrize("model", some(MODELS, 2), ids=str)
def test_a_variance_for_constant_columns(model, rng):
    """With `reg_covar`, values beside the constant have the density of that variance, and no warning."""
    X = rows(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = clone(model).set_params(reg_covar=0.01).fit(X)
    X[:, 2] += 0.1 * rng.standard_normal(len(X))
    assert -10.0 < fitted.score(X) < 0.0


def test_columns_that_follow_from_others_are_warned_of(rng):
    X = rng.standard_normal((200, 2))
    with pytest.warns(DegenerateCovarianceWarning, match="columns of X follow from others"):
        tractable.BayesianGaussianMixture(2, random_state=0).fit(np.column_stack([X, X.sum(axis=1)]))
