"""See `tractable.primitives.nearest_centers`."""

from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.primitives._agnostic.seeding import squared_distances

__all__ = ["assign"]


def assign(x: Array, weights: Any, shift: Array, scale: float, centers: Array) -> dict[str, Any]:
    """See `tractable.primitives.nearest_centers.assign`."""
    xp = namespace_of(x)
    x = (xp.astype(x, xp.float64) - shift) * scale
    distances = squared_distances(x, centers)
    labels = xp.argmin(distances, axis=1)
    own = xp.arange(centers.shape[0], device=device(x))
    shares = xp.astype(labels[:, None] == own[None, :], xp.float64)
    shares = shares if weights is None else shares * weights[:, None]
    return {
        "labels": labels,
        "sums": shares.T @ x,
        "counts": xp.sum(shares, axis=0),
        "cost": xp.sum(shares * distances),
    }
