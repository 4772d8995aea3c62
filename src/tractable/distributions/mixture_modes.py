"""Modes of mixtures: mean-shift and Newton for normals, a grid for numbers, pattern search for the rest."""

from tractable.arrays.namespace import Array, namespace_of
from tractable.covariance import Diagonal
from tractable.distributions.line_modes import line_modes
from tractable.distributions.mixture import Mixture
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.normal import Normal
from tractable.distributions.normal_modes import normal_modes
from tractable.distributions.pattern_search import searched_modes
from tractable.distributions.univariate import Univariate

__all__ = ["find_modes"]


def find_modes(mixture: Mixture) -> Array:
    """Return the local maxima of one mixture's density, the highest first, (m, *event)."""
    xp = namespace_of(mixture.weights)
    if isinstance(mixture.components, Normal):
        return find_modes(_as_vectors(mixture))[:, 0]
    if isinstance(mixture.components, Univariate):
        found = line_modes(mixture)
    elif isinstance(mixture.components, MultivariateNormal):
        found = normal_modes(mixture, _starts(mixture))
    elif len(mixture.event_shape) == 1:
        found = searched_modes(mixture, _starts(mixture))
    else:
        found = _starts(mixture)
    order = xp.argsort(-mixture.log_prob(found), stable=True)
    return xp.take(found, order, axis=0)


def _starts(mixture: Mixture) -> Array:
    """Return the modes of the components that have any weight."""
    xp = namespace_of(mixture.weights)
    return xp.take(mixture.components.mode, xp.nonzero(mixture.weights > 0)[0], axis=0)


def _as_vectors(mixture: Mixture) -> Mixture:
    """Return a mixture of normal numbers as one of vectors of one entry."""
    mean, variance = mixture.components.mean[:, None], mixture.components.variance[:, None]
    components = MultivariateNormal(mean=mean, covariance=Diagonal(variances=variance))
    return Mixture(weights=mixture.weights, components=components)
