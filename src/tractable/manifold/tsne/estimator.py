"""t-distributed stochastic neighbour embedding."""

from typing import Any, Self

import numpy as np

from tractable.arrays.grouping import first_of_each, group_rows
from tractable.arrays.random import as_generator
from tractable.base import FitInterrupted, all_or_nothing, check_choice, check_number
from tractable.base.options import SklearnOptions
from tractable.engines.principal_components import principal_components
from tractable.manifold.base import Embedding
from tractable.manifold.tsne.steps import (
    Descent,
    JointProbabilities,
    descend,
    embed_points,
    joint_probabilities,
)
from tractable.primitives.tsne import GridForces, PairForces, neighbor_probabilities
from tractable.spatial import Index, RandomizedForest, as_index
from tractable.spatial.checks import as_seed
from tractable.spatial.metrics import as_metric
from tractable.value import replace

#: The perplexity where none is given; of few rows, a third of the others.
PERPLEXITY = 30.0

#: Rows up to which all pairs are met, and beyond which neighbours are found approximately.
FEW, MANY = 1_000, 30_000

#: Fewer rows never use a grid: they move apart by more than it resolves, and all pairs take no time.
LEAST_OF_GRID = 50

#: Neighbours for each of the perplexity: the probability of others is below e⁻⁹ of the nearest's.
REACH = 3

#: The standard deviation of a map at the start, along its first axis.
START = 1e-4


