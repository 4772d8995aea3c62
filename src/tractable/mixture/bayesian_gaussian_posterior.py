"""What variational Bayes believes of a Gaussian mixture, as distributions."""

from typing import Any

import numpy as np

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
from tractable.mixture.bayesian_gaussian_steps import GaussianBeliefs, belief_about_weights
from tractable.value import value

__all__ = ["MixturePosterior", "posterior", "predictive"]


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
