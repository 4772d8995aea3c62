"""Where distances are measured: rows about their mean, in units of their spread."""

import math
from functools import partial
from typing import Any

import numpy as np

from tractable.engines import EMResult, best_of, em, fold
from tractable.primitives.kmeans import (
    assign,
    cluster_sums,
    kmeans_plus_plus,
    movement_of,
    n_trials,
    reassign,
)
from tractable.primitives.threads import ordered_map, single_threaded_blas
from tractable.statistics import DiagonalMoments
from tractable.value import replace, value

__all__ = [
    "Centers",
    "Clusters",
    "Frame",
    "HeldRows",
    "KMeansFit",
    "StreamedRows",
    "frame_about",
    "frame_of",
    "kmeans",
    "means",
    "random_rows",
    "search",
    "seeded_rows",
]


@value
class Frame:
    """A shift and one scale for all columns, so that distances keep their order.

    Both are chosen so that whole numbers stay exact: the shift is the mean, rounded to a fraction of the
    spread, and the scale a power of two.
    """

    shift: np.ndarray  # (d,)
    scale: float
    variance: float = 1.0  # of a column on average, in these units

    def inside(self, points: np.ndarray) -> np.ndarray:
        """Return points of the data's space in this frame."""
        return (np.asarray(points, dtype=np.float64) - self.shift) * self.scale

    def outside(self, points: np.ndarray) -> np.ndarray:
        """Return points of this frame in the data's space."""
        return points / self.scale + self.shift


def frame_about(mean: np.ndarray, variances: np.ndarray) -> Frame:
    """Return the frame of columns with these means and variances.

    Examples
    --------
    >>> frame = frame_about(np.array([100.3]), np.array([9.0]))
    >>> frame.shift.tolist(), frame.scale
    ([100.25], 0.5)
    """
    size = math.sqrt(float(np.mean(variances)))
    # The square of the scale must be a number too.
    scale = 2.0 ** -min(max(math.floor(math.log2(size)), -500), 500) if size > 0.0 else 1.0
    grid = 0.125 / scale
    rounded = np.round(mean / grid) * grid
    shift = np.where(np.isfinite(rounded), rounded, mean)
    return Frame(shift=shift, scale=scale, variance=float(np.mean(variances * scale * scale)))


def frame_of(data: Any, weights: Any = None) -> Frame:
    """Return the frame of rows held in memory or in a stream; NaN is refused."""
    if weights is not None and np.any(weights):
        # The frame is the same, and no weight so small that squares are lost.
        weights = np.ldexp(weights, -int(np.frexp(np.max(weights))[1]))
    moments = fold(_moments, data, weights=weights)
    if not float(moments.total) > 0.0:
        raise ValueError("sample_weight must have a positive entry, all are zero")
    return frame_about(moments.mean, moments.scatter / float(moments.total))


def _moments(x: np.ndarray, weights: np.ndarray | None = None) -> DiagonalMoments:
    """Return the moments of the rows that count."""
    # A sum is infinite or NaN where an entry is, and seldom otherwise.
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(np.sum(x))
    if suspect and not np.all(np.isfinite(x)):
        raise ValueError("X contains NaN or infinity, and k-means has no place for missing values")
    if weights is None or np.all(weights > 0.0):
        return DiagonalMoments.of(x, weights)
    return DiagonalMoments.of(x[weights > 0.0], weights[weights > 0.0])


#: Rows of a task; the same whatever the number of threads.
TASK_ROWS = 16_384


@value
class Centers:
    """Centres of clusters, (K, d), in a frame."""

    centers: np.ndarray
    before: dict[str, Any] | None = None  # what the centres that they were moved from held


