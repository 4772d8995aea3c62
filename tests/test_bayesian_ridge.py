"""What evidence promises: the right density, one fixed point, monotone EM, and words where noise vanishes."""

from contextlib import nullcontext

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import null_space
from sklearn import linear_model
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning

import tractable
from quick import some
from tractable import ARDRegression, BayesianLinearRegression, BayesianRidge, RidgeCV
from tractable.engines.spectrum import ColumnSpectrum
from tractable.linear_model import NoiseVanishedWarning, hierarchical_predictive, log_evidence
from tractable.linear_model.bayes import evidence

FLAT = {"alpha_1": 0.0, "alpha_2": 0.0, "lambda_1": 0.0, "lambda_2": 0.0}
STRONG = {"alpha_1": 2.0, "alpha_2": 0.5, "lambda_1": 1.0, "lambda_2": 0.3}
CURVE = np.linspace(1.0, 5.0, 15)
DESIGN = np.column_stack([np.ones(15), CURVE])
HOURS, MARKS = np.array([[1.0], [2.0], [3.0], [4.0], [4.5]]), np.array([3.0, 5.0, 7.0, 9.0, 10.0])


@pytest.fixture
def X(rng):
    return rng.standard_normal((60, 4)) * [1.0, 2.0, 0.5, 1.0] + [0.0, 1.0, -3.0, 2.0]


@pytest.fixture
def y(X, rng):
    return 1.0 + X @ [1.0, -0.5, 0.8, 0.0] + 0.6 * rng.standard_normal(60)


@pytest.mark.spec("BLR-16")
@pytest.mark.parametrize("shape", [(30, 4), (4, 9), (1, 1)])
def test_the_evidence_is_the_density_of_the_targets(rng, shape):
    X, alpha, beta = rng.standard_normal(shape) + 1.0, 0.7, 2.3
    y = rng.standard_normal(shape[0])
    covariance = np.eye(shape[0]) / beta + X @ X.T / alpha
    expected = stats.multivariate_normal(np.zeros(shape[0]), covariance).logpdf(y)
    assert log_evidence(X, y, alpha=alpha, beta=beta) == pytest.approx(expected, rel=1e-11)
    # The printed formula.
    n, d = shape
    precision = beta * X.T @ X + alpha * np.eye(d)
    m = beta * np.linalg.solve(precision, X.T @ y)
    printed = (
        0.5 * (n * np.log(beta / (2 * np.pi)) + d * np.log(alpha) - np.linalg.slogdet(precision)[1])
        - 0.5 * beta * np.sum((y - X @ m) ** 2)
        - 0.5 * alpha * m @ m
    )
    assert log_evidence(X, y, alpha=alpha, beta=beta) == pytest.approx(printed, rel=1e-11)
    known = BayesianLinearRegression.from_precisions(
        noise_precision=beta, prior_precision=alpha, fit_intercept=False
    ).fit(X, y)
    assert known.log_evidence_ == pytest.approx(printed, rel=1e-11)


def test_bad_precisions_are_refused(X, y):
    for bad in ({"alpha": 0.0, "beta": 1.0}, {"alpha": 1.0, "beta": np.inf}):
        with pytest.raises(ValueError, match=r"alpha|beta"):
            log_evidence(X, y, **bad)
    with pytest.raises(ValueError, match="X must be rows"):
        log_evidence(y, y, alpha=1.0, beta=1.0)


@pytest.mark.spec("BLR-17", "BLR-18", "BLR-19", "E000-43")
@pytest.mark.parametrize("method", ["mackay", "em"])
def test_the_fixed_point_of_the_course(method):
    model = BayesianRidge(
        method=method, fit_intercept=False, lambda_init=1e-3, tol=1e-9, max_iter=1000, **FLAT
    ).fit(DESIGN, np.exp(CURVE))
    assert model.lambda_ == pytest.approx(6.356956e-4, rel=1e-6)
    assert model.alpha_ == pytest.approx(2.234162e-3, rel=1e-6)
    assert model.gamma_ == pytest.approx(1.874157, abs=1e-6)
    np.testing.assert_allclose(model.coef_, [-46.06997, 28.73600], atol=1e-5)
    assert model.log_evidence_ == pytest.approx(-71.305935, abs=5e-7)
    residual = np.sum((np.exp(CURVE) - model.predict(DESIGN)) ** 2)
    m, S, n = model.coef_, model.sigma_, 15
    # Both pairs of equations hold at the fixed point.
    assert model.lambda_ == pytest.approx(model.gamma_ / (m @ m), rel=1e-6)
    assert 1 / model.alpha_ == pytest.approx(residual / (n - model.gamma_), rel=1e-6)
    assert model.lambda_ == pytest.approx(2 / (m @ m + np.trace(S)), rel=1e-6)
    assert 1 / model.alpha_ == pytest.approx((residual + np.trace(DESIGN @ S @ DESIGN.T)) / n, rel=1e-6)


