"""What a sparse linear fit asks of its data: correlations with the target, of a few columns or of all."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.linalg import product
from tractable.arrays.namespace import Array, namespace_of
from tractable.primitives.blocks import fill_blocks, over_blocks
from tractable.primitives.sparse_rows import StandardizedSparse
from tractable.primitives.threads import even_blocks
from tractable.value import replace, value

#: Entries that a thread multiplies at a time, and that change their memory order at a time, in its cache.
PANEL, BLOCK = 2**20, 2**16
#: Rows from which columns are gathered at a time.
GATHERED = 512


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
        if some is None and len(new) == self.n_columns:
            return self.gram
        columns = self.gram[:, new]
        return columns if some is None else np.concatenate([some, columns], axis=1)

    def products(self, some: Array, which: Array, others: Array) -> Array:
        """Return the inner products of all of `which` with the columns `others`."""
        return self.gram[which[:, None], others]

    def correlations(self, some: Array, which: Array, coefs: Array) -> tuple[Array, Array]:
        """Return the correlations (p, m) of all columns with m residuals, and the residuals' squares (m,).

        Those of one residual, of coefficients (k,), are (p,) and a number.
        """
        # Transposed, so that arrays of one residual and of several are added alike.
        left = self.moment - (some @ coefs).T
        # |y - Xw|² = |y|² - wᵀ(c + Xᵀ(y - Xw)), from 0
        rest = self.square - ((self.moment[which] + left[..., which]) * coefs.T).sum(axis=-1)
        return left.T, np.maximum(rest, 0.0)


@value
class ColumnProblem:
    """½ |y - Xw|²: least squares by its columns, of which most are never multiplied with each other.

    Rows that still have a `centre` are not copied: it is subtracted from the columns in use, and within
    products with all of them. That loses no digits where it is not much larger than the columns vary.
    """

    X: np.ndarray  # (n, p), of either memory order
    y: np.ndarray  # (n,), its mean zero where the columns have a centre
    centre: np.ndarray | None = None  # (p,), means of the columns; None where they are zero
    # (p,), lengths of the columns, and their products with y, where known already
    deviations: np.ndarray | None = None
    products_with_y: np.ndarray | None = None
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
        if self.deviations is not None:
            return self.deviations
        return np.sqrt(np.einsum("ij,ij->j", self.X, self.X))

    @cached_property
    def moment(self) -> np.ndarray:
        """Correlations of the columns with y."""
        return self.with_all(self.y) if self.products_with_y is None else self.products_with_y

    def by_columns(self) -> "ColumnProblem":
        """Return the problem with its columns centred, and each of them contiguous."""
        if self.centre is None and self.X.flags.f_contiguous:
            return self
        columns = np.empty(self.X.shape, order="F")

        def fill(part: slice) -> None:  # in two steps: NumPy changes the order of what it copies faster
            columns[part] = self.X[part] if self.centre is None else self.X[part] - self.centre

        fill_blocks(fill, len(columns), BLOCK // max(1, self.n_columns))
        return replace(self, X=columns, centre=None)

    def gather(self, some: np.ndarray | None, new: np.ndarray) -> np.ndarray:
        """Return what the other methods need of some columns, once `new` ones are among them."""
        m = 0 if some is None else some.shape[1]
        if m == 0 and len(new) == self.n_columns and self.centre is None:
            return self.X
        columns = np.empty((m + len(new), len(self.y))).T  # each of them contiguous
        if some is not None:
            columns[:, :m] = some
        if self.X.flags.f_contiguous:
            np.take(self.X.T, new, axis=0, out=columns.T[m:], mode="clip")  # which copies once
        else:
            for part in even_blocks(len(self.y), GATHERED):
                columns[part, m:] = np.take(self.X[part], new, axis=1)
        if self.centre is not None:
            columns[:, m:] -= self.centre[new]
        return columns

    def products(self, some: np.ndarray, which: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the inner products of all of `which`, given as `some`, with the last of them, `others`."""
        del which
        return some.T @ some[:, some.shape[1] - len(others) :]

    def correlations(
        self, some: np.ndarray, which: np.ndarray, coefs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the correlations (p, m) of all columns with m residuals, and the residuals' squares (m,).

        Those of one residual, of coefficients (k,), are (p,) and a number.
        """
        del which
        used = coefs.any(axis=1) if coefs.ndim == 2 else coefs != 0.0
        fitted = some @ coefs if used.all() else some[:, used] @ coefs[used]
        residuals = np.subtract(self.y, fitted.T, order="C").T
        return self.with_all(residuals), np.einsum("i...,i...->...", residuals, residuals)

    def with_all(self, vectors: np.ndarray) -> np.ndarray:
        """Return Xᵀ vectors, (n,) or (n, m), a block of rows, or of columns, at a time on every core."""
        X, (n, p) = self.X, self.X.shape
        if X.flags.f_contiguous:
            panels = over_blocks(lambda part: product(X[:, part].T, vectors), p, PANEL // max(1, n))
            found = np.concatenate(list(panels))
        else:
            found = sum(over_blocks(lambda part: product(vectors[part].T, X[part]), n, PANEL // max(1, p))).T
        return found if self.centre is None else found - np.multiply.outer(self.centre, vectors.sum(axis=0))


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
        residuals = (self.y - (some @ coefs).T).T
        return self.with_all(residuals), np.einsum("i...,i...->...", residuals, residuals)

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
    penalties: Any,
    ridges: Any,
    size: Size,
) -> tuple[np.ndarray, Any]:
    """Return the correlations (p, m) of all columns with the residuals, and the duality gaps (m,).

    The gradient of the ridge penalty is subtracted from the correlations. The gap is the primal less the
    dual objective at the residual, shrunk until it is feasible. Coefficients (k,), for one penalty, have
    correlations (p,), and a number for the gap.
    """
    left, rest = problem.correlations(some, which, found)
    if ridges.any():
        left[which] -= ridges * found
        rest = rest + ridges * (found * found).sum(axis=0)
    top = size(left).max(axis=0, initial=0.0)
    shrink = penalties / np.maximum(top, penalties)
    fit = problem.moment[which] @ found
    primal = 0.5 * rest + penalties * np.abs(found).sum(axis=0)
    return left, primal + 0.5 * shrink**2 * rest - shrink * (problem.square - fit)