@value
class Clusters:
    """What centres hold: the statistic of one assignment. Two are merged with ``+``.

    Parameters
    ----------
    sums : array (K, d)
        Σ w x of the rows of each centre.
    counts : array (K,)
        Σ w of the rows of each centre.
    inertia : float
        J = Σ w |x - c|², each row to its own centre.
    centers : array (K, d)
        The centres that rows were given to.
    frame : Frame
        Where all of these are measured.
    """

    sums: np.ndarray
    counts: np.ndarray
    inertia: float
    centers: np.ndarray
    frame: Frame

    @classmethod
    def of(cls, x: Any, weights: Any = None, *, frame: Frame, centers: np.ndarray) -> "Clusters":
        """Give the rows of a block to their nearest centres."""
        found = assign(x, weights, frame.shift, frame.scale, centers)
        return cls(
            sums=found.sums, counts=found.counts, inertia=float(found.cost), centers=centers, frame=frame
        )

    @property
    def objective(self) -> float:
        """What EM raises: -J."""
        return -self.inertia

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(self.sums.shape[1])

    def __add__(self, other: "Clusters") -> "Clusters":
        if not isinstance(other, Clusters):
            return NotImplemented
        if not np.array_equal(self.centers, other.centers):
            raise ValueError("cannot merge what different centres hold")
        return replace(
            self,
            sums=self.sums + other.sums,
            counts=self.counts + other.counts,
            inertia=self.inertia + other.inertia,
        )


@value
class Farthest:
    """The row farthest from all centres; of two, the farther, and of equals the first."""

    away: float
    row: np.ndarray

    @classmethod
    def of(cls, x: Any, weights: Any = None, *, frame: Frame, centers: np.ndarray) -> "Farthest":
        labels = assign(x, weights, frame.shift, frame.scale, centers).labels
        found = cluster_sums(x, weights, frame.shift, frame.scale, centers, labels)
        return cls(away=found.away, row=frame.inside(x[found.row]))

    def __add__(self, other: "Farthest") -> "Farthest":
        return other if other.away > self.away else self


def means(clusters: Clusters) -> np.ndarray:
    """Return μ_k = Σ w x / Σ w of the rows of each centre; a centre without rows stays."""
    held = clusters.counts > 0.0
    safe = np.where(held, clusters.counts, 1.0)
    return np.where(held[:, None], clusters.sums / safe[:, None], clusters.centers)


class StreamedRows:
    """Rows that are walked once a step, and of which nothing is kept in between."""

    def __init__(self, data: Any, weights: Any, frame: Frame) -> None:
        self.data, self.weights, self.frame = data, weights, frame

    def expect(self, params: Centers) -> Clusters:
        """Give rows to their nearest centres."""
        return self._fold(Clusters.of, params.centers)

    def maximize(self, clusters: Clusters) -> Centers:
        """Move centres to the means of their rows.

        A centre that no row is nearest to begins anew at the row farthest from all others: J cannot rise, as
        the centre held nothing, and falls in the next step. Where all rows lie on centres, it stays.
        """
        centers = means(clusters)
        empty = np.flatnonzero(clusters.counts == 0.0)
        full = np.flatnonzero(clusters.counts > 0.0)
        for k in empty:
            found = self._fold(Farthest.of, centers[full])
            if found.away <= 0.0:
                break
            centers[k] = found.row
            full = np.append(full, k)
        return Centers(centers=centers)

    def finish(self, params: Centers) -> tuple[np.ndarray | None, Clusters]:
        """Return the labels, where they are kept, and what the centres hold."""
        return None, self.expect(params)

    def _fold(self, of: Any, centers: np.ndarray) -> Any:
        of = partial(of, frame=self.frame, centers=np.ascontiguousarray(centers))
        return fold(of, self.data, weights=self.weights, rows=TASK_ROWS)


