"""A statistic for every class of rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from numbers import Integral
from operator import add
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.grouping import weighted_counts
from tractable.arrays.namespace import (
    Array,
    freeze,
    is_foreign_array,
    namespace_of,
    to_numpy,
)
from tractable.arrays.weights import check_weights
from tractable.statistics.moments import Moments
from tractable.statistics.rows import Statistic
from tractable.value import made, set_fields, value

#: Kinds of NumPy's types whose labels may be mixed.
_ALIKE = {"b": "number", "i": "number", "u": "number", "f": "number", "U": "word", "O": "word"}


def label_codes(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels that occur, in order, and the code of each row's label: its position among them.

    Small codes are counted and objects hashed, in linear time; others are sorted. Of labels on a device the
    codes are there, and the labels that occur are NumPy's.
    """
    if is_foreign_array(labels):
        unique = namespace_of(labels).unique_inverse(labels)
        return to_numpy(unique.values), unique.inverse_indices
    if labels.dtype in (np.uint8, np.uint16):
        found = codes_that_occur(labels)
        if not len(found) or found[-1] == len(found) - 1:
            return found, labels
        positions = np.zeros(found[-1] + 1, dtype=labels.dtype)
        positions[found] = np.arange(len(found), dtype=labels.dtype)
        return found, positions[labels]
    if labels.dtype.kind == "O":
        names = sorted(distinct_labels(labels))
        position = {name: k for k, name in enumerate(names)}
        found = np.empty(len(names), dtype=object)
        found[:] = names
        codes = np.fromiter(map(position.__getitem__, labels.tolist()), _code_type(len(names)), len(labels))
        return found, codes
    found, codes = np.unique(labels, return_inverse=True)
    return found, codes.astype(_code_type(len(found)))


#: Codes that are looked at first.
FEW_CODES = 2**12


