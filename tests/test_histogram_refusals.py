"""What is no histogram, or no question to one, is one clear error."""

import numpy as np
import pytest

import tractable
from tractable.density import Histogram
from tractable.distributions import HistogramDensity

ONE = np.linspace(0.0, 1.0, 9)[:, None]
WIDE = np.tile([[0.0], [1.0]], 30)
FAR = np.append(np.linspace(0.0, 1.0, 99), 1e12)[:, None]


@pytest.mark.parametrize(
    ("options", "X", "named"),
    [
        ({"bins": 0}, ONE, "bins"),
        ({"bins": 2.5}, ONE, "bins"),
        ({"bins": None}, ONE, "bins"),
        ({"bins": True}, ONE, "bins"),
        ({"bins": 10**12}, ONE, "bins"),
        ({"bins": "square"}, ONE, "bins"),
        ({"bins": [1.0]}, ONE, "bins"),
        ({"bins": [0.0, 0.0, 1.0]}, ONE, "bins.*increasing"),
        ({"bins": [1.0, 0.0]}, ONE, "bins.*increasing"),
        ({"bins": [0.0, np.nan]}, ONE, "bins"),
        ({"bins": [0.0, np.inf]}, ONE, "bins"),
        ({"bins": (3, 3)}, ONE, "bins"),
        ({"bins": ("loo",)}, ONE, "bins"),
        ({"bins": 9}, WIDE, "bins.*cells"),
        ({"bins": 10}, [[1.0], [1.0 + 4e-16]], "bins"),
        ({"bins": "fd"}, FAR, "bins"),
        ({"bins": 3, "bounds": (1.0, 0.0)}, ONE, "bounds"),
        ({"bins": 3, "bounds": (0.0, np.inf)}, ONE, "bounds"),
        ({"bins": 3, "bounds": [1.0]}, ONE, "bounds"),
        ({"bins": 3, "bounds": "wide"}, ONE, "bounds"),
        ({"bins": "scott", "bounds": (5.0, 6.0)}, ONE, "X"),
        ({"bins": [5.0, 6.0]}, ONE, "X"),
        ({"weighting": "square"}, ONE, "weighting"),
        ({"bins": 3}, [[0.0], [5e-324]], "X"),
    ],
)
def test_refusals(options, X, named):
    with pytest.raises(ValueError, match=named):
        Histogram(**options).fit(X)


@pytest.mark.parametrize("bins", ["scott", [0.0, 0.5, 1.0]])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused_in_streams_too(bins, bad):
    spoilt = ONE.copy()
    spoilt[3] = bad
    for X in (spoilt, [ONE, spoilt]):
        with pytest.raises(ValueError, match="X contains"):
            Histogram(bins).fit(X)


def test_statistics_of_other_bins_are_refused():
    here, there = Histogram([0.0, 0.5, 1.0]).fit(ONE), Histogram([0.0, 0.4, 1.0]).fit(ONE)
    for other in (there, Histogram([0.0, 0.5, 1.0], weighting="linear").fit(ONE)):
        with pytest.raises(ValueError, match="bins"):
            here.merge(other)
        with pytest.raises(ValueError, match="bins"):
            here.from_statistic(other.statistic_)
        with pytest.raises(ValueError, match="bins"):
            here.statistic_ + other.statistic_
    with pytest.raises(ValueError, match="statistic"):
        here.from_statistic(tractable.Moments.of(ONE))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"edges": [0.0, 1.0], "counts": [-1.0]}, "counts"),
        ({"edges": [0.0, 1.0], "counts": [0.0]}, "counts"),
        ({"edges": [0.0, 1.0], "counts": [1.0, 2.0]}, "counts"),
        ({"edges": [0.0, 1.0], "counts": [np.inf]}, "counts"),
        ({"edges": [0.0, 0.0], "counts": [1.0]}, "edges"),
        ({"edges": [0.0], "counts": []}, "edges"),
        ({"edges": "ab", "counts": [1.0]}, "edges"),
        ({"edges": [], "counts": [1.0]}, "edges"),
        ({"edges": ([0.0, 1.0],), "counts": [1.0], "names": ["a", "b"]}, "names"),
    ],
)
def test_values_refuse_what_is_no_histogram(options, named):
    with pytest.raises(ValueError, match=named):
        HistogramDensity(**options)


def test_questions_that_have_no_answer_are_refused():
    pair = HistogramDensity(edges=([0.0, 1.0, 2.0], [0.0, 5.0, 9.0]), counts=[[1, 1], [0, 2]])
    for values, named in (([-1.0], "values"), ([7.0], "values"), ([np.nan], "values")):
        with pytest.raises(ValueError, match=named):
            pair.condition([0], values)
    with pytest.raises(ValueError, match="zero"):
        HistogramDensity(edges=pair.edges, counts=[[1, 1], [0, 0]]).condition([0], [1.5])
    with pytest.raises(ValueError, match="edges"):
        pair.kl_divergence(HistogramDensity(edges=([0.0, 1.0, 2.0], [0.0, 4.0, 9.0]), counts=pair.counts))
    with pytest.raises(ValueError, match="X"):
        HistogramDensity.fit([5.0], edges=[0.0, 1.0])
    with pytest.raises(ValueError, match="dims"):
        HistogramDensity(edges=[0.0, 1.0], counts=[1]).marginal([0])
    for coverage in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match="coverage"):
            pair.height_interval(coverage)
    with pytest.raises(ValueError, match="pseudocount"):
        pair.height_interval(pseudocount=0.0)
