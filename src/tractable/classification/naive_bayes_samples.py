"""Columns whose values are kept, class by class: smoothed samples, and families that learn from rows."""

from numbers import Real
from typing import Any

import numpy as np

from tractable.base import NotYetDetermined, check_choice
from tractable.classification.naive_bayes_columns import family_of
from tractable.classification.naive_bayes_estimation import Estimation
from tractable.classification.naive_bayes_normal import ROUNDINGS, column_variance, pooled
from tractable.conjugate import ConjugateModel
from tractable.distributions import SmoothedEmpirical, Stacked
from tractable.smoothing import check_window, select_bandwidth
from tractable.smoothing.rules import window_factor
from tractable.statistics import Counts, DiagonalMoments, KeptValues

__all__ = ["check_rule", "family_evidence", "family_part", "kept_of_classes", "kernel_part"]


def check_rule(bandwidth: Any) -> None:
    """Refuse a bandwidth that is neither a rule nor a positive number."""
    if isinstance(bandwidth, str):
        check_choice("bandwidth", bandwidth, ("silverman", "scott", "isj", "loo", "lscv"))
    elif isinstance(bandwidth, bool) or not (
        isinstance(bandwidth, Real) and 0.0 < float(bandwidth) < float("inf")
    ):
        raise ValueError(f"bandwidth must be a rule or a positive number, got {bandwidth!r}")


def kept_of_classes(
    kind: Any, x: np.ndarray, codes: np.ndarray, n_classes: int, weights: np.ndarray | None
) -> list[Any]:
    """Return what a likelihood must know of one column, (n,), in every class; None where nothing was seen."""
    seen = ~np.isnan(x)
    if np.any(np.isinf(x)):
        raise ValueError("X contains infinity; remove the rows or mark the entries as missing (NaN)")
    found: list[Any] = []
    for k in range(n_classes):
        own = seen & (codes == k)
        w = None if weights is None else weights[own]
        found.append(_summary(kind, np.asarray(x[own], dtype=np.float64), w) if own.any() else None)
    return found


def kernel_part(found: list[KeptValues | None], how: Estimation, label: Any, classes: np.ndarray) -> Any:
    """Return the smoothed sample of each class; of a class without values, that of all of them."""
    whole = pooled([part for part in found if part is not None])
    moments = DiagonalMoments.of(whole.values, whole.weights)
    variance, least = column_variance(moments)
    unit = float(np.sqrt(np.maximum(variance, least))[0])
    members = []
    for part, name in zip(found, classes.tolist(), strict=True):
        try:
            members.append(_smoothed(whole if part is None else part, unit, how))
        except ValueError as error:
            raise NotYetDetermined(f"X: the column {label!r} in class {name!r}: {error}") from None
    return Stacked(members=members)


def _smoothed(part: KeptValues, unit: float, how: Estimation) -> Any:
    points = part.values[:, 0]
    return SmoothedEmpirical(
        points=points,
        bandwidth=_bandwidth(points, part.weights, unit, how),
        weights=part.weights,
        window=how.kernel,
    )


def _bandwidth(points: np.ndarray, weights: np.ndarray, unit: float, how: Estimation) -> float:
    """Return the bandwidth of a class; where its values do not vary, by the rule for those of all classes."""
    if not isinstance(how.bandwidth, str):
        return float(how.bandwidth)
    window = check_window(how.kernel)
    if _vary(points, weights):
        return float(select_bandwidth(points, how.bandwidth, weights=weights, kernel=window).bandwidth[0])
    return unit * (4.0 / (3.0 * max(float(weights.sum()), 1.0))) ** 0.2 * window_factor(window, 1)


def _vary(points: np.ndarray, weights: np.ndarray) -> bool:
    """Whether values, of a weight above one, differ by more than roundings."""
    total, size = float(weights.sum()), float(np.max(np.abs(points)))
    if len(points) < 2 or not total > 1.0 or not size > 0.0:
        return False
    u = points / size
    scatter = weights @ (u - np.average(u, weights=weights)) ** 2
    return bool(np.sqrt(scatter / (total - 1.0)) > ROUNDINGS * np.finfo(np.float64).eps)


def family_part(kind: Any, found: list[Any], label: Any, classes: np.ndarray) -> Any:
    """Return a family's fit, or a model's predictive, to the values of each class."""
    whole = pooled([part for part in found if part is not None])
    members = []
    for part, name in zip(found, classes.tolist(), strict=True):
        try:
            members.append(_one(kind, whole if part is None else part))
        except ValueError as error:
            raise NotYetDetermined(f"X: the column {label!r} in class {name!r}: {error}") from None
    return Stacked(members=members)


def family_evidence(kind: Any, found: list[Any]) -> float:
    """Return Σ_k log p(values of class k) under a conjugate model."""
    if not isinstance(kind, ConjugateModel):
        raise AttributeError("log_evidence_ needs conjugate priors, and families that are fitted have none")
    return float(sum(kind.log_evidence(part) for part in found if part is not None))


def _summary(kind: Any, x: np.ndarray, weights: np.ndarray | None) -> Any:
    if isinstance(kind, ConjugateModel):
        return kind.summarize(x, weights)
    statistic = None if kind == "kernel" else getattr(family_of(kind), "statistic", None)
    if statistic is None:
        return KeptValues.of(x[:, None], weights)
    return statistic.of(x if statistic is Counts else x[:, None], weights)


def _one(kind: Any, part: Any) -> Any:
    if isinstance(kind, ConjugateModel):
        return kind.update(part).predictive()
    family = family_of(kind)
    if isinstance(part, KeptValues):
        fitted = family.fit(part.values[:, 0], sample_weight=part.weights)
    else:
        fitted = family.from_statistic(part)
    return fitted[0] if fitted.batch_shape else fitted
