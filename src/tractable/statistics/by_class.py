"""A statistic for every class of rows."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, freeze
from tractable.arrays.weights import check_weights
from tractable.statistics.label_codes import label_codes, union_of_labels
from tractable.statistics.moments import Moments
from tractable.statistics.rows import check_same_width
from tractable.value import value

__all__ = ["ByClass", "grouped_codes"]

#: Under the name that models of one pass know it by.
grouped_codes = label_codes


@value
class ByClass:
    """A statistic of the rows of each class: everything a generative classifier needs to know.

    Labels meet as they come: merging adds the statistics of equal labels and keeps those of the others, so
    that a stream need not say in advance which classes it has. Rows of weight zero have no class.

    Parameters
    ----------
    labels : array (K,)
        The classes seen, in order.
    parts : tuple of K statistics
        What is known of the rows of each.
    dim : int
        Number of columns.

    Examples
    --------
    >>> X, y = np.array([[0.0], [2.0], [5.0]]), np.array(["a", "a", "b"])
    >>> both = ByClass.of(X[:1], y[:1]) + ByClass.of(X[1:], y[1:])
    >>> both.labels.tolist(), both.weight.tolist(), [part.mean.tolist() for part in both.parts]
    (['a', 'b'], [2.0, 1.0], [[1.0], [5.0]])
    """

    labels: np.ndarray
    parts: tuple[Any, ...]
    dim: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", freeze(np.asarray(self.labels)))

    @classmethod
    def of(
        cls, x: Any, labels: Any, weights: Any = None, *, of: Callable[..., Any] = Moments.of
    ) -> "ByClass":
        """Summarise a block of rows: ``of(rows, weights=w)`` on the rows of each label."""
        x, labels = np.asarray(x), np.asarray(labels)
        if labels.shape != x.shape[:1]:
            raise ValueError(f"y must have one label a row, {len(x)}, got shape {labels.shape}")
        w = None if weights is None else check_weights(weights, len(x), like=x)
        if w is not None and not np.all(w > 0.0):
            some = w > 0.0
            x, labels, w = x[some], labels[some], w[some]
        found, order, edges = _grouped(labels)
        x, w = x[order], None if w is None else w[order]
        parts = tuple(of(x[a:b], weights=None if w is None else w[a:b]) for a, b in pairwise(edges))
        return cls(labels=found, parts=parts, dim=int(x.shape[1]))

    @classmethod
    def empty(cls, dim: int, n_targets: int = 1) -> "ByClass":
        """Return the statistic of no rows: there are no classes."""
        if n_targets != 1:
            raise ValueError(f"n_targets must be 1: a row has one class, got {n_targets}")
        return cls(labels=np.zeros(0), parts=(), dim=dim)

    @property
    def weight(self) -> np.ndarray:
        """Weight of the rows of each class."""
        found = [getattr(part, "total", None) for part in self.parts]
        return np.array(
            [part.weight if t is None else t for part, t in zip(self.parts, found, strict=True)], float
        )

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.weight.sum())

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over labels and their statistics."""
        return iter(zip(self.labels.tolist(), self.parts, strict=True))

    def __add__(self, other: "ByClass") -> "ByClass":
        """Add the statistics of equal labels, and keep the others."""
        if not isinstance(other, ByClass):
            return NotImplemented
        check_same_width(self, other)
        if not (len(self.parts) and len(other.parts)):
            return self if len(self.parts) else other
        if np.array_equal(self.labels, other.labels):
            parts = tuple(a + b for a, b in zip(self.parts, other.parts, strict=True))
            return ByClass(labels=self.labels, parts=parts, dim=self.dim)
        return self._joined(other)

    def _joined(self, other: "ByClass") -> "ByClass":
        labels = union_of_labels([self.labels, other.labels])
        parts: list[Any] = [None] * len(labels)
        for each in (self, other):
            for k, part in zip(np.searchsorted(labels, each.labels), each.parts, strict=True):
                parts[k] = part if parts[k] is None else parts[k] + part
        return ByClass(labels=labels, parts=tuple(parts), dim=self.dim)

    def discount(self, rate: float) -> "ByClass":
        """Forget: what is known of each class is believed `rate` times as strongly."""
        return ByClass(
            labels=self.labels, parts=tuple(part.discount(rate) for part in self.parts), dim=self.dim
        )

    def named(self, names: Array) -> "ByClass":
        """Return the same for codes 0, 1, … that stand for names."""
        return ByClass(labels=np.asarray(names)[self.labels.astype(int)], parts=self.parts, dim=self.dim)


def _grouped(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the labels that occur, an order of the rows that brings equal ones together, and its cuts."""
    found, codes = label_codes(labels)
    order = np.argsort(codes, kind="stable")  # of small codes by radix, in linear time
    return found, order, np.append(0, np.cumsum(np.bincount(codes, minlength=len(found))))
