"""Histograms: the worked numbers, edges, weights, bands and streams."""

import numpy as np
import pytest

import tractable
from tractable.arrays.namespace import to_numpy
from tractable.density import Histogram
from tractable.distributions import HistogramDensity
from tractable.smoothing import UnsettledBandwidthWarning
from tractable.statistics import Bins
from tractable.testing.assertions import assert_mean

#: Ten draws of a mixture at 1 and 9, printed in the course.
POINTS = np.array([8.2075, 9.8171, 0.1442, 8.8333, 9.4084, 9.0987, 0.7269, 1.0454, -0.1108, 9.4905])
EDGES = np.arange(-1.0, 12.0, 2.0)


@pytest.mark.spec("W-18", "DENS-01")
def test_the_ten_points():
    model = Histogram(EDGES).fit(POINTS[:, None])
    np.testing.assert_array_equal(model.counts_, [3, 1, 0, 0, 2, 4])
    np.testing.assert_allclose(model.distribution_.heights, [0.15, 0.05, 0.0, 0.0, 0.1, 0.2], rtol=1e-14)
    d = HistogramDensity.fit(POINTS, edges=EDGES)
    assert d.event_shape == ()
    assert hasattr(d, "cdf")
    np.testing.assert_allclose(d.prob([0.5, 1.0, 5.0, 9.0]), [0.15, 0.05, 0.0, 0.2], rtol=1e-14)


def test_functions_of_one_column_are_those_of_its_numbers(rng):
    X = rng.standard_normal((300, 1))
    model = Histogram(12).fit(X)
    numbers = HistogramDensity(edges=model.edges_[0], counts=model.counts_)
    np.testing.assert_array_equal(model.cdf(X), numbers.cdf(X[:, 0]))
    np.testing.assert_array_equal(model.icdf([0.1, 0.5]), numbers.icdf([0.1, 0.5]))
    np.testing.assert_array_equal(model.interval(0.5), numbers.interval(0.5))
    two = Histogram(4).fit(np.hstack([X, X]))
    for ask in (lambda: two.cdf(np.hstack([X, X])), lambda: two.icdf(0.5), lambda: two.interval(0.5)):
        with pytest.raises(ValueError, match="2 columns"):
            ask()


def test_rounded_rows_have_no_best_width(rng):
    """Ever narrower bins foretell equal rows ever better: a rule's are taken, and said to be."""
    X = np.round(rng.standard_normal((500, 1)), 1)
    with pytest.warns(UnsettledBandwidthWarning, match="loo.*equal"):
        model = Histogram("loo").fit(X)
    assert not model.search_.settled
    np.testing.assert_array_equal(model.edges_[0], Histogram("scott").fit(X).edges_[0])
    assert Histogram("loo").fit(rng.standard_normal((500, 1))).search_.settled
    assert Histogram("loo").fit(np.array([[0.0], [1.0]])).search_.settled


@pytest.mark.parametrize("bins", ["scott", "fd", "loo", 10])
def test_rows_too_large_to_square_are_refused(bins, rng):
    with pytest.raises(ValueError, match="X has values so large that their squares overflow"):
        Histogram(bins).fit(rng.uniform(-1.7, 1.7, (500, 1)) * 1e160)
    model = Histogram(bins).fit(X := rng.uniform(-1.7, 1.7, (500, 1)) * 1e149)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.distribution_.mean).all()
    gap = HistogramDensity(edges=[-1.7e308, -1e308, 1e308, 1.7e308], counts=[0, 3, 0])
    assert gap.variance == np.inf


@pytest.mark.spec("EST-14")
def test_shared_counts_vary_less_than_their_bands_say(rng):
    """What the docstring says: about 96 % of bands of 90 %, and two thirds of the binomial variance."""
    edges, n = np.linspace(-4.0, 4.0, 17), 400
    models = [Histogram(edges, weighting="linear").fit(rng.standard_normal((n, 1))) for _ in range(200)]
    heights = np.stack([m.distribution_.heights for m in models])
    low, high = (
        np.stack(end) for end in zip(*(m.distribution_.height_interval(0.9) for m in models), strict=True)
    )
    known = slice(4, 12)
    truth = heights.mean(axis=0)
    held = np.mean(((low <= truth) & (truth <= high))[:, known])
    assert 0.94 < held < 0.98
    binomial = np.mean([m.distribution_.height_variance for m in models], axis=0)
    assert 0.55 < np.mean(heights.var(axis=0)[known] / binomial[known]) < 0.75


