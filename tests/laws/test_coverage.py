"""Intervals of regressors have their nominal coverage, on data from the model's own assumptions.

Each estimator is fitted to many tables drawn from its own model (`n_fits`), with 12 rows of 4 columns and
with 60, and asked about `N_NEW` new rows a table. The fraction of new targets within the interval, averaged
over tables, is within `N_ERRORS` standard errors of the coverage; so is that of the function behind the
targets, and of coefficients. The standard error is that of independent tables, and no less than the binomial
one of all rows. An estimator that cannot cover with few rows refuses to answer, and is named in `REFUSED`.
"""

import warnings

import numpy as np
import pytest
from scipy.special import ndtri
from sklearn.base import clone, is_classifier

import quick
from catalogue import ESTIMATORS, some_of_each_family
from tractable.gaussian_process import GaussianProcessRegressor
from tractable.kernels import Matern, Subspace, Sum, White

N_NEW, N_ERRORS = 8, 4.0
COVERAGES = np.array([0.5, 0.9, 0.99])
#: Judged with the classifiers, intervals of neighbours being order statistics, and with counts.
ELSEWHERE = {"KNeighborsRegressor", "GaussianProcessPoissonRegressor"}
#: With 12 rows: tails and labels cannot be learned from so few.
REFUSED = {
    "RobustRegression-learnt",
    "RobustRegression-huber",
    "RobustRegression-tukey",
    "NegativeBinomialRegression",
    "NegativeBinomialRegression-given",
    "QuantileRegression",
    "QuantileRegression-upper",
    "QuantileRegression-origin",
    "MixtureOfRegressors",
    "MixtureOfRegressors-separate",
    "MixtureOfRegressors-origin",
    "MixtureOfExperts",
    "MixtureOfExperts-separate",
}
#: No intervals of the function: a precision for each coefficient cannot be taken for known, nor are members
#: of a committee independent at a row.
NO_FUNCTION = {"ARDRegression", "BayesianCommittee"}
#: Intervals of the function are refused in those tables alone where the approximation is too coarse for them.
COARSE = {"NystromGaussianProcess"}
NOISE = 0.5
#: Standard deviation of the coefficients of logarithms.
PRIOR = 0.3


def gaussian_plane(estimator, n, d, rng):
    """Rows, targets and the function of a plane in Gaussian noise, n of them."""
    return plane(estimator, n, d, rng, NOISE * rng.standard_normal(n))


def plane(estimator, n, d, rng, noise, coef=None, intercept=3.0):
    X = rng.standard_normal((n, d))
    coef = rng.standard_normal(d) if coef is None else coef
    mean = X @ coef + (intercept if getattr(estimator, "fit_intercept", True) else 0.0)
    return X, mean + noise, mean, coef


def quantile_plane(estimator, n, d, rng):
    """A plane in Gaussian noise whose quantile, not its mean, is the plane."""
    X, _, mean, coef = plane(estimator, n, d, rng, 0.0)
    return X, mean + NOISE * (rng.standard_normal(n) - ndtri(estimator.quantile)), mean, coef


def sparse_plane(estimator, n, d, rng):
    """Every other coefficient is zero: a precision of its own for each."""
    coef = np.where(np.arange(d) % 2, 0.0, 2.0 * rng.standard_normal(d))
    return plane(estimator, n, d, rng, NOISE * rng.standard_normal(n), coef)


def ridge_plane(estimator, n, d, rng):
    alphas = [estimator.alpha] if hasattr(estimator, "alpha") else list(estimator.alphas)
    alpha = rng.choice(alphas)
    noise = NOISE * rng.standard_normal(n)
    if alpha == 0.0:
        return plane(estimator, n, d, rng, noise)
    prior = NOISE / np.sqrt(alpha)
    intercept = prior * rng.standard_normal() if estimator.penalize_intercept else 3.0
    return plane(estimator, n, d, rng, noise, prior * rng.standard_normal(d), intercept)


