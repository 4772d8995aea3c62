"""Bandwidths: the worked examples, rules in the units of the data, cross-validation that leaves rows out."""

import numpy as np
import pytest

import tractable
from tractable.smoothing import (
    WINDOWS,
    UnsettledBandwidthWarning,
    WindowSums,
    binned_density,
    improved_sheather_jones,
    loo_nll,
    lscv,
    scott,
    select_bandwidth,
    silverman,
    unrolled,
)

TEN = np.array([8.2075, 9.8171, 0.1442, 8.8333, 9.4084, 9.0987, 0.7269, 1.0454, -0.1108, 9.4905])


def pairs(X, h):
    """Gaussian windows between all rows, by the formula."""
    z = (X[:, None] - X[None]) / h
    return np.exp(-0.5 * np.sum(z * z, axis=-1)) / np.prod(np.sqrt(2 * np.pi) * np.asarray(h))


def slow_nll(X, h, w):
    from scipy.special import logsumexp

    left, some = np.minimum(w, 1.0), w > 0
    z = ((X[:, None] - X[None]) / h)[some][:, some]
    rest = (w - left * np.eye(len(w)))[some][:, some]
    log_sums = logsumexp(-0.5 * np.sum(z * z, axis=-1), b=rest, axis=1)
    log_norm = np.sum(np.log(np.sqrt(2 * np.pi) * np.asarray(h)))
    return -np.sum(w[some] * (log_sums - np.log((w.sum() - left)[some]))) / w.sum() + log_norm


def slow_lscv(X, h, w):
    left = np.minimum(w, 1.0)
    k = pairs(X, h)
    cross = (k @ w - left * np.diag(k)) / (w.sum() - left)
    return w @ pairs(X, np.sqrt(2) * np.asarray(h)) @ w / w.sum() ** 2 - 2 * w @ cross / w.sum()


@pytest.mark.spec("W-18", "DENS-15", "DENS-16", "DENS-17", "E000-27")
def test_the_ten_points():
    found = [loo_nll(TEN, h) for h in (0.25, 0.5, 1.0, 2.0)]
    np.testing.assert_allclose(found, [2.209377, 1.843168, 1.984147, 2.478221], atol=5e-7)
    found = [lscv(TEN, h) for h in (0.25, 0.5, 1.0, 2.0)]
    np.testing.assert_allclose(found, [-0.035076, -0.144346, -0.154440, -0.100926], atol=5e-7)
    found = [loo_nll(TEN, h, kernel="epanechnikov") for h in (0.25, 0.5, 0.9, 1.0, 1.2)]
    np.testing.assert_allclose(found, [np.inf, np.inf, 1.859575, 1.809206, 1.800219], atol=5e-7)
    likely, square = select_bandwidth(TEN, "loo"), select_bandwidth(TEN, "lscv")
    np.testing.assert_allclose([likely.bandwidth[0], likely.criterion], [0.571448, 1.834510], atol=5e-7)
    np.testing.assert_allclose([square.bandwidth[0], square.criterion], [0.750815, -0.162293], atol=5e-7)


@pytest.mark.spec("E000-28")
def test_least_squares_leaves_rows_out(rng):
    """With the row itself in the cross term the criterion falls without bound as h goes to zero."""
    x = rng.standard_normal((100, 1))
    w = np.ones(100)
    resubstituted = [
        w @ pairs(x, np.sqrt(2) * h) @ w / 100**2 - 2 * w @ pairs(x, h) @ w / 100**2 for h in (1e-3, 1e-4)
    ]
    assert resubstituted[1] < resubstituted[0] < -3
    assert 20 < lscv(x, 1e-4) < 40
    assert lscv(x, 1e-4) > lscv(x, 1e-3) > lscv(x, 0.4)


@pytest.mark.spec("DENS-15", "DENS-17")
@pytest.mark.parametrize("dim", [1, 3])
def test_criteria_are_their_formulas(dim, rng):
    X, w = rng.standard_normal((70, dim)), rng.choice([0.0, 0.5, 1.0, 3.0], 70)
    for h in (0.2, 0.7 * np.arange(1.0, dim + 1)):
        wide = np.broadcast_to(h, (dim,))
        np.testing.assert_allclose(loo_nll(X, h, w), slow_nll(X, wide, w), rtol=1e-11)
        np.testing.assert_allclose(lscv(X, h, w), slow_lscv(X, wide, w), rtol=1e-11)


