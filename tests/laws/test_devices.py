"""Models on arrays of other libraries, on the host and (where there is one) on a GPU."""

from contextlib import nullcontext

import numpy as np
import pytest

from catalogue import ESTIMATORS, some_of_each_family
from conftest import BACKENDS
from tractable import GaussianNB, LinearRegression, precision
from tractable.arrays import to_numpy
from tractable.gaussian_process import GaussianProcessRegressor
from tractable.mixture import GaussianMixture, KMeans
from tractable.primitives.em import agnostic
from tractable.testing.device_laws import answers_are_those_of_the_host

OTHERS = [b for b in BACKENDS if not b.name.startswith("numpy")]

#: The models that learn from arrays of any library; others say that they run on the host.
TAKES_TENSORS = {
    "BayesianGaussianMixture",
    "BayesianLinearRegression",
    "BayesianLogisticRegression",
    "BayesianRidge",
    "FactorAnalysis",
    "GaussianDensity",
    "GaussianMixture",
    "GaussianNB",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "KMeans",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KernelDensity",
    "KernelPCA",
    "KernelRidge",
    "LinearDiscriminant",
    "LinearRegression",
    "LogisticRegression",
    "NystromGaussianProcess",
    "PCA",
    "ProbabilisticPCA",
    "QuadraticDiscriminant",
    "Ridge",
    "RidgeCV",
    "StudentTMixture",
}


def elsewhere(library):
    """Let torch make tensors elsewhere where no device is named: so a CPU shows what a GPU would refuse."""
    if library.name != "torch":
        return nullcontext()
    import torch

    return torch.device("meta")


#: On a device "k-means||" is k-means++ over all rows, another start; trees, left-out rows, searches for
#: bandwidths, scorers and metrics of missing entries are of NumPy arrays.
ON_HOST = ("KMeans-parallel", "-loo", "-forest", "-nan-euclidean", "KNeighborsClassifier-one")
ON_HOST = (*ON_HOST, "KernelDensity-isj", "KernelDensity-lscv", "KernelDensity-grid", "RidgeCV-scored")
ROWS = [
    row
    for row in ESTIMATORS
    if type(row.make()).__name__ in TAKES_TENSORS
    and (row.name == "KernelRidge-loo" or not row.name.endswith(ON_HOST))
]


#: A component of few rows, some with missing entries, collapses onto its one factor: rows that differ in the
#: last digit then have answers that differ in the eighth, on any device. A prior keeps covariances regular.
#: Few steps of a search for hyper-parameters show all that is asked.
REGULAR = {
    "GaussianMixture-low-rank": {"covariance_prior": "data"},
    "GaussianProcessClassifier": {"max_iter": 2},
}


@pytest.mark.parametrize("library", OTHERS, ids=lambda b: b.name)
@pytest.mark.parametrize("row", some_of_each_family(ROWS))
def test_answers_are_those_of_the_host(row, library, rng):
    estimator = row.make().set_params(**REGULAR.get(row.name, {}))
    with elsewhere(library):
        answers_are_those_of_the_host(estimator, library.asarray, library.owns, rng)


@pytest.mark.parametrize("library", OTHERS, ids=lambda b: b.name)
def test_searches_for_hyperparameters_end_at_the_same_evidence(library, rng):
    X = rng.uniform(-3.0, 3.0, (60, 2))
    y = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(60)
    host = GaussianProcessRegressor().fit(X, y)
    other = GaussianProcessRegressor().fit(library.asarray(X), library.asarray(y))
    np.testing.assert_allclose(other.log_evidence_, host.log_evidence_, rtol=1e-8)
    np.testing.assert_allclose(other.theta_, host.theta_, atol=1e-3)


@pytest.mark.parametrize("library", OTHERS, ids=lambda b: b.name)
@pytest.mark.parametrize("weighted", [False, True])
def test_single_precision_where_it_is_asked_for(library, weighted, rng, monkeypatch):
    X = rng.standard_normal((400, 3)) + 6.0 * rng.integers(0, 2, (400, 1))
    rows = library.asarray(X.astype(np.float32))
    weights = {"sample_weight": library.asarray(rng.integers(1, 4, 400) * 1.0)} if weighted else {}
    kinds, features = set(), agnostic.features

    def watched(x, kind):
        kinds.add(str(x.dtype).rpartition(".")[2])
        return features(x, kind)

    monkeypatch.setattr(agnostic, "features", watched)
    for make, name in ((GaussianMixture, "means_"), (KMeans, "cluster_centers_")):
        kinds.clear()
        double = make(2, random_state=0).fit(rows, **weights)
        assert kinds <= {"float64"}
        with precision("single"):
            single = make(2, random_state=0).fit(rows, **weights)
            single.predict(rows)
        assert make is KMeans or "float32" in kinds
        wanted = to_numpy(getattr(double, name))
        found = to_numpy(getattr(single, name))
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
        assert make is KMeans or not np.array_equal(found, wanted)
    with pytest.raises(ValueError, match="kind must be"), precision("half"):
        pass


class HostMeans(GaussianNB):
    """Means that users read are NumPy's, whatever the rows are."""

    @property
    def theta_(self):
        return self._fitted_columns_.mean


class RoughAnswers(GaussianNB):
    """Probabilities of rows of another library have seven digits."""

    def predict_proba(self, X):
        found = super().predict_proba(X)
        return found if isinstance(X, np.ndarray) else found * (1.0 + 1e-7)


class HostIntervals(LinearRegression):
    """Intervals come back as arrays of NumPy."""

    def predict_interval(self, X, coverage=0.9, **options):
        return to_numpy(super().predict_interval(X, coverage, **options))


class OtherWords(LinearRegression):
    """What a fit with a bound does not compute is refused in other words."""

    def __init__(self):
        super().__init__(positive=True)

    def predict_var(self, X, **options):
        if isinstance(X, np.ndarray):
            return super().predict_var(X, **options)
        raise ValueError("not on a device")


@pytest.mark.parametrize(
    ("mutant", "said"),
    [
        (OtherWords, "predict_var is not refused as on the host"),
        (HostMeans, "theta_ holds an array of numpy"),
        (RoughAnswers, "Not equal to tolerance"),
        (HostIntervals, "predict_interval returns ndarray"),
    ],
)
@pytest.mark.parametrize("library", OTHERS, ids=lambda b: b.name)
def test_mutants_are_rejected(mutant, said, library, rng):
    with pytest.raises(AssertionError, match=said):
        answers_are_those_of_the_host(mutant(), library.asarray, library.owns, rng)
