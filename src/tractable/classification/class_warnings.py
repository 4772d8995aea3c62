"""Warnings of models that are fitted class by class: said once, with the classes they are of."""

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

__all__ = ["class_by_class"]

T = TypeVar("T")


def class_by_class(work: Callable[[Any, Any], T], labels: Sequence[Any], items: Sequence[Any]) -> list[T]:
    """Return ``work(label, item)`` for each class; each warning is said once, with its classes.

    Warnings point to the first line outside of this library.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     found = class_by_class(lambda k, n: warnings.warn("few rows") or n, ["ash", "birch"], [3, 1])
    >>> found, [str(warning.message) for warning in said]
    ([3, 1], ["classes 'ash', 'birch': few rows"])
    """
    heard: dict[tuple[type[Warning], str], list[str]] = {}
    found = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for label, item in zip(labels, items, strict=True):
            found.append(work(label, item))
            for kind in dict.fromkeys((warning.category, str(warning.message)) for warning in caught):
                heard.setdefault(kind, []).append(repr(label))
            caught.clear()
    for (category, message), names in heard.items():
        which = f"class{'es' if len(names) > 1 else ''} {', '.join(names)}"
        warnings.warn(f"{which}: {message}", category, stacklevel=_outside())
    return found


def _outside() -> int:
    """Return the `stacklevel` of the first frame that is not of this library, seen from the caller."""
    level, frame = 1, sys._getframe(1)  # noqa: SLF001
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tractable."):
        level, frame = level + 1, frame.f_back
    return level
