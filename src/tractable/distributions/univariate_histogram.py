"""Histograms of numbers."""

from functools import cached_property
from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.histogram import HistogramDensity
from tractable.distributions.histogram_cells import draw_in_cells, find_flat, looked_up_cells
from tractable.distributions.univariate import Univariate

__all__ = ["UnivariateHistogram"]


class UnivariateHistogram(HistogramDensity, Univariate):
    """A histogram of numbers: what :class:`HistogramDensity` makes of one array of edges.

    Examples
    --------
    >>> d = UnivariateHistogram(edges=[0.0, 1.0, 3.0], counts=[1, 3])
    >>> d.cdf([0.5, 1.0, 2.0]), d.icdf([0.125, 0.25, 1.0])
    (array([0.125, 0.25 , 0.625]), array([0.5, 1. , 3. ]))
    """

    @property
    def event_shape(self) -> tuple[int, ...]:
        """See `Distribution.event_shape`."""
        return ()

    @property
    def breaks(self) -> Array:
        """Where the density jumps: the edges."""
        return self.edges

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`."""
        return self._density_at([self._event(x)])

    def cdf(self, x: Any) -> Array:
        """See `Univariate.cdf`."""
        return self._beyond(x, self._below, 0)

    def survival(self, x: Any) -> Array:
        """See `Univariate.survival`: all its digits near the upper end."""
        return self._beyond(x, self._above, 1)

    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`; at level 0, where the first bin that holds counts begins."""
        q = self._quantile(q)
        xp, n_batch = namespace_of(q), len(self.batch_shape)
        level = xp.where(q > 0, q, xp.full_like(q, xp.finfo(q.dtype).smallest_normal))
        place = self._first_to_reach(level)
        mass, below = (looked_up_cells(t, place, n_batch) for t in (self.probabilities, self._below))
        share = xp.where(q > 0, q - below, xp.zeros_like(q)) / mass
        share = xp.clip(share, 0.0, 1.0)
        low, high = self._at(self.edges, place), self._at(self.edges, place + 1)
        half = 0.5 * high - 0.5 * low
        # From the nearer edge, so that neither is passed nor missed by rounding.
        return xp.where(share < 0.5, low + 2.0 * (share * half), high - 2.0 * ((1.0 - share) * half))

    def marginal(self, dims: Any) -> HistogramDensity:
        """Refuse: a number has no columns."""
        raise ValueError(f"dims must name columns, and a histogram of numbers has none; got {dims!r}")

    def condition(self, dims: Any, values: Any = None) -> HistogramDensity:
        """Refuse: a number has no columns."""
        raise ValueError(
            f"dims must name columns, and a histogram of numbers has none; got {dims!r}, {values!r}"
        )

    def _landmarks(self) -> Array:
        return self.edges

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
        place, inside = find_flat([x], (self.edges,))
        here = xp.where(inside, x, xp.zeros_like(x) + self.edges[0])
        low, high = self._at(self.edges, place), self._at(self.edges, place + 1)
        gap = 0.5 * here - 0.5 * low if end == 0 else 0.5 * high - 0.5 * here
        part = gap / (0.5 * high - 0.5 * low)
        beside, mass = (looked_up_cells(t, place, n_batch) for t in (whole, self.probabilities))
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

    def _joined(self, columns: list[Array]) -> Array:
        return columns[0]

    def _sample(self, n: int, rng: Any) -> Array:
        return draw_in_cells(n, rng, self.probabilities, self._axes, self.counts)[..., 0]
