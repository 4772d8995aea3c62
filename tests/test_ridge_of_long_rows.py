"""Ridge regression of few, long rows, to which the model refers: as of a copy, no answer of other rows."""

import copy
import pickle

import numpy as np
import pytest

import tractable
from tractable.engines import long_rows

ALPHAS = (0.5, 50.0, 5000.0)


@pytest.fixture
def table(rng):
    """More entries than are copied, some columns far from zero, some constant."""
    X = rng.standard_normal((70, 16_000)) + 1.0
    X[:, 5:12_000:7] += 1e5
    X[:, ::900] = 0.1
    assert X.size > long_rows.HELD_ENTRIES
    return X, X[:, 1:4] @ [1.0, -2.0, 3.0] + rng.standard_normal(70)


@pytest.mark.parametrize("method", ["loo", "gcv"])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_rows_that_are_referred_to_give_what_copies_give(table, rng, monkeypatch, method, n_targets):
    X, y = table
    y = y if n_targets == 1 else np.stack([y, rng.standard_normal(70)], axis=1)
    found = tractable.RidgeCV(ALPHAS, method=method).fit(X, y)
    assert found._solution_.root.rows.x is X
    monkeypatch.setattr(long_rows, "HELD_ENTRIES", X.size)
    copied = tractable.RidgeCV(ALPHAS, method=method).fit(X, y)
    assert isinstance(copied._solution_.root.rows, np.ndarray)
    assert found.alpha_ == copied.alpha_
    np.testing.assert_allclose(found.cv_curve_.scores, copied.cv_curve_.scores, rtol=1e-11)
    np.testing.assert_allclose(found.coef_, copied.coef_, atol=1e-12 * np.abs(copied.coef_).max())
    np.testing.assert_array_equal(found.coef_[..., ::900], 0.0)
    new = X[:5] + rng.standard_normal((5, 16_000))
    np.testing.assert_allclose(found.predict(new), copied.predict(new), rtol=1e-11)
    np.testing.assert_allclose(found.leverage(new), copied.leverage(new), rtol=1e-11)
    np.testing.assert_allclose(found.effective_dof_, copied.effective_dof_, rtol=1e-11)
    mine, theirs = found.predict_dist(new), copied.predict_dist(new)
    np.testing.assert_allclose(mine.scale, theirs.scale, rtol=1e-10)


def test_a_shift_of_far_columns_moves_no_coefficient(table):
    X, y = table
    X = np.round(64.0 * X) / 64.0  # sums with the shift are exact
    near, far = (tractable.RidgeCV(ALPHAS).fit(X + shift, y) for shift in (0.0, 2.0**20))
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-11 * np.abs(near.coef_).max())


def test_without_a_penalty_few_rows_are_fitted_exactly(table):
    X, y = table
    model = tractable.RidgeCV([0.0]).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)


def test_rows_that_were_changed_since_the_fit_answer_nothing(table, rng):
    X, y = table
    before, new = X.copy(), X[:3] + rng.standard_normal((3, 16_000))
    asked, late = (tractable.RidgeCV(ALPHAS).fit(X, y) for _ in range(2))
    expected, predicted = asked.predict_dist(new).scale, asked.predict(new)
    X[:, 7] *= 2.0
    for ask in (late.predict_dist, late.predict_interval, late.leverage):
        with pytest.raises(ValueError, match="X was changed after the fit"):
            ask(new)
    np.testing.assert_array_equal(late.predict(new), predicted)
    np.testing.assert_array_equal(asked.predict_dist(new).scale, expected)
    X[:] = before
    np.testing.assert_array_equal(late.predict_dist(new).scale, expected)


@pytest.mark.parametrize("asked", [False, True])
def test_copies_of_a_model_have_rows_of_their_own(table, rng, tmp_path, asked):
    X, y = table
    model = tractable.RidgeCV(ALPHAS).fit(X, y)
    new = X[:3] + rng.standard_normal((3, 16_000))
    if asked:
        model.predict_dist(new)
    stored = pickle.dumps(model)
    assert len(stored) < 1.2 * X.nbytes  # one array of rows, also of a model that was asked
    tractable.save(model, tmp_path / "model.tractable")
    copies = [pickle.loads(stored), copy.deepcopy(model), tractable.load(tmp_path / "model.tractable")]
    expected = model.predict_dist(new).scale
    X[:] = 0.0
    for each in copies:
        np.testing.assert_allclose(each.predict_dist(new).scale, expected, rtol=1e-13)


@pytest.mark.parametrize("entry", [np.nan, np.inf, 1e200, 1e305])
def test_entries_that_are_not_finite_or_too_large_are_named(table, entry):
    X, y = table
    X[3, 5000] = entry
    with pytest.raises(ValueError, match="X "):
        tractable.RidgeCV(ALPHAS).fit(X, y)


@pytest.mark.parametrize(("n_far", "mean"), [(900, 1e8), (1, 1e11)])
def test_rows_with_large_means_are_taken_for_unchanged(n_far, mean, rng):
    X = rng.standard_normal((120, 9000))
    X[:, :n_far] += mean
    y = X[:, -1] + rng.standard_normal(120)
    model = tractable.RidgeCV(alphas=[1e3, 1e4, 1e5]).fit(X, y)
    assert np.isfinite(model.predict(X[:2], return_std=True)[1]).all()
