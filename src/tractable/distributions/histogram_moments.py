"""Moments of a histogram: those of its bins, and of points spread evenly within them."""

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.histogram_cells import middles

__all__ = ["HistogramMoments"]


class HistogramMoments:
    """Probabilities of bins and what follows from them; the edges and counts are a histogram's."""

    edges: Any
    counts: Array
    batch_shape: tuple[int, ...]

    @property
    def _axes(self) -> tuple[Array, ...]:
        return self.edges if isinstance(self.edges, tuple) else (self.edges,)

    @property
    def support(self) -> tuple[Array, Array]:
        """See `Distribution.support`: from the first bin that holds counts to the end of the last."""
        low, high = [], []
        for j, axis in enumerate(self._axes):
            xp, held = namespace_of(axis), self._shares(j) > 0
            first = xp.argmax(xp.astype(held, xp.int8), axis=-1)
            last = axis.shape[0] - 1 - xp.argmax(xp.astype(xp.flip(held, axis=-1), xp.int8), axis=-1)
            low.append(self._at(axis, first))
            high.append(self._at(axis, last))
        return self._joined(low), self._joined(high)

    @cached_property
    def probabilities(self) -> Array:
        """Share of each bin, n_i / N, (*batch, b_1, …, b_d)."""
        return self.counts / self._total

    @cached_property
    def mean(self) -> Array:
        """See `Distribution.mean`."""
        return self._joined(self._means)

    @property
    def variance(self) -> Array:
        """See `Distribution.variance`: between the middles of bins, and within bins, width² / 12."""
        return self._joined([self._spread(j) for j in range(len(self._axes))])

    @property
    def covariance(self) -> Array:
        """Covariance of the columns, (*batch, d, d)."""
        xp, d = namespace_of(self.counts), len(self._axes)
        rows = [[self._together(min(i, j), max(i, j)) for j in range(d)] for i in range(d)]
        return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)

    @cached_property
    def _means(self) -> list[Array]:
        xp = namespace_of(self.counts)
        return [xp.sum(self._shares(j) * middles(axis), axis=-1) for j, axis in enumerate(self._axes)]

    def _spread(self, j: int) -> Array:
        xp, axis = namespace_of(self.counts), self._axes[j]
        away, half = self._away(j), 0.5 * axis[1:] - 0.5 * axis[:-1]
        shares = self._shares(j)
        with np.errstate(over="ignore", under="ignore"):
            square = away * away + half * half / 3.0
            # An empty bin adds nothing, even where its square is no number.
            return xp.sum(shares * xp.where(shares > 0, square, xp.zeros_like(square)), axis=-1)

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

    def _shares(self, j: int) -> Array:
        """Return the shares of the bins of one column, (*batch, b_j)."""
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

    def _joined(self, columns: list[Array]) -> Array:
        """Return what is known of each column as one event."""
        return namespace_of(self.counts).stack(columns, axis=-1)

    def _at(self, numbers: Array, places: Array) -> Array:
        """Return the numbers at places, in their shape."""
        xp = namespace_of(numbers)
        return xp.reshape(xp.take(numbers, xp.reshape(places, (-1,))), tuple(places.shape))
