"""The nearest points of rows, by every distance: the plain search that all others must agree with."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.arrays.limits import power_of_two
from tractable.arrays.namespace import Array
from tractable.primitives import as_double, few_pairs, runs_compiled
from tractable.primitives.neighbors import agnostic
from tractable.primitives.neighbors.agnostic import distances, smallest, up_to
from tractable.value import value

__all__ = [
    "FORMS",
    "SingleRows",
    "distances",
    "few_searched",
    "filtered_nearest",
    "filtered_within",
    "nearest",
    "nearest_of_few",
    "single_rows",
    "smallest",
    "sorted_pairs",
    "up_to",
    "within",
]


#: Distances of differences of coordinates, in the order in which the compiled twin counts them.
FORMS = ("euclidean", "manhattan", "chebyshev", "hamming", "minkowski")


def nearest(
    x: Array, points: Array, k: int, form: str = "euclidean", order: float = 2.0
) -> tuple[Array, Array]:
    """Return the distances and indices of the k nearest points of each row, the nearest first.

    Of points at the same distance the smaller index comes first. Coordinates are added one after another, so
    that every search which measures its candidates thus returns the same bits.

    Parameters
    ----------
    x : array (m, d)
    points : array (n, d)
    k : int
        From 1 to n.
    form : {"euclidean", "manhattan", "chebyshev", "hamming", "minkowski"}
        √Σ(x-y)², Σ|x-y|, max|x-y|, the share of coordinates that differ, or (Σ|x-y|^order)^(1/order).
    order : float
        Of Minkowski's distance.

    Returns
    -------
    distances, indices : arrays (m, k)

    Examples
    --------
    >>> distances, indices = nearest(np.array([[0.0]]), np.array([[2.0], [1.0], [-1.0]]), 2)
    >>> distances.tolist(), indices.tolist()
    ([[1.0, 1.0]], [[1, 2]])
    """
    if few_pairs(x, points):
        return agnostic.nearest(as_double(x), as_double(points), k, form, order)
    from tractable.primitives.neighbors.compiled import nearest as compiled

    near, indices = np.empty((len(x), k)), np.empty((len(x), k), np.int64)
    compiled(x, points, k, FORMS.index(form), float(order), near, indices)
    return near, indices


def within(
    x: Array, points: Array, radii: Array, form: str = "euclidean", order: float = 2.0
) -> tuple[Array, Array, Array]:
    """Return rows, indices and distances of all pairs that are no farther apart than the row's radius.

    Pairs come by row, then by distance, then by index.

    Parameters
    ----------
    x : array (m, d)
    points : array (n, d)
    radii : array (m,)
    form, order
        See `nearest`.

    Examples
    --------
    >>> rows, indices, distances = within(np.array([[0.0]]), np.array([[2.0], [1.0]]), np.array([2.0]))
    >>> rows.tolist(), indices.tolist(), distances.tolist()
    ([0, 0], [1, 0], [1.0, 2.0])
    """
    if few_pairs(x, points):
        return agnostic.within(as_double(x), as_double(points), radii, form, order)
    from tractable.primitives.neighbors.compiled import within as compiled

    return sorted_pairs(*compiled(x, points, radii, FORMS.index(form), float(order)))


#: Points up to which a search of few pairs goes by NumPy and SciPy, and how many looks at pairs it may take,
#: in units of the least work that is compiled: about thirty milliseconds. What is compiled takes a third to
#: a half of that, and some ten seconds before.
FEW_POINTS, FEW_LOOKS = 2**13, 150


def few_searched(points: np.ndarray, n_rows: int, k: int, form: str) -> bool:
    """Say whether `nearest_of_few` searches for the k nearest points of so many rows.

    Examples
    --------
    >>> points = np.zeros((3000, 8))
    >>> few_searched(points, 3000, 5, "euclidean"), few_searched(points, 30_000, 5, "euclidean")
    (True, False)
    """
    n, d = points.shape
    looks = n_rows * n * ((k if k <= agnostic.MINIMA else 64) + 7 + d / 8)
    return form == "euclidean" and n <= FEW_POINTS and not runs_compiled(points, looks / FEW_LOOKS)


def nearest_of_few(
    x: np.ndarray, points: np.ndarray, k: int, tree: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return what `nearest` returns, to the bit; nothing is compiled.

    Parameters
    ----------
    x, points, k
        As in `nearest`.
    tree : scipy.spatial.cKDTree, optional
        Of the points: the candidates are then its own, and else those of matrix products.

    Examples
    --------
    >>> nearest_of_few(np.array([[4.0]]), np.array([[0.0], [5.0], [3.0]]), 2)[1].tolist()
    [[1, 2]]
    """
    if tree is not None:
        return agnostic.nearest_in_tree(x, points, tree, k)
    return agnostic.nearest(x, points, k)


