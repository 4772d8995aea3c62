"""The functions of `tractable.primitives.neighbors` in the array API."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, is_numpy_array, is_torch_array, namespace_of
from tractable.primitives import SILENT
from tractable.primitives.threads import even_blocks


@SILENT
def nearest(
    x: Array, points: Array, k: int, form: str = "euclidean", order: float = 2.0
) -> tuple[Array, Array]:
    if form == "euclidean" and _by_products(x, points, k):
        return _host_candidates(x, points, k)
    if not is_numpy_array(x):
        return smallest(distances(x, points, form, order), k)
    near, indices = np.empty((len(x), k)), np.empty((len(x), k), np.int64)
    for part in even_blocks(len(x), max(1, CACHED // len(points))):
        near[part], indices[part] = smallest(distances(x[part], points, form, order), k)
    return near, indices


#: Distances that stay in the cache of a core: pages of larger arrays are also given back, and cleared again.
CACHED = 2**16

#: Columns, and differences of coordinates, from which on candidates are chosen by products; and how many more
#: of them there are than neighbours.
COLUMNS, DIFFERENCES, MORE = 16, 2**20, 3


def _by_products(x: Array, points: Array, k: int) -> bool:
    doubles = type(x) is np.ndarray and x.dtype == points.dtype == np.float64
    enough = doubles and x.shape[1] >= COLUMNS and x.size * len(points) >= DIFFERENCES
    return enough and k <= MINIMA and 4 * (k + MORE) < len(points)


def fill_single(
    points: np.ndarray,
    centre: np.ndarray,
    scale: float,
    smallest: float,
    rows: np.ndarray,
    squares: np.ndarray,
) -> None:
    z = points - centre
    z *= scale
    np.einsum("ij,ij->i", z, z, out=squares)
    rows[:] = z
    small = np.abs(rows) < np.float32(smallest)
    if small.any():
        rows[small] = 0.0


def _host_candidates(x: np.ndarray, points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what `nearest` does, to the bit: of candidates by |y|² - 2 x·y, measured by differences.

    Rows of which other points may be as near, up to the rounding of the products, or whose squares overflow
    or vanish, are measured from all points.
    """
    (m, d), c, center = x.shape, k + MORE, points.mean(axis=0)
    z, y = np.ones((m, d + 1)), np.empty((len(points), d + 1))  # (-2 x, 1) · (y, |y|²)
    np.subtract(x, center, out=z[:, :d])
    np.subtract(points, center, out=y[:, :d])
    squares, sizes = np.einsum("ij,ij->i", y[:, :d], y[:, :d]), np.einsum("ij,ij->i", z[:, :d], z[:, :d])
    z[:, :d] *= -2.0
    y[:, d] = squares
    least, ranks = _minima(np.dot(z, y.T), c)
    ranks.sort(axis=1)  # of equals the first
    steps = np.take(points.T, ranks.T.ravel(), axis=1).reshape(d, c, m)  # rows last: the loops are long
    steps -= x.T.copy()[:, None, :]
    steps *= steps
    every = np.sqrt(np.add.reduce(steps, axis=0)).T  # one coordinate after another
    first = np.argsort(every, axis=1, kind="stable")[:, :k]
    near, indices = np.take_along_axis(every, first, axis=1), np.take_along_axis(ranks, first, axis=1)
    rounding = 4.0 * (d + 8) * 2.0**-52 * (np.sqrt(sizes) + np.sqrt(squares.max())) ** 2
    edge = _edge(np, near)
    rows, columns = _pairs(near == 0.0)
    vanished = rows[(x[rows] != points[indices[rows, columns]]).any(axis=1)]
    extreme = ((near < 1.0 / edge) & (near > 0.0)) | ~(near < edge)
    doubtful = ~(near[:, -1] ** 2 + rounding < least[:, -1] + sizes) | extreme.any(axis=1)
    doubtful[vanished] = True
    anew = np.flatnonzero(doubtful)
    if len(anew):
        near[anew], indices[anew] = smallest(distances(x[anew], points), k)
    return near, indices


