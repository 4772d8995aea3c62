"""Gaussian classes with covariances of their own, against scikit-learn and conjugate models."""

import warnings

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

import tractable
from tractable.base import DegenerateCovarianceWarning
from tractable.classification import LinearDiscriminant, QuadraticDiscriminant
from tractable.conjugate import MultivariateNormalModel
from tractable.covariance.shapes import ledoit_wolf
from tractable.distributions import NormalWishart
from tractable.statistics import FourthMoments

BELIEF = NormalWishart(mean=[0.5, 0.0, -0.5], strength=0.7, dof=5.0, scale=0.2 * np.eye(3))


@pytest.fixture
def classes(rng):
    """Three classes of unequal sizes, shapes and places."""
    sizes = (60, 40, 90)
    X = [rng.standard_normal((n, 3)) @ rng.standard_normal((3, 3)) + rng.standard_normal(3) for n in sizes]
    return np.concatenate(X), np.repeat(["a", "b", "c"], sizes)


@pytest.mark.spec("CLS-17")
class TestAgainstScikitLearn:
    def test_the_posterior_is_the_same(self, classes):
        X, y = classes
        ours, peer = QuadraticDiscriminant().fit(X, y), QuadraticDiscriminantAnalysis(store_covariance=True)
        peer.fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-8)
        np.testing.assert_allclose(ours.covariance_, np.stack(peer.covariance_), atol=1e-12)
        np.testing.assert_array_equal(ours.predict(X), peer.predict(X))

    def test_reg_param_is_the_same(self, classes):
        X, y = classes
        ours, peer = QuadraticDiscriminant(reg_param=0.3), QuadraticDiscriminantAnalysis(reg_param=0.3)
        np.testing.assert_allclose(
            ours.fit(X, y).predict_proba(X), peer.fit(X, y).predict_proba(X), atol=1e-8
        )

    @pytest.mark.parametrize("shrinkage", [0.2, "auto"])
    def test_shrinkage_is_the_same(self, classes, shrinkage):
        X, y = classes
        peer = QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=shrinkage).fit(X, y)
        ours = QuadraticDiscriminant(shrinkage=shrinkage).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-8)

    def test_priors_are_the_same(self, classes):
        X, y = classes
        priors = [0.2, 0.7, 0.1]
        ours, peer = (
            model(priors=priors).fit(X, y) for model in (QuadraticDiscriminant, QuadraticDiscriminantAnalysis)
        )
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-8)


@pytest.mark.spec("CLS-17")
def test_the_log_odds_are_quadratic(classes, rng):
    """Third differences of a(x) along any line are zero, second ones are not."""
    X, y = classes
    model = QuadraticDiscriminant().fit(X[y != "c"], y[y != "c"])
    line = rng.standard_normal(3) + np.arange(5.0)[:, None] * rng.standard_normal(3)
    a = model.decision_function(line)
    np.testing.assert_allclose(np.diff(a, 3), 0.0, atol=1e-9 * np.abs(a).max())
    assert np.all(np.abs(np.diff(a, 2)) > 1e-3)


class TestLedoitWolf:
    @pytest.mark.parametrize(("n", "d"), [(50, 5), (8, 20), (300, 3), (3, 4), (20, 1)])
    def test_the_share_is_that_of_the_rows(self, rng, n, d):
        from sklearn.covariance import ledoit_wolf as peer

        X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 1e3
        standard = (X - X.mean(axis=0)) / X.std(axis=0)
        matrix, share = peer(standard)
        parts = [FourthMoments.of(part) for part in np.array_split(X, [1, 2])]
        found, ours = ledoit_wolf(parts[0] + parts[1] + parts[2])
        assert ours == pytest.approx(share, abs=1e-9)
        np.testing.assert_allclose(found, matrix * X.std(axis=0)[:, None] * X.std(axis=0), atol=1e-9)

    @pytest.mark.parametrize("scale", [1e-100, 1e100])
    def test_units_do_not_matter(self, rng, scale):
        X = rng.standard_normal((30, 4))
        _, plain = ledoit_wolf(FourthMoments.of(X))
        _, scaled = ledoit_wolf(FourthMoments.of(X[:1] * scale) + FourthMoments.of(X[1:] * scale))
        assert scaled == pytest.approx(plain, rel=1e-9)

    def test_nan_is_refused(self):
        with pytest.raises(ValueError, match="X contains NaN"):
            FourthMoments.of([[np.nan], [1.0]])


class TestBayes:
    def test_classes_are_conjugate_models(self, classes):
        X, y = classes
        model = QuadraticDiscriminant(estimate="bayes", prior=BELIEF).fit(X, y)
        single = MultivariateNormalModel(prior=BELIEF)
        parts = [single.update_rows(X[y == k]) for k in ("a", "b", "c")]
        predictions = np.stack([part.predictive().log_prob(X) for part in parts], axis=1)
        np.testing.assert_allclose(model.class_distributions_.log_prob(X[:, None, :]), predictions)
        evidence = sum(single.log_evidence(single.summarize(X[y == k])) for k in ("a", "b", "c"))
        assert model.log_evidence_ == pytest.approx(evidence)

    def test_a_promised_class_is_known_by_its_prior(self, classes):
        X, y = classes
        model = QuadraticDiscriminant(estimate="bayes", prior=BELIEF, priors=[0.25] * 4)
        model.partial_fit(X, y, classes=["a", "b", "c", "z"])
        expected = MultivariateNormalModel(prior=BELIEF).predictive()
        np.testing.assert_allclose(model.class_distributions_[3].log_prob(X), expected.log_prob(X))
        assert np.all(model.predict_proba(X)[:, 3] > 0.0)

    def test_few_rows_in_many_columns(self, rng):
        y = np.repeat([0, 1], 6)
        X = rng.standard_normal((12, 30)) + 2.0 * y[:, None]
        model = QuadraticDiscriminant(estimate="bayes").fit(X, y)
        assert (model.predict(X) == y).all()


