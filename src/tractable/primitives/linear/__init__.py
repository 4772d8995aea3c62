"""Least squares on blocks of rows: triangular factors, exact residual sums, gradient steps, distances."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from tractable.arrays.double_double import Pair, two_sum
from tractable.arrays.foreign import call, routine
from tractable.arrays.linalg import SMALLEST_SQUARE, product
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.primitives import SILENT, runs_compiled
from tractable.primitives.linear import agnostic
from tractable.primitives.threads import (
    FEW_COLUMNS,
    LEAST_PRODUCTS,
    blas_for_products,
    blas_for_rows,
    even_rows,
    ordered_map,
    single_threaded_blas,
)

__all__ = [
    "INFLATION",
    "centred_rows",
    "centred_triangle",
    "class_moments",
    "diagonal_moments",
    "gradient_pass",
    "grouped_centred_rows",
    "grouped_moments",
    "joint_moments",
    "merged_triangle",
    "moments",
    "reflect",
    "residual_sums",
    "rows_worth_merging",
    "safe_factor",
    "squared_mahalanobis",
    "sums_classes",
    "sums_groups",
    "triangle",
]


def reflect(factor: np.ndarray, below: np.ndarray, triangular: int, width: int) -> np.ndarray:
    """Return the triangular factor of a factor and the rows below it; both are overwritten.

    Parameters
    ----------
    factor : array (d, d)
        Upper triangular, float64, by columns.
    below : array (m, d)
        Float64, by columns, which may be some rows of a larger array; the last `triangular` rows are upper
        triangular.
    triangular : int
    width : int
        Columns reflected at a time.

    Examples
    --------
    >>> reflect(np.array([[3.0]], order="F"), np.array([[4.0]], order="F"), 0, 1).tolist()
    [[-5.0]]
    """
    found = routine("dtpqrt", 12)
    if found is None:
        from scipy.linalg import lapack

        return lapack.dtpqrt(triangular, width, factor, below, overwrite_a=1, overwrite_b=1)[0]
    m, d = below.shape
    block, work = np.empty((width, d), order="F"), np.empty(width * d)
    apart = max(below.strides[1] // 8, m, 1)  # of columns: the rows may be some of a larger array
    info = call(found, m, d, triangular, width, factor, max(d, 1), below, apart, block, width, work, 0)
    if info:
        raise ValueError(f"factor and below must have as many columns; LAPACK says {info}")
    return factor


#: Columns up to which the triangular factor of a block is compiled, in one call that leaves the interpreter
#: to other threads: with 16 columns it takes less than half of LAPACK's time, with 64 as much.
REFLECTED_COLUMNS = 64

#: Rows that compiled code reflects at a time: they stay in the cache.
REFLECTED_ROWS = 128

#: Rows folded at a time: the panel and the factor above it stay in cache. No power of two: columns that far
#: apart would fall on each other there.
PANEL = 1000

#: Relative rounding of a number.
EPSILON = float(np.finfo(np.float64).eps)

#: Panels that are filled at a time, if they are narrow.
PANELS = 8

#: Columns from which BLAS would use several threads for the small products of reflections, which wait for
#: each other longer than they work.
NARROW = 8


def triangle(rows: Array) -> Array:
    """Return R, upper triangular with a diagonal that is not negative, so that RᵀR = rowsᵀ rows.

    By Householder reflections, panel after panel under the running factor: R has the digits of a QR of all
    rows (n, d) at once, whatever their condition; n may be less than d.

    Examples
    --------
    >>> triangle(np.array([[3.0, 1.0], [4.0, 3.0]]))
    array([[5., 3.],
           [0., 1.]])
    """
    if not is_numpy_array(rows):
        return agnostic.triangle(rows)
    rows = np.asarray(rows, dtype=np.float64)
    if _reflects_compiled(rows, rows.shape[1]):
        return _compiled_triangle(rows, rows[:, :0], None, centred=False)[2]

    def fill(panel: np.ndarray, part: slice) -> None:
        panel[:] = rows[part]

    return _householder(len(rows), rows.shape[1], fill)


@SILENT
def centred_triangle(x: Array, y: Array, weights: Array | None = None) -> tuple[Array, Array, Array, Array]:
    """Return the weight and the mean of rows [x, y], and the triangular factor R of √w ([x, y] - mean).

    RᵀR is the scatter of `moments`, whose condition it does not square. The rows are never copied whole. The
    last result is the rest of the mean, below the last digit of its entries.

    Parameters
    ----------
    x : array (n, d)
    y : array (n, t)
    weights : array (n,), optional

    Examples
    --------
    >>> x, y = np.array([[1.0], [3.0]]), np.array([[2.0], [2.0]])
    >>> weight, mean, factor, _ = centred_triangle(x, y)
    >>> float(weight), mean.tolist(), (factor.T @ factor).round(12).tolist()
    (2.0, [2.0, 2.0], [[2.0, 0.0], [0.0, 0.0]])
    """
    if not is_numpy_array(x):
        return agnostic.centred_triangle(x, y, weights)
    width = x.shape[1] + y.shape[1]
    if _reflects_compiled(x, width):
        return _compiled_triangle(x, y, weights, centred=True)
    one, weight, safe, centre = _weights_and_centre(x, y, weights)
    roots = None if weights is None else np.sqrt(weights)

    def about(rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the factor of rows about centre + rest, and what the rest lacks of that of the mean."""
        sums = np.zeros(width)

        def fill(panel: np.ndarray, part: slice) -> None:
            _less(centre, x[part], y[part], panel)
            if rest.any():
                panel -= rest
            if roots is not None:
                panel *= roots[part, None]
            sums[:] += product(one[part] if roots is None else roots[part], panel)

        return _householder(len(x), width, fill), sums / safe

    factor, rest = about(np.zeros(width))
    squares, moved = np.einsum("ij,ij->j", factor, factor), safe * rest**2
    # Of rows 1e9 times as far from the origin as from each other, what rounding left of the mean counts. A
    # constant column has nothing else.
    if ((moved > 8.0 * EPSILON * squares) & (2.0 * moved < squares)).any():
        factor, more = about(rest)
        rest = rest + more
    mean, rest = two_sum(centre, rest)
    return weight, mean, factor, rest