def smallest(every: Array, k: int) -> tuple[Array, Array]:
    """Return the k smallest of each row (m, n), and their indices; of equals those of smaller index."""
    xp = namespace_of(every)
    if is_numpy_array(every) and 4 * k < every.shape[1]:
        found = _by_minima(every, k) if k <= MINIMA else None
        return _selected(every, k) if found is None else found
    ranks = xp.argsort(every, axis=1, stable=True)[:, :k]
    return xp.take_along_axis(every, ranks, axis=1), ranks


#: The most neighbours that are found as minima, one after another: a search for one takes a thirtieth of the
#: time of a selection.
MINIMA = 16


def _by_minima(every: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return what `smallest` does, the least of each row k times; None where an entry is no finite number."""
    near, indices = _minima(every.copy(), k)
    return (near, indices) if (near < np.inf).all() else None


def _minima(left: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k least of each row and their columns, of equals the first; they are overwritten."""
    flat, first = left.ravel(), np.arange(0, left.size, left.shape[1])
    near, indices = np.empty((len(left), k), left.dtype), np.empty((len(left), k), np.int64)
    for j in range(k):
        indices[:, j] = least = left.argmin(axis=1)
        least += first
        near[:, j] = flat[least]
        flat[least] = np.inf
    return near, indices


def _selected(every: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what `smallest` does, without a sort of all."""
    limit = np.partition(every, k - 1, axis=1)[:, k - 1 : k]
    rows, indices = _pairs(every <= limit)
    apart = every[rows, indices]
    order = np.lexsort((apart, rows))  # stable: indices rise already
    counts = np.bincount(rows, minlength=len(every))
    first = (np.cumsum(counts) - counts)[:, None] + np.arange(k)
    return apart[order][first], indices[order][first]


def _pairs(which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and columns of the few true entries, by row: what `nonzero` does, sooner."""
    return np.divmod(np.flatnonzero(which), which.shape[1])


@SILENT
def within(
    x: Array, points: Array, radii: Array, form: str = "euclidean", order: float = 2.0
) -> tuple[Array, Array, Array]:
    return up_to(distances(x, points, form, order), radii)


def up_to(every: Array, radii: Array) -> tuple[Array, Array, Array]:
    """Return rows, columns and entries (m, n) no larger than their row's radius, by row, size and column."""
    xp = namespace_of(every)
    ranks = xp.argsort(every, axis=1, stable=True)
    every = xp.take_along_axis(every, ranks, axis=1)
    rows, columns = xp.nonzero(every <= radii[:, None])
    flat = rows * every.shape[1] + columns
    return rows, xp.take(xp.reshape(ranks, (-1,)), flat), xp.take(xp.reshape(every, (-1,)), flat)


#: Candidates beside the k nearest by products, and columns of which the least is looked at first.
SPARE, GROUP = 16, 32

#: Columns up to which the distances of candidates are summed one coordinate after another, as on the host.
FEW_COLUMNS = 16


@SILENT
def scanned_nearest(
    x: Array, points: Array, k: int, form: str = "euclidean", order: float = 2.0, columns: int = 2**16
) -> tuple[Array, Array]:
    """Return what `nearest` returns, of so many points at a time: no array of all pairs is made.

    Euclidean neighbours are the nearest of candidates by |y|² - 2 x·y, a matrix product about the mean of the
    points, measured by differences. Rows whose other points may be as near, up to the rounding of the
    products, are searched by differences alone.
    """
    n, candidates = points.shape[0], k + max(k, SPARE)
    if form != "euclidean" or n <= 2 * candidates:
        return _scanned(x, points, k, form, order, columns)
    xp = namespace_of(x)
    near, indices, doubtful = _of_candidates(x, points, k, candidates, columns)
    anew = xp.nonzero(doubtful)[0]
    if not anew.shape[0]:
        return near, indices
    again = _scanned(xp.take(x, anew, axis=0), points, k, form, order, columns)
    kept = xp.nonzero(~doubtful)[0]
    back = xp.argsort(xp.concat([kept, anew]))
    both = ((xp.take(old, kept, axis=0), new) for old, new in zip((near, indices), again, strict=True))
    near, indices = (xp.take(xp.concat(parts), back, axis=0) for parts in both)
    return near, indices


def _scanned(x: Array, points: Array, k: int, form: str, order: float, columns: int) -> tuple[Array, Array]:
    """Return the nearest by the distances of all pairs, some points at a time; of equals the first."""
    xp, n, found = namespace_of(x), points.shape[0], None
    for start in range(0, n, columns):
        every = distances(x, points[start : min(start + columns, n), :], form, order)
        near, ranks = smallest(every, min(k, every.shape[1]))
        ranks = ranks + start
        if found is not None:
            near, ranks = (xp.concat(both, axis=1) for both in zip(found, (near, ranks), strict=True))
            first = xp.argsort(near, axis=1, stable=True)[:, :k]
            near, ranks = (xp.take_along_axis(each, first, axis=1) for each in (near, ranks))
        found = near, ranks
    return near, ranks


def _of_candidates(
    x: Array, points: Array, k: int, candidates: int, columns: int
) -> tuple[Array, Array, Array]:
    """Return the k nearest of so many candidates, and the rows of which others may be as near."""
    xp, (n, d), found = namespace_of(x), points.shape, None
    center = xp.mean(points, axis=0)
    z, largest = x - center, 0.0
    for start in range(0, n, columns):
        y = points[start : min(start + columns, n), :] - center
        squares = xp.sum(y * y, axis=1)
        largest = max(largest, float(xp.max(squares)))
        keys, ranks = _least(_keys(z, y, squares), candidates)
        ranks = ranks + start
        if found is not None:
            keys, first = _least(xp.concat([found[0], keys], axis=1), candidates)
            ranks = xp.take_along_axis(xp.concat([found[1], ranks], axis=1), first, axis=1)
        found = keys, ranks
    ranks = xp.sort(ranks, axis=1)  # of equals the first
    near, first = smallest(_apart(x, points, ranks), k)
    sizes = xp.sum(z * z, axis=1)
    rounding = 4.0 * (d + 8) * float(xp.finfo(x.dtype).eps) * (xp.sqrt(sizes) + largest**0.5) ** 2
    doubtful = ~(near[:, -1] ** 2 + rounding < xp.max(keys, axis=1) + sizes)
    return near, xp.take_along_axis(ranks, first, axis=1), doubtful


def _keys(z: Array, y: Array, squares: Array) -> Array:
    """Return |y|² - 2 z·y of all pairs, which orders points as their distances do."""
    if is_torch_array(z):
        return namespace_of(z).addmm(squares, z, y.T, alpha=-2.0)
    return squares - 2.0 * (z @ y.T)


def _least(keys: Array, k: int) -> tuple[Array, Array]:
    """Return the k least of each row, in any order, and their columns."""
    xp, (m, n) = namespace_of(keys), keys.shape
    if n <= k:
        ranks = xp.broadcast_to(xp.arange(n, device=device(keys)), (m, n))
        return keys, ranks
    if not is_torch_array(keys):
        ranks = xp.argsort(keys, axis=1)[:, :k]
        return xp.take_along_axis(keys, ranks, axis=1), ranks
    if n % GROUP or n < 4 * k * GROUP:
        found = keys.topk(k, dim=1, largest=False, sorted=False)
        return found.values, found.indices
    # The k least are in the k groups whose least entries are smallest: keys are read once.
    grouped = keys.view(m, n // GROUP, GROUP)
    groups = grouped.amin(dim=2).topk(k, dim=1, largest=False, sorted=False).indices
    some = grouped.gather(1, groups[:, :, None].expand(m, k, GROUP)).view(m, k * GROUP)
    found = some.topk(k, dim=1, largest=False, sorted=False)
    return found.values, groups.gather(1, found.indices // GROUP) * GROUP + found.indices % GROUP


def _apart(x: Array, points: Array, ranks: Array) -> Array:
    """Return the distances of rows from points of their own, (m, c)."""
    xp, (m, c), d = namespace_of(x), ranks.shape, x.shape[1]
    flat = xp.reshape(ranks, (-1,))
    if d <= FEW_COLUMNS:
        own = (xp.reshape(xp.take(points[:, j], flat), (m, c)) for j in range(d))
        return _of_steps(xp, [xp.abs(x[:, j : j + 1] - y) for j, y in enumerate(own)], "euclidean")
    steps = x[:, None, :] - xp.reshape(xp.take(points, flat, axis=0), (m, c, d))
    return xp.sqrt(xp.sum(steps * steps, axis=2))


#: The distances that SciPy adds up coordinate by coordinate too: the same bits as the loop below, sooner.
IN_SCIPY = {"euclidean": "euclidean", "manhattan": "cityblock", "chebyshev": "chebyshev"}


def distances(x: Array, points: Array, form: str = "euclidean", order: float = 2.0) -> Array:
    """Return the distances of all pairs, (m, n), coordinate by coordinate."""
    if is_numpy_array(x) and x.dtype == points.dtype == np.float64 and form in IN_SCIPY:
        return _in_scipy(x, points, form)
    xp = namespace_of(x, points)
    return _of_steps(xp, [xp.abs(x[:, j : j + 1] - points[:, j]) for j in range(x.shape[1])], form, order)


def _in_scipy(x: np.ndarray, points: np.ndarray, form: str) -> np.ndarray:
    """Return the distances of all pairs; those whose squares may have overflowed or vanished once more."""
    from scipy.spatial.distance import cdist

    every = cdist(x, points, IN_SCIPY[form])
    if form == "euclidean":
        edge = _edge(np, every)
        rows, columns = _pairs((every < 1.0 / edge) | ~(every < edge))
        steps = np.abs(x[rows] - points[columns])
        apart = steps.any(axis=1)  # the distance of equal rows is zero
        if apart.any():
            every[rows[apart], columns[apart]] = _of_steps(np, list(steps[apart].T), form)
    return every


def _of_steps(xp: Any, steps: list[Array], form: str, order: float = 2.0) -> Array:
    """Return the distances of pairs, given how far apart they are in each coordinate."""
    total = xp.zeros_like(steps[0])
    if form == "euclidean":
        return _euclidean(xp, steps, total)
    for step in steps:
        if form == "manhattan":
            total = total + step
        elif form == "hamming":
            total = total + xp.astype(step != 0.0, total.dtype)
        else:
            total = xp.maximum(total, step)
    if form == "hamming":
        return total / len(steps)
    return _minkowski(xp, steps, total, order) if form == "minkowski" else total


def _euclidean(xp: Any, steps: list[Array], zeros: Array) -> Array:
    """Squares of steps, over the largest where squares would overflow or vanish."""
    largest = zeros
    for step in steps:
        largest = xp.maximum(largest, step)
    edge = _edge(xp, zeros)
    extreme = (largest > edge) | ((largest < 1.0 / edge) & (largest > 0.0))
    unit = xp.where(extreme, largest, xp.ones_like(largest))
    total = zeros
    for step in steps:
        total = total + (step / unit) ** 2
    return unit * xp.sqrt(total)


def _edge(xp: Any, of: Array) -> float:
    """Return a distance below which squares do not overflow, and above whose inverse none vanishes."""
    return float(xp.finfo(of.dtype).max) ** 0.4


def _minkowski(xp: Any, steps: list[Array], largest: Array, order: float) -> Array:
    """Powers of steps over the largest: none overflows, whatever the order."""
    unit = xp.where(largest > 0.0, largest, xp.ones_like(largest))
    total = xp.zeros_like(largest)
    for step in steps:
        total = total + (step / unit) ** order
    return largest * total ** (1.0 / order)
