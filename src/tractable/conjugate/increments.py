"""Increments of log normalising constants from prior to posterior, without large terms that cancel.

With log Γ(z) = (z - ½) log z - z + ½ log 2π + rest(z) the logarithms of a strong prior combine to a deviance
between the means of prior and posterior, which is small.
"""

import numpy as np

from tractable.arrays.double_double import two_product
from tractable.arrays.gamma import digamma, stirling_error, trigamma
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.saddle_point import count_deviance, deviance


def log_gamma_ratio(a: Array, s: Array) -> Array:
    """Return log Γ(a + s) - log Γ(a), for s ≥ 0, accurate for large a."""
    xp = namespace_of(a, s)
    return a * xp.log1p(s / a) + s * xp.log(a + s) - s + _rest(a, s)


def gamma_increment(eta: Array, added: Array) -> Array:
    """Return log of the constant of Gamma(a + s, b + e) over that of Gamma(a, b), (a, b) on the last axis.

    With λ' = (a + s)/(b + e), the mean after the data, it is s log λ' - e λ' - D(a, b λ') + …: the log
    likelihood there, less the deviance of the prior.
    """
    xp = namespace_of(eta, added)
    a, b, s, e = eta[..., 0], eta[..., 1], added[..., 0], added[..., 1]
    after = (a + s) / (b + e)
    prior_term = _deviance(a, b * after, _across(s, b, a, e) / (b + e))
    return s * xp.log(after) - e * after - prior_term + _rest(a, s)


def gamma_increment_from_best(eta: Array, added: Array) -> Array:
    """Return `gamma_increment` less s log(s/e) - s, the log likelihood at its greatest.

    That leaves - D(s, e λ') - D(a, b λ') + ….
    """
    a, b, s, e = eta[..., 0], eta[..., 1], added[..., 0], added[..., 1]
    after, gap = (a + s) / (b + e), _across(s, b, a, e) / (b + e)
    lost = count_deviance(s + 0.0 * after, e * after, -gap - (e * after - s))
    return _rest(a, s) - _deviance(a, b * after, gap) - lost


def dirichlet_increment(alpha: Array, counts: Array) -> Array:
    """Return log of the constant of Dirichlet(α + n) over that of Dirichlet(α), over the last axis.

    With the mean p' after the data it is Σ n_k log p'_k - D(α_k, A p'_k) + …, A = Σ α: the log likelihood
    there, less the deviance of the prior.
    """
    xp = namespace_of(alpha, counts)
    strength, n = xp.sum(alpha, axis=-1, keepdims=True), xp.sum(counts, axis=-1, keepdims=True)
    after = (alpha + counts) / (strength + n)
    prior_term = _deviance(alpha, strength * after, _across(strength, counts, n, alpha) / (strength + n))
    # Near 1 a probability is known better by what it leaves to the others.
    small = after < 0.5
    left = xp.where(small, xp.zeros_like(after), _others(alpha + counts) / (strength + n))
    log_after = xp.where(small, xp.log(after), xp.log1p(-left))
    terms = counts * log_after - prior_term + _rest(alpha, counts)
    return xp.sum(terms, axis=-1) - _rest(strength, n)[..., 0]


def dirichlet_increment_from_best(alpha: Array, counts: Array) -> Array:
    """Return `dirichlet_increment` less Σ n_k log(n_k / N), the log likelihood at its greatest.

    That leaves - Σ D(n_k, N p'_k) - D(α_k, A p'_k) + ….
    """
    xp = namespace_of(alpha, counts)
    strength, n = xp.sum(alpha, axis=-1, keepdims=True), xp.sum(counts, axis=-1, keepdims=True)
    after = (alpha + counts) / (strength + n)
    gap = _across(strength, counts, n, alpha) / (strength + n)
    lost = count_deviance(counts + 0.0 * after, n * after, -gap - (n * after - counts))
    terms = _rest(alpha, counts) - _deviance(alpha, strength * after, gap) - lost
    return xp.sum(terms, axis=-1) - _rest(strength, n)[..., 0]


def _others(x: Array) -> Array:
    """Return Σ_{j≠k} x_j for each k of the last axis, without a difference."""
    xp = namespace_of(x)
    none = xp.zeros_like(x[..., :1])
    before = xp.concat([none, xp.cumulative_sum(x, axis=-1)[..., :-1]], axis=-1)
    after = xp.concat([none, xp.cumulative_sum(xp.flip(x, axis=-1), axis=-1)[..., :-1]], axis=-1)
    return before + xp.flip(after, axis=-1)


def _across(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return a b - c d without cancellation where it is small, as for data near their expectation."""
    (p, p_rest), (q, q_rest) = two_product(a, b), two_product(c, d)
    return (p - q) + (p_rest - q_rest)


def _deviance(a: Array, y: Array, gap: Array) -> Array:
    """Return a log a/y + y - a, given y - a better than as a difference."""
    return deviance(a + 0.0 * y, y, gap - (y - a))


def _rest(a: Array, s: Array) -> Array:
    """Return rest(a + s) - rest(a) - ½ log(1 + s/a)."""
    xp = namespace_of(a, s)
    return stirling_error(a + s) - stirling_error(a) - 0.5 * xp.log1p(s / a)


def dirichlet_gradient(alpha: np.ndarray) -> np.ndarray:
    """Return ψ(α_k) - ψ(Σ α), (..., K)."""
    slope: np.ndarray = digamma(alpha) - digamma(alpha.sum(axis=-1, keepdims=True))
    return slope


def dirichlet_hessian(alpha: np.ndarray) -> np.ndarray:
    """Return ψ′(α_k) on the diagonal, less ψ′(Σ α) everywhere, (..., K, K)."""
    own = trigamma(alpha)[..., None] * np.eye(alpha.shape[-1])
    curvature: np.ndarray = own - trigamma(alpha.sum(axis=-1))[..., None, None]
    return curvature


def gamma_gradient(eta: np.ndarray) -> np.ndarray:
    """Return ψ(a) - log b and -a / b, of (a, b) on the last axis."""
    shape, rate = eta[..., 0], eta[..., 1]
    return np.stack([digamma(shape) - np.log(rate), -shape / rate], axis=-1)


def gamma_hessian(eta: np.ndarray) -> np.ndarray:
    """Return the second derivatives ψ′(a), -1 / b and a / b², (..., 2, 2)."""
    shape, rate = eta[..., 0], eta[..., 1]
    across = -1.0 / rate
    first = np.stack([trigamma(shape), across], axis=-1)
    return np.stack([first, np.stack([across, shape / rate**2], axis=-1)], axis=-2)
