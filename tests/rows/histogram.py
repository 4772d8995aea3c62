"""Histograms: distributions, estimators, and the counts they are made of."""

import numpy as np

from rows.row import Row
from tractable.density import Histogram
from tractable.distributions import HistogramDensity
from tractable.statistics import Bins

SQUARE = ([0.0, 1.0, 4.0], [-1.0, 0.0, 0.5, 2.0])
CUBE = ([0.0, 1.0, 4.0], [-1.0, 0.0, 2.0], [0.0, 1.0, 2.0])
FILLED = [[[3.0, 1.0], [2.0, 5.0]], [[1.0, 4.0], [2.0, 2.0]]]

NUMBERS = [
    Row("Histogram", lambda: HistogramDensity(edges=[-1.0, 1.0, 3.0, 5.0, 7.0], counts=[3, 1, 2, 4])),
    Row("Histogram-uneven", lambda: HistogramDensity(edges=[0.0, 0.1, 0.5, 3.0, 10.0], counts=[5, 9, 4, 1])),
    Row("Histogram-gap", lambda: HistogramDensity(edges=[0.0, 1.0, 2.0, 4.0, 5.0], counts=[0, 2, 0, 5.5])),
    Row(
        "Histogram-one",
        lambda: HistogramDensity(edges=[2.0, 3.0], counts=[7]),
        exempt={"kl_is_the_expected_log_ratio": "with one bin there is no other histogram to differ from"},
    ),
    Row("Histogram-far", lambda: HistogramDensity(edges=1e6 + np.arange(4.0), counts=[1, 2, 1])),
    Row("Histogram-tiny", lambda: HistogramDensity(edges=1e-100 * np.arange(4.0), counts=[1, 2, 1])),
    Row("Histogram-huge", lambda: HistogramDensity(edges=1e100 * np.arange(-1.0, 3.0), counts=[1, 2, 1])),
    Row(
        "Histogram-batch",
        lambda: HistogramDensity(edges=[0.0, 1.0, 3.0], counts=[[[1, 3]], [[2, 2]], [[5, 1]]]),
    ),
]
VECTORS = [
    Row("Histogram-pair", lambda: HistogramDensity(edges=SQUARE, counts=[[1, 5, 2], [4, 3, 3]])),
    Row("Histogram-column", lambda: HistogramDensity(edges=([0.0, 1.0, 3.0],), counts=[1, 3])),
    Row("Histogram-named", lambda: HistogramDensity(edges=CUBE, counts=FILLED, names=("a", "b", "c"))),
    Row(
        "Histogram-pairs",
        lambda: HistogramDensity(
            edges=SQUARE, counts=[[[1, 5, 2], [4, 3, 3]], [[2, 2, 2], [1, 1, 9]], [[1, 1, 1], [1, 1, 1]]]
        ),
    ),
    Row(
        "Histogram-scales",
        lambda: HistogramDensity(
            edges=(1e-100 * np.arange(3.0), 1e100 * np.arange(3.0)), counts=[[1, 2], [4, 3]]
        ),
    ),
]
DISTRIBUTIONS = NUMBERS + VECTORS
STATISTICS = [
    Row("BinCounts", lambda: Bins(edges=[[-3.0, 0.0, 1.0, 9.0], [-1.0, 0.0, 4.0], [0.0, 2.0, 3.0]])),
    Row("BinCounts-even", lambda: Bins(edges=[np.linspace(-3.0, 6.0, 10)] * 3)),
    Row(
        "BinCounts-linear",
        lambda: Bins(edges=[[-3.0, 0.0, 1.0, 9.0], [-1.0, 0.0, 4.0], [0.0, 2.0, 3.0]], weighting="linear"),
    ),
]
CELLS = {"check_sample_weight_equivalence_on_dense_data": "scikit-learn's rows have 30 columns: 2^30 cells"}
UNITS = {
    **CELLS,
    "extreme_scales_change_the_scale_alone": "edges that are given are in the units of the rows",
    "far_rows_are_fitted_as_near_ones": "edges that are given stay where they are",
}
GROWS = {"no_row_travels": "a grid of cells, 2^24 at most, which are narrower the more rows there are"}
ESTIMATORS = [
    Row("Histogram", Histogram, exempt=GROWS),
    Row("Histogram-number", lambda: Histogram(3), exempt=CELLS),
    Row("Histogram-linear", lambda: Histogram(2, weighting="linear"), exempt=CELLS),
    Row("Histogram-fd", lambda: Histogram("fd")),
    Row("Histogram-blocks", lambda: Histogram("blocks")),
    Row("Histogram-loo", lambda: Histogram("loo"), exempt=GROWS),
    Row("Histogram-edges", lambda: Histogram(np.array([-1e3, 0.0, 4.0, 1e3])), exempt=UNITS),
    Row("Histogram-bounds", lambda: Histogram(2, bounds=(-1e3, 1e3), weighting="linear"), exempt=UNITS),
]
