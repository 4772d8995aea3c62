"""Kernel density estimates as distributions: the worked example, windows with corners, domains with ends."""

import numpy as np
import pytest

from catalogue import cross
from quick import some
from rows import smoothed
from tractable.covariance import Diagonal, Full, LowRankPlusDiagonal
from tractable.distributions import Empirical, Mixture, MultivariateNormal, Normal, SmoothedEmpirical
from tractable.primitives import native
from tractable.smoothing import WINDOWS, check_window
from tractable.testing.density_laws import cdf_is_monotone, intervals_hold_their_coverage
from tractable.testing.distribution_laws import (
    VALUE_LAWS,
    samples_follow_the_cdf,
    samples_match_mean_and_variance,
)
from tractable.testing.joint_laws import JOINT_LAWS

TEN = np.array(smoothed.TEN)
CORNERED = [name for name in sorted(WINDOWS) if name != "gaussian"]


@pytest.mark.spec("DENS-06", "DENS-12")
@pytest.mark.parametrize(("law", "make"), cross(JOINT_LAWS, smoothed.JOINTS))
def test_joint_law(law, make, rng):
    law(make(), rng)


@pytest.mark.spec("W-18", "DENS-06", "DENS-08", "DENS-09", "DENS-10", "DENS-11")
@pytest.mark.parametrize(
    ("window", "h", "expected"),
    [
        ("gaussian", 0.5, [0.21576965, 0.17339735, 0.00000000, 0.30390526]),
        ("gaussian", 1.0, [0.14381389, 0.12747503, 0.00029261, 0.20883294]),
        ("epanechnikov", 1.0, [0.23635387, 0.16432212, 0.0, 0.31945350]),
        ("tophat", 1.0, [0.2, 0.15, 0.0, 0.3]),
    ],
)
def test_the_ten_points(window, h, expected):
    d = SmoothedEmpirical(points=TEN, bandwidth=h, window=window)
    np.testing.assert_allclose(d.prob([0.5, 1.0, 5.0, 9.0]), expected, atol=5e-9)
    rows = SmoothedEmpirical(points=TEN[:, None], bandwidth=h, window=window)
    np.testing.assert_allclose(rows.prob([[0.5], [1.0], [5.0], [9.0]]), expected, atol=5e-9)


@pytest.mark.spec("DENS-13", "DENS-14")
@pytest.mark.parametrize("window", sorted(WINDOWS))
def test_it_is_the_convolution_of_the_sample_and_the_window(window):
    """Var p = var of the sample + h² var K; the mean is the sample's."""
    w = np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0, 1.0, 0.5, 1.0, 1.0])
    sample = Empirical(values=TEN, weights=w)
    for h in (0.05, 0.337, 2.0):
        d = SmoothedEmpirical(points=TEN, weights=w, bandwidth=h, window=window)
        np.testing.assert_allclose(d.mean, sample.mean)
        np.testing.assert_allclose(d.variance, sample.variance + h * h * WINDOWS[window].variance())
    spread = SmoothedEmpirical(points=smoothed.CLOUD, bandwidth=[[0.5, 0.3], [0.3, 1.0]], window=window)
    sample = Empirical(values=smoothed.CLOUD)
    window_cov = WINDOWS[window].variance(2) * np.array([[0.5, 0.3], [0.3, 1.0]])
    np.testing.assert_allclose(spread.covariance, sample.covariance + window_cov)


