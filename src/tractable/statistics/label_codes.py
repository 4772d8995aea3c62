"""Labels of rows: which occur, in order, and the code of each row's, its place among them."""

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

__all__ = ["check_one_kind", "distinct_labels", "label_codes", "union_of_labels"]

#: Labels of these kinds of NumPy's types may meet.
_ALIKE = {"b": "number", "i": "number", "u": "number", "f": "number", "U": "word", "O": "word"}


def label_codes(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels that occur, in order, and the code of each row's: its place among them.

    Small codes are counted and objects hashed, in linear time; others are sorted.

    Parameters
    ----------
    labels : array (n,)

    Examples
    --------
    >>> found, codes = label_codes(np.array(["b", "a", "b"], dtype=object))
    >>> found.tolist(), codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    if labels.dtype in (np.uint8, np.uint16):
        counts = np.bincount(labels)
        found = np.nonzero(counts)[0]
        if len(found) == len(counts):
            return found, labels
        places = np.zeros(len(counts), dtype=labels.dtype)
        places[found] = np.arange(len(found), dtype=labels.dtype)
        return found, places[labels]
    if labels.dtype.kind == "O":
        names = sorted(distinct_labels(labels))
        place = {name: k for k, name in enumerate(names)}
        found = np.empty(len(names), dtype=object)
        found[:] = names
        codes = np.fromiter(map(place.__getitem__, labels.tolist()), _code_type(len(names)), len(labels))
        return found, codes
    found, codes = np.unique(labels, return_inverse=True)
    return found, codes.astype(_code_type(len(found)))


def distinct_labels(labels: np.ndarray) -> list[Any]:
    """Return the different labels of an array of objects: none is missing, and all are of one kind.

    Examples
    --------
    >>> distinct_labels(np.array(["b", "a", "b"], dtype=object))
    ['b', 'a']
    """
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
    """Return the labels of all arrays, in order; they must be of one kind.

    Examples
    --------
    >>> union_of_labels([np.array(["b"]), np.array(["a", "b"])]).tolist()
    ['a', 'b']
    """
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
