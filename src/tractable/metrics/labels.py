"""What scores of classifiers ask of labels and of the probabilities of classes."""

from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.weights import check_weights

__all__ = ["as_classes", "as_codes", "as_labels", "as_probabilities", "row_weights"]


def as_labels(name: str, y: Any) -> np.ndarray:
    """Return labels (n,), or say what is wrong with them.

    Examples
    --------
    >>> as_labels("y_true", ["a", "b"]).tolist()
    ['a', 'b']
    """
    labels = _plain(np.asarray(y))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"{name} must be labels, one a row, got shape {labels.shape}")
    missing = [label is None or label != label for label in labels.tolist()]  # noqa: PLR0124
    if any(missing):
        raise ValueError(f"{name} contains NaN or None, which are no labels")
    return labels


def as_classes(classes: Any) -> np.ndarray:
    """Return different labels in the order given, or say what is wrong with them.

    Examples
    --------
    >>> as_classes(["small", "large"]).tolist()
    ['small', 'large']
    """
    known = as_labels("classes", classes)
    if len(set(known.tolist())) < len(known):
        raise ValueError(f"classes must be different labels, got {known.tolist()}")
    return known


def as_codes(name: str, y: Any, classes: np.ndarray) -> np.ndarray:
    """Return the place of each label among the classes, in whatever order these are.

    Examples
    --------
    >>> as_codes("y_true", ["b", "a", "b"], np.array(["b", "a"]))
    array([0, 1, 0])
    """
    labels = as_labels(name, y)
    try:
        order = np.argsort(classes, kind="stable")
        codes = order[np.minimum(np.searchsorted(classes[order], labels), len(classes) - 1)]
    except TypeError as error:
        raise ValueError(f"{name} has labels of another kind than classes: {error}") from None
    strange = labels[classes[codes] != labels]
    if len(strange):
        raise ValueError(
            f"{name} has the label {strange.tolist()[0]!r}, which is not among {classes.tolist()}"
        )
    return codes


def as_probabilities(p: Any, n_rows: int) -> np.ndarray:
    """Return p(C_k | x), (n, K), or say what is wrong with it; one column is that of the second of two.

    Examples
    --------
    >>> as_probabilities([0.25, 1.0], 2)
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    p = np.asarray(as_reals("probabilities", getattr(p, "probabilities", p)), dtype=np.float64)
    if p.ndim == 1:
        p = np.column_stack([1.0 - p, p])
    if p.ndim != 2 or len(p) != n_rows or p.shape[1] < 2:
        raise ValueError(f"probabilities must have shape ({n_rows}, n_classes), got {p.shape}")
    if not (np.all(p >= 0.0) and np.allclose(p.sum(axis=1), 1.0, atol=1e-6)):
        raise ValueError("probabilities must not be negative, and one in sum in every row")
    return p


def row_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return how often each row counts; once, where nothing is given.

    Examples
    --------
    >>> row_weights(None, 2)
    array([1., 1.])
    """
    if sample_weight is None:
        return np.ones(n_rows)
    return np.asarray(check_weights(sample_weight, n_rows, name="sample_weight", some=True))


def _plain(labels: np.ndarray) -> np.ndarray:
    """Return objects as the words or the numbers that they all are."""
    if labels.dtype == object and labels.size:
        for kinds in (str, (bool, int, float, np.number, np.bool_)):
            if all(isinstance(label, kinds) for label in labels.ravel()):
                return np.asarray(labels.tolist())
    return labels
