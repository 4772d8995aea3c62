"""Isomap: classical scaling of distances along the data."""

import warnings
from typing import Any, Self

import numpy as np

from tractable.arrays.random import as_generator
from tractable.base import Rows, all_or_nothing, check_number
from tractable.base.options import SklearnOptions
from tractable.base.stored_rows import check_enough
from tractable.manifold.base import Embedding
from tractable.manifold.classical_scaling import ScaledPoints, classical_scaling
from tractable.primitives.shortest_paths import shortest_paths
from tractable.primitives.threads import even_blocks
from tractable.spatial import Index, Metric, as_index
from tractable.spatial.counted import nearest_counted
from tractable.spatial.metrics import as_metric

#: Up to so many rows all are landmarks where their number is not given, and of more so many.
ALL_ROWS, LANDMARKS = 5_000, 1_000

#: Pairs of rows in a block.
BLOCK_PAIRS = 2**21


class Isomap(Embedding):
    """Isometric mapping: classical scaling of the lengths of shortest paths along the data.

    Each row is joined to its nearest neighbours by edges as long as their distance; the length of the
    shortest path between two rows estimates their geodesic distance, along the surface that the rows lie on;
    classical scaling of these distances unrolls the surface (Tenenbaum, de Silva and Langford 2000). Where
    all rows are neighbours of all, it is classical scaling itself.

    Where the graph of neighbours falls into parts, which a warning says, each is joined to the nearest other
    part by the shortest edge there is, until there is one part: distances within a part are those along the
    data, distances between parts a guess.

    Paths from all rows are n² numbers. Of many rows some are landmarks (de Silva and Tenenbaum 2003): paths
    start from these alone, classical scaling maps them, and all other rows are placed by their distances from
    them.

    Parameters
    ----------
    n_neighbors : int
        Neighbours that a row is joined to. Too few break the surface, too many take short cuts through it.
    radius : float, optional
        Rows no farther apart are joined instead.
    n_components : int
        Dimensions of the map.
    metric : str or Metric
        "euclidean", "manhattan", "chebyshev", "cosine", "hamming", or a value of `tractable.spatial`.
    index : str or callable
        How neighbours are found, as `NearestNeighbors` takes it.
    n_landmarks : int, "auto" or None
        Rows that paths start from; all with None. "auto" is all up to 5,000 rows, and 1,000 of more.
    random_state : None, int, RandomState or Generator
        Seed of the choice of landmarks, and of an index that draws.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        The map, of mean zero along its principal axes. Rows of weight zero are placed as new ones are.
    eigenvalues_ : array of shape (n_components,)
        Of the centred squared distances, in falling order: sums of squares of the coordinates of landmarks.
    geodesic_distances_ : array of shape (n_rows, n_landmarks)
        The lengths of shortest paths between rows and landmarks.
    landmarks_ : array of shape (n_landmarks,) of int
        Which of `rows_` are landmarks.
    n_connected_components_ : int
        Into how many parts the graph of neighbours fell, before they were joined; 1 is well.
    residual_variance_ : array of shape (n_components,)
        1 - r² of geodesic distances with those in a map of one, two, … dimensions: it falls no further where
        there are enough. It is computed when it is asked for.
    index_ : Index
        The rows, arranged for the search.
    rows_, row_indices_, sample_weight_
        The rows of positive weight; which of the rows given they are; how often each counts, None where
        no weights were given.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    ClassicalMDS : the same of the distances themselves.
    TSNE : keeps neighbours, and not distances.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> angles = np.linspace(0.0, 4.0, 50)
    >>> arc = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> model = tractable.Isomap(n_neighbors=2, n_components=1).fit(arc)
    >>> round(float(np.ptp(model.embedding_)), 2)  # the length of the arc
    4.0
    >>> bool(np.allclose(model.transform(arc), model.embedding_))
    True
    """

    index_: Index

    _sklearn_options = SklearnOptions(
        ignored=("eigen_solver", "tol", "max_iter", "path_method", "neighbors_algorithm"),
        limited={"metric_params": (None,), "p": (2,)},
    )

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float | None = None,
        n_components: int = 2,
        metric: Any = "euclidean",
        index: Any = "auto",
        n_landmarks: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.metric = metric
        self.index = index
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    @all_or_nothing(afresh=True, square=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the map of the rows.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), and how often each counts; y is ignored.
        """
        self._check_parameters()
        rows = self._store(X, sample_weight)
        k = self._n_joined()
        seed = self.random_state
        self.index_ = as_index(self.rows_, self.metric, self.index, k=k, random_state=seed, name="X")
        edges = symmetric(self._neighbours(k), len(self.rows_))
        edges, self.n_connected_components_ = joined(edges, self.rows_, as_metric(self.metric))
        self.landmarks_ = self._choose_landmarks()
        every = len(self.landmarks_) == len(self.rows_)
        paths = shortest_paths(*edges, sources=None if every else self.landmarks_)
        self.geodesic_distances_ = paths if every else np.ascontiguousarray(paths.T)
        weights = None if self.sample_weight_ is None else self.sample_weight_[self.landmarks_]
        between = self.geodesic_distances_ if every else self.geodesic_distances_[self.landmarks_]
        found = classical_scaling(between**2, self.n_components, weights)
        self.eigenvalues_, self._landmark_points_ = found.eigenvalues, found.points
        self._mean_squares_ = found.mean_squares
        points = found.points if every else self._scaled.embed(self.geodesic_distances_**2)
        self._set_embedding(rows, points)
        if self.n_connected_components_ > 1:
            warnings.warn(
                f"the graph of neighbours falls into {self.n_connected_components_} parts, which were joined "
                "by their shortest edges; more neighbours (n_neighbors, radius) may join them along the data",
                UserWarning,
                stacklevel=3,
            )
        return self

    @property
    def residual_variance_(self) -> np.ndarray:
        """1 - r² of geodesic distances with those in maps of one, two, … dimensions."""
        points, w = self._points, self.sample_weight_
        w = np.ones(len(points)) if w is None else w
        return residual_variances(self.geodesic_distances_, points, self.landmarks_, w)

    def _embed(self, rows: np.ndarray) -> np.ndarray:
        near = nearest_counted(self.index_, rows, self._n_joined(), self.sample_weight_)
        far = np.full((len(rows), len(self.landmarks_)), np.inf)
        for apart, found in zip(near.distances.T, near.indices.T, strict=True):
            np.minimum(far, apart[:, None] + self.geodesic_distances_[found], out=far)
        if self.radius is not None:  # as rows of the fit were joined; a row far from all, to the nearest
            within = self.index_.query_radius(rows, float(self.radius))
            for i, (apart, found) in enumerate(within):
                if len(found):
                    far[i] = np.min(apart[:, None] + self.geodesic_distances_[found], axis=0)
        return self._scaled.embed(far**2)

    @property
    def _scaled(self) -> ScaledPoints:
        w = self.sample_weight_
        return ScaledPoints(
            points=self._landmark_points_,
            eigenvalues=self.eigenvalues_,
            mean_squares=self._mean_squares_,
            weights=np.ones(len(self.landmarks_)) if w is None else w[self.landmarks_],
        )

    def _check_parameters(self) -> None:
        check_number("n_components", self.n_components, least=1, whole=True)
        check_number("n_neighbors", self.n_neighbors, least=1, whole=True)
        if self.radius is not None:
            check_number("radius", self.radius, above=0.0)
        as_metric(self.metric)  # distances that are given have no rows to join new ones to
        if self.n_landmarks is not None and not _is_auto(self.n_landmarks):
            check_number("n_landmarks", self.n_landmarks, least=self.n_components + 1, whole=True)

    def _n_joined(self) -> int:
        """Return the number of neighbours of a row, of which there are enough."""
        rows = Rows(data=self.rows_, weights=self.sample_weight_)
        if self.radius is not None:
            return 1
        return check_enough(self.n_neighbors, rows, spare=1)

    def _neighbours(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return pairs of neighbours and their distances."""
        n = len(self.rows_)
        if self.radius is not None:
            found = self.index_.query_radius(self.rows_, float(self.radius), exclude=np.arange(n))
            return np.repeat(np.arange(n), found.counts), found.indices, found.distances
        if self.sample_weight_ is None:
            distances, indices = self.index_.graph(k)
        else:
            near = nearest_counted(self.index_, self.rows_, k, self.sample_weight_, np.arange(n))
            distances, indices = near.distances, near.indices
        some = indices >= 0
        return np.repeat(np.arange(n), some.sum(axis=1)), indices[some], distances[some]

    def _choose_landmarks(self) -> np.ndarray:
        n, asked = len(self.rows_), self.n_landmarks
        if _is_auto(asked):
            asked = n if n <= ALL_ROWS else LANDMARKS
        if asked is None or asked >= n:
            return np.arange(n)
        return np.sort(as_generator(self.random_state, name="random_state").choice(n, asked, replace=False))


