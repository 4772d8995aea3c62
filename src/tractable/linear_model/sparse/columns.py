"""Centred, weighted columns of rows or of a statistic: what the sparse solvers work on."""

from collections.abc import Iterator
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from tractable.arrays.limits import power_of_two
from tractable.arrays.linalg import column_lengths, product
from tractable.arrays.namespace import Array, is_numpy_array, is_sparse, namespace_of, to_numpy
from tractable.base import Estimator, ModelTags, check_columns, check_rows
from tractable.base.by_blocks import by_blocks
from tractable.base.validation import check_names, refuse_foreign
from tractable.data.blocks import block_rows
from tractable.engines import fold
from tractable.engines.sparse.problem import ColumnProblem, GramProblem, SparseColumnProblem
from tractable.linear_model.rows import as_floats, check_factor
from tractable.primitives import SILENT
from tractable.primitives.blocks import over_blocks
from tractable.primitives.sparse_rows import StandardizedSparse, sparse_moments
from tractable.primitives.threads import single_threaded_blas
from tractable.statistics import LinearFactor, column_varies
from tractable.value import replace, value

#: With more columns the Gram matrix of all of them is not formed.
LARGEST_GRAM = 1000
#: Relative rounding of an entry.
EPSILON = float(np.finfo(np.float64).eps)
#: Fourth powers of larger numbers, or of smaller ones than its inverse, overflow or vanish in sums.
LARGE = 1e60


@value
class Columns:
    """Columns and targets less their means, times the roots of the weights.

    Any rows with the same inner products serve, such as the triangular factor of the rows. Rows in memory
    near the origin are not copied: they have `sums`, and their means are subtracted within products.
    """

    rows: Any  # (m, p), an array or a `StandardizedSparse`
    Y: Array  # (m, t)
    centre: Array  # (p,)
    # (t,), means that were subtracted from the columns and the targets; zeros without an intercept
    offset: Array
    weight: float  # total weight of the rows
    flat: bool = True  # whether there is one target, given as a vector
    # (1 + t, p), lengths of the columns about the centre and products with the targets, where the rows still
    # have that centre; else None
    sums: np.ndarray | None = None

    @cached_property
    def X(self) -> Any:  # noqa: N802  (as everywhere)
        """The columns (m, p), centred; an array or a `StandardizedSparse`."""
        return self.rows if self.sums is None else self.rows - self.centre

    @classmethod
    @single_threaded_blas()  # for sums of long columns: threads of BLAS would spin beside those of the pool
    def of(cls, X: Any, y: np.ndarray, weights: np.ndarray | None, *, fit_intercept: bool) -> "Columns":
        """Return the columns of rows in memory; copied only where that is needed.

        Those of sparse rows are centred within products.
        """
        flat, Y = y.ndim == 1, np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        sums = None
        weight = float(len(Y)) if weights is None else float(weights.sum())
        centre, offset = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
        root = None if weights is None else np.sqrt(weights)
        if fit_intercept:
            Y, offset = _centred(Y, weights)
        if is_sparse(X):
            columns: Any = _sparse_columns(X, weights, root, centred=fit_intercept)
            centre = columns.shift
        else:
            columns = np.asarray(X, dtype=np.float64)
            if fit_intercept:
                if weights is None:
                    centre, sums = _near_the_origin(columns, Y)
                if sums is None:
                    columns, centre = _centred(columns, weights)
            columns = columns if root is None else columns * root[:, None]
        Y = Y if root is None else Y * root[:, None]
        return cls(rows=columns, Y=Y, centre=centre, offset=offset, weight=weight, flat=flat, sums=sums)

    @classmethod
    def of_statistic(cls, statistic: LinearFactor, *, fit_intercept: bool) -> "Columns":
        """Return the columns of a statistic: its triangular factor stands for the rows."""
        xp = namespace_of(statistic.mean)
        factor = statistic.without_constant_columns().factor if fit_intercept else statistic.uncentred()
        mean = statistic.mean if fit_intercept else xp.zeros_like(statistic.mean)
        d = statistic.dim
        return cls(
            rows=factor[:, :d],
            Y=factor[:, d:],
            centre=mean[:d],
            offset=mean[d:],
            weight=float(statistic.weight),
            flat=statistic.flat,
        )

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return int(self.Y.shape[1])

    @property
    def mean_squares(self) -> np.ndarray:
        """Mean squares of the targets, (t,), of which a tolerance is a fraction."""
        return to_numpy(namespace_of(self.Y).sum((self.Y / self.weight**0.5) ** 2, axis=0))

    def problem(self, target: int = 0, *, precompute: bool | None = None, once: bool = False) -> Any:
        """Return the least-squares problem of one target: by its Gram matrix, or by its columns.

        Without `precompute` the Gram matrix is formed where there are at least as many rows as columns. The
        columns of a problem that is solved `once`, for one penalty or from knot to knot, stay as they are in
        memory.
        """
        rows, y = self.rows, self.Y[:, target]
        m, p = rows.shape
        if isinstance(rows, StandardizedSparse):
            return SparseColumnProblem(X=rows, y=np.ascontiguousarray(y))
        if precompute is None:
            precompute = p <= min(m, LARGEST_GRAM)
        if not precompute and is_numpy_array(rows):
            problem = ColumnProblem(X=rows, y=np.ascontiguousarray(y))
            if self.sums is not None:
                known = {"deviations": self.sums[0], "products_with_y": self.sums[1 + target]}
                problem = replace(problem, centre=self.centre, **known)
            return problem if once else problem.by_columns()
        X = self.X
        return GramProblem(gram=X.T @ X, moment=X.T @ y, square=float(y @ y), rank=min(m, p))

    def moments(self) -> Array:
        """Return the inner products (t, p) of targets and columns."""
        return self.Y.T @ self.rows if self.sums is None else self.sums[1:]

    def rescaled(self) -> tuple["Columns", float, float]:
        """Return columns and targets over powers of two, and these: both are one for data of common size.

        The solvers multiply correlations of columns and targets, fourth powers of the data, which validation
        cannot keep in range: of numbers of 1e100 they overflow, of 1e-100 they vanish.
        """
        wide = _scale(self.rows) if self.sums is None else 1.0
        tall = _scale(self.Y)
        if not tall / wide < inf:
            refuse_scales(wide, tall, "coefficients")
        if wide == tall == 1.0:
            return self, 1.0, 1.0
        X = self.X
        X = replace(X, X=X.X / wide, shift=X.shift / wide) if isinstance(X, StandardizedSparse) else X / wide
        scaled = replace(
            self,
            rows=X,
            Y=self.Y / tall,
            centre=self.centre / wide,
            offset=self.offset / tall,
            sums=None,
        )
        return scaled, wide, tall

    def intercepts(self, coefs: Array, target: int = 0) -> Array:
        """Return the intercepts of coefficients (p, ...)."""
        return self.offset[target] - self.centre @ coefs


