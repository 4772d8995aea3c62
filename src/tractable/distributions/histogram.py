"""Histograms as distributions: a constant density in each of disjoint bins."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce
from math import log, prod
from operator import and_
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, freeze, namespace_of, to_numpy
from tractable.arrays.random import moved
from tractable.distributions import tails
from tractable.distributions.checks import (
    check_coverage,
    check_nonnegative,
    check_positive,
    check_sample_weight,
)
from tractable.distributions.dirichlet import Beta, Dirichlet
from tractable.distributions.discrete.counting import looked_up, only_where
from tractable.distributions.distribution import Univariate, numbers_only
from tractable.distributions.probabilities import divergence_term, entropy_term, log_or_minus_inf
from tractable.distributions.vectors import VectorDistribution, as_names, over_observed
from tractable.primitives.bins import find_cells
from tractable.statistics.bin_counts import BinCounts, Bins, as_edges
from tractable.value import set_fields, value


@value
class HistogramDensity(VectorDistribution):
    """A histogram as a distribution: a constant density in each of disjoint bins.

    p(x) = n_i / (N V_i) for x in bin i: a density that is constant in each of disjoint bins.

    n_i is the count in bin i, V_i its width (in D columns the volume of a cell of the grid) and N the sum of
    the counts. Bins need not be of one width. A bin includes its lower edge, and the last of each column its
    upper edge too; beyond the bins the density is 0. With one array of edges it is a distribution of numbers,
    which has `cdf`, `icdf`, `survival` and `interval`; with a sequence of arrays one of vectors, which has
    `marginal` and `condition`, and in which a missing entry (NaN) is integrated out.

    Parameters
    ----------
    edges : array (b + 1,), or sequence of d such arrays
        Where bins begin and end, increasing; shared by a whole batch.
    counts : array (*batch, b_1, …, b_d)
        How much weight fell into each bin, not negative.
    names : sequence of str, optional
        What the columns are called.

    Examples
    --------
    >>> d = HistogramDensity(edges=[0.0, 1.0, 3.0], counts=[1, 3])
    >>> d.prob([0.5, 1.0, 3.0, 4.0]), float(d.mean), float(d.cdf(2.0))
    (array([0.25 , 0.375, 0.375, 0.   ]), 1.625, 0.625)
    >>> HistogramDensity.fit([0.5, 2.0, 2.5, 1.0], edges=[0.0, 1.0, 3.0]).counts
    array([1., 3.])
    >>> pair = HistogramDensity(edges=([0.0, 1.0, 2.0], [0.0, 5.0, 10.0]), counts=[[1, 1], [0, 2]])
    >>> pair.condition([0], [1.5]).mean
    array([7.5])
    """

    #: What :meth:`fit` does not learn.
    known: ClassVar[tuple[str, ...]] = ("edges",)

    edges: Any
    counts: Array
    names: tuple[str, ...] | None

    def __init__(self, *, edges: Any, counts: Any, names: Iterable[str] | None = None) -> None:
        axes, counts = as_axes(edges), as_reals("counts", counts)
        xp = namespace_of(counts, *axes)
        if any(namespace_of(a) is not xp for a in (counts, *axes)):
            raise ValueError("edges and counts must be arrays of one library")
        shape, d = Bins(edges=axes).shape, len(axes)
        if counts.ndim < d or tuple(counts.shape[counts.ndim - d :]) != shape:
            raise ValueError(
                f"counts must have shape (*batch, {', '.join(map(str, shape))}) as edges say, "
                f"got {tuple(counts.shape)}"
            )
        check_nonnegative("counts", counts)
        if not bool(xp.all(xp.any(counts > 0, axis=tuple(range(-d, 0))))):
            raise ValueError("counts must have a positive entry")
        dtype = xp.result_type(counts, *axes)
        axes = tuple(freeze(xp.astype(a, dtype)) for a in axes)
        set_fields(
            self,
            edges=axes[0] if is_axis(edges) else axes,
            counts=freeze(xp.astype(counts, dtype)),
            names=as_names(names, d),
        )

    def _parameters(self) -> dict[str, Any]:
        given = {"edges": self.edges, "counts": self.counts}
        return given if self.names is None else {**given, "names": self.names}

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, edges: Any, weighting: str = "plain") -> Self:
        """Return relative frequencies in bins: the maximum likelihood estimate of densities constant in them.

        Parameters
        ----------
        X : array (n,) for one array of edges, else (n, d)
            Rows; those beyond the bins are left out.
        sample_weight : array (n,), optional
            How often each row counts.
        edges : array, or one array a column
            Edges of the bins.
        weighting : {"plain", "linear"}
            Whether a row counts in its bin or is shared by two; see :class:`tractable.statistics.Bins`.
        """
        X = as_reals("X", X)
        if X.ndim != (1 if is_axis(edges) else 2):
            raise ValueError(
                f"X must be numbers for one array of edges, else rows; got shape {tuple(X.shape)}"
            )
        weights = check_sample_weight(sample_weight, X.shape[0], X)
        found = Bins(edges=as_axes(edges), weighting=weighting).of(X[:, None] if X.ndim == 1 else X, weights)
        if not found.weight > 0:
            raise ValueError("X must have rows of positive weight within the edges")
        return cls(edges=edges, counts=found.counts)

    @classmethod
    def from_statistic(cls, statistic: BinCounts, *, names: Iterable[str] | None = None) -> Self:
        """Return the estimate of :meth:`fit` from counts, a distribution of vectors."""
        if not statistic.weight > 0:
            raise ValueError("X must have rows of positive weight within the edges")
        return cls(edges=statistic.bins.edges, counts=statistic.counts, names=names)

    @property
    def parameter_ndims(self) -> Mapping[str, int]:  # type: ignore[override]
        return {"counts": len(self._axes)}

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (len(self.edges),) if isinstance(self.edges, tuple) else ()

    @property
    def dim(self) -> int:
        """Number of columns."""
        return len(self._axes)

    @property
    def support(self) -> tuple[Array, Array]:
        """See `Distribution.support`: from the first bin that holds counts to the end of the last."""
        low, high = [], []
        for j, axis in enumerate(self._axes):
            xp, held = namespace_of(axis), self._bin_probabilities(j) > 0
            first = xp.argmax(xp.astype(held, xp.int8), axis=-1)
            last = axis.shape[0] - 1 - xp.argmax(xp.astype(xp.flip(held, axis=-1), xp.int8), axis=-1)
            low.append(self._at(axis, first))
            high.append(self._at(axis, last))
        return self._joined(low), self._joined(high)

    @cached_property
    def probabilities(self) -> Array:
        """Probability of each bin, n_i / N, (*batch, b_1, …, b_d)."""
        return self.counts / self._total

    @cached_property
    def mean(self) -> Array:
        return self._joined(self._means)

    @property
    def variance(self) -> Array:
        """Variance between the middles of bins, and within bins, width² / 12."""
        return self._joined([self._spread(j) for j in range(len(self._axes))])

    @property
    def covariance(self) -> Array:
        """Covariance of the columns, (*batch, d, d)."""
        xp, d = namespace_of(self.counts), len(self._axes)
        rows = [[self._together(min(i, j), max(i, j)) for j in range(d)] for i in range(d)]
        return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: the middle of the first bin of greatest density."""
        xp = namespace_of(self.counts)
        best, columns = xp.argmax(self._flat(self.log_heights), axis=-1), []
        for axis in self._axes[::-1]:
            n = int(axis.shape[0]) - 1
            columns.append(self._at(middles(axis), best % n))
            best = best // n
        return self._joined(columns[::-1])

    @cached_property
    def log_heights(self) -> Array:
        """Log density in each bin, (*batch, b_1, …, b_d); -inf where nothing was counted."""
        return log_or_minus_inf(self.probabilities) - self._log_volumes

    @property
    def heights(self) -> Array:
        """Density in each bin, n_i / (N V_i)."""
        with np.errstate(over="ignore"):
            return namespace_of(self.counts).exp(self.log_heights)

    @property
    def height_variance(self) -> Array:
        """Variance of each height over samples of N: a count is binomial, so p_i (1 - p_i) / (N V_i²)."""
        p, xp = self.probabilities, namespace_of(self.counts)
        with np.errstate(over="ignore"):
            return xp.exp(log_or_minus_inf(p * (1.0 - p) / self._total) - 2.0 * self._log_volumes)

    def height_interval(self, coverage: float = 0.9, *, pseudocount: float = 0.5) -> tuple[Array, Array]:
        """Return a credible band for each height: equal tails of what the counts say of a bin's probability.

        A bin against all others is a coin: given n_i of N its probability is Beta(n_i + c, N - n_i + c). The
        band begins at 0 where nothing was counted, and ends at 1 / V_i where everything was. Counts that were
        shared between bins (linear weighting) have about 2/3 of that variance: bands of 90 % then hold 96 %.

        `coverage` is that of each height by itself, not of all at once; c is the `pseudocount` of the prior,
        1/2 (Jeffreys), whose bands also hold the truth about so often in repeated samples.
        """
        check_coverage(coverage)
        check_positive("pseudocount", as_reals("pseudocount", pseudocount))
        xp, n, rest = namespace_of(self.counts), self.counts, self._total - self.counts
        rest = xp.where(rest > 0, rest, xp.zeros_like(rest))
        low, high = Beta(alpha=n + pseudocount, beta=rest + pseudocount).interval(coverage)
        low = xp.where(n > 0, low, xp.zeros_like(low))
        high = xp.where(rest > 0, high, xp.ones_like(high))
        with np.errstate(over="ignore"):
            return tuple(xp.exp(log_or_minus_inf(end) - self._log_volumes) for end in (low, high))

    def posterior(self, pseudocount: float = 0.5) -> Dirichlet:
        """Return the posterior of the probabilities of all cells, Dirichlet(n + c), cells in C order."""
        return Dirichlet(concentration=self._flat(self.counts) + pseudocount)

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`; a missing entry (NaN) is integrated out."""
        x = self._event(x)
        xp = namespace_of(x)
        if not self.event_shape or not bool(xp.any(xp.isnan(x))):
            return self._density_at(x)
        return over_observed(lambda dims, rows: self.marginal(dims)._density_at(rows), x, self.batch_shape)  # noqa: SLF001

    @numbers_only
    def cdf(self, x: Any) -> Array:
        return self._beyond(x, self._below, 0)

    @numbers_only
    def survival(self, x: Any) -> Array:
        return self._beyond(x, self._above, 1)

    @numbers_only
    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`; at level 0, where the first bin that holds counts begins."""
        q = self._quantile(q)
        xp, n_batch = namespace_of(q), len(self.batch_shape)
        level = xp.where(q > 0, q, xp.full_like(q, xp.finfo(q.dtype).smallest_normal))
        cell = self._first_to_reach(level)
        mass, below = (looked_up(t, cell, n_batch) for t in (self.probabilities, self._below))
        fraction = xp.where(q > 0, q - below, xp.zeros_like(q)) / mass
        fraction = xp.clip(fraction, 0.0, 1.0)
        low, high = self._at(self.edges, cell), self._at(self.edges, cell + 1)
        half = 0.5 * high - 0.5 * low
        # From the nearer edge, so that neither is passed nor missed by rounding.
        return xp.where(fraction < 0.5, low + 2.0 * (fraction * half), high - 2.0 * ((1.0 - fraction) * half))

    log_cdf = numbers_only(tails.log_cdf)
    log_survival = numbers_only(tails.log_survival)
    isf = numbers_only(tails.isf)
    probability_between = numbers_only(Univariate.probability_between)
    interval = numbers_only(Univariate.interval)

    @numbers_only  # type: ignore[prop-decorator]
    @property
    def breaks(self) -> Array:
        """The points at which a density of numbers jumps: the edges."""
        return self.edges

    def entropy(self) -> Array:
        """See `Distribution.entropy`: -Σ p_i log(p_i / V_i)."""
        xp = namespace_of(self.counts)
        return xp.sum(self._flat(entropy_term(self.probabilities, self.log_heights)), axis=-1)

    def _divergence(self, other: "HistogramDensity") -> Array:
        """Return Σ p_i log(p_i / q_i), over the same bins."""
        if not Bins(edges=self._axes).same_as(Bins(edges=other._axes)):  # noqa: SLF001
            raise ValueError("other must be a histogram over the same edges")
        (p, log_p), (q, log_q) = ((s, log_or_minus_inf(s)) for s in (self.probabilities, other.probabilities))
        terms = divergence_term(p, log_p, q, log_q)
        return namespace_of(p).sum(terms, axis=tuple(range(-self.dim, 0)))

    def marginal(self, dims: Any) -> "HistogramDensity":
        """Return p(x_dims), in the order given: positions, names or a slice."""
        self._check_columns(dims)
        keep = self._resolved(dims)
        if not keep:
            raise ValueError("dims must name at least one column")
        summed = self._summed(self.counts, keep)
        return HistogramDensity(
            edges=tuple(self._axes[j] for j in keep), counts=summed, names=self._named(keep)
        )

    def condition(self, dims: Any, values: Any = None) -> "HistogramDensity":
        """Return p(x_rest | x_dims = values): the counts beside the bins that hold the values.

        Arguments as of `MultivariateNormal.condition`; the values lie in bins that hold counts.
        """
        self._check_columns(dims)
        given, rest, values = self._given(dims, values, self.mean)
        if not rest:
            raise ValueError("dims must leave at least one column free")
        if not given:
            return self
        xp, axes = namespace_of(self.counts), [self._axes[j] for j in given]
        flat, inside = find_flat([values[..., k] for k in range(len(given))], axes)
        table = self._summed(self.counts, (*given, *rest))
        n_batch = len(self.batch_shape)
        shape = tuple(table.shape[n_batch + len(given) :])
        counts = looked_up(xp.reshape(table, (*self.batch_shape, -1, *shape)), flat, n_batch)
        some = xp.any(counts > 0, axis=tuple(range(-len(rest), 0))) & inside
        if not bool(xp.all(some)):
            raise ValueError("values must lie in bins that hold counts: elsewhere the density is zero")
        return HistogramDensity(
            edges=tuple(self._axes[j] for j in rest), counts=counts, names=self._named(rest)
        )

    def _sample(self, n: int, rng: Any) -> Array:
        x = draw_in_cells(n, rng, self.probabilities, self._axes, self.counts)
        return x if self.event_shape else x[..., 0]

    def _one_column(self) -> "HistogramDensity":
        return HistogramDensity(edges=self.edges[0], counts=self.counts)

    def _landmarks(self) -> Array:
        return self.edges

    def _check_columns(self, dims: Any) -> None:
        if not self.event_shape:
            raise ValueError(f"dims must name columns, and a histogram of numbers has none; got {dims!r}")

    @property
    def _axes(self) -> tuple[Array, ...]:
        return self.edges if isinstance(self.edges, tuple) else (self.edges,)

    @cached_property
    def _means(self) -> list[Array]:
        xp = namespace_of(self.counts)
        return [
            xp.sum(self._bin_probabilities(j) * middles(axis), axis=-1) for j, axis in enumerate(self._axes)
        ]

    def _spread(self, j: int) -> Array:
        xp, axis = namespace_of(self.counts), self._axes[j]
        away, half = self._away(j), 0.5 * axis[1:] - 0.5 * axis[:-1]
        probabilities = self._bin_probabilities(j)
        with np.errstate(over="ignore", under="ignore"):
            square = away * away + half * half / 3.0
            # An empty bin adds nothing, even where its square is no number.
            return xp.sum(probabilities * xp.where(probabilities > 0, square, xp.zeros_like(square)), axis=-1)

    def _together(self, i: int, j: int) -> Array:
        if i == j:
            return self._spread(i)
        joint = self._summed(self.probabilities, (i, j))
        with np.errstate(over="ignore", under="ignore"):
            return (self._away(i)[..., None, :] @ joint @ self._away(j)[..., :, None])[..., 0, 0]

    def _away(self, j: int) -> Array:
        """Return the middles of a column's bins less its mean, (*batch, b_j)."""
        with np.errstate(over="ignore"):
            return middles(self._axes[j]) - self._means[j][..., None]

    def _bin_probabilities(self, j: int) -> Array:
        """Return the probabilities of the bins of one column, (*batch, b_j)."""
        return self._summed(self.probabilities, (j,))

    def _summed(self, cells: Array, keep: Sequence[int]) -> Array:
        """Return sums over all columns but some, in the order given."""
        xp, d = namespace_of(cells), len(self._axes)
        n = cells.ndim - d
        gone = tuple(n + j for j in range(d) if j not in keep)
        found = xp.sum(cells, axis=gone) if gone else cells
        left = sorted(keep)
        order = (*range(n), *(n + left.index(j) for j in keep))
        return xp.permute_dims(found, order) if list(keep) != left else found

    @cached_property
    def _total(self) -> Array:
        """N, of a shape that the counts can be divided by."""
        axes = tuple(range(-len(self._axes), 0))
        return namespace_of(self.counts).sum(self.counts, axis=axes, keepdims=True)

    def _flat(self, cells: Array) -> Array:
        """Return cells in one row, (*batch, b_1 ⋯ b_d)."""
        xp, shape = namespace_of(cells), tuple(cells.shape)
        n = len(shape) - len(self._axes)
        return xp.reshape(cells, (*shape[:n], prod(shape[n:])))

    def _at(self, numbers: Array, bins: Array) -> Array:
        """Return the numbers of the given bins, in their shape."""
        xp = namespace_of(numbers)
        return xp.reshape(xp.take(numbers, xp.reshape(bins, (-1,))), tuple(bins.shape))

    def _joined(self, columns: list[Array]) -> Array:
        """Return what is known of each column as one event."""
        return namespace_of(self.counts).stack(columns, axis=-1) if self.event_shape else columns[0]

    @cached_property
    def _below(self) -> Array:
        """Probability below each bin, (*batch, b)."""
        xp = namespace_of(self.counts)
        total = xp.cumulative_sum(self.counts, axis=-1) / self._total
        return xp.concat([xp.zeros_like(total[..., :1]), total[..., :-1]], axis=-1)

    @cached_property
    def _above(self) -> Array:
        """Probability above each bin, (*batch, b): summed from the upper end, which keeps its digits."""
        xp = namespace_of(self.counts)
        total = xp.flip(xp.cumulative_sum(xp.flip(self.counts, axis=-1), axis=-1), axis=-1) / self._total
        return xp.concat([total[..., 1:], xp.zeros_like(total[..., :1])], axis=-1)

    def _beyond(self, x: Any, whole: Array, end: int) -> Array:
        """Return the probability below (end 0) or above (end 1) x: of whole bins, and of part of one."""
        x = self._event(x)
        xp, n_batch = namespace_of(x), len(self.batch_shape)
        cell, inside = find_flat([x], (self.edges,))
        here = xp.where(inside, x, xp.zeros_like(x) + self.edges[0])
        low, high = self._at(self.edges, cell), self._at(self.edges, cell + 1)
        gap = 0.5 * here - 0.5 * low if end == 0 else 0.5 * high - 0.5 * here
        part = gap / (0.5 * high - 0.5 * low)
        beside, mass = (looked_up(t, cell, n_batch) for t in (whole, self.probabilities))
        found = beside + part * mass
        past = xp.where((x > self.edges[-1]) == (end == 0), xp.ones_like(found), xp.zeros_like(found))
        found = xp.where(inside, xp.where(found < 1.0, found, xp.ones_like(found)), past)
        return xp.where(xp.isnan(x), xp.full_like(found, xp.nan), found)

    def _first_to_reach(self, level: Array) -> Array:
        """Return the first bin by whose end a level of probability is reached."""
        xp = namespace_of(level)
        ends = xp.cumulative_sum(self.counts, axis=-1)
        ends = ends / ends[..., -1:]
        if self.batch_shape:
            return xp.sum(xp.astype(ends < level[..., None], xp.int64), axis=-1)
        dtype = xp.result_type(ends, level)
        found = xp.searchsorted(
            xp.astype(ends, dtype), xp.astype(xp.reshape(level, (-1,)), dtype), side="left"
        )
        return xp.reshape(xp.astype(found, xp.int64), tuple(level.shape))

    def _density_at(self, x: Array) -> Array:
        columns = [x[..., j] for j in range(self.dim)] if self.event_shape else [x]
        flat, inside = find_flat(columns, self._axes)
        found = looked_up(self._flat(self.log_heights), flat, len(self.batch_shape))
        missing = namespace_of(found).isnan(columns[0])
        return only_where(inside, found, -np.inf, missing)

    @cached_property
    def _log_volumes(self) -> Array:
        return log_volumes(self._axes)


