"""Models on arrays of other libraries, on the host and (where there is one) on a GPU."""

import pytest

from catalogue import ESTIMATORS, some_of_each_family
from conftest import BACKENDS
from tractable.testing.device_laws import answers_are_those_of_the_host

OTHERS = [b for b in BACKENDS if not b.name.startswith("numpy")]

#: The models that learn from arrays of any library; others say that they run on the host.
TAKES_TENSORS = {
    "BayesianGaussianMixture",
    "BayesianLinearRegression",
    "BayesianRidge",
    "FactorAnalysis",
    "GaussianDensity",
    "GaussianMixture",
    "KMeans",
    "LinearDiscriminant",
    "LinearRegression",
    "PCA",
    "ProbabilisticPCA",
    "QuadraticDiscriminant",
    "Ridge",
    "RidgeCV",
    "StudentTMixture",
}

#: On a device "k-means||" is k-means++ over all rows, another start; scorers of scikit-learn are the host's.
APART = ("KMeans-parallel", "RidgeCV-scored")
ROWS = [row for row in ESTIMATORS if type(row.make()).__name__ in TAKES_TENSORS and row.name not in APART]


@pytest.mark.parametrize("library", OTHERS, ids=lambda b: b.name)
@pytest.mark.parametrize("row", some_of_each_family(ROWS))
def test_answers_are_those_of_the_host(row, library, rng):
    estimator = row.make()
    answers_are_those_of_the_host(estimator, library.asarray, library.owns, rng)
