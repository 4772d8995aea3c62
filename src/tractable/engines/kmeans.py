"""K-means: seeding, Lloyd's two steps as expectation-maximisation, and the search for the best clusters.

The E-step gives every row to its nearest centre (:class:`AssignStep`); for rows in memory, bounds on
distances (Hamerly 2010) decide most rows without computing any (:class:`BoundedAssignStep`). The M-step moves
every centre to the mean of its rows (:meth:`KMeansProblem.maximize`). The objective J = Σ_k Σ_i r_ik
|x_i - μ_k|² never rises.

Mini-batches take the same two steps for one batch after another, each centre the running mean of the rows it
has been given (:class:`OnlineCenters`). Such a step changes the parameters after every batch and J may rise,
so these passes are a loop of their own (:meth:`KMeansProblem.run_batches`) and not a fold inside `em`.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.devices import beside, beside_rows, on_host, pass_over
from tractable.arrays.namespace import is_foreign_array, is_sparse, namespace_of
from tractable.arrays.random import row_uniforms
from tractable.data import Batch, Source, SparseSource, as_source, draw_rows, sample_rows
from tractable.data.row_sample import lexicographic_order
from tractable.engines.checkpoint import fingerprint
from tractable.engines.em import EMProblem, EMResult, best_of, em
from tractable.engines.fold import fold
from tractable.primitives.kmeans import (
    assign,
    cluster_sums,
    kmeans_plus_plus,
    n_trials,
    nearest_centers,
    reassign,
)
from tractable.primitives.sparse_rows import sparse_squared_distances
from tractable.statistics import DiagonalMoments, Standardizer
from tractable.statistics.rows import counts
from tractable.value import replace, value

#: Rows of a block; the same whatever the number of threads.
BLOCK = 16_384

#: The square of a step that rounding can make.
ROUNDING = 1e-27

#: Most times that a pass of drawn batches goes over the rows, whatever their weights.
MOST_PASSES = 10

#: Seeds of a stream are chosen among so many rows, or so many a cluster.
SEEDING_ROWS, SEEDING_ROWS_A_CLUSTER = 20_000, 50

#: Rounds of k-means||, and how many candidates a cluster each adds on average.
ROUNDS, OVERSAMPLING = 5, 2.0

#: Initial responsibilities of a mixture look at so many rows at most; all take part in the search.
INITIAL_ROWS = 16_384

#: How the responsibilities of a mixture can be initialised.
INIT_PARAMS = ("kmeans", "k-means++", "random", "random_from_data")

#: Standardized entries that are smaller are taken for zero: their squares would underflow.
NEGLIGIBLE = 1e-100


@value
class Clusters:
    """The statistic of one assignment: sums and weights of the rows of each centre; merged with ``+``."""

    sums: np.ndarray  # (K, d), Σ w z of the rows of each centre
    counts: np.ndarray  # (K,), Σ w of the rows of each centre
    inertia: float  # J = Σ w |z - c|², each row to its own centre
    centers: np.ndarray  # (K, d), the centres that rows were given to
    standardizer: Standardizer  # the scale in which all of these are measured, one for all columns

    @property
    def objective(self) -> float:
        """What EM raises: -J."""
        return -self.inertia

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(self.sums.shape[1])

    @property
    def clusters(self) -> "Clusters":
        """The statistic itself; see `Reassigned.clusters`."""
        return self

    @cached_property
    def means(self) -> np.ndarray:
        """μ_k = Σ w z / Σ w of the rows of each centre, (K, d); a centre without rows stays."""
        if np.all(self.counts > 0.0):
            return self.sums / self.counts[:, None]
        held = self.counts > 0.0
        safe = np.where(held, self.counts, 1.0)
        return np.where(held[:, None], self.sums / safe[:, None], self.centers)

    def __add__(self, other: "Clusters") -> "Clusters":
        if not isinstance(other, Clusters):
            return NotImplemented
        if self.centers is not other.centers and not np.array_equal(self.centers, other.centers):
            raise ValueError("cannot merge the statistics of different centres")
        return replace(
            self,
            sums=self.sums + other.sums,
            counts=self.counts + other.counts,
            inertia=self.inertia + other.inertia,
        )


@value
class Reassigned:
    """Changes of an assignment's statistic after centres moved and rows were reassigned; these add."""

    sums: np.ndarray
    counts: np.ndarray
    gain: float  # by how much J falls as rows change their centre
    centers: np.ndarray
    before: Clusters

    @property
    def objective(self) -> float:
        """What EM raises: -J."""
        return -self.clusters.inertia

    @cached_property
    def clusters(self) -> Clusters:
        """The statistic of the new assignment."""
        before, means = self.before, self.before.means
        # With the rows of before, J changes by Σ_k n_k (|m_k - c_k|² - |m_k - c_k, before|²).
        moved = np.sum((means - self.centers) ** 2 - (means - before.centers) ** 2, axis=1)
        return Clusters(
            sums=before.sums + self.sums,
            counts=before.counts + self.counts,
            inertia=before.inertia + float(before.counts @ moved) - self.gain,
            centers=self.centers,
            standardizer=before.standardizer,
        )

    def __add__(self, other: "Reassigned") -> "Reassigned":
        return Reassigned(
            sums=self.sums + other.sums,
            counts=self.counts + other.counts,
            gain=self.gain + other.gain,
            centers=self.centers,
            before=self.before,
        )