def sorted_pairs(rows: np.ndarray, indices: np.ndarray, apart: np.ndarray) -> tuple[Any, Any, Any]:
    """Return pairs by row, then by how far they are apart, then by index."""
    order = np.lexsort((indices, apart, rows))
    return rows[order], indices[order], apart[order]


#: Points met at a time. No power of two, whose rows of products would fall on one another in the cache.
COLUMNS = 960

#: The compiled scan looks at so many columns at once.
GROUP = 64

#: Products of smaller numbers would be too small for single precision, and slow.
SMALLEST = np.float32(2.0**-63)

#: Points, spread evenly, of which medians are taken; and how many times the middle one's the largest size is.
SOME, WIDEST = 32, 2.0**40

#: Rows farther away, in units of the points' spread, are searched in double precision.
FARTHEST = 2.0**50


@value
class SingleRows:
    """Points in single precision, about their middle and in units of their spread."""

    centre: np.ndarray  # (d,)
    scale: float
    rows: np.ndarray  # (n + padding, d)
    squares: np.ndarray  # (n + padding,), |y|² less its error; infinite where padded
    slack: np.ndarray  # (n,), how far a key may lie below the true one, for its |y|²
    share: float  # c
    largest: float  # of the |y|
    step: int  # rows of a tile

    @property
    def memory(self) -> int:
        """Bytes."""
        return self.rows.nbytes + self.squares.nbytes + self.slack.nbytes