def codes_that_occur(codes: np.ndarray) -> np.ndarray:
    """Return which whole numbers from 0 occur, in order.

    Where some codes, from all over the rows, already show all that there can be, the others are not counted:
    that takes longer than all else that is done with them under the interpreter's lock.

    Examples
    --------
    >>> codes_that_occur(np.array([2, 0, 2], dtype=np.uint8))
    array([0, 2])
    """
    if len(codes) > FEW_CODES:
        some = np.bincount(codes[:: len(codes) // FEW_CODES], minlength=int(codes.max()) + 1)
        if some.all():
            return np.arange(len(some))
    return np.bincount(codes).nonzero()[0]


def labels_beside(labels: Any, x: Any) -> tuple[np.ndarray | None, Any]:
    """Return labels where rows are; words, which no tensor holds, and after them the code of each row."""
    if not is_foreign_array(x) or is_foreign_array(labels):
        return None, labels
    words, codes = label_codes(np.asarray(labels))
    return words, beside(np.asarray(codes, dtype=np.int64), x)


def distinct_labels(labels: np.ndarray) -> list[Any]:
    """Return the different labels of an array of objects: none is missing, and all are of one kind."""
    try:
        found = list(dict.fromkeys(labels.tolist()))
    except TypeError as error:
        raise ValueError(f"y must be labels, words or whole numbers: {error}") from None
    if any(_is_missing(label) for label in found):
        raise ValueError("y contains NaN or None, which are no labels")
    first = {_kind(label): label for label in reversed(found)}
    if len(first) > 1:
        one, other = list(first.values())[-2:]
        raise ValueError(f"y has labels of two kinds, such as {other!r} and {one!r}")
    return found


def union_of_labels(each: Iterable[np.ndarray]) -> np.ndarray:
    """Return the labels of all arrays, in order; they must be of one kind."""
    some = [labels for labels in each if len(labels)]
    check_one_kind(some)
    return np.unique(np.concatenate(some)) if some else np.zeros(0)


def check_one_kind(each: Sequence[np.ndarray]) -> None:
    """Refuse arrays of which some hold words and some hold numbers: joined, all would be words."""
    some = [labels for labels in each if len(labels)]
    for labels in some[1:]:
        if _family(labels) != _family(some[0]):
            one, other = some[0].ravel()[:1].tolist()[0], labels.ravel()[:1].tolist()[0]
            raise ValueError(f"y has labels of two kinds, such as {one!r} and {other!r}")


def _family(labels: np.ndarray) -> str:
    first = labels.ravel()[0]
    if labels.dtype.kind == "O" and _kind(first) != "word":
        return _kind(first)
    return _ALIKE.get(labels.dtype.kind, labels.dtype.kind)


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "word"
    if isinstance(label, (bool, np.bool_)):
        return "truth value"
    return "number" if isinstance(label, Integral) else type(label).__name__


def _is_missing(label: Any) -> bool:
    """Tell None, NaN, NaT and NA, which is neither equal to itself nor unequal."""
    try:
        return label is None or bool(label != label)  # noqa: PLR0124
    except (TypeError, ValueError):
        return True


def _code_type(n: int) -> Any:
    return np.min_scalar_type(max(n - 1, 0))


@value
class ByClass(Statistic):
    """A statistic of the rows of each class: everything a generative classifier needs to know.

    Merging adds the statistics of equal labels and keeps those of the others, so the classes of a stream need
    not be declared in advance. Rows of weight zero have no class.

    Parameters
    ----------
    labels : array (K,)
        The classes seen, in order.
    parts : tuple of K statistics, or `SideBySide` of K classes
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

    _extensive: ClassVar = ("parts",)

    labels: np.ndarray
    parts: Any
    dim: int

    def __post_init__(self) -> None:
        set_fields(self, labels=freeze(np.asarray(self.labels)))

    @classmethod
    def of(
        cls, x: Any, labels: Any, weights: Any = None, *, of: Callable[..., Any] = Moments.of
    ) -> "ByClass":
        """Summarise a block of rows: ``of(rows, weights=w)`` on the rows of each label.

        Parameters
        ----------
        x, labels, weights : arrays (n, ...), (n,) and (n,)
            Rows, their labels, and how often each counts.
        of : callable
            The statistic of a class. Its class may have ``of_classes(x, codes, n_classes, weights)`` and
            ``of_groups(x, edges, weights)``, which return the `moments` of all classes, of rows as they
            are or of consecutive groups of them, or None where each is to be computed by itself; and
            ``each_of(moments)``, the statistics of a batch.
        """
        xp = namespace_of(x)
        x = xp.asarray(x)
        labels = labels if is_foreign_array(x) else np.asarray(labels)
        n = x.shape[0]
        if tuple(labels.shape) != (n,):
            raise ValueError(f"y must have one label a row, {n}, got shape {tuple(labels.shape)}")
        words, labels = labels_beside(labels, x)
        w = None if weights is None else check_weights(weights, n, like=x)
        if w is not None and not bool(xp.all(w > 0.0)):
            some = xp.nonzero(w > 0.0)[0]
            x, labels, w = (xp.take(each, some, axis=0) for each in (x, labels, w))
        found, codes = label_codes(labels)
        kind: Any = getattr(of, "__self__", None)
        together = hasattr(kind, "each_of")
        moments = kind.of_classes(x, codes, len(found), w) if together else None
        if moments is None:
            order, edges = _grouped(codes, len(found))
            x, w = xp.take(x, order, axis=0), None if w is None else xp.take(w, order, axis=0)
            moments = kind.of_groups(x, edges, w) if together else None
        if moments is None:
            cuts = pairwise(edges.tolist())
            parts = tuple(of(x[a:b, ...], weights=None if w is None else w[a:b]) for a, b in cuts)
        else:
            parts = kind.each_of(moments)
        whole = cls(labels=found if words is None else words[found], parts=parts, dim=int(x.shape[1]))
        return whole._with_moments(moments)

    @classmethod
    def empty(cls, dim: int, n_targets: int = 1) -> "ByClass":
        """Return the statistic of no rows: there are no classes."""
        if n_targets != 1:
            raise ValueError(f"n_targets must be 1: a row has one class, got {n_targets}")
        return cls(labels=np.zeros(0), parts=(), dim=dim)

    @cached_property
    def weight(self) -> np.ndarray:
        """Weight of the rows of each class."""
        if not isinstance(self.parts, tuple):
            return self.parts.total
        known = vars(self).get("moments")
        if known is not None:
            return known.weight
        found = [getattr(part, "total", None) for part in self.parts]
        each = [part.weight if t is None else t for part, t in zip(self.parts, found, strict=True)]
        return freeze(np.array(each, float))

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.weight.sum())

    @cached_property
    def moments(self) -> Moments | None:
        """Moments of all classes as one batch of K; None where there are none of complete rows."""
        each = [getattr(part, "moments", getattr(part, "complete", part)) for part in self.parts]
        if not each or not all(isinstance(part, Moments) for part in each):
            return None
        weight, mean = np.array([float(m.weight) for m in each]), np.array([m.mean for m in each])
        rows = [m.centred_rows for m in each]
        if any(held is None for held in rows):
            return Moments(weight=weight, mean=mean, scatter=np.array([m.scatter for m in each]))
        edges = [0, *accumulate(len(held) for held in rows)]
        return Moments.of_centred_rows(weight, mean, np.concatenate(rows), edges)

    def _with_moments(self, moments: Moments | None) -> "ByClass":
        """Return the same, of which the `moments` are known."""
        if moments is not None:
            vars(self).update(moments=moments)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: not the moments of all, of which the parts are views."""
        return {name: x for name, x in vars(self).items() if name != "moments"}

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over labels and their statistics."""
        return iter(zip(self.labels.tolist(), self.parts, strict=True))

    def _merged(self, other: "ByClass") -> "ByClass":
        """Add the statistics of equal labels, and keep the others."""
        if not (len(self.parts) and len(other.parts)):
            return self if len(self.parts) else other
        if np.array_equal(self.labels, other.labels):
            moments = self._merged_moments(other)
            if moments is not None:
                parts = self.parts[0].each_of(moments)
                return made(ByClass, labels=self.labels, parts=parts, dim=self.dim, moments=moments)
            together = not isinstance(self.parts, tuple)
            parts = self.parts + other.parts if together else tuple(map(add, self.parts, other.parts))
            return ByClass(labels=self.labels, parts=parts, dim=self.dim)
        return self._joined(other)

    def _merged_moments(self, other: "ByClass") -> Moments | None:
        """Return the moments of all classes of both, where they are known as a batch of each."""
        mine, theirs = (vars(each).get("moments") for each in (self, other))
        if mine is None or theirs is None or not all(hasattr(e.parts[0], "each_of") for e in (self, other)):
            return None
        return mine + theirs if mine.centred_rows is None is theirs.centred_rows else None

    def _joined(self, other: "ByClass") -> "ByClass":
        labels = union_of_labels([self.labels, other.labels])
        if not isinstance(self.parts, tuple):
            mine, theirs = (each.among(labels) for each in (self, other))
            return ByClass(labels=labels, parts=mine + theirs, dim=self.dim)
        parts: list[Any] = [None] * len(labels)
        for each in (self, other):
            for k, part in zip(np.searchsorted(labels, each.labels), each.parts, strict=True):
                parts[k] = part if parts[k] is None else parts[k] + part
        return ByClass(labels=labels, parts=tuple(parts), dim=self.dim)

    def among(self, classes: Array) -> Any:
        """Return the `SideBySide` of all of some classes, in order; those that are not here have no rows."""
        if classes is self.labels or np.array_equal(self.labels, classes):
            return self.parts
        return self.parts.placed(np.searchsorted(classes, self.labels), len(classes))

    def named(self, names: Array) -> "ByClass":
        """Return the same for codes 0, 1, … that stand for names."""
        named = ByClass(labels=np.asarray(names)[self.labels.astype(int)], parts=self.parts, dim=self.dim)
        return named._with_moments(vars(self).get("moments"))


def _grouped(codes: Array, n_classes: int) -> tuple[Array, np.ndarray]:
    """Return an order of the rows that brings those of one code together, and its cuts."""
    if is_foreign_array(codes):
        counts = to_numpy(weighted_counts(codes, None, n_classes)).astype(np.int64)
        return namespace_of(codes).argsort(codes, stable=True), np.append(0, np.cumsum(counts))
    edges = np.zeros(n_classes + 1, dtype=np.int64)
    np.bincount(codes, minlength=n_classes).cumsum(out=edges[1:])
    return codes.argsort(kind="stable"), edges  # small codes are sorted by radix, in linear time