class TestMissingValues:
    def test_each_class_is_a_gaussian_density(self, classes, rng):
        X, y = classes
        X = np.where((rng.random(X.shape) < 0.2) & (np.arange(len(X)) % 9 > 0)[:, None], np.nan, X)
        model = QuadraticDiscriminant().fit(X, y)
        for k, label in enumerate(model.classes_):
            alone = tractable.GaussianDensity().fit(X[y == label])
            np.testing.assert_allclose(model.class_distributions_[k].log_prob(X), alone.score_samples(X))
        assert model.converged_

    def test_a_search_that_does_not_settle_is_said(self, classes, rng):
        from sklearn.exceptions import ConvergenceWarning

        X, y = classes
        X = np.where(rng.random(X.shape) < 0.3, np.nan, X)
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            QuadraticDiscriminant(max_iter=1).fit(X, y)


class TestHardRows:
    def test_far_from_the_origin(self, classes):
        X, y = classes
        near, far = (QuadraticDiscriminant().fit(X + shift, y) for shift in (0.0, 1e7))
        np.testing.assert_allclose(far.predict_proba(X + 1e7), near.predict_proba(X), atol=1e-6)

    @pytest.mark.parametrize("options", [{}, {"shrinkage": 0.1}, {"shrinkage": "auto"}, {"reg_param": 0.1}])
    @pytest.mark.parametrize("copies", [1, 4])
    def test_a_class_without_spread_has_that_of_the_others(self, options, copies, classes):
        """Its own would give probabilities of exactly 0 or 1."""
        X, y = classes
        X, y = np.concatenate([X, np.tile(X.mean(axis=0), (copies, 1))]), np.append(y, ["d"] * copies)
        with pytest.warns(DegenerateCovarianceWarning, match="of 'd' there is one sample, or samples that"):
            model = QuadraticDiscriminant(**options).fit(X, y)
        within = LinearDiscriminant().fit(X[y != "d"], y[y != "d"]).covariance_
        r = options.get("reg_param", 0.0)
        np.testing.assert_allclose(model.covariance_[3], (1.0 - r) * within + r * np.eye(3), rtol=1e-9)
        proba = model.predict_proba(X)[:, 3]
        assert np.all((proba > 0.0) & (proba < 0.9))

    def test_a_class_of_few_rows_is_said(self, classes):
        X, y = classes
        X, y = np.concatenate([X, [[9.0, 9.0, 9.0], [9.0, 8.0, 9.5]]]), np.append(y, ["d", "d"])
        with pytest.warns(DegenerateCovarianceWarning, match="jitter_"):
            model = QuadraticDiscriminant().fit(X, y)
        assert np.all(model.jitter_[3] > 0.0)
        assert not model.jitter_[:3].any()
        assert model.predict(X[-1:]) == ["d"]

    def test_a_singular_class_is_said(self, classes):
        X, y = classes
        X = np.column_stack([X, X[:, 0] + X[:, 1]])
        with pytest.warns(DegenerateCovarianceWarning):
            model = QuadraticDiscriminant().fit(X, y)
        whole = QuadraticDiscriminant().fit(X[:, :3], y)
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X[:, :3]), atol=1e-4)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            QuadraticDiscriminant(shrinkage=0.01).fit(X, y)

    def test_a_promised_class_without_rows_is_impossible(self, classes):
        X, y = classes
        model = QuadraticDiscriminant().partial_fit(X, y, classes=["a", "b", "c", "z"])
        np.testing.assert_array_equal(model.predict_proba(X)[:, 3], 0.0)


@pytest.mark.spec("CLS-30")
def test_new_rows_are_those_of_the_model(classes):
    X, y = classes
    model = QuadraticDiscriminant().fit(X, y)
    drawn, labels = model.sample(20_000, random_state=1)
    for k, label in enumerate(model.classes_):
        mine = drawn[labels == label]
        error = np.sqrt(np.diagonal(model.covariance_[k]) / len(mine))
        assert np.all(np.abs(mine.mean(axis=0) - model.means_[k]) < 5.0 * error)
        variance = np.diagonal(model.covariance_[k])
        assert np.all(np.abs(mine.var(axis=0) - variance) < 5.0 * variance * np.sqrt(2.0 / len(mine)))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"reg_param": 2.0}, "reg_param"),
        ({"estimate": "bayes", "reg_param": 0.1}, "reg_param"),
        ({"shrinkage": -0.1}, "shrinkage"),
        ({"priors": [0.3, 0.3, 0.3]}, "priors"),
        ({"ddof": 45.0}, "ddof"),
    ],
)
def test_bad_parameters_are_one_clear_error(classes, options, match):
    with pytest.raises(ValueError, match=match):
        QuadraticDiscriminant(**options).fit(*classes)
