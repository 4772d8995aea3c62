"""Histograms as distributions: a constant density in each of disjoint bins."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, freeze, namespace_of
from tractable.covariance import other_dims, resolve_dims
from tractable.distributions.beta import Beta
from tractable.distributions.checks import (
    check_coverage,
    check_nonnegative,
    check_positive,
    check_sample_weight,
)
from tractable.distributions.counting import check_same_family, only_where
from tractable.distributions.dirichlet import Dirichlet
from tractable.distributions.distribution import Distribution
from tractable.distributions.histogram_cells import (
    as_axes,
    draw_in_cells,
    find_flat,
    is_axis,
    log_volumes,
    looked_up_cells,
    middles,
)
from tractable.distributions.histogram_moments import HistogramMoments
from tractable.distributions.missing import over_observed
from tractable.distributions.shares import log_or_minus_inf, share_divergence, surprise
from tractable.distributions.vectors import as_names, as_values, split_mapping
from tractable.statistics.bin_counts import BinCounts, Bins
from tractable.value import value

__all__ = ["HistogramDensity"]


@value
class HistogramDensity(HistogramMoments, Distribution):
    """p(x) = n_i / (N V_i) for x in bin i: a density that is constant in each of disjoint bins.

    n_i is the count in bin i, V_i its width (in D columns the volume of a cell of the grid) and N the sum of
    the counts. Bins need not be of one width. A bin holds its lower edge; the last of each column holds its
    upper edge too; beyond the bins the density is 0. With one array of edges it is a distribution of numbers,
    a `UnivariateHistogram`, which has `cdf`, `icdf` and `interval`; with a sequence of arrays one of vectors,
    which has `marginal` and `condition`, and in which a missing entry (NaN) is integrated out.

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

    def __new__(cls, *, edges: Any, counts: Any, names: Any = None) -> "HistogramDensity":  # noqa: ARG004
        """Make a histogram of numbers a `UnivariateHistogram`."""
        from tractable.distributions.univariate_histogram import UnivariateHistogram

        return super().__new__(UnivariateHistogram if cls is HistogramDensity and is_axis(edges) else cls)

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
        object.__setattr__(self, "edges", axes[0] if is_axis(edges) else axes)
        object.__setattr__(self, "counts", freeze(xp.astype(counts, dtype)))
        object.__setattr__(self, "names", as_names(names, d))

    def _parameters(self) -> dict[str, Any]:
        given = {"edges": self.edges, "counts": self.counts}
        return given if self.names is None else {**given, "names": self.names}

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, edges: Any, weighting: str = "plain") -> Self:
        """Return relative frequencies in bins: the maximum likelihood estimate of densities constant in them.

        Parameters
        ----------
        X : array (n,) or (n, d)
            Rows beyond the bins are left out.
        sample_weight : array (n,), optional
            How often each row counts.
        edges : array (b + 1,), or sequence of d such arrays
        weighting : {"plain", "linear"}
            See :class:`tractable.statistics.Bins`.
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
        """See `Distribution.parameter_ndims`."""
        return {"counts": len(self._axes)}

    @property
    def event_shape(self) -> tuple[int, ...]:
        """See `Distribution.event_shape`."""
        return (len(self._axes),)

    @property
    def dim(self) -> int:
        """Number of columns."""
        return len(self._axes)

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

        Parameters
        ----------
        coverage : float
            Probability that the band holds a height; of each by itself, not of all at once.
        pseudocount : float
            c, the prior: 1/2 (Jeffreys), whose bands also hold the truth about so often in repeated samples.

        Returns
        -------
        low, high : arrays (*batch, b_1, …, b_d)
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
        """Return the belief in the probabilities of all cells at once, Dirichlet(n + c), cells in C order."""
        return Dirichlet(concentration=self._flat(self.counts) + pseudocount)

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`; a missing entry (NaN) is integrated out."""
        x = self._event(x)
        xp = namespace_of(x)
        if not bool(xp.any(xp.isnan(x))):
            return self._looked_up(x)
        return over_observed(lambda dims, rows: self.marginal(dims)._looked_up(rows), x, self.batch_shape)  # noqa: SLF001

    def entropy(self) -> Array:
        """See `Distribution.entropy`: -Σ p_i log(p_i / V_i)."""
        xp = namespace_of(self.counts)
        return xp.sum(self._flat(surprise(self.probabilities, self.log_heights)), axis=-1)

    def kl_divergence(self, other: "HistogramDensity") -> Array:
        """See `Distribution.kl_divergence`: Σ p_i log(p_i / q_i), over the same bins."""
        check_same_family(self, other)
        if not Bins(edges=self._axes).same_as(Bins(edges=other._axes)):  # noqa: SLF001
            raise ValueError("other must be a histogram over the same edges")
        (p, log_p), (q, log_q) = ((s, log_or_minus_inf(s)) for s in (self.probabilities, other.probabilities))
        terms = share_divergence(p, log_p, q, log_q)
        return namespace_of(p).sum(terms, axis=tuple(range(-self.dim, 0)))

    def marginal(self, dims: Any) -> "HistogramDensity":
        """Return p(x_dims), in the order given: positions, names or a slice."""
        keep = resolve_dims(dims, self.dim, self.names)
        if not keep:
            raise ValueError("dims must name at least one column")
        summed = self._summed(self.counts, keep)
        return HistogramDensity(
            edges=tuple(self._axes[j] for j in keep), counts=summed, names=self._named(keep)
        )

    def condition(self, dims: Any, values: Any = None) -> "HistogramDensity":
        """Return p(x_rest | x_dims = values): the counts beside the bins that hold the values.

        Parameters
        ----------
        dims : positions, names, a slice, or a mapping of names or positions to values
        values : array (*batch, len(dims))
            What was observed, in bins that hold counts; leading axes become batch axes.
        """
        if isinstance(dims, Mapping):
            dims, values = split_mapping(dims, values, self.mean)
        given = resolve_dims(dims, self.dim, self.names)
        rest = other_dims(given, self.dim)
        if not rest:
            raise ValueError("dims must leave at least one column free")
        values = as_values(values, given, self.mean)
        if not given:
            return self
        xp, axes = namespace_of(self.counts), [self._axes[j] for j in given]
        flat, inside = find_flat([values[..., k] for k in range(len(given))], axes)
        table = self._summed(self.counts, (*given, *rest))
        n_batch = len(self.batch_shape)
        shape = tuple(table.shape[n_batch + len(given) :])
        counts = looked_up_cells(xp.reshape(table, (*self.batch_shape, -1, *shape)), flat, n_batch)
        some = xp.any(counts > 0, axis=tuple(range(-len(rest), 0))) & inside
        if not bool(xp.all(some)):
            raise ValueError("values must lie in bins that hold counts: elsewhere the density is zero")
        return HistogramDensity(
            edges=tuple(self._axes[j] for j in rest), counts=counts, names=self._named(rest)
        )

    def _sample(self, n: int, rng: Any) -> Array:
        return draw_in_cells(n, rng, self.probabilities, self._axes, self.counts)

    def _looked_up(self, x: Array) -> Array:
        return self._density_at([x[..., j] for j in range(self.dim)])

    def _density_at(self, columns: list[Array]) -> Array:
        flat, inside = find_flat(columns, self._axes)
        found = looked_up_cells(self._flat(self.log_heights), flat, len(self.batch_shape))
        missing = namespace_of(found).isnan(columns[0])
        return only_where(inside, found, -np.inf, missing)

    @cached_property
    def _log_volumes(self) -> Array:
        return log_volumes(self._axes)

    def _named(self, dims: Iterable[int]) -> tuple[str, ...] | None:
        return None if self.names is None else tuple(self.names[j] for j in dims)
