"""What is believed of a Gaussian mixture before rows are seen, as users say it or as the rows suggest."""

from typing import Any

import numpy as np

from tractable.base import Rows, check_number
from tractable.engines import fold
from tractable.mixture.bayesian_gaussian_steps import MixturePrior
from tractable.mixture.gaussian_parameters import as_floor, as_matrices, as_numbers
from tractable.mixture.gaussian_shapes import Shape
from tractable.mixture.units import Units, survey
from tractable.statistics import DiagonalMoments, Moments
from tractable.value import value

__all__ = ["BayesianUnits", "look_at", "prior_attributes"]

#: Roundings a column, below which a direction of the rows has no width.
ROUNDINGS = 8.0


@value
class BayesianUnits:
    """Where the columns lie and how wide they are, and what is believed of the components."""

    units: Units
    prior: MixturePrior
    clouds: np.ndarray  # what `reg_covar` adds to the variances, (d,)


def look_at(rows: Rows, model: Any, shape: Shape) -> BayesianUnits:
    """Look at the rows, for their units and for what the user left open."""
    units = survey(rows, common=shape.round)
    d = len(units.scale)
    clouds = as_floor(model.reg_covar, units)
    least = d - 1.0 if model.covariance_type in ("full", "tied") else 0.0
    dof = _number(model, "degrees_of_freedom_prior", float(d), above=least)
    prior = MixturePrior(
        sticks=model.weight_concentration_prior_type == "dirichlet_process",
        concentration=_number(model, "weight_concentration_prior", 1.0 / model.n_components),
        strength=_number(model, "mean_precision_prior", 1.0),
        mean=_mean(model.mean_prior, units),
        dof=dof,
        scatter=_scatter(model, rows, units, clouds),
    )
    return BayesianUnits(units=units, prior=prior, clouds=clouds)


def prior_attributes(found: BayesianUnits, covariance_type: str) -> dict[str, Any]:
    """Return the prior in the rows' own units, under scikit-learn's names."""
    units, prior = found.units, found.prior
    scatter = prior.scatter / units.scale[:, None] / units.scale
    if covariance_type == "diag":
        scatter = np.diagonal(scatter)
    return {
        "weight_concentration_prior_": prior.concentration,
        "mean_precision_prior_": prior.strength,
        "mean_prior_": units.shift + prior.mean / units.scale,
        "degrees_of_freedom_prior_": prior.dof,
        "covariance_prior_": float(scatter[0, 0]) if covariance_type == "spherical" else scatter,
    }


def _number(model: Any, name: str, default: float, above: float = 0.0) -> float:
    given = getattr(model, name)
    if given is None:
        return default
    check_number(name, given, above=above)
    return float(given)


def _mean(given: Any, units: Units) -> np.ndarray:
    if given is None:
        return np.zeros_like(units.shift)
    return (as_numbers("mean_prior", given, units.shift.shape) - units.shift) * units.scale


def _scatter(model: Any, rows: Rows, units: Units, clouds: np.ndarray) -> np.ndarray:
    """Return W₀⁻¹ as a matrix, whatever the shape of the covariances."""
    d, given, kind = len(units.scale), model.covariance_prior, model.covariance_type
    if given is None:
        return _definite(_covariance(rows, units, kind) + np.diag(clouds))
    if kind in ("full", "tied"):
        return as_matrices("covariance_prior", given, (d, d)) * units.scale[:, None] * units.scale
    found = as_numbers("covariance_prior", given, (d,) if kind == "diag" else ())
    if not np.all(found > 0):
        raise ValueError(f"covariance_prior must be positive, got {given!r}")
    return np.diag(found * units.scale**2)


def _definite(scatter: np.ndarray) -> np.ndarray:
    """Refuse a covariance of standardised columns that is singular but for rounding."""
    lengths = np.linalg.eigvalsh(scatter)
    if lengths[0] <= ROUNDINGS * len(lengths) * np.finfo(np.float64).eps * lengths[-1]:
        raise ValueError(
            "X has columns that are constant or follow from others, so that their covariance is no "
            "covariance_prior; give one, or a positive reg_covar"
        )
    return scatter


def _covariance(rows: Rows, units: Units, kind: str) -> np.ndarray:
    """Return the rows' covariance; where entries are missing, of the columns by themselves."""
    n = units.total
    if n <= 1.0:
        raise ValueError(
            f"sample_weight must add up to more than 1, got {n:g}; or give covariance_prior, which is the "
            "covariance of X when not given"
        )
    if kind in ("full", "tied") and units.complete:
        moments = fold(Moments.of, rows.data, weights=rows.weights)
        return moments.scatter * units.scale[:, None] * units.scale / (n - 1.0)
    columns = fold(DiagonalMoments.of, rows.data, weights=rows.weights)
    variances = columns.scatter * units.scale**2 / columns.weight * (n / (n - 1.0))
    return np.diag(np.full_like(variances, variances.mean()) if kind == "spherical" else variances)
