"""Codings of class labels as numbers, and their inverses."""

from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, freeze, namespace_of
from tractable.value import set_fields, value

#: The code of the first class, and how far apart codes are.
_LINES = {"index": (0, 1), "binary": (0.0, 1.0), "sign": (-1.0, 2.0), "rank": (1, 1)}
_CODINGS = (*_LINES, "one_hot")


@value
class LabelCoding:
    """The classes among labels, and their codes: 0/1, -1/+1, 0 to K - 1, 1 to K, or one of K.

    ======== ======================= =============================================
    coding   codes                   used by
    ======== ======================= =============================================
    index    0, …, K - 1             counts, trees, tables
    binary   0, 1                    Bernoulli likelihoods, logistic regression
    sign     -1, +1                  margins, perceptron, Gaussian process labels
    one_hot  one-of-K vectors        categorical likelihoods, least squares
    rank     1, …, K                 textbooks; it implies distances between classes
    ======== ======================= =============================================

    Parameters
    ----------
    classes : array (K,)
        The distinct labels, in the order of their codes: hashable things of any kind.

    Examples
    --------
    >>> coding = LabelCoding.of(["spam", "ham", "spam"])
    >>> coding.classes.tolist()
    ['ham', 'spam']
    >>> coding.encode(["spam", "ham"], "sign"), coding.encode(["spam", "ham"], "one_hot").tolist()
    (array([ 1., -1.]), [[0.0, 1.0], [1.0, 0.0]])
    >>> coding.decode([-1, 1, 1], "sign").tolist()
    ['ham', 'spam', 'spam']
    """

    classes: np.ndarray

    def __post_init__(self) -> None:
        classes = _as_labels("classes", self.classes)
        if not len(classes):
            raise ValueError("classes must have at least one label")
        if len(set(classes.tolist())) < len(classes):
            raise ValueError(f"classes must be distinct, got {classes.tolist()!r}")
        set_fields(self, classes=freeze(classes))

    @classmethod
    def of(cls, y: Any) -> "LabelCoding":
        """Return the coding of the classes among labels, in sorted order.

        Labels that do not compare, such as strings and numbers, are sorted by the names of their types first.
        """
        y = _as_labels("y", y)
        if not len(y):
            raise ValueError("y must have at least one label")
        if y.dtype.kind != "O":
            return cls(classes=np.unique(y))
        distinct = set(y.tolist())
        try:
            ordered = sorted(distinct)
        except TypeError:
            ordered = sorted(distinct, key=lambda label: (type(label).__name__, repr(label)))
        return cls(classes=_as_objects(ordered))

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return len(self.classes)

    def encode(self, y: Any, coding: str = "index") -> np.ndarray:
        """Return the codes of labels: (n,), or (n, K) for "one_hot".

        The coding is one of "index", "binary", "sign", "one_hot" and "rank".
        """
        self._check(coding)
        y = _as_labels("y", y)
        index = self._indices(y)
        if coding == "one_hot":
            return one_hot(index, self.n_classes)
        first, gap = _LINES[coding]
        return first + gap * index

    def decode(self, codes: Any, coding: str = "index") -> np.ndarray:
        """Return the labels (n,) behind codes; a code of no class is an error."""
        self._check(coding)
        codes = np.asarray(codes)
        if codes.dtype.kind not in "biuf":
            raise ValueError(f"codes must be numbers, got an array of {codes.dtype}")
        first, gap = _LINES.get(coding, (0, 1))
        # What is no code becomes a fraction or lies outside.
        index = ((from_one_hot(codes) if coding == "one_hot" else codes) - first) / gap
        possible = (index >= 0) & (index < self.n_classes) & (index == np.floor(index))
        if not possible.all():
            wrong = codes[~possible].tolist()[0]
            raise ValueError(
                f"codes must be those of {self.n_classes} classes in {coding!r} coding, got {wrong!r}"
            )
        return self.classes[index.astype(np.int64)]

    @cached_property
    def _index_of(self) -> dict[Any, int]:
        return {label: k for k, label in enumerate(self.classes.tolist())}

    def _indices(self, y: np.ndarray) -> np.ndarray:
        if y.dtype.kind == self.classes.dtype.kind != "O":
            order = np.argsort(self.classes)
            near = np.searchsorted(self.classes, y, sorter=order)
            found = order[np.minimum(near, self.n_classes - 1)]
            unknown = y[self.classes[found] != y].tolist()
        else:
            indices = [self._index_of.get(label, -1) for label in y.tolist()]
            found = np.array(indices, dtype=np.int64)
            unknown = y[found < 0].tolist()
        if unknown:
            raise ValueError(f"y has the label {unknown[0]!r}, not one of {self._listed()}")
        return found

    def _check(self, coding: str) -> None:
        if coding not in _CODINGS:
            raise ValueError(f"coding must be one of {', '.join(map(repr, _CODINGS))}, got {coding!r}")
        if coding in ("binary", "sign") and self.n_classes != 2:
            raise ValueError(f"coding {coding!r} is for two classes, and there are {self._listed()}")

    def _listed(self) -> str:
        shown = ", ".join(map(repr, self.classes.tolist()[:5]))
        return f"the {self.n_classes} classes {shown}{', …' if self.n_classes > 5 else ''}"


