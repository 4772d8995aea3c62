"""Pólya's urn: probabilities of counts whose shares are Beta or Dirichlet, without large terms that cancel.

Γ(x + a) / (Γ(a) x!) of each category, over the same of the whole: by log z! = z log z - z + rest(z) the large
terms make deviances of x and of a from the same share r/R of n and of A, with r = x + a and R = n + A.
"""

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.saddle_point import count_deviance, factorial_rest

__all__ = ["category_term", "whole_term"]


def category_term(x: Array, a: Array, n: Array, total: Array) -> Array:
    """Return the part of one category in the log probability: its count x of n, its concentration a of A."""
    share = (x + a) / (n + total)
    return whole_term(x, a) - count_deviance(x, n * share) - count_deviance(a, total * share)


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
