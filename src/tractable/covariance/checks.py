"""What structures ask of their parameters, and of the statistics they are made from."""

from typing import Any

from tractable.arrays.namespace import Array, freeze, namespace_of
from tractable.covariance.rows import as_reals

__all__ = ["check_jitter", "checked_factor", "checked_variances", "column_variances"]


def checked_variances(name: str, x: Any) -> Array:
    """Return finite positive numbers as a frozen array, or say which parameter is at fault."""
    x = as_reals(name, x)
    xp = namespace_of(x)
    # Written so that NaN is rejected too.
    if not bool(xp.all((x > 0) & xp.isfinite(x))):
        raise ValueError(f"{name} must be positive and finite")
    return freeze(x)


def checked_vectors(name: str, x: Any) -> Array:
    """Return positive vectors (*batch, d) as a frozen array."""
    x = checked_variances(name, x)
    if x.ndim < 1 or not x.shape[-1]:
        raise ValueError(f"{name} must be (*batch, d) with d at least 1, got shape {tuple(x.shape)}")
    return x


def checked_factor(factor: Any, like: Array, n_axes: int) -> Array:
    """Return positive numbers (*batch,) with axes of one behind them, to stand beside vectors or matrices."""
    factor = checked_variances("factor", as_reals("factor", factor, like))
    return factor[(..., *(None,) * n_axes)]


def check_jitter(jitter: Any, like: Array) -> None:
    """Refuse a jitter that is not finite and at least zero."""
    xp = namespace_of(like)
    jitter = as_reals("jitter", jitter, like)
    if not bool(xp.all((jitter >= 0) & xp.isfinite(jitter))):
        raise ValueError("jitter must be finite and not negative")


def column_variances(moments: Any, ddof: float) -> Array:
    """Return the variance of each column from the moments of all columns together, or of each by itself."""
    xp = namespace_of(moments.mean)
    alone = moments.scatter.ndim == moments.mean.ndim
    scatter = moments.scatter if alone else xp.linalg.diagonal(moments.scatter)
    weight = as_reals("weight", moments.weight, scatter)
    rest = (weight if alone else weight[..., None]) - ddof
    if not bool(xp.all(rest > 0)):
        raise ValueError(f"a variance with ddof={ddof} needs a weight above {ddof}, got {moments.weight}")
    return scatter / rest