def _as_labels(name: str, y: Any) -> np.ndarray:
    """Return labels as an array (n,), of objects where they are not numbers or strings of one kind."""
    if not hasattr(y, "dtype"):
        y = list(y)
        plain = {type(label) for label in y} <= {str} or {type(label) for label in y} <= {bool, int, float}
        y = np.asarray(y) if plain else _as_objects(y)
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"{name} must be a sequence of labels, got shape {y.shape}")
    if y.dtype.kind in "fO" and any(label != label for label in y.tolist()):  # noqa: PLR0124
        raise ValueError(f"{name} has NaN, which is no label")
    try:
        hash(tuple(y.tolist()) if y.dtype.kind == "O" else ())
    except TypeError:
        raise ValueError(f"{name} must have labels that can be hashed") from None
    return y


def _as_objects(labels: list[Any]) -> np.ndarray:
    found = np.empty(len(labels), dtype=object)
    found[:] = labels
    return found


#: The most entries that codes may have.
_MOST = 2**32


def one_hot(labels: Any, n_classes: int | None = None) -> Array:
    """Return the one-of-K code (..., K) of labels 0, …, K - 1: x_k = 1 for the label k, and 0 elsewhere.

    Parameters
    ----------
    labels : array (...) of whole numbers
        Labels 0, 1, …, K - 1.
    n_classes : int, optional
        K; the largest label and one when not given.

    Examples
    --------
    >>> one_hot([1, 0, 2])
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 1.]])
    >>> from_one_hot(one_hot([1, 0, 2], 5))
    array([1, 0, 2])
    """
    xp = namespace_of(labels)
    k = as_reals("labels", labels)
    if not bool(xp.all((k >= 0) & (k == xp.floor(k)) & xp.isfinite(k))):
        raise ValueError("labels must be whole numbers from 0 on, with no NaN")
    largest = int(xp.max(k)) if 0 not in k.shape else -1
    n_classes = largest + 1 if n_classes is None else n_classes
    if isinstance(n_classes, bool) or not hasattr(n_classes, "__index__") or n_classes < 0:
        raise ValueError(f"n_classes must be a whole number from 0 on, got {n_classes!r}")
    if largest >= n_classes:
        raise ValueError(f"labels must be below n_classes={n_classes}, got {largest}")
    if prod(k.shape) * n_classes > _MOST:
        raise ValueError(f"labels must be few enough for codes of {n_classes} entries each to fit in memory")
    return xp.astype(k[..., None] == xp.arange(n_classes, dtype=k.dtype, device=device(k)), k.dtype)


def from_one_hot(codes: Any) -> Array:
    """Return the labels (...) of one-of-K codes (..., K).

    Parameters
    ----------
    codes : array (..., K)
        One-of-K codes: a one at the position of the label, zeros elsewhere.

    Examples
    --------
    >>> from_one_hot([[0, 0, 1], [1, 0, 0]])
    array([2, 0])
    """
    xp = namespace_of(codes)
    x = as_reals("codes", codes)
    good = x.ndim > 0 and bool(xp.all((x == 0) | (x == 1)) & xp.all(xp.sum(x, axis=-1) == 1))
    if not good:
        raise ValueError("codes must be zeros but for a single one on the last axis")
    return xp.astype(xp.argmax(x, axis=-1), xp.int64)
