"""Modes of mixtures: mean-shift and Newton for normals, pattern search for other families."""

from collections.abc import Callable
from typing import Any

from tractable.arrays.linalg import cholesky, solve_triangular
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.covariance import Diagonal
from tractable.distributions.mixture import Mixture
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.normal import Normal
from tractable.engines.newton import newton

__all__ = ["find_modes"]

#: Mean-shift steps before Newton's: enough to find the nearest hill.
N_SHIFTS = 100

#: Two ends of a search within so many standard deviations are one mode.
SAME = 1e-4

#: Two ends within so many are one where there is no valley between them: a summit may be all but flat.
NEAR = 0.1

#: How far, in units of the components' precision, the curvature at a maximum may be on the wrong side of 0.
FLAT = 1e-6


def find_modes(mixture: Mixture) -> Array:
    """Return the local maxima of one mixture's density, the highest first, (m, *event)."""
    xp = namespace_of(mixture.weights)
    if isinstance(mixture.components, Normal):
        return find_modes(_as_vectors(mixture))[:, 0]
    starts = xp.take(mixture.components.mode, xp.nonzero(mixture.weights > 0)[0], axis=0)
    if isinstance(mixture.components, MultivariateNormal):
        ends = _normal_modes(mixture, starts)
    elif len(mixture.event_shape) <= 1:
        climbed = [_climbed(mixture, starts[i, ...]) for i in range(starts.shape[0])]
        ends = _distinct(climbed, lambda a, b: bool(xp.all(xp.abs(a - b) <= SAME * mixture.stddev)))
    else:
        ends = [starts[i, ...] for i in range(starts.shape[0])]
    return xp.stack(sorted(ends, key=lambda x: -float(mixture.log_prob(x))))


def _as_vectors(mixture: Mixture) -> Mixture:
    """Return a mixture of normal numbers as one of vectors of one entry."""
    mean, variance = mixture.components.mean[:, None], mixture.components.variance[:, None]
    components = MultivariateNormal(mean=mean, covariance=Diagonal(variances=variance))
    return Mixture(weights=mixture.weights, components=components)


def _normal_modes(mixture: Any, x: Array) -> list[Array]:
    """Ascend from every mean; keep the maxima, or the best point where rounding leaves none."""
    precisions = mixture.components.precision
    for _ in range(N_SHIFTS):
        x = _shifted(mixture, precisions, x)
    ends = [
        newton(lambda at: _expansion(mixture, precisions, at), x[i, ...], tol=1e-15)
        for i in range(x.shape[0])
    ]
    ends.sort(key=lambda end: end.value)
    maxima = [
        end.x for end in ends if _is_maximum(_mean_precision(mixture, precisions, end.x), end.curvature)
    ]

    def same(a: Array, b: Array) -> bool:
        step = a - b
        squared = float((step @ _mean_precision(mixture, precisions, a)) @ step)
        return squared <= SAME**2 or (squared <= NEAR**2 and not _valley(mixture, a, b))

    return _distinct(maxima or [ends[0].x], same)


def _valley(mixture: Any, a: Array, b: Array) -> bool:
    """Whether the density half-way between two points is lower than at both."""
    middle, ends = mixture.log_prob(0.5 * (a + b)), (mixture.log_prob(a), mixture.log_prob(b))
    return bool(middle < min(ends) - 8.0 * namespace_of(a).finfo(a.dtype).eps * abs(middle))


def _shifted(mixture: Any, precisions: Array, x: Array) -> Array:
    """One step of mean-shift (of EM for x): the mean of the means, weighted by r_k Λ_k."""
    xp = namespace_of(x)
    r = mixture.responsibilities(x)[..., None, None]
    pull = xp.sum(r * (precisions @ mixture.components.mean[..., None]), axis=1)
    return xp.linalg.solve(xp.sum(r * precisions, axis=1), pull)[..., 0]


def _mean_precision(mixture: Any, precisions: Array, x: Array) -> Array:
    return namespace_of(x).sum(mixture.responsibilities(x)[:, None, None] * precisions, axis=0)


def _expansion(mixture: Any, precisions: Array, x: Array) -> tuple[Array, Array, Array]:
    """Return -log p and its derivatives: with v_k = Λ_k (μ_k - x), -∇² = Σ r_k (Λ_k - v_k v_kᵀ) + g gᵀ."""
    xp = namespace_of(x)
    r = mixture.responsibilities(x)[:, None]
    v = (precisions @ (mixture.components.mean - x)[..., None])[..., 0]
    g = xp.sum(r * v, axis=0)
    hessian = xp.sum(r[..., None] * (precisions - v[:, :, None] * v[:, None, :]), axis=0) + g[:, None] * g
    return -mixture.log_prob(x), -g, hessian


def _is_maximum(precision: Array, hessian: Array) -> bool:
    """Whether -∇² log p is positive, in units in which the mean precision of the components is 1."""
    xp = namespace_of(hessian)
    lower = cholesky(precision)
    half = solve_triangular(lower, hessian)
    scaled = solve_triangular(lower, xp.matrix_transpose(half))
    return bool(xp.min(xp.linalg.eigvalsh(0.5 * (scaled + xp.matrix_transpose(scaled)))) > -FLAT)


def _climbed(mixture: Any, x: Array) -> Array:
    """Pattern search: try steps along every coordinate, take the best, halve them where none is better.

    Whole numbers are tried beside each step, so that counted coordinates move too.
    """
    xp = namespace_of(x)
    scale = xp.where(xp.isfinite(mixture.stddev), mixture.stddev, xp.ones_like(mixture.stddev))
    axes = xp.eye(max(1, *x.shape, 1), dtype=x.dtype, device=device(x))
    directions = xp.reshape(xp.concat([axes, -axes], axis=0), (-1, *x.shape))
    best, length = mixture.log_prob(x), 1.0
    while length > 1e-9:
        steps = length * scale
        whole = xp.where(steps > 1.0, xp.round(steps), xp.ones_like(steps))
        tried = x + xp.concat([directions * steps, directions * whole], axis=0)
        scores = mixture.log_prob(tried)
        scores = xp.where(xp.isnan(scores), xp.full_like(scores, -xp.inf), scores)
        k = int(xp.argmax(scores))
        if bool(scores[k] > best):
            x, best = tried[k, ...], scores[k]
        else:
            length *= 0.5
    return x


def _distinct(points: list[Array], same: Callable[[Array, Array], bool]) -> list[Array]:
    kept: list[Array] = []
    for x in points:
        if not any(same(x, other) for other in kept):
            kept.append(x)
    return kept
