"""Shares of a whole: sets of probabilities given as they are or by their logarithms."""

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.saddle_point import count_deviance

__all__ = ["as_shares", "log_or_minus_inf", "share_divergence", "surprise"]


def as_shares(x: Array) -> Array:
    """Return shares that add up to one along the last axis; unchanged if they do, up to rounding."""
    xp = namespace_of(x)
    total = xp.sum(x, axis=-1, keepdims=True)
    rounding = x.shape[-1] * xp.finfo(x.dtype).eps
    return xp.where(xp.abs(total - 1.0) <= rounding, x, x / total)


def log_or_minus_inf(p: Array) -> Array:
    """Return log p, -inf at 0."""
    xp = namespace_of(p)
    log = xp.log(xp.where(p > 0, p, xp.ones_like(p)))
    return xp.where(p > 0, log, xp.full_like(p, -xp.inf))


def surprise(p: Array, log_p: Array) -> Array:
    """Return -p log p, 0 at 0: one term of an entropy."""
    xp = namespace_of(p)
    return -p * xp.where(p > 0, log_p, xp.zeros_like(p))


def share_divergence(p: Array, log_p: Array, q: Array, log_q: Array) -> Array:
    """Return p log(p / q) + q - p, one term of a divergence; q may be too small for anything but its log."""
    xp = namespace_of(p)
    p, log_p, q, log_q = xp.broadcast_arrays(p, log_p, q, log_q)
    near = (abs(p - q) <= 0.1 * (p + q)) & (q > 0)
    one = xp.ones_like(p)
    close = count_deviance(xp.where(near, p, one), xp.where(near, q, one))
    some = (p > 0) & ~near
    ratio = xp.where(some, log_p, xp.zeros_like(p)) - xp.where(some, log_q, xp.zeros_like(p))
    return xp.where(near, close, p * ratio + (q - p))