@pytest.mark.spec("DENS-25")
def test_a_histogram_is_a_kernel_density_whose_kernel_is_the_bin(rng):
    """p(x) = (1/N) Σ_n k(x_n, x) with k(x_n, x) = 1[same bin] / V, in two columns of uneven bins."""
    edges = (np.array([-9.0, -1.0, 0.0, 0.7, 9.0]), np.array([-9.0, 0.2, 9.0]))
    X, x = rng.standard_normal((200, 2)), rng.standard_normal((50, 2))
    rows, asked = (
        np.stack([np.digitize(z[:, j], axis) for j, axis in enumerate(edges)], axis=1) for z in (X, x)
    )
    volume = np.prod([np.diff(axis)[asked[:, j] - 1] for j, axis in enumerate(edges)], axis=0)
    kernel = np.all(rows[None] == asked[:, None], axis=-1) / volume[:, None]
    np.testing.assert_allclose(HistogramDensity.fit(X, edges=edges).prob(x), kernel.mean(axis=1), rtol=1e-13)


@pytest.mark.slow
@pytest.mark.spec("DENS-04", "DENS-05", "EST-14")
def test_a_count_is_binomial(rng):
    """K of N rows in a region of probability P: E K/(NV) = P/V, var = P (1 - P) / (N V²)."""
    edges, n, repeats = np.array([-8.0, -1.0, -0.2, 0.1, 2.0, 8.0]), 50, 4000
    chance = np.diff(tractable.Normal(mean=0.0, variance=1.0).cdf(edges))
    volume = np.diff(edges)
    draws = rng.standard_normal((repeats, n))
    heights = np.stack([HistogramDensity.fit(row, edges=edges).heights for row in draws])
    assert_mean(heights, chance / volume, "heights")
    spread = chance * (1.0 - chance) / (n * volume**2)
    assert_mean((heights - chance / volume) ** 2, spread, "squared errors of heights")
    d = HistogramDensity(edges=edges, counts=n * chance)
    np.testing.assert_allclose(d.height_variance, spread, rtol=1e-12)
    more = HistogramDensity(edges=edges, counts=100.0 * n * chance)
    np.testing.assert_allclose(more.height_variance, spread / 100.0, rtol=1e-12)


@pytest.mark.spec("EST-14")
def test_bands_hold_heights_as_often_as_they_say(rng):
    """Exact under the prior: draw a probability of a bin from Beta(½, ½), then a count, then ask the band."""
    n, coverage = 40, 0.8
    p = rng.beta(0.5, 0.5, 6000)
    counts = rng.binomial(n, p)
    d = HistogramDensity(edges=[0.0, 0.5, 2.0], counts=np.stack([counts, n - counts], axis=-1))
    low, high = d.height_interval(coverage)
    truth = np.stack([p / 0.5, (1.0 - p) / 1.5], axis=-1)
    held = (low <= truth) & (truth <= high)
    inner = (counts > 0) & (counts < n)  # at the ends a band holds its tail too
    below, above = truth < low, truth > high
    assert np.all(below[counts == 0, 0] == 0)
    assert np.all(above[counts == n, 0] == 0)
    exact = tractable.Beta(alpha=counts + 0.5, beta=n - counts + 0.5)
    expected = np.where(inner, coverage, 0.5 + 0.5 * coverage)
    assert_mean(held[:, 0] - expected, 0.0, "coverage")
    np.testing.assert_allclose(high[:, 0][counts < n] * 0.5, exact.icdf(0.9)[counts < n], rtol=1e-10)


def test_posterior_of_all_cells():
    d = HistogramDensity(edges=([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]), counts=[[1, 2], [3, 4]])
    np.testing.assert_array_equal(d.posterior().concentration, [1.5, 2.5, 3.5, 4.5])
    np.testing.assert_allclose(d.posterior(1e-9).mean, d.probabilities.reshape(-1), rtol=1e-8)


@pytest.mark.parametrize("n_bins", [1, 7, 100, 1000])
@pytest.mark.parametrize("shift", [0.0, 1e9])
def test_edges_decide_as_in_numpy(n_bins, shift, rng):
    """Numbers on edges, just below and just above them, in even bins and in the same bins searched."""
    edges = np.linspace(-1.0, 2.3, n_bins + 1) + shift
    x = np.concatenate(
        [edges, np.nextafter(edges, -9e9), np.nextafter(edges, 9e9), rng.normal(shift, 1.0, 5000)]
    )
    expected, _ = np.histogram(x, edges)
    for grid in (edges, np.append(edges, edges[-1] + 5.0)):
        found = Bins(edges=[grid]).of(x[:, None])
        inside = np.histogram(x, grid)[0]
        np.testing.assert_array_equal(found.counts, inside)
        assert found.outside == len(x) - inside.sum()
    np.testing.assert_array_equal(
        Bins(edges=[edges, edges]).of(np.stack([x, x], 1)).counts, np.diag(expected)
    )


