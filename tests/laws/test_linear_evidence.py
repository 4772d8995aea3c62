"""Laws of the evidence of linear models: one meaning for all, and precisions that no others exceed."""

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import null_space

from quick import some
from tractable import ARDRegression, BayesianLinearRegression, BayesianRidge

FLAT = {"alpha_1": 0.0, "alpha_2": 0.0, "lambda_1": 0.0, "lambda_2": 0.0}
STRONG = {"alpha_1": 2.0, "alpha_2": 0.5, "lambda_1": 1.0, "lambda_2": 0.3}


def unscaled_table(rng, n=100):
    """Years of school, income and percentages: a useful column in small numbers beside wide ones."""
    school = rng.normal(11.0, 2.7, n)
    income = np.exp(rng.normal(8.6, 0.5, n) + 0.1 * (school - 11.0))
    women, code = 100.0 * rng.beta(0.5, 0.9, n), rng.uniform(1000.0, 9500.0, n)
    score = -7.0 + 4.2 * school + 1.2e-3 * income + rng.normal(0.0, 7.8, n)
    return np.column_stack([school, income, women, code]), score


def random_tables(rng, count, least_rows):
    """Tables of columns of very unlike units and of any signal; of 6 rows some are too few for 8 columns."""
    for _ in range(count):
        n, d = int(rng.integers(least_rows, 120)), int(rng.integers(1, 9))
        X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) * 10.0 ** rng.uniform(-3, 4, d)
        w = rng.standard_normal(d) / X.std(axis=0) * (rng.random(d) < 0.6)
        yield X + 10.0 * rng.standard_normal(d), X @ w + rng.lognormal(0.0, 2.0) * rng.standard_normal(n)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(
    "model",
    [BayesianRidge(), BayesianRidge(method="em"), BayesianRidge(standardize=True), ARDRegression()],
    ids=str,
)
def test_models_of_one_posterior_have_one_evidence(rng, model, weighted, intercept):
    for X, y in [unscaled_table(rng), *random_tables(rng, 5, least_rows=15)]:
        weights = rng.integers(1, 4, len(y)) if weighted else None
        model.set_params(fit_intercept=intercept).fit(X, y, sample_weight=weights)
        precision = np.broadcast_to(model.lambda_, X.shape[1])
        kept = np.isfinite(precision)
        if isinstance(model, ARDRegression):
            kept = ~model.pruned_
        elif model.standardize:
            centre = np.average(X, axis=0, weights=weights) if intercept else 0.0
            precision = precision * np.average((X - centre) ** 2, axis=0, weights=weights)
        known = BayesianLinearRegression.from_precisions(
            noise_precision=model.alpha_, prior_precision=precision[kept], fit_intercept=intercept
        )
        known.fit(X[:, kept], y, sample_weight=weights)
        np.testing.assert_allclose(model.coef_[kept], known.coef_, rtol=1e-6, atol=1e-9 * np.ptp(y))
        assert model.log_evidence_ == pytest.approx(known.log_evidence_, rel=1e-9)


@pytest.mark.parametrize("estimate", [BayesianRidge(), ARDRegression()], ids=str)
def test_the_intercept_is_integrated_out(rng, estimate):
    """p(y) under a flat prior of density one: that of N - 1 orthonormal contrasts, over √N."""
    X = rng.standard_normal((12, 2))
    y = 5.0 + X @ [1.0, -2.0] + rng.standard_normal(12)
    model = estimate.fit(X, y)
    contrasts = null_space(np.ones((1, 12))).T
    rows, precision = contrasts @ X, np.broadcast_to(model.lambda_, 2)
    covariance = np.eye(11) / model.alpha_ + rows / precision @ rows.T
    wanted = stats.multivariate_normal(np.zeros(11), covariance).logpdf(contrasts @ y) - 0.5 * np.log(12)
    assert model.log_evidence_ == pytest.approx(wanted, rel=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::tractable.linear_model.NoiseVanishedWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("hyper", some([{}, FLAT, STRONG]), ids=["default", "flat", "strong"])
@pytest.mark.parametrize("intercept", some([True, False]))
def test_no_start_finds_a_higher_evidence(rng, hyper, intercept):
    """Neither a search from a start on a grid, nor a pair of precisions of the grid."""
    for X, y in [unscaled_table(rng), *random_tables(rng, 12, least_rows=6)]:
        options = {"fit_intercept": intercept, "compute_score": True, "tol": 1e-6, **hyper}
        best = BayesianRidge(**options).fit(X, y)
        ratio, noise = best.lambda_ / best.alpha_, best.alpha_
        for log_ratio in np.linspace(-9.0, 9.0, 7):
            start = {"lambda_init": 10.0**log_ratio * ratio * noise, "alpha_init": noise}
            for method in ("mackay", "em"):
                other = BayesianRidge(method=method, **options, **start, max_iter=100).fit(X, y)
                assert np.max(other.scores_) <= best.scores_[-1] + 1e-7 * abs(best.scores_[-1])


@pytest.mark.parametrize("method", ["mackay", "em"])
def test_a_wide_column_does_not_hide_a_useful_one(method):
    """From λ = Var(x) / Var(y) the search ends where only the wide columns are used."""
    rng = np.random.default_rng(0)
    X, y = unscaled_table(rng)
    found = BayesianRidge(method=method).fit(X, y)
    least_squares = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(found.coef_[0], least_squares[0], rtol=0.05)
    old = BayesianRidge(method=method, lambda_init=float(np.mean(X.var(axis=0)) / y.var())).fit(X, y)
    assert old.log_evidence_ < found.log_evidence_ - 10.0
    assert old.score(X, y) < found.score(X, y) - 0.2


def test_the_unit_of_one_column_matters_unless_columns_are_standardized(rng):
    X, y = unscaled_table(rng)
    for standardize in (False, True):
        a, b = (
            BayesianRidge(standardize=standardize).fit(X * [unit, 1.0, 1.0, 1.0], y) for unit in (1.0, 1e-4)
        )
        same = np.allclose(a.predict(X), b.predict(X * [1e-4, 1.0, 1.0, 1.0]), rtol=1e-8)
        assert same == standardize
        assert (abs(a.log_evidence_ - b.log_evidence_) < 1e-8 * abs(a.log_evidence_)) == standardize


def test_precisions_of_unlike_sizes_are_not_flat(rng):
    """The unit of a column changes neither the evidence nor the predictions of the prior that follows it."""
    X, units = rng.standard_normal((20, 3)), np.array([1e-9, 1.0, 1e9])
    y = X @ [1.0, 2.0, -1.0] + rng.standard_normal(20)
    for precision in (np.diag([1.0, 2.0, 3.0]), np.diag([0.0, 2.0, 3.0])):
        plain = BayesianLinearRegression(prior_precision=precision).fit(X, y)
        scaled = BayesianLinearRegression(prior_precision=precision * units * units[:, None])
        scaled.fit(X * units, y)
        np.testing.assert_allclose(scaled.predict(X * units), plain.predict(X), rtol=1e-9)
        # A flat direction has density one in the units of its own coefficient.
        flat = np.log(units[np.diag(precision) == 0.0]).sum()
        assert scaled.log_evidence_ == pytest.approx(plain.log_evidence_ - flat, rel=1e-9)