class TSNE(Embedding):
    """T-distributed stochastic neighbour embedding: a map in which neighbours stay neighbours.

    The rows have probabilities p_{j|i} ∝ exp(-|x_i - x_j|²/2σ_i²) of being neighbours, made symmetric,
    P_ij = (p_{j|i} + p_{i|j})/2n; the points of the map have Q_ij ∝ 1 / (1 + |y_i - y_j|²), normalised over
    all pairs. The map minimises KL(P‖Q) = Σ P log(P/Q) by gradient descent (van der Maaten and Hinton 2008).
    The long tail of Q leaves space between clusters. Distances between clusters, and their sizes, have no
    meaning; `tractable.plot` shows how far each neighbourhood can be trusted.

    Up to 1,000 rows all pairs are met. Of more, in the plane, P is of the nearest 3 × `perplexity`
    neighbours, and the forces between all points are read from one potential on a grid, which takes a pair of
    Fourier transforms a step (KL within a percent of all pairs). Equal rows have one position. A seed gives
    one map on any number of threads.

    `transform` places further rows in the map that is there, each by itself, where its own divergence is
    least; a row of the fit is where the fit put it.

    Parameters
    ----------
    n_components : int
        Dimensions of the map.
    perplexity : float, optional
        How many neighbours a row has, about: 2 to the entropy of p_{j|i}, at most the number of the other
        rows; less than 1 is 1. By default 30, or a third of the other rows where they are fewer than 90.
    bandwidth : {"perplexity", "knn"}
        Whether σ_i is such that p_{j|i} has the perplexity, or is the distance of the neighbour of that
        number, as in adaptive density estimates.
    early_exaggeration : float
        Factor of P in the first steps, which draws clusters together.
    early_exaggeration_iter : int
        Number of these steps.
    learning_rate : float or "auto"
        Factor of the gradient. "auto" is the number of rows over the exaggeration: n/12, and then n.
    max_iter : int
        The most steps, early ones included.
    min_grad_norm : float
        The search ends where no coordinate of the gradient is larger, looked at every 50 steps.
    metric : str or Metric
        "euclidean", "manhattan", "chebyshev", "cosine", "hamming", or a value of `tractable.spatial`.
    init : {"pca", "random"} or array of shape (n_samples, n_components)
        The map at the start: principal components, which keep the arrangement of clusters, Gaussian
        positions, or those given.
    method : {"auto", "exact", "fft"}
        Whether all pairs are met, or a grid is used. A grid is of the plane and of 50 rows at least: other
        maps meet all pairs.
    index : str or callable
        How neighbours are found, as `NearestNeighbors` takes it. "auto" is exact up to 30,000 rows, and of
        more a `RandomizedForest` where it serves the metric.
    random_state : None, int, RandomState or Generator
        Seed of a random start, and of an index that draws.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        The map. Rows of weight zero are placed as new ones are.
    kl_divergence_ : float
        KL(P‖Q) of the map.
    perplexity_ : float
        The perplexity that was used.
    learning_rate_ : float
        The factor of the gradient in the last steps.
    n_iter_ : int
        The number of steps.
    index_ : Index
        The distinct rows, arranged for the search.
    rows_, row_indices_, sample_weight_
        The rows of positive weight; which of the rows given they are; how often each counts, None where
        no weights were given.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    Isomap : keeps distances along the data.
    tractable.trustworthiness : how far neighbours in a map are neighbours among the rows.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(30, 5)), rng.normal(size=(30, 5)) + 8.0])
    >>> model = tractable.TSNE(random_state=0).fit(X)
    >>> means = model.embedding_[:30].mean(axis=0), model.embedding_[30:].mean(axis=0)
    >>> new = model.transform([[8.0] * 5])  # beside the second cluster
    >>> bool(np.linalg.norm(new - means[1]) < np.linalg.norm(new - means[0]))
    True
    """

    index_: Index

    _sklearn_options = SklearnOptions(
        ignored=("angle", "n_iter_without_progress"),
        limited={"metric_params": (None,)},
        values={"method": {"barnes_hut": "auto"}},
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float | None = None,
        bandwidth: str = "perplexity",
        early_exaggeration: float = 12.0,
        early_exaggeration_iter: int = 125,
        learning_rate: Any = "auto",
        max_iter: int = 500,
        min_grad_norm: float = 1e-7,
        metric: Any = "euclidean",
        init: Any = "pca",
        method: str = "auto",
        index: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.bandwidth = bandwidth
        self.early_exaggeration = early_exaggeration
        self.early_exaggeration_iter = early_exaggeration_iter
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.min_grad_norm = min_grad_norm
        self.metric = metric
        self.init = init
        self.method = method
        self.index = index
        self.random_state = random_state

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Search for the map of the rows.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), and how often each counts; y is ignored.
        """
        self._check_parameters()
        rows = self._store(X, sample_weight)
        rng = as_generator(self.random_state, name="random_state")
        group, self._distinct_, self._counts_ = distinct_rows(self.rows_, self.sample_weight_)
        self.perplexity_ = self._choose_perplexity()
        few = len(self._distinct_) <= FEW if self.method == "auto" else len(self._distinct_) < LEAST_OF_GRID
        exact = self.method == "exact" or few or self.n_components != 2
        self.index_ = self._make_index(exact, rng)
        joint = self._joint(exact)
        found = self._search(joint, self._start(rng), exact)
        self.kl_divergence_, self.n_iter_ = joint.kl_divergence(found.points, found.z), found.n_iter
        self._set_embedding(rows, found.points[group])
        if found.interrupted:
            raise FitInterrupted
        return self

    def _check_parameters(self) -> None:
        check_number("n_components", self.n_components, least=1, whole=True)
        if self.perplexity is not None:
            check_number("perplexity", self.perplexity, above=0.0)
        check_choice("bandwidth", self.bandwidth, ["perplexity", "knn"])
        check_number("early_exaggeration", self.early_exaggeration, least=1.0)
        check_number("early_exaggeration_iter", self.early_exaggeration_iter, least=0, whole=True)
        if not (isinstance(self.learning_rate, str) and self.learning_rate == "auto"):
            if isinstance(self.learning_rate, str):
                raise ValueError(f"learning_rate must be a number or 'auto', got {self.learning_rate!r}")
            check_number("learning_rate", self.learning_rate, above=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_number("min_grad_norm", self.min_grad_norm, least=0.0)
        check_choice("method", self.method, ["auto", "exact", "fft"])
        if isinstance(self.init, str):
            check_choice("init", self.init, ["pca", "random"])
        as_metric(self.metric)

    def _choose_perplexity(self) -> float:
        others = float(self._counts_.sum()) - 1.0
        if self.perplexity is None:
            return max(1.0, min(PERPLEXITY, others / 3.0))
        if self.perplexity > others:
            raise ValueError(
                f"perplexity must be at most {others:g}, the number of other rows of X (n_samples = "
                f"{others + 1.0:g}), got {self.perplexity!r}"
            )
        return max(1.0, float(self.perplexity))

    def _make_index(self, exact: bool, rng: np.random.Generator) -> Index:
        rows, metric, index = self.rows_[self._distinct_], as_metric(self.metric), self.index
        auto = isinstance(index, str) and index == "auto"
        if auto and not exact and len(rows) > MANY and RandomizedForest.serves(metric):
            return RandomizedForest(rows, metric, random_state=as_seed(rng))
        k = min(len(rows), int(REACH * self.perplexity_) + 1)
        return as_index(rows, metric, index, k=k, random_state=rng, name="X")

    def _joint(self, exact: bool) -> JointProbabilities:
        """Return the probabilities of pairs of distinct rows: of all, or of neighbours."""
        n, counts = len(self._distinct_), self._counts_
        if exact or n <= 2:
            squared = as_metric(self.metric)(self.index_.points, self.index_.points) ** 2
            times = np.maximum(np.tile(counts, (n, 1)) - np.eye(n), 0.0)
            near = np.tile(np.arange(n), (n, 1))
        else:
            distances, near = self.index_.graph(min(n - 1, int(REACH * self.perplexity_)))
            squared, times = distances**2, np.where(near >= 0, counts[near], 0.0)
            if np.any(counts > 1.0):  # its own copies, at no distance
                squared = np.column_stack([np.zeros(n), squared])
                near, times = (
                    np.column_stack([np.arange(n), near]),
                    np.column_stack([np.maximum(counts - 1.0, 0.0), times]),
                )
        if not np.all(times.sum(axis=1) > 0.0):  # one row, of weight one
            times = np.maximum(times, 1e-300)
        return joint_probabilities(self._conditional(squared, times), near, counts)

    def _conditional(self, squared: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Return the probabilities of neighbours (m, k), given squared distances and numbers of copies."""
        squared = np.where(times > 0.0, squared, np.inf)
        if self.bandwidth == "perplexity":
            return neighbor_probabilities(np.where(times > 0.0, squared, 0.0), times, self.perplexity_)
        return knn_probabilities(squared, times, self.perplexity_)

    def _start(self, rng: np.random.Generator) -> np.ndarray:
        n, p = len(self._distinct_), self.n_components
        if not isinstance(self.init, str):
            given = np.asarray(self.init, dtype=np.float64) if np.ndim(self.init) == 2 else np.empty(0)
            shape = (len(self.row_indices_), p)
            if given.shape[1:] != (p,) or len(given) <= self.row_indices_[-1] or not np.isfinite(given).all():
                raise ValueError(f"init must be finite positions of shape {shape}, got {np.shape(self.init)}")
            return given[self.row_indices_][self._distinct_].copy()
        if self.init == "random":
            return START * rng.standard_normal((n, p))
        rows = self.rows_[self._distinct_]
        k = min(p, *rows.shape)
        components = principal_components(rows, k, weights=self._counts_)
        return principal_start(np.asarray(components.transform(rows)), self._counts_, p)

    def _search(self, joint: JointProbabilities, start: np.ndarray, exact: bool) -> Descent:
        early = min(self.early_exaggeration_iter, self.max_iter)
        phases = [(early, float(self.early_exaggeration)), (self.max_iter - early, 1.0)]
        rated = [(steps, factor, self._rate(factor)) for steps, factor in phases]
        self.learning_rate_ = rated[-1][2]
        options: dict[str, Any] = {"phases": rated, "tol": 0.25 * float(self.min_grad_norm)}
        if exact:
            forces = PairForces(joint=joint.dense(), weights=joint.weights)
            return descend(forces, start, joint, **options)
        order = joint.local_order()  # what is near is found in the cache
        joint = joint.take(order)
        grid = GridForces(joint.indptr, joint.indices, joint.values, joint.weights)
        found = descend(grid, start[order], joint, **options)
        points = np.empty_like(found.points)
        points[order] = found.points
        return replace(found, points=points)

    def _rate(self, exaggeration: float) -> float:
        if isinstance(self.learning_rate, str):
            return float(self._counts_.sum()) / exaggeration
        return float(self.learning_rate)

    def _embed(self, rows: np.ndarray) -> np.ndarray:
        references = self._points[self._distinct_]
        k = min(len(references), max(1, int(REACH * self.perplexity_)))
        distances, near = self.index_.query(rows, k)
        points = references[np.maximum(near[:, 0], 0)]
        new = (distances[:, 0] > 0.0) & (len(references) > 1)
        if np.any(new):
            distances, near = distances[new], near[new]
            times = np.where(near >= 0, self._counts_[near], 0.0)
            p = self._conditional(np.where(near >= 0, distances, 0.0) ** 2, times)
            points[new] = embed_points(p, near, references, self._counts_)
        return points


