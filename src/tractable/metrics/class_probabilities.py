"""Scores of the probabilities of classes: proper ones, and whether they mean what they say."""

from typing import Any

import numpy as np

from tractable.metrics.labels import as_classes, as_codes, as_labels, as_probabilities, row_weights
from tractable.value import value

__all__ = ["ClassCalibration", "brier_score", "class_calibration", "log_loss"]


def log_loss(y_true: Any, probabilities: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
    """Return the mean of -log p(C | x) of the true classes, in nats: infinite where one was impossible.

    Parameters
    ----------
    y_true : array of labels (n,)
    probabilities : array (n, K), or (n,) of the second of two classes; or what `predict_dist` gives
    classes : array (K,), optional
        The label of each column, in the order of the columns. When not given, the columns are those of the
        labels that occur, sorted: a model whose classes are in another order needs it.
    sample_weight : array (n,), optional

    Examples
    --------
    >>> round(log_loss(["a", "b"], [[0.5, 0.5], [0.25, 0.75]]), 4)
    0.4904
    >>> round(log_loss(["well", "ill"], [[0.9, 0.1], [0.2, 0.8]], classes=["well", "ill"]), 4)
    0.1643
    """
    p, codes, w = _checked(y_true, probabilities, classes, sample_weight)
    with np.errstate(divide="ignore"):
        surprise = -np.log(p[np.arange(len(p)), codes])
    return float(np.average(surprise[w > 0], weights=w[w > 0]))


def brier_score(y_true: Any, probabilities: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
    """Return the mean of Σ_k (p(C_k | x) - t_k)², t one of K (Brier 1950): 0 is best, 2 is worst.

    Half of it, for two classes, is the squared error of the probability of the second.

    Parameters
    ----------
    y_true : array of labels (n,)
    probabilities : array (n, K), or (n,) of the second of two classes; or what `predict_dist` gives
    classes : array (K,), optional
        The label of each column, in the order of the columns. When not given, the columns are those of the
        labels that occur, sorted: a model whose classes are in another order needs it.
    sample_weight : array (n,), optional

    Examples
    --------
    >>> brier_score(["a", "b"], [[0.5, 0.5], [0.25, 0.75]])
    0.3125
    """
    p, codes, w = _checked(y_true, probabilities, classes, sample_weight)
    errors = np.sum((p - np.eye(p.shape[1])[codes]) ** 2, axis=1)
    return float(np.average(errors, weights=w))


@value
class ClassCalibration:
    """How often what was promised came true, beside the probability that was promised.

    Parameters
    ----------
    predicted : array (b,)
        The mean probability in each bin that has rows.
    observed : array (b,)
        The share of its rows of which it was true.
    standard_errors : array (b,)
        Of those shares, if the probabilities were right.
    weight : array (b,)
        Weight of the rows in each bin.
    event : str
        What was promised.

    Examples
    --------
    >>> found = ClassCalibration(
    ...     predicted=np.array([0.2, 0.8]),
    ...     observed=np.array([0.3, 0.8]),
    ...     standard_errors=np.array([0.1, 0.1]),
    ...     weight=np.array([15.0, 15.0]),
    ...     event="rain",
    ... )
    >>> round(found.error, 4)
    0.05
    """

    predicted: np.ndarray
    observed: np.ndarray
    standard_errors: np.ndarray
    weight: np.ndarray
    event: str

    @property
    def error(self) -> float:
        """The expected calibration error, Σ_b weight_b |observed_b - predicted_b| / Σ_b weight_b."""
        return float(np.average(np.abs(self.observed - self.predicted), weights=self.weight))


def class_calibration(
    y_true: Any,
    probabilities: Any,
    *,
    classes: Any = None,
    label: Any = None,
    n_bins: int = 10,
    sample_weight: Any = None,
) -> ClassCalibration:
    """Return how often classes were right, beside how probable they were said to be.

    Parameters
    ----------
    y_true : array of labels (n,)
    probabilities : array (n, K), or (n,) of the second of two classes; or what `predict_dist` gives
    classes : array (K,), optional
        The label of each column, in the order of the columns. When not given, the columns are those of the
        labels that occur, sorted: a model whose classes are in another order needs it.
    label : label, optional
        The class to look at. When not given: the second of two, and of more the one that is most probable in
        each row.
    n_bins : int
        Bins of equal width from 0 to 1.
    sample_weight : array (n,), optional

    Returns
    -------
    ClassCalibration
        Which `tractable.plot` draws.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=5000)
    >>> y = rng.uniform(size=5000) < p**2  # less often than promised
    >>> class_calibration(y, p, n_bins=4).observed.round(2)
    array([0.02, 0.15, 0.41, 0.76])
    """
    if isinstance(n_bins, bool) or not isinstance(n_bins, (int, np.integer)) or n_bins < 1:
        raise ValueError(f"n_bins must be a whole number from 1, got {n_bins!r}")
    p, codes, w = _checked(y_true, probabilities, classes, sample_weight)
    known = _classes(y_true, classes)
    promised, came, event = _event(p, codes, known, label)
    bins = np.minimum((promised * n_bins).astype(int), n_bins - 1)
    weight = np.bincount(bins, w, minlength=n_bins)
    some = weight > 0
    predicted, observed, doubt = (
        np.bincount(bins, w * x, minlength=n_bins)[some] / weight[some]
        for x in (promised, came, promised * (1.0 - promised))
    )
    return ClassCalibration(
        predicted=predicted,
        observed=observed,
        standard_errors=np.sqrt(doubt / weight[some]),
        weight=weight[some],
        event=event,
    )


def _event(
    p: np.ndarray, codes: np.ndarray, known: np.ndarray, label: Any
) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the probability that was promised, whether it came true, and of what."""
    if label is None and p.shape[1] > 2:
        best = np.argmax(p, axis=1)
        return p[np.arange(len(p)), best], (best == codes).astype(float), "the most probable class"
    place = 1 if label is None else int(as_codes("label", [label], known)[0])
    return p[:, place], (codes == place).astype(float), str(known[place])


def _classes(y_true: Any, classes: Any) -> np.ndarray:
    return np.unique(as_labels("y_true", y_true)) if classes is None else as_classes(classes)


def _checked(
    y_true: Any, probabilities: Any, classes: Any, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    labels = as_labels("y_true", y_true)
    p = as_probabilities(probabilities, len(labels))
    known = _classes(labels, classes)
    if len(known) != p.shape[1]:
        raise ValueError(
            f"probabilities has {p.shape[1]} columns, but there are {len(known)} classes, {known.tolist()}; "
            "give classes where some do not occur"
        )
    return p, as_codes("y_true", labels, known), row_weights(sample_weight, len(labels))
