"""Sparse rows of SciPy: products with them when they are standardized, moments of columns, distances."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from tractable.primitives import runs_compiled
from tractable.primitives.threads import even_blocks, ordered_map
from tractable.value import value

#: Most columns whose products with each other are computed; rows of more are met by iteration.
GRAM_COLUMNS = 2000

#: A squared distance below this fraction of the squared lengths has lost digits in their difference.
CANCELLED = 1e-6

#: Entries of the dense rows that are made at a time.
DENSE_ENTRIES = 2**21

#: Stored entries that make a block worth a thread, and for each column, whose sums every block has.
BLOCK_ENTRIES, BLOCK_ENTRIES_A_COLUMN = 2**18, 12


@value
class StandardizedSparse:
    """The matrix diag(root) (X - 1 shiftᵀ) diag(scale) of sparse rows X, which is never formed.

    Products with it, from both sides, take the stored entries and one dense row. It has as many digits as
    X - 1 shiftᵀ has: of columns whose mean is 10⁷ standard deviations, nine are left.

    Parameters
    ----------
    X : (n, d) sparse matrix or array of SciPy, CSR or CSC
        The rows.
    shift : array (d,)
        What is subtracted from each row, such as the mean.
    scale : array (d,), optional
        What columns are multiplied by; one when not given.
    root : array (n,), optional
        What rows are multiplied by, such as the roots of their weights; one when not given.
    intercept : bool
        Whether a column of ones stands before the others.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> z = StandardizedSparse(X=csr_array([[0.0, 2.0], [4.0, 0.0]]), shift=np.array([2.0, 1.0]))
    >>> (z @ np.eye(2)).tolist(), (np.ones(2) @ z).tolist()
    ([[-2.0, 1.0], [2.0, -1.0]], [0.0, 0.0])
    """

    X: Any
    shift: np.ndarray
    scale: np.ndarray | None = None
    root: np.ndarray | None = None
    intercept: bool = False

    __array_ufunc__ = None  # so that arrays leave products from the left to this class

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape[0], self.X.shape[1] + int(self.intercept)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        """Return Z v, (n,) or (n, k), of v, (p,) or (p, k)."""
        first, v = (v[0], v[1:]) if self.intercept else (0.0, v)
        v = v if self.scale is None else (v.T * self.scale).T
        return _times(self.root, self.X @ v + (first - self.shift @ v))

    def __rmatmul__(self, r: np.ndarray) -> np.ndarray:
        """Return rᵀZ, (p,) or (k, p), of r, (n,) or (k, n)."""
        r = r if self.root is None else r * self.root
        total = r.sum(axis=-1)[..., None]
        found = (self.X.T @ r.T).T - total * self.shift
        found = found if self.scale is None else found * self.scale
        return np.concatenate([total, found], axis=-1) if self.intercept else found

    def residual_products(self, v: np.ndarray, u: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return r = Zv - αu, (n,), and rᵀZ, (p,), of v, (p,), and u, (n,).

        Large matrices are read once for both, in blocks of rows whose number depends on the shapes alone.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> z = StandardizedSparse(X=csr_array([[0.0, 2.0], [4.0, 0.0]]), shift=np.array([2.0, 1.0]))
        >>> [found.tolist() for found in z.residual_products(np.array([1.0, 0.0]), np.ones(2), 1.0)]
        [[-3.0, 1.0], [8.0, -4.0]]
        """
        n, d = self.X.shape
        if not runs_compiled(u, 8 * self.X.nnz) or max(n, d) >= 2**31:
            r = self @ v - alpha * u
            return r, r @ self
        from tractable.primitives.compiled_sparse_rows import residual_products

        first, v = (float(v[0]), v[1:]) if self.intercept else (0.0, v)
        v = v if self.scale is None else v * self.scale
        data, columns, starts = self._entries
        offset, r = first - float(self.shift @ v), np.array(u, dtype=np.float64)

        def of(rows: slice) -> tuple[float, np.ndarray]:
            sums = np.zeros(d)
            root = None if self.root is None else self.root[rows]
            begin = starts[rows.start : rows.stop + 1]
            return residual_products(data, columns, begin, v, offset, root, alpha, r[rows], sums), sums

        n_blocks = max(1, len(data) // max(BLOCK_ENTRIES, BLOCK_ENTRIES_A_COLUMN * d))
        found = list(ordered_map(of, even_blocks(n, -(-n // n_blocks))))
        total = sum(each for each, _ in found)
        sums = found[0][1]
        for _, each in found[1:]:
            sums += each
        sums -= total * self.shift
        sums = sums if self.scale is None else sums * self.scale
        return r, np.append(total, sums) if self.intercept else sums

    @cached_property
    def _entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The stored entries, row by row: numbers, columns, and where each row begins and the last ends."""
        X = self.X.tocsr()
        columns = np.ascontiguousarray(X.indices)
        columns = columns.view(np.uint32) if columns.dtype == np.int32 else columns.astype(np.uint32)
        return np.ascontiguousarray(X.data, dtype=np.float64), columns, X.indptr.astype(np.int64)

    def column_sums(self, of: Callable[[np.ndarray], np.ndarray], r: np.ndarray) -> np.ndarray:
        """Return Σ_n r_n of(z_nj), (p,) or (k, p), of a function of single entries and r, (n,) or (k, n).

        Entries that are not stored are all as the shift has them; `root` is left out.
        """
        X = self.X.tocsr()
        z = X.data - self.shift[X.indices]
        z = z if self.scale is None else z * self.scale[X.indices]
        absent = of(-self.shift if self.scale is None else -self.shift * self.scale)

        def sums(entries: np.ndarray) -> np.ndarray:
            return (type(X)((entries, X.indices, X.indptr), shape=X.shape).T @ r.T).T

        total = r.sum(axis=-1)[..., None]
        # A column that is stored whole has no other entries, whatever rounding says of their weight.
        whole = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
        found = sums(of(z)) + np.where(whole, 0.0, total - sums(np.ones(len(z)))) * absent
        return np.concatenate([total * of(np.ones(1)), found], axis=-1) if self.intercept else found

    def columns(self, which: np.ndarray) -> "StandardizedSparse":
        """Return some of the columns, without an intercept."""
        scale = None if self.scale is None else self.scale[which]
        return StandardizedSparse(X=self.X[:, which], shift=self.shift[which], scale=scale, root=self.root)

    def beside(self, other: "StandardizedSparse") -> "StandardizedSparse":
        """Return the columns of both, of the same rows, without an intercept."""
        from scipy.sparse import hstack

        scale = None if self.scale is None or other.scale is None else np.append(self.scale, other.scale)
        X = hstack([self.X, other.X], format="csc")
        return StandardizedSparse(X=X, shift=np.append(self.shift, other.shift), scale=scale, root=self.root)

    def gram(self, other: "StandardizedSparse") -> np.ndarray:
        """Return Zᵀ other, (p, q), of two matrices of the same rows, both without intercept."""
        weights = np.ones(len(self)) if self.root is None else self.root**2
        left = self.X if self.root is None else self.X.multiply(weights[:, None])
        found = np.asarray((left.T @ other.X).toarray())
        found -= np.outer(self.X.T @ weights, other.shift)
        found -= np.outer(self.shift, other.X.T @ weights - weights.sum() * other.shift)
        found = found if self.scale is None else found * self.scale[:, None]
        return found if other.scale is None else found * other.scale


def _times(root: np.ndarray | None, x: np.ndarray) -> np.ndarray:
    return x if root is None else (x.T * root).T


def sparse_moments(X: Any, weights: np.ndarray | None = None) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the weight of sparse rows, and the mean and the scatter (d,) of their columns.

    Squares are of differences from the mean, so that nothing cancels.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> total, mean, scatter = sparse_moments(csr_array([[0.0, 2.0], [4.0, 0.0]]))
    >>> float(total), mean.tolist(), scatter.tolist()
    (2.0, [2.0, 1.0], [8.0, 2.0])
    """
    w = np.ones(X.shape[0]) if weights is None else weights
    total = w.sum()
    mean = (X.T @ w) / (total if total > 0.0 else 1.0)
    return total, mean, StandardizedSparse(X=X, shift=mean).column_sums(np.square, w)


def sparse_quantiles(X: Any, levels: list[float]) -> np.ndarray:
    """Return quantiles of the columns of sparse rows, (len(levels), d), of levels from 1/4 to 3/4.

    Columns of which less than a quarter is stored have zeros there; the others are made dense.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> sparse_quantiles(csr_array([[0.0, 2.0], [0.0, 4.0], [0.0, 0.0], [9.0, 0.0]]), [0.5]).tolist()
    [[0.0, 1.0]]
    """
    X = X.tocsc()
    filled = np.flatnonzero(np.diff(X.indptr) > 0.25 * (X.shape[0] - 1))
    found = np.zeros((len(levels), X.shape[1]))
    if len(filled):
        found[:, filled] = np.quantile(X[:, filled].toarray(), levels, axis=0)
    return found


def sparse_squared_distances(X: Any, points: np.ndarray) -> np.ndarray:
    """Return |x_i - y_j|² of sparse rows (CSR) and dense points, (n, m), by |x|² - 2 x·y + |y|².

    Those that cancel are computed again by differences.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> sparse_squared_distances(csr_array([[0.0, 3.0]]), np.array([[4.0, 0.0], [0.0, 3.0]])).tolist()
    [[25.0, 0.0]]
    """
    X = X.astype(np.float64, copy=False)
    squares = type(X)((X.data * X.data, X.indices, X.indptr), shape=X.shape)
    sizes = (squares @ np.ones(X.shape[1]))[:, None] + np.einsum("ij,ij->i", points, points)
    found = sizes - 2.0 * (X @ points.T)
    lost = found < CANCELLED * sizes
    rows = np.flatnonzero(lost.any(axis=1))
    step = max(1, DENSE_ENTRIES // X.shape[1])
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        dense = X[some].toarray()
        for k in np.flatnonzero(lost[some].any(axis=0)):
            near = lost[some, k]
            difference = dense[near] - points[k]
            found[some[near], k] = np.einsum("ij,ij->i", difference, difference)
    return found
