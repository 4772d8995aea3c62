"""Checks of the parameters of distributions: one ValueError that names the parameter, at construction.

A check is a function of a parameter's name and its array; written so that NaN fails too.
"""

from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, all_true, namespace_of
from tractable.arrays.weights import check_weights
from tractable.statistics.rows import counts


def check_finite(name: str, x: Array) -> None:
    """Refuse NaN and infinity."""
    xp = namespace_of(x)
    _require(xp.isfinite(x), name, "finite", x)


def check_positive(name: str, x: Array) -> None:
    """Refuse what is not finite and above zero."""
    xp = namespace_of(x)
    _require((x > 0) & xp.isfinite(x), name, "positive and finite", x)


def check_nonnegative(name: str, x: Array) -> None:
    """Refuse what is not finite and at least zero."""
    xp = namespace_of(x)
    _require((x >= 0) & xp.isfinite(x), name, "finite and not negative", x)


def check_probability(name: str, x: Array) -> None:
    """Refuse what is not between zero and one, both included."""
    _require((x >= 0) & (x <= 1), name, "from 0 to 1", x)


def check_probabilities(name: str, x: Array) -> None:
    """Refuse what is not from zero to one and, along the last axis, one in sum (up to half the digits)."""
    xp = namespace_of(x)
    _require((x >= 0) & (x <= 1), name, "from 0 to 1", x)
    total = xp.sum(x, axis=-1)
    _require(xp.abs(total - 1) <= xp.finfo(x.dtype).eps ** 0.5, name, "probabilities that add up to 1", total)


def check_varies(varies: Array) -> None:
    """Refuse observations of a family with a scale that are all the same; `varies` is one bool a column."""
    if not bool(namespace_of(varies).all(varies)):
        raise ValueError("X must vary: the likelihood of observations that are all the same has no maximum")


def check_coverage(coverage: float) -> float:
    """Return the coverage of an interval if it is one."""
    given = as_reals("coverage", coverage)
    if given.ndim or not 0.0 < float(given) < 1.0:
        raise ValueError(f"coverage must be between 0 and 1, got {coverage!r}")
    return float(coverage)


def check_sample_weight(sample_weight: Any, n_rows: int, like: Array) -> Array | None:
    """Return the weights of rows as an array of `like`'s library, or None where every row counts once."""
    if sample_weight is None:
        return None
    weights = check_weights(sample_weight, n_rows, like=like, name="sample_weight", some=True)
    return namespace_of(like).astype(weights, like.dtype)


def row_weights(sample_weight: Any, X: Array) -> Array:
    """Return the weights (n,) of rows, ones where None, as an array like X."""
    return counts(check_sample_weight(sample_weight, X.shape[0], X), X)


def as_point_weights(weights: Any, points: Array) -> Array:
    """Return the weights (n,) of points (n, *event): ones where None; not negative, at least one positive."""
    xp, n = namespace_of(points), points.shape[0]
    if weights is None:
        return xp.ones_like(xp.reshape(points, (n, -1))[:, 0])
    weights = xp.astype(as_reals("weights", weights, points), points.dtype)
    if tuple(weights.shape) != (n,):
        raise ValueError(f"weights must have shape ({n},), got {tuple(weights.shape)}")
    check_nonnegative("weights", weights)
    if not bool(xp.any(weights > 0)):
        raise ValueError("weights must have a positive entry")
    return weights


def exactly_one(**given: Any) -> tuple[str, Any]:
    """Return the name and value of the one keyword that is not None."""
    found = [(name, x) for name, x in given.items() if x is not None]
    if len(found) != 1:
        raise ValueError(f"give exactly one of {' and '.join(given)}, got {len(found)} of them")
    return found[0]


def _require(good: Array, name: str, what: str, x: Array) -> None:
    if all_true(good):
        return
    xp = namespace_of(good)
    worst = xp.reshape(x, (-1,))[xp.argmin(xp.astype(xp.reshape(good, (-1,)), xp.int8))]
    raise ValueError(f"{name} must be {what}, got {float(worst)!r}")