def is_axis(edges: Any) -> bool:
    """Whether edges are those of numbers, one array, rather than an array for each column."""
    first = edges if hasattr(edges, "ndim") else next(iter(edges), 0.0) if np.iterable(edges) else 0.0
    return edges.ndim == 1 if hasattr(edges, "ndim") else np.ndim(to_numpy(first)) == 0


def as_axes(edges: Any) -> tuple[Array, ...]:
    """Return the edges of each column, checked."""
    return tuple(as_edges("edges", axis) for axis in ([edges] if is_axis(edges) else edges))


def middles(axis: Array) -> Array:
    """Return the middle of each bin; where no number lies between its edges, the lower."""
    xp = namespace_of(axis)
    found = 0.5 * axis[:-1] + 0.5 * axis[1:]
    return xp.where(found < axis[1:], found, axis[:-1])


def log_volumes(axes: Sequence[Array]) -> Array:
    """Return the log of the volume of each cell, (b_1, …, b_d): neither tiny nor huge bins leave numbers."""
    xp, d = namespace_of(*axes), len(axes)
    terms = [
        xp.reshape(xp.log(0.5 * axis[1:] - 0.5 * axis[:-1]) + log(2.0), (1,) * j + (-1,) + (1,) * (d - 1 - j))
        for j, axis in enumerate(axes)
    ]
    return reduce(lambda a, b: a + b, terms)


