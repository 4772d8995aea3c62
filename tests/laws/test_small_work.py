"""Small work never compiles, and compiled code gives the same answers."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import tractable
import tractable.primitives
from catalogue import ESTIMATORS, some_of_each_family
from tractable.primitives.compiled_options import Kernel
from tractable.testing.estimator_laws import assert_same_predictions, example, learn, predictions

#: One row of each class.
FIRST = list({type(row.make()): row for row in reversed(ESTIMATORS)}.values())


def compiling(self, *given):
    shapes = [getattr(a, "shape", a) for a in given]
    raise AssertionError(f"{self.__name__} was compiled for arrays of shapes {shapes}")


@pytest.mark.filterwarnings("ignore", category=ConvergenceWarning)
@pytest.mark.parametrize("row", some_of_each_family(ESTIMATORS))
def test_a_small_table_compiles_nothing(row, rng, monkeypatch):
    X, y = example(row.make(), rng)
    monkeypatch.setattr(Kernel, "__call__", compiling)
    predictions(learn(row.make(), X, y), X)


@pytest.mark.filterwarnings("ignore", category=ConvergenceWarning)
@pytest.mark.parametrize("row", FIRST, ids=lambda row: row.name)
def test_compiled_code_gives_the_same_answers(row, rng, monkeypatch):
    X, y = example(row.make(), rng)
    small = learn(row.make(), X, y)
    monkeypatch.setattr(tractable.primitives, "COMPILED_WORK", 0)
    assert_same_predictions(learn(row.make(), X, y), small, X, rtol=1e-6)


@pytest.mark.filterwarnings("ignore", category=ConvergenceWarning)
@pytest.mark.parametrize("missing", [0.1, 0.3])
@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("n_components", [3, 5])
def test_few_rows_with_missing_entries_compile_nothing(
    missing, covariance_type, n_components, rng, monkeypatch
):
    X = rng.standard_normal((500, 5))
    X[rng.random(X.shape) < missing] = np.nan
    monkeypatch.setattr(Kernel, "__call__", compiling)
    mixture = tractable.GaussianMixture(n_components, covariance_type=covariance_type, random_state=0)
    predictions(mixture.set_params(max_iter=5).fit(X), X)


def test_densities_of_few_rows_with_missing_entries_compile_nothing(rng, monkeypatch):
    X = rng.standard_normal((500, 5))
    X[rng.random(X.shape) < 0.3] = np.nan
    monkeypatch.setattr(Kernel, "__call__", compiling)
    tractable.GaussianDensity().fit(X).score_samples(X)
    y = rng.integers(0, 5, 500)
    tractable.QuadraticDiscriminant().fit(X, y).predict_proba(X)