def bayesian_plane(estimator, n, d, rng):
    variance = NOISE**2
    if not isinstance(estimator.noise_variance, str):
        variance = float(estimator.noise_variance)
    elif estimator.noise_shape:
        variance = estimator.noise_scale / rng.standard_gamma(estimator.noise_shape)
    unit = np.sqrt(variance) if estimator.noise_variance == "conjugate" else 1.0
    spread = estimator.prior_covariance
    precision = 1.0 if estimator.prior_precision is None else estimator.prior_precision
    spread = 1.0 / precision if spread is None else spread
    coef = (estimator.prior_mean or 0.0) + unit * np.sqrt(spread) * rng.standard_normal(d + 1)
    intercept = coef[0] if estimator.penalize_intercept else 3.0
    return plane(estimator, n, d, rng, np.sqrt(variance) * rng.standard_normal(n), coef[1:], intercept)


def robust_plane(estimator, n, d, rng):
    noise = {
        "laplace": rng.laplace,
        "gaussian": rng.normal,
        "huber": rng.normal,
        "tukey": lambda size: rng.standard_t(5.0, size),
        "student": lambda size: rng.standard_t(estimator.dof or 4.0, size),
    }[estimator.noise](size=n)
    return plane(estimator, n, d, rng, NOISE * noise)


def several_planes(estimator, n, d, rng):
    """Targets of one of several planes each; behind a gate, of the one of their side."""
    K = estimator.n_components
    if K == 1:
        return gaussian_plane(estimator, n, d, rng)
    X, coef = rng.standard_normal((n, d)), 2.0 * rng.standard_normal((K, d))
    k = rng.integers(K, size=n) if estimator.gate_alpha is None else (X[:, 0] > 0).astype(int)
    mean = np.sum(X * coef[k], axis=1) + 3.0 * bool(estimator.fit_intercept) * k
    return X, mean + NOISE * rng.standard_normal(n), mean, coef


def process_draw(estimator, n, d, rng):
    """A function from the prior of the estimator, about a plane where its mean is one, in its noise.

    Where hyper-parameters are learned, those of the draw are not those at which the search starts.
    """
    X = rng.standard_normal((n, d))
    truth = clone(estimator)
    if estimator.kernel is not None and estimator.optimizer is not None:
        theta = estimator.kernel.theta
        truth.kernel = estimator.kernel.with_theta(theta + 0.7 * rng.standard_normal(len(theta)))
    mean = np.asarray(truth.sample_prior(X, random_state=rng))[0]
    if estimator.mean != "zero":
        mean = mean + 3.0
    if estimator.mean not in ("zero", "constant"):
        mean = mean + X @ rng.standard_normal(d)
    kernel, noise = truth.kernel, truth.noise_variance
    variance = noise if noise is not None else getattr(kernel, "terms", [None])[-1]
    variance = 0.1 if variance is None else getattr(variance, "noise_level", variance)
    return X, mean + np.sqrt(variance) * rng.standard_normal(n), mean, None


def approximated_draw(estimator, n, d, rng):
    """A function from the prior of the exact process that the estimator approximates."""
    exact = GaussianProcessRegressor(
        estimator.kernel, noise_variance=estimator.noise_variance, optimizer=estimator.optimizer
    )
    return process_draw(exact, n, d, rng)


def draw_over_time(estimator, n, d, rng):
    """A function of the first column from the prior of the estimator, about a plane."""
    kernel, noise = estimator.kernel, estimator.noise_variance
    if kernel is not None:
        terms = [k for k in getattr(kernel, "terms", (kernel,)) if not isinstance(k, White)]
        white = [k for k in getattr(kernel, "terms", (kernel,)) if isinstance(k, White)]
        kernel = Sum(terms=[Subspace(k, [0]) for k in terms] + white)
    else:
        kernel = Subspace(Matern(nu=1.5), [0])
    exact = GaussianProcessRegressor(
        kernel, noise_variance=noise, mean="linear", optimizer=estimator.optimizer
    )
    return process_draw(exact, n, d, rng)


def counts_of(estimator, n, d, rng):
    """Counts, Poisson's or of a gamma variable's rate, of a logarithm that is a plane."""
    prior = PRIOR if estimator.alpha == 0.0 else 1.0 / np.sqrt(estimator.alpha * (n - N_NEW))
    intercept = 3.0 if estimator.fit_intercept else 0.0
    X, _, eta, coef = plane(estimator, n, d, rng, 0.0, prior * rng.standard_normal(d), intercept)
    if not estimator.fit_intercept:  # means far from zero
        X, coef = np.abs(X) + 1.0, 0.3 + np.abs(coef)
        eta = X @ coef
    mean = np.exp(eta)
    rate = mean
    if hasattr(estimator, "dispersion"):
        dispersion = estimator.dispersion or 0.3
        rate = mean * rng.gamma(1.0 / dispersion, dispersion, n)
    return X, rng.poisson(rate).astype(float), mean, coef


