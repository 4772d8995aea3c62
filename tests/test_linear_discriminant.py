"""Gaussian classes with one covariance, against scikit-learn, the textbook and the likelihood itself."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import tractable
from tractable.base import DegenerateCovarianceWarning
from tractable.classification import LinearDiscriminant, discriminant_functions
from tractable.covariance import Full, LowRankPlusDiagonal
from tractable.distributions import MultivariateStudentT, NormalWishart
from tractable.statistics import ByClass, IncompleteMoments, Moments
from tractable.testing.statistic_laws import assert_same_statistic

BELIEF = NormalWishart(mean=np.zeros(3), strength=0.7, dof=5.0, scale=0.2 * np.eye(3))


@pytest.fixture
def classes(rng):
    """Three overlapping classes of unequal sizes in four columns of unequal units."""
    y = np.repeat(["a", "b", "c"], [60, 30, 90])
    centres = rng.standard_normal((3, 4))
    X = (
        rng.standard_normal((180, 4)) @ rng.standard_normal((4, 4))
        + centres[np.searchsorted(["a", "b", "c"], y)]
    )
    return X * [1.0, 100.0, 0.01, 1.0], y


def with_holes(X, rng, share=0.25):
    holes = rng.random(X.shape) < share
    holes[:10] = False
    return np.where(holes, np.nan, X)


class TestAgainstScikitLearn:
    @pytest.mark.spec("CLS-14", "CLS-15", "CLS-16", "E004-22")
    @pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
    def test_the_posterior_is_the_same(self, classes, solver):
        X, y = classes
        ours, peer = LinearDiscriminant().fit(X, y), LinearDiscriminantAnalysis(solver=solver).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-8)
        np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
        np.testing.assert_allclose(ours.means_, peer.means_)
        np.testing.assert_allclose(ours.class_prior_, peer.priors_)

    def test_planes_and_directions_are_the_same(self, classes):
        X, y = classes
        ours, peer = LinearDiscriminant().fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
        np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-8)
        np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-8)
        np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(peer.transform(X)), atol=1e-8)
        np.testing.assert_allclose(ours.explained_variance_ratio_, peer.explained_variance_ratio_)
        assert LinearDiscriminant(n_components=1).fit(X, y).transform(X).shape == (180, 1)

    def test_two_classes_have_one_plane(self, classes):
        X, y = classes
        X, y = X[y != "c"], y[y != "c"]
        ours, peer = LinearDiscriminant().fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
        assert ours.coef_.shape == (1, 4)
        np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-8)
        np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-8)
        np.testing.assert_allclose(ours.decision_function(X), X @ ours.coef_[0] + ours.intercept_, atol=1e-9)

    @pytest.mark.parametrize("shrinkage", [0.0, 0.4, 1.0, "auto"])
    def test_shrinkage_is_the_same(self, classes, shrinkage):
        X, y = classes
        peer = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y)
        ours = LinearDiscriminant(shrinkage=shrinkage).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-8)
        np.testing.assert_allclose(ours.covariance_, peer.covariance_, rtol=1e-8)

    def test_priors_are_the_same(self, classes):
        X, y = classes
        priors = [0.5, 0.25, 0.25]
        ours, peer = LinearDiscriminant(priors=priors).fit(X, y), LinearDiscriminantAnalysis(priors=priors)
        np.testing.assert_allclose(ours.predict_proba(X), peer.fit(X, y).predict_proba(X), atol=1e-8)


@pytest.mark.spec("CLS-14", "CLS-12")
def test_the_log_odds_of_two_classes_are_the_textbooks(classes):
    X, y = classes
    X, y = X[y != "c"], y[y != "c"]
    model = LinearDiscriminant().fit(X, y)
    (m1, m2), (p1, p2) = model.means_, model.class_prior_
    within = sum((y == k).sum() * np.cov(X[y == k].T, bias=True) for k in ("a", "b")) / len(y)
    np.testing.assert_allclose(model.covariance_, within)
    inverse = np.linalg.inv(within)
    w = inverse @ (m1 - m2)
    w0 = -0.5 * m1 @ inverse @ m1 + 0.5 * m2 @ inverse @ m2 + np.log(p1 / p2)
    first = 1.0 / (1.0 + np.exp(-(X @ w + w0)))
    np.testing.assert_allclose(model.predict_proba(X)[:, 0], first, atol=1e-9)


@pytest.mark.spec("CLS-04", "CLS-09")
def test_boundaries_are_planes(classes, rng):
    X, y = classes
    model = LinearDiscriminant().fit(X, y)
    planes = discriminant_functions(model)
    np.testing.assert_array_equal(planes.decide(X), model.predict(X))
    between = planes.pairwise_boundary("a", "b")
    p = model.predict_proba(between.surface(rng.standard_normal((20, 3))))
    np.testing.assert_allclose(p[:, 0], p[:, 1], rtol=1e-6)


class TestMissingValues:
    @pytest.mark.slow
    def test_the_likelihood_is_at_its_maximum(self, classes, rng):
        X, y = classes
        X = with_holes(X, rng)
        model = LinearDiscriminant().fit(X, y)
        codes = np.searchsorted(model.classes_, y)

        def log_likelihood(means, covariance):
            d = tractable.MultivariateNormal(mean=means, covariance=covariance)
            return d.log_prob(X[:, None, :])[np.arange(len(X)), codes].sum()

        best = log_likelihood(model.means_, model.covariance_)
        scale = np.sqrt(np.diagonal(model.covariance_))
        for _ in range(20):
            step = 1e-3 * scale * rng.standard_normal((3, 4))
            assert log_likelihood(model.means_ + step, model.covariance_) < best
            turn = 1e-3 * rng.standard_normal((4, 4))
            turn = scale[:, None] * (turn + turn.T) * scale
            assert log_likelihood(model.means_, model.covariance_ + turn) < best
        assert model.n_iter_ > 1
        assert model.converged_

    def test_a_row_is_judged_by_what_was_observed(self, classes):
        X, y = classes
        model = LinearDiscriminant().fit(X, y)
        seen = np.where([True, False, True, False], X, np.nan)
        marginal = model.distribution_.marginal([0, 2])
        np.testing.assert_allclose(
            model.predict_proba(seen), marginal.responsibilities(X[:, [0, 2]]), atol=1e-10
        )
        np.testing.assert_allclose(model.score_samples(seen), marginal.log_prob(X[:, [0, 2]]))
        np.testing.assert_allclose(model.predict_proba(np.full((1, 4), np.nan))[0], model.class_prior_)

    def test_its_place_along_the_directions_is_the_expected_one(self, classes):
        X, y = classes
        model = LinearDiscriminant().fit(X, y)
        holes = X[:5].copy()
        holes[:, [1, 3]] = np.nan
        rest = np.stack([model.distribution_.condition([0, 2], row[[0, 2]]).mean for row in holes])
        filled = X[:5].copy()
        filled[:, [1, 3]] = rest
        np.testing.assert_allclose(model.transform(holes), model.transform(filled), atol=1e-9)

    def test_streams_and_merges_are_exact(self, classes, rng):
        X, y = classes
        X = with_holes(X, rng)
        whole = LinearDiscriminant().fit(X, y)
        halves = [
            LinearDiscriminant().fit(X[part], y[part]) for part in (slice(0, None, 2), slice(1, None, 2))
        ]
        both = halves[0].merge(halves[1])
        np.testing.assert_allclose(both.predict_proba(X), whole.predict_proba(X), atol=1e-8)

    def test_a_column_never_observed_in_a_class_is_an_error(self, classes):
        X, y = classes
        X = np.where((y == "b")[:, None] & (np.arange(4) == 2), np.nan, X)
        with pytest.raises(ValueError, match=r"no observed value of class 'b' in the columns \[2\]"):
            LinearDiscriminant().fit(X, y)

    @pytest.mark.parametrize("options", [{"estimate": "bayes"}, {"shrinkage": "auto"}])
    def test_where_they_are_not_marginalised_they_are_refused(self, classes, rng, options):
        X, y = classes
        X = with_holes(X, rng)
        for rows in ((X, y), ([(X, y)], None)):
            with pytest.raises(ValueError, match="contains NaN"):
                LinearDiscriminant(**options).fit(*rows)


class TestBayes:
    def test_the_evidence_is_the_product_of_predictions(self, rng):
        X, y = rng.standard_normal((12, 3)), np.arange(12) % 3
        y[1] = 0
        models = [
            LinearDiscriminant(estimate="bayes", prior=BELIEF).partial_fit(X[:n], y[:n], classes=[0, 1, 2])
            for n in range(1, 13)
        ]
        said = [m.class_distributions_[y[n]].log_prob(X[n]) for n, m in enumerate(models[:-1], start=1)]
        np.testing.assert_allclose(np.sum(said), models[-1].log_evidence_ - models[0].log_evidence_)

    def test_many_rows_make_the_prior_forgotten(self, rng):
        y = np.arange(30_000) % 3
        X = rng.standard_normal((30_000, 3)) + 2.0 * np.eye(3)[y]
        ml, bayes = (LinearDiscriminant(estimate=e).fit(X, y) for e in ("ml", "bayes"))
        assert isinstance(bayes.class_distributions_, MultivariateStudentT)
        np.testing.assert_allclose(bayes.predict_proba(X), ml.predict_proba(X), atol=1e-3)
        np.testing.assert_allclose(bayes.covariance_, ml.covariance_, rtol=1e-3, atol=1e-3)

    def test_few_rows_are_doubted(self, rng):
        y = np.arange(8) % 2
        X = rng.standard_normal((8, 6)) + y[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateCovarianceWarning)
            sure = LinearDiscriminant().fit(X, y).predict_proba(X).max(axis=1)
        bayes = LinearDiscriminant(estimate="bayes").fit(X, y)
        assert np.all(bayes.predict_proba(X).max(axis=1) < sure)
        assert not hasattr(bayes, "coef_")


class TestHardRows:
    def test_far_from_the_origin(self, classes):
        X, y = classes
        X = X / X.std(axis=0)
        near, far = (LinearDiscriminant().fit(X + shift, y) for shift in (0.0, 1e7))
        np.testing.assert_allclose(far.predict_proba(X + 1e7), near.predict_proba(X), atol=1e-6)
        np.testing.assert_allclose(far.transform(X + 1e7), near.transform(X), atol=1e-5)

    def test_classes_far_apart_keep_their_log_odds(self, rng):
        """Planes of means 1e9 deviations apart would lose all digits of the odds between near ones."""
        y = np.repeat([0, 1, 2], 100)
        X = rng.standard_normal((300, 2)) + np.array([[0.0, 0.0], [1.0, 0.0], [1e9, 0.0]])[y]
        model = LinearDiscriminant().fit(X, y)
        alone = LinearDiscriminant(ddof=0).fit(X, y).class_distributions_.log_prob(X[:, None, :])
        odds = model.predict_log_proba(X[:200])
        np.testing.assert_allclose((odds[:, 1] - odds[:, 0]), (alone[:200, 1] - alone[:200, 0]), atol=1e-9)

    def test_a_constant_column_is_said(self, classes):
        X, y = classes
        X = np.column_stack([X, np.full(180, 7.0)])
        with pytest.warns(DegenerateCovarianceWarning, match="jitter_"):
            model = LinearDiscriminant().fit(X, y)
        assert model.jitter_[-1] > 0
        assert not model.jitter_[:-1].any()
        without = LinearDiscriminant().fit(X[:, :-1], y)
        np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X[:, :-1]), atol=1e-8)

    def test_fewer_rows_than_columns(self, rng):
        y = np.repeat(["p", "q"], 5)
        X = rng.standard_normal((10, 40)) + 3.0 * (y == "q")[:, None]
        with pytest.warns(DegenerateCovarianceWarning):
            assert (LinearDiscriminant().fit(X, y).predict(X) == y).all()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for options in ({"shrinkage": "auto"}, {"shrinkage": 0.1}, {"estimate": "bayes"}):
                assert (LinearDiscriminant(**options).fit(X, y).predict(X) == y).all()

    @pytest.mark.filterwarnings("ignore::tractable.base.DegenerateCovarianceWarning")
    def test_a_covariance_held_by_few_rows_is_the_matrix(self, rng):
        """A discounted statistic is learned from by products of columns, few rows and their sums by rows."""
        y = np.arange(60) % 3
        X = rng.standard_normal((60, 90)) + 0.5 * rng.standard_normal((3, 90))[y]
        X[:, 3], X[:, 4] = 5.0, 2.0 * X[:, 5]  # constant, and collinear
        weight = rng.integers(1, 4, 60)
        model = LinearDiscriminant().fit(X, y, sample_weight=weight)
        halves = [model.summarize(X[part], y[part], weight[part]) for part in (slice(30), slice(30, 60))]
        merged = LinearDiscriminant().from_statistic(halves[0] + halves[1])
        matrix = LinearDiscriminant().from_statistic((halves[0] + halves[1]).discount(1.0))
        assert isinstance(model.class_distributions_.structure, LowRankPlusDiagonal)
        assert isinstance(merged.class_distributions_.structure, LowRankPlusDiagonal)
        assert isinstance(matrix.class_distributions_.structure, Full)
        new = rng.standard_normal((20, 90))
        new[:, 3], new[:, 4] = 5.0, 2.0 * new[:, 5]
        new[:5, 10:] = np.nan
        for name in ("covariance_", "jitter_", "coef_", "means_", "explained_variance_ratio_"):
            expected = getattr(matrix, name)
            scale = np.abs(expected).max()
            np.testing.assert_allclose(getattr(model, name), expected, rtol=0, atol=1e-8 * scale)
            np.testing.assert_allclose(getattr(merged, name), expected, rtol=0, atol=1e-8 * scale)
        for method in ("decision_function", "score_samples", "transform"):
            found, expected = (getattr(each, method)(new) for each in (model, matrix))
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())

    def test_many_small_classes_have_the_moments_of_each(self, rng):
        """Classes of one row, of equal rows and of several, in one call as one by one."""
        X, y = rng.standard_normal((90, 3)), rng.integers(0, 40, 90)
        X[y == 1] = X[y == 1][:1]
        together = ByClass.of(X, y, of=IncompleteMoments.of)
        for label, part in together:
            assert_same_statistic(part, IncompleteMoments.of(X[y == label]), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(together.moments.scatter[3], together.parts[3].complete.scatter)
        assert "moments" not in vars(pickle.loads(pickle.dumps(together)))

    def test_moments_held_by_rows_are_moments(self, rng):
        X, y = rng.standard_normal((12, 80)) + 3.0, np.repeat([0, 1], 6)
        held = ByClass.of(X, y, of=IncompleteMoments.of)
        part = held.parts[0].complete
        assert part.centred_rows.shape == (6, 80)
        kept = pickle.loads(pickle.dumps(part))
        for found in (part, kept, tractable.statistics.Moments(**tractable.value.parameters(part))):
            assert_same_statistic(found, Moments.of(X[:6]), rtol=1e-12, atol=1e-12)
        assert_same_statistic(part + held.parts[1].complete, Moments.of(X), rtol=1e-12, atol=1e-12)
        assert_same_statistic(part.discount(0.5), Moments.of(X[:6], np.full(6, 0.5)), rtol=1e-12, atol=1e-12)
        with pytest.raises(AttributeError, match="nothing"):
            part.nothing  # noqa: B018

    def test_squares_that_underflow_in_one_of_many_classes_are_named(self, rng):
        y = np.arange(300) % 100
        X = rng.standard_normal((300, 2))
        X[y == 7] *= 1e-160
        with pytest.raises(ValueError, match="squares underflow"):
            LinearDiscriminant().fit(X, y)

    def test_classes_of_one_row(self):
        X, y = np.array([[0.0, 1.0], [5.0, 2.0], [9.0, 9.0]]), ["a", "b", "c"]
        with pytest.warns(DegenerateCovarianceWarning):
            model = LinearDiscriminant().fit(X, y)
        assert model.predict(X).tolist() == y
        assert LinearDiscriminant(estimate="bayes").fit(X, y).predict(X).tolist() == y

    def test_one_class_is_always_right(self, rng):
        X = rng.standard_normal((20, 3))
        model = LinearDiscriminant().fit(X, ["only"] * 20)
        assert set(model.predict(X)) == {"only"}
        assert model.transform(X).shape == (20, 0)


class TestPriors:
    def test_a_promised_class_without_rows_is_impossible(self, classes):
        X, y = classes
        model = LinearDiscriminant().partial_fit(X, y, classes=["a", "b", "c", "z"])
        np.testing.assert_array_equal(model.predict_proba(X)[:, 3], 0.0)
        np.testing.assert_allclose(
            model.predict_proba(X)[:, :3], LinearDiscriminant().fit(X, y).predict_proba(X)
        )
        assert set(model.sample(200, random_state=0)[1]) <= {"a", "b", "c"}

    @pytest.mark.parametrize(
        ("priors", "match"),
        [([0.5, 0.5], "one entry a class"), ([0.5, 0.6, 0.1], "one in sum"), ([1.5, -0.5, 0.0], "negative")],
    )
    def test_bad_priors(self, classes, priors, match):
        with pytest.raises(ValueError, match=f"priors.*{match}"):
            LinearDiscriminant(priors=priors).fit(*classes)


@pytest.mark.spec("CLS-30")
def test_new_rows_are_those_of_the_model(classes):
    X, y = classes
    model = LinearDiscriminant().fit(X, y)
    drawn, labels = model.sample(20_000, random_state=0)
    for k, label in enumerate(model.classes_):
        mine = drawn[labels == label]
        share = len(mine) / len(drawn)
        p = model.class_prior_[k]
        assert abs(share - p) < 5.0 * np.sqrt(p * (1 - p) / len(drawn))
        error = np.sqrt(np.diagonal(model.covariance_) / len(mine))
        assert np.all(np.abs(mine.mean(axis=0) - model.means_[k]) < 5.0 * error)


def test_names_travel_with_the_columns(classes):
    import pandas as pd

    X, y = classes
    frame = pd.DataFrame(X, columns=["p", "q", "r", "s"]).assign(species=y)
    model = LinearDiscriminant().fit(frame, "species")
    assert model.class_distributions_.marginal(["q"]).mean.shape == (3, 1)
    assert list(model.get_feature_names_out()) == ["lineardiscriminant0", "lineardiscriminant1"]
    np.testing.assert_array_equal(model.classes_, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"shrinkage": 1.5}, "shrinkage"),
        ({"shrinkage": "some"}, "shrinkage"),
        ({"estimate": "map"}, "estimate"),
        ({"prior": BELIEF}, "estimate='bayes'"),
        ({"estimate": "bayes", "prior": "flat"}, "prior must be one NormalWishart"),
        ({"estimate": "bayes", "prior": BELIEF}, "prior must be of 4 columns"),
        ({"estimate": "bayes", "shrinkage": 0.5}, "shrinkage"),
        ({"n_components": 3}, "n_components=3 is more than"),
        ({"n_components": 0}, "n_components"),
        ({"ddof": -1.0}, "ddof"),
        ({"ddof": 500.0}, "ddof"),
    ],
)
def test_bad_parameters_are_one_clear_error(classes, options, match):
    with pytest.raises(ValueError, match=match):
        LinearDiscriminant(**options).fit(*classes)


@pytest.mark.spec("W-19", "CLS-07", "CLS-14", "CLS-15", "CLS-16")
def test_two_clusters_of_eight_points():
    """Bishop's convention has class 1 on the positive side, scikit-learn's the second: labels say which."""
    points = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
    X, y = points[[0, 3, 7, 2, 4, 5]], ["second"] * 3 + ["first"] * 3
    model = LinearDiscriminant().fit(X, y)
    np.testing.assert_allclose(model.means_[1], [11 / 3, 9.0])
    np.testing.assert_allclose(model.means_[0], [7.0, 13 / 3])
    np.testing.assert_allclose(model.covariance_, [[10 / 9, -0.5], [-0.5, 4 / 9]])
    np.testing.assert_allclose(model.coef_[0], [3.49367089, 14.43037975], atol=5e-9)
    np.testing.assert_allclose(model.intercept_, [-114.83544304], atol=5e-9)
    planes = discriminant_functions(model)
    np.testing.assert_allclose(planes.signed_distance(points[1]), -2.40422575, atol=5e-9)
    np.testing.assert_allclose(model.predict_proba([[5.0, 6.5]])[0, 1], 0.02739493, atol=5e-9)


def test_rows_in_which_nothing_was_observed_have_a_class(classes):
    X, y = classes
    empty = np.concatenate([X, np.full((5, 4), np.nan)]), np.append(y, ["b"] * 5)
    model, whole = LinearDiscriminant().fit(*empty), LinearDiscriminant().fit(X, y)
    assert model.n_unseen_ == 5.0
    np.testing.assert_array_equal(model.class_count_, whole.class_count_ + np.array([0.0, 5.0, 0.0]))
    np.testing.assert_allclose(model.covariance_, whole.covariance_, rtol=1e-9)
    np.testing.assert_allclose(model.means_, whole.means_, rtol=1e-9)


def test_weights_too_small_to_square_are_named(classes):
    X, y = classes
    with pytest.raises(ValueError, match="sample_weight has values so small"):
        LinearDiscriminant().fit(X, y, sample_weight=np.full(180, 1e-306))