@pytest.mark.slow
@pytest.mark.spec("DENS-15", "DENS-16")
def test_many_points_of_a_bin_keep_their_digits(rng):
    """Sums at the points of a full bin are interpolated; a lone row far from thousands is not."""
    crowd = np.concatenate([rng.standard_normal(900), 4.0 + 0.01 * rng.standard_normal(600), [9.4, -30.0]])
    for weights in (np.ones(1502), rng.choice([1e-3, 1.0, 50.0], 1502)):
        for h in (0.003, 0.05, 0.4, 1.0, 5.0):
            found = loo_nll(crowd, h, weights)
            np.testing.assert_allclose(found, slow_nll(crowd[:, None], h, weights), rtol=1e-11)
    # Where the others add a thousandth of the row itself, five bandwidths away.
    sums = WindowSums(points=crowd[:, None], weights=np.ones(1502), window=WINDOWS["gaussian"])
    logs, spreads = sums.left_out_spreads(np.ones(1502))
    square = (crowd[:, None] - crowd) ** 2
    terms = np.where(np.eye(1502) > 0, 0.0, np.exp(-0.5 * square))
    some = terms.sum(axis=1) > 1e-200
    np.testing.assert_allclose(np.exp(logs)[some], terms.sum(axis=1)[some], rtol=1e-10)
    expected = (terms * square).sum(axis=1)[some] / terms.sum(axis=1)[some]
    np.testing.assert_allclose(spreads[some], expected, rtol=1e-9)


@pytest.mark.spec("DENS-16")
@pytest.mark.parametrize("method", ["loo", "lscv"])
@pytest.mark.parametrize("dim", [1, 2])
def test_searches_find_the_minimum(method, dim, rng):
    X = rng.standard_normal((150, dim)) * np.arange(1.0, dim + 1)
    w = np.where(np.arange(150) < 140, 1.0, rng.integers(0, 3, 150))
    slow = slow_nll if method == "loo" else slow_lscv
    grid, gradient = (select_bandwidth(X, method, search=s, weights=w) for s in ("grid", "gradient"))
    expected = [slow(X, h, w) for h in grid.candidates]
    np.testing.assert_allclose(grid.criteria, expected, rtol=1e-9)
    assert method == "lscv" or grid.criterion == grid.criteria.min()
    assert gradient.criterion <= grid.criterion
    for factor in (0.999, 1.001):
        assert slow(X, factor * gradient.bandwidth, w) >= gradient.criterion - 1e-14
    own = select_bandwidth(X, method, grid=[0.3, 0.6, 1.2], search="grid", weights=w)
    assert own.candidates.shape == (3, dim)
    assert own.criterion == own.criteria.min()


@pytest.mark.spec("E000-27")
@pytest.mark.parametrize("kernel", ["epanechnikov", "tophat", "triangular", "biweight", "cosine", "laplace"])
def test_other_windows_are_searched_too(kernel, rng):
    x = rng.standard_normal(80)
    found = select_bandwidth(x, "loo", kernel=kernel)
    assert np.isfinite(found.criterion)
    assert found.criterion <= found.criteria.min()
    np.testing.assert_allclose(found.criterion, loo_nll(x, found.bandwidth, kernel=kernel))


@pytest.mark.spec("DENS-18")
@pytest.mark.parametrize("rule", [silverman, scott, improved_sheather_jones])
def test_rules_follow_the_units_of_each_column(rule, rng):
    X, unit = rng.standard_normal((200, 2)), np.array([1e-100, 1e100])
    np.testing.assert_allclose(rule(X * unit + 3.0 * unit), unit * rule(X), rtol=1e-6)
    times = rng.integers(0, 4, 200)
    np.testing.assert_allclose(rule(X, times.astype(float)), rule(np.repeat(X, times, axis=0)), rtol=1e-9)
    ratio = rule(X, None, WINDOWS["epanechnikov"]) / rule(X)
    np.testing.assert_allclose(ratio, WINDOWS["epanechnikov"].canonical(2) / WINDOWS["gaussian"].canonical(2))


@pytest.mark.spec("DENS-18")
def test_rules_are_those_of_scipy(rng):
    from scipy.stats import gaussian_kde

    X = rng.standard_normal((60, 3)) * [1.0, 5.0, 0.1]
    for rule, name in ((silverman, "silverman"), (scott, "scott")):
        expected = np.sqrt(np.diag(gaussian_kde(X.T, bw_method=name).covariance))
        np.testing.assert_allclose(rule(X), expected, rtol=1e-12)


