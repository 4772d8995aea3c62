"""Where a search over Gaussian mixtures begins."""

from typing import Any

import numpy as np

from tractable.arrays import cholesky
from tractable.base import Rows, check_number
from tractable.covariance import Covariance, Diagonal, Full, Isotropic, LowRankPlusDiagonal
from tractable.data import sample_rows
from tractable.engines.kmeans import kmeans
from tractable.mixture.gaussian.model import GaussianParameters
from tractable.mixture.gaussian.steps import CovariancePrior
from tractable.mixture.units import Units
from tractable.primitives.kmeans import kmeans_plus_plus, n_trials

__all__ = [
    "INIT_PARAMS",
    "as_covariance_prior",
    "as_floor",
    "as_matrices",
    "as_numbers",
    "as_start",
    "first_rows",
    "first_shares",
    "given_start",
    "in_units",
    "out_of_units",
    "stretched",
]

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


#: What is added to the variances when nothing is said, as a share of the columns'.
FLOOR = 1e-6


def as_floor(reg_covar: float | None, units: Units) -> np.ndarray:
    """Return what is added to the variances; a constant column has a unit that is its floor."""
    if reg_covar is None:
        return np.where(units.varies, FLOOR, 1.0)
    return np.full(len(units.scale), float(reg_covar)) * units.scale**2


def as_covariance_prior(model: Any, units: Units) -> CovariancePrior:
    """Return the prior on the covariances as pseudo-rows: S = Ψ, N = ν + d + 1."""
    d = len(units.scale)
    given, dof = model.covariance_prior, model.degrees_of_freedom_prior
    if dof is not None:
        check_number("degrees_of_freedom_prior", dof, above=d - 1.0)
    if given is None:
        if dof is not None:
            raise ValueError('degrees_of_freedom_prior needs a covariance_prior; "data" is one')
        return CovariancePrior(scatter=np.zeros((d, d)), weight=0.0)
    if isinstance(given, str):
        if given != "data":
            raise ValueError(f'covariance_prior must be "data", a matrix or None, got {given!r}')
        scatter = np.eye(d) / model.n_components ** (2.0 / d)
    else:
        scatter = as_matrices("covariance_prior", given, (d, d)) * units.scale[:, None] * units.scale
    return CovariancePrior(scatter=scatter, weight=(d + 2.0 if dof is None else float(dof)) + d + 1.0)


def as_start(model: Any, found: GaussianParameters, units: Units) -> GaussianParameters:
    """Return the start with the parts that the user gave."""
    K, d = found.means.shape
    weights, means, structure = out_of_units(found, units)
    if model.weights_init is not None:
        weights = _weights(model.weights_init, K)
    if model.means_init is not None:
        means = as_numbers("means_init", model.means_init, (K, d))
    if model.precisions_init is not None:
        structure = _as_structure(model.precisions_init, model.covariance_type, K, d)
    return in_units(weights, means, structure, units)


def given_start(model: Any, units: Units) -> GaussianParameters | None:
    """Return the start that the user gave, if all of it was given."""
    if any(part is None for part in (model.weights_init, model.means_init, model.precisions_init)):
        return None
    K, d = model.n_components, len(units.scale)
    return in_units(
        _weights(model.weights_init, K),
        as_numbers("means_init", model.means_init, (K, d)),
        _as_structure(model.precisions_init, model.covariance_type, K, d),
        units,
    )


def _weights(given: Any, K: int) -> np.ndarray:
    weights = as_numbers("weights_init", given, (K,))
    if np.any(weights < 0) or abs(float(weights.sum()) - 1.0) > 1e-6:
        raise ValueError(f"weights_init must be shares that sum to one, got {weights.tolist()}")
    return weights


def _as_structure(precisions: Any, covariance_type: str, K: int, d: int) -> Covariance:
    name = "precisions_init"
    shape = {"tied": (d, d), "diag": (K, d), "spherical": (K,), "full": (K, d, d)}
    if covariance_type not in shape:
        raise ValueError(f'precisions_init has no meaning for covariance_type="{covariance_type}"')
    if covariance_type in ("full", "tied"):
        return Full.from_precision(as_matrices(name, precisions, shape[covariance_type]))
    found = as_numbers(name, precisions, shape[covariance_type])
    if not np.all(found > 0):
        raise ValueError(f"{name} must be positive")
    return (
        Diagonal(variances=1.0 / found)
        if covariance_type == "diag"
        else Isotropic(variance=1.0 / found, dim=d)
    )


def as_numbers(name: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return finite numbers of a shape, or refuse what was given."""
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers of shape {shape}, got {given!r}") from None
    if found.shape != shape or not np.all(np.isfinite(found)):
        raise ValueError(f"{name} must be finite numbers of shape {shape}, got shape {found.shape}")
    return found


def as_matrices(name: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return positive definite matrices of a shape, or refuse what was given."""
    found = as_numbers(name, given, shape)
    cholesky(found, name=name)  # refuses what is not positive definite
    return found
