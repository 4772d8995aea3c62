"""What a sparse linear fit asks of its data: correlations with the target, of a few columns or of all."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.primitives.sparse import row_products, weighted_rows
from tractable.primitives.sparse_rows import StandardizedSparse
from tractable.primitives.threads import ordered_map
from tractable.value import value

#: Numbers in the panel of columns that a thread multiplies at a time.
PANEL = 2**20


@value
class GramProblem:
    """½ wᵀGw - cᵀw + ½ square: least squares by its Gram matrix."""

    gram: Array  # (p, p)
    moment: Array  # (p,)
    square: float  # |y|²
    rank: int  # the most columns that can be independent
    formed = True  # whether all products of columns are known

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.moment.shape[0])

    @property
    def lengths(self) -> Array:
        """Lengths (p,) of the columns."""
        xp = namespace_of(self.gram)
        return xp.sqrt(xp.linalg.diagonal(self.gram))

    def gather(self, some: Array | None, new: Array) -> Array:
        """Return what the other methods need of some columns, once `new` ones are among them."""
        columns = self.gram[:, new]
        return columns if some is None else np.concatenate([some, columns], axis=1)

    def products(self, some: Array, which: Array, others: Array) -> Array:
        """Return the inner products of all of `which` with the columns `others`."""
        return self.gram[which[:, None], others]

    def along(self, which: Any, weights: np.ndarray) -> np.ndarray:
        """Return the correlations (p,) of all columns with a sum of some of them."""
        return weighted_rows(self.gram, np.asarray(which, dtype=np.int64), weights)

    def products_with(self, j: int, others: Any) -> tuple[np.ndarray, float]:
        """Return the inner products of column j with others, and with itself."""
        return self.gram[j, others], float(self.gram[j, j])

    def correlations(self, some: Array, which: Array, coefs: Array) -> tuple[Array, Array]:
        """Return the correlations (p, m) of all columns with m residuals, and the residuals' squares (m,)."""
        left = self.moment[:, None] - some @ coefs
        # |y - Xw|² = |y|² - wᵀ(c + Xᵀ(y - Xw)), from 0
        rest = self.square - ((self.moment[which, None] + left[which, :]) * coefs).sum(axis=0)
        return left, np.maximum(rest, 0.0)