def _less(centre: np.ndarray, x: np.ndarray, y: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Write rows [x, y] less a centre to `out`, and return it."""
    d = x.shape[1]
    np.subtract(x, centre[:d], out=out[:, :d])
    np.subtract(y, centre[d:], out=out[:, d:])
    return out


@SILENT
def centred_rows(x: Array, y: Array, weights: Array | None = None) -> tuple[Array, Array, Array, Array]:
    """Return the weight and the mean of rows [x, y], and the rows √w ([x, y] - mean), (n, d + t).

    The last result is the rest of the mean, as of `centred_triangle`.

    Parameters
    ----------
    x : array (n, d)
    y : array (n, t)
    weights : array (n,), optional

    Examples
    --------
    >>> weight, mean, rows, _ = centred_rows(np.array([[1.0], [3.0]]), np.array([[2.0], [2.0]]))
    >>> float(weight), mean.tolist(), rows.tolist()
    (2.0, [2.0, 2.0], [[-1.0, 0.0], [1.0, 0.0]])
    """
    if not is_numpy_array(x):
        return agnostic.centred_rows(x, y, weights)
    (n, d), (one, weight, safe, centre) = x.shape, _weights_and_centre(x, y, weights)
    rows, rest = np.empty((n, d + y.shape[1])), np.zeros(len(centre))
    step = max(1, PRODUCT_ENTRIES // len(centre))  # what rounding left of the mean, while they are in cache
    for start in range(0, n, step):
        part = slice(start, start + step)
        rest += product(one[part], _less(centre, x[part], y[part], rows[part]))
    rest /= safe
    rows -= rest  # of few rows that are far from the origin, the last follows from the others to rounding
    if weights is not None:
        rows *= np.sqrt(weights)[:, None]
    mean, rest = two_sum(centre, rest)
    return weight, mean, rows, rest


def _weights_and_centre(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, Any, Any, np.ndarray]:
    """Return the weights, their sum, the same to divide by, and the mean of rows [x, y], to rounding."""
    one = np.ones(len(x)) if weights is None else weights
    weight = one.sum()
    safe = weight if weight > 0 else 1.0
    return one, weight, safe, np.concatenate([product(one, x), product(one, y)]) / safe


def _reflects_compiled(x: np.ndarray, width: int) -> bool:
    return runs_compiled(x, 4 * len(x) * width) and width <= REFLECTED_COLUMNS


def _compiled_triangle(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray | None, *, centred: bool
) -> tuple[Array, Array, Array, Array]:
    from tractable.primitives.linear.compiled import centred_triangle as compiled

    weight, pilot, step, factor = compiled(x, y, weights, REFLECTED_ROWS, centred)
    mean, rest = two_sum(pilot, step)
    return np.float64(weight), mean, _upright(factor), rest


def merged_triangle(first: Array, second: Array, rows: Array) -> Array:
    """Return the triangular factor of two triangular factors (d, d) and a few rows (k, d).

    A third of the work that the same rows would be if they were not triangles already; the second factor
    may have no rows, (0, d), and a few rows alone are d² operations each.

    Examples
    --------
    >>> merged_triangle(np.array([[3.0]]), np.array([[4.0]]), np.array([[12.0]]))
    array([[13.]])
    """
    if not is_numpy_array(first):
        return agnostic.triangle(namespace_of(first).concat([first, second, rows]))
    below = np.asfortranarray(np.concatenate([rows, second]))
    return _upright(_reflected(np.array(first, order="F"), below, triangular=len(second)))


def _householder(n: int, d: int, fill: Callable[[np.ndarray, slice], None]) -> np.ndarray:
    """Reflect panel after panel into the running factor; `fill` writes the rows of a part into a panel."""
    factor = np.zeros((d, d), order="F")
    step = PANEL * (PANELS if d < 64 else 1)
    for start in range(0, n if d else 0, step):
        stop = min(start + step, n)
        rows = np.empty((stop - start, d), order="F")
        fill(rows, slice(start, stop))
        for top in range(0, stop - start, PANEL):
            panel = rows[top : top + PANEL]
            # A panel that is not tall would be reflected into nothing but zeros.
            few = start + top == 0 and len(panel) < 3 * d
            factor = _alone(panel) if few else _reflected(factor, panel)
    return _upright(factor)


def _alone(panel: np.ndarray) -> np.ndarray:
    """Return the factor of a panel."""
    from scipy.linalg import lapack

    m, d = panel.shape
    factor = np.zeros((d, d), order="F")
    with single_threaded_blas(NARROW < d <= FEW_COLUMNS):
        factor[:m] = np.triu(lapack.dgeqrf(panel, lwork=32 * d, overwrite_a=1)[0][:d])
    return factor


def _reflected(factor: np.ndarray, below: np.ndarray, triangular: int = 0) -> np.ndarray:
    """Return the factor of what is below the factor too; both are overwritten."""
    d = len(factor)
    width = min(d, 8 if d < 200 else 16)  # columns reflected at a time
    with single_threaded_blas(d > NARROW):
        return reflect(factor, below, triangular, width) if d else factor


def _upright(factor: np.ndarray) -> np.ndarray:
    """Flip the signs of rows so that the diagonal is not negative."""
    sign = np.where(factor.diagonal() < 0, -1.0, 1.0)
    upright = np.multiply(factor, sign[:, None], order="C")
    upright += 0.0  # and no zero either
    return upright


#: Columns up to which the moments of a block are compiled: the products of more are symmetric to NumPy, half
#: of the operations.
COMPILED_COLUMNS = 32

#: Bytes of the rows that are centred at a time: they stay in the cache of a core.
CENTRED_BYTES = 2**16


def moments(x: Array, weights: Array | None = None) -> tuple[Array, Array, Array, Array]:
    """Return the weight, the mean, the scatter Σ w (x - mean)(x - mean)ᵀ and the rest of the mean of rows.

    Stable far from the origin: by sums about a point near the mean, corrected for its distance. The mean is
    the sum of two numbers: the second is below the last digit of the first.

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,), optional

    Examples
    --------
    >>> weight, mean, scatter, _ = moments(np.array([[0.0, 1.0], [2.0, 3.0]]))
    >>> float(weight), mean.tolist(), scatter.tolist()
    (2.0, [1.0, 2.0], [[2.0, 2.0], [2.0, 2.0]])
    """
    n, d = x.shape
    if _sums_compiled(x, d):
        return _compiled_moments(x, x[:, :0], weights)
    with single_threaded_blas(d <= FEW_COLUMNS and n * d * d > LEAST_PRODUCTS):
        return agnostic.moments(x, weights)


#: Rows that are worth a block to themselves, at most, and the products of their columns, or the entries where
#: columns are not multiplied: compiled code reads them a few at a time, in a millisecond or two, and its
#: results are merged by the interpreter, for which threads wait.
MERGED_ROWS, MERGED_PRODUCTS, MERGED_ENTRIES = 60_000, 2**24, 2**20


def rows_worth_merging(n_columns: int, *, diagonal: bool = False) -> int:
    """Return how many rows a block should have at least whose `moments` are merged with those of others.

    Examples
    --------
    >>> rows_worth_merging(16), rows_worth_merging(64), rows_worth_merging(64, diagonal=True)
    (60000, 4096, 16384)
    """
    d = max(1, n_columns)
    return min(MERGED_ROWS, MERGED_ENTRIES // d if diagonal else MERGED_PRODUCTS // d**2)


def _sums_compiled(x: Array, width: int) -> bool:
    return runs_compiled(x, 4 * x.shape[0] * width) and width <= COMPILED_COLUMNS


def _centred_rows(width: int) -> int:
    return max(64, CENTRED_BYTES // (8 * width))


def _compiled_moments(x: Array, y: Array, weights: Array | None) -> tuple[Array, Array, Array, Array]:
    from tractable.primitives.linear.compiled import moments as compiled

    return compiled(x, y, weights, _centred_rows(x.shape[1] + y.shape[1]))


#: Entries of the rows whose products are added at a time: they stay in the cache of a core.
PRODUCT_ENTRIES = 2**15
#: The most columns that are stored one after the other meanwhile.
COLUMNS_APART = 10


@SILENT
def joint_moments(x: Array, y: Array, weights: Array | None = None) -> tuple[Array, Array, Array, Array]:
    """Return the `moments` of rows [x, y], which are never copied whole.

    Parameters
    ----------
    x : array (n, d)
    y : array (n, t)
    weights : array (n,), optional

    Examples
    --------
    >>> weight, mean, scatter, _ = joint_moments(np.array([[0.0], [2.0]]), np.array([[1.0], [3.0]]))
    >>> float(weight), mean.tolist(), scatter.tolist()
    (2.0, [1.0, 2.0], [[2.0, 2.0], [2.0, 2.0]])
    """
    if not is_numpy_array(x):
        return agnostic.moments(namespace_of(x).concat([x, y], axis=1), weights)
    if _sums_compiled(x, x.shape[1] + y.shape[1]):
        return _compiled_moments(x, y, weights)
    n, width = len(x), x.shape[1] + y.shape[1]
    # Products of fewer rows are slow.
    step = max(4 * width, PRODUCT_ENTRIES // width) if width <= FEW_COLUMNS else even_rows(n, width)
    some = slice(0, step)
    _, _, _, centre = _weights_and_centre(x[some], y[some], None if weights is None else weights[some])
    weight = np.float64(n) if weights is None else weights.sum()
    safe = weight if weight > 0 else 1.0
    shift, scatter = _moments_about(centre, x, y, weights, safe, step)
    if not (safe * shift**2 <= scatter.diagonal()).all():  # the first rows differ by more than rows do
        centre = centre + shift
        shift, scatter = _moments_about(centre, x, y, weights, safe, step)
    mean, rest = two_sum(centre, shift)
    return weight, mean, scatter, rest


def _moments_about(
    centre: np.ndarray, x: np.ndarray, y: np.ndarray, weights: np.ndarray | None, weight: Any, step: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of rows [x, y] less a centre, and their scatter."""
    products = _products_of_parts(centre, x, y, weights, step)
    sums = products[:-1, -1]
    return sums / weight, products[:-1, :-1] - sums[:, None] * (sums / weight)


