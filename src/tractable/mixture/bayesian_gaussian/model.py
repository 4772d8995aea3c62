"""Prior and variational posterior of a Gaussian mixture, as parameters and as distributions."""

from typing import Any

import numpy as np

from tractable.arrays.gamma import digamma
from tractable.arrays.linalg import factor_if_definite, inv_triangular
from tractable.base import check_number, check_values
from tractable.covariance import Covariance, Diagonal, Full, Isotropic
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
from tractable.mixture.gaussian.model import GaussianParameters
from tractable.statistics import ColumnSummary, DiagonalMoments, Moments, Standardizer
from tractable.value import value

#: Roundings a column, below which the covariance of standardized columns is singular.
ROUNDINGS = 8.0

#: A covariance whose condition is known to be better than the reciprocal of this is not singular.
REGULAR = 1e-10


@value
class MixturePrior:
    """The prior of every component, in standardized columns."""

    sticks: bool  # whether weights are a stick-breaking (Dirichlet) process, or a Dirichlet distribution
    concentration: float  # α₀
    strength: float  # β₀, pseudo-observations of the mean
    mean: np.ndarray  # m₀, (d,)
    dof: float  # ν₀, pseudo-observations of the precision
    scatter: np.ndarray  # W₀⁻¹, (d, d)


@value
class VariationalParameters(GaussianParameters):
    """q(π) Π_k N(μ_k | m_k, (β_k Λ_k)⁻¹) W(Λ_k | ν_k, W_k), in standardized columns.

    `weights` are E π_k, `means` m_k, and `structure` the inverses of E Λ_k = ν_k W_k.
    """

    concentration: np.ndarray  # of the Dirichlet, (K,); or of the sticks' Betas, (2, K)
    strength: np.ndarray  # β, (K,)
    dof: np.ndarray  # ν, (K,); (1,) where components share their precision


@value
class MixturePosterior:
    """The factors of q(π) q(μ, Λ), the variational approximation of the posterior.

    Parameters
    ----------
    weights : Dirichlet, Beta or None
        Of π; or, under a Dirichlet process, of the fraction v_k of what the components before k have left,
        π_k = v_k Π_{j<k} (1 - v_j). Of one component, whose weight is 1 with "dirichlet_distribution", None.
    components : NormalWishart of batch (K,), or NormalGamma of batch (K, d)
        Of each mean with its precision matrix, or of each of their columns where they are "diag". "tied"
        components have one precision matrix between them, and the columns of "spherical" ones one precision:
        each entry of the batch is its posterior, and they are not independent.

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


def posterior(params: VariationalParameters, means: np.ndarray, structure: Covariance) -> MixturePosterior:
    """Return the factors in the scale of the means and covariances given."""
    K, d = means.shape
    components: NormalWishart | NormalGamma
    if isinstance(structure, Full):
        dof = np.broadcast_to(params.dof, K)
        scale = structure.precision() / dof[:, None, None]
        components = NormalWishart(mean=means, strength=params.strength, dof=dof, scale=scale)
    else:
        rows = d if isinstance(structure, Isotropic) else 1
        shape = np.broadcast_to(0.5 * rows * params.dof[:, None], (K, d))
        components = NormalGamma(
            mean=means, strength=params.strength[:, None], shape=shape, rate=shape * structure.diagonal
        )
    return MixturePosterior(weights=weights_posterior(params.concentration), components=components)


def predictive(
    params: VariationalParameters, means: np.ndarray, structure: Covariance, names: tuple[str, ...] | None
) -> Mixture:
    """Return ∫ p(x | π, μ, Λ) q(π, μ, Λ): Student-t components, Bishop (10.81)."""
    wider, d = 1.0 + 1.0 / params.strength, means.shape[1]
    if isinstance(structure, Diagonal):
        scales = np.sqrt(structure.diagonal * wider[:, None])
        columns = zip(means.T, scales.T, strict=True)
        parts = [StudentT(dof=params.dof, location=m, scale=s) for m, s in columns]
        return Mixture(weights=params.weights, components=Product(parts=parts, names=names))
    if isinstance(structure, Isotropic):
        dof = d * params.dof
    else:
        dof = np.broadcast_to(params.dof, len(means)) - (d - 1.0)
        wider = wider * params.dof / dof
    components = MultivariateStudentT(dof=dof, location=means, scale=structure.scaled(wider), names=names)
    return Mixture(weights=params.weights, components=components)


def weights_posterior(concentration: np.ndarray) -> Dirichlet | Beta | None:
    """Return q(π), or that of the fractions of the stick; None for one component alone."""
    if concentration.ndim == 2:
        return Beta(alpha=concentration[0], beta=concentration[1])
    return Dirichlet(concentration=concentration) if len(concentration) > 1 else None


def posterior_concentration(prior: MixturePrior, n: np.ndarray) -> np.ndarray:
    """Return α₀ + N_k, or the parameters (1 + N_k, α₀ + Σ_{j>k} N_j) of the sticks' Betas."""
    if not prior.sticks:
        return prior.concentration + n
    later = np.concatenate([np.cumsum(n[:0:-1])[::-1], [0.0]])
    return np.stack([1.0 + n, prior.concentration + later])