def find_flat(columns: Sequence[Array], axes: Sequence[Array]) -> tuple[Array, Array]:
    """Return the number of the cell that holds each row, in C order, and whether one does."""
    found = [find_cells(x, axis) for x, axis in zip(columns, axes, strict=True)]
    flat = 0
    for (cell, _), axis in zip(found, axes, strict=True):
        flat = flat * (int(axis.shape[0]) - 1) + cell
    return flat, reduce(and_, (inside for _, inside in found))


def draw_in_cells(
    n: int, rng: np.random.Generator, probabilities: Array, axes: Sequence[Array], like: Array
) -> Array:
    """Draw n rows for each of a batch of cell probabilities (*batch, b_1, …, b_d), uniform within cells."""
    d, n_batch = len(axes), probabilities.ndim - len(axes)
    batch, shape = tuple(probabilities.shape[:n_batch]), tuple(probabilities.shape[n_batch:])
    table = to_numpy(probabilities).astype(np.float64).reshape((prod(batch), prod(shape)))
    levels, within = rng.random((n, len(table))), rng.random((n, len(table), d))
    cells = np.empty((n, len(table)), dtype=np.int64)
    for k, p in enumerate(table):
        below = np.cumsum(p)
        cells[:, k] = np.searchsorted(below / below[-1], levels[:, k], side="right")
    out = np.empty((n, len(table), d), dtype=to_numpy(axes[0]).dtype)
    for j in range(d)[::-1]:
        cells, cell = np.divmod(cells, shape[j])
        out[..., j] = _between(to_numpy(axes[j]), cell, within[..., j])
    return moved(out.reshape((n, *batch, d)), like)


def _between(axis: np.ndarray, cell: np.ndarray, fraction: np.ndarray) -> np.ndarray:
    """Return points of bins; never their upper edge, which is the next bin's."""
    low, high = axis[cell], axis[cell + 1]
    x = (low + 2.0 * (fraction * (0.5 * high - 0.5 * low))).astype(axis.dtype)
    return np.minimum(x, np.nextafter(high, low))