@value
class Centers:
    """The parameters of k-means: centres of clusters, (K, d), in standardized columns."""

    centers: np.ndarray
    before: Clusters | None = None  # the statistic of the assignment before the last M-step


@value
class OnlineCenters(Centers):
    """Centres that follow batches, and the weight of the rows that each has been given."""

    counts: np.ndarray  # (K,)
    standardizer: Standardizer
    n_steps: int = 0

    def after(self, batch: Batch) -> "OnlineCenters":
        """Return the centres after a batch: its rows go to the nearest, and each moves to its running mean.

        μ_k ← (n_k μ_k + Σ w x) / (n_k + Σ w) (MacQueen 1967; Sculley 2010). A centre that has never been
        given a row moves to the row of the batch that is farthest from the others.
        """
        if not batch.n_rows:
            return self
        source = _held_rows(batch.X, batch.weights)
        problem = KMeansProblem(source, self.standardizer, n_clusters=len(self.centers), bounds=False)
        found = source.reduce(problem.expect(self))
        counts = self.counts + found.counts
        merged = replace(found, sums=self.counts[:, None] * self.centers + found.sums, counts=counts)
        centers = problem.maximize(merged).centers
        return replace(self, centers=centers, counts=counts, n_steps=self.n_steps + 1)

    def after_draws(self, rows: Batch, size: int, rng: np.random.Generator) -> "OnlineCenters":
        """Return the centres after as many batches of `size` rows, drawn by weight, as make one pass.

        A row of weight two is two rows, up to `MOST_PASSES` times the rows: weights of a million cost no
        more.
        """
        x, weights, state = rows.X, on_host(rows.weights), self
        n = x.shape[0]
        total = n if weights is None else min(float(np.sum(weights)), MOST_PASSES * n)
        for _ in range(math.ceil(total / size)):
            state = state.after(Batch(X=_taken(x, _drawn_rows(weights, x.shape[0], size, rng))))
        return state


@value
class AssignStep:
    """The E-step: r_ik = 1 for k = argmin_k |z_i - c_k|², the first of equals."""

    centers: np.ndarray
    standardizer: Standardizer

    def block_rows(self, n_columns: int) -> int:
        """Return how many rows a block should have."""
        return BLOCK

    def __call__(self, block: Any) -> Clusters:
        given = block.X, block.weights, *_scaling(self.standardizer), self.centers
        found = pass_over(block.X, _assigned, *given) if is_foreign_array(block.X) else _assigned(*given)
        return _clusters(self, *found)


def _assigned(*given: Any) -> tuple[Any, Any, Any]:
    found = assign(*given)
    return found.sums, found.counts, found.cost


