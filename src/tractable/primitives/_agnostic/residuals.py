"""See `tractable.primitives.residuals`."""

from tractable.arrays.double_double import Pair, dd_add, dd_multiply, dd_sum
from tractable.arrays.exact import two_sum
from tractable.arrays.namespace import Array, namespace_of

__all__ = ["residual_sums"]


def residual_sums(x: Array, y: Array, weights: Array, *, centre: Array, coef: Pair, offset: Pair) -> Pair:
    """See `tractable.primitives.residuals.residual_sums`."""
    xp = namespace_of(x)
    sums = [
        _one_target(x, y[:, k], weights, centre=centre, coef=_at(coef, k), offset=_at(offset, k))
        for k in range(y.shape[1])
    ]
    return xp.stack([high for high, _ in sums]), xp.stack([low for _, low in sums])


def _one_target(x: Array, y: Array, weights: Array, *, centre: Array, coef: Pair, offset: Pair) -> Pair:
    xp = namespace_of(x)
    columns = [two_sum(x[:, j], -centre[j]) for j in range(x.shape[1])]
    residual = dd_add((y, xp.zeros_like(y)), (-offset[0], -offset[1]))
    for j, column in enumerate(columns):
        residual = dd_add(residual, dd_multiply(column, (-coef[0][j], -coef[1][j])))
    weighted = dd_multiply(residual, (weights, xp.zeros_like(weights)))
    parts = [
        weighted,
        *(dd_multiply(column, weighted) for column in columns),
        dd_multiply(residual, weighted),
    ]
    return dd_sum((xp.stack([p[0] for p in parts], axis=1), xp.stack([p[1] for p in parts], axis=1)))


def _at(pair: Pair, k: int) -> Pair:
    return pair[0][k, ...], pair[1][k, ...]
