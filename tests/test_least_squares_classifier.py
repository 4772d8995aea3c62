"""Least squares for classification: any number of classes by one factorisation."""

from unittest import mock

import numpy as np

import tractable
from tractable.classification import least_squares as module
from tractable.engines import least_squares
from tractable.statistics import LinearFactor


def test_many_classes_are_one_factorisation(rng):
    """The factor of 400 classes is that of all rows with their codes, by two decompositions in all."""
    X, y = 1e5 + rng.standard_normal((2000, 3)), rng.integers(0, 400, 2000)
    weights = rng.integers(1, 4, 2000).astype(float)
    model = tractable.LeastSquaresClassifier().fit(X, y, weights)
    codes = (y[:, None] == model.classes_).astype(float)
    every = least_squares(LinearFactor.of(X, codes, weights))
    np.testing.assert_allclose(model.coef_, every.coef, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(model.outputs(X[:5]).sum(axis=1), 1.0)
    with mock.patch.object(module, "triangle", wraps=module.triangle) as counted:
        module.with_codes(model.statistic_, model.classes_)
    assert counted.call_count == 2