class HeldRows(StreamedRows):
    """Rows in memory: bounds on their distances (Hamerly 2010) tell most of them apart without any.

    Labels and bounds take twelve bytes a row. They make a step cheap, and change none of its results.
    """

    def __init__(self, data: np.ndarray, weights: np.ndarray | None, frame: Frame) -> None:
        super().__init__(data, weights, frame)
        self.upper, self.lower = np.zeros(len(data), np.float32), np.zeros(len(data), np.float32)
        self._forget()

    def _forget(self) -> None:
        self.labels = np.full(len(self.data), -1, np.int32)
        self.known: Clusters | None = None  # what the labels and bounds are true of

    def expect(self, params: Centers) -> Clusters:
        """Give rows to their nearest centres.

        The answer depends on `params` alone, to the last digit: a search that is taken up again, and knows
        no labels, finds those of the step before and goes on from there.
        """
        before = None if params.before is None else self._clusters(**params.before)
        centers = params.centers
        self._look_at(before)
        self.known = None  # until the pass is through: an interruption may fall in between
        sums, counts, cost, gain, changed = self._reassigned(before, centers)
        if before is None:
            found = self._clusters(sums, counts, cost, centers)
        elif changed and self.weights is None:
            inertia = before.inertia + _rise(before, centers) - gain
            sums, counts = before.sums + sums, before.counts + counts
            found = self._clusters(sums, counts, inertia, centers)
        else:
            found = self._held(centers)  # added afresh, where differences have gathered rounding
        self.known = found
        return found

    def maximize(self, clusters: Clusters) -> Centers:
        """Move centres to the means of their rows; see `StreamedRows`."""
        before = {name: getattr(clusters, name) for name in ("sums", "counts", "inertia", "centers")}
        return Centers(centers=super().maximize(clusters).centers, before=before)

    def finish(self, params: Centers) -> tuple[np.ndarray | None, Clusters]:
        """Return the labels and what the centres hold, added afresh."""
        if self.known is None or not np.array_equal(self.known.centers, params.centers):
            self._forget()
            self._reassigned(None, params.centers)
        return self.labels, self._held(params.centers)

    def _look_at(self, before: Clusters | None) -> None:
        """Make the labels and bounds those of the centres before; without any, they begin anew."""
        if before is None:
            self._forget()
        elif self.known is None or not np.array_equal(self.known.centers, before.centers):
            self._forget()
            self._reassigned(None, before.centers)

    def _reassigned(self, before: Clusters | None, centers: np.ndarray) -> Any:
        movement = movement_of(centers if before is None else before.centers, centers)

        def task(start: int) -> Any:
            part = slice(start, start + TASK_ROWS)
            x, w = self._part(part)
            state = self.labels[part], self.upper[part], self.lower[part]
            return reassign(x, w, self.frame.shift, self.frame.scale, centers, movement, *state)

        return _added(ordered_map(task, range(0, len(self.data), TASK_ROWS)))

    def _held(self, centers: np.ndarray) -> Clusters:
        def task(start: int) -> Any:
            part = slice(start, start + TASK_ROWS)
            x, w = self._part(part)
            found = cluster_sums(x, w, self.frame.shift, self.frame.scale, centers, self.labels[part])
            return found.sums, found.counts, found.cost

        sums, counts, cost = _added(ordered_map(task, range(0, len(self.data), TASK_ROWS)))
        return self._clusters(sums, counts, cost, centers)

    def _clusters(self, sums: Any, counts: Any, inertia: float, centers: np.ndarray) -> Clusters:
        return Clusters(sums=sums, counts=counts, inertia=inertia, centers=centers, frame=self.frame)

    def _part(self, part: slice) -> tuple[Any, Any]:
        return self.data[part], None if self.weights is None else self.weights[part]


def _added(parts: Any) -> list[Any]:
    """Add tuples entry by entry, in their order."""
    total = list(next(parts))
    for part in parts:
        total = [a + b for a, b in zip(total, part, strict=True)]
    return total


def _rise(clusters: Clusters, centers: np.ndarray) -> float:
    """Return by how much J rises when the centres move and the rows stay with them."""
    held = clusters.counts > 0.0
    middle = means(clusters)
    change = np.sum((middle - centers) ** 2 - (middle - clusters.centers) ** 2, axis=1)
    return float(np.sum(clusters.counts[held] * change[held]))


#: The square of a step that rounding can make.
ROUNDING = 1e-27