def test_weights_and_cells_are_those_of_numpy(rng):
    X, w = rng.standard_normal((3000, 3)), rng.random(3000)
    edges = [np.array([-2.0, -0.3, 0.0, 1.0]), np.linspace(-1.0, 1.0, 6), np.array([-5.0, 5.0])]
    found = Bins(edges=edges).of(X, w)
    expected, _ = np.histogramdd(X, edges, weights=w)
    np.testing.assert_allclose(found.counts, expected, rtol=1e-12)
    np.testing.assert_allclose(found.total, w.sum(), rtol=1e-12)


@pytest.mark.parametrize("weighting", ["plain", "linear"])
def test_counts_in_every_library(backend, weighting, rng):
    X, w = rng.standard_normal((60, 2)), rng.random(60)
    X[0] = 0.0, 1.0  # on edges
    bins = Bins(edges=[[-2.0, -0.3, 0.0, 1.0], [-1.0, 0.0, 1.0]], weighting=weighting)
    for weights in (None, w):
        ours, theirs = (
            bins.of(X, weights),
            bins.of(backend.asarray(X), None if weights is None else backend.asarray(weights)),
        )
        assert backend.owns(theirs.counts)
        np.testing.assert_allclose(to_numpy(theirs.counts), ours.counts, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(to_numpy(theirs.outside), ours.outside, rtol=1e-12)


@pytest.mark.spec("DENS-03")
def test_linear_weighting_shares_a_row_between_neighbours(rng):
    edges = np.array([0.0, 1.0, 2.0, 5.0])
    bins = Bins(edges=[edges], weighting="linear")
    np.testing.assert_allclose(bins.of([[1.25]]).counts, [0.25, 0.75, 0.0])
    np.testing.assert_allclose(bins.of([[1.5]]).counts, [0.0, 1.0, 0.0])
    np.testing.assert_allclose(bins.of([[2.5]]).counts, [0.0, 0.5, 0.5])
    np.testing.assert_allclose(bins.of([[0.1], [4.9]]).counts, [1.0, 0.0, 1.0])
    # Between the outermost middles the mean of the middles is the mean of the rows; no weight is lost.
    X = rng.uniform(0.5, 3.5, (400, 1))
    counts = bins.of(X).counts
    np.testing.assert_allclose(counts.sum(), 400.0)
    np.testing.assert_allclose(counts @ [0.5, 1.5, 3.5] / 400.0, X.mean(), rtol=1e-12)
    pair = Bins(edges=[edges, edges], weighting="linear").of([[1.25, 2.5]])
    np.testing.assert_allclose(pair.counts, np.outer([0.25, 0.75, 0.0], [0.0, 0.5, 0.5]))


def test_linear_weighting_is_continuous_across_an_edge():
    bins = {w: Bins(edges=[[0.0, 1.0, 2.0]], weighting=w) for w in ("plain", "linear")}
    step = {w: np.abs(b.of([[1.0 - 1e-9]]).counts - b.of([[1.0]]).counts).max() for w, b in bins.items()}
    assert step["plain"] == 1.0
    assert step["linear"] < 1e-8


@pytest.mark.spec("DENS-02")
def test_rows_can_be_discarded_after_counting(rng):
    X = rng.standard_normal((300, 2))
    model = Histogram(5, bounds=(-3.0, 3.0))
    for block in np.array_split(X, 7):
        model.partial_fit(block)
    np.testing.assert_array_equal(model.counts_, np.histogramdd(X, model.edges_)[0])
    half = model.from_statistic(model.statistic_.discount(0.5))
    np.testing.assert_allclose(half.counts_ * 2, np.histogramdd(X, model.edges_)[0])
    assert not hasattr(Histogram("scott"), "partial_fit")
    assert tractable.tags(Histogram(5)).streaming == "exact over several passes"
    assert tractable.tags(model).streaming == "exact in one pass"


def test_names_of_columns_reach_the_distribution(rng):
    import pandas as pd

    frame = pd.DataFrame(rng.standard_normal((200, 2)), columns=["a", "b"])
    model = Histogram((4, [-9.0, 0.0, 9.0])).fit(frame)
    assert model.counts_.shape == (4, 2)
    given = model.condition({"b": 1.0})
    assert given.names == ("a",)
    np.testing.assert_array_equal(given.counts, model.counts_[:, 1])
    np.testing.assert_array_equal(model.marginal("b").counts, model.counts_.sum(axis=0))


def test_densities_of_vectors_integrate_to_one():
    d = HistogramDensity(edges=([0.0, 1.0, 4.0], [-1.0, 0.0, 0.5, 2.0]), counts=[[1, 5, 2], [4, 3, 3]])
    volumes = np.outer(np.diff(d.edges[0]), np.diff(d.edges[1]))
    np.testing.assert_allclose((d.heights * volumes).sum(), 1.0, rtol=1e-14)