def amounts(estimator, n, d, rng):
    """Gamma distributed amounts."""
    prior = PRIOR if estimator.alpha == 0.0 else np.sqrt(0.2 / (estimator.alpha * (n - N_NEW)))
    X, _, eta, coef = plane(estimator, n, d, rng, 0.0, prior * rng.standard_normal(d))
    if estimator.link == "inverse":
        X = rng.uniform(-1.0, 1.0, (n, d))
        coef = rng.uniform(-0.4, 0.4, d)
        eta = 3.0 + X @ coef
    mean = np.exp(eta) if estimator.link == "log" else 1.0 / eta
    shape = 5.0 if estimator.link == "log" else 50.0  # means of new rows are positive
    return X, mean * rng.gamma(shape, 1.0 / shape, n), mean, coef


WORLDS = {
    "PoissonRegression": counts_of,
    "NegativeBinomialRegression": counts_of,
    "GammaRegression": amounts,
    "QuantileRegression": quantile_plane,
    "StateSpaceGaussianProcess": draw_over_time,
    "BayesianCommittee": approximated_draw,
    "NystromGaussianProcess": approximated_draw,
    "GaussianProcessRegressor": process_draw,
    "LinearRegression": gaussian_plane,
    "Ridge": ridge_plane,
    "RidgeCV": ridge_plane,
    "BayesianLinearRegression": bayesian_plane,
    "BayesianRidge": gaussian_plane,
    "ARDRegression": sparse_plane,
    "RobustRegression": robust_plane,
    "MixtureOfRegressors": several_planes,
    "MixtureOfExperts": several_planes,
}
ROWS = [
    row
    for row in ESTIMATORS
    if any(hasattr(row.make(), name) for name in ("predict_interval", "coef_interval"))
    and not is_classifier(row.make())
    and type(row.make()).__module__.startswith("tractable.")
    and type(row.make()).__name__ not in ELSEWHERE
    and not getattr(row.make(), "positive", False)  # coefficients at a bound have no intervals, as they say
]


def n_fits(row):
    """As many tables as a second or two allows: of 60, the mutant below is rejected."""
    if row.name in REFUSED:
        return 30
    if WORLDS.get(type(row.make()).__name__) in (process_draw, approximated_draw, draw_over_time):
        return 25
    if quick.ALONE and row.name.startswith("Gamma"):
        return 30
    return 60 if quick.ALONE or row.name.startswith("Robust") else 100


def fitted(row, n, d, rng):
    """Return an estimator that has learned n rows of its own model, and new ones."""
    estimator = row.make()
    X, y, mean, coef = WORLDS[type(estimator).__name__](estimator, n + N_NEW, d, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X[:n], y[:n])
    return estimator, X[n:], y[n:], mean[n:], coef


def within(target, intervals):
    """Return which fraction of targets lies within each of several intervals, (3,)."""
    return [np.mean((ends[..., 0] <= target) & (target <= ends[..., 1])) for ends in intervals]


def covered_targets(model, X, y, rng):
    """Return which fraction of targets lies within intervals; of counts, at random in proportion at the ends.

    Intervals of whole numbers cover more than they say by the atoms at their ends. The probability of less
    than a count, and a random part of that of the count, is uniform where the predictive distribution is
    right.
    """
    intervals = [model.predict_interval(X, c) for c in COVERAGES]
    if not model.predict_dist(X).discrete:
        return within(y, intervals)
    dist = model.predict_dist(X)
    level = dist.cdf(y) - rng.random(len(y)) * np.exp(dist.log_prob(y))
    found = [np.mean(np.abs(level - 0.5) <= 0.5 * c) for c in COVERAGES]
    assert np.all(np.array(within(y, intervals)) >= np.array(found) - 1e-12)
    return found