class BoundedRows:
    """Rows in memory with their labels and bounds on distances, twelve bytes a row.

    They are a cache: true of the centres `known`, computed anew for any others, and without influence on the
    result.
    """

    def __init__(self, block: Batch) -> None:
        self.X, self.weights = block.X, block.weights
        n = block.n_rows
        self.labels = np.empty(n, np.int32)
        self.bounds = np.empty(n, np.float32), np.empty(n, np.float32)
        self.known: np.ndarray | None = None

    def reassign(self, centers: np.ndarray, before: np.ndarray | None, standardizer: Standardizer) -> Any:
        """Update labels and bounds, true of `before`; return changes of sums, counts, cost and gain."""
        self.known = None  # until the pass is through, should it be interrupted
        given = self.X, self.weights, *_scaling(standardizer), centers, before
        found = reassign(*given, self.labels, self.bounds)
        self.known = centers
        return found[:4]

    def assign_to(self, centers: np.ndarray, standardizer: Standardizer) -> Any:
        """Label all rows anew; return sums, counts and cost as changes from nothing."""
        self.labels[:] = -1
        return self.reassign(centers, None, standardizer)

    def is_of(self, centers: np.ndarray) -> bool:
        """Whether labels and bounds are true of these centres."""
        return self.known is not None and (self.known is centers or np.array_equal(self.known, centers))


@value
class BoundedAssignStep(AssignStep):
    """The E-step over `BoundedRows`, from the labels and bounds of the centres before.

    The sums depend on the parameters alone, to the last digit: where a block has no labels of the centres
    before (a search that is resumed), they are found first.
    """

    before: Clusters | None
    known: np.ndarray | None  # the centres that bounds are true of

    def __call__(self, block: BoundedRows) -> Any:
        if self.before is None:
            sums, counts, cost, _ = block.assign_to(self.centers, self.standardizer)
            return _clusters(self, sums, counts, cost)
        if not block.is_of(self.before.centers):
            block.assign_to(self.before.centers, self.standardizer)
        sums, counts, _, gain = block.reassign(self.centers, self.known, self.standardizer)
        if block.weights is not None:  # differences of weights would gather rounding
            return HeldStep(centers=self.centers, standardizer=self.standardizer)(block)
        return Reassigned(sums=sums, counts=counts, gain=gain, centers=self.centers, before=self.before)


@value
class HeldStep(AssignStep):
    """The statistic of an assignment, summed row by row over `BoundedRows`, which are labelled if needed."""

    def __call__(self, block: BoundedRows) -> Clusters:
        if not block.is_of(self.centers):
            block.assign_to(self.centers, self.standardizer)
        given = block.X, block.weights, *_scaling(self.standardizer), self.centers
        found = cluster_sums(*given, block.labels)
        return _clusters(self, found.sums, found.counts, found.cost)


@value
class Farthest:
    """The row farthest from all centres; of two the farther, and of equals the first."""

    distance: float
    row: np.ndarray

    def __add__(self, other: "Farthest") -> "Farthest":
        return other if other.distance > self.distance else self


@value
class FarthestStep(AssignStep):
    """Find the row of a block that is farthest from all centres."""

    @beside_rows
    def __call__(self, block: Any) -> Farthest:  # type: ignore[override]
        given = *_scaling(self.standardizer), self.centers
        found = cluster_sums(block.X, block.weights, *given, nearest_centers(block.X, *given))
        row = block.X[[found.row]].toarray()[0] if is_sparse(block.X) else block.X[found.row, :]
        return Farthest(distance=found.away, row=self.standardizer.transform(row))


@value
class Candidates:
    """Rows that a round of k-means|| has drawn, standardized; they add."""

    rows: np.ndarray

    def __add__(self, other: "Candidates") -> "Candidates":
        return Candidates(rows=np.concatenate([self.rows, other.rows]))


