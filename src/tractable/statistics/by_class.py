"""A statistic for every class of rows."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, freeze
from tractable.arrays.weights import check_weights
from tractable.statistics.moments import Moments
from tractable.statistics.rows import check_same_width
from tractable.value import value

__all__ = ["ByClass", "grouped_codes"]


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
        labels = _together(self.labels, other.labels)
        mine, theirs = dict(self), dict(other)
        parts = tuple(
            mine[k] + theirs[k] if k in mine and k in theirs else mine.get(k, theirs.get(k))
            for k in labels.tolist()
        )
        return ByClass(labels=labels, parts=parts, dim=self.dim)

    def discount(self, rate: float) -> "ByClass":
        """Forget: what is known of each class is believed `rate` times as strongly."""
        return ByClass(
            labels=self.labels, parts=tuple(part.discount(rate) for part in self.parts), dim=self.dim
        )

    def named(self, names: Array) -> "ByClass":
        """Return the same for codes 0, 1, … that stand for names."""
        return ByClass(labels=np.asarray(names)[self.labels.astype(int)], parts=self.parts, dim=self.dim)


def grouped_codes(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels that occur, in order, and the code of each row's: its place among them."""
    if labels.dtype in (np.uint8, np.uint16):
        counts = np.bincount(labels)
        found = np.nonzero(counts)[0]
        places = np.zeros(len(counts), dtype=labels.dtype)
        places[found] = np.arange(len(found), dtype=labels.dtype)
        return found, labels if len(found) == len(counts) else places[labels]
    found, codes = np.unique(labels, return_inverse=True)
    return found, codes


def _grouped(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the labels that occur, an order of the rows that brings equal ones together, and its cuts."""
    if labels.dtype in (np.uint8, np.uint16):  # codes: sorted by radix, in linear time
        counts = np.bincount(labels)
        found = np.nonzero(counts)[0]
        return found, np.argsort(labels, kind="stable"), np.append(0, np.cumsum(counts[found]))
    found, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return found, np.argsort(codes, kind="stable"), np.append(0, np.cumsum(counts))


def _together(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the labels of both, in order."""
    if (a.dtype.kind in "biuf") != (b.dtype.kind in "biuf"):
        raise ValueError(f"y has labels of two kinds, such as {a[0]!r} and {b[0]!r}")
    return np.union1d(a, b)
