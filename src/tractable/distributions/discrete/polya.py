"""Pólya's urn: counts whose probabilities are Beta or Dirichlet, without large terms that cancel.

Γ(x + a) / (Γ(a) x!) of each category, over the same of the whole: by log z! = z log z - z + rest(z) the large
terms make deviances of x and of a from the same fraction r/R of n and of A, with r = x + a and R = n + A.
"""

from typing import Any

import numpy as np

from tractable.arrays.gamma import trigamma
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.saddle_point import count_deviance, factorial_rest
from tractable.arrays.special import digamma
from tractable.distributions.checks import row_weights
from tractable.engines.newton import newton

__all__ = ["category_term", "fitted_concentrations", "whole_term"]


def category_term(x: Array, a: Array, n: Array, total: Array) -> Array:
    """Return the part of one category in the log probability: its count x of n, its concentration a of A."""
    fraction = (x + a) / (n + total)
    return whole_term(x, a) - count_deviance(x, n * fraction) - count_deviance(a, total * fraction)


def whole_term(n: Array, total: Array) -> Array:
    """Return rest(n + A) - rest(A) - rest(n) + log A/(n + A), taken off the sum over the categories."""
    return factorial_rest(n + total) - factorial_rest(total) - factorial_rest(n) - _log1p_ratio(n, total)


def _log1p_ratio(n: Array, total: Array) -> Array:
    """Return log(1 + n/A), however small A is."""
    xp = namespace_of(n, total)
    n, total = xp.broadcast_arrays(n, total)
    small = n <= total
    near = xp.log1p(xp.where(small, n, xp.zeros_like(n)) / total)
    return xp.where(small, near, xp.log(n + total) - xp.log(total))


def fitted_concentrations(X: Array, sample_weight: Any = None) -> Array:
    """Return the concentrations (*batch, K) that make rows of counts (n, *batch, K) most probable."""
    xp = namespace_of(X)
    if X.ndim < 2 or not X.shape[0]:
        raise ValueError(f"X must have rows of counts, got shape {tuple(X.shape)}")
    w = row_weights(sample_weight, X)
    batch, K = tuple(X.shape[1:-1]), X.shape[-1]
    rows = xp.reshape(X, (X.shape[0], int(np.prod(batch)), K))
    found = [_fitted(rows[:, j, :], w) for j in range(rows.shape[1])]
    return xp.reshape(xp.stack(found), (*batch, K))


def _fitted(X: Array, w: Array) -> Array:
    xp = namespace_of(X)
    start = _start(X, w)
    n = xp.sum(X, axis=-1, keepdims=True)
    one = w[:, None]

    def objective(log_a: Array) -> tuple[Array, Array, Array]:
        """Return minus the log likelihood with its gradient and Hessian in log α."""
        a = xp.exp(log_a)
        A = xp.sum(a)
        terms = category_term(X, a, n, A)
        value = xp.sum(one * (whole_term(n, A) - xp.sum(terms, axis=-1, keepdims=True)))
        slope = a * xp.sum(one * ((digamma(A) - digamma(A + n)) + (digamma(a + X) - digamma(a))), axis=0)
        shared = xp.sum(one * (trigamma(A) - trigamma(A + n)))
        own = xp.sum(one * (trigamma(a + X) - trigamma(a)), axis=0)
        eye = xp.eye(a.shape[0], dtype=a.dtype, device=device(a))
        hessian = a[:, None] * a[None, :] * (shared + eye * own) + eye * slope
        return value, -slope, -hessian

    return xp.exp(newton(objective, xp.log(start), tol=1e-14, max_iter=200).x)


def _start(X: Array, w: Array) -> Array:
    """Return concentrations that match the coincidences, E Σ n_k (n_k - 1)/p_k = n (n - 1) (A + K)/(A + 1).

    They exist, as does the most likely fit, while the rows are spread out more than a multinomial's and less
    than rows that fall into one category each.
    """
    xp = namespace_of(X)
    total = w @ X
    if not bool(xp.all(total > 0)):
        raise ValueError("X must have a count in every category: without one its concentration tends to 0")
    probabilities = total / xp.sum(total)
    n = xp.sum(X, axis=-1)
    pairs = w @ (X * (X - 1.0))
    ratio = float(xp.sum(pairs / probabilities)) / max(float(w @ (n * (n - 1.0))), 0.5)
    K = X.shape[-1]
    if not ratio > 1.0 + 1e-12:
        raise ValueError(
            "X is no more spread out than independent trials are: the likelihood grows with the "
            "concentration without end; fit a Binomial or Multinomial"
        )
    if not ratio < K * (1.0 - 1e-12):
        raise ValueError(
            "X has one category alone in every row: the likelihood grows as concentrations tend to 0"
        )
    return probabilities * ((K - ratio) / (ratio - 1.0))
