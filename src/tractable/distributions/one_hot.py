"""One-of-K code of labels, and back."""

from math import prod
from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["from_one_hot", "one_hot"]

#: The most entries that codes may have.
_MOST = 2**32


def one_hot(labels: Any, n_classes: int | None = None) -> Array:
    """Return the one-of-K code of labels 0, …, K - 1: x_k = 1 for the label k, and 0 elsewhere.

    Parameters
    ----------
    labels : array (...) of whole numbers
    n_classes : int, optional
        K; the largest label and one when not given.

    Returns
    -------
    array (..., K)

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
    """Return the labels (...) behind one-of-K codes (..., K).

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