def fractions(row, n, d, rng):
    """Return the fractions covered in each table, by what is covered: {name: (n_fits, 3)}."""
    found = {"target": [], "function": [], "coef": []}
    for _ in range(n_fits(row)):
        model, X, y, mean, coef = fitted(row, n, d, rng)
        if hasattr(model, "predict_interval"):
            found["target"].append(covered_targets(model, X, y, rng))
        # Of several components the function is one of several; ARD's is refused, see below.
        one = getattr(model, "n_components", 1) == 1 and hasattr(model, "predict_interval")
        if one and type(model).__name__ not in NO_FUNCTION:
            try:
                intervals = [model.predict_interval(X, c, include_noise=False) for c in COVERAGES]
            except ValueError as error:
                if type(model).__name__ not in COARSE or "include_noise=False has no" not in str(error):
                    raise
            else:
                found["function"].append(within(mean, intervals))
        if hasattr(model, "coef_interval"):
            found["coef"].append(within(coef, [model.coef_interval(c) for c in COVERAGES]))
    return {name: np.array(part) for name, part in found.items() if part}


def assert_covers(name, found):
    """Raise unless the mean fractions are the coverages, up to their standard errors."""
    least = np.sqrt(COVERAGES * (1.0 - COVERAGES) / (len(found) * N_NEW))
    error = np.maximum(found.std(axis=0, ddof=1) / np.sqrt(len(found)), least)
    z = (found.mean(axis=0) - COVERAGES) / error
    said = f"{name}: covered {found.mean(axis=0).round(4)} of {COVERAGES}, {z.round(1)} standard errors away"
    assert np.all(np.abs(z) <= N_ERRORS), said


FEW, MORE = (12, 4), (60, 4)
#: Whose fits take long.
LATE = {
    name: [pytest.mark.slow]
    for name in (
        "BayesianCommittee",
        "GaussianProcessRegressor",
        "NystromGaussianProcess",
        "RobustRegression",
        "StateSpaceGaussianProcess",
    )
}


def judged():
    """Every row of the catalogue with tables of 12 rows and of 60, which take longer; or with 60 alone."""
    for found in some_of_each_family(ROWS):
        (row,) = found.values
        for size, late in ((FEW, LATE.get(type(row.make()).__name__, [])), (MORE, [pytest.mark.slow])):
            if row.name not in REFUSED:
                marks = [*found.marks, *late]
                yield pytest.param(row, size, id=f"{row.name}-{size[0]}", marks=marks)
        if row.name in REFUSED:
            yield pytest.param(row, MORE, id=f"{row.name}-60", marks=pytest.mark.slow)


@pytest.mark.parametrize(("row", "size"), list(judged()))
def test_intervals_cover(row, size, rng):
    for name, found in fractions(row, *size, rng).items():
        assert_covers(name, found)


@pytest.mark.parametrize("row", [row for row in ROWS if row.name in REFUSED], ids=lambda row: row.name)
def test_intervals_of_too_few_rows_are_not_offered(row, rng):
    model, X, *_ = fitted(row, *FEW, rng)
    assert np.all(np.isfinite(model.predict(X)))
    with pytest.raises(ValueError, match="too few rows"):
        model.predict_interval(X) if hasattr(model, "predict_interval") else model.coef_interval()


@pytest.mark.parametrize(
    "row", [row for row in ROWS if type(row.make()).__name__ in NO_FUNCTION], ids=lambda row: row.name
)
def test_intervals_of_the_function_are_not_offered(row, rng):
    model, X, *_ = fitted(row, *MORE, rng)
    for ask in (model.predict_interval, model.predict_quantiles):
        with pytest.raises(ValueError, match="include_noise=False has no interval here"):
            ask(X, include_noise=False)
    assert np.all(model.predict_var(X, include_noise=False) >= 0.0)


def test_plugged_in_parameters_do_not_pass(rng):
    """The law has power: noise about known coefficients covers too little of 12 rows."""
    found = []
    for _ in range(60):
        X = rng.standard_normal((12 + N_NEW, 4))
        y = rng.standard_normal(12 + N_NEW)
        A = np.column_stack([np.ones(len(X)), X])
        coef, rss = np.linalg.lstsq(A[:12], y[:12])[:2]
        half = np.array([0.674, 1.645, 2.576]) * np.sqrt(rss / 12.0)
        found.append(np.mean(np.abs(y - A @ coef)[12:, None] <= half, axis=0))
    with pytest.raises(AssertionError, match="standard errors away"):
        assert_covers("plug-in", np.array(found))
