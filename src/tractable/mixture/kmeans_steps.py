"""Lloyd's two steps: rows to their nearest centre, centres to the mean of their rows."""

from functools import partial
from typing import Any

import numpy as np

from tractable.engines import fold
from tractable.mixture.kmeans_frame import Frame
from tractable.primitives.kmeans import assign, holdings, movement_of, reassign
from tractable.primitives.threads import ordered_map
from tractable.value import replace, value

__all__ = ["Centers", "Clusters", "HeldRows", "StreamedRows", "means"]

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
        found = holdings(x, weights, frame.shift, frame.scale, centers, labels)
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
            found = holdings(x, w, self.frame.shift, self.frame.scale, centers, self.labels[part])
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