@pytest.mark.spec("BLR-15")
@pytest.mark.parametrize("intercept", [True, False])
def test_no_other_precisions_have_more_evidence(X, y, intercept):
    model = BayesianRidge(fit_intercept=intercept, tol=1e-10, **FLAT).fit(X, y)

    def at(prior, noise):
        known = BayesianLinearRegression.from_precisions(
            noise_precision=noise, prior_precision=prior, fit_intercept=intercept
        )
        return known.fit(X, y).log_evidence_

    best = at(model.lambda_, model.alpha_)
    assert model.log_evidence_ == pytest.approx(best, rel=1e-12)
    if not intercept:
        direct = log_evidence(X, y, alpha=model.lambda_, beta=model.alpha_)
        assert direct == pytest.approx(best, rel=1e-12)
    for prior, noise in [(1.05, 1.0), (0.95, 1.0), (1.0, 1.05), (1.0, 0.95), (1.1, 1.1), (3.0, 0.5)]:
        assert at(model.lambda_ * prior, model.alpha_ * noise) < best


def unlike_columns(seed):
    """Years of school and an income, in their own units: of one precision for both there are two maxima."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, 3)) * [2.7, 4000.0, 30.0] + [10.7, 6800.0, 29.0]
    y = X @ [4.0, 0.0015, 0.0] + 7.0 * rng.standard_normal(100)
    return X, y


def evidence_on_a_grid(X, y, intercept):
    """The evidence at every ratio of the precisions, with the noise that is best there."""
    centred, targets, n = X - X.mean(axis=0) * intercept, y - y.mean() * intercept, len(y) - intercept
    U, s, _ = np.linalg.svd(centred, full_matrices=False)
    z = U.T @ targets
    rest = max(targets @ targets - z @ z, 0.0)
    for ratio in np.logspace(-9, 9, 73) * np.median(s) ** 2:
        noise = (np.sum(z**2 * ratio / (s**2 + ratio)) + rest) / n
        known = BayesianLinearRegression.from_precisions(
            noise_precision=1.0 / noise, prior_precision=ratio / noise, fit_intercept=intercept
        )
        yield known.fit(X, y).log_evidence_


@pytest.mark.spec("BLR-15")
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", some(range(8), 3))
def test_no_start_on_a_grid_finds_more_evidence(seed, intercept):
    """Columns in units of their own, where a search from one start stopped at a lower maximum."""
    X, y = unlike_columns(seed)
    found = np.array(list(evidence_on_a_grid(X, y, intercept)))
    best = BayesianRidge(fit_intercept=intercept, **FLAT).fit(X, y).log_evidence_
    assert found.max() <= best + 1e-9 * abs(best)
    assert best < found.max() + 1.0  # the grid is near it
    if intercept:
        rises = np.diff(found) > 0.0
        assert np.sum(rises[:-1] & ~rises[1:]) > 1  # there is a lower maximum to stop at
    for start in (1e-6, 1.0, 1e6):
        other = BayesianRidge(fit_intercept=intercept, lambda_init=start, **FLAT).fit(X, y)
        assert other.log_evidence_ <= best + 1e-9 * abs(best)


@pytest.mark.parametrize("name", some(["diabetes", "iris", "old_faithful", "penguins"], 2))
def test_no_start_finds_more_evidence_of_a_real_table(name):
    table = tractable.datasets.load(name).frame.select_dtypes("number").dropna()
    for target in table.columns:
        X, y = table.drop(columns=target).to_numpy(float), table[target].to_numpy(float)
        best = BayesianRidge(**FLAT).fit(X, y).log_evidence_
        assert max(evidence_on_a_grid(X, y, True)) <= best + 1e-9 * abs(best)


@pytest.mark.spec("BLR-18", "E000-43")
@pytest.mark.filterwarnings("ignore::tractable.linear_model.NoiseVanishedWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_em_never_loses_evidence(rng):
    for shape in [(30, 5), (6, 20)]:
        X = rng.standard_normal(shape)
        y = X[:, 0] + rng.standard_normal(shape[0])
        for hyper in (FLAT, {}):
            options = {"method": "em", "compute_score": True, "tol": 1e-5, **hyper}
            for start in ({}, {"lambda_init": 1e4, "alpha_init": 1e-3}):
                model = BayesianRidge(**options, **start).fit(X, y)
                assert np.all(np.diff(model.scores_) >= -1e-10 * np.abs(model.scores_[1:]))
                assert len(model.scores_) == model.n_iter_ + 1


@pytest.mark.spec("BLR-18")
def test_both_methods_end_at_one_point(X, y):
    a, *others = (
        BayesianRidge(method=method, tol=1e-9, max_iter=5000, lambda_init=lambda_init, **FLAT).fit(X, y)
        for method, lambda_init in (("mackay", 1.0), ("em", 1.0), ("mackay", None), ("em", None))
    )
    for b in others:
        assert a.lambda_ == pytest.approx(b.lambda_, rel=1e-6)
        assert a.alpha_ == pytest.approx(b.alpha_, rel=1e-6)
        np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-6, atol=1e-9)


def spread_of(x, weights, centred):
    middle = np.average(x, axis=0, weights=weights) if centred else 0.0
    return np.sqrt(np.mean(np.average((x - middle) ** 2, axis=0, weights=weights)))


@pytest.mark.spec("BLR-18")
def test_both_methods_end_at_one_point_at_the_defaults():
    X, y = load_diabetes(return_X_y=True)
    a, b = (BayesianRidge(method=method).fit(X, y) for method in ("mackay", "em"))
    assert a.score(X, y) == pytest.approx(0.51509, abs=1e-5)
    assert b.score(X, y) == pytest.approx(a.score(X, y), abs=1e-5)
    assert b.lambda_ == pytest.approx(a.lambda_, rel=1e-3)
    assert b.alpha_ == pytest.approx(a.alpha_, rel=1e-3)
    # A plateau of the evidence is no place to stop.
    far = BayesianRidge(method="em", lambda_init=1.0, tol=1e-5, max_iter=10_000).fit(X, y)
    assert far.lambda_ == pytest.approx(a.lambda_, rel=1e-2)


@pytest.mark.parametrize("hyper", [{}, FLAT, STRONG])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("method", ["mackay", "em"])
def test_units_do_not_matter(X, y, method, intercept, hyper):
    def fitted(X, y, **hyper):
        return BayesianRidge(method=method, fit_intercept=intercept, compute_score=True, **hyper).fit(X, y)

    plain = fitted(X, y, **hyper)
    for c in (1e-3, 1e5, 1e-70, 1e90):
        taller, wider = fitted(X, c * y, **hyper), fitted(c * X, y, **hyper)
        np.testing.assert_allclose(taller.predict(X), c * plain.predict(X), rtol=1e-6)
        np.testing.assert_allclose(wider.predict(c * X), plain.predict(X), rtol=1e-6)
        np.testing.assert_allclose(taller.predict_var(X), c**2 * plain.predict_var(X), rtol=1e-6)
        np.testing.assert_allclose(
            [taller.alpha_ * c**2, wider.alpha_, taller.lambda_ * c**2, wider.lambda_ / c**2],
            [plain.alpha_, plain.alpha_, plain.lambda_, plain.lambda_],
            rtol=1e-6,
        )
        assert taller.n_iter_ == wider.n_iter_ == plain.n_iter_
        assert taller.log_evidence_ == pytest.approx(
            plain.log_evidence_ - (60 - intercept) * np.log(c), rel=1e-9
        )
        assert wider.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-9)
        np.testing.assert_allclose(taller.scores_, plain.scores_ - (60 - intercept) * np.log(c), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::tractable.linear_model.NoiseVanishedWarning")
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", [(60, 4), (5, 12)])
def test_scikit_learn_agrees(rng, shape, intercept):
    X = rng.standard_normal(shape) + 1.0
    y = X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(shape[0])
    options = {"compute_score": True, "alpha_init": 1.0, "lambda_init": 1.0}
    for given in (None, rng.integers(1, 4, shape[0])):
        # Scikit-learn's λ = 1 and its tolerance are of standardised data; elsewhere they are in their units.
        X, y = X / spread_of(X, given, intercept), y / spread_of(y, given, centred=True)
        counts = np.ones(shape[0], dtype=int) if given is None else given
        theirs, n = linear_model.BayesianRidge(fit_intercept=False, **options), counts.sum()
        if intercept:
            # The intercept integrated out is N - 1 orthonormal contrasts of the rows; scikit-learn counts N.
            contrasts = null_space(np.ones((1, n))).T
            theirs.fit(contrasts @ np.repeat(X, counts, axis=0), contrasts @ np.repeat(y, counts))
        else:
            theirs.fit(X, y, sample_weight=given)
        mine = BayesianRidge(fit_intercept=intercept, **options).fit(X, y, sample_weight=given)
        for name in ("coef_", "alpha_", "lambda_", "sigma_", "n_iter_"):
            np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), rtol=1e-6, atol=1e-9)
        level = 0.5 * np.log(n) if intercept else 0.0
        np.testing.assert_allclose(mine.scores_[:-1], theirs.scores_[:-1] - level, rtol=1e-7)
        middle = np.average(X, axis=0, weights=counts) if intercept else 0.0
        offset = np.average(y, weights=counts) if intercept else 0.0
        mean, spread = theirs.predict(X - middle, return_std=True)
        level = 1 / (n * mine.alpha_) if intercept else 0.0
        np.testing.assert_allclose(mine.predict(X), offset + mean, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(mine.predict_dist(X).scale ** 2, spread**2 + level, rtol=1e-6)


@pytest.mark.spec("BLR-19", "BLR-20", "E000-44")
def test_what_the_rows_decide_and_what_the_prior(rng):
    d, gammas = 6, []
    w = rng.standard_normal(d)
    for n in (3, 12, 60, 600, 6000):
        X = rng.standard_normal((n, d)) * [3.0, 2.0, 1.0, 0.3, 0.1, 0.03]
        y = X @ w + 0.5 * rng.standard_normal(n)
        model = BayesianRidge(alpha_init=4.0, lambda_init=1.0, max_iter=1, fit_intercept=False)
        with pytest.warns(ConvergenceWarning):
            model.fit(X, y)
        assert 0.0 <= model.gamma_ <= d
        assert model.gamma_ == pytest.approx(model.shrinkage_factors_.sum(), rel=1e-12)
        hat = model.equivalent_kernel(X, X)
        assert model.gamma_ == pytest.approx(np.trace(hat), rel=1e-9)
        # λ + prior are eigenvalues of the posterior PRECISION, which grows with the rows.
        eigenvalues = np.linalg.eigvalsh(model.alpha_ * X.T @ X)[::-1]
        np.testing.assert_allclose(
            np.linalg.eigvalsh(model.sigma_), 1 / (eigenvalues + model.lambda_), rtol=1e-7
        )
        share = eigenvalues / (eigenvalues + model.lambda_)
        np.testing.assert_allclose(
            model.shrinkage_factors_, share[: len(model.shrinkage_factors_)], rtol=1e-8, atol=1e-14
        )
        gammas.append(model.gamma_)
    assert gammas == sorted(gammas)
    assert gammas[-1] > d - 0.2


@pytest.mark.spec("BLR-23", "W-08")
@pytest.mark.parametrize("method", ["mackay", "em"])
def test_exactly_linear_targets_are_said_to_be_so(method):
    ones = np.column_stack([HOURS, np.ones(5)])
    with pytest.warns(NoiseVanishedWarning, match="vanished"):
        model = BayesianRidge(method=method, fit_intercept=False, **FLAT).fit(ones, MARKS)
    assert model.noise_vanished_
    assert model.lambda_ == pytest.approx(0.4, rel=1e-6)
    np.testing.assert_allclose(model.coef_, [2.0, 1.0], rtol=1e-9)
    with pytest.warns(NoiseVanishedWarning, match="alpha_2"):
        drop_in = BayesianRidge(method=method).fit(HOURS, MARKS)
    for found in (model, drop_in):
        numbers = [found.alpha_, found.lambda_, found.gamma_, found.log_evidence_, found.noise_variance_]
        assert np.all(np.isfinite(numbers))
        assert np.all(np.isfinite(found.predict_interval(ones[:, : found.n_features_in_])))


@pytest.mark.spec("BLR-23")
@pytest.mark.parametrize("model", [BayesianRidge(), BayesianRidge(method="em"), ARDRegression()])
@pytest.mark.parametrize("hyper", [{}, FLAT])
def test_few_rows_that_leave_no_noise_are_said_to(rng, X, y, model, hyper):
    """Targets that some coefficients give exactly: with no noise they are likelier than with any."""
    model = clone(model).set_params(tol=1e-6, max_iter=10_000, **hyper)
    if isinstance(model, ARDRegression):
        wide, targets = X[:3], y[:3]
    else:  # of columns of one size any noise would look alike
        wide = rng.standard_normal((20, 40)) * 0.7 ** np.arange(40)
        targets = wide @ rng.standard_normal(40)
    with pytest.warns(NoiseVanishedWarning, match="vanished"):
        model.fit(wide, targets)
    assert model.noise_vanished_
    np.testing.assert_allclose(model.predict(wide), targets, atol=1e-2)
    assert np.isfinite(model.log_evidence_)
    # Noise that is there is not lost, in small units too, where a prior of the noise outweighs it.
    for c in (1.0, 1e-4):
        assert not clone(model).fit(X, c * y).noise_vanished_


def test_constant_targets_and_columns_are_answered(X):
    for hyper in (FLAT, {}):
        for rows, targets in [(X, np.full(60, 3.0)), (np.ones((60, 2)), X[:, 0]), (X, np.zeros(60))]:
            with pytest.warns(NoiseVanishedWarning) if not np.ptp(targets) else nullcontext():
                model = BayesianRidge(**hyper).fit(rows, targets)
            assert np.all(np.isfinite([model.alpha_, model.lambda_, model.gamma_, model.log_evidence_]))
            np.testing.assert_allclose(model.predict(rows), targets.mean(), atol=1e-6)


@pytest.mark.spec("BLR-21")
def test_evidence_and_cross_validation_choose_alike(rng):
    """Both penalties predict about as well as the best of all."""
    X, new = rng.standard_normal((80, 20)), rng.standard_normal((4000, 20))
    w = rng.standard_normal(20)
    y, truth = X @ w + 3.0 * rng.standard_normal(80), new @ w
    grid = np.logspace(-2, 3, 40)
    errors = [np.mean((RidgeCV([a]).fit(X, y).predict(new) - truth) ** 2) for a in grid]
    by_rows = RidgeCV(grid).fit(X, y)
    by_evidence = BayesianRidge().fit(X, y)
    for model in (by_rows, by_evidence):
        assert np.mean((model.predict(new) - truth) ** 2) < 1.5 * min(errors)
    assert abs(np.log10(by_evidence.lambda_ / by_evidence.alpha_) - np.log10(by_rows.alpha_)) < 1.0
    # Each is the best by its own criterion: leave-one-out errors, and the evidence of the same priors.
    assert by_rows.cv_curve_.scores.min() == by_rows.cv_curve_.scores[list(grid).index(by_rows.alpha_)]
    found = [
        BayesianLinearRegression(
            prior_precision=a * by_evidence.alpha_, noise_variance=1.0 / by_evidence.alpha_
        )
        .fit(X, y)
        .log_evidence_
        for a in grid
    ]
    assert abs(np.log10(grid[np.argmax(found)] * by_evidence.alpha_ / by_evidence.lambda_)) < 0.2
    assert by_evidence.log_evidence_ >= max(found) - 1e-6


def test_the_hierarchical_predictive_is_the_average_over_the_grid(rng):
    for shape in [(12, 3), (4, 6)]:
        X, new = rng.standard_normal(shape), rng.standard_normal((2, shape[1]))
        y = X[:, 0] + 0.3 * rng.standard_normal(shape[0])
        alphas, betas, at = [0.5, 2.0], [1.0, 4.0, 9.0], np.array([0.3, -1.0])
        total, density = 0.0, np.zeros(2)
        for alpha in alphas:
            for beta in betas:
                weight = np.exp(log_evidence(X, y, alpha=alpha, beta=beta))
                known = BayesianLinearRegression.from_precisions(
                    noise_precision=beta, prior_precision=alpha, fit_intercept=False
                ).fit(X, y)
                total += weight
                density += weight * known.predict_dist(new).prob(at)
        found = hierarchical_predictive(X, y, new, alphas=alphas, betas=betas)
        np.testing.assert_allclose(found.prob(at), density / total, rtol=1e-9)


def at_the_peak(model, new):
    """The predictive distribution with the likeliest precisions, as if they were known."""
    known = BayesianLinearRegression.from_precisions(
        noise_precision=model.alpha_, prior_precision=model.lambda_, fit_intercept=False
    )
    known.from_statistic(model.statistic_)
    return known.predict_dist(new)


@pytest.mark.spec("BLR-14", "BLR-15")
def test_the_peak_stands_for_the_integral_over_the_precisions(rng):
    """With many rows one pair of precisions is as good as all; with few it is too sure of itself."""
    X = rng.standard_normal((150, 3))
    y = X @ [1.0, -1.0, 0.5] + 0.5 * rng.standard_normal(150)
    new = np.array([[0.5, 1.0, -1.0], [3.0, 3.0, 3.0]])
    alphas = np.logspace(-2, 2, 41)
    gaps = []
    for n in (8, 150):
        model = BayesianRidge(fit_intercept=False, tol=1e-8, **FLAT).fit(X[:n], y[:n])
        betas = model.alpha_ * np.exp(np.linspace(-4, 3, 71))
        full, peak = (
            hierarchical_predictive(X[:n], y[:n], new, alphas=alphas, betas=betas),
            at_the_peak(model, new),
        )
        at = peak.mean[:, None] + peak.stddev[:, None] * np.linspace(-3, 3, 13)
        apart = [np.abs(full.prob(x) - peak.prob(x)) * peak.stddev for x in at.T]
        gaps.append(np.max(apart))
        far = peak.mean + 5 * peak.stddev
        assert np.all(full.prob(far) > peak.prob(far))  # heavier tails
    assert gaps[1] < 0.01
    assert gaps[0] > 3 * gaps[1]


def test_bad_grids_are_refused(X, y):
    for name, given in [
        ("alphas", {"alphas": [0.0], "betas": [1.0]}),
        ("betas", {"alphas": [1.0], "betas": []}),
    ]:
        with pytest.raises(ValueError, match=name):
            hierarchical_predictive(X, y, X, **given)
    with pytest.raises(ValueError, match="X_new"):
        hierarchical_predictive(X, y, X[:, :2], alphas=[1.0], betas=[1.0])
    with pytest.raises(ValueError, match="y a vector"):
        hierarchical_predictive(X, X, X, alphas=[1.0], betas=[1.0])


@pytest.mark.parametrize("method", ["mackay", "em"])
def test_an_interruption_keeps_the_best_so_far(X, y, method, monkeypatch):
    calls = iter(range(100))
    posterior = evidence.evidence_at

    def interrupted(*args):
        if next(calls) == 5:
            raise KeyboardInterrupt
        return posterior(*args)

    monkeypatch.setattr(evidence, "evidence_at", interrupted)
    model = BayesianRidge(method=method, tol=1e-9, lambda_init=1e-3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert not model.converged_


def test_a_search_that_is_cut_short_says_so(X, y):
    for method in ("mackay", "em"):
        with pytest.warns(ConvergenceWarning, match="max_iter=2"):
            model = BayesianRidge(method=method, max_iter=2, tol=1e-12, lambda_init=1e-3).fit(X, y)
        assert not model.converged_
        assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"max_iter": 0}, "max_iter"),
        ({"max_iter": 2.5}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"tol": "small"}, "tol"),
        ({"alpha_1": -1.0}, "alpha_1"),
        ({"lambda_2": np.nan}, "lambda_2"),
        ({"alpha_init": 0.0}, "alpha_init"),
        ({"lambda_init": -1.0}, "lambda_init"),
        ({"method": "newton"}, "method"),
    ],
)
def test_bad_parameters_are_one_clear_error(X, y, options, named):
    with pytest.raises(ValueError, match=named):
        BayesianRidge(**options).fit(X, y)


@pytest.mark.parametrize("noise", [0.01, 1.0])
def test_many_columns_are_decomposed_by_their_products(noise, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 80)) + 5.0
    y = X[:, 0] - 2.0 * X[:, 1] + noise * rng.standard_normal(150)
    assert ColumnSpectrum.from_products(X[:, :60], X[:, 60:61]) is None  # few columns
    assert ColumnSpectrum.from_products(np.hstack([X, X[:, :1]]), X[:, :1]) is None  # dependent ones
    found = tractable.BayesianRidge().fit(X, y)
    monkeypatch.setattr(ColumnSpectrum, "from_products", lambda *_: None)
    plain = tractable.BayesianRidge().fit(X, y)
    for name in ("coef_", "alpha_", "lambda_", "gamma_", "log_evidence_", "shrinkage_factors_", "sigma_"):
        np.testing.assert_allclose(getattr(found, name), getattr(plain, name), rtol=1e-9, atol=1e-12)


def test_a_model_of_one_row_lists_its_attributes():
    """`dir` reads every property: one that cannot be computed raises an error of attributes."""
    with pytest.warns(NoiseVanishedWarning):
        found = BayesianRidge().fit([[1.0, 2.0]], [3.0])
    assert "coef_" in dir(found)
    assert not hasattr(found, "posterior_")
    with pytest.raises(ValueError, match="singular"):
        _ = found.posterior_