@value
class DrawStep(AssignStep):
    """Draw every row of a block with a probability of `factor` times its squared distance to the centres.

    A row's random number comes of the seed and of the row itself, so that the draw is the same however the
    rows are cut into blocks and partitions. Equal rows are drawn together, and are one candidate, so that a
    weight counts as so many rows.
    """

    factor: float
    seed: int

    def __call__(self, block: Any) -> Candidates:  # type: ignore[override]
        z = self.standardizer.transform(block.X)
        squares = np.full(len(z), np.inf)
        for center in self.centers:
            squares = np.minimum(squares, np.sum((z - center) ** 2, axis=1))
        drawn = row_uniforms(np.asarray(block.X, dtype=np.float64), self.seed) < self.factor * squares
        return Candidates(rows=z[drawn if block.weights is None else drawn & (block.weights > 0.0)])


class KMeansProblem(EMProblem):
    """The data and the two steps of k-means.

    Parameters
    ----------
    source : Source or None
        None for an M-step alone.
    standardizer : Standardizer
        With one scale for all columns, see `distance_standardizer`.
    variance : float
        Mean variance of the standardized columns, of which `tol` is a fraction.
    n_clusters : int
        Number K of centres.
    init : str, array (K, d) or callable
        Initial centres: a name of `SEEDINGS`, centres, or ``init(X, n_clusters, random_state=rng)``.
    in_order : bool
        Whether seeds are chosen among the rows in memory as they stand. Otherwise they are chosen among rows
        drawn by their hashes, so that neither the order nor the place of the rows matters.
    bounds : bool
        Whether bounds on distances are kept, where rows are in memory.
    tol : float
        The search ends when Σ_k |Δμ_k|² is at most this fraction of the variance.
    """

    def __init__(
        self,
        source: Any,
        standardizer: Standardizer,
        *,
        n_clusters: int,
        variance: float = 1.0,
        init: Any = "k-means++",
        bounds: bool = True,
        tol: float = 1e-4,
        in_order: bool = False,
    ) -> None:
        self.in_order = in_order
        self.source, self.standardizer, self.variance = source, standardizer, variance
        self.n_clusters, self.init, self.tol = n_clusters, init, tol
        self.total = 1.0
        # Bounds are kept for rows on the host: a device measures all distances as fast as it reads them.
        self.bounded = bounds and source is not None and source.in_memory and not source.on_device
        self.data: Any = source
        if source is not None and self.bounded:
            self.data = source.prepare(
                BoundedRows, rows=max(source.n_rows, 1)
            )  # one pass of the core is one block
        self._candidates: Batch | None = None

    def initial(self, rng: np.random.Generator) -> Centers:
        """Return initial centres."""
        width = len(self.standardizer.shift)
        if not isinstance(self.init, str) and not callable(self.init):
            found = _checked_centers(self.init, self.n_clusters, width)
        else:
            # Where all rows are at hand, seeds are chosen among them.
            if self.init == PARALLEL and not (self.source.on_device or isinstance(self.source, SparseSource)):
                candidates = self._oversampled(rng)
            else:
                if self._candidates is None:
                    self._candidates = self._seeding_rows(rng)
                candidates = self._candidates
            x, weights = candidates.X, candidates.weights
            if callable(self.init):
                given = self.init(x, self.n_clusters, random_state=rng)
                found = _checked_centers(given, self.n_clusters, width)
            else:
                found = on_host(_taken(x, SEEDINGS[self.init](x, weights, self.n_clusters, rng)))
                found = found.toarray() if is_sparse(found) else found
        return Centers(centers=np.ascontiguousarray(self.standardizer.transform(found)))

    def expect(self, params: Centers) -> AssignStep:
        """Return the E-step: every row to its nearest centre."""
        common: dict[str, Any] = {"centers": params.centers, "standardizer": self.standardizer}
        if not self.bounded:
            return AssignStep(**common)
        known = None if params.before is None else params.before.centers
        return BoundedAssignStep(before=params.before, known=known, **common)

    def maximize(self, statistic: Clusters | Reassigned) -> Centers:
        """Return the M-step: every centre at the mean of its rows.

        A centre that no row is nearest to moves to the row farthest from all others: J cannot rise, as the
        centre held nothing, and falls in the next step. Where all rows lie on centres, it stays.
        """
        clusters = statistic.clusters
        centers, empty = clusters.means, np.flatnonzero(clusters.counts == 0.0)
        if len(empty) and self.data is not None:
            centers = self._filled(centers.copy(), empty)
        return Centers(centers=centers, before=clusters if self.bounded else None)

    def _filled(self, centers: np.ndarray, empty: np.ndarray) -> np.ndarray:
        """Move centres without rows to the rows that are farthest from all others, one after another."""
        full = np.setdiff1d(np.arange(len(centers)), empty)
        for k in empty:
            step = FarthestStep(centers=np.ascontiguousarray(centers[full]), standardizer=self.standardizer)
            found = self.data.reduce(step)
            if found.distance <= 0.0:
                break
            centers[k] = found.row
            full = np.append(full, k)
        return centers

    def settled(self, before: Centers, after: Centers) -> bool:
        """Whether a step moved the centres by so little that it is the last."""
        step = after.centers - before.centers
        return bool(np.sum(step * step) <= self._least(after))

    def _least(self, params: Centers) -> float:
        # So small a step is rounding, in a scale in which rows are of the size of 1.
        return max(self.tol * self.variance, ROUNDING * params.centers.size)

    def run_em(self, params: Centers, max_iter: int) -> EMResult:
        """Alternate the two steps from initial centres until they settle."""
        steps = self.expect, self.maximize
        return em(*steps, params, self.data, max_iter=max_iter, label="k-means", settled=self.settled)

    def run_batches(self, params: Centers, size: int, max_iter: int, rng: np.random.Generator) -> EMResult:
        """Follow batches of `size` rows until a whole pass moves the centres as little as `settled` asks.

        Batches of rows in memory are drawn by weight, those of a stream come in its order. The result's
        parameters are `OnlineCenters`; its objective, which no step computes, is NaN.
        """
        state = self._online(params, np.zeros(self.n_clusters))
        whole = self.source.collect() if self.source.in_memory else None
        n_iter, settled, interrupted = 0, False, False
        while n_iter < max_iter and not (settled or interrupted):
            before, n_iter = state, n_iter + 1
            try:
                if whole is None:
                    state = self.source.accumulate(OnlineCenters.after, state, rows=size)
                else:
                    state = state.after_draws(whole, size, rng)
                settled = self.settled(before, state)
            except KeyboardInterrupt:
                interrupted = True
        trace = (math.nan,) * (n_iter + 1)
        return EMResult(params=state, trace=trace, converged=settled, interrupted=interrupted)

    def follow(self, params: Centers, counts: np.ndarray, n_steps: int) -> OnlineCenters:
        """Return the centres, which have been given rows of weight `counts`, after the rows of the source.

        All rows in memory are one batch, and those of a stream come as it gives them.
        """
        state = self._online(params, counts, n_steps)
        if self.source.in_memory:
            return state.after(self.source.collect())
        return self.source.accumulate(OnlineCenters.after, state)

    def _online(self, params: Centers, counts: np.ndarray, n_steps: int = 0) -> OnlineCenters:
        given: dict[str, Any] = {"counts": counts, "n_steps": n_steps, "standardizer": self.standardizer}
        return OnlineCenters(centers=params.centers, **given)

    def held(self, params: Centers) -> tuple[np.ndarray | None, Clusters]:
        """Return the labels, where they are stored, and the assignment's statistic, summed row by row."""
        if not self.bounded:
            return None, self.data.reduce(self.expect(params))
        found = self.data.reduce(HeldStep(centers=params.centers, standardizer=self.standardizer))
        return self.labels(params), found

    def labels(self, params: Centers) -> np.ndarray:
        """Return the labels of rows that store them."""
        if not all(block.is_of(params.centers) for block in self.data.stored):
            self.data.reduce(HeldStep(centers=params.centers, standardizer=self.standardizer))
        return np.concatenate([block.labels for block in self.data.stored])

    def _oversampled(self, rng: np.random.Generator) -> Batch:
        """Return candidates for centres by k-means|| (Bahmani et al. 2012), and the weight each stands for.

        From one row drawn at random, every round is one pass: it adds each row with the probability
        2 K d² / φ, d its distance to the nearest candidate and φ the sum of their squares. Last, a candidate
        weighs as much as the rows that are nearest to it.
        """
        first, _ = sample_rows(self.source, None, 1, rng.spawn(1)[0])
        centers = self.standardizer.transform(first)
        cost = self.source.reduce(AssignStep(centers=centers, standardizer=self.standardizer)).inertia
        for seed in rng.integers(2**63, size=ROUNDS):
            if cost <= 0.0:
                break
            factor = OVERSAMPLING * self.n_clusters / cost
            step = DrawStep(centers=centers, standardizer=self.standardizer, factor=factor, seed=int(seed))
            drawn = self.source.beside_model(None).reduce(step)  # of rows on the host
            centers = np.concatenate([centers, drawn.rows[lexicographic_order(drawn.rows)[0]]])
            found = self.source.reduce(AssignStep(centers=centers, standardizer=self.standardizer))
            cost = found.inertia
        found = self.source.reduce(AssignStep(centers=centers, standardizer=self.standardizer))
        held = found.counts > 0.0
        x, weights = self.standardizer.inverse_transform(centers[held]), found.counts[held]
        if len(x) < self.n_clusters:  # few distinct rows
            return self._seeding_rows(rng)
        return Batch(X=x, weights=weights)

    def _seeding_rows(self, rng: np.random.Generator) -> Batch:
        assert self.source is not None
        if self.source.in_memory and (self.in_order or callable(self.init)):
            return self.source.collect()
        most = max(SEEDING_ROWS, SEEDING_ROWS_A_CLUSTER * self.n_clusters)
        drawn = draw_rows(self.source, most, rng.spawn(1)[0])
        if drawn.n_counted < self.n_clusters:
            count = drawn.n_counted
            raise ValueError(f"X has n_samples={count} that count, fewer than n_clusters={self.n_clusters}")
        return Batch(X=drawn.rows, weights=None if np.all(drawn.weights == 1.0) else drawn.weights)


