"""A column of a family that is fitted to each class, of a conjugate model, or of kernel densities."""

from functools import reduce
from operator import add
from typing import Any

import numpy as np

from tractable.columns.family import ColumnFamily, Estimation, Membership
from tractable.columns.likelihoods import family_of
from tractable.columns.membership import check_no_infinity
from tractable.columns.normal import column_variance
from tractable.conjugate import ConjugateModel
from tractable.distributions import SmoothedEmpirical, Stacked
from tractable.smoothing import check_window, select_bandwidth
from tractable.smoothing.rules import window_factor
from tractable.statistics import Counts, DiagonalMoments, StoredRows, column_varies
from tractable.statistics.rows import NotYetDetermined
from tractable.value import value


@value
class FittedPrior:
    """What a class without rows has, and how kernel density estimates are made."""

    whole: Any  # the statistic of all classes together
    how: Estimation
    classes: Any = None  # the labels, for error messages


class FittedColumn(ColumnFamily):
    """x_j | k is of a family fitted to each class, or the predictive of a conjugate model.

    The statistic is a tuple of K; None of a class that has not observed the column. A family without a finite
    statistic, and a kernel density estimate, store the values of the class.
    """

    @property
    def kind(self) -> Any:
        """The word "kernel", the family, by name or itself, or the conjugate model."""
        return self.layout.likelihoods[int(self.where[0])]

    @property
    def is_kernel(self) -> bool:
        """Whether the likelihood is a kernel density estimate."""
        return isinstance(self.kind, str) and self.kind == "kernel"

    def summarize(self, x: np.ndarray, membership: Membership) -> tuple[Any, ...]:
        column = x[:, 0]
        check_no_infinity(column)
        seen = ~np.isnan(column)
        found = list[Any]()
        for rows, weights in membership.each_class():
            own = seen & rows
            w = None if weights is None else weights[seen[rows]]
            found.append(self._statistic(np.asarray(column[own], dtype=np.float64), w) if own.any() else None)
        return tuple(found)

    def _statistic(self, x: np.ndarray, weights: np.ndarray | None) -> Any:
        if isinstance(self.kind, ConjugateModel):
            return self.kind.summarize(x, weights)
        statistic = None if self.is_kernel else getattr(family_of(self.kind), "statistic", None)
        if statistic is None:
            return StoredRows.of(x[:, None], weights)
        return statistic.of(x if statistic is Counts else x[:, None], weights)

    def check_observed(self, sums: tuple[Any, ...]) -> None:
        if all(part is None for part in sums):
            raise self._unobserved(0)

    def prior(self, sums: tuple[Any, ...], how: Estimation, classes: Any = None) -> FittedPrior:
        whole = reduce(add, [part for part in sums if part is not None])
        return FittedPrior(whole=whole, how=how, classes=classes)

    def estimate(self, sums: tuple[Any, ...], prior: FittedPrior) -> dict[str, Any]:
        """Return the distribution of each class; of a class without values, that of all classes together."""
        names = range(len(sums)) if prior.classes is None else prior.classes.tolist()
        members = []
        for part, name in zip(sums, names, strict=True):
            try:
                members.append(self._member(prior.whole if part is None else part, prior))
            except ValueError as error:
                raise NotYetDetermined(f"X: the column {self.label()!r} in class {name!r}: {error}") from None
        return {"parts": {int(self.where[0]): Stacked(members=members)}}

    def _member(self, part: Any, prior: FittedPrior) -> Any:
        if isinstance(self.kind, ConjugateModel):
            return self.kind.update(part).predictive()
        if self.is_kernel:
            points, weights = part.values[:, 0], part.weights
            bandwidth = _bandwidth(points, weights, prior.whole, prior.how)
            return SmoothedEmpirical(
                points=points, bandwidth=bandwidth, weights=weights, window=prior.how.kernel
            )
        family = family_of(self.kind)
        if isinstance(part, StoredRows):
            fitted = family.fit(part.values[:, 0], sample_weight=part.weights)
        else:
            fitted = family.from_statistic(part)
        return fitted[0] if fitted.batch_shape else fitted

    def log_evidence(self, sums: tuple[Any, ...], prior: FittedPrior) -> float:
        if not isinstance(self.kind, ConjugateModel):
            raise AttributeError(
                "log_evidence_ needs conjugate priors, and families that are fitted have none"
            )
        return float(sum(self.kind.log_evidence(part) for part in sums if part is not None))


def _bandwidth(points: np.ndarray, weights: np.ndarray, whole: StoredRows, how: Estimation) -> float:
    """Return the bandwidth of a class; where its values do not vary, by the rule for all classes."""
    if not isinstance(how.bandwidth, str):
        return float(how.bandwidth)
    window = check_window(how.kernel)
    own = DiagonalMoments.of(points[:, None], weights)
    total = float(own.total)
    if total > 1.0 and column_varies(own.mean, np.sqrt(own.scatter / total))[0]:
        return float(select_bandwidth(points, how.bandwidth, weights=weights, kernel=window).bandwidth[0])
    overall = DiagonalMoments.of(whole.values, whole.weights)
    variance, least = column_variance(overall.weight, overall.mean, overall.scatter)
    spread = float(np.sqrt(np.maximum(variance, least))[0])
    return spread * (4.0 / (3.0 * max(total, 1.0))) ** 0.2 * window_factor(window, 1)