def expected_weights(concentration: np.ndarray) -> np.ndarray:
    """Return E π_k; of a stick, normalised without its remainder."""
    if concentration.ndim == 1:
        return concentration / concentration.sum()
    fraction, remainder = concentration / concentration.sum(axis=0)
    weights = fraction * np.concatenate([[1.0], np.cumprod(remainder[:-1])])
    return weights / weights.sum()


def expected_log_weights(concentration: np.ndarray) -> np.ndarray:
    """Return E log π_k."""
    if concentration.ndim == 1:
        return digamma(concentration) - digamma(concentration.sum())
    fraction, remainder = digamma(concentration) - digamma(concentration.sum(axis=0))
    return fraction + np.concatenate([[0.0], np.cumsum(remainder[:-1])])


def prior_of(
    model: Any, source: Any, summary: ColumnSummary, standardizer: Standardizer, floor: np.ndarray
) -> MixturePrior:
    """Return the prior that a model's parameters describe, with what they leave open taken from the rows."""
    shift, scale = standardizer.shift, standardizer.scale
    least = len(scale) - 1.0 if model.covariance_type in ("full", "tied") else 0.0
    given = model.mean_prior
    mean = shift if given is None else check_values("mean_prior", given, shift.shape)
    return MixturePrior(
        sticks=model.weight_concentration_prior_type == "dirichlet_process",
        concentration=_number(model, "weight_concentration_prior", 1.0 / model.n_components),
        strength=_number(model, "mean_precision_prior", 1.0),
        mean=(mean - shift) * scale,
        dof=_number(model, "degrees_of_freedom_prior", float(len(scale)), above=least),
        scatter=_scatter(model, source, summary, scale, floor),
    )


def prior_attributes(prior: MixturePrior, standardizer: Standardizer, covariance_type: str) -> dict[str, Any]:
    """Return the prior in the rows' own scale, under scikit-learn's names."""
    scatter = prior.scatter / standardizer.scale[:, None] / standardizer.scale
    if covariance_type == "diag":
        scatter = np.diagonal(scatter)
    return {
        "weight_concentration_prior_": prior.concentration,
        "mean_precision_prior_": prior.strength,
        "mean_prior_": standardizer.inverse_transform(prior.mean),
        "degrees_of_freedom_prior_": prior.dof,
        "covariance_prior_": float(scatter[0, 0]) if covariance_type == "spherical" else scatter,
    }


def _number(model: Any, name: str, default: float, above: float = 0.0) -> float:
    given = getattr(model, name)
    if given is None:
        return default
    check_number(name, given, above=above)
    return float(given)


def _scatter(
    model: Any, source: Any, summary: ColumnSummary, scale: np.ndarray, floor: np.ndarray
) -> np.ndarray:
    """Return W₀⁻¹ as a matrix, whatever the shape of the covariances."""
    d, given, kind = len(scale), model.covariance_prior, model.covariance_type
    if given is None:
        return _definite(_covariance(source, summary, scale, kind) + np.diag(floor))
    if kind in ("full", "tied"):
        return check_values("covariance_prior", given, (d, d), definite=True) * scale[:, None] * scale
    found = check_values("covariance_prior", given, (d,) if kind == "diag" else ())
    if not np.all(found > 0):
        raise ValueError(f"covariance_prior must be positive, got {given!r}")
    return np.diag(found * scale**2)


def _definite(scatter: np.ndarray) -> np.ndarray:
    """Refuse a covariance that is singular up to rounding, whatever the variances of its columns."""
    width = np.sqrt(np.diagonal(scatter))
    correlations = scatter / width[:, None] / width if np.all(width > 0) else np.zeros_like(scatter)
    lower, regular = factor_if_definite(correlations)
    # The least eigenvalue is above 1 / tr C⁻¹, and the greatest below tr C: they need not be known.
    if regular and np.sum(inv_triangular(lower) ** 2) * len(width) < 1.0 / REGULAR:
        return scatter
    lengths = np.linalg.eigvalsh(correlations)
    if lengths[0] <= ROUNDINGS * len(lengths) * np.finfo(np.float64).eps * lengths[-1]:
        raise ValueError(
            "X has columns that are constant or follow from others, so that their covariance, the "
            "default of covariance_prior, is singular; give covariance_prior, or a positive reg_covar"
        )
    return scatter


def _covariance(source: Any, summary: ColumnSummary, scale: np.ndarray, kind: str) -> np.ndarray:
    """Return the rows' covariance; where entries are missing, of each column by itself."""
    n = summary.total
    if n <= 1.0:
        raise ValueError(
            f"sample_weight must add up to more than 1, got {n:g}; or give covariance_prior, which is the "
            "covariance of X when not given"
        )
    if kind in ("full", "tied") and summary.complete:
        moments = fold(Moments.of, source)
        return moments.scatter * (scale[:, None] * scale) / (n - 1.0)
    columns: DiagonalMoments = summary.moments
    variances = columns.scatter * scale**2 / columns.weight * (n / (n - 1.0))
    return np.diag(np.full_like(variances, variances.mean()) if kind == "spherical" else variances)