@pytest.mark.parametrize("window", some(CORNERED, 2))
@pytest.mark.parametrize("domain", some([{}, {"bounds": (-0.2, 2.0)}, {"period": (-0.5, 2.5)}]))
def test_windows_with_corners(window, domain, rng):
    """Densities with corners, integrated between them; and laws that need no quadrature."""
    points, h = np.array([0.0, 0.3, 1.9]), 0.8
    d = SmoothedEmpirical(points=points, bandwidth=h, window=window, **domain)
    low, high = (float(end) for end in d.support)
    low, high = max(low, -40.0), min(high, 40.0)
    edges = [low, high, *points]
    for image in (points, -0.4 - points, 4.0 - points, points - 3.0, points + 3.0):
        edges += [*image, *(image - h), *(image + h)]
    edges = np.unique([e for e in edges if low <= e <= high])
    edges = np.concatenate([edges[:1], edges[1:][np.diff(edges) > 1e-9]])
    node, weight = np.polynomial.legendre.leggauss(30)
    half = 0.5 * np.diff(edges)[:, None]
    x = edges[:-1, None] + half * (1.0 + node)
    cells, first = (half * f * weight for f in (d.prob(x), x * d.prob(x)))
    np.testing.assert_allclose(cells.sum(), 1.0, rtol=1e-8)
    np.testing.assert_allclose(d.mean, first.sum(), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(d.cdf(edges[1:]), np.cumsum(cells.sum(axis=1)), atol=1e-8)
    for law in (
        cdf_is_monotone,
        intervals_hold_their_coverage,
        samples_match_mean_and_variance,
        samples_follow_the_cdf,
    ):
        law(d, rng)
    if not domain:
        for law in VALUE_LAWS:
            law(d, rng)
        x = d.sample(500, rng=rng)
        assert np.all(d.log_prob(x) <= d.log_prob(d.mode) + 1e-9)


@pytest.mark.parametrize("window", sorted(WINDOWS))
def test_vectors_under_every_window(window, rng):
    d = SmoothedEmpirical(points=smoothed.CLOUD, bandwidth=[0.5, 2.0], window=window)
    z = (smoothed.CLOUD[:, None] - smoothed.CLOUD) / [0.5, 2.0]
    expected = np.array([WINDOWS[window].density(row).mean() for row in z])
    np.testing.assert_allclose(d.prob(smoothed.CLOUD), expected, rtol=1e-12)
    samples_match_mean_and_variance(d, rng)
    with_corners = window != "gaussian"
    if with_corners:
        for ask in (lambda: d.marginal([0]), lambda: d.condition([0], [0.0])):
            with pytest.raises(ValueError, match="gaussian"):
                ask()


def test_windows_of_users():
    logistic = check_window(lambda u: 0.25 / np.cosh(0.5 * u) ** 2)
    d = SmoothedEmpirical(points=[0.0, 3.0], bandwidth=0.5, window=logistic)
    expected = 0.5 * sum(logistic.density((np.array([1.0, -2.0]) - x) / 0.5) / 0.5 for x in (0.0, 3.0))
    np.testing.assert_allclose(d.prob([1.0, -2.0]), expected, rtol=1e-10)
    assert d.evaluation == "dense"
    np.testing.assert_allclose(d.cdf(d.icdf([0.01, 0.5, 0.9])), [0.01, 0.5, 0.9], rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_extreme_scales_change_units_alone(scale, rng):
    x = rng.standard_normal((40, 2))
    one, other = (SmoothedEmpirical(points=x * s, bandwidth=0.4 * s) for s in (1.0, scale))
    far = np.array([[0.0, 0.0], [30.0, -50.0], [1e4, 0.0]])
    np.testing.assert_allclose(other.log_prob(far * scale) + 2 * np.log(scale), one.log_prob(far), rtol=1e-11)


def test_far_away_is_unlikely_and_not_impossible():
    d = SmoothedEmpirical(points=[0.0, 1.0], bandwidth=1.0)
    np.testing.assert_allclose(d.log_prob(1e6), -0.5 * (1e6 - 1) ** 2 - np.log(2) - 0.5 * np.log(2 * np.pi))
    np.testing.assert_array_equal(d.log_prob([np.inf, -np.inf, 1e300]), -np.inf)
    assert np.isnan(d.log_prob(np.nan))
    assert d.log_prob(np.empty(0)).shape == (0,)


@pytest.mark.spec("DENS-12")
def test_conditioning_is_that_of_the_mixture(rng):
    structure = Full(matrix=[[0.5, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 0.4]])
    d = SmoothedEmpirical(points=smoothed.TRIPLES, bandwidth=structure)
    mixture = Mixture(components=MultivariateNormal(mean=smoothed.TRIPLES, covariance=structure))
    x = rng.standard_normal((5, 3))
    np.testing.assert_allclose(d.log_prob(x), mixture.log_prob(x), rtol=1e-12)
    ours, theirs = (m.condition([2], [0.4]) for m in (d, mixture))
    assert isinstance(ours, SmoothedEmpirical)
    np.testing.assert_allclose(ours.log_prob(x[:, :2]), theirs.log_prob(x[:, :2]), rtol=1e-12)
    np.testing.assert_allclose(ours.covariance, theirs.covariance, rtol=1e-10)


def test_a_box_conditions_within_its_walls():
    d = smoothed.ROWS[-1].make()
    given = d.condition([1], [3.0])
    x = np.linspace(0.01, 0.99, 5)
    joint = d.prob(np.stack([x, np.full(5, 3.0)], axis=1))
    np.testing.assert_allclose(given.prob(x[:, None]), joint / d.marginal([1]).prob([3.0]), rtol=1e-10)
    with pytest.raises(ValueError, match="values"):
        d.condition([1], [[3.0], [4.0]])


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"bandwidth": -1.0}, "bandwidth"),
        ({"bandwidth": np.nan}, "bandwidth"),
        ({"bandwidth": [1.0, 2.0]}, "bandwidth"),
        ({"points": [0.0, np.nan]}, "points"),
        ({"points": []}, "points"),
        ({"points": np.zeros((2, 2, 2))}, "points"),
        ({"points": [[0.0, 1.0]], "bandwidth": [1.0, 2.0, 3.0]}, "bandwidth"),
        ({"points": [[0.0, 1.0]], "bandwidth": [[1.0, 2.0], [2.0, 1.0]]}, "bandwidth"),
        ({"points": [[0.0, 1.0]], "bandwidth": Diagonal(variances=[1.0])}, "bandwidth"),
        (
            {
                "points": [[0.0, 1.0]],
                "bandwidth": LowRankPlusDiagonal(factor=[[1.0], [0.0]], variances=[1.0, 1.0]),
            },
            "bandwidth",
        ),
        ({"weights": [1.0]}, "weights"),
        ({"weights": [-1.0, 1.0]}, "weights"),
        ({"weights": [0.0, 0.0]}, "weights"),
        ({"window": "gauss"}, "kernel"),
        ({"bounds": (1.0, 0.0)}, "bounds"),
        ({"bounds": (0.5, 2.0)}, "points must lie within bounds"),
        ({"bounds": 3.0}, "bounds"),
        ({"period": -1.0}, "period"),
        ({"period": np.inf}, "period"),
        ({"bounds": (0.0, 1.0), "period": 2.0}, "period and bounds"),
        ({"bounds": (0.0, 1.0), "bandwidth": 1e3}, "bandwidth"),
        ({"points": [[0.0, 1.0]], "bounds": ((0, 2), None), "bandwidth": np.eye(2)}, "bandwidth"),
        ({"points": [[0.0, 1.0]], "bounds": (0.5, 2)}, "points must lie within bounds"),
        ({"points": [[0.0, 1.0]], "bounds": 3.0}, "bounds"),
        ({"points": [[0.0, 1.0]], "bounds": ((0, 2),)}, "bounds"),
    ],
)
def test_bad_parameters_are_one_clear_error(given, what):
    with pytest.raises(ValueError, match=what):
        SmoothedEmpirical(**{"points": [0.0, 1.0], "bandwidth": 1.0, **given})


