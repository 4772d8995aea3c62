"""See `tractable.primitives.class_moments`."""

from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["class_moments"]


def class_moments(
    x: Array, codes: Array, n_classes: int, weights: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """See `tractable.primitives.class_moments.class_moments`."""
    xp = namespace_of(x)
    x = xp.astype(x, xp.float64)
    codes = xp.astype(codes, xp.int64)
    one = codes[:, None] == xp.arange(n_classes, dtype=xp.int64, device=device(x))
    share = xp.astype(one, xp.float64)
    share = share if weights is None else share * weights[:, None]
    seen = ~xp.isnan(x)
    nothing = xp.zeros_like(x)
    weight = share.T @ xp.astype(seen, xp.float64)
    safe = xp.where(weight > 0, weight, xp.ones_like(weight))
    mean = share.T @ xp.where(seen, x, nothing) / safe
    centred = xp.where(seen, x - xp.take(mean, codes, axis=0), nothing)
    left_over = share.T @ centred / safe
    scatter = share.T @ (centred * centred) - weight * left_over * left_over
    return weight, mean + left_over, scatter, xp.sum(share, axis=0)
