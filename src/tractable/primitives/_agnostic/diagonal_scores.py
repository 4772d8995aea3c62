"""See `tractable.primitives.diagonal_scores`."""

from tractable.arrays.log_space import softmax
from tractable.arrays.namespace import Array, namespace_of

__all__ = ["diagonal_scores", "softmax_rows"]


def diagonal_scores(x: Array, means: Array, scales: Array, log_norms: Array) -> Array:
    """See `tractable.primitives.diagonal_scores.diagonal_scores`."""
    xp = namespace_of(x)
    x = xp.astype(x, xp.float64)
    z = (x[:, None, :] - means) * scales
    terms = log_norms - 0.5 * z * z
    return xp.sum(xp.where(xp.isnan(x)[:, None, :], xp.zeros_like(terms), terms), axis=-1)


def softmax_rows(scores: Array) -> Array:
    """See `tractable.primitives.diagonal_scores.softmax_rows`."""
    return softmax(scores)
