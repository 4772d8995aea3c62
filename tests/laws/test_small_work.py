"""Small work never compiles, and compiled code gives the same answers."""

import inspect
from contextlib import suppress

import numpy as np
import pytest
import sklearn.base
from sklearn.exceptions import ConvergenceWarning

import tractable
import tractable.primitives
from catalogue import ESTIMATORS, some_of_each_family
from tractable.primitives.compiled_options import Kernel
from tractable.testing import estimator_laws
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


#: Their searches take hundreds of steps, of which each does the work of the first.
LONG_SEARCHES = {"MixtureOfExperts", "MixtureOfRegressors"}


def by_default(row):
    """The model of a row with the defaults of its class, where these are all it needs."""
    made = row.make()
    parameters = inspect.signature(type(made)).parameters.values()
    model = made if any(p.default is p.empty for p in parameters) else type(made)()
    return model.set_params(max_iter=5) if type(model).__name__ in LONG_SEARCHES else model


def questions(fitted):
    """What can be asked of a fitted model: attributes that are computed, and methods that change nothing."""
    changing = "fit", "partial_", "set_", "merge", "from_", "save", "to"
    names = [name for name in dir(fitted) if not name.startswith(("_", *changing))]
    return [name for name in names if not hasattr(sklearn.base.BaseEstimator, name)]


def ask(fitted, name, given):
    """Ask one question with what it needs of `given`; one that needs more, or has no answer, is left out."""
    with suppress(ValueError, AttributeError, NotImplementedError):
        found = getattr(fitted, name)
        if inspect.ismethod(found):
            parameters = inspect.signature(found).parameters.values()
            asked = {
                p.name: given.get(p.name)
                for p in parameters
                if p.name in {"y", "values"} or (p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD)
            }
            if set(asked) <= set(given):
                found(**asked)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", FIRST, ids=lambda row: row.name)
def test_no_question_about_a_table_of_500_rows_compiles(row, rng, monkeypatch):
    compiled, run = [], Kernel.__call__

    def noted(self, *arrays):
        compiled.append(f"{asked}: {self.family}.{self.__name__}")
        return run(self, *arrays)

    monkeypatch.setattr(Kernel, "__call__", noted)
    monkeypatch.setattr(estimator_laws, "N_ROWS", 500)
    monkeypatch.setattr(estimator_laws, "N_COLUMNS", 5)
    asked, model = "fit", by_default(row)
    X, y = example(model, rng)
    fitted = learn(model, X, y)
    given = {"X": X, "y": y, "n": 10, "dims": [0], "values": X[:, :1], "coverage": 0.9, "alpha": [0.1, 0.9]}
    given |= {"q": 0.5, "low": X.min(axis=0), "high": X.max(axis=0)}
    for asked in questions(fitted):
        ask(fitted, asked, given)
    assert sorted(set(compiled)) == []


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


@pytest.mark.filterwarnings("ignore", category=ConvergenceWarning)
@pytest.mark.parametrize(("n", "d"), [(500, 8), (1000, 10)])
@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_hundreds_of_patterns_of_missing_entries_compile_nothing(n, d, covariance_type, rng, monkeypatch):
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    X[rng.random(X.shape) < 0.3] = np.nan
    monkeypatch.setattr(Kernel, "__call__", compiling)
    mixture = tractable.GaussianMixture(5, covariance_type=covariance_type, random_state=0, max_iter=3)
    predictions(mixture.fit(X), X)


def test_densities_of_few_rows_with_missing_entries_compile_nothing(rng, monkeypatch):
    X = rng.standard_normal((500, 5))
    X[rng.random(X.shape) < 0.3] = np.nan
    monkeypatch.setattr(Kernel, "__call__", compiling)
    tractable.GaussianDensity().fit(X).score_samples(X)
    y = rng.integers(0, 5, 500)
    tractable.QuadraticDiscriminant().fit(X, y).predict_proba(X)


@pytest.mark.parametrize(("n_rows", "n_columns", "n_clusters"), [(1797, 64, 10), (2000, 5, 8), (3000, 5, 3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_clusters_of_some_thousand_rows_compile_nothing(
    n_rows, n_columns, n_clusters, weighted, rng, monkeypatch
):
    X = rng.standard_normal((n_rows, n_columns))
    monkeypatch.setattr(Kernel, "__call__", compiling)
    model = tractable.KMeans(n_clusters, random_state=0)
    predictions(model.fit(X, sample_weight=rng.random(n_rows) if weighted else None), X)


def test_naive_bayes_of_some_thousand_rows_compiles_nothing(rng, monkeypatch):
    X, y = rng.standard_normal((1797, 64)), rng.integers(0, 10, 1797)
    monkeypatch.setattr(Kernel, "__call__", compiling)
    tractable.GaussianNB().fit(X, y)


def test_densities_of_some_hundred_rows_compile_nothing(rng, monkeypatch):
    X = rng.standard_normal((569, 30))
    monkeypatch.setattr(Kernel, "__call__", compiling)
    assert np.isfinite(tractable.KernelDensity().fit(X).score_samples(X)).all()