def refuse_scales(wide: float, tall: float, what: str) -> None:
    """Raise where columns and targets are of sizes whose product, or ratio, overflows."""
    raise ValueError(
        f"X and y must be in units nearer to one: of sizes near {wide:.1g} and {tall:.1g}, "
        f"{what} are no floating-point numbers"
    )


def _scale(columns: Array) -> float:
    """Return a power of two near the largest entry where that is far from one, else one."""
    if isinstance(columns, StandardizedSparse):
        columns = columns.X.data[:, None]
    xp = namespace_of(columns)
    # The largest and the least, as all absolute values at once would be another table.
    top = float(max(xp.max(columns), -xp.min(columns))) if columns.shape[0] and columns.shape[1] else 0.0
    return 1.0 if 1.0 / LARGE <= top <= LARGE else power_of_two(top)


def _sparse_columns(X: Any, weights: Any, root: Any, *, centred: bool) -> StandardizedSparse:
    """Return the columns of sparse rows less their means; what varies by rounding alone is zero."""
    X, shift, scale = X.tocsc().astype(np.float64, copy=False), np.zeros(X.shape[1]), None
    if centred:
        total, shift, scatter = sparse_moments(X, weights)
        varies = column_varies(shift, np.sqrt(scatter / total))
        scale = None if varies.all() else varies.astype(np.float64)
    return StandardizedSparse(X=X, shift=shift, scale=scale, root=root)


#: Entries whose sums a thread adds up at a time.
SUMMED = 2**17
#: Rows a column from which few columns, as a rule, are multiplied with each other: they stay in row order.
TALL = 4
#: Entries from which columns are read one by one.
MANY_ENTRIES = 2**16


def _blocks(x: np.ndarray) -> Iterator[slice]:
    """Yield blocks of rows that fit in the cache, where they change their memory order."""
    step = block_rows(x.shape[1])
    return (slice(start, start + step) for start in range(0, len(x), step))


#: The largest ratio of the mean of a column to its standard deviation where rows are not copied: products
#: with their columns lose no more digits than one.
NEAR = 10.0


