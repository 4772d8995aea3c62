"""Calibration of class probabilities: observed frequencies in bins, and the parts of the Brier score."""

from typing import Any

import numpy as np

from tractable.arrays.random import as_generator, either_seed_name
from tractable.metrics.checks import with_source_targets
from tractable.metrics.classification import as_codes, checked_probabilities, classes_of
from tractable.value import value


@value
class ClassCalibration:
    """Observed frequencies of an event beside its predicted probabilities, in bins.

    Parameters
    ----------
    predicted : array (b,)
        The mean probability in each bin that has rows.
    observed : array (b,)
        The fraction of its rows in which the event occurred.
    standard_errors : array (b,)
        Of those fractions, if the probabilities were right.
    weight : array (b,)
        Weight of the rows in each bin.
    event : str
        The event that was predicted: the name of a class.

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

    @either_seed_name
    def error_if_right(self, coverage: float = 0.9, *, rng: Any = 0) -> tuple[float, float]:
        """Return the interval in which the error falls if the probabilities are right.

        Observed frequencies scatter about the probabilities, so that the error of a calibrated model is above
        zero; beyond the upper end it is miscalibrated. The scatter in each bin is taken as normal.
        """
        if not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage must be between 0 and 1, got {coverage!r}")
        away = np.abs(as_generator(rng).standard_normal((4000, len(self.weight)))) * self.standard_errors
        errors = np.average(away, weights=self.weight, axis=1)
        low, high = np.quantile(errors, [0.5 - 0.5 * coverage, 0.5 + 0.5 * coverage])
        return float(low), float(high)


@with_source_targets
def class_calibration(
    y_true: Any,
    probabilities: Any,
    *,
    classes: Any = None,
    label: Any = None,
    n_bins: int = 10,
    sample_weight: Any = None,
) -> ClassCalibration:
    """Return how often a class occurred beside its predicted probability, in bins of the probability.

    Parameters
    ----------
    y_true, probabilities, classes, sample_weight
        As in `log_loss`.
    label : label, optional
        The class to look at. When not given: the second of two, and of more the one that is most probable in
        each row.
    n_bins : int
        Bins of equal width from 0 to 1.

    Returns
    -------
    ClassCalibration
        Which `tractable.plot` draws.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=5000)
    >>> y = rng.uniform(size=5000) < p**2  # less often than predicted
    >>> class_calibration(y, p, n_bins=4).observed.round(2)
    array([0.02, 0.15, 0.41, 0.76])
    """
    if isinstance(n_bins, bool) or not isinstance(n_bins, (int, np.integer)) or n_bins < 1:
        raise ValueError(f"n_bins must be a whole number from 1, got {n_bins!r}")
    p, codes, w = checked_probabilities(y_true, probabilities, classes, sample_weight)
    known = classes_of(y_true, classes)
    predicted_p, occurred, event = _event(p, codes, known, label)
    bins = np.minimum((predicted_p * n_bins).astype(int), n_bins - 1)
    weight = np.bincount(bins, w, minlength=n_bins)
    some = weight > 0
    predicted, observed, variance = (
        np.bincount(bins, w * x, minlength=n_bins)[some] / weight[some]
        for x in (predicted_p, occurred, predicted_p * (1.0 - predicted_p))
    )
    return ClassCalibration(
        predicted=predicted,
        observed=observed,
        standard_errors=np.sqrt(variance / weight[some]),
        weight=weight[some],
        event=event,
    )


def _event(
    p: np.ndarray, codes: np.ndarray, known: np.ndarray, label: Any
) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the predicted probability of the event, whether it occurred, and its name."""
    if label is None and p.shape[1] > 2:
        best = np.argmax(p, axis=1)
        return p[np.arange(len(p)), best], (best == codes).astype(float), "the most probable class"
    k = 1 if label is None else int(as_codes("label", [label], known)[0])
    return p[:, k], (codes == k).astype(float), str(known[k])


@value
class BrierParts:
    """The Brier score in its parts: score = miscalibration - discrimination + uncertainty.

    Parameters
    ----------
    miscalibration : float
        What calibrated probabilities in the same order would save; 0 of a calibrated model (reliability).
    discrimination : float
        What these save of the uncertainty: how far they are from the frequencies of the classes (resolution).
    uncertainty : float
        The score of a model that predicts the frequencies of the classes, Σ p_k (1 - p_k).
    """

    miscalibration: float
    discrimination: float
    uncertainty: float

    @property
    def score(self) -> float:
        """The Brier score."""
        return self.miscalibration - self.discrimination + self.uncertainty

    def __str__(self) -> str:
        parts = f"miscalibration {self.miscalibration:.4f} - discrimination {self.discrimination:.4f}"
        return f"Brier score {self.score:.4f} = {parts} + uncertainty {self.uncertainty:.4f}"


@with_source_targets
def brier_decomposition(
    y_true: Any, probabilities: Any, *, classes: Any = None, sample_weight: Any = None
) -> BrierParts:
    """Return the Brier score as miscalibration less discrimination plus uncertainty, without bins.

    Probabilities are calibrated by isotonic regression of each class (Dimitriadis, Gneiting and Jordan 2021),
    in the place of the bins of Murphy (1973), whose parts depend on their number and do not add up.

    Parameters
    ----------
    y_true, probabilities, classes, sample_weight
        As in `brier_score`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=2000)
    >>> y = rng.uniform(size=2000) < p
    >>> right, bold = brier_decomposition(y, p), brier_decomposition(y, (p > 0.5).astype(float))
    >>> round(right.miscalibration, 3), round(bold.miscalibration, 3)
    (0.006, 0.127)
    """
    from scipy.optimize import isotonic_regression

    p, codes, w = checked_probabilities(y_true, probabilities, classes, sample_weight)
    some = w > 0
    p, codes, w = p[some], codes[some], w[some]
    parts = np.zeros(3)
    for k in range(p.shape[1]):
        happened = (codes == k).astype(float)
        levels, where = np.unique(p[:, k], return_inverse=True)
        weight = np.bincount(where, w, minlength=len(levels))
        frequency = np.bincount(where, w * happened, minlength=len(levels)) / weight
        calibrated = isotonic_regression(frequency, weights=weight).x[where]
        base = np.full(len(w), np.average(happened, weights=w))
        of_model, of_calibrated, of_base = (
            np.average((q - happened) ** 2, weights=w) for q in (p[:, k], calibrated, base)
        )
        parts += of_model - of_calibrated, of_base - of_calibrated, of_base
    return BrierParts(
        miscalibration=float(max(parts[0], 0.0)), discrimination=float(parts[1]), uncertainty=float(parts[2])
    )
