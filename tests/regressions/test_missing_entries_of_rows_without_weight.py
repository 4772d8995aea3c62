"""Rows of weight zero may have missing entries in models that take these: they change nothing."""

import numpy as np
import pytest
from sklearn.base import clone

import tractable

MODELS = {
    **{
        f"GaussianMixture-{shape}": tractable.GaussianMixture(2, covariance_type=shape, random_state=0)
        for shape in ("full", "tied", "diag", "spherical")
    },
    "BayesianGaussianMixture": tractable.BayesianGaussianMixture(2, random_state=0),
    "TableMixture": tractable.TableMixture(2, random_state=0),
    "ProbabilisticPCA": tractable.ProbabilisticPCA(1),
    "FactorAnalysis": tractable.FactorAnalysis(1, random_state=0),
    "GaussianDensity": tractable.GaussianDensity(),
}


@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
@pytest.mark.parametrize("name", MODELS)
def test_they_change_nothing(rng, name, first):
    X = rng.standard_normal((200, 3)) @ np.diag([1.0, 2.0, 3.0])
    X[:100] += 8.0
    masked = rng.standard_normal((50, 3))
    masked[rng.random(masked.shape) < 0.5] = np.nan
    masked[0] = np.nan
    parts = [(masked, np.zeros(50)), (X, np.ones(200))]
    rows, weights = (np.concatenate(part) for part in zip(*parts[:: 1 if first else -1], strict=True))
    found, wanted = clone(MODELS[name]).fit(rows, sample_weight=weights), clone(MODELS[name]).fit(X)
    np.testing.assert_allclose(found.score_samples(X), wanted.score_samples(X), rtol=1e-5)