@value
class KMeansFit:
    """Where a search of k-means ended."""

    centers: np.ndarray  # (K, d)
    labels: np.ndarray | None  # (n,), None where rows were streamed
    counts: np.ndarray  # (K,), weight of the rows of each cluster
    inertia: float  # J = Σ w |x - μ|², each row to its own centre
    n_iter: int
    converged: bool


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
        Rows.
    weights : array (n,) or None
        How often each row counts; once where it is None.
    n_clusters : int
        Number K of centres.
    rng : numpy.random.Generator
        Where the randomness of the seeds comes from.
    n_init, max_iter : int
        Number of starts, and most steps of each.
    tol : float
        The search ends when Σ_k |Δμ_k|² is below this fraction of the mean variance of the columns.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> found = kmeans(x, None, 2, np.random.default_rng(0))
    >>> sorted(found.centers[:, 0].tolist()), float(found.inertia)
    ([0.5, 8.5], 1.0)
    """
    source = as_source(x, None, weights)
    standardizer, variance = distance_standardizer(source)
    options: dict[str, Any] = {"variance": variance, "tol": tol, "in_order": True}
    problem = KMeansProblem(source, standardizer, n_clusters=n_clusters, **options)
    found = best_of(lambda _: problem.run_em(problem.initial(rng), max_iter), n_init)
    if found.interrupted:  # half of an initialisation is of no use
        raise KeyboardInterrupt
    labels, held = problem.held(found.params)
    return KMeansFit(
        centers=standardizer.inverse_transform(found.params.centers),
        labels=labels,
        counts=held.counts,
        inertia=held.inertia / standardizer.scale[0] ** 2,
        n_iter=found.n_iter,
        converged=found.converged,
    )


def distance_standardizer(source: Source) -> tuple[Standardizer, float]:
    """Return the scale in which distances are measured, and the mean variance of a column in it.

    One scale for all columns keeps the order of distances; it is a power of two, and the shift is the rounded
    mean, so that whole numbers stay exact.
    """
    moments = fold(DiagonalMoments.of, source)
    total = float(moments.total)
    if not total > 0.0:
        raise ValueError("sample_weight must have a positive entry, all are zero")
    if np.any(moments.weight < moments.total) or not np.all(np.isfinite(moments.mean)):
        raise ValueError("X contains NaN or infinity, which k-means does not accept")
    standardizer = Standardizer.from_moments(moments, common=True, exact=True)
    return standardizer, float(np.mean(moments.scatter * standardizer.scale**2 / total))


def seeded_rows(x: np.ndarray, weights: Any, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return the rows that greedy k-means++ chooses as initial centres."""
    return kmeans_plus_plus(x, weights, n_clusters, rng.random((n_clusters, n_trials(n_clusters))))


