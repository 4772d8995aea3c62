"""Fisher's discriminant and the classifier of least squares: functions that decide without probabilities."""

import runpy
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.special import ndtr

import tractable
from tractable.base import DegenerateCovarianceWarning
from tractable.classification import (
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminant,
    discriminant_functions,
)
from tractable.classification.discriminant.fisher import gaussian_threshold
from tractable.distributions import LabelCoding


@pytest.fixture
def classes(rng):
    """Three classes of unequal sizes."""
    y = np.repeat(["a", "b", "c"], [60, 30, 90])
    centres = 2.0 * rng.standard_normal((3, 4))
    return rng.standard_normal((180, 4)) @ rng.standard_normal((4, 4)) + np.repeat(
        centres, [60, 30, 90], axis=0
    ), y


@pytest.fixture
def two(classes):
    X, y = classes
    return X[y != "c"], y[y != "c"]


def criterion(model, w):
    return (w @ model.between_scatter_ @ w) / (w @ model.within_scatter_ @ w)


class TestFisher:
    @pytest.mark.spec("CLS-03", "CLS-04")
    def test_the_direction_of_two_classes_is_the_textbooks(self, two):
        X, y = two
        model = FisherDiscriminant().fit(X, y)
        m = [X[y == k].mean(axis=0) for k in ("a", "b")]
        within = sum((X[y == k] - c).T @ (X[y == k] - c) for k, c in zip(("a", "b"), m, strict=True))
        w = np.linalg.solve(within, m[1] - m[0])
        found = model.scalings_[:, 0]
        np.testing.assert_allclose(found / np.linalg.norm(found), w / np.linalg.norm(w), atol=1e-10)
        assert model.transform(m)[1, 0] > model.transform(m)[0, 0]
        np.testing.assert_allclose(model.within_scatter_, within)

    def test_no_direction_parts_the_classes_better(self, classes, rng):
        model = FisherDiscriminant().fit(*classes)
        best = criterion(model, model.scalings_[:, 0])
        np.testing.assert_allclose(best, model.criterion_[0])
        assert all(criterion(model, w) < best for w in rng.standard_normal((200, 4)))
        near = model.scalings_[:, 0] * (1.0 + 1e-3 * rng.standard_normal((50, 4)))
        assert all(criterion(model, w) <= best * (1.0 + 1e-12) for w in near)

    def test_rows_vary_by_one_within_classes(self, classes):
        X, y = classes
        Z = FisherDiscriminant().fit(X, y).transform(X)
        within = sum((y == k).sum() * np.cov(Z[y == k].T, bias=True) for k in ("a", "b", "c")) / len(y)
        np.testing.assert_allclose(within, np.eye(2), atol=1e-10)

    def test_the_directions_are_those_of_the_linear_discriminant(self, classes):
        X, y = classes
        fisher, linear = FisherDiscriminant().fit(X, y), LinearDiscriminant().fit(X, y)
        np.testing.assert_allclose(fisher.transform(X), linear.transform(X), atol=1e-9)

    def test_several_classes_are_told_apart_by_the_nearest_mean(self, classes):
        X, y = classes
        model = FisherDiscriminant().fit(X, y)
        distance = np.linalg.norm(model.transform(X)[:, None] - model.transform(model.means_), axis=2)
        np.testing.assert_array_equal(model.predict(X), model.classes_[distance.argmin(axis=1)])
        np.testing.assert_array_equal(discriminant_functions(model).decide(X), model.predict(X))
        equal = LinearDiscriminant(priors=[1 / 3] * 3).fit(X, y)
        np.testing.assert_array_equal(equal.predict(X), model.predict(X))

    @pytest.mark.spec("CLS-03")
    def test_two_classes_are_parted_at_the_threshold(self, two):
        X, y = two
        for threshold in ("midpoint", "gaussian"):
            model = FisherDiscriminant(threshold=threshold).fit(X, y)
            said = np.where(model.transform(X)[:, 0] > model.threshold_, "b", "a")
            np.testing.assert_array_equal(model.predict(X), said)
            np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0])
        assert model.threshold_ != FisherDiscriminant().fit(X, y).threshold_

    def test_the_gaussian_threshold_makes_the_fewest_mistakes(self, rng):
        for _ in range(50):
            m = np.sort(rng.standard_normal(2)) * 3.0
            v, w = rng.gamma(2.0, size=2), rng.gamma(2.0, size=2)
            t = gaussian_threshold(m, v, w)
            grid = np.linspace(m[0] - 10.0, m[1] + 10.0, 4001)
            z = (np.append(grid, t)[:, None] - m) / np.sqrt(v)
            mistakes = w[0] * ndtr(-z[:, 0]) + w[1] * ndtr(z[:, 1])
            # Where one class wins everywhere no threshold is better than either end.
            assert mistakes[-1] <= mistakes[:-1].min() + 1e-9 or mistakes[:-1].argmin() in (0, 4000)

    def test_it_claims_no_probabilities(self, two):
        model = FisherDiscriminant().fit(*two)
        assert not hasattr(model, "predict_proba")
        assert tractable.tags(model).kind == "mapping"

    def test_hard_rows(self, classes, rng):
        X, y = classes
        with pytest.raises(ValueError, match="1 class"):
            FisherDiscriminant().fit(X, np.zeros(180))
        with pytest.warns(DegenerateCovarianceWarning):
            model = FisherDiscriminant().fit(rng.standard_normal((6, 9)), [0, 0, 0, 1, 1, 1])
        assert np.all(np.isfinite(model.coef_))
        far = FisherDiscriminant().fit(X + 1e7, y)
        np.testing.assert_allclose(
            far.transform(X + 1e7), FisherDiscriminant().fit(X, y).transform(X), atol=1e-5
        )
        with pytest.raises(ValueError, match="contains NaN"):
            FisherDiscriminant().fit([(np.where(X > 3.0, np.nan, X), y)])

    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"threshold": "best"}, "threshold"),
            ({"threshold": "gaussian"}, "two classes"),
            ({"n_components": 3}, "n_components"),
        ],
    )
    def test_bad_parameters(self, classes, options, match):
        with pytest.raises(ValueError, match=match):
            FisherDiscriminant(**options).fit(*classes)

    def test_a_promised_class_is_waited_for(self, two):
        X, y = two
        model = FisherDiscriminant().partial_fit(X[:60], y[:60], classes=["a", "b"])
        with pytest.raises(ValueError, match="more rows are needed"):
            model.predict(X)
        model.partial_fit(X[60:], y[60:])
        np.testing.assert_array_equal(model.predict(X), FisherDiscriminant().fit(X, y).predict(X))


