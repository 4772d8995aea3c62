"""Counts of categories, and totals of columns of counts."""

from typing import Any, ClassVar

import numpy as np

from tractable.arrays.grouping import weighted_counts
from tractable.arrays.linalg import product
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.statistics.rows import Statistic, as_weights, as_whole_numbers, counts
from tractable.value import value


@value
class Counts(Statistic):
    """Weighted counts of K categories: everything a categorical distribution needs to know about labels.

    Labels are the numbers 0, …, K - 1. Several columns are counted side by side. Where K is not given it is
    one more than the largest label seen; statistics with different K merge: a category not seen has count 0.

    Parameters
    ----------
    counts : array of shape (..., K)
        One axis of counts for each column of labels.

    Examples
    --------
    >>> a, b = Counts.of([0, 2, 2]), Counts.of([1], weights=[0.5])
    >>> (a + b).counts.tolist()
    [1.0, 0.5, 2.0]
    """

    _extensive: ClassVar = ("counts",)

    counts: Array

    @classmethod
    def of(cls, x: Any, weights: Any = None, *, n_classes: int | None = None) -> "Counts":
        """Summarise a block of labels.

        Parameters
        ----------
        x : array (n,) or (n, ...)
            Labels, whole numbers from 0 on.
        weights : array (n,), optional
            How often each counts.
        n_classes : int, optional
            Number of labels; one that is not below it is an error.
        """
        x = as_whole_numbers(x)
        w = as_weights(weights, x)
        xp = namespace_of(x)
        n_seen = _n_seen(x, w)
        if n_classes is not None and n_seen > n_classes:
            raise ValueError(f"X has the label {n_seen - 1}, not below n_classes={n_classes}")
        k = n_seen if n_classes is None else n_classes
        columns = tuple(x.shape[1:])
        width = int(np.prod(columns))
        rows = xp.reshape(x, (x.shape[0], width))
        # A row of weight zero may have a label beyond K; it adds 0 to any cell.
        rows = xp.where(rows < k, rows, xp.zeros_like(rows))
        cells = xp.astype(rows, xp.int64) + k * xp.arange(width, dtype=xp.int64, device=device(x))
        one = xp.broadcast_to(counts(w, x)[:, None], (x.shape[0], width))
        if not k:
            return cls(counts=xp.zeros((*columns, 0), dtype=xp.float64, device=device(x)))
        found = weighted_counts(xp.reshape(cells, (-1,)), xp.reshape(one, (-1,)), width * k)
        return cls(counts=xp.reshape(found, (*columns, k)))

    @property
    def n_classes(self) -> int:
        """Number of categories K."""
        return int(self.counts.shape[-1])

    @property
    def dim(self) -> int:
        """Number of columns of labels."""
        return int(np.prod(self.counts.shape[:-1]))

    @property
    def weight(self) -> Array:
        """Weight of the rows, the sum of the counts of a column."""
        return namespace_of(self.counts).sum(self.counts, axis=-1)

    def padded(self, n_classes: int) -> "Counts":
        """Return the same counts of at least `n_classes` categories; the new ones were never seen."""
        xp = namespace_of(self.counts)
        if n_classes <= self.n_classes:
            return self
        shape = (*self.counts.shape[:-1], n_classes - self.n_classes)
        none = xp.zeros(shape, dtype=self.counts.dtype, device=device(self.counts))
        return Counts(counts=xp.concat([self.counts, none], axis=-1))

    def _merged(self, other: "Counts") -> "Counts":
        """Merge: counts add up."""
        if self.counts.shape[:-1] != other.counts.shape[:-1]:
            raise ValueError(
                f"cannot merge counts of columns {tuple(self.counts.shape[:-1])} "
                f"and of columns {tuple(other.counts.shape[:-1])}"
            )
        return Counts(counts=self.padded(other.n_classes).counts + other.padded(self.n_classes).counts)


def _n_seen(x: Array, weights: Array | None) -> int:
    """Return one more than the largest label of positive weight."""
    xp = namespace_of(x)
    if weights is not None:
        heavy = xp.reshape(weights > 0, (-1,) + (1,) * (x.ndim - 1))
        x = xp.where(heavy, x, xp.full_like(x, -1.0))
    largest = xp.max(x) if int(np.prod(x.shape)) else -1.0
    if largest >= 2**31:
        raise ValueError(f"X has the label {int(largest)}; labels are the numbers 0, …, K - 1")
    return int(largest) + 1


@value
class Totals(Statistic):
    """Weight of the rows and weighted sum of each column of counts.

    Everything that Bernoulli, binomial, multinomial and Poisson distributions need to know about the data.

    Parameters
    ----------
    weight : float, or array of shape (...)
        Total weight of the rows; the number of rows where none were given. Of rows with missing entries, the
        weight of the observed entries of each column; of several groups of rows, of each.
    total : array of shape (...)
        Sum of ``w x``, one for each column.

    Examples
    --------
    >>> s = Totals.of([[3, 0], [1, 4]]) + Totals.of([[2, 2]], weights=[10.0])
    >>> float(s.weight), s.total.tolist()
    (12.0, [24.0, 24.0])
    """

    _extensive: ClassVar = ("weight", "total")

    weight: Any
    total: Array

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "Totals":
        """Summarise a block of counts, (n,) or (n, ...): whole numbers from 0 on."""
        x = as_whole_numbers(x)
        one = counts(as_weights(weights, x), x)
        xp = namespace_of(x)
        rows = xp.reshape(x, (x.shape[0], int(np.prod(x.shape[1:]))))
        return cls(weight=xp.sum(one), total=xp.reshape(product(one, rows), tuple(x.shape[1:])))

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(np.prod(self.total.shape))

    @property
    def mean(self) -> Array:
        """Mean of each column; there must be rows."""
        if not float(self.weight) > 0.0:
            raise ValueError("a mean needs rows of positive weight, and there are none")
        return self.total / self.weight

    def _merged(self, other: "Totals") -> "Totals":
        """Merge: weights and sums add up."""
        if self.total.shape != other.total.shape:
            raise ValueError(
                f"cannot merge totals of columns {tuple(self.total.shape)} "
                f"and of columns {tuple(other.total.shape)}"
            )
        return Totals(weight=self.weight + other.weight, total=self.total + other.total)