def random_rows(x: Any, weights: Any, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows drawn by weight; rows that equal one drawn before are left out while there are others.

    One uniform a draw, so that a row of weight two is drawn as two equal rows are.
    """
    count = on_host(counts(weights, x))
    mass, chosen = count, []
    for u in rng.random(n_clusters):
        mass = mass if mass.any() else count
        total = np.cumsum(mass)
        row = min(int(np.searchsorted(total, u * total[-1], side="right")), int(np.flatnonzero(mass)[-1]))
        chosen.append(row)
        if is_sparse(x):
            equal = sparse_squared_distances(x, x[[row]].toarray())[:, 0] == 0.0
        else:
            equal = on_host(namespace_of(x).all(x == x[row, :], axis=1))
        mass = np.where(equal, 0.0, mass)
    return np.asarray(chosen)


#: How initial centres can be chosen among rows; the last by passes that draw more candidates than needed.
PARALLEL = "k-means||"
SEEDINGS = {"k-means++": seeded_rows, "random": random_rows, PARALLEL: seeded_rows}


def initial_rows(
    source: Any, standardizer: Standardizer, n_components: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return standardized rows to initialise a mixture with, and their weights; missing entries are zero."""
    # A generator of its own: how many rows there are must not change what is drawn later.
    (own,) = rng.spawn(1)
    x, weights = sample_rows(source, None, max(INITIAL_ROWS, 32 * n_components), own)
    z = standardizer.transform(x)
    return np.where(np.abs(z) >= NEGLIGIBLE, z, 0.0), weights  # of NaN too


def initial_responsibilities(
    how: str, z: np.ndarray, weights: np.ndarray | None, n_components: int, rng: np.random.Generator
) -> np.ndarray:
    """Return initial responsibilities (n, K) of the components of a mixture for rows.

    Parameters
    ----------
    how : {"kmeans", "k-means++", "random_from_data", "random"}
        One for the cluster that k-means finds, or for the nearest of rows that k-means++ or chance chooses;
        or random numbers that sum to one.
    z : array (n, d)
        Standardized rows, see `initial_rows`.
    weights : array (n,) or None
        How often each row counts; once where it is None.
    n_components : int
        Number K of components.
    rng : numpy.random.Generator
        Where randomness comes from.
    """
    if n_components == 1:
        return np.ones((len(z), 1))
    if how == "random":
        draws = rng.standard_exponential((len(z), n_components))
        return draws / draws.sum(axis=1, keepdims=True)
    if how == "kmeans":
        labels = _initial_clusters(z, weights, n_components, rng)
    else:
        draw = seeded_rows if how == "k-means++" else _stratified_rows
        centers = z[draw(z, weights, n_components, rng)]
        labels = np.argmin(np.sum(centers * centers, axis=1) - 2.0 * z @ centers.T, axis=1)
    return np.eye(n_components)[labels]


#: Clusters of searches within `shared_clusters`, by what they depend on.
_FOUND: ContextVar[dict[Any, Any] | None] = ContextVar("clusters", default=None)


@contextmanager
def shared_clusters() -> Iterator[None]:
    """Within it, mixtures that begin at k-means of the same rows, number and random state share one search.

    Examples
    --------
    >>> z, rng = np.array([[0.0], [1.0], [8.0], [9.0]]), np.random.default_rng
    >>> with shared_clusters():
    ...     twice = [initial_responsibilities("kmeans", z, None, 2, rng(0)) for _ in range(2)]
    >>> bool(np.all(twice[0] == twice[1]))
    True
    """
    token = _FOUND.set({})
    try:
        yield
    finally:
        _FOUND.reset(token)


def _initial_clusters(
    z: np.ndarray, weights: np.ndarray | None, n_clusters: int, rng: np.random.Generator
) -> Any:
    """Return the clusters of k-means, (n,), and leave the generator as the search does."""
    found = _FOUND.get()
    if found is None:
        return _standardized_clusters(z, weights, n_clusters, rng)
    key = n_clusters, fingerprint((z, weights, rng.bit_generator.state))
    if key not in found:
        labels = _standardized_clusters(z, weights, n_clusters, rng)
        found[key] = labels, rng.bit_generator.state
    labels, rng.bit_generator.state = found[key]
    return labels


def _standardized_clusters(
    z: np.ndarray, weights: np.ndarray | None, n_clusters: int, rng: np.random.Generator
) -> Any:
    """Return the clusters (n,) of one start of `kmeans`, of rows whose columns have a variance of 1."""
    source = as_source(z, None, weights)
    # Rounding differs from place to place in standardized rows: no hash may be taken of them.
    identity = Standardizer.identity(z.shape[1])
    problem = KMeansProblem(source, identity, n_clusters=n_clusters, in_order=True)
    found = problem.run_em(problem.initial(rng), 100)
    if found.interrupted:
        raise KeyboardInterrupt
    return problem.labels(found.params)


def _stratified_rows(z: np.ndarray, weights: Any, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return one row from each of equal parts of the cumulative weight, so that weights are repetitions."""
    total = np.cumsum(counts(weights, z))
    drawn = (np.arange(n_clusters) + rng.random(n_clusters)) / n_clusters * total[-1]
    return np.minimum(np.searchsorted(total, drawn, side="right"), len(z) - 1)


def _held_rows(x: Any, weights: Any) -> Source:
    if is_sparse(x):
        return SparseSource(X=x, weights=weights, dense=False)
    return as_source(x, None, weights)


def _taken(x: Any, rows: Any) -> Any:
    """Return some rows, in the library and on the device of all."""
    return x[rows] if is_sparse(x) else namespace_of(x).take(x, beside(rows, x), axis=0)


def _drawn_rows(weights: Any, total: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n rows drawn by weight, with replacement, one uniform a row."""
    u = rng.random(n)
    if weights is None:
        return (u * total).astype(np.int64)
    held = np.cumsum(weights)
    found = np.searchsorted(held, u * held[-1], side="right")
    return np.minimum(found, int(np.flatnonzero(weights)[-1]))


def _scaling(standardizer: Standardizer) -> tuple[np.ndarray, float]:
    return standardizer.shift, float(standardizer.scale[0])


def _clusters(step: AssignStep, sums: np.ndarray, counts: np.ndarray, cost: float) -> Clusters:
    of: dict[str, Any] = {"centers": step.centers, "standardizer": step.standardizer}
    return Clusters(sums=sums, counts=counts, inertia=float(cost), **of)


def _checked_centers(given: Any, n_clusters: int, width: int) -> np.ndarray:
    try:
        centers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"init must be centres, as numbers: {error}") from None
    if centers.shape != (n_clusters, width):
        raise ValueError(f"init must have shape ({n_clusters}, {width}), got {centers.shape}")
    if not np.all(np.isfinite(centers)):
        raise ValueError("init contains NaN or infinity")
    return centers
