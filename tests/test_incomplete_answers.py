"""Answers about rows with missing entries, where rows to learn from must be complete."""

import warnings

import numpy as np
import pytest

import tractable
from catalogue import ESTIMATORS, some_of_each_family
from tractable.classification import LinearDiscriminant, QuadraticDiscriminant
from tractable.testing.estimator_laws import example

pytestmark = pytest.mark.spec("CLS-12")


@pytest.fixture
def rows(rng):
    y = np.arange(60) % 3
    return rng.standard_normal((60, 3)) @ rng.standard_normal((3, 3)) + 2.0 * y[:, None], y


@pytest.mark.parametrize("make", [LinearDiscriminant, QuadraticDiscriminant])
@pytest.mark.parametrize("given", [{"estimate": "bayes"}, {"shrinkage": "auto"}], ids=["bayes", "auto"])
class TestMissingEntries:
    def test_are_integrated_out_of_answers(self, make, given, rows):
        X, y = rows
        model = make(**given).fit(X, y)
        holes = X[:9].copy()
        holes[:, 1] = np.nan
        observed = model.class_distributions_.marginal([0, 2])
        joint = np.stack([observed[k].log_prob(X[:9][:, [0, 2]]) for k in range(3)], axis=1)
        joint += np.log(model.class_prior_)
        np.testing.assert_allclose(model.predict_joint_log_proba(holes), joint, rtol=1e-12)
        shares = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
        np.testing.assert_allclose(model.predict_proba(holes), shares, rtol=1e-9)
        np.testing.assert_array_equal(model.predict(holes), shares.argmax(axis=1))
        nothing = np.full((1, 3), np.nan)
        np.testing.assert_allclose(model.predict_proba(nothing), [model.class_prior_])

    def test_are_refused_in_learning_with_the_reason(self, make, given, rows):
        X, y = rows
        holes = np.where(np.arange(180).reshape(60, 3) == 7, np.nan, X)
        reason = "has no closed form" if "estimate" in given else "needs products of squares"
        with pytest.raises(ValueError, match=f"X contains NaN; .*{reason}"):
            make(**given).fit(holes, y)
        with pytest.raises(ValueError, match=f"X contains NaN; .*{reason}"):
            make(**given).fit([(holes, y)])

    def test_infinity_is_refused(self, make, given, rows):
        X, y = rows
        with pytest.raises(ValueError, match="X contains infinity"):
            make(**given).fit(X, y).predict([[0.0, np.inf, 0.0]])


@pytest.mark.parametrize("estimate", ["ml", "bayes"])
def test_a_row_is_turned_to_where_it_is_expected(estimate, rows, rng):
    X, y = rows
    model = LinearDiscriminant(estimate=estimate).fit(X, y)
    row = np.array([[np.nan, X[0, 1], np.nan]])
    p = model.predict_proba(row)[0]
    expected = [model.class_distributions_[k].condition([1], X[0, 1:2]) for k in range(3)]
    filled = sum(p[k] * np.asarray(each.mean) for k, each in enumerate(expected))
    whole = np.array([[filled[0], X[0, 1], filled[1]]])
    np.testing.assert_allclose(model.transform(row), model.transform(whole), rtol=1e-9)


@pytest.mark.parametrize(
    "row", some_of_each_family([row for row in ESTIMATORS if not row.name.startswith("toy-")])
)
def test_tags_say_whether_missing_entries_have_predictions(row, rng):
    model = row.make()
    X, y = example(model, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    holes = np.array(X[:3], dtype=float)
    holes[1, 0] = np.nan
    asked = [
        name for name in ("predict", "predict_proba", "score_samples", "transform") if hasattr(model, name)
    ]
    for name in asked:
        if tractable.tags(model).predicts_missing:
            assert len(getattr(model, name)(holes)) == 3
        else:
            with pytest.raises(ValueError, match="NaN"):
                getattr(model, name)(holes)
