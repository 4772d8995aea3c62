"""Intervals of neighbours and of classifiers have their nominal coverage, on data from their own assumptions.

A simulated coverage is compared with the claim by the standard error of its binomial count, √(c (1 - c) / n).
"""

import warnings
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.base import is_classifier

from catalogue import ESTIMATORS
from quick import some
from tractable import BayesianLogisticRegression, KNeighborsRegressor, LogisticRegression

#: Standard errors by which a simulated coverage may be off.
MOST_ERRORS = 4.0
COVERAGES = (0.5, 0.9, 0.99)


def within(held, coverage):
    """Fail where the part of intervals that held is not the coverage, up to its standard error."""
    found, error = np.mean(held), np.sqrt(coverage * (1.0 - coverage) / np.size(held))
    assert abs(found - coverage) <= MOST_ERRORS * error, (found, coverage, error)


def test_every_classifier_with_intervals_is_judged_here():
    offering = {
        type(row.make()).__name__
        for row in ESTIMATORS
        if is_classifier(row.make())
        and any(hasattr(row.make(), name) for name in ("predict_interval", "coef_interval", "proba_interval"))
    }
    assert offering == {"LogisticRegression", "BayesianLogisticRegression"}


class TestNeighbours:
    """The targets of K neighbours and the new one are exchangeable."""

    DRAWS: ClassVar = {
        "normal": lambda rng, shape: rng.standard_normal(shape),
        "exponential": lambda rng, shape: rng.exponential(size=shape),
        "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    }

    @pytest.mark.parametrize("draw", DRAWS)
    @pytest.mark.parametrize(("coverage", "K"), [(0.5, 3), (0.5, 7), (0.9, 19), (0.9, 39), (0.99, 199)])
    def test_intervals_of_new_targets(self, draw, coverage, K, rng):
        """At a K for which ranks are whole numbers, exactly."""
        trials = 4000 if K < 100 else 1500
        y = self.DRAWS[draw](rng, (K + 1, trials))
        model = KNeighborsRegressor(K).fit(np.zeros((K, 1)), y[:K])
        low, high = model.predict_interval([[0.0]], coverage)[0].T
        within((low <= y[K]) & (y[K] <= high), coverage)

    @pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
    @pytest.mark.parametrize(
        ("coverage", "K", "exact"), [(0.5, 5, 4 / 6), (0.9, 25, 24 / 26), (0.8, 12, 11 / 13)]
    )
    def test_at_least_where_no_rank_is_exact(self, coverage, K, exact, weights, rng):
        y = rng.standard_normal((K + 1, 4000))
        model = KNeighborsRegressor(K, weights=weights).fit(1.0 + np.arange(K)[:, None], y[:K])
        low, high = model.predict_interval([[0.0]], coverage)[0].T
        assert exact >= coverage
        within((low <= y[K]) & (y[K] <= high), exact)

    @pytest.mark.parametrize(
        ("n", "coverage", "K"), [(12, 0.5, 3), (12, 0.5, 11), (60, 0.9, 19), (60, 0.9, 59)]
    )
    def test_few_rows_of_several_columns(self, n, coverage, K, rng):
        """Targets that hardly change among neighbours: here, that do not depend on the four columns."""
        X, new = rng.standard_normal((n, 4)), rng.standard_normal((1, 4))
        y = rng.standard_normal((n + 1, 4000))
        low, high = KNeighborsRegressor(K).fit(X, y[:n]).predict_interval(new, coverage)[0].T
        ranks = np.floor((K + 1) * (1.0 - coverage) / 2.0 + 1e-9)
        within((low <= y[n]) & (y[n] <= high), 1.0 - 2.0 * ranks / (K + 1))

    @pytest.mark.parametrize("coverage", COVERAGES)
    @pytest.mark.parametrize("K", [2, 5, 12])
    def test_intervals_of_the_mean(self, coverage, K, rng):
        y = rng.standard_normal((K, 4000))
        model = KNeighborsRegressor(K).fit(np.zeros((K, 1)), y)
        low, high = model.predict_interval([[0.0]], coverage, include_noise=False)[0].T
        within((low <= 0.0) & (high >= 0.0), coverage)

    def test_rows_that_count_several_times(self, rng):
        X, y, times = rng.standard_normal((30, 2)), rng.standard_normal(30), rng.integers(0, 4, 30)
        at = rng.standard_normal((5, 2))
        weighted = KNeighborsRegressor(20).fit(X, y, times)
        repeated = KNeighborsRegressor(20).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        for noise in (True, False):
            expected = repeated.predict_interval(at, 0.9, include_noise=noise)
            found = weighted.predict_interval(at, 0.9, include_noise=noise)
            np.testing.assert_allclose(found, expected, rtol=1e-12)

    def test_what_K_neighbours_cannot_cover_is_refused(self, rng):
        X, y = rng.standard_normal((300, 1)), rng.standard_normal(300)
        for coverage, least in ((0.5, 3), (0.9, 19), (0.99, 199)):
            enough = KNeighborsRegressor(least).fit(X, y)
            assert enough.predict_interval(X, coverage).shape == (300, 2)
            np.testing.assert_allclose(enough.max_coverage_, coverage)
            few = KNeighborsRegressor(least - 1).fit(X, y)
            with pytest.raises(
                ValueError, match=rf"coverage = {coverage} needs n_neighbors of at least {least}:"
            ):
                few.predict_interval(X, coverage)
            with pytest.raises(ValueError, match=f"alpha = .* needs n_neighbors of at least {least}:"):
                few.predict_quantiles(X, [0.5 * (1.0 - coverage)])
        one = KNeighborsRegressor(1).fit(X, y)
        for noise in (True, False):
            with pytest.raises(ValueError, match="needs n_neighbors of at least"):
                one.predict_interval(X, 0.01, include_noise=noise)

    def test_quantiles(self):
        model = KNeighborsRegressor(4).fit(np.zeros((4, 1)), [4.0, 1.0, 2.0, 8.0])
        found = model.predict_quantiles([[0.0]], [0.2, 0.39, 0.4, 0.5, 0.6, 0.61, 0.8])
        assert found.tolist() == [[1.0, 1.0, 2.0, 3.0, 4.0, 8.0, 8.0]]


def draw(rng, n, coef, intercept=0.0, link="logit"):
    """Rows and their classes by the model; again where one class has no row."""
    while True:
        X = rng.standard_normal((n, len(coef)))
        eta = intercept + X @ coef
        p = ndtr(eta) if link == "probit" else 1.0 / (1.0 + np.exp(-eta))
        y = (rng.random(n) < p).astype(int)
        if 0 < y.sum() < n:
            return X, y


class TestLogisticRegression:
    """Rows from the model; with a penalty, coefficients from the prior N(0, C) that it stands for."""

    @staticmethod
    def simulate(make, rng, *, n, d, trials, intercept=0.0, prior=False, link="logit"):
        """Return which intervals of coefficients held the coefficients that rows were drawn with."""
        held = {coverage: [] for coverage in COVERAGES}
        for _ in range(trials):
            coef = rng.standard_normal(d) if prior else np.linspace(0.8, -0.4, d)
            X, y = draw(rng, n, coef, intercept, link)
            model = make().fit(X, y)
            for coverage in COVERAGES:
                low, high = model.coef_interval(coverage)[0].T
                held[coverage].append((low <= coef) & (coef <= high))
        return held

    CASES: ClassVar = {
        "plain": (lambda: LogisticRegression(np.inf), {"n": 120, "d": 2}),
        "fewest rows": (lambda: LogisticRegression(np.inf), {"n": 60, "d": 4}),
        "unequal": (lambda: LogisticRegression(np.inf), {"n": 300, "d": 2, "intercept": -2.0}),
        "balanced": (
            lambda: LogisticRegression(np.inf, class_weight="balanced"),
            {"n": 300, "d": 2, "intercept": -2.0},
        ),
        "weighted": (
            lambda: LogisticRegression(np.inf, class_weight={0: 0.2, 1: 3.0}),
            {"n": 120, "d": 2},
        ),
        "probit": (
            lambda: LogisticRegression(np.inf, link="probit"),
            {"n": 200, "d": 2, "link": "probit"},
        ),
        "probit, penalty": (
            lambda: LogisticRegression(1.0, link="probit"),
            {"n": 12, "d": 4, "prior": True, "link": "probit"},
        ),
        "bayes, probit": (
            lambda: BayesianLogisticRegression(alpha=1.0, link="probit"),
            {"n": 12, "d": 4, "prior": True, "link": "probit"},
        ),
        "penalty": (lambda: LogisticRegression(1.0), {"n": 12, "d": 4, "prior": True}),
        "bayes": (lambda: BayesianLogisticRegression(alpha=1.0), {"n": 12, "d": 4, "prior": True}),
        "bayes, more rows": (
            lambda: BayesianLogisticRegression(alpha=1.0),
            {"n": 100, "d": 2, "prior": True},
        ),
    }

    @pytest.mark.parametrize("case", some(CASES))
    def test_intervals_of_coefficients(self, case, rng):
        make, options = self.CASES[case]
        for coverage, held in self.simulate(make, rng, trials=200, **options).items():
            within(held, coverage)

    @pytest.mark.parametrize(("C", "n"), some([(1.0, 12), (np.inf, 150)], several=True))
    def test_intervals_of_probabilities(self, C, n, rng):
        held = {coverage: [] for coverage in COVERAGES}
        for _ in range(200):
            coef = rng.standard_normal(2) if np.isfinite(C) else np.array([0.8, -0.4])
            X, y = draw(rng, n, coef)
            at = rng.standard_normal(2)
            p = 1.0 / (1.0 + np.exp(-at @ coef))
            model = LogisticRegression(C).fit(X, y)
            for coverage in COVERAGES:
                low, high = model.proba_interval(at[None, :], coverage)[0, 1]
                held[coverage].append(low <= p <= high)
        for coverage, each in held.items():
            within(each, coverage)

    def test_constant_class_weights_change_no_standard_error(self, rng):
        X, y = draw(rng, 80, np.array([0.8, -0.4]))
        for link in ("logit", "probit"):
            plain = LogisticRegression(np.inf, link=link).fit(X, y)
            for factor in (0.01, 100.0):
                model = LogisticRegression(np.inf, link=link, class_weight={0: factor, 1: factor}).fit(X, y)
                np.testing.assert_allclose(model.coef_std_errors_, plain.coef_std_errors_, rtol=1e-5)
                np.testing.assert_allclose(model.intercept_std_error_, plain.intercept_std_error_, rtol=1e-5)
        penalised = LogisticRegression(5.0).fit(X, y)
        model = LogisticRegression(0.05, class_weight={0: 100.0, 1: 100.0}).fit(X, y)
        np.testing.assert_allclose(model.parameter_covariance_, penalised.parameter_covariance_, rtol=1e-5)

    @pytest.mark.slow
    def test_sandwich_of_three_classes(self, rng):
        """Standard errors with class weights are the spread of fits to fresh rows."""
        true = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
        fits, errors = [], []
        for _ in range(150):
            X = rng.standard_normal((200, 2))
            y = (X @ true.T + [1.5, 0.0, -0.5] + rng.gumbel(size=(200, 3))).argmax(axis=1)
            model = LogisticRegression(np.inf, class_weight="balanced").fit(X, y)
            fits.append(model.coef_)
            errors.append(model.coef_std_errors_)
        ratio = np.mean(errors, axis=0) / np.std(fits, axis=0)
        assert np.all(np.abs(ratio - 1.0) < MOST_ERRORS / np.sqrt(2.0 * 150)), ratio

    def test_few_rows_without_a_penalty_are_refused(self, rng):
        """Of 12 rows and 4 columns Wald's intervals cover 0.98 of 0.9, where there is an estimate at all."""
        for _ in range(20):
            X, y = draw(rng, 12, np.linspace(0.8, -0.4, 4))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of classes that hyperplanes separate
                model = LogisticRegression(np.inf).fit(X, y)
            for ask in (model.coef_interval, model.intercept_interval, partial(model.proba_interval, X)):
                with pytest.raises(ValueError, match=r"separate|too few rows"):
                    ask()
            assert LogisticRegression(1.0).fit(X, y).coef_interval().shape == (1, 4, 2)
        weights = np.full(12, 10.0)  # as many rows of each: enough
        X, y = rng.standard_normal((12, 1)), np.arange(12) % 2
        assert LogisticRegression(np.inf).fit(X, y, weights).coef_interval().shape == (1, 1, 2)

    def test_what_would_not_cover_is_not_offered(self, rng):
        X, y = draw(rng, 60, np.array([0.8, -0.4]))
        for model in (LogisticRegression(1.0), LogisticRegression(0.5, l1_ratio=1.0)):
            model.fit(X, y)
            for name in ("z_values_", "p_values_"):
                with pytest.raises(AttributeError, match="C is"):
                    getattr(model, name)
        for ask in (model.coef_interval, model.intercept_interval, lambda: model.proba_interval(X)):
            with pytest.raises(ValueError, match="l1_ratio"):
                ask()
        with pytest.raises(ValueError, match="class_weight"):
            LogisticRegression(class_weight="balanced").fit(X, y).proba_interval(X)
        for weights in ("balanced", {0: 0.2, 1: 3.0}):
            both = LogisticRegression(1.0, class_weight=weights).fit(X, y)
            for ask in (both.coef_interval, both.intercept_interval):
                with pytest.raises(ValueError, match="class_weight beside a penalty"):
                    ask()
        same = LogisticRegression(1.0, class_weight={0: 3.0, 1: 3.0}).fit(X, y)
        np.testing.assert_allclose(
            same.coef_interval(), LogisticRegression(3.0).fit(X, y).coef_interval(), rtol=1e-5
        )
        with pytest.warns(UserWarning, match="separate"):
            separable = LogisticRegression(np.inf).fit(X, X[:, 0] > 0.0)
        with pytest.raises(ValueError, match="separate"):
            separable.coef_interval()
        with pytest.raises(ValueError, match='alpha="evidence"'):
            BayesianLogisticRegression().fit(X, y).coef_interval()
