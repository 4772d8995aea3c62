"""What naive Bayes has learned of its columns."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.base import NotYetDetermined
from tractable.classification.naive_bayes.columns import NaiveColumns, some_columns
from tractable.classification.naive_bayes.likelihoods import (
    Estimation,
    Tallies,
    check_counted,
    counts_of_classes,
    family_evidence,
    family_part,
    kept_of_classes,
    kernel_part,
    moments_of_classes,
    multinomial_rates,
    normal_estimates,
    normal_evidence,
    normal_predictives,
    poisson_evidence,
    poisson_parts,
    with_factorials,
)
from tractable.distributions import Bernoulli, Normal, Poisson, Product
from tractable.statistics import ByClass, Counts, DiagonalMoments, SideBySide
from tractable.statistics.by_class import label_codes
from tractable.value import value

__all__ = [
    "FittedColumns",
    "columns_by_class",
    "fitted_columns",
    "log_evidence",
    "statistics_of_classes",
    "warnings_of",
]


@value
class FittedColumns:
    """The likelihoods of all columns: arrays where many are of one family, distributions elsewhere.

    Tables of thousands of columns are learned and asked without making a distribution of each.

    Parameters
    ----------
    parts : tuple
        The distribution of each column, a batch of K classes; None where the arrays say it.
    normal, counted, binary : arrays of int
        Positions of the normal columns that are estimated, of those that share a row's total, and of those of
        zeros and ones.
    mean, variance : arrays (K, number of `normal`)
    rate : array (K, number of `counted`)
        Of the Poisson distributions that shares of totals are.
    probability : array (K, number of `binary`)
        Of ones.
    log_unseen : array (K, d)
        What a category has that was not declared; NaN of other columns.
    """

    parts: tuple[Any, ...]
    normal: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    counted: np.ndarray
    rate: np.ndarray
    binary: np.ndarray
    probability: np.ndarray
    log_unseen: np.ndarray

    def product(self, names: tuple[Any, ...] | None) -> Product:
        """Return p(x | C_k) as a batch of products."""
        parts = list(self.parts)
        for i, j in enumerate(self.normal):
            parts[j] = Normal(mean=self.mean[:, i], variance=self.variance[:, i])
        for i, j in enumerate(self.counted):
            parts[j] = Poisson(rate=self.rate[:, i])
        for i, j in enumerate(self.binary):
            parts[j] = Bernoulli(probability=self.probability[:, i])
        named = names is not None and all(isinstance(name, str) for name in names)
        return Product(parts=parts, names=names if named else None)


#: Kinds whose columns share one statistic, in the order of a statistic's parts.
TOGETHER = (("normal",), ("categorical", "bernoulli"), ("poisson",), ("multinomial",))


def columns_by_class(
    x: np.ndarray, labels: np.ndarray, weights: Any = None, *, layout: NaiveColumns
) -> ByClass:
    """Return what is known of the columns of a block of rows, class by class."""
    x, labels = np.asarray(x), np.asarray(labels)
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    if w is not None and not np.all(w > 0.0):
        some = w > 0.0
        x, labels, w = x[some], labels[some], w[some]
    found, codes = label_codes(labels)
    K = len(found)
    total = np.bincount(codes, w, K).astype(np.float64)
    columns = []
    for kinds, where in _blocks(layout):
        columns.append(_tally(kinds, where, some_columns(x, where), codes, K, w, layout))
    parts = tuple(
        SideBySide(parts=tuple(column[k] for column in columns), total=total[k], dim=x.shape[1], about=layout)
        for k in range(K)
    )
    return ByClass(labels=found, parts=parts, dim=int(x.shape[1]))


def statistics_of_classes(statistic: ByClass, classes: np.ndarray) -> list[SideBySide | None]:
    """Return the statistic of each class; None of one that was promised and not seen."""
    known = dict(statistic)
    return [known.get(label) for label in classes.tolist()]


def fitted_columns(
    statistic: ByClass, classes: np.ndarray, layout: NaiveColumns, how: Estimation
) -> FittedColumns:
    """Return the likelihood of every column in every class."""
    found = statistics_of_classes(statistic, classes)
    K, d = len(classes), len(layout.likelihoods)
    parts: list[Any] = [None] * d
    unseen = np.full((K, d), np.nan)
    none = np.zeros(0, dtype=np.int64)
    arrays = {"normal": none, "mean": np.zeros((K, 0)), "variance": np.zeros((K, 0))}
    arrays |= {"counted": none, "rate": np.zeros((K, 0)), "binary": none, "probability": np.zeros((K, 0))}
    for i, (kinds, where) in enumerate(_blocks(layout)):
        own = _parts_of(found, i, kinds, where)
        _check_observed(own, where, layout)
        if kinds == ("normal",) and not how.bayes:
            mean, variance = normal_estimates(own, how)
            arrays |= {"normal": where, "mean": mean, "variance": variance}
        elif kinds == ("multinomial",):
            arrays |= {"counted": where, "rate": multinomial_rates(own, how)}
        elif "categorical" in kinds:
            tallies = Tallies(layout, where, own, how)
            binary = layout.where("bernoulli")
            arrays |= {"binary": binary, "probability": tallies.probabilities(binary)}
            for n in np.flatnonzero(~np.isin(where, binary)).tolist():
                parts[where[n]], unseen[:, where[n]] = tallies.part(n), tallies.log_unseen(n)
        else:
            _place(parts, where, _distributions(kinds, where, own, layout, how, classes))
    return FittedColumns(parts=tuple(parts), log_unseen=unseen, **arrays)


def _place(parts: list[Any], where: np.ndarray, made: list[Any]) -> None:
    for j, part in zip(where, made, strict=True):
        parts[j] = part


def log_evidence(statistic: ByClass, layout: NaiveColumns, how: Estimation) -> float:
    """Return Σ_k log p(rows of class k), all parameters integrated out."""
    found = list(statistic.parts)
    total = 0.0
    for i, (kinds, where) in enumerate(_blocks(layout)):
        own = _parts_of(found, i, kinds, where)
        if "categorical" in kinds:
            total += Tallies(layout, where, own, how).log_evidence()
        elif "normal" in kinds:
            total += normal_evidence(own, how)
        elif "poisson" in kinds:
            total += poisson_evidence(own, how)
        else:
            total += family_evidence(kinds[0], own)
    return total


def _blocks(layout: NaiveColumns) -> list[tuple[tuple[Any, ...], np.ndarray]]:
    """Return the columns that share a statistic: those of a kind together, kept columns each alone."""
    together = [(kinds, layout.where(*kinds)) for kinds in TOGETHER]
    alone = [(("kernel",), np.array([j])) for j in layout.where("kernel")]
    others = [((layout.likelihoods[j],), np.array([j])) for j in layout.of_families()]
    return [(kinds, where) for kinds, where in together if len(where)] + alone + others


def _tally(
    kinds: tuple[Any, ...],
    where: np.ndarray,
    x: np.ndarray,
    codes: np.ndarray,
    K: int,
    weights: Any,
    layout: NaiveColumns,
) -> list[Any]:
    if "categorical" in kinds:
        return counts_of_classes(layout, where, x, codes, K, weights)
    if kinds[0] in ("poisson", "multinomial"):
        check_counted(layout, where, x, whole=kinds[0] == "poisson")
        x = with_factorials(x) if kinds[0] == "poisson" else x
    if kinds[0] in ("normal", "poisson", "multinomial"):
        return moments_of_classes(x, codes, K, weights)
    return kept_of_classes(kinds[0], x[:, 0], codes, K, weights)


def _parts_of(found: list[SideBySide | None], i: int, kinds: tuple[Any, ...], where: np.ndarray) -> list[Any]:
    """Return the i-th statistic of every class; of a class without rows, that of none."""
    own = [None if part is None else part.parts[i] for part in found]
    some = next((part for part in own if part is not None), None)
    if isinstance(some, DiagonalMoments):
        return [DiagonalMoments.empty(some.dim) if part is None else part for part in own]
    if "categorical" in kinds:
        return [Counts(counts=np.zeros((len(where), 0))) if part is None else part for part in own]
    return own


def _check_observed(own: list[Any], where: np.ndarray, layout: NaiveColumns) -> None:
    """Refuse columns in which no class has an observed value."""
    weight = sum(np.zeros(len(where)) if part is None else _weight(part, len(where)) for part in own)
    if not np.all(weight > 0):
        label = layout.columns.label(int(where[int(np.argmin(weight))]))
        raise NotYetDetermined(f"X has no observed value in the column {label!r}")


def _weight(part: Any, width: int) -> np.ndarray:
    """Return the weight of the observed entries of columns; of one that was kept, that there are some."""
    found: Any = getattr(part, "weight", 1.0)
    return found[:width] if np.ndim(found) else np.ones(width)


def _distributions(
    kinds: tuple[Any, ...],
    where: np.ndarray,
    own: list[Any],
    layout: NaiveColumns,
    how: Estimation,
    classes: np.ndarray,
) -> list[Any]:
    kind = kinds[0]
    if kind == "normal":
        return normal_predictives(own, how)
    if kind == "poisson":
        return poisson_parts(own, how)
    if kind == "kernel":
        return [kernel_part(own, how, layout.columns.label(int(where[0])), classes)]
    return [family_part(kind, own, layout.columns.label(int(where[0])), classes)]


def warnings_of(statistic: ByClass, layout: NaiveColumns, how: Estimation) -> Iterator[str]:
    """Return what is to be said of columns that say nothing, and of classes that do not vary."""
    if len(layout.where("multinomial")) == 1 < len(layout.likelihoods):
        label = layout.columns.label(int(layout.where("multinomial")[0]))
        yield (
            f'likelihoods: the column {label!r} alone is "multinomial", and has all of its total in every '
            'class, so that it says nothing; "poisson" compares counts themselves'
        )
    known = how.shared_variance or how.variance is not None or how.bayes
    if known or not len(layout.where("normal")) or len(statistic.parts) < 2:
        return
    rigid = [label for label, part in statistic if _is_rigid(part.parts[0].scatter, part.parts[0].weight)]
    if rigid and len(rigid) < len(statistic.parts):
        yield (
            f"y: the class {rigid[0]!r} has a single row, or rows that are all alike: its variances are "
            f"var_smoothing={how.var_smoothing:g} of those of all rows, and a row that differs at all is not "
            'taken for one of it; NaiveBayes(estimate="bayes") learns from few rows'
        )


def _is_rigid(scatter: np.ndarray, weight: np.ndarray) -> bool:
    return bool(np.all(scatter[weight > 0] <= 0.0) and np.any(weight > 0))
