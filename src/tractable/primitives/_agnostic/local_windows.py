"""See `tractable.primitives.local_windows`."""

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.special import log_sum_exp

__all__ = ["log_local_windows"]


def log_local_windows(x: Array, points: Array, whiten: Array, heights: Array, of_rows: bool) -> Array:
    """See `tractable.primitives.local_windows.log_local_windows`."""
    xp = namespace_of(x, points, whiten, heights)
    away = (x[:, None, :] - points[None, :, :])[..., None]
    shapes = whiten[:, None, :, :] if of_rows else whiten[None, :, :, :]
    white = xp.matmul(shapes, away)[..., 0]
    return log_sum_exp(heights - 0.5 * xp.sum(white * white, axis=-1))