def distinct_rows(rows: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of each row among the distinct ones, the first row of each, and how many it is.

    Examples
    --------
    >>> group, first, counts = distinct_rows(np.array([[1.0], [0.0], [1.0]]), None)
    >>> group.tolist(), first.tolist(), counts.tolist()
    ([0, 1, 0], [0, 1], [2.0, 1.0])
    """
    n = len(rows)
    w = np.ones(n) if weights is None else weights
    # Equal rows have equal sums; where all sums differ, so do all rows.
    sums = np.sum(rows * np.sqrt(np.arange(1.0, rows.shape[1] + 1.0)), axis=1)
    if len(np.unique(sums)) == n:
        return np.arange(n), np.arange(n), w
    group = group_rows(rows)
    first = first_of_each(group)
    order = np.argsort(first, kind="stable")  # in the order of the rows
    renumbered = np.empty(len(first), np.int64)
    renumbered[order] = np.arange(len(first))
    group = renumbered[group]
    return group, first[order], np.bincount(group, w, minlength=len(first))


def knn_probabilities(squared: np.ndarray, counts: np.ndarray, k: float) -> np.ndarray:
    """Return p_j ∝ c_j exp(-d_j²/2σ²), where σ is the distance of the k-th neighbour of each row.

    Where that is 0, it is the distance of the nearest neighbour that is not; where all are 0, any.

    Examples
    --------
    >>> knn_probabilities(np.array([[1.0, 4.0, 9.0]]), np.ones((1, 3)), 2.0).round(4)
    array([[0.4866, 0.3344, 0.179 ]])
    """
    order = np.argsort(squared, axis=1, kind="stable")
    sorted_, reached = (
        np.take_along_axis(squared, order, 1),
        np.cumsum(np.take_along_axis(counts, order, 1), 1),
    )
    far = np.max(np.where(np.isfinite(sorted_), sorted_, 0.0), axis=1, keepdims=True)
    enough = (reached >= min(k, float(reached[:, -1].min()))) & (sorted_ > 0.0)
    widths = np.min(np.where(enough, sorted_, np.inf), axis=1, keepdims=True)
    widths = np.where(np.isfinite(widths), widths, np.where(far > 0.0, far, 1.0))
    least = sorted_[:, :1]
    p = counts * np.exp(-0.5 * np.where(counts > 0.0, squared - least, 0.0) / widths)
    return p / p.sum(axis=1, keepdims=True)


def principal_start(scores: np.ndarray, weights: np.ndarray, n_components: int) -> np.ndarray:
    """Return principal scores (n, k) as a small map of p dimensions.

    Dimensions without a spread of their own, where rows have fewer, have that of Chebyshev polynomials of the
    first score, so that the map can leave the line, or the plane, it would stay on.

    Examples
    --------
    >>> found = principal_start(np.array([[-1.0], [0.0], [1.0]]), np.ones(3), 2)
    >>> (found / 1e-4).round(3).tolist()
    [[-1.225, 0.02], [0.0, -0.04], [1.225, 0.02]]
    """
    size = np.sqrt(np.average(scores[:, 0] ** 2, weights=weights))
    unit = scores / (size if size > 0.0 else 1.0)
    spread = np.sqrt(np.average(unit**2, axis=0, weights=weights))
    found = [column for column, wide in zip(unit.T, spread, strict=True) if wide > 1e-6]
    angles = np.arccos(unit[:, 0] / (1.0 + np.abs(unit[:, 0])))
    while found and len(found) < n_components:
        wave = np.cos((len(found) + 1) * angles)
        found.append(0.1 * (wave - np.average(wave, weights=weights)))
    if not found:
        return np.zeros((len(scores), n_components))
    return START * np.column_stack(found)
