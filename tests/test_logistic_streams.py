"""Logistic regression of many rows, of files and of many planes."""

import numpy as np
import pandas as pd
import pytest
from sklearn import linear_model as peers

import tractable
from tractable.data import Batch
from tractable.engines.glm.problem import MOST_PARAMETERS, MOST_SAMPLE, LinearPredictorProblem


def problem(rng, n, d=3, k=3):
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 1.0
    y = (X @ rng.standard_normal((d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)
    return X, y


@pytest.mark.parametrize(
    ("k", "options"), [(2, {}), (3, {}), (2, {"C": np.inf}), (3, {"l1_ratio": 0.5, "C": 1e-3})]
)
def test_many_rows_are_learned_to_the_same_digits_as_few(k, options, rng):
    """Where a sample guides the search, all rows decide where it ends; batches and an array agree."""
    n = MOST_SAMPLE + 15_000
    X, y = problem(rng, n, k=k)
    w = rng.integers(0, 3, n).astype(float)
    model = tractable.LogisticRegression(tol=1e-15, **options).fit(X, y, w)
    C = options.get("C", 1.0)
    if "l1_ratio" in options:
        assert model.kkt_ < 1e-8  # the decrease left is of its square
    else:
        theirs = peers.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-13).fit(X, y, w)
        np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), rtol=1e-8, atol=1e-10)
    parts = np.array_split(np.arange(n), 3)
    batches = [Batch(X=X[i], y=y[i], weights=w[i]) for i in parts]
    streamed = tractable.LogisticRegression(tol=1e-15, **options).fit(batches)
    np.testing.assert_allclose(streamed.coef_, model.coef_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(streamed.coef_std_errors_, model.coef_std_errors_, rtol=1e-6)


@pytest.mark.parametrize(
    "options", [{}, {"class_weight": "balanced", "C": 0.5}, {"C": 0.02, "l1_ratio": 1.0}]
)
def test_frames_and_files_with_words_for_classes(options, rng, tmp_path):
    X, y = problem(rng, 300)
    words = np.array(["ash", "birch", "cedar"])[y]
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(species=words, times=rng.integers(0, 3, 300))
    plain = tractable.LogisticRegression(**options).fit(X, words, frame["times"].to_numpy(float))
    named = tractable.LogisticRegression(**options).fit(frame, "species", "times")
    assert list(named.feature_names_in_) == ["a", "b", "c"]
    path = tmp_path / "trees.parquet"
    frame.to_parquet(path, row_group_size=70)
    scanned = tractable.scan(path, features=["a", "b", "c"], target="species", weight="times")
    for model in (named, tractable.LogisticRegression(**options).fit(scanned)):
        assert model.classes_.tolist() == ["ash", "birch", "cedar"]
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(
            model.parameter_covariance_, plain.parameter_covariance_, rtol=1e-6, atol=1e-12
        )


@pytest.mark.slow
def test_more_parameters_than_their_curvature_is_worth(rng):
    """The search is then guided by a bound of the curvature, and there are no standard errors."""
    k, d = 30, 60
    assert k * d > MOST_PARAMETERS
    X = rng.standard_normal((1000, d))
    y = (X @ rng.standard_normal((d, k)) + rng.gumbel(size=(1000, k))).argmax(axis=1)
    model = tractable.LogisticRegression(0.1, tol=1e-13, max_iter=500).fit(X, y)
    slope = 0.1 * (model.predict_proba(X) - np.eye(k)[y]).T @ X + model.coef_
    np.testing.assert_allclose(slope, 0.0, atol=1e-5)
    theirs = peers.LogisticRegression(C=0.1, tol=1e-9, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    assert model.parameter_covariance_ is None
    with pytest.raises(ValueError, match="too many"):
        model.coef_interval()
    with pytest.raises(ValueError, match="l1_ratio"):
        tractable.LogisticRegression(l1_ratio=1.0).fit(np.tile(X, (1, 3)), y)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_column_that_a_sample_misses(k, C, rng, monkeypatch):
    """A few of many rows vary in it. Its curvature in the sample, next to none, gives far too long a step."""
    n = 10 * MOST_SAMPLE
    X, y = problem(rng, n, k=k)
    X = np.column_stack([X, np.zeros(n)])
    X[: 2 * k, 3] = 1.0
    y[: 2 * k] = np.arange(2 * k) % k
    passes, objective = [], LinearPredictorProblem.expansion

    def counted(self, coef, **options):
        passes.append(self.data.n_rows)
        return objective(self, coef, **options)

    monkeypatch.setattr(LinearPredictorProblem, "expansion", counted)
    model = tractable.LogisticRegression(C, tol=1e-14).fit(X, y)
    assert passes.count(n) <= 15
    theirs = peers.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-13).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"l1_ratio": 0.5, "C": 0.01}])
def test_a_warm_start_of_many_rows_goes_on_where_it_was(options, rng):
    X, y = problem(rng, MOST_SAMPLE + 5_000)
    model = tractable.LogisticRegression(warm_start=True, **options).fit(X, y)
    cold = model.n_iter_
    assert model.fit(X, y).n_iter_ < cold


def test_an_interrupted_look_at_the_sample_is_kept(rng, monkeypatch):
    X, y = problem(rng, MOST_SAMPLE + 5_000)
    calls, whole = [], LinearPredictorProblem.expansion

    def interrupted(self, free):
        calls.append(free)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return whole(self, free)

    monkeypatch.setattr(LinearPredictorProblem, "expansion", interrupted)
    model = tractable.LogisticRegression()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert len(calls) == 3
    assert not model.converged_
    assert np.mean(model.predict(X) == y) > 0.5


def test_more_columns_than_a_square_of_them_is_worth(rng):
    n, d = 60, MOST_PARAMETERS + 100
    X, y = rng.standard_normal((n, d)) * rng.uniform(0.1, 3.0, d), np.arange(n) % 2
    model = tractable.LogisticRegression(1e-3, tol=1e-13).fit(X, y)
    slope = 1e-3 * (model.predict_proba(X)[:, 1] - y) @ X + model.coef_[0]
    np.testing.assert_allclose(slope, 0.0, atol=1e-7)
    assert model.converged_