def _products_of_parts(
    centre: np.ndarray, x: np.ndarray, y: np.ndarray, weights: np.ndarray | None, step: int
) -> np.ndarray:
    """Return the `_products_about` a centre, of many columns as the sum of those of parts of `step` rows.

    All cores share the parts, which are added in order.
    """
    n = len(x)
    if n <= step or len(centre) < FEW_COLUMNS:
        return _products_about(centre, x, y, weights, step)

    def of(start: int) -> np.ndarray:
        part = slice(start, start + step)
        return _products_about(centre, x[part], y[part], None if weights is None else weights[part], step)

    with single_threaded_blas():
        parts = ordered_map(of, range(0, n, step))
        return reduce(lambda total, own: np.add(total, own, out=total), parts)


@SILENT  # on the threads of the pool too
def _products_about(
    centre: np.ndarray, x: np.ndarray, y: np.ndarray, weights: np.ndarray | None, step: int
) -> np.ndarray:
    """Return the products of the columns √w [x - centre, y - centre, 1], `step` rows at a time."""
    (n, d), width = x.shape, len(centre) + 1
    # Few columns are centred one by one: the entries of a row are too few for a loop of NumPy.
    panel = np.empty((width, min(step, n)), order="C" if width <= COLUMNS_APART else "F")
    products: Any = None
    for start in range(0, max(n, 1), step):
        part = slice(start, min(start + step, n))
        z = panel[:, : part.stop - start]
        np.subtract(x[part].T, centre[:d, None], out=z[:d])
        np.subtract(y[part].T, centre[d:, None], out=z[d:-1])
        z[-1] = 1.0
        if weights is not None:
            z *= np.sqrt(weights[part])
        own = product(z, z.T)
        products = own if products is None else np.add(products, own, out=products)
    return products


