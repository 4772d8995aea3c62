"""Where rows with far outliers lie and how wide they are: medians, which outliers do not move."""

import numpy as np

from tractable.base import Rows
from tractable.data import sample_rows
from tractable.mixture.gaussian_start import START_ROWS
from tractable.mixture.units import Units, seen_in, survey
from tractable.value import replace

__all__ = ["drawn_in", "place", "survey_by_medians"]

#: The standard deviation of a normal column is so many times its median distance from the median.
NORMAL_WIDTH = 1.482602218505602


def survey_by_medians(rows: Rows) -> Units:
    """Return units in which a normal column has variance one, with outliers or without.

    Of many rows some are looked at, always the same.
    """
    found = survey(rows)
    x, weights = sample_rows(rows.data, rows.weights, START_ROWS, np.random.default_rng(0))
    location, away = place(x, np.ones(len(x)) if weights is None else weights)
    width = NORMAL_WIDTH * away
    told = found.varies & (width > np.finfo(np.float64).eps * np.abs(location))
    by_medians = replace(
        found,
        shift=np.where(told, location, found.shift),
        scale=np.where(told, 1.0 / np.where(told, width, 1.0), found.scale),
    )
    return seen_in(rows, by_medians)


def place(z: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the median of each column and the median distance from it; where that is zero, of the others."""
    location = _median(z, weights)
    away = np.abs(z - location)
    width = _median(away, weights)
    for j in np.flatnonzero(width == 0):  # more than half of the rows have one value
        other = (away[:, j] > 0) & (weights > 0)
        if other.any():
            width[j] = _median(away[other, j, None], weights[other])[0]
    return location, width


def drawn_in(z: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return rows about their medians, on a scale that is logarithmic from a few widths on."""
    location, width = place(z, np.ones(len(z)) if weights is None else weights)
    return np.arcsinh((z - location) / np.where(width > 0, width, 1.0))


def _median(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted median of each column; whole weights are repetitions."""
    order = np.argsort(x, axis=0, kind="stable")
    total = np.cumsum(weights[order], axis=0)
    ordered, half = np.take_along_axis(x, order, axis=0), 0.5 * total[-1]
    low = np.argmax(total >= half, axis=0)
    high = np.argmax(total > half, axis=0)
    columns = np.arange(x.shape[1])
    return 0.5 * (ordered[low, columns] + ordered[high, columns])