def single_rows(points: np.ndarray) -> SingleRows:
    """Return the points as the filter wants them.

    Examples
    --------
    >>> single_rows(np.array([[1e8], [1e8 + 2.0]])).rows[:2].tolist()
    [[-1.0], [0.0]]
    """
    from tractable.primitives.neighbors.compiled import fill_single

    n, d = points.shape
    n_tiles = -(-n // COLUMNS)
    padded = n_tiles * -(-n // (n_tiles * GROUP)) * GROUP
    rows, squares = np.zeros((padded, d), np.float32), np.full(padded, np.inf)
    fill = fill_single if runs_compiled(points, 2 * points.size) else agnostic.fill_single
    for centre, scale in _middles(points):
        fill(points, centre, scale, float(SMALLEST), rows[:n], squares[:n])
        largest = float(np.sqrt(squares[:n].max()))
        if largest < WIDEST:
            break
    share = 1.01 * (d + 8) * 2.0**-24
    return SingleRows(
        centre=centre,
        scale=scale,
        rows=rows,
        squares=(squares * (1.0 - share)).astype(np.float32),
        slack=(2.02 * share * squares[:n]).astype(np.float32),
        share=share,
        largest=largest,
        step=padded // n_tiles,
    )


def filtered_nearest(
    x: np.ndarray, points: np.ndarray, single: SingleRows, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return what `nearest` returns, to the bit.

    Parameters
    ----------
    x : array (m, d)
        A block of rows: hundreds, not millions.
    points : array (n, d)
    single : SingleRows
        Of the same points.
    k : int

    Examples
    --------
    >>> points = np.array([[0.0], [5.0], [3.0]])
    >>> filtered_nearest(np.array([[4.0]]), points, single_rows(points), 2)[1].tolist()
    [[1, 2]]
    """
    m, cap = len(x), 4 * k + 2 * GROUP
    if cap > len(points) or single.share > 2.0**-6 or few_pairs(x, points):
        return nearest(x, points, k)
    from tractable.primitives.neighbors.compiled import refine, scan

    q, sizes = _queries(x, single)
    key, idx = np.empty((m, cap), np.float32), np.empty((m, cap), np.int32)
    count = np.where(sizes > FARTHEST**2, -1, 0)
    limit = np.full(m, np.inf, np.float32)
    doubt = 2.0 * single.share * sizes + _least(single, sizes)
    widest = float(single.slack.max())
    for start, gram, squares in _tiles(q, single):
        scan(gram, squares, start, k, widest, single.slack, doubt, key, idx, count, limit)
    distances, indices = np.empty((m, k)), np.empty((m, k), np.int64)
    refine(x, points, k, single.slack, doubt, key, idx, count, distances, indices)
    anew = count < 0
    if anew.any():
        distances[anew], indices[anew] = nearest(x[anew], points, k)
    return distances, indices


def filtered_within(
    x: np.ndarray, points: np.ndarray, single: SingleRows, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `within` returns, to the bit.

    Examples
    --------
    >>> points = np.array([[0.0], [5.0], [3.0]])
    >>> filtered_within(np.array([[4.0]]), points, single_rows(points), np.array([1.0]))[1].tolist()
    [1, 2]
    """
    if few_pairs(x, points):
        return within(x, points, radii)
    from tractable.primitives.neighbors.compiled import count_hits, fill_hits

    with np.errstate(over="ignore"):
        q, sizes = _queries(x, single)
        reach = (radii * single.scale) ** 2
    if np.any(sizes > FARTHEST**2) or np.any(reach > FARTHEST**2) or single.share > 2.0**-6:
        return within(x, points, radii)
    limit = reach - sizes + single.share * (reach + sizes) + _least(single, sizes)
    limit = np.nextafter(limit.astype(np.float32), np.float32(np.inf))
    found = []
    for start, gram, squares in _tiles(q, single):
        hits = count_hits(gram, squares, limit)
        if hits:
            found.append(fill_hits(x, points, gram, squares, start, limit, radii, hits))
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    return sorted_pairs(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _queries(x: np.ndarray, single: SingleRows) -> tuple[np.ndarray, np.ndarray]:
    """Return -2 x in single precision, and |x|², about the centre and in its units."""
    from tractable.primitives.neighbors.compiled import fill_single

    q, sizes = np.empty(x.shape, np.float32), np.empty(len(x))
    fill_single(x, single.centre, -2.0 * single.scale, float(SMALLEST), q, sizes)
    sizes *= 0.25
    q[sizes > FARTHEST**2] = 0.0
    return q, sizes


def _least(single: SingleRows, sizes: np.ndarray) -> np.ndarray:
    """Bound what is lost where small numbers count as zeros."""
    d = single.rows.shape[1]
    return 2.0**-58 * d * (1.0 + np.sqrt(np.minimum(sizes, FARTHEST**2)) + single.largest)


def _tiles(q: np.ndarray, single: SingleRows) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield the first column, the products and the squares of each tile."""
    gram = np.empty((len(q), single.step), np.float32)
    for start in range(0, len(single.rows), single.step):
        part = slice(start, start + single.step)
        yield start, np.matmul(q, single.rows[part].T, out=gram), single.squares[part]


def _middles(points: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
    """Yield about what, and in which unit, points keep their digits: medians, which outliers do not move.

    Then, for outliers that would be too large for single precision in that unit, or where most points are
    one, the mean and the spread of all.
    """
    some = points[:: max(1, len(points) // SOME)]
    half = len(some) // 2
    centre = np.partition(some, half, axis=0)[half]
    typical = float(np.sqrt(np.partition(np.mean((some - centre) ** 2, axis=1), half)[half]))
    if 0.0 < typical < np.inf:
        yield centre, 1.0 / power_of_two(typical)
    centre = points.mean(axis=0)
    total = sum(float(np.sum((part - centre) ** 2)) for part in _parts(points))
    yield centre, 1.0 / power_of_two((total / points.size) ** 0.5)


def _parts(points: np.ndarray) -> Iterator[np.ndarray]:
    return (points[start : start + 4096] for start in range(0, len(points), 4096))
