"""Neighbour indexes: the interface, what a search returns, and the graph of neighbours."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.limits import check_squarable
from tractable.primitives.blocks import fill_blocks
from tractable.primitives.threads import single_threaded_blas
from tractable.spatial.checks import (
    as_array,
    as_count,
    as_excluded,
    as_radii,
    as_rows,
    as_threads,
)
from tractable.spatial.metrics import Metric, as_metric
from tractable.value import value


@value
class Neighbors:
    """The neighbours of each row within a radius, as the three arrays of a sparse matrix (CSR).

    The neighbours of row i are ``indices[indptr[i]:indptr[i + 1]]``, in order of distance and, of equal
    distances, of index.

    Parameters
    ----------
    indptr : array (m + 1,)
        Where the neighbours of each row begin, and the end of the last.
    indices, distances : arrays
        The neighbours of all rows, and their distances.

    Examples
    --------
    >>> found = Neighbors(indptr=np.array([0, 2]), indices=np.array([4, 1]), distances=np.array([0.0, 0.5]))
    >>> len(found), found.counts.tolist(), found[0]
    (1, [2], (array([0. , 0.5]), array([4, 1])))
    """

    indptr: np.ndarray  # (m + 1,)
    indices: np.ndarray
    distances: np.ndarray

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances and indices of one row."""
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        part = slice(self.indptr[row % len(self)], self.indptr[row % len(self) + 1])
        return self.distances[part], self.indices[part]

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return (self[row] for row in range(len(self)))

    @property
    def counts(self) -> np.ndarray:
        """How many neighbours each row has, (m,)."""
        return np.diff(self.indptr)


@value
class SearchReport:
    """The cost of a search: nodes opened and distances computed.

    Parameters
    ----------
    visited : array (m,)
        Number of nodes opened for each row; a linear scan opens one.
    measured : array (m,)
        Number of points whose distance from each row was computed.
    n_nodes : int
        Number of nodes of the index.
    memory : int
        Bytes of the index, its points not included.

    Examples
    --------
    >>> SearchReport(visited=np.array([3, 5]), measured=np.array([20, 40]), n_nodes=9, memory=4096).visited
    array([3, 5])
    """

    visited: np.ndarray
    measured: np.ndarray
    n_nodes: int
    memory: int