@SILENT
def _near_the_origin(columns: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the means of columns, and lengths about these and products with centred targets: `Columns.sums`.

    The latter are None where a column is far from the origin, for what it varies; constant ones are so, and
    where entries are far from one.
    """
    with_ones = np.vstack([np.ones(len(Y)), Y.T])

    def sums(part: slice) -> np.ndarray:
        x = columns[part]
        return np.vstack([np.einsum("ij,ij->j", x, x), product(with_ones[:, part], x)])

    n, p = columns.shape
    found = sum(over_blocks(sums, n, SUMMED // max(1, p)), np.zeros((2 + Y.shape[1], p)))
    squares, total, products = found[0], found[1], found[2:]
    mean = total / n
    rest = squares - total * mean
    near = (rest * NEAR**2 >= total * mean).all() and rest.min(initial=1.0) > 1.0 / LARGE
    if not (near and squares.max(initial=1.0) < LARGE):
        return mean, None
    return mean, np.vstack([np.sqrt(rest), products - np.multiply.outer(Y.sum(axis=0), mean)])


def _centred(columns: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns less their means, and these; what varies by rounding alone is zero."""
    n = len(columns)
    one = np.ones(n) if weights is None else weights
    total = one.sum()
    mean = product(one, columns) / total
    by_columns = columns.size >= MANY_ENTRIES and n <= TALL * columns.shape[1]
    centred = np.empty(columns.shape, order="F" if by_columns else "C")
    for part in _blocks(columns):
        np.subtract(columns[part], mean, out=centred[part])
    # Corrected once, where that is more than the rounding of entries: exact far from the origin.
    rest, lengths = product(one, centred) / total, column_lengths(centred)
    if (np.abs(rest) * n**0.5 > EPSILON * lengths).any():
        centred -= rest
        mean, lengths = mean + rest, column_lengths(centred)
    constant = ~column_varies(mean, lengths / n**0.5)
    if constant.any():
        centred[:, constant] = 0.0
    return centred, mean


class _Rows(Estimator):
    """Checks rows as every estimator does, for functions that are none."""

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact in one pass")


def checked_columns(
    X: Any, y: Any, sample_weight: Any, *, fit_intercept: bool
) -> tuple[Columns, tuple[str, ...] | None]:
    """Check rows and one target, or a statistic of them; return their columns and the names of these."""
    if isinstance(X, LinearFactor):
        if y is not None or sample_weight is not None:
            raise ValueError("y and sample_weight must be None where X is a statistic, which holds them")
        columns, names = Columns.of_statistic(check_factor(X), fit_intercept=fit_intercept), None
    else:
        checker: Any = _Rows()
        rows = check_rows(checker, X, y, sample_weight, reset=True, supervised=True)
        names = column_names(checker)
        if rows.y is None or not isinstance(rows.data, np.ndarray):
            statistic = fold(LinearFactor.of, rows.data, rows.y, weights=rows.weights)
            columns = Columns.of_statistic(check_factor(statistic), fit_intercept=fit_intercept)
        else:
            columns = Columns.of(rows.data, rows.y, rows.weights, fit_intercept=fit_intercept)
    if columns.n_targets != 1:
        raise ValueError(f"y must be one target for a path, got {columns.n_targets}")
    if not columns.weight > 0.0:
        raise ValueError("sample_weight must have a positive entry, all are zero")
    return columns, names


def column_names(estimator: Any) -> tuple[str, ...] | None:
    """Return the names of the columns that an estimator was fitted to, where they had any."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(str(name) for name in names)


def predictions(X: Any, coefs: Array, intercepts: Any, names: tuple[str, ...] | None) -> Any:
    """Return X @ coefs + intercepts for rows that are checked as an estimator checks them."""
    checker = _Rows()
    check_names(checker, names, coefs.shape[0], reset=True)
    if is_numpy_array(coefs):
        refuse_foreign(X)
    return as_floats(check_columns(checker, X)) @ coefs + intercepts


@value
class CoefficientPath:
    """Coefficients (n_features, m) and intercepts (m,) for m decreasing penalties."""

    alphas: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    names: tuple[str, ...] | None = None  # of the columns

    @property
    def n_nonzero(self) -> np.ndarray:
        """Number of coefficients that are not zero at each penalty."""
        return np.count_nonzero(self.coefs, axis=0)

    @by_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions of all penalties, (n_samples, m)."""
        return predictions(X, self.coefs, self.intercepts, self.names)
