"""K-means."""

import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.devices import beside
from tractable.arrays.namespace import (
    is_foreign_array,
    is_sparse,
    namespace_of,
    to_numpy,
)
from tractable.arrays.random import as_generator
from tractable.base import (
    EMEstimator,
    ModelTags,
    Rows,
    all_or_nothing,
    check_choice,
    check_columns,
    check_fitted,
    check_number,
)
from tractable.base.by_blocks import by_blocks, keeps_float32
from tractable.base.options import SklearnOptions
from tractable.data import SparseSource
from tractable.data.blocks import map_rows
from tractable.engines import EMResult
from tractable.engines.kmeans import (
    SEEDINGS,
    Centers,
    Clusters,
    KMeansProblem,
    distance_standardizer,
)
from tractable.primitives import as_double, squared_distances
from tractable.primitives.kmeans import nearest_centers
from tractable.primitives.sparse_rows import sparse_squared_distances
from tractable.statistics import DiagonalMoments, Standardizer
from tractable.value import value


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, EMEstimator):
    """K-means clustering: centres μ that minimise J = Σ_k Σ_i r_ik |x_i - μ_k|² locally.

    Two steps alternate until nothing changes (Lloyd): every row is assigned to its nearest centre,
    r_ik = 1 for k = argmin_k |x_i - μ_k|² (the first of equals), and every centre moves to the mean of its
    rows, μ_k = Σ_i r_ik x_i / Σ_i r_ik. J never rises, and the search ends at a local minimum, which depends
    on the initial centres: hence `n_init`, and seeds far apart (k-means++).

    Rows held in memory or in a source are fitted exactly, over several passes; the answer is the same
    whatever the number of threads. `partial_fit` and `batch_size` follow batches, which is approximate.
    Distances are measured about the mean of the rows, so data far from the origin keep their clusters.

    X may be a sparse matrix or array of SciPy, and is not made dense.

    The centre of a cluster that loses all its rows moves to the row that is farthest from all other centres,
    which cannot raise J. Where there are fewer different rows than clusters, some clusters stay empty, with a
    warning.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    init : {"k-means++", "random", "k-means||"}, array of shape (n_clusters, n_features) or callable
        The initial centres: greedy k-means++, rows at random, these, or what
        ``init(X, n_clusters, random_state=generator)`` returns. From a stream of more than 20,000 rows
        (or 50 a cluster), seeds are chosen among so many; "k-means||" looks at all of them, in ten passes
        that draw candidates far from those before (Bahmani et al. 2012), and chooses among these; of sparse
        rows it is "k-means++".
    n_init : int or "auto"
        Number of searches, of which the best is kept; "auto" is 10 for random rows and 1 otherwise. Centres
        that are given are tried once.
    max_iter : int
        Most iterations of a search.
    tol : float
        The search ends when Σ_k |Δμ_k|² is at most this fraction of the mean variance of the columns.
    batch_size : int, optional
        Learn from batches of so many rows instead, drawn by weight (from a stream: in its order), each centre
        the running mean of the rows it was given: much faster for many rows, and approximate.
        `max_iter` then counts passes.
    random_state : None, int, RandomState or Generator
        The seed of the initial centres and the batches.
    algorithm : {"auto", "hamerly", "lloyd"}
        "hamerly" keeps bounds on distances (twelve bytes a row) and skips what they decide; "lloyd" keeps
        nothing. They give the same clusters. "auto" is "hamerly" for rows in memory.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        The centres μ.
    labels_ : array of shape (n_samples,)
        The cluster of each row, where they were held in memory.
    inertia_ : float
        J, weighted where rows have weights.
    objective_trace_ : array of shape (n_iter_ + 1,)
        -J at the start and after each iteration; never falling. Not with `batch_size`.
    counts_ : array of shape (n_clusters,)
        Weight of the rows of each cluster.
    n_iter_ : int
        Iterations of the best search; passes, with `batch_size`.
    converged_ : bool
        Whether it ended by `tol`.
    n_steps_ : int
        Batches followed, with `batch_size` or `partial_fit`.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    tractable.GaussianMixture : clusters with a shape of their own, and probabilities.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]])
    >>> model = tractable.KMeans(3, init=X[[4, 5, 7]]).fit(X)
    >>> model.cluster_centers_.round(4).tolist()
    [[7.0, 4.3333], [1.5, 3.5], [3.6667, 9.0]]
    >>> (-model.objective_trace_).round(4).tolist()
    [55.0, 19.7222, 14.3333, 14.3333]
    >>> model.predict([[5.0, 5.0]]).tolist()
    [0]
    """

    cluster_centers_: np.ndarray
    _learns_on_host = True
    _takes_sparse = True
    _sparse_methods = ("predict", "transform")

    _sklearn_options = SklearnOptions(values={"algorithm": {"elkan": "auto"}})

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        batch_size: int | None = None,
        random_state: Any = None,
        algorithm: str = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.random_state = random_state
        self.algorithm = algorithm

    @property
    def model_tags(self) -> ModelTags:  # type: ignore[override]
        """Batches of rows in memory are drawn, those of a stream are not."""
        streaming = "exact over several passes" if self.batch_size is None else "approximate"
        return ModelTags(kind="mapping", parametric=True, streaming=streaming)  # type: ignore[arg-type]

    @all_or_nothing(afresh=False)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: each centre becomes the running mean of the rows it has been given.

        The first batch must have `n_clusters` rows, as the centres begin there. Approximate: the clusters
        depend on the order of the batches.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; y is ignored.
        """
        self._check_parameters()
        first = not hasattr(self, "cluster_centers_")
        if not first and len(self.cluster_centers_) != self.n_clusters:
            raise ValueError(
                f"n_clusters is {self.n_clusters}, but the model has learned {len(self.cluster_centers_)} "
                "clusters, which partial_fit goes on with; fit anew"
            )
        problem = self._em_problem(self._validate_rows(X, y, sample_weight, reset=first), fitted=False)
        if first:
            params = problem.initial(as_generator(self.random_state, name="random_state"))
            self.counts_ = np.zeros(self.n_clusters)
        else:
            params = self._fitted_params(problem)
        state = problem.follow(params, self.counts_, getattr(self, "n_steps_", 0))
        self._forget("labels_", "inertia_", *self._SEARCH_ATTRIBUTES)  # of the rows before
        self.cluster_centers_ = problem.standardizer.inverse_transform(state.centers)
        self.counts_, self.n_steps_ = state.counts, state.n_steps
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Find the clusters of rows, and return the cluster of each, (n_samples,).

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; y is ignored.
        """
        self.fit(X, sample_weight=sample_weight)
        return self.labels_ if hasattr(self, "labels_") else self.predict(X)

    @by_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each row, that of the nearest centre, (n_samples,)."""
        check_fitted(self)
        return self._nearest(self._columns(X))

    @by_blocks
    @keeps_float32
    def transform(self, X: Any) -> np.ndarray:
        """Return the distance of each row to each centre, (n_samples, n_clusters)."""
        check_fitted(self)
        x = self._columns(X)
        if is_sparse(x):
            return np.sqrt(sparse_squared_distances(x, self.cluster_centers_))
        if is_foreign_array(x):
            return namespace_of(x).sqrt(squared_distances(as_double(x), self.cluster_centers_))
        return map_rows(partial(cdist, XB=self.cluster_centers_), x)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return -J of rows at the fitted centres.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; y is ignored.
        """
        held = self.summarize(X, sample_weight=sample_weight)
        return -float(held.inertia / held.standardizer.scale[0] ** 2)

    @all_or_nothing(afresh=False)
    def from_statistic(self, statistic: Clusters) -> Self:
        """Move the centres to the means of their rows: one M-step. A centre without rows stays."""
        if not isinstance(statistic, Clusters):
            raise ValueError(f"statistic must be Clusters, got {type(statistic).__name__}")
        known = ("n_features_in_", "feature_names_in_")
        self._forget(*[name for name in vars(self) if name.endswith("_") and name not in known])
        self.cluster_centers_ = statistic.standardizer.inverse_transform(statistic.means)
        self.counts_, self.n_features_in_ = statistic.counts, statistic.dim
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _columns(self, X: Any) -> np.ndarray:
        return X if is_sparse(X) else check_columns(self, X)

    def _host_centers(self) -> np.ndarray:
        return to_numpy(self.cluster_centers_)

    def _nearest(self, x: Any) -> Any:
        """Return the labels of rows, whatever their scale."""
        standardizer = self._center_standardizer()
        centers = standardizer.transform(self._host_centers())
        nearest = NearestCenter(centers=np.ascontiguousarray(centers), standardizer=standardizer)
        return nearest(x) if is_sparse(x) else map_rows(beside(nearest, x), x)

    def _center_standardizer(self) -> Standardizer:
        """Return the scale of distances to the fitted centres."""
        return Standardizer.from_moments(DiagonalMoments.of(self._host_centers()), common=True, exact=True)

    def _check_parameters(self) -> None:
        check_number("n_clusters", self.n_clusters, least=1, whole=True)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_number("tol", self.tol, least=0.0)
        check_choice("algorithm", self.algorithm, ["auto", "hamerly", "lloyd"])
        if self.init is None or (isinstance(self.init, str) and self.init not in SEEDINGS):
            raise ValueError(
                f"init must be one of {[*SEEDINGS]}, an array of centres or a callable, got {self.init!r}"
            )
        if not (isinstance(self.n_init, str) and self.n_init == "auto"):
            check_number("n_init", self.n_init, least=1, whole=True)
        if self.batch_size is not None:
            check_number("batch_size", self.batch_size, least=1, whole=True)

    def _validate_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        rows = super()._validate_rows(X, y, sample_weight, reset=reset)
        if reset and rows.n_rows is not None and rows.n_rows < self.n_clusters:
            raise ValueError(f"X has n_samples={rows.n_rows}, fewer than n_clusters={self.n_clusters}")
        return rows

    def _em_problem(self, rows: Rows | None, *, fitted: bool) -> KMeansProblem:
        source: Any = None if rows is None else rows.source
        if isinstance(source, SparseSource):
            source = source.in_sparse_blocks()
        if fitted or source is None:
            standardizer, variance = self._center_standardizer(), 1.0
        else:
            standardizer, variance = distance_standardizer(source)
        return KMeansProblem(
            source,
            standardizer,
            n_clusters=self.n_clusters,
            variance=variance,
            init=self.init,
            bounds=self.algorithm != "lloyd" and not fitted,
            tol=self.tol,
        )

    def _fitted_params(self, problem: KMeansProblem) -> Centers:
        centers = problem.standardizer.transform(self._host_centers())
        return Centers(centers=np.ascontiguousarray(centers))

    def _n_starts(self) -> int:
        if not isinstance(self.init, str) and not callable(self.init):
            return 1
        if self.n_init == "auto":
            return 10 if isinstance(self.init, str) and self.init == "random" else 1
        return int(self.n_init)

    def _run_em(self, problem: KMeansProblem, params: Centers) -> EMResult:
        return problem.run_em(params, self.max_iter)

    def _search(self, problem: KMeansProblem, earlier: Any) -> EMResult:
        if self.batch_size is None:
            return super()._search(problem, earlier)
        rng = as_generator(self.random_state, name="random_state")
        return problem.run_batches(problem.initial(rng), int(self.batch_size), self.max_iter, rng)

    def _set_fitted(self, params: Centers, problem: KMeansProblem) -> None:
        labels, held = problem.held(params)
        self.cluster_centers_ = problem.standardizer.inverse_transform(params.centers)
        self.counts_ = held.counts
        self.inertia_ = float(held.inertia / problem.standardizer.scale[0] ** 2)
        if labels is None and problem.source is not None and problem.source.in_memory:
            labels = self.predict(problem.source.collect().X)
        if labels is not None:
            self.labels_ = labels

    def _set_search(self, result: EMResult, problem: KMeansProblem) -> None:
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        if self.batch_size is not None:
            self.n_steps_ = result.params.n_steps
        else:
            trace = np.asarray(result.trace) / problem.standardizer.scale[0] ** 2
            trace[-1] = -self.inertia_
            # Differences gather rounding; J itself never rises.
            self.objective_trace_ = np.minimum.accumulate(trace[::-1])[::-1]

    def _not_converged(self, result: EMResult) -> str:
        return f"k-means did not converge in {self.max_iter} iterations; raise max_iter or tol"

    def _warn_fitted(self) -> None:
        empty = int(np.sum(self.counts_ == 0.0))
        if empty:
            warnings.warn(
                f"only {self.n_clusters - empty} of the {self.n_clusters} clusters have rows: X has no more "
                "different rows that count; lower n_clusters",
                ConvergenceWarning,
                stacklevel=4,
            )


@value
class NearestCenter:
    """The label of each row: that of its nearest centre."""

    centers: np.ndarray
    standardizer: Standardizer

    def __call__(self, x: np.ndarray) -> np.ndarray:
        shift, scale = self.standardizer.shift, float(self.standardizer.scale[0])
        return nearest_centers(x, shift, scale, self.centers)