#: Column sums of the inverse correlations up to which their Cholesky factor is taken for that of the rows: it
#: has their digits, but for so many times the rounding of a number.
INFLATION = 50.0

#: The largest variance inflation 1 / (1 - R²) of a target, whose residuals lose so many times rounding, over
#: that of the columns.
TARGET_INFLATION = 200.0


def safe_factor(
    scatter: np.ndarray, n_targets: int = 0, *, inflation: float = INFLATION
) -> np.ndarray | None:
    """Return R, upper triangular with RᵀR = scatter, if it has the digits of a QR but for about one; or None.

    By the Cholesky factor of the correlations. Products of columns have errors of a few ε times the lengths
    of both: the scatter in any direction has a relative error of these ε times the inverse correlations,
    whose largest column sum is estimated. Rows that are added later lower it.

    Parameters
    ----------
    scatter : array (d + t, d + t)
    n_targets : int
        Number t of the last columns that are targets.
    inflation : float
        The largest sum, where less than all digits will do.

    Examples
    --------
    >>> safe_factor(np.array([[25.0, 15.0], [15.0, 10.0]])).round(12).tolist()
    [[5.0, 3.0], [0.0, 1.0]]
    >>> safe_factor(np.ones((2, 2))) is None
    True
    """
    from scipy.linalg import lapack

    squares, d = scatter.diagonal(), len(scatter) - n_targets
    if not d or not (squares.min() > SMALLEST_SQUARE and squares.max() < 1.0 / SMALLEST_SQUARE):
        return None
    lengths = np.sqrt(squares)
    correlations = scatter * (1.0 / lengths)
    correlations *= (1.0 / lengths)[:, None]
    with blas_for_rows(len(scatter)):
        # Its transpose, which is in the order of Fortran, is the same matrix.
        lower, info = lapack.dpotrf(correlations.T, lower=1, clean=1, overwrite_a=1)
        pivots, unexplained = lower.diagonal(), TARGET_INFLATION * inflation * lower.diagonal()[d:] ** 2
        if info != 0 or not pivots.min() > 0.0 or (unexplained < 1.0).any():
            return None
        if not inflation * lapack.dpocon(lower[:d, :d], 1.0, uplo="L")[0] >= 1.0:
            return None
    factor = lower.T
    factor *= lengths
    return factor


