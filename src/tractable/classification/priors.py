"""Probabilities of classes before a row is seen."""

from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.base import NotYetDetermined

__all__ = ["check_seen", "class_priors", "log_priors"]


def class_priors(priors: Any, counts: np.ndarray, classes: np.ndarray, name: str = "priors") -> np.ndarray:
    """Return p(C_k): those given, or the shares of the classes by weight.

    Parameters
    ----------
    priors : array (K,) or None
    counts : array (K,)
        Weight of the rows of each class.
    classes : array (K,)
    name : str
        What users call the priors.

    Examples
    --------
    >>> class_priors(None, np.array([3.0, 1.0]), np.array(["a", "b"])).tolist()
    [0.75, 0.25]
    """
    if priors is None:
        return counts / counts.sum()
    p = np.asarray(as_reals(name, priors), dtype=np.float64)
    if p.ndim != 1 or not (np.all(p >= 0.0) and abs(p.sum() - 1.0) <= 1e-9):
        raise ValueError(f"{name} must not be negative, and one in sum, got {p.tolist()}")
    if len(p) != len(classes):
        raise (NotYetDetermined if len(p) > len(classes) else ValueError)(
            f"{name} must have one entry a class, got {len(p)} and y has {len(classes)}: {classes.tolist()}"
        )
    return p / p.sum()


def check_seen(priors: np.ndarray, counts: np.ndarray, classes: np.ndarray) -> None:
    """Refuse to answer for a class that may be and has no rows: they say what it is like."""
    unseen = (counts <= 0.0) & (priors > 0.0)
    if np.any(unseen):
        k = int(np.argmax(unseen))
        raise NotYetDetermined(
            f"y has no rows of class {classes[k : k + 1].tolist()[0]!r}, whose prior is {priors[k]:g}"
        )


def log_priors(priors: np.ndarray) -> np.ndarray:
    """Return log p(C_k); -inf for a class that cannot be."""
    return np.where(priors > 0, np.log(np.where(priors > 0, priors, 1.0)), -np.inf)