def test_sheather_jones_sees_narrow_modes(rng):
    narrow = np.concatenate([rng.normal(0, 0.05, 500), rng.normal(8, 0.05, 500)])[:, None]
    assert silverman(narrow)[0] > 0.5
    np.testing.assert_allclose(improved_sheather_jones(narrow)[0], 1.06 * 0.05 * 500**-0.2, rtol=0.4)
    normal = rng.standard_normal((4000, 1))
    np.testing.assert_allclose(improved_sheather_jones(normal), silverman(normal), rtol=0.25)


def test_sheather_jones_sees_through_rounding(rng):
    """Rows that are rounded have a second fixed point a hundred times as narrow, a comb on the values."""
    x = rng.standard_normal((1000, 1))
    for digits in (1, 2):
        rounded = improved_sheather_jones(np.round(x, digits))
        np.testing.assert_allclose(rounded, improved_sheather_jones(x), rtol=0.1)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: silverman(np.ones((5, 2))), r"constant columns \[0, 1\]"),
        (lambda: silverman(np.ones((1, 2))), "1 sample"),
        (lambda: scott(np.arange(4.0)[:, None], np.full(4, 0.25)), "sample_weight"),
        (lambda: loo_nll(TEN, 0.0), "bandwidth must be positive"),
        (lambda: loo_nll(TEN, np.nan), "bandwidth must be positive"),
        (lambda: loo_nll(TEN[:1], 1.0), "1 sample"),
        (lambda: loo_nll(TEN * np.nan, 1.0), "X must be finite"),
        (lambda: loo_nll(TEN, True), "bandwidth must be real numbers"),
        (lambda: loo_nll(TEN, [1.0, 2.0]), "bandwidth has 2 entries, and X has 1 columns"),
        (lambda: select_bandwidth(TEN, "best"), "method"),
        (lambda: select_bandwidth(TEN, "loo", search="random"), "search"),
        (lambda: select_bandwidth(TEN, "loo", grid=[0.0, 1.0]), "grid"),
        (lambda: select_bandwidth(TEN, "lscv", kernel="tophat"), "lscv"),
    ],
)
def test_what_has_no_bandwidth_says_why(call, what):
    with pytest.raises(ValueError, match=what):
        call()


FUNCTIONS = [
    lambda X, w: loo_nll(X, 0.3, w),
    lambda X, w: lscv(X, 0.3, w),
    silverman,
    scott,
    improved_sheather_jones,
    lambda X, w: select_bandwidth(X, "loo", weights=w),
    lambda X, w: select_bandwidth(X, "silverman", weights=w),
    lambda X, w: binned_density(X, w, 0.3, -1.0, 1.0, 8),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("X", "weights", "what"),
    [
        (TEN, -np.ones(10), "weights must be finite and not negative"),
        (TEN, np.full(10, np.nan), "weights must be finite and not negative"),
        (TEN, np.zeros(10), "one of them positive"),
        (TEN, np.ones(9), r"weights must have shape \(10,\)"),
        (TEN, np.ones((10, 1)), r"weights must have shape \(10,\)"),
        (np.append(TEN, np.nan), None, "X must be finite"),
        (np.append(TEN, np.inf), None, "X must be finite"),
        (np.ones((2, 2, 2)), None, r"X must be rows .* shape \(2, 2, 2\)"),
        (np.empty((0, 1)), None, "not empty"),
        (["a", "b"], None, "X must be real numbers"),
    ],
)
def test_bad_rows_and_weights_have_one_answer(function, X, weights, what):
    with pytest.raises(ValueError, match=what):
        function(X, weights)


@pytest.mark.parametrize(
    ("args", "what"),
    [
        ((0.3, -1.0, 1.0, 1), "n must be a whole number from 2"),
        ((-0.3, -1.0, 1.0, 8), "bandwidth must be positive"),
        ((0.3, 1.0, 1.0, 8), "low must be below high"),
        ((0.3, -1.0, np.nan, 8), "low must be below high"),
    ],
)
def test_grids_that_are_none_are_refused(args, what):
    with pytest.raises(ValueError, match=what):
        binned_density(TEN, None, *args)


