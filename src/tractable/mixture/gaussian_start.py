"""Where a search over Gaussian mixtures begins."""

from typing import Any

import numpy as np

from tractable.base import Rows
from tractable.covariance import Covariance, Diagonal, Full, Isotropic, LowRankPlusDiagonal
from tractable.data import sample_rows
from tractable.mixture.gaussian_sums import GaussianParameters
from tractable.mixture.kmeans_search import kmeans
from tractable.mixture.units import Units
from tractable.primitives.kmeans import kmeans_plus_plus, n_trials

__all__ = ["INIT_PARAMS", "first_rows", "first_shares", "in_units", "out_of_units", "stretched"]

INIT_PARAMS = ("kmeans", "k-means++", "random", "random_from_data")

#: A start looks at so many rows at most; all of them take part in the search.
START_ROWS = 16_384

#: Columns in one unit may differ by any factor; what is smaller is nothing beside the others.
NOTHING = 1e-100


def first_rows(
    rows: Rows, units: Units, n_components: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return standardised rows to begin with, and their weights; missing entries are put at the mean."""
    # A generator of its own: how many rows there are must not change what is drawn later.
    (own,) = rng.spawn(1)
    x, weights = sample_rows(rows.data, rows.weights, max(START_ROWS, 32 * n_components), own)
    z = np.nan_to_num((x - units.shift) * units.scale, nan=0.0)
    return np.where(np.abs(z) < NOTHING, 0.0, z), weights  # squares must not underflow


def first_shares(
    how: str, z: np.ndarray, weights: np.ndarray | None, n_components: int, rng: np.random.Generator
) -> np.ndarray:
    """Return shares (n, K) of the components in rows, as `init_params` says."""
    if how == "random":
        draws = rng.standard_exponential((len(z), n_components))
        return draws / draws.sum(axis=1, keepdims=True)
    if how == "kmeans":
        labels = kmeans(z, weights, n_components, rng).labels
    else:
        labels = _nearest(z, z[_seeds(how, z, weights, n_components, rng)])
    return np.eye(n_components)[labels]


def _seeds(how: str, z: np.ndarray, weights: Any, n_components: int, rng: np.random.Generator) -> np.ndarray:
    if how == "k-means++":
        return kmeans_plus_plus(z, weights, n_components, rng.random((n_components, n_trials(n_components))))
    # Equal shares of the cumulative weight, so that weights are repetitions.
    w = np.ones(len(z)) if weights is None else weights
    total = np.cumsum(w)
    places = (np.arange(n_components) + rng.random(n_components)) / n_components * total[-1]
    return np.minimum(np.searchsorted(total, places, side="right"), len(z) - 1)


def _nearest(z: np.ndarray, centres: np.ndarray) -> np.ndarray:
    distances = np.sum(centres * centres, axis=1) - 2.0 * z @ centres.T
    return np.argmin(distances, axis=1)


def in_units(
    weights: np.ndarray, means: np.ndarray, structure: Covariance, units: Units
) -> GaussianParameters:
    """Return parameters of rows as parameters of standardised rows."""
    return GaussianParameters(
        weights=weights,
        means=(means - units.shift) * units.scale,
        structure=stretched(structure, units.scale),
    )


def out_of_units(params: GaussianParameters, units: Units) -> tuple[np.ndarray, np.ndarray, Covariance]:
    """Return the weights, means and covariances of rows from those of standardised rows."""
    return (
        params.weights,
        units.shift + params.means / units.scale,
        stretched(params.structure, 1.0 / units.scale),
    )


def stretched(structure: Covariance, width: np.ndarray) -> Covariance:
    """Return the covariance of rows whose columns are `width` times as wide."""
    if isinstance(structure, Isotropic):  # all columns have one unit
        return Isotropic(variance=structure.variance * width[0] ** 2, dim=structure.dim)
    if isinstance(structure, Diagonal):
        return Diagonal(variances=structure.variances * width**2)
    if isinstance(structure, LowRankPlusDiagonal):
        return LowRankPlusDiagonal(
            factor=structure.factor * width[:, None], variances=structure.variances * width**2
        )
    assert isinstance(structure, Full)
    return Full(cholesky=structure.cholesky * width[:, None])
