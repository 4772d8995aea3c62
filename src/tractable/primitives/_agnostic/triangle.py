"""See `tractable.primitives.triangle`."""

from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["centred_triangle", "triangle"]


def triangle(rows: Array) -> Array:
    """See `tractable.primitives.triangle.triangle`."""
    xp = namespace_of(rows)
    n, d = rows.shape
    if n < d:
        rows = xp.concat([rows, xp.zeros((d - n, d), dtype=rows.dtype, device=device(rows))])
    factor = xp.linalg.qr(rows, mode="reduced")[1]
    diagonal = xp.linalg.diagonal(factor)
    return factor * xp.where(diagonal < 0, -xp.ones_like(diagonal), xp.ones_like(diagonal))[:, None]


def centred_triangle(x: Array, y: Array, centre: Array, roots: Array | None = None) -> tuple[Array, Array]:
    """See `tractable.primitives.triangle.centred_triangle`."""
    xp = namespace_of(x)
    rows = xp.concat([x, y], axis=1) - centre
    if roots is None:
        return triangle(rows), xp.sum(rows, axis=0)
    rows = rows * roots[:, None]
    return triangle(rows), roots @ rows