def _is_auto(n_landmarks: Any) -> bool:
    return isinstance(n_landmarks, str) and n_landmarks == "auto"


def symmetric(
    pairs: tuple[np.ndarray, np.ndarray, np.ndarray], n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return edges in both directions, the shortest of each pair, as a sparse matrix (CSR) with no loops.

    Examples
    --------
    >>> symmetric((np.array([0, 1, 1]), np.array([1, 0, 1]), np.array([2.0, 2.0, 0.0])), 2)
    (array([0, 1, 2]), array([1, 0]), array([2., 2.]))
    """
    rows, columns, lengths = pairs
    apart = rows != columns
    rows, columns, lengths = rows[apart], columns[apart], lengths[apart]
    keys = np.concatenate([rows * n + columns, columns * n + rows])
    lengths = np.concatenate([lengths, lengths])
    order = np.lexsort((lengths, keys))
    keys, first = np.unique(keys[order], return_index=True)
    ends = np.concatenate([[0], np.cumsum(np.bincount(keys // n, minlength=n))])
    return ends, keys % n, lengths[order][first]


def joined(
    edges: tuple[np.ndarray, np.ndarray, np.ndarray], rows: np.ndarray, metric: Metric
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], int]:
    """Return edges that connect all rows, and into how many parts they fell before.

    In rounds, every part but the largest is joined to the row nearest to one of its own (Borůvka): the edges
    that are added are those of a minimum spanning tree of the parts.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> edges = symmetric((np.array([0, 2]), np.array([1, 3]), np.array([1.0, 1.0])), 4)
    >>> (ends, others, lengths), n_parts = joined(edges, rows, as_metric("euclidean"))
    >>> n_parts, others.tolist(), lengths.tolist()
    (2, [1, 0, 2, 1, 3, 2], [1.0, 1.0, 4.0, 4.0, 1.0, 1.0])
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    n, n_before = len(rows), 0
    while True:
        indptr, indices, lengths = edges
        graph = csr_matrix((np.ones(len(indices)), indices, indptr), shape=(n, n))
        n_parts, part = connected_components(graph, directed=False)
        n_before = n_before or int(n_parts)
        if n_parts == 1:
            return edges, n_before
        largest = int(np.argmax(np.bincount(part)))
        links = [_shortest_link(rows, part == p, metric) for p in range(n_parts) if p != largest]
        a, b, apart = (np.array(ends) for ends in zip(*links, strict=True))
        known = np.repeat(np.arange(n), np.diff(indptr))
        together = np.concatenate([known, a]), np.concatenate([indices, b]), np.concatenate([lengths, apart])
        edges = symmetric(together, n)


def _shortest_link(rows: np.ndarray, mine: np.ndarray, metric: Metric) -> tuple[int, int, float]:
    """Return the nearest pair of a row of a part and a row of another, and their distance."""
    inside, outside = np.flatnonzero(mine), np.flatnonzero(~mine)
    best = (0, 0, np.inf)
    for block in even_blocks(len(inside), max(1, BLOCK_PAIRS // len(outside))):
        far = metric(rows[inside[block]], rows[outside])
        i, j = np.unravel_index(int(np.argmin(far)), far.shape)
        if far[i, j] < best[2]:
            best = (int(inside[block][i]), int(outside[j]), float(far[i, j]))
    return best


def residual_variances(
    distances: np.ndarray, points: np.ndarray, landmarks: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return 1 - r² of distances (n, m) of points from landmarks with those in the first 1, 2, … dimensions.

    Examples
    --------
    >>> plane = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    >>> far = np.linalg.norm(plane[:, None] - plane, axis=2)
    >>> residual_variances(far, plane, np.arange(3), np.ones(3)).round(4).tolist()
    [0.75, 0.0]
    """
    unit = float(np.max(distances)) or 1.0
    dims = points.shape[1]
    sums = np.zeros((dims, 5))
    for block in even_blocks(len(points), max(1, BLOCK_PAIRS // len(landmarks))):
        wanted = distances[block] / unit
        pairs = weights[block, None] * weights[landmarks]
        pairs = np.where(np.arange(block.start, block.stop)[:, None] == landmarks, 0.0, pairs)
        squared = np.zeros_like(wanted)
        for p in range(dims):
            squared += ((points[block, p, None] - points[landmarks, p]) / unit) ** 2
            found = np.sqrt(squared)
            moments = (wanted, found, wanted**2, found**2, wanted * found)
            sums[p] += [np.sum(pairs * moment) for moment in moments]
    total = np.sum(weights) * np.sum(weights[landmarks]) - np.sum(weights[landmarks] ** 2)
    means = sums / total if total > 0.0 else sums
    first, second = means[:, 2] - means[:, 0] ** 2, means[:, 3] - means[:, 1] ** 2
    both, spread = means[:, 4] - means[:, 0] * means[:, 1], first * second
    least = 1e-24
    return np.where(spread > least, 1.0 - both**2 / np.where(spread > least, spread, 1.0), 0.0)