@value
class ColumnProblem:
    """½ |y - Xw|²: least squares by its columns, of which most are never multiplied with each other."""

    X: np.ndarray  # (n, p), in column order, where it is to be fast
    y: np.ndarray  # (n,)
    formed = False

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @property
    def rank(self) -> int:
        """The most columns that can be independent."""
        return min(self.X.shape)

    @cached_property
    def square(self) -> float:
        """|y|²."""
        return float(self.y @ self.y)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Lengths (p,) of the columns."""
        return np.sqrt(np.einsum("ij,ij->j", self.X, self.X))

    @cached_property
    def moment(self) -> np.ndarray:
        """Correlations of the columns with y."""
        return self.with_all(self.y)

    def gather(self, some: np.ndarray | None, new: np.ndarray) -> np.ndarray:
        """Return what the other methods need of some columns, once `new` ones are among them."""
        if some is None and len(new) == self.n_columns:
            return self.X
        if not self.X.flags.f_contiguous:
            columns = np.take(self.X, new, axis=1)
            return columns if some is None else np.concatenate([some, columns], axis=1)
        m = 0 if some is None else some.shape[1]
        columns = np.empty((m + len(new), len(self.y)))
        if some is not None:
            columns[:m] = some.T
        np.take(self.X.T, new, axis=0, out=columns[m:], mode="clip")  # which copies once
        return columns.T

    def products(self, some: np.ndarray, which: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the inner products of all of `which`, given as `some`, with the last of them, `others`."""
        del which
        return some.T @ some[:, some.shape[1] - len(others) :]

    def along(self, which: Any, weights: np.ndarray) -> np.ndarray:
        """Return the correlations (p,) of all columns with a sum of some of them."""
        fitted = weighted_rows(self.X.T, np.asarray(which, dtype=np.int64), weights)
        return self.with_all(fitted)

    def products_with(self, j: int, others: Any) -> tuple[np.ndarray, float]:
        """Return the inner products of column j with others, and with itself."""
        column = self.X[:, j]
        return row_products(self.X.T, np.asarray(others, dtype=np.int64), column), float(column @ column)

    def correlations(
        self, some: np.ndarray, which: np.ndarray, coefs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the correlations (p, m) of all columns with m residuals, and the residuals' squares (m,)."""
        del which
        used = np.flatnonzero(coefs.any(axis=1))
        residuals = np.asfortranarray(self.y[:, None] - some[:, used] @ coefs[used])
        return self.with_all(residuals), np.einsum("ij,ij->j", residuals, residuals)

    def with_all(self, vectors: np.ndarray) -> np.ndarray:
        """Return Xᵀ vectors, (n,) or (n, m), a panel of columns at a time on every core."""
        step = max(1, PANEL // max(1, len(self.y)))
        out = np.empty((self.n_columns, *vectors.shape[1:]))

        def multiply(start: int) -> None:
            part = slice(start, start + step)
            out[part] = self.X[:, part].T @ vectors

        for _ in ordered_map(multiply, range(0, self.n_columns, step)):
            pass
        return out


@value
class SparseColumnProblem(ColumnProblem):
    """½ |y - Zw|² of the columns of sparse rows, centred within products: they are never made dense."""

    X: StandardizedSparse  # type: ignore[assignment]  # of a CSC matrix, without an intercept

    @cached_property
    def lengths(self) -> np.ndarray:
        """Lengths (p,) of the columns."""
        weights = np.ones(len(self.y)) if self.X.root is None else self.X.root**2
        return np.sqrt(self.X.column_sums(np.square, weights))

    def gather(self, some: Any, new: np.ndarray) -> Any:
        """Return some columns, once `new` ones are among them."""
        columns = self.X.columns(new)
        return columns if some is None else some.beside(columns)

    def products(self, some: Any, which: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the inner products of all of `which`, given as `some`, with the last of them, `others`."""
        m = len(which)
        return some.gram(some.columns(np.arange(m - len(others), m)))

    def correlations(self, some: Any, which: np.ndarray, coefs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the correlations (p, m) of all columns with m residuals, and the residuals' squares (m,)."""
        del which
        residuals = self.y[:, None] - some @ coefs
        return self.with_all(residuals), np.einsum("ij,ij->j", residuals, residuals)

    def with_all(self, vectors: np.ndarray) -> np.ndarray:
        """Return Zᵀ vectors."""
        return (vectors.T @ self.X).T


#: Any of them.
SparseProblem = Any

#: What of a correlation is compared with the penalty.
Size = Callable[[np.ndarray], np.ndarray]


def size_of(positive: bool) -> Size:
    """Return what is compared with the penalty: where coefficients are from 0, not the absolute values."""
    return _itself if positive else np.abs


def _itself(x: np.ndarray) -> np.ndarray:
    return x


def duality_gaps(
    problem: SparseProblem,
    some: Any,
    which: np.ndarray,
    found: np.ndarray,
    penalties: np.ndarray,
    ridges: np.ndarray,
    size: Size,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlations (p, m) of all columns with the residuals, and the duality gaps (m,).

    The gradient of the ridge penalty is subtracted from the correlations. The gap is the primal less the
    dual objective at the residual, shrunk until it is feasible.
    """
    left, rest = problem.correlations(some, which, found)
    return left, gaps_of(problem, left, rest, which, found, penalties, ridges, size)


def gaps_of(
    problem: SparseProblem,
    left: np.ndarray,
    rest: np.ndarray,
    which: np.ndarray,
    found: np.ndarray,
    penalties: np.ndarray,
    ridges: np.ndarray,
    size: Size,
) -> np.ndarray:
    """Return the duality gaps (m,), given correlations (p, m), changed in place, and squares of residuals."""
    if ridges.any():
        left[which] -= ridges * found
        rest = rest + ridges * np.einsum("ij,ij->j", found, found)
    top = size(left).max(axis=0, initial=0.0)
    shrink = np.minimum(1.0, penalties / np.maximum(top, penalties))
    fit = problem.moment[which] @ found
    primal = 0.5 * rest + penalties * np.abs(found).sum(axis=0)
    return primal + 0.5 * shrink**2 * rest - shrink * (problem.square - fit)