class TestLeastSquares:
    @pytest.mark.spec("CLS-01", "CLS-09")
    def test_it_is_least_squares_on_one_of_k_codes(self, classes):
        X, y = classes
        model = LeastSquaresClassifier().fit(X, y)
        codes = LabelCoding.of(y).encode(y, "one_hot")
        ones = np.column_stack([np.ones(len(X)), X])
        expected = ones @ np.linalg.lstsq(ones, codes, rcond=None)[0]
        np.testing.assert_allclose(model.outputs(X), expected, atol=1e-10)
        np.testing.assert_array_equal(model.predict(X), model.classes_[expected.argmax(axis=1)])
        np.testing.assert_array_equal(discriminant_functions(model).decide(X), model.predict(X))

    def test_outputs_are_one_in_sum(self, classes, rng):
        model = LeastSquaresClassifier().fit(*classes)
        np.testing.assert_allclose(
            model.outputs(1e3 * rng.standard_normal((50, 4))).sum(axis=1), 1.0, atol=1e-9
        )

    @pytest.mark.spec("CLS-01", "CLS-03")
    def test_two_classes_are_a_sign(self, two):
        X, y = two
        model = LeastSquaresClassifier().fit(X, y)
        signs = LabelCoding.of(y).encode(y, "sign")
        plane = tractable.LinearRegression().fit(X, signs)
        np.testing.assert_allclose(model.decision_function(X), plane.predict(X), atol=1e-10)
        np.testing.assert_allclose(model.coef_[0], plane.coef_, atol=1e-10)

    @pytest.mark.spec("CLS-09")
    def test_the_middle_of_three_classes_is_masked(self, rng):
        y = np.repeat([0, 1, 2], 200)
        X = 4.0 * (y - 1.0)[:, None] + rng.standard_normal((600, 2))
        assert np.mean(LeastSquaresClassifier().fit(X, y).predict(X) == 1) < 0.05
        assert LinearDiscriminant().fit(X, y).score(X, y) > 0.95

    def test_weights_and_merges(self, classes, rng):
        X, y = classes
        w = rng.integers(0, 3, len(X)).astype(float)
        weighted = LeastSquaresClassifier().fit(X, y, sample_weight=w)
        repeated = LeastSquaresClassifier().fit(
            np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int))
        )
        np.testing.assert_allclose(weighted.outputs(X), repeated.outputs(X), atol=1e-10)

    def test_hard_rows(self, classes, rng):
        X, y = classes
        far = LeastSquaresClassifier().fit(X + 1e7, y)
        np.testing.assert_allclose(
            far.outputs(X + 1e7), LeastSquaresClassifier().fit(X, y).outputs(X), atol=1e-6
        )
        twice = LeastSquaresClassifier().fit(np.column_stack([X, X]), y)
        assert twice.rank_ == 4
        wide = LeastSquaresClassifier().fit(rng.standard_normal((6, 9)), [0, 0, 0, 1, 1, 1])
        assert wide.rank_ == 5
        with pytest.raises(ValueError, match="1 class"):
            LeastSquaresClassifier().fit(X, np.zeros(180))
        with pytest.raises(ValueError, match="rank_tol"):
            LeastSquaresClassifier(rank_tol=-1.0).fit(X, y)

    def test_a_promised_class_without_rows_is_never_decided_for(self, classes):
        X, y = classes
        model = LeastSquaresClassifier().partial_fit(X, y, classes=["a", "aa", "b", "c"])
        np.testing.assert_array_equal(model.predict(X), LeastSquaresClassifier().fit(X, y).predict(X))


@pytest.mark.filterwarnings("ignore:.*non-interactive.*:UserWarning")
def test_the_page_on_masking_shows_it():
    page = runpy.run_path(
        str(Path(__file__).parent.parent / "examples" / "classification" / "plot_least_squares_masking.py")
    )
    plt.close("all")
    masked, seen = (page["models"][name] for name in ("least squares", "linear discriminant"))
    assert np.mean(masked.predict(page["X"]) == "middle") < 0.05
    assert seen.score(page["X"], page["y"]) > 0.97
    np.testing.assert_allclose(page["outputs"].sum(axis=1), 1.0)