@value
class KMeansFit:
    """Where a search of k-means ended.

    Parameters
    ----------
    centers : array (K, d)
    labels : array (n,) of int, or None where rows were streamed
    counts : array (K,)
        Weight of the rows of each cluster.
    inertia : float
        J = Σ w |x - μ|², each row to its own centre.
    inertias : array (n_iter + 1,)
        J before the first step and after each; it never rises.
    n_iter : int
    converged : bool
    interrupted : bool
    """

    centers: np.ndarray
    labels: np.ndarray | None
    counts: np.ndarray
    inertia: float
    inertias: np.ndarray
    n_iter: int
    converged: bool
    interrupted: bool = False


def kmeans(
    x: np.ndarray,
    weights: np.ndarray | None,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_init: int = 1,
    max_iter: int = 100,
    tol: float = 1e-4,
) -> KMeansFit:
    """Cluster rows in memory: k-means++ seeds, Lloyd's steps, the best of `n_init`.

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,) or None
    n_clusters : int
    rng : numpy.random.Generator
    n_init, max_iter : int
    tol : float
        The search ends when Σ_k |Δμ_k|² is below this share of the mean variance of the columns.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> found = kmeans(x, None, 2, np.random.default_rng(0))
    >>> sorted(found.centers[:, 0].tolist()), found.inertia
    ([0.5, 8.5], 1.0)
    """
    frame = frame_of(x, weights)
    rows = HeldRows(x, weights, frame)

    def start(_: int) -> np.ndarray:
        return x[seeded_rows(x, weights, n_clusters, rng)]

    found = search(rows, start, n_init=n_init, max_iter=max_iter, tol=tol)
    if found.interrupted:  # those who ask for a start have no use for half of one
        raise KeyboardInterrupt
    return found


def search(rows: StreamedRows, start: Any, *, n_init: int, max_iter: int, tol: float) -> KMeansFit:
    """Take Lloyd's steps from `n_init` starts, ``start(number) -> centres``, and keep the best."""
    frame = rows.frame

    def settled(before: Centers, after: Centers) -> bool:
        step = after.centers - before.centers
        # So small a step is rounding, in a frame where rows are of the size of 1.
        return bool(np.sum(step * step) <= max(tol * frame.variance, ROUNDING * step.size))

    def one(number: int) -> EMResult:
        first = Centers(centers=np.ascontiguousarray(frame.inside(start(number))))
        return em(
            rows.expect, rows.maximize, first, tol=0.0, max_iter=max_iter, label="k-means", settled=settled
        )

    with single_threaded_blas():
        found = best_of(one, n_init)
        labels, held = rows.finish(found.params)
    unit = frame.scale * frame.scale
    trace = -np.asarray(found.trace)
    trace[-1] = held.inertia
    return KMeansFit(
        centers=frame.outside(found.params.centers),
        labels=labels,
        counts=held.counts,
        inertia=held.inertia / unit,
        inertias=np.maximum.accumulate(trace[::-1])[::-1] / unit,
        n_iter=found.n_iter,
        converged=found.converged,
        interrupted=found.interrupted,
    )


def seeded_rows(x: np.ndarray, weights: Any, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return the rows that greedy k-means++ begins with."""
    return kmeans_plus_plus(x, weights, n_clusters, rng.random((n_clusters, n_trials(n_clusters))))


def random_rows(x: np.ndarray, weights: Any, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows drawn by weight; rows that equal one drawn before are passed over while others are left.

    One uniform a draw, so that a row of weight two is drawn as two equal rows are.
    """
    count = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    mass, chosen = count, []
    for u in rng.random(n_clusters):
        mass = mass if mass.any() else count
        held = np.cumsum(mass)
        row = min(int(np.searchsorted(held, u * held[-1], side="right")), int(np.flatnonzero(mass)[-1]))
        chosen.append(row)
        mass = np.where(np.all(x == x[row], axis=1), 0.0, mass)
    return np.asarray(chosen)
