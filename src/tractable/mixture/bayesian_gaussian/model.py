"""What variational Bayes believes of a Gaussian mixture, as distributions."""

from typing import Any

import numpy as np

from tractable.base import Rows, check_number
from tractable.covariance import Covariance, Diagonal, Full, Isotropic
from tractable.covariance.shapes import Shape
from tractable.distributions import (
    Beta,
    Dirichlet,
    Mixture,
    MultivariateStudentT,
    NormalGamma,
    NormalWishart,
    Product,
    StudentT,
)
from tractable.engines import fold
from tractable.mixture.bayesian_gaussian.steps import GaussianBeliefs, MixturePrior, belief_about_weights
from tractable.mixture.gaussian.initial import as_floor, as_matrices, as_numbers
from tractable.mixture.units import Units, survey
from tractable.statistics import DiagonalMoments, Moments
from tractable.value import value

__all__ = ["BayesianUnits", "MixturePosterior", "look_at", "posterior", "predictive", "prior_attributes"]


@value
class MixturePosterior:
    """The factors of q(π) q(μ, Λ), which variational Bayes makes as like the posterior as such can be.

    Parameters
    ----------
    weights : Dirichlet, Beta or None
        Of π; or, under a Dirichlet process, of the share v_k of what the components before k have left,
        π_k = v_k Π_{j<k} (1 - v_j). Of one component, whose weight is 1 with "dirichlet_distribution", None.
    components : NormalWishart of batch (K,), or NormalGamma of batch (K, d)
        Of each mean with its precision matrix, or of each of their columns where they are "diag". "tied"
        components have one precision matrix between them, and the columns of "spherical" ones one precision:
        each entry of the batch is what is believed of it, and they are not independent.

    Examples
    --------
    >>> import tractable
    >>> X = tractable.datasets.load("old_faithful").frame.to_numpy()
    >>> model = tractable.BayesianGaussianMixture(2, random_state=0).fit(X)
    >>> model.posterior_.components.dof.round(0)
    array([177.,  99.])
    >>> low, high = model.posterior_.components.mean_marginal()[0].interval(0.9)
    """

    weights: Dirichlet | Beta | None
    components: NormalWishart | NormalGamma


def posterior(params: GaussianBeliefs, means: np.ndarray, structure: Covariance) -> MixturePosterior:
    """Return the factors in the units of the means and covariances given."""
    return MixturePosterior(
        weights=belief_about_weights(params.concentration), components=_components(params, means, structure)
    )


def predictive(
    params: GaussianBeliefs, means: np.ndarray, structure: Covariance, names: tuple[str, ...] | None
) -> Mixture:
    """Return ∫ p(x | π, μ, Λ) q(π, μ, Λ): Student-t components, Bishop (10.81)."""
    wider = 1.0 + 1.0 / params.strength
    if isinstance(structure, Diagonal):
        return Mixture(weights=params.weights, components=_columns(params, means, structure, wider, names))
    d = means.shape[1]
    if isinstance(structure, Isotropic):
        dof = d * params.dof
    else:
        dof = np.broadcast_to(params.dof, len(means)) - (d - 1.0)
        wider = wider * params.dof / dof
    components = MultivariateStudentT(dof=dof, location=means, scale=structure.scaled(wider), names=names)
    return Mixture(weights=params.weights, components=components)


def _columns(
    params: GaussianBeliefs, means: np.ndarray, structure: Covariance, wider: np.ndarray, names: Any
) -> Product:
    scales = np.sqrt(structure.diagonal * wider[:, None])
    columns = zip(means.T, scales.T, strict=True)
    return Product(parts=[StudentT(dof=params.dof, location=m, scale=s) for m, s in columns], names=names)


def _components(
    params: GaussianBeliefs, means: np.ndarray, structure: Covariance
) -> NormalWishart | NormalGamma:
    K, d = means.shape
    if isinstance(structure, Full):
        dof = np.broadcast_to(params.dof, K)
        scale = structure.precision() / dof[:, None, None]
        return NormalWishart(mean=means, strength=params.strength, dof=dof, scale=scale)
    rows = d if isinstance(structure, Isotropic) else 1
    shape = np.broadcast_to(0.5 * rows * params.dof[:, None], (K, d))
    return NormalGamma(
        mean=means, strength=params.strength[:, None], shape=shape, rate=shape * structure.diagonal
    )


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
