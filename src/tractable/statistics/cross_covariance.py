"""The covariance of two tables of the same rows."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.statistics.moments import Moments
from tractable.statistics.rows import as_rows

__all__ = ["cross_covariance"]


def cross_covariance(X: Any, Y: Any = None, sample_weight: Any = None, *, ddof: float = 0.0) -> Array:
    """Return cov[x, y] = E[(x - E x)(y - E y)ᵀ] = E[x yᵀ] - E[x] E[y]ᵀ over the rows of X and Y.

    It is divided by the number of rows, 1/N: maximum likelihood; ``ddof=1`` divides by N - 1: unbiased. The
    first form is computed, in two passes; the second would lose its digits far from the origin.

    Parameters
    ----------
    X : array (n, p)
    Y : array (n, q), optional
        X itself when not given: the covariance matrix.
    sample_weight : array (n,), optional
        How often each row counts.
    ddof : float

    Returns
    -------
    array (p, q)

    Examples
    --------
    >>> cross_covariance([[0.0], [2.0]], [[1.0, 5.0], [3.0, 1.0]])
    array([[ 1., -2.]])
    """
    X = as_rows(X)
    if Y is None:
        return Moments.of(X, sample_weight).covariance(ddof)
    Y = as_rows(Y)
    if X.shape[0] != Y.shape[0]:
        raise ValueError(f"Y must have as many rows as X, {X.shape[0]}, got {Y.shape[0]}")
    both = namespace_of(X, Y).concat([X, Y], axis=1)
    return Moments.of(both, sample_weight).covariance(ddof)[: X.shape[1], X.shape[1] :]
