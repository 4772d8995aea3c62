"""K-means."""

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.random import as_generator
from tractable.base import (
    Estimator,
    FitInterrupted,
    ModelTags,
    Rows,
    all_or_nothing,
    check_choice,
    check_columns,
    check_fitted,
    check_number,
    check_rows,
    refuse_foreign,
)
from tractable.data import as_source, sample_rows
from tractable.data.blocks import map_rows
from tractable.engines.kmeans import (
    Centers,
    Clusters,
    Frame,
    HeldRows,
    KMeansFit,
    StreamedRows,
    frame_about,
    frame_of,
    means,
    random_rows,
    search,
    seeded_rows,
)
from tractable.primitives.kmeans import assign
from tractable.primitives.threads import single_threaded_blas
from tractable.value import replace, value

__all__ = [
    "CenterAnswers",
    "KMeans",
    "OnlineCenters",
    "Starts",
    "check_init",
    "drawn_rows",
    "followed",
    "passes_over",
]

CHOICES = {"k-means++": seeded_rows, "random": random_rows}

#: Seeds of a stream are chosen among so many rows, or so many a cluster.
SAMPLED_ROWS, SAMPLED_ROWS_A_CLUSTER = 20_000, 50


def check_init(init: Any) -> None:
    """Refuse what names no start; the shape of centres that are given is checked where columns are known."""
    if isinstance(init, str) and init not in CHOICES:
        raise ValueError(f"init must be one of {[*CHOICES]}, an array of centres or a callable, got {init!r}")


class Starts:
    """First centres, one set for each start."""

    def __init__(self, *, init: Any, n_clusters: int, rows: Rows, rng: np.random.Generator) -> None:
        self.init, self.n_clusters, self.rng = init, n_clusters, rng
        self.given = None if isinstance(init, str) or callable(init) else init
        if self.given is None:
            self.x, self.weights = self._candidates(rows)
        else:
            width = rows.data.n_features if hasattr(rows.data, "n_features") else rows.data.shape[1]
            self.given = _centers(self.given, n_clusters, width)

    def n_tries(self, n_init: Any) -> int:
        """Return how many starts are worth it."""
        if self.given is not None:
            return 1
        if n_init == "auto":
            return 10 if self.init == "random" else 1
        return int(n_init)

    def __call__(self, number: int) -> np.ndarray:
        """Return the first centres of a start."""
        if self.given is not None:
            return self.given
        if callable(self.init):
            found = self.init(self.x, self.n_clusters, random_state=self.rng)
            return _centers(found, self.n_clusters, self.x.shape[1])
        return self.x[CHOICES[self.init](self.x, self.weights, self.n_clusters, self.rng)]

    def _candidates(self, rows: Rows) -> tuple[np.ndarray, Any]:
        if isinstance(rows.data, np.ndarray):
            return rows.data, rows.weights
        most = max(SAMPLED_ROWS, SAMPLED_ROWS_A_CLUSTER * self.n_clusters)
        # A generator of its own: the starts are then those of the same rows in memory.
        x, weights = sample_rows(rows.data, rows.weights, most, self.rng.spawn(1)[0])
        if len(x) < self.n_clusters:
            raise ValueError(f"X has n_samples={len(x)} that count, fewer than n_clusters={self.n_clusters}")
        return x, weights


def _centers(given: Any, n_clusters: int, width: int) -> np.ndarray:
    try:
        centers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"init must be centres, as numbers: {error}") from None
    if centers.shape != (n_clusters, width):
        raise ValueError(f"init must have shape ({n_clusters}, {width}), got {centers.shape}")
    if not np.all(np.isfinite(centers)):
        raise ValueError("init contains NaN or infinity")
    return centers


@value
class OnlineCenters:
    """Centres in a frame, and the weight of the rows each has been given."""

    centers: np.ndarray  # (K, d)
    counts: np.ndarray  # (K,)
    n_steps: int = 0

    def after(self, x: np.ndarray, weights: Any, frame: Frame) -> "OnlineCenters":
        """Give the rows of a batch to the nearest centres and move each to its running mean.

        μ_k ← (n_k μ_k + Σ w x) / (n_k + Σ w) (MacQueen 1967; Sculley 2010). A centre that has never been
        given a row begins anew at the row of the batch that is farthest from the others.
        """
        rows = StreamedRows(x, weights, frame)
        batch = rows.expect(Centers(centers=self.centers))
        counts = self.counts + batch.counts
        merged = replace(batch, sums=self.counts[:, None] * self.centers + batch.sums, counts=counts)
        return OnlineCenters(centers=rows.maximize(merged).centers, counts=counts, n_steps=self.n_steps + 1)