@pytest.mark.spec("DENS-16")
def test_the_order_of_candidates_does_not_matter(rng):
    X, grid = rng.standard_normal((100, 2)), np.array([0.2, 0.4, 0.8, 1.6])
    first, second = (select_bandwidth(X, "loo", grid=g) for g in (grid, rng.permutation(grid)))
    np.testing.assert_array_equal(first.bandwidth, second.bandwidth)
    np.testing.assert_array_equal(first.candidates, second.candidates)


def test_angles_are_as_wide_wherever_the_period_begins(rng):
    """About an end of the period, rows are no wider than elsewhere; turns before them change nothing."""
    angles = rng.normal(0.0, 0.1, (300, 1))
    turned = np.mod(angles, 2 * np.pi) + 2 * np.pi * rng.integers(-3, 4, (300, 1))
    for method in ("silverman", "isj", "loo"):
        expected = select_bandwidth(angles, method).bandwidth
        found = select_bandwidth(unrolled(turned, 2 * np.pi), method).bandwidth
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    spread = rng.uniform(0.0, 24.0, (300, 2))
    laid = unrolled(spread, [None, 24.0])
    np.testing.assert_array_equal(laid[:, 0], spread[:, 0])
    np.testing.assert_allclose(np.mod(laid[:, 1], 24.0), spread[:, 1], atol=1e-12)
    assert np.ptp(laid[:, 1]) < 24.0
    light = np.append(np.ones(300), 0.0)
    beside = unrolled(np.append(turned, np.pi), 2 * np.pi, light)
    np.testing.assert_array_equal(beside[:300], unrolled(turned, 2 * np.pi))


def test_repeated_rows_have_no_best_bandwidth():
    """Ever narrower windows are ever better: a rule's bandwidth is given, and said to be."""
    twice = np.repeat(TEN, 2)
    with pytest.warns(UnsettledBandwidthWarning, match="repeated"):
        found = select_bandwidth(twice, "loo")
    assert not found.settled
    assert np.all(found.criteria[0] < found.criteria[5:])


@pytest.mark.spec("W-14", "DENS-14")
def test_the_bandwidth_of_the_figure_is_best(rng):
    """Mean integrated squared error on N(0,1), n = 100: 0.0549, 0.0071, 0.0828 at h = 0.05, 0.337, 2."""

    def error(x, h):
        # ∫ (p̂ - φ)², each of the three terms a sum of Gaussians.
        n = len(x)
        square = pairs(x, np.array([np.sqrt(2) * h])).sum() / n**2
        s2 = 1 + h * h
        cross = np.mean(np.exp(-0.5 * x[:, 0] ** 2 / s2) / np.sqrt(2 * np.pi * s2))
        return square - 2 * cross + 1 / np.sqrt(4 * np.pi)

    samples = [rng.standard_normal((100, 1)) for _ in range(50)]
    errors = np.array([[error(x, h) for h in (0.05, 0.337, 2.0)] for x in samples])
    spread = 5 * errors.std(axis=0) / np.sqrt(50)
    assert np.all(np.abs(errors.mean(axis=0) - [0.0549, 0.0071, 0.0828]) < spread + 1e-4)
    assert errors.mean(axis=0).argmin() == 1


def test_a_huge_period_costs_no_digits():
    from tractable.smoothing import unrolled

    x = np.array([-0.3, 0.2, 0.7])
    np.testing.assert_allclose(np.diff(unrolled(x, 2e150).ravel()), np.diff(x), rtol=1e-12)


@pytest.mark.parametrize("dim", [436, 784, 2000])
@pytest.mark.parametrize("kernel", sorted(WINDOWS))
def test_a_rule_gives_a_bandwidth_of_the_size_of_the_columns_in_thousands_of_dimensions(kernel, dim, rng):
    """E |h u|² of a draw u is about the scatter of the rows: every window smooths as the Gaussian does."""
    X = rng.normal(size=(12, dim))
    for rule in ("silverman", "scott"):
        model = tractable.KernelDensity(kernel=kernel, bandwidth=rule).fit(X)
        spread = np.mean(model.bandwidth_) * np.sqrt(WINDOWS[kernel].variance(dim))
        assert 0.8 < spread < 1.2
        assert np.all(np.isfinite(model.score_samples(X)))
        assert model.sample(3).shape == (3, dim)


@pytest.mark.parametrize("kernel", [pytest.param("gaussian", marks=pytest.mark.slow), "flat"])
def test_mean_shift_takes_images(kernel, rng):
    X = rng.normal(size=(12, 784))
    assert np.all(np.isfinite(tractable.MeanShift(kernel=kernel).fit(X).log_heights_))