def test_divergences_know_other_families():
    d = SmoothedEmpirical(points=[0.0], bandwidth=2.0)
    assert d.event_shape == ()
    assert hasattr(d, "cdf")
    normal = Normal(mean=0.0, stddev=2.0)
    other = Normal(mean=1.0, stddev=3.0)
    np.testing.assert_allclose(d.kl_divergence(other), normal.kl_divergence(other), rtol=1e-10)
    np.testing.assert_allclose(d.entropy(), normal.entropy(), rtol=1e-11)
    with pytest.raises(TypeError, match="other"):
        d.kl_divergence(3.0)
    with pytest.raises(ValueError, match="other"):
        d.kl_divergence(MultivariateNormal(mean=[0.0], covariance=[[1.0]]))


@pytest.mark.spec("E000-26", "DENS-26")
def test_a_fixed_bandwidth_keeps_its_bias(rng):
    """E p_h(0) = N(0; 0, 1 + h²) for rows of N(0,1): 0.3568 at h = 0.5, whatever n; the density is 0.3989."""
    heights = [
        float(SmoothedEmpirical(points=rng.standard_normal(2000), bandwidth=0.5).prob(0.0)) for _ in range(60)
    ]
    error = 5 * np.std(heights) / np.sqrt(60)
    np.testing.assert_allclose(np.mean(heights), 0.3568, atol=error + 5e-5)
    narrow = [
        float(SmoothedEmpirical(points=rng.standard_normal(2000), bandwidth=0.05).prob(0.0))
        for _ in range(60)
    ]
    assert abs(np.mean(narrow) - 0.3989) < 5 * np.std(narrow) / np.sqrt(60) + 1e-3


def test_the_way_of_summing_is_said():
    told = {w: SmoothedEmpirical(points=TEN, bandwidth=1.0, window=w).evaluation for w in WINDOWS}
    if not native(TEN):
        assert told["gaussian"] == told["laplace"] == "dense"
        assert told["tophat"] == "sum within reach"
        return
    assert told["gaussian"] == "fast Gauss transform"
    assert told["laplace"] == "two passes"
    assert told["tophat"] == "running totals"
    assert SmoothedEmpirical(points=smoothed.CLOUD, bandwidth=1.0).evaluation == "direct sum"