def sums_groups(x: Array) -> bool:
    """Return whether `grouped_moments` takes these rows: float64 of NumPy, and few."""
    few = type(x) is np.ndarray and x.dtype == np.float64 and x.shape[0] > 0
    return few and not runs_compiled(x, 4 * x.shape[0] * x.shape[1])


def grouped_moments(
    x: np.ndarray, edges: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the `moments` of consecutive groups of rows, as arrays (K,), (K, d) and (K, d, d).

    Parameters
    ----------
    x : array (n, d)
    edges : array (K + 1,)
        Group k has the rows from edge k to the next, one at least.
    weights : array (n,), optional

    Examples
    --------
    >>> weight, mean, scatter = grouped_moments(np.array([[0.0], [2.0], [5.0]]), np.array([0, 2, 3]))
    >>> weight.tolist(), mean.tolist(), scatter.tolist()
    ([2.0, 1.0], [[1.0], [5.0]], [[[2.0]], [[0.0]]])
    """
    return agnostic.grouped_moments(x, edges, weights)


def class_moments(
    x: np.ndarray, codes: np.ndarray, n_classes: int, weights: np.ndarray | None, smallest: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the `moments` of the rows of each class, as arrays (K,), (K, d) and (K, d, d), by compiled code.

    The rows are not sorted, and other threads have the interpreter meanwhile.

    Parameters
    ----------
    x : array (n, d)
        Rows for which `sums_classes` is true.
    codes : array (n,) of int
        The class of each row, from 0 to K - 1.
    n_classes : int
        K.
    weights : array (n,), optional
        How often each row counts.
    smallest : float
        Sums of squares below it have lost digits.

    Returns
    -------
    tuple of arrays or None
        None where an entry is missing (NaN) or infinite, or squares of a column that varies are lost.

    Examples
    --------
    >>> found = class_moments(np.array([[0.0], [5.0], [2.0]]), np.array([0, 1, 0]), 2, None, 1e-290)
    >>> [each.tolist() for each in found]
    [[2.0, 1.0], [[1.0], [5.0]], [[[2.0]], [[0.0]]]]
    """
    from tractable.primitives.linear.compiled import class_moments as compiled

    *found, plain = compiled(x, codes, weights, n_classes, _centred_rows(x.shape[1]), smallest)
    return tuple(found) if plain else None


def sums_classes(x: Array) -> bool:
    """Return whether `class_moments` takes these rows: of NumPy, many, and not of many columns."""
    return _sums_compiled(x, x.shape[1]) and x.shape[1] > 0


def grouped_centred_rows(
    x: np.ndarray, edges: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the weights (K,) and means (K, d) of groups, and rows √w (x - mean) with scatters as products.

    Parameters
    ----------
    x, edges, weights
        As in `grouped_moments`.

    Examples
    --------
    >>> weight, mean, rows = grouped_centred_rows(np.array([[0.0], [2.0], [5.0]]), np.array([0, 2, 3]))
    >>> weight.tolist(), mean.tolist(), rows.tolist()
    ([2.0, 1.0], [[1.0], [5.0]], [[-1.0], [1.0], [0.0]])
    """
    return agnostic.grouped_centred_rows(x, edges, weights)


def diagonal_moments(x: Array, weights: Array | None = None) -> tuple[Array, Array, Array, Array]:
    """Return the weight of rows, and mean, scatter Σ w (x - mean)² and rest of the mean of each column, (d,).

    As `moments`; the mean of a column with missing entries, NaN, is NaN.

    Examples
    --------
    >>> weight, mean, scatter, _ = diagonal_moments(np.array([[0.0, 1.0], [2.0, 3.0]]))
    >>> float(weight), mean.tolist(), scatter.tolist()
    (2.0, [1.0, 2.0], [2.0, 2.0])
    """
    if not runs_compiled(x, 4 * x.shape[0] * x.shape[1]):
        return agnostic.diagonal_moments(x, weights)
    from tractable.primitives.linear.compiled import diagonal_moments as compiled

    one = np.empty(0) if weights is None else weights
    return compiled(x, one, _centred_rows(x.shape[1]))


def residual_sums(x: Array, y: Array, weights: Array, *, centre: Array, coef: Pair, offset: Pair) -> Pair:
    """Return Σ w r, Σ w (x - centre) r and Σ w r², with r = y - offset - (x - centre)ᵀ coef.

    All in double-double arithmetic, each number a pair high + low: `coef` is two arrays (t, d), `offset` two
    (t,), and the sums of x (n, d) and y (n, t) two (t, d + 2). Near a least squares fit the sums are what is
    left of much larger terms, and have digits only so.

    Examples
    --------
    >>> import numpy as np
    >>> x, y, zero = np.array([[1.0], [2.0]]), np.array([[3.0], [6.0]]), np.zeros(1)
    >>> line = np.array([[2.0]]), np.zeros((1, 1))
    >>> residual_sums(x, y, np.ones(2), centre=zero, coef=line, offset=(zero, zero))[0]
    array([[3., 5., 5.]])
    """
    if not runs_compiled(x, 50 * y.shape[1] * x.shape[0] * x.shape[1]):
        return agnostic.residual_sums(x, y, weights, centre=centre, coef=coef, offset=offset)
    from tractable.primitives.linear.compiled import residual_sums as compiled

    return compiled(x, y, weights, centre, *coef, *offset)


def gradient_pass(
    rows: Array, targets: Array, weights: Array, steps: Array, batch_size: int, start: Array
) -> tuple[Array, Array, float]:
    """Iterate w ← w + η mean(weight (t - wᵀφ) φ) over the batches, in order.

    Parameters
    ----------
    rows : array (n, p)
        The features φ.
    targets : array (n,)
    weights : array (n,)
    steps : array (ceil(n / batch_size),)
        η of each batch.
    batch_size : int
    start : array (p,)
        w before the first step.

    Returns
    -------
    array (p,), array (p,), float
        w after the last step; the sum of w after each; the sum of weight (t - wᵀφ)², each before its step.

    Examples
    --------
    >>> import numpy as np
    >>> rows, targets = np.array([[1.0], [2.0]]), np.array([2.0, 4.0])
    >>> gradient_pass(rows, targets, np.ones(2), np.array([0.5, 0.25]), 1, np.zeros(1))
    (array([2.]), array([3.]), 8.0)
    """
    if not runs_compiled(rows, 1024 * steps.shape[0] * (1 + batch_size * rows.shape[1] / 1000)):
        return agnostic.gradient_pass(rows, targets, weights, steps, batch_size, start)
    from tractable.primitives.linear.compiled import gradient_pass as compiled

    return compiled(rows, targets, weights, steps, batch_size, start)


#: Above this dimension a triangular solve is compute-bound and BLAS does it better.
LARGEST_COMPILED = 64


def squared_mahalanobis(x: Array, mean: Array, lower: Array) -> Array:
    """Return |L⁻¹ (x - mean)|² for every row.

    Parameters
    ----------
    x : array (n, d)
    mean : array (d,)
    lower : array (d, d)
        The Cholesky factor of the covariance; entries above the diagonal are not read.

    Examples
    --------
    >>> import numpy as np
    >>> squared_mahalanobis(np.array([[3.0, 5.0]]), np.array([1.0, 1.0]), np.diag([2.0, 4.0]))
    array([2.])
    """
    if not runs_compiled(x, 4 * x.shape[0] * x.shape[-1]) or x.shape[-1] > LARGEST_COMPILED:
        with blas_for_products(x.shape[0] * x.shape[-1] ** 2):
            return agnostic.squared_mahalanobis(x, mean, lower)
    from tractable.primitives.linear.compiled import squared_mahalanobis as compiled

    return compiled(x, mean, lower).astype(np.result_type(x, lower), copy=False)
