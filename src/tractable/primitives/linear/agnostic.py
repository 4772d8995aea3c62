"""The functions of `tractable.primitives.linear` in the array API."""

from itertools import pairwise

import numpy as np

from tractable.arrays.double_double import Pair, dd_add, dd_multiply, dd_sum, two_sum
from tractable.arrays.linalg import product, solve_triangular
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.primitives import SILENT

#: Groups from which on their products are one call, and how many times the rows it may take with zeros.
FEW_GROUPS, PADDING = 8, 4

#: Entries up to which an array of the size of all products is made.
FEW_PRODUCTS = 2**17


def triangle(rows: Array) -> Array:
    xp = namespace_of(rows)
    n, d = rows.shape
    if n < d:
        rows = xp.concat([rows, xp.zeros((d - n, d), dtype=rows.dtype, device=device(rows))])
    factor = xp.linalg.qr(rows, mode="reduced")[1]
    diagonal = xp.linalg.diagonal(factor)
    return factor * xp.where(diagonal < 0, -xp.ones_like(diagonal), xp.ones_like(diagonal))[:, None]


def centred_triangle(x: Array, y: Array, weights: Array | None = None) -> tuple[Array, Array, Array, Array]:
    total, mean, rows, rest = centred_rows(x, y, weights)
    return total, mean, triangle(rows), rest


@SILENT
def centred_rows(x: Array, y: Array, weights: Array | None = None) -> tuple[Array, Array, Array, Array]:
    """Return the weight and the mean of rows [x, y], rows √w ([x, y] - mean), and the rest of the mean."""
    xp = namespace_of(x)
    _, total, mean, centred, remainder = _centred(xp.concat([x, y], axis=1), weights)
    rows, (mean, rest) = centred - remainder, two_sum(mean, remainder)
    return total, mean, rows if weights is None else rows * xp.sqrt(weights)[:, None], rest


@SILENT
def moments(x: Array, weights: Array | None = None) -> tuple[Array, Array, Array, Array]:
    one, total, mean, centred, remainder = _centred(x, weights)
    # The square root of the weights on both sides keeps the product symmetric, and BLAS halves its work.
    root = centred if weights is None else centred * namespace_of(x).sqrt(one)[:, None]
    scatter = product(root.T, root) - total * remainder[:, None] * remainder[None, :]
    mean, rest = two_sum(mean, remainder)
    return total, mean, scatter, rest


@SILENT
def grouped_moments(
    x: np.ndarray, edges: np.ndarray, weights: np.ndarray | None
) -> tuple[Array, Array, Array]:
    sizes = edges[1:] - edges[:-1]
    total, mean, centred, remainder = _grouped_centred(x, edges, sizes, weights)
    root = centred if weights is None else centred * np.sqrt(weights)[:, None]
    scatter = _grouped_products(root, edges, sizes)
    moved = total[:, None] * remainder
    if scatter.size <= FEW_PRODUCTS:
        scatter -= moved[:, :, None] * remainder[:, None, :]
    else:  # one after the other: no second array of this size
        for k in range(len(scatter)):
            scatter[k] -= np.outer(moved[k], remainder[k])
    return total, mean + remainder, scatter


@SILENT
def grouped_centred_rows(
    x: np.ndarray, edges: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sizes = edges[1:] - edges[:-1]
    total, mean, rows, remainder = _grouped_centred(x, edges, sizes, weights)
    rows -= remainder.repeat(sizes, axis=0)
    if weights is not None:
        rows *= np.sqrt(weights)[:, None]
    return total, mean + remainder, rows


def _grouped_centred(
    x: np.ndarray, edges: np.ndarray, sizes: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return weights and means of groups of rows, the centred rows, and the means that are left of these."""
    starts = edges[:-1]
    total = sizes.astype(np.float64) if weights is None else np.add.reduceat(weights, starts)

    def means(rows: np.ndarray) -> np.ndarray:
        weighted = rows if weights is None else rows * weights[:, None]
        return np.add.reduceat(weighted, starts, axis=0) / total[:, None]

    mean = means(x)
    centred = x - mean.repeat(sizes, axis=0)
    return total, mean, centred, means(centred)


def _grouped_products(root: np.ndarray, edges: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return RᵀR of the rows of each group, (K, d, d)."""
    n_groups, most, d = len(sizes), int(sizes.max()), root.shape[1]
    if n_groups >= FEW_GROUPS and n_groups * most <= PADDING * len(root):
        # Many small products are one call where every group is given as many rows, of zeros.
        padded = np.zeros((n_groups, most, d))
        padded[np.arange(most) < sizes[:, None]] = root
        return padded.transpose(0, 2, 1) @ padded
    scatter = np.empty((n_groups, d, d))
    for k, (a, b) in enumerate(pairwise(edges.tolist())):
        np.dot(root[a:b].T, root[a:b], out=scatter[k])
    return scatter


@SILENT
def diagonal_moments(x: Array, weights: Array | None = None) -> tuple[Array, Array, Array, Array]:
    one, total, mean, centred, remainder = _centred(x, weights)
    mean, rest = two_sum(mean, remainder)
    return total, mean, product(one, centred * centred) - total * remainder * remainder, rest


def _centred(x: Array, weights: Array | None) -> tuple[Array, Array, Array, Array, Array]:
    """Return the weights, their sum, the mean, the centred rows, and the mean that is left of these."""
    xp = namespace_of(x)
    if weights is None and type(x) is np.ndarray:
        one, total = np.ones(x.shape[0], dtype=x.dtype), x.dtype.type(x.shape[0])
        safe: Array = total or total + 1
    else:
        one = xp.ones(x.shape[0], dtype=x.dtype, device=device(x)) if weights is None else weights
        total = xp.sum(one)
        safe = xp.where(total > 0, total, xp.ones_like(total))
    mean = product(one, x) / safe
    centred = x - mean
    return one, total, mean, centred, product(one, centred) / safe


@SILENT
def residual_sums(x: Array, y: Array, weights: Array, *, centre: Array, coef: Pair, offset: Pair) -> Pair:
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


@SILENT
def gradient_pass(
    rows: Array, targets: Array, weights: Array, steps: Array, batch_size: int, start: Array
) -> tuple[Array, Array, float]:
    xp = namespace_of(rows)
    w, total, squared = start, xp.zeros_like(start), 0.0
    for b in range(steps.shape[0]):
        first, last = b * batch_size, min((b + 1) * batch_size, rows.shape[0])
        phi = rows[first:last, :]
        error = targets[first:last] - phi @ w
        pull = weights[first:last] * error
        squared += float(xp.sum(pull * error))
        w = w + steps[b] * (pull @ phi) / (last - first)
        total = total + w
    return w, total, squared


@SILENT
def squared_mahalanobis(x: Array, mean: Array, lower: Array) -> Array:
    xp = namespace_of(x, mean, lower)
    white = solve_triangular(lower, (x - mean).T)
    return np.add.reduce(white * white) if xp is np else xp.sum(white * white, axis=0)
