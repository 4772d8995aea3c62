"""Few, long rows: centred, multiplied with each other and summed, by blocks of columns on all cores."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tractable.arrays.linalg import column_lengths, column_squares
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.data.blocks import tree_sum
from tractable.primitives import SILENT
from tractable.primitives.blocks import over_blocks
from tractable.statistics.rows import counts
from tractable.value import value

#: Entries of rows up to which a centred copy is held; larger ones are referred to.
HELD_ENTRIES = 2**20

#: Every so many rows are looked at for the spread of a column, of which they have no more than all.
EVERY = 8
#: Squares of the mean, summed over all rows, up to which it is near zero, in units of the squares of these
#: rows about it: of most columns, a mean of 1.4 standard deviations. To subtract it first would save one bit.
NEAR = 16.0

#: Sums over the same rows differ by less than this part of their terms, by rounding.
SAME_ROWS = 1e-10
#: Rounding of means, a part of them, twice.
ROUNDING = 8.0 * float(np.finfo(np.float64).eps)


@value
class ReferredRows:
    """Rows A = x - mean that are not copied: centred when they are asked for, or as they are summed."""

    x: Array  # (m, p)
    mean: Array  # (p,)
    far: Array  # (p,) of bool, columns whose means are large beside their spread: not summed uncentred
    squares: Array  # (m,), squared lengths of the rows A

    @property
    def centred(self) -> Array:
        """A itself, (m, p)."""
        return self.x - self.mean

    def column_sums(self, weights: Array) -> Array:
        """Return wᵀ A for weights (t, m), as x is: (wᵀ x) - (Σ w) mean where that keeps the digits."""
        total = weights.sum(axis=1)

        def of(part: slice) -> Array:
            x, mean, far = self.x[:, part], self.mean[part], np.flatnonzero(self.far[part])
            if EVERY * len(far) > len(mean):
                return weights @ (x - mean)
            sums = weights @ x - np.multiply.outer(total, mean)
            sums[:, far] = weights @ (x[:, far] - mean[far])
            return sums

        return _side_by_side(of, self.x)

    def unchanged(self, weights: Array, sums: Array) -> Array | None:
        """Return A, or None where x is not what it was when `column_sums` of weights (t, m) were `sums`."""
        xp, rows = namespace_of(self.x), self.centred
        n, lengths, squares = rows.shape[0], column_lengths(rows), column_squares(rows.T)
        # Products are centred once more: by what the rounding of large means has left.
        rounding = ROUNDING * (xp.abs(rows) @ xp.abs(self.mean))
        same = (
            xp.abs(xp.sum(rows, axis=0)) <= SAME_ROWS * (n * xp.abs(self.mean) + n**0.5 * lengths),
            xp.abs(weights @ rows - sums) <= SAME_ROWS * column_lengths(weights.T)[:, None] * lengths,
            xp.abs(squares - self.squares) <= SAME_ROWS * (self.squares + xp.mean(self.squares)) + rounding,
        )
        return rows if all(bool(xp.all(part)) for part in same) else None


def read_rows(
    x: Array, weights: Array | None, *, centred: bool = True
) -> tuple[Array, Array | ReferredRows, Array]:
    """Return the means of columns (p,), the rows A = √w (x - mean), and A Aᵀ: for few, long rows.

    A is a copy where it is small, or rows have weights. Larger rows are referred to, and columns whose means
    are small beside their spread are multiplied as they are: the products are centred instead. Without
    `centred` the means are zero.
    """
    if not (centred and weights is None and is_numpy_array(x) and x.size > HELD_ENTRIES):
        return centred_products(x, weights, centred=centred)
    n, p = x.shape
    mean, far = np.empty(p), np.empty(p, dtype=bool)

    @SILENT
    def read(part: slice) -> Array:
        columns = x[:, part]
        mean[part] = _column_means(columns, np.ones(n), n)
        length, spread = n * mean[part] ** 2, column_squares(columns[::EVERY] - mean[part])
        far[part] = length > NEAR * spread
        return _squared(columns if length.sum() <= NEAR * spread.sum() else columns - mean[part])

    products = tree_sum(_over_columns(read, x))
    _centre(products)
    return mean, ReferredRows(x=x, mean=mean, far=far, squares=products.diagonal().copy()), products


@SILENT
def _centre(products: np.ndarray) -> None:
    """Make products X Xᵀ those of the rows less their mean, in place: the terms along ones are left out."""
    along = products.mean(axis=1)
    along -= 0.5 * along.mean()
    products -= along[:, None] + along[None, :]


def centred_products(x: Array, weights: Array | None, *, centred: bool = True) -> tuple[Array, Array, Array]:
    """Return the means of columns (p,), a copy A = √w (x - mean) of the rows, and A Aᵀ.

    Every block of columns is read once, and squared while it is in the cache. Without `centred` the means are
    zero.
    """
    xp = namespace_of(x)
    one = counts(weights, x)
    root = None if weights is None else xp.sqrt(one)[:, None]
    total = xp.sum(one)

    if not is_numpy_array(x):
        mean = (one @ x) / total if centred else xp.zeros_like(x[0, :])
        rows = x - mean if root is None else (x - mean) * root
        return mean, rows, rows @ rows.T
    mean, rows = np.zeros(x.shape[1]), np.empty(x.shape)

    @SILENT
    def fill(part: slice) -> Array:
        if centred:
            mean[part] = _column_means(x[:, part], one, total)
        np.subtract(x[:, part], mean[part], out=rows[:, part])
        if root is not None:
            rows[:, part] *= root
        return _squared(rows[:, part])

    return mean, rows, tree_sum(_over_columns(fill, x))


def _column_means(x: np.ndarray, one: np.ndarray, total: Any) -> np.ndarray:
    """Return the means of columns with weights `one`: of constant columns exactly, no rows of rounding."""
    mean = (one @ x) / total
    same = np.flatnonzero(x[0] == x[-1])
    same = same[(x[:, same] == x[0, same]).all(axis=0)]
    mean[same] = x[0, same]
    return mean


def row_products(rows: Array) -> Array:
    """Return A Aᵀ, the sum over blocks of columns on all cores."""
    if not is_numpy_array(rows):
        return rows @ rows.T
    return tree_sum(_over_columns(lambda part: _squared(rows[:, part]), rows))


@SILENT
def _squared(columns: Array) -> Array:
    return columns @ columns.T


def column_sums(rows: Array | ReferredRows, weights: Array) -> Array:
    """Return wᵀ A for weights (t, m), by blocks of columns on all cores."""
    if isinstance(rows, ReferredRows):
        return rows.column_sums(weights)
    if not is_numpy_array(rows):
        return weights @ rows
    return _side_by_side(lambda part: weights @ rows[:, part], rows)


def as_array(rows: Array | ReferredRows) -> Array:
    """Return rows A as an array, (m, p)."""
    return rows.centred if isinstance(rows, ReferredRows) else rows


def _side_by_side(of: Callable[[slice], Array], x: np.ndarray) -> np.ndarray:
    return np.concatenate(list(_over_columns(of, x)), axis=1)


def _over_columns(of: Callable[[slice], Array], x: Array) -> Iterator[Array]:
    """Yield a function of blocks of columns; more blocks would take longer to add than they save."""
    return over_blocks(of, x.shape[1], max(1024, -(-x.shape[1] // 8)))