class Index(ABC):
    """An index of points for nearest-neighbour and radius searches.

    Values: a search changes nothing. Distances of all exact indexes are equal to the bit, and of points at
    the same distance the smaller index comes first, whatever the number of threads. An index asks of a
    subclass `_nearest` and `_within`, over a block of rows that have been checked and made ready, what it is
    called (`name`), by which distances it searches (`forms`), whether it is `exact`, and its `memory`.

    Parameters
    ----------
    points : array (n, d)
        Finite; copied, unless the array is read-only.
    metric : Metric or str
        "euclidean", "manhattan", "chebyshev", "cosine", "hamming", "haversine", "nan_euclidean", a value such
        as ``Minkowski(m=3)``, or a function of two vectors.
    """

    #: What `choose_index` calls it.
    name: ClassVar[str]
    #: The elementary distances by which it searches, of `tractable.primitives.neighbors.FORMS`.
    forms: ClassVar[tuple[str, ...]]
    #: Whether a search goes by matrix products.
    products: ClassVar[bool] = False
    #: Rows searched at a time by a thread.
    block: ClassVar[int] = 256

    points: np.ndarray  # (n, d)
    metric: Metric
    _rows: np.ndarray  # as the metric's elementary distance wants them
    _origin: np.ndarray | None  # subtracted first

    def _prepare(self, points: Any, metric: Metric | str) -> np.ndarray:
        """Set points, metric and what rows are measured by; return the rows to arrange."""
        metric = as_metric(metric)
        rows = as_rows("points", points, missing=metric.missing)
        if not rows.size:
            raise ValueError(f"points must hold at least one point, got shape {rows.shape}")
        if not self.serves(metric):
            raise ValueError(
                f"metric {metric!r} is not served by {type(self).__name__}, which searches by"
                f" {', '.join(self.forms)} distances, not by {metric.form} ones"
            )
        rows = read_only(rows, points)
        origin = rows.mean(axis=0) if metric.about_mean else None
        for name, what in {"points": rows, "metric": metric, "_origin": origin}.items():
            object.__setattr__(self, name, what)
        ready = check_squarable("points", self._ready(rows, "points"), nonzero=True)
        ready.setflags(write=False)
        object.__setattr__(self, "_rows", ready)
        return ready

    def _parameters(self) -> dict[str, Any]:
        """Return the keywords that rebuild the index: those of its constructor."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    @classmethod
    def serves(cls, metric: Metric | str) -> bool:
        """Return whether the index can search by a metric: by its elementary distance."""
        return as_metric(metric).form in cls.forms

    def __len__(self) -> int:
        return len(self.points)

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether the neighbours found are all the nearest."""

    @property
    def n_nodes(self) -> int:
        """How many nodes the index has; a list is one."""
        return 1

    @property
    @abstractmethod
    def memory(self) -> int:
        """Bytes held beside the points."""

    @abstractmethod
    def _nearest(self, x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return elementary distances (m, k), indices (m, k), nodes visited (m,), points measured (m,).

        Where an approximate search finds fewer than k, distances end in infinity and indices in -1.
        """

    @abstractmethod
    def _within(self, x: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return pairs as rows, indices, elementary distances, in this order; visited (m,), measured (m,)."""

    def query(
        self,
        x: Any,
        k: int = 1,
        *,
        exclude: Any = None,
        report: bool = False,
        n_threads: int | None = None,
    ) -> tuple[Any, ...]:
        """Return the distances and indices of the k nearest points of each row, the nearest first.

        Parameters
        ----------
        x : array (m, d)
            Rows whose neighbours are searched.
        k : int
            From 1 to n, or to n - 1 where a point is excluded.
        exclude : array (m,) of int, optional
            A point that each row leaves out (itself, where rows are points); -1 leaves out none.
        report : bool
            Whether to return what the search cost as well, a `SearchReport`.
        n_threads : int, optional
            All cores when not given. The answer does not depend on it.

        Returns
        -------
        distances, indices : arrays (m, k)
            Where an approximate index finds fewer than k, the last are infinity and -1.
        report : SearchReport
            Where it is asked for.
        """
        x = as_rows("x", x, self.points.shape[1], missing=self.metric.missing)
        left_out = as_excluded(exclude, len(x), len(self))
        k = as_count(k, len(self) - (left_out is not None), excluded=left_out is not None)
        ready = self._ready(x)
        asked = k if left_out is None else k + 1
        out = np.empty((len(x), asked)), np.empty((len(x), asked), np.int64)
        cost = np.empty(len(x), np.int64), np.empty(len(x), np.int64)

        def search(part: slice) -> None:
            for whole, found in zip((*out, *cost), self._nearest(ready[part], asked), strict=True):
                whole[part] = found

        self._blocks(search, len(x), n_threads)
        distances, indices = out if left_out is None else _without(*out, left_out)
        distances = self.metric.outer(distances)
        return (distances, indices, self._report(*cost)) if report else (distances, indices)

    def query_radius(
        self,
        x: Any,
        r: Any,
        *,
        exclude: Any = None,
        report: bool = False,
        n_threads: int | None = None,
    ) -> Any:
        """Return all points no farther than r from each row, the nearest first.

        Parameters
        ----------
        x : array (m, d)
            Rows whose neighbours are searched.
        r : float or array (m,)
            Not negative; points at distance r count.
        exclude, report, n_threads
            See `query`.

        Returns
        -------
        Neighbors, or Neighbors and SearchReport
        """
        x = as_rows("x", x, self.points.shape[1], missing=self.metric.missing)
        radii = as_radii(r, len(x))
        left_out = as_excluded(exclude, len(x), len(self))
        ready = self._ready(x)
        inner = self.metric.inner(radii)
        found: dict[int, tuple[np.ndarray, ...]] = {}
        cost = np.empty(len(x), np.int64), np.empty(len(x), np.int64)

        def search(part: slice) -> None:
            rows, indices, distances, cost[0][part], cost[1][part] = self._within(ready[part], inner[part])
            found[part.start] = rows + part.start, indices, self.metric.outer(distances)

        self._blocks(search, len(x), n_threads)
        near = _ragged([found[start] for start in sorted(found)], radii, left_out)
        return (near, self._report(*cost)) if report else near

    def graph(self, k: int, *, report: bool = False, n_threads: int | None = None) -> tuple[Any, ...]:
        """Return the distances and indices of the k nearest other points of every point.

        A point is not its own neighbour; a duplicate of it is. Indexes that can compute all neighbours at
        once do.

        Parameters
        ----------
        k : int
            From 1 to n - 1.
        report, n_threads
            See `query`.
        """
        options: dict[str, Any] = {"report": report, "n_threads": n_threads}
        return self.query(self.points, k, exclude=np.arange(len(self)), **options)

    def candidates(self, row: Any, k: int = 1) -> np.ndarray:
        """Return the indices, in order, of the points that a search for a row (d,) and k measures."""
        x = as_rows(
            "row", np.expand_dims(as_array(row), 0), self.points.shape[1], missing=self.metric.missing
        )
        return self._candidates(self._ready(x), as_count(k, len(self)))

    def _candidates(self, x: np.ndarray, k: int) -> np.ndarray:
        """Return the points measured for one row that is ready: all, unless the index has a choice."""
        return np.arange(len(self))

    def _ready(self, x: np.ndarray, name: str = "x") -> np.ndarray:
        """Return rows as the elementary distance of the metric wants them."""
        with np.errstate(over="ignore", invalid="ignore"):
            rows = self.metric.rows(name, x if self._origin is None else x - self._origin)
        return rows if rows is x else check_squarable(name, rows)  # as they are given, they were checked

    def _blocks(self, search: Callable[[slice], None], n_rows: int, n_threads: int | None) -> None:
        n_threads, block = as_threads(n_threads), self._block_rows(n_rows)
        # A single row should not wait for a count of cores.
        if n_rows <= block or not self.metric.threaded:
            n_threads = 1
        # Even alone: small products on several threads mostly wait for each other.
        with single_threaded_blas(self.products):
            fill_blocks(search, n_rows, block, n_threads)

    def _block_rows(self, n_rows: int) -> int:
        """Return how many of some rows are searched for at a time."""
        return self.block

    def _report(self, visited: np.ndarray, measured: np.ndarray) -> SearchReport:
        return SearchReport(visited=visited, measured=measured, n_nodes=self.n_nodes, memory=self.memory)


def _without(
    distances: np.ndarray, indices: np.ndarray, left_out: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Drop the point left out of each row of k + 1 neighbours, or the last where it is not among them."""
    if len(indices) and np.all(indices[:, 0] == left_out):  # every row is a point, and nearest to itself
        return distances[:, 1:].copy(), indices[:, 1:].copy()
    keep = (indices != left_out[:, None]) | (left_out[:, None] < 0)  # -1 also says that nothing was found
    keep[:, -1] &= ~keep.all(axis=1)
    shape = len(indices), indices.shape[1] - 1
    return distances[keep].reshape(shape), indices[keep].reshape(shape)


def _ragged(found: list[tuple[np.ndarray, ...]], radii: np.ndarray, left_out: np.ndarray | None) -> Neighbors:
    """Join the pairs of all blocks: those within the radius, less what is left out."""
    none = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    rows, indices, distances = (np.concatenate(parts) for parts in zip(none, *found, strict=True))
    keep = distances <= radii[rows]
    if left_out is not None:
        keep &= indices != left_out[rows]
    rows, indices, distances = rows[keep], indices[keep], distances[keep]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(radii)))])
    return Neighbors(indptr=indptr, indices=indices, distances=distances)


def neighbor_graph(index: Index, k: int, **options: Any) -> tuple[Any, ...]:
    """Return the distances and indices of the k nearest other points of every point.

    This is `Index.graph` as a function.

    Parameters
    ----------
    index : Index
        The points.
    k : int
        Number of neighbours, from 1 to n - 1.
    **options
        `report` and `n_threads`, as in `Index.query`.

    Examples
    --------
    >>> from tractable.spatial import Brute
    >>> neighbor_graph(Brute([[0.0], [1.0], [3.0]]), k=1)[1].ravel().tolist()
    [1, 0, 1]
    """
    return index.graph(k, **options)


def read_only(rows: np.ndarray, given: Any) -> np.ndarray:
    """Return read-only rows: copied where the memory they lie in can be written to.

    Examples
    --------
    >>> base = np.zeros((3, 2))
    >>> view = base.view()
    >>> view.setflags(write=False)
    >>> stored = read_only(view, view)
    >>> base[0] = 5.0
    >>> float(stored.max())
    0.0
    """
    if rows.flags.writeable and not np.may_share_memory(rows, np.asarray(given)):
        rows.setflags(write=False)  # they were made from what was given
    if not _is_frozen(rows):
        rows = rows.copy()
        rows.setflags(write=False)
    return rows


def _is_frozen(owner: Any) -> bool:
    """Whether an array is read-only, and all that own its memory are."""
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    if owner is None:
        return True
    try:
        return memoryview(owner).readonly
    except TypeError:
        return False