def drawn_rows(weights: Any, total: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n rows drawn by weight, with replacement, one uniform a row."""
    u = rng.random(n)
    if weights is None:
        return (u * total).astype(np.int64)
    held = np.cumsum(weights)
    found = np.searchsorted(held, u * held[-1], side="right")
    return np.minimum(found, int(np.flatnonzero(weights)[-1]))


def passes_over(data: Any, weights: Any, size: int, rng: np.random.Generator) -> Iterator[Iterator[Any]]:
    """Give batches of `size` rows, pass after pass: drawn by weight from memory, in order from a stream."""
    if not isinstance(data, np.ndarray):
        while True:
            yield _cut(data, size)
    # As many batches as make one pass; a row of weight two is two rows.
    n_batches = int(np.ceil((len(data) if weights is None else float(np.sum(weights))) / size))
    while True:
        drawn = (drawn_rows(weights, len(data), size, rng) for _ in range(n_batches))
        yield ((data[rows], None) for rows in drawn)


def followed(
    start: OnlineCenters, passes: Iterator[Iterator[Any]], frame: Frame, *, max_iter: int, tol: float
) -> tuple[OnlineCenters, int, bool, bool]:
    """Follow batches until a whole pass moves the centres by less than `tol` of the variance.

    Returns the centres, the number of passes, and whether they settled or were interrupted.
    """
    state = start
    for number in range(1, max_iter + 1):
        before = state
        try:
            for x, weights in next(passes):
                state = state.after(x, weights, frame)
        except KeyboardInterrupt:
            return state, number, False, True
        if float(np.sum((state.centers - before.centers) ** 2)) <= tol * frame.variance:
            return state, number, True, False
    return state, max_iter, False, False


def _cut(data: Any, size: int) -> Iterator[Any]:
    for batch in as_source(data).batches():
        for start in range(0, len(batch.X), size):
            part = slice(start, start + size)
            yield batch.X[part], None if batch.weights is None else batch.weights[part]


#: Squares of longer steps are not all numbers.
FAR = 1e140


class CenterAnswers(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """`predict`, `transform`, `score` and the two steps of a model with `cluster_centers_`."""

    n_clusters: int
    cluster_centers_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each row: that of the nearest centre.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) of int
        """
        check_fitted(self)
        X, frame = self._held(X), self._frame()
        centers = np.ascontiguousarray(frame.inside(self.cluster_centers_))
        with single_threaded_blas():
            return map_rows(lambda x: _nearest(x, frame, centers), X)

    def transform(self, X: Any) -> np.ndarray:
        """Return the distance of each row to each centre.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_clusters)
        """
        check_fitted(self)
        centers = self.cluster_centers_

        def distances(x: np.ndarray) -> np.ndarray:
            found = np.stack([np.sqrt(np.sum((x - c) ** 2, axis=1)) for c in centers], axis=1)
            far = ~np.all(found < FAR, axis=1)
            if np.any(far):  # in units of the longest step, whose square is a number
                step = x[far][:, None, :] - centers
                unit = np.maximum(np.max(np.abs(step), axis=2), 1.0)
                found[far] = unit * np.sqrt(np.sum((step / unit[:, :, None]) ** 2, axis=2))
            return found

        with np.errstate(over="ignore"):
            return map_rows(distances, self._held(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return -J of rows at the fitted centres.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,) or column name, optional

        Returns
        -------
        float
        """
        held = self.summarize(X, sample_weight=sample_weight)
        return -held.inertia / held.frame.scale**2

    def summarize(self, X: Any, y: Any = None, sample_weight: Any = None) -> Clusters:
        """Give rows to the fitted centres and return what each then holds: one E-step, changing nothing.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,) or column name, optional

        Returns
        -------
        Clusters
            Merge two with ``+``; move the centres with `from_statistic`.
        """
        check_fitted(self)
        rows, frame = self._rows(X, sample_weight, reset=False, least=1), self._frame()
        centers = np.ascontiguousarray(frame.inside(self.cluster_centers_))
        with single_threaded_blas():
            found = StreamedRows(rows.data, rows.weights, frame).expect(Centers(centers=centers))
        if not np.isfinite(found.inertia):
            raise ValueError(
                "X has values so far from the centres that squares overflow; rescale its columns"
            )
        return found

    @all_or_nothing(afresh=False)
    def from_statistic(self, statistic: Clusters) -> Self:
        """Move the centres to the means of what they hold: one M-step. A centre without rows stays.

        Parameters
        ----------
        statistic : Clusters
            What `summarize` returned, or a sum of such.

        Returns
        -------
        self
        """
        if not isinstance(statistic, Clusters):
            raise ValueError(f"statistic must be Clusters, got {type(statistic).__name__}")
        for name in [n for n in vars(self) if n.endswith("_") and n not in _COLUMNS]:
            delattr(self, name)
        self.cluster_centers_ = statistic.frame.outside(means(statistic))
        self.counts_, self.n_features_in_ = statistic.counts, statistic.dim
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _frame(self) -> Frame:
        """Return a frame about the fitted centres."""
        centers = self.cluster_centers_
        return frame_about(centers.mean(axis=0), centers.var(axis=0))

    def _held(self, X: Any) -> np.ndarray:
        refuse_foreign(X)
        return check_columns(self, X)

    def _rows(self, X: Any, sample_weight: Any, *, reset: bool, least: int | None = None) -> Rows:
        refuse_foreign(X)
        rows = check_rows(self, X, None, sample_weight, reset=reset)
        wanted = (self.n_clusters if reset else 1) if least is None else least
        if rows.n_rows is not None and rows.n_rows < wanted:
            raise ValueError(f"X has n_samples={rows.n_rows}, fewer than n_clusters={self.n_clusters}")
        return rows


_COLUMNS = ("n_features_in_", "feature_names_in_")


def _nearest(x: np.ndarray, frame: Frame, centers: np.ndarray) -> np.ndarray:
    """Return the nearest centre of each row, also where squared distances overflow."""
    labels = assign(x, None, frame.shift, frame.scale, centers).labels
    if max(float(np.max(x)), -float(np.min(x))) * frame.scale < FAR:
        return labels
    step = x - frame.shift
    size = np.max(np.abs(step), axis=1)
    far = size > FAR / frame.scale
    if np.any(far):
        # |c|² - 2 c·x, over the size of x.
        unit = size[far, None]
        scores = np.sum(centers * centers, axis=1) / (unit * frame.scale) - 2.0 * step[far] / unit @ centers.T
        labels[far] = np.argmin(scores, axis=1)
    return labels


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
