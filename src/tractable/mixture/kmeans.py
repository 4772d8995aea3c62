"""K-means."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.random import as_generator
from tractable.base import FitInterrupted, ModelTags, Rows, all_or_nothing, check_choice, check_number
from tractable.mixture.kmeans_answers import CenterAnswers
from tractable.mixture.kmeans_frame import frame_of
from tractable.mixture.kmeans_online import OnlineCenters, followed, passes_over
from tractable.mixture.kmeans_search import KMeansFit, search
from tractable.mixture.kmeans_start import Starts, check_init
from tractable.mixture.kmeans_steps import Centers, HeldRows, StreamedRows
from tractable.primitives.threads import single_threaded_blas

__all__ = ["KMeans"]


class KMeans(CenterAnswers):
    """Clusters about their means: the centres μ that make J = Σ_k Σ_i r_ik |x_i - μ_k|² small.

    Two steps take turns until nothing changes (Lloyd): every row goes to its nearest centre,
    r_ik = 1 for k = argmin_k |x_i - μ_k|² (the first of equals), and every centre to the mean of its rows,
    μ_k = Σ_i r_ik x_i / Σ_i r_ik. J never rises, and the search ends at a local minimum, which depends on the
    start: hence `n_init`, and seeds far apart (k-means++).

    Rows held in memory or in a source are fitted exactly, over several passes; the answer is the same
    whatever the number of threads. `partial_fit` and `batch_size` follow batches, which is approximate.
    Distances are measured about the mean of the rows, so data far from the origin keep their clusters.

    A cluster that loses all its rows begins anew at the row that is farthest from all other centres, which
    cannot raise J. Where there are fewer different rows than clusters, the clusters that are left over stay
    empty, with a warning.

    Parameters
    ----------
    n_clusters : int
    init : {"k-means++", "random"}, array of shape (n_clusters, n_features) or callable
        The first centres: greedy k-means++, rows at random, these, or what
        ``init(X, n_clusters, random_state=generator)`` returns. From a stream of more than 20,000 rows
        (or 50 a cluster), seeds are chosen among so many.
    n_init : int or "auto"
        Starts, of which the best is kept; "auto" is 10 for random rows and 1 otherwise. Centres that are
        given are tried once.
    max_iter : int
        Most iterations of a start.
    tol : float
        The search ends when Σ_k |Δμ_k|² is at most this share of the mean variance of the columns.
    batch_size : int, optional
        Learn from batches of so many rows instead, drawn by weight (from a stream: in its order), each centre
        the running mean of the rows it was given: much faster for many rows, and approximate.
        `max_iter` then counts passes.
    random_state : None, int, RandomState or Generator
    algorithm : {"auto", "hamerly", "lloyd"}
        "hamerly" keeps bounds on distances (twelve bytes a row) and skips what they decide; "lloyd" keeps
        nothing. They give the same clusters. "auto" is "hamerly" for rows in memory.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : array of shape (n_samples,)
        The cluster of each row, where they were held in memory.
    inertia_ : float
        J, weighted where rows have weights.
    inertias_ : array of shape (n_iter_ + 1,)
        J at the start and after each iteration; it never rises. Not with `batch_size`.
    counts_ : array of shape (n_clusters,)
        Weight of the rows of each cluster.
    n_iter_ : int
    converged_ : bool
    n_steps_ : int
        Batches followed, with `batch_size` or `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

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
    >>> model.inertias_.round(4).tolist()
    [55.0, 19.7222, 14.3333, 14.3333]
    >>> model.predict([[5.0, 5.0]]).tolist()
    [0]
    """

    model_tags = ModelTags(kind="mapping", parametric=True, streaming="exact over several passes")

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

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of rows held in memory, in a file, or in a stream that can be walked again.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = self._rows(X, sample_weight, reset=True)
        frame = frame_of(rows.data, rows.weights)
        starts = Starts(
            init=self.init, n_clusters=self.n_clusters, rows=rows, rng=as_generator(self.random_state)
        )
        held = isinstance(rows.data, np.ndarray) and self.algorithm != "lloyd"
        problem = (HeldRows if held else StreamedRows)(rows.data, rows.weights, frame)
        if self.batch_size is None:
            tries = starts.n_tries(self.n_init)
            fit = search(problem, starts, n_init=tries, max_iter=self.max_iter, tol=self.tol)
            self.inertias_ = fit.inertias
        else:
            fit = self._follow(rows, problem, starts)
        self._adopt(fit, rows)
        if fit.interrupted:
            raise FitInterrupted
        self._report()
        return self

    @all_or_nothing(afresh=False)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: each centre becomes the running mean of the rows it has been given.

        The first batch must have `n_clusters` rows, as the centres begin there. Approximate: the clusters
        depend on the order of the batches.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,) or column name, optional

        Returns
        -------
        self
        """
        self._check_parameters()
        first = not hasattr(self, "cluster_centers_")
        if not first and len(self.cluster_centers_) != self.n_clusters:
            raise ValueError(
                f"n_clusters is {self.n_clusters}, but the model has learned {len(self.cluster_centers_)} "
                "clusters, which partial_fit goes on with; fit anew"
            )
        rows = self._rows(X, sample_weight, reset=first)
        frame = frame_of(rows.data, rows.weights)
        if first:
            rng = as_generator(self.random_state)
            starts = Starts(init=self.init, n_clusters=self.n_clusters, rows=rows, rng=rng)
            self.cluster_centers_, self.counts_, self.n_steps_ = starts(0), np.zeros(self.n_clusters), 0
        state = OnlineCenters(
            centers=np.ascontiguousarray(frame.inside(self.cluster_centers_)),
            counts=self.counts_,
            n_steps=getattr(self, "n_steps_", 0),
        )
        whole = [(rows.data, rows.weights)] if isinstance(rows.data, np.ndarray) else _batches(rows.data)
        for x, w in whole:
            state = state.after(x, w, frame)
        for name in ("labels_", "inertia_", "inertias_", "n_iter_", "converged_"):
            self.__dict__.pop(name, None)  # true of the rows before
        self.cluster_centers_, self.counts_ = frame.outside(state.centers), state.counts
        self.n_steps_ = state.n_steps
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Find the clusters of rows, and return the cluster of each.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        array of shape (n_samples,)
        """
        self.fit(X, sample_weight=sample_weight)
        return self.labels_ if hasattr(self, "labels_") else self.predict(X)

    def _check_parameters(self) -> None:
        check_number("n_clusters", self.n_clusters, least=1, whole=True)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_number("tol", self.tol, least=0.0)
        check_choice("algorithm", self.algorithm, ["auto", "hamerly", "lloyd"])
        check_init(self.init)
        if not (isinstance(self.n_init, str) and self.n_init == "auto"):
            check_number("n_init", self.n_init, least=1, whole=True)
        if self.batch_size is not None:
            check_number("batch_size", self.batch_size, least=1, whole=True)

    def _follow(self, rows: Rows, problem: StreamedRows, starts: Starts) -> KMeansFit:
        """Learn from batches, and end with one look at all rows."""
        frame = problem.frame
        first = np.ascontiguousarray(frame.inside(starts(0)))
        passes = passes_over(rows.data, rows.weights, int(self.batch_size or 1), starts.rng)
        start = OnlineCenters(centers=first, counts=np.zeros(len(first)))
        with single_threaded_blas():
            state, n_iter, settled, stopped = followed(
                start, passes, frame, max_iter=self.max_iter, tol=self.tol
            )
            labels, held = problem.finish(Centers(centers=state.centers))
        self.n_steps_ = state.n_steps
        return KMeansFit(
            centers=frame.outside(state.centers),
            labels=labels,
            counts=held.counts,
            inertia=held.inertia / frame.scale**2,
            inertias=np.zeros(0),
            n_iter=n_iter,
            converged=settled,
            interrupted=stopped,
        )

    def _adopt(self, fit: KMeansFit, rows: Rows) -> None:
        self.cluster_centers_, self.counts_ = fit.centers, fit.counts
        self.inertia_, self.n_iter_, self.converged_ = float(fit.inertia), fit.n_iter, fit.converged
        if isinstance(rows.data, np.ndarray):
            self.labels_ = self.predict(rows.data) if fit.labels is None else fit.labels

    def _report(self) -> None:
        empty = int(np.sum(self.counts_ == 0.0))
        if empty:
            warnings.warn(
                f"only {self.n_clusters - empty} of the {self.n_clusters} clusters have rows: X has no more "
                "different rows that count; lower n_clusters",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif not self.converged_:
            warnings.warn(
                f"k-means did not settle in {self.max_iter} iterations; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )


def _batches(source: Any) -> Any:
    return ((batch.X, batch.weights) for batch in source.batches() if len(batch.X))
