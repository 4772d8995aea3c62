"""Naive Bayes as functions of statistics: what each class has of its columns, estimates, evidence, warnings.

Columns with likelihoods of one kind form a group. A group summarises the rows of each class, estimates the
parameters of all classes from these statistics, and integrates them out under conjugate priors.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from functools import reduce
from numbers import Real
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from tractable.arrays.devices import beside, on_host
from tractable.arrays.gamma import gammaln
from tractable.arrays.grouping import weighted_counts
from tractable.arrays.limits import LARGEST, too_large
from tractable.arrays.namespace import is_foreign_array, namespace_of
from tractable.base import NotYetDetermined, check_choice
from tractable.classification.naive_bayes.columns import ColumnLikelihoods, family_of
from tractable.conjugate import ConjugateModel, NormalModel
from tractable.conjugate.increments import dirichlet_increment, gamma_increment
from tractable.data.table_columns import MOST_CATEGORIES, many_categories
from tractable.distributions import NegativeBinomial, NormalGamma, SmoothedEmpirical, Stacked, StudentT
from tractable.distributions.independent_columns import (
    Categories,
    IndependentColumns,
    smoothed_rates,
    some_columns,
)
from tractable.primitives.naive_bayes import category_counts, class_moments, class_sums, sparse_class_sums
from tractable.smoothing import check_window, select_bandwidth
from tractable.smoothing.rules import window_factor
from tractable.statistics import (
    ByClass,
    Counts,
    DiagonalMoments,
    Moments,
    SideBySide,
    Standardizer,
    StoredRows,
    Totals,
    column_varies,
)
from tractable.statistics.by_class import label_codes, labels_beside
from tractable.statistics.rows import as_rows, as_weights, check_squares
from tractable.statistics.rows import counts as row_weights
from tractable.value import replace, value

#: Below, a sum of squares may have been lost.
SMALL = 1e-290

#: The least variance of a column that varies.
TINY = float(np.finfo(np.float64).tiny)


@value
class Estimation:
    """How statistics become distributions.

    Parameters
    ----------
    bayes : bool
        Whether parameters are integrated out rather than estimated.
    pseudocounts : float
        Strength of the priors, in observations.
    var_smoothing : float
        Added to variances, as a fraction of the variance of the column, or `of_largest` of them.
    shared_variance : bool
        Whether a column has one variance in all classes.
    variance : float or array (d,), optional
        Known variances.
    bandwidth, kernel
        Of kernel density estimates.
    min_categories : int or array (d,), optional
        Least number of categories of a column of codes.
    """

    bayes: bool = False
    pseudocounts: float = 1.0
    var_smoothing: float = 1e-9
    of_largest: bool = False
    shared_variance: bool = False
    variance: Any = None
    bandwidth: Any = "silverman"
    kernel: Any = "gaussian"
    min_categories: Any = None


@value
class ClassStatistics:
    """The statistic of each class in a block of rows: ``of(rows, labels, weights=w)`` for `fold`."""

    layout: ColumnLikelihoods

    def __call__(self, x: Any, labels: Any, weights: Any = None) -> ByClass:
        """Summarise rows; those of weight zero have no class."""
        xp = namespace_of(x)
        if not is_foreign_array(x):
            x, labels = np.asarray(x), np.asarray(labels)
        words, labels = labels_beside(labels, x)
        w = as_weights(weights, x)
        if w is not None and not bool(xp.all(w > 0.0)):
            some = xp.nonzero(w > 0.0)[0]
            x, labels, w = (xp.take(each, some, axis=0) for each in (x, labels, w))
        found, codes = label_codes(labels)
        found = found if words is None else words[found]
        rows = ClassRows(codes, len(found), w)
        parts = tuple(group.summarize(some_columns(x, group.where), rows) for group in groups_of(self.layout))
        counted = bool(parts) and isinstance(parts[0], DiagonalMoments)  # moments count rows on the way
        total = parts[0].total if counted else rows.total
        together = SideBySide(parts=parts, total=total, dim=int(x.shape[1]), about=self.layout)
        return ByClass(labels=found, parts=together, dim=together.dim)


class ClassRows(NamedTuple):
    """The class of each row, by its code from 0 to K - 1, and how often rows count."""

    codes: Any
    n_classes: int
    weights: Any

    @property
    def total(self) -> np.ndarray:
        """How often each class counts, (K,)."""
        total = on_host(weighted_counts(self.codes, self.weights, self.n_classes))
        return np.asarray(total, dtype=np.float64)


def fitted_columns(
    statistic: ByClass, classes: np.ndarray, layout: ColumnLikelihoods, how: Estimation
) -> IndependentColumns:
    """Return the likelihood of every column in every class."""
    found = statistic.among(classes)
    K, none = len(classes), np.zeros(0, dtype=np.int64)
    fields: dict[str, Any] = dict.fromkeys(("normal", "counted", "binary", "categorical", "sizes"), none)
    empty = ("mean", "variance", "rate", "probability", "probabilities")
    fields |= dict.fromkeys(empty, np.zeros((K, 0)))
    parts: list[Any] = [None] * len(layout.likelihoods)
    for group, own in zip(groups_of(layout), found.parts, strict=True):
        group.check_observed(own)
        made = group.estimate(own, how, classes)
        for j, part in made.pop("parts", {}).items():
            parts[j] = part
        if "counted" in made and len(fields["counted"]):  # Poisson columns and multinomial ones
            made = {name: np.concatenate([fields[name], more], axis=-1) for name, more in made.items()}
        fields |= made
    return IndependentColumns(parts=tuple(parts), **fields)


def log_evidence(statistic: ByClass, layout: ColumnLikelihoods, how: Estimation) -> float:
    """Return Σ_k log p(rows of class k), all parameters integrated out."""
    each = zip(groups_of(layout), statistic.parts.parts, strict=True)
    return float(sum(group.log_evidence(own, how) for group, own in each))


def groups_of(layout: ColumnLikelihoods) -> list["Group"]:
    """Return the groups of columns that share a statistic, in the order of a statistic's parts."""
    kind = layout.one_kind
    if kind is not None and kind in GROUPS:
        return [GROUPS[kind](layout, layout.where(kind))]
    together = (
        NormalGroup(layout, layout.where("normal")),
        CategoryGroup(layout, layout.where("categorical", "bernoulli")),
        PoissonGroup(layout, layout.where("poisson")),
        MultinomialGroup(layout, layout.where("multinomial")),
    )
    alone = [FittedColumn(layout, np.array([j])) for j in [*layout.where("kernel"), *layout.of_families]]
    return [*(group for group in together if len(group.where)), *alone]


class Group(ABC):
    """Columns with likelihoods of one kind."""

    def __init__(self, layout: ColumnLikelihoods, where: np.ndarray) -> None:
        self.layout, self.where = layout, where

    @abstractmethod
    def summarize(self, x: np.ndarray, rows: ClassRows) -> Any:
        """Return the statistic of the columns of all classes: arrays (K, …), or a tuple of K."""

    @abstractmethod
    def estimate(self, found: Any, how: Estimation, classes: np.ndarray) -> dict[str, Any]:
        """Return fields of `IndependentColumns`, and ``parts``, distributions by position."""

    def log_evidence(self, found: Any, how: Estimation) -> float:
        """Return Σ_k log p(columns of class k), of likelihoods that have a conjugate prior."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate prior")

    def check_observed(self, found: Any) -> None:
        """Refuse columns without an observed value in any class."""
        weight = found.weight.sum(axis=0)
        if not weight.min() > 0:
            raise self._unobserved(int(np.argmin(weight)))

    def _unobserved(self, i: int) -> NotYetDetermined:
        return NotYetDetermined(f"X has no observed value in the column {self.label(i)!r}")

    def check(self, x: np.ndarray) -> np.ndarray:
        """Refuse entries that the likelihoods exclude; return the largest of each column."""
        return self.layout.check(self.where, x)

    def label(self, i: int = 0) -> Any:
        """Return the name of the group's i-th column."""
        return self.layout.columns.label(int(self.where[i]))


class NormalGroup(Group):
    """x_j | C_k ~ N(μ_kj, σ²_kj), from the weight, mean and scatter of each class."""

    def summarize(self, x: np.ndarray, rows: ClassRows) -> DiagonalMoments:
        return moments_of_classes(x, rows)

    def estimate(self, found: DiagonalMoments, how: Estimation, classes: np.ndarray) -> dict[str, Any]:
        """Return means and variances; with `bayes` the predictive Student-t of `NormalModel`."""
        overall = pooled(found)
        variance, least = column_variance(*overall)
        weight, mean, scatter = found.weight, found.mean, found.scatter
        if not how.bayes:
            spread = self._variances(weight, scatter, variance, how)
            if not np.all(weight > 0):
                mean = np.where(weight > 0, mean, overall.mean)
                spread = np.where(weight > 0, spread, variance)
            return {"normal": self.where, "mean": mean, "variance": np.maximum(spread, least, out=spread)}
        prior, v = how.pseudocounts, np.maximum(variance, least)
        weight = np.broadcast_to(weight, mean.shape)
        after, step = prior + weight, np.where(weight > 0, mean - overall.mean, 0.0)
        shape = 0.5 * after
        rate = 0.5 * (prior * v + np.maximum(scatter, 0.0) + prior * weight / after * step**2)
        location, scale = (
            overall.mean + weight / after * step,
            np.sqrt(rate * (after + 1.0) / (shape * after)),
        )
        return {
            "parts": {
                j: StudentT(dof=2.0 * shape[:, i], location=location[:, i], scale=scale[:, i])
                for i, j in enumerate(self.where)
            }
        }

    @staticmethod
    def _variances(
        weight: np.ndarray, scatter: np.ndarray, variance: np.ndarray, how: Estimation
    ) -> np.ndarray:
        """Return variances (K, d): known, shared by the classes, or of each class; the latter smoothed."""
        if how.variance is not None:
            known = np.asarray(how.variance, dtype=np.float64)
            if known.ndim and known.shape != variance.shape:
                raise ValueError(f"variance must have one entry a column, {len(variance)}, got {known.shape}")
            return known + np.zeros_like(scatter)
        added = how.var_smoothing * (variance.max() if how.of_largest else variance)
        if how.shared_variance:
            weight, scatter = weight.sum(axis=0), np.broadcast_to(scatter.sum(axis=0), scatter.shape)
        found = np.maximum(scatter, 0.0)
        found /= np.where(weight > 0, weight, 1.0)
        found += added
        return found

    def log_evidence(self, found: DiagonalMoments, how: Estimation) -> float:
        overall = pooled(found)
        v, a = np.maximum(*column_variance(*overall)), 0.5 * how.pseudocounts
        total = 0.0
        for j in range(len(v)):
            prior = NormalGamma(mean=overall.mean[j], strength=how.pseudocounts, shape=a, rate=a * v[j])
            model = NormalModel(prior=prior)
            for k, weight in enumerate(np.broadcast_to(found.weight, found.mean.shape)[:, j]):
                mean, scatter = found.mean[k, j : j + 1], found.scatter[k, j : j + 1, None]
                moments = Moments(weight=weight, mean=mean, scatter=scatter)
                total += model.log_evidence(moments)
        return total


class CategoryGroup(Group):
    """x_j | C_k ~ Cat(θ_kj), or Bernoulli: θ_kjc = (n_kjc + α) / (n_kj + α C_j)."""

    def summarize(self, x: np.ndarray, rows: ClassRows) -> Counts:
        """Count the categories of each column in every class; missing entries are not counted."""
        if len(self.layout.where("bernoulli")) == len(self.where):
            return self._zeros_and_ones(x, rows)
        largest = x.max(initial=0.0) if x.min(initial=0.0) >= 0.0 else np.nan
        if not largest < MOST_CATEGORIES:  # or an entry is missing
            high = self.check(x)
            largest = np.nanmax(high, initial=0.0)
            if not largest < MOST_CATEGORIES:
                raise many_categories(self.label(int(np.nanargmax(high))), int(largest) + 1)
        found = category_counts(x, rows.codes, rows.n_classes, rows.weights, int(largest) + 1)
        if found is None:  # a fraction is no code
            self.check(x)
        return Counts(counts=found)

    def _zeros_and_ones(self, x: np.ndarray, rows: ClassRows) -> Counts:
        """Count zeros and ones, or the entries on either side of a threshold."""
        given, threshold = (rows.codes, rows.n_classes, rows.weights), self.layout.binarize
        if threshold is None:
            self.check(x)
        ones = class_sums(x, *given, within=(-LARGEST, LARGEST), above=threshold)
        total = rows.total[:, None]
        if not np.all(np.isfinite(ones)):
            seen = observed(x)
            ones = class_sums(
                np.where(seen, x, 0.0 if threshold is None else threshold), *given, above=threshold
            )
            total = class_sums(seen.astype(np.float64), *given)
        return Counts(counts=np.stack([np.maximum(total - ones, 0.0), ones], axis=-1))

    def counts(self, found: Counts, how: Estimation) -> tuple[np.ndarray, Categories]:
        """Return the counts of all categories of all columns, (K, Σ C_j), and how many each column has."""
        counts = found.padded(1).counts
        K, most = len(counts), counts.shape[-1]
        binary = self.layout.among(self.where, "bernoulli")
        if most <= 2 and np.all(binary):
            counts = np.pad(counts, ((0, 0), (0, 0), (0, 2 - most))) if most < 2 else counts
            return counts.reshape(K, -1), Categories(sizes=np.full(len(binary), 2))
        seen = np.where(np.any(counts > 0, axis=0), np.arange(1, most + 1), 1).max(axis=1)
        least = np.atleast_1d(1 if how.min_categories is None else how.min_categories)
        if len(least) not in (1, len(self.where)):
            raise ValueError(
                f"min_categories must have one entry a column, {len(self.where)}, got {len(least)}"
            )
        sizes = np.maximum(seen, least).astype(np.int64)
        sizes[binary] = 2
        for i in np.flatnonzero(~binary):
            table = self.layout.columns.categories[self.where[i]]
            if table is not None:
                sizes[i] = len(table)
        more = max(int(sizes.max()) - most, 0)
        counts = np.pad(counts, ((0, 0), (0, 0), (0, more)))
        return counts[:, np.arange(most + more) < sizes[:, None]], Categories(sizes=sizes)

    def estimate(self, found: Counts, how: Estimation, classes: np.ndarray) -> dict[str, Any]:
        """Return smoothed probabilities; a class without counts of a column has those of all classes."""
        alpha = how.pseudocounts
        if alpha > 0 and self.layout.one_kind == "bernoulli":
            zeros, ones = np.moveaxis(found.padded(2).counts, -1, 0)
            return {"binary": self.where, "probability": (ones + alpha) / (zeros + ones + 2.0 * alpha)}
        counts, categories = self.counts(found, how)
        uniform = np.repeat(1.0 / categories.sizes, categories.sizes)
        overall = categories.probabilities(counts.sum(axis=0, keepdims=True), uniform)
        probabilities = categories.probabilities(counts + alpha, overall)
        binary = self.layout.among(self.where, "bernoulli")
        many = ~binary
        unseen = np.full((len(counts), len(self.where)), -np.inf)
        if alpha > 0 and np.any(many):
            unseen = np.log(alpha) - np.log(categories.totals(counts) + alpha * (categories.sizes + 1.0))
        return {
            "binary": self.where[binary],
            "probability": probabilities[:, categories.starts[binary] + 1],
            "categorical": self.where[many],
            "sizes": categories.sizes[many],
            "probabilities": probabilities[:, np.repeat(many, categories.sizes)],
            "log_unseen": unseen[:, many],
        }

    def log_evidence(self, found: Counts, how: Estimation) -> float:
        """Return Σ_k log p(categories of class k), probabilities integrated out under Dirichlet priors."""
        counts, categories = self.counts(found, how)
        return float(
            sum(
                dirichlet_increment(np.full(own.shape[1], float(how.pseudocounts)), own).sum()
                for own in categories.by_column(counts)
            )
        )


class PoissonGroup(Group):
    """x_j | C_k ~ Poisson(λ_kj), under a prior worth α rows of the average count.

    The statistic has the moments of the counts and of log x!, which the evidence needs.
    """

    def summarize(self, x: np.ndarray, rows: ClassRows) -> Totals:
        self.check(x)
        factorials = gammaln(np.asarray(x, dtype=np.float64) + 1.0)
        return totals_of_classes(np.concatenate([x, factorials], axis=1), rows)

    def estimate(self, found: Totals, how: Estimation, classes: np.ndarray) -> dict[str, Any]:
        """Return rates (S + α m) / (n + α); with `bayes` the predictive negative binomials."""
        sums, weight, average = self._counts(found)
        if not how.bayes:
            rate = smoothed_rates(sums, weight, how.pseudocounts, average, average)
            return {"counted": self.where, "rate": rate}
        shape, mean = sums + how.pseudocounts * average, weight + how.pseudocounts
        mean = shape / mean
        return {
            "parts": {
                j: NegativeBinomial(shape=shape[:, i], mean=mean[:, i]) for i, j in enumerate(self.where)
            }
        }

    def log_evidence(self, found: Totals, how: Estimation) -> float:
        sums, weight, average = self._counts(found)
        d = len(self.where)
        prior = np.stack([how.pseudocounts * average, np.full(d, how.pseudocounts)], axis=-1)
        evidence = gamma_increment(prior, np.stack(np.broadcast_arrays(sums, weight), axis=-1))
        return float(np.sum(evidence)) - float(np.sum(found.total[:, d:]))

    def _counts(self, found: Totals) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the totals and the weights of counts in each class, (K, d), and the average counts (d,)."""
        sums, weight = (a[:, : len(self.where)] for a in (found.total, found.weight))
        # Where no class has a count, the average is that of half a count.
        return sums, weight, np.maximum(sums.sum(axis=0), 0.5) / weight.sum(axis=0)

    def check_observed(self, found: Totals) -> None:
        super().check_observed(replace(found, weight=found.weight[:, : len(self.where)]))


class MultinomialGroup(Group):
    """Counts x | C_k that are multinomial given their total, with probabilities p_k.

    With totals that are Poisson(λ) in every class the columns are independent, Poisson(λ p_kj), and the total
    has the same distribution in all classes.
    """

    def summarize(self, x: np.ndarray, rows: ClassRows) -> Totals:
        return totals_of_classes(x, rows, self.check)

    def estimate(self, found: Totals, how: Estimation, classes: np.ndarray) -> dict[str, Any]:
        """Return rates λ p_kj, with λ the average total of a row."""
        sums, weight = found.total.sum(axis=0), found.weight.sum(axis=0)
        length = max(float(np.sum(sums / weight)), 0.5 / float(weight.max()))
        overall = multinomial_probabilities(sums[None], weight[None], how.pseudocounts)
        each = multinomial_probabilities(found.total, found.weight, how.pseudocounts, overall)
        return {"counted": self.where, "rate": length * each}


class FittedColumn(Group):
    """x_j | C_k is of a family fitted to each class, or the predictive of a conjugate model.

    A family without a finite statistic, and a kernel density estimate, store the values of the class.
    """

    @property
    def kind(self) -> Any:
        """The word "kernel", the family, by name or itself, or the conjugate model."""
        return self.layout.likelihoods[int(self.where[0])]

    @property
    def is_kernel(self) -> bool:
        """Whether the likelihood is a kernel density estimate."""
        return isinstance(self.kind, str) and self.kind == "kernel"

    def summarize(self, x: np.ndarray, rows: ClassRows) -> tuple[Any, ...]:
        return _of_each_class(self._statistic, x[:, 0], rows)

    def _statistic(self, x: np.ndarray, weights: np.ndarray | None) -> Any:
        if isinstance(self.kind, ConjugateModel):
            return self.kind.summarize(x, weights)
        statistic = None if self.is_kernel else getattr(family_of(self.kind), "statistic", None)
        if statistic is None:
            return StoredRows.of(x[:, None], weights)
        return statistic.of(x if statistic is Counts else x[:, None], weights)

    def check_observed(self, found: tuple[Any, ...]) -> None:
        if all(part is None for part in found):
            raise self._unobserved(0)

    def estimate(self, found: tuple[Any, ...], how: Estimation, classes: np.ndarray) -> dict[str, Any]:
        """Return the distribution of each class; of a class without values, that of all classes together."""
        whole = reduce(add, [part for part in found if part is not None])
        members = []
        for part, name in zip(found, classes.tolist(), strict=True):
            try:
                members.append(self._member(whole if part is None else part, whole, how))
            except ValueError as error:
                raise NotYetDetermined(f"X: the column {self.label()!r} in class {name!r}: {error}") from None
        return {"parts": {int(self.where[0]): Stacked(members=members)}}

    def _member(self, part: Any, whole: Any, how: Estimation) -> Any:
        if isinstance(self.kind, ConjugateModel):
            return self.kind.update(part).predictive()
        if self.is_kernel:
            points, weights = part.values[:, 0], part.weights
            bandwidth = _bandwidth(points, weights, whole, how)
            return SmoothedEmpirical(points=points, bandwidth=bandwidth, weights=weights, window=how.kernel)
        family = family_of(self.kind)
        if isinstance(part, StoredRows):
            fitted = family.fit(part.values[:, 0], sample_weight=part.weights)
        else:
            fitted = family.from_statistic(part)
        return fitted[0] if fitted.batch_shape else fitted

    def log_evidence(self, found: tuple[Any, ...], how: Estimation) -> float:
        if not isinstance(self.kind, ConjugateModel):
            raise AttributeError(
                "log_evidence_ needs conjugate priors, and families that are fitted have none"
            )
        return float(sum(self.kind.log_evidence(part) for part in found if part is not None))


#: The group of tables whose columns all have one of these likelihoods.
GROUPS: dict[str, type[Group]] = {
    "normal": NormalGroup,
    "categorical": CategoryGroup,
    "bernoulli": CategoryGroup,
    "poisson": PoissonGroup,
    "multinomial": MultinomialGroup,
}


class Overall(NamedTuple):
    """Weight, mean and scatter of columns, (d,) or (1,) and (d,)."""

    weight: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray


def pooled(found: DiagonalMoments) -> Overall:
    """Return the moments of all of K classes together: their scatter within and between the classes.

    Every column has been observed.
    """
    each, mean = found.weight, found.mean
    weight, some = each.sum(axis=0), each[:, 0]

    def total(x: np.ndarray) -> np.ndarray:
        return some @ x if each.shape[1] == 1 else np.einsum("kd,kd->d", each, x)

    first = mean[some.argmax()]  # differences of means keep their digits far from the origin
    step = mean - first
    shift = total(step) / weight
    step -= shift
    step *= step
    return Overall(weight, first + shift, found.scatter.sum(axis=0) + total(step))


def column_variance(weight: Any, mean: np.ndarray, scatter: np.ndarray) -> tuple[np.ndarray, Any]:
    """Return the variance of each column over all classes, 0 if it is constant, and the least of a class."""
    variance = np.maximum(scatter, 0.0) / weight
    stddev = np.sqrt(variance)
    if np.all(column_varies(mean, stddev)):
        return variance, TINY
    found = Standardizer.from_stddev(mean, stddev)
    variance = 1.0 / found.scale**2
    return np.where(found.varies, variance, 0.0), np.where(found.varies, TINY, variance)


def moments_of_classes(x: np.ndarray, rows: ClassRows) -> DiagonalMoments:
    """Return weight, mean and scatter of the observed entries of every class, (K, d)."""
    xp, codes = namespace_of(x), rows.codes
    found = class_moments(x, codes, rows.n_classes, rows.weights)
    weight, mean, scatter, total = on_host(found) if is_foreign_array(x) else found
    unseen = np.zeros(rows.n_classes)
    if weight.shape[1] > 1 and np.any(weight != total[:, None]):
        check_no_infinity(x)
        empty = xp.nonzero(xp.all(xp.isnan(x), axis=1))[0]
        one = xp.take(row_weights(rows.weights, as_rows(x[:, :1])), empty)
        unseen += on_host(weighted_counts(xp.take(codes, empty), one, rows.n_classes))
    if not (scatter.min(initial=1.0) > SMALL and are_moderate(mean, scatter)):
        check_class_squares(scatter, mean, x, rows)
    return DiagonalMoments(weight=weight, mean=mean, scatter=scatter, total=total, unseen=unseen)


def check_no_infinity(x: Any) -> None:
    """Refuse rows with an infinite entry."""
    xp = namespace_of(x)
    if bool(xp.any(xp.isinf(x))):
        raise ValueError("X contains infinity; remove the rows or mark the entries as missing (NaN)")


def observed(x: np.ndarray) -> np.ndarray:
    """Return which entries are not missing; refuse those that are infinite or too large to square."""
    check_no_infinity(x)
    seen = ~np.isnan(x)
    if np.max(np.abs(x), where=seen, initial=0.0) > LARGEST:
        raise too_large("X")
    return seen


def are_moderate(mean: np.ndarray, scatter: np.ndarray) -> bool:
    """Whether no entry is infinite or too large to square, by the moments of all entries."""
    far = max(mean.max(initial=0.0), -mean.min(initial=0.0))
    return bool(far < LARGEST and scatter.max(initial=0.0) < LARGEST**2)


def check_class_squares(scatter: np.ndarray, mean: np.ndarray, x: Any, rows: ClassRows) -> None:
    """Raise where the sum of squares of a column in a class overflows, or underflows though it varies."""
    xp = namespace_of(x)
    check_no_infinity(x)
    if not are_moderate(mean, scatter):
        raise too_large("X")
    several = rows._replace(weights=None).total > 1.0  # one row differs from none
    small = (scatter <= SMALL) & several[:, None]
    if not np.any(small):
        return
    own = xp.nonzero(xp.take(beside(np.any(small, axis=1), x), rows.codes, axis=0))[0]
    codes, x = xp.take(rows.codes, own), xp.take(x, own, axis=0)
    center, small = (xp.take(beside(a, x), codes, axis=0) for a in (mean, small))
    lost = small & (xp.abs(x - center) > 4.0 * float(np.finfo(np.float64).eps) * xp.abs(center))
    if bool(xp.any(lost)):
        k = int(codes[xp.nonzero(xp.any(lost, axis=1))[0][0]])
        w = None if rows.weights is None else xp.take(rows.weights, xp.nonzero(rows.codes == k)[0])
        check_squares(beside(scatter[k], x), x[codes == k, :], beside(mean[k], x), w)


def totals_of_classes(x: np.ndarray, rows: ClassRows, check: Callable[[Any], Any] = observed) -> Totals:
    """Return weight and sum of the observed entries of every class, (K, d).

    None is negative: `check` refuses these, where an entry is missing, negative or too large.
    """
    given = rows.codes, rows.n_classes, rows.weights
    sums = class_sums(x, *given, within=(0.0, LARGEST))
    if np.all(np.isfinite(sums)):
        return Totals(weight=rows.total[:, None], total=sums)
    check(x)
    seen = observed(x)
    sums = class_sums(np.where(seen, x, 0.0), *given)
    if not np.all(np.isfinite(sums)):
        raise too_large("X")
    return Totals(weight=class_sums(seen.astype(np.float64), *given), total=sums)


def sparse_class_statistics(layout: ColumnLikelihoods, X: Any, labels: Any, weights: Any) -> ByClass | None:
    """Return the statistic of each class of sparse rows (CSR) by products with their stored entries alone.

    All columns are counts of a multinomial, or zeros and ones. None where what is not stored is no zero after
    `binarize`, where entries are missing, and where an entry is refused, which dense blocks say of which.
    """
    likelihoods, stored = set(layout.likelihoods), X.data
    if not (likelihoods <= {"multinomial"} or likelihoods <= {"bernoulli"}):
        return None
    if likelihoods == {"bernoulli"}:
        if layout.binarize is not None:
            if not layout.binarize >= 0.0 or np.any(np.isnan(stored)):
                return None
            stored = (stored > layout.binarize).astype(np.float64)
        elif not np.all((stored == 0.0) | (stored == 1.0)):
            return None
    elif not np.min(stored, initial=0.0) >= 0.0:
        return None
    X = with_entries(X, stored)
    if weights is not None and not np.all(weights > 0.0):
        some = np.flatnonzero(weights > 0.0)
        X, labels, weights = X[some], labels[some], weights[some]
    found, codes = label_codes(labels)
    dim = X.shape[1]
    total = np.bincount(codes, weights, len(found)).astype(np.float64)
    sums = sparse_class_sums(X, codes, len(found), weights)
    if likelihoods == {"bernoulli"}:
        zeros = np.maximum(total[:, None] - sums, 0.0)
        part: Any = Counts(counts=np.stack([zeros, sums], axis=-1))
    else:
        part = Totals(weight=total[:, None], total=sums)
    parts = SideBySide(parts=(part,), total=total, dim=dim, about=layout)
    return ByClass(labels=found, parts=parts, dim=dim)


def with_entries(X: Any, stored: np.ndarray) -> Any:
    """Return the sparse rows that have other numbers at the same places, as float64."""
    found = copy(X)
    found.data = stored.astype(np.float64, copy=False)
    return found


def has_sparse_scores(columns: IndependentColumns, X: Any, binarize: float | None) -> bool:
    """Whether the scores of sparse rows (CSR) are a product with their stored entries.

    What is not stored must be a zero after `binarize`, no entry missing or negative, and, of zeros and ones,
    no probability 0 or 1.
    """
    stored, p = X.data, columns.probability
    if len(columns.binary) == X.shape[1]:
        if np.any((p == 0.0) | (p == 1.0)):
            return False
        if binarize is None:
            return bool(np.all((stored == 0.0) | (stored == 1.0)))
        return binarize >= 0.0 and not np.any(np.isnan(stored))
    return len(columns.counted) == X.shape[1] and bool(np.min(stored, initial=0.0) >= 0.0)


def sparse_class_scores(columns: IndependentColumns, X: Any, binarize: float | None) -> np.ndarray:
    """Return log p(x | C_k) of sparse rows (CSR), up to a number a row; see `has_sparse_scores`."""
    binary = len(columns.binary) > 0
    X = with_entries(X, X.data if not binary or binarize is None else X.data > binarize)
    if binary:
        none = np.log1p(-columns.probability)
        return X @ (np.log(columns.probability) - none).T + none.sum(axis=1)
    if not np.all(columns.rate > 0.0):  # 0 ln 0 = 0
        X = X.copy()
        X.eliminate_zeros()
    with np.errstate(divide="ignore"):
        return X @ np.log(columns.rate).T - columns.rate.sum(axis=1)


def multinomial_probabilities(
    counts: np.ndarray, weight: np.ndarray, pseudocounts: float, overall: np.ndarray | None = None
) -> np.ndarray:
    """Return the probabilities p_j, (K, d), of totals S_j whose column was observed in rows of weight n_j.

    Totals S_j are Poisson with means λ p_j n_j, where λ, the average total of a row of this class, is free.
    Under a Dirichlet prior of α pseudocounts the posterior mode has

        p_j = (S_j + α) / (S n_j / E + α d),    E = Σ_j n_j p_j,    S = Σ_j S_j,

    which is (S_j + α) / (S + α d) where nothing is missing, and proportional to the mean counts S_j / n_j
    where α = 0. A column that was never observed has its `overall` probability, (1, d).
    """
    d = counts.shape[1]
    default = np.full((1, d), 1.0 / d) if overall is None else overall
    found = counts + pseudocounts
    size = found.sum(axis=1, keepdims=True)
    low = weight.min(axis=1)
    whole = (low == weight.max(axis=1)) & (low > 0) & (size[:, 0] > 0)
    if np.all(whole):
        found /= size
        return found
    found /= np.where(size > 0, size, 1.0)
    weight = np.broadcast_to(weight, counts.shape)
    for k in np.flatnonzero(~whole):
        found[k] = _mode_of_observed(counts[k], weight[k], pseudocounts, default[0], overall is None)
    return found


def _mode_of_observed(
    counts: np.ndarray, weight: np.ndarray, pseudocounts: float, overall: np.ndarray, alone: bool = False
) -> np.ndarray:
    """Return the probabilities (d,) of one class, of which columns were observed in different rows."""
    seen, d = weight > 0, len(counts)
    if not np.all(seen):
        if alone or not np.any(seen):
            return overall
        rest = overall[seen].sum()
        found = np.array(overall)
        found[seen] = rest * _mode_of_observed(counts[seen], weight[seen], pseudocounts, overall[seen] / rest)
        return found
    total = float(counts.sum())
    if not total + pseudocounts > 0:
        return overall
    low, high = float(weight.min()), float(weight.max())

    def at(observed: float) -> np.ndarray:
        return (counts + pseudocounts) / (total * weight / observed + pseudocounts * d)

    if not total > 0 or not pseudocounts > 0 or low == high:
        found = at(high) if total > 0 else np.ones(d)
    else:
        found = at(brentq(lambda e: at(e).sum() - 1.0, low, high, xtol=1e-14 * high))
    return found / found.sum()


def check_rule(bandwidth: Any) -> None:
    """Refuse a bandwidth that is neither a rule nor a positive number."""
    if isinstance(bandwidth, str):
        check_choice("bandwidth", bandwidth, ("silverman", "scott", "isj", "loo", "lscv"))
    elif isinstance(bandwidth, bool) or not (
        isinstance(bandwidth, Real) and 0.0 < float(bandwidth) < float("inf")
    ):
        raise ValueError(f"bandwidth must be a rule or a positive number, got {bandwidth!r}")


def _of_each_class(of: Any, x: np.ndarray, rows: ClassRows) -> tuple[Any, ...]:
    """Return the statistic of one column, (n,), in every class; None where nothing was observed."""
    check_no_infinity(x)
    seen, found = ~np.isnan(x), list[Any]()
    for k in range(rows.n_classes):
        own = seen & (rows.codes == k)
        w = None if rows.weights is None else rows.weights[own]
        found.append(of(np.asarray(x[own], dtype=np.float64), w) if own.any() else None)
    return tuple(found)


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


def warnings_of(statistic: ByClass, layout: ColumnLikelihoods, how: Estimation) -> Iterator[str]:
    """Return warnings about columns that cannot distinguish classes, and about classes without variance."""
    if len(layout.where("multinomial")) == 1 < len(layout.likelihoods):
        label = layout.columns.label(int(layout.where("multinomial")[0]))
        yield (
            f'likelihoods: the column {label!r} alone is "multinomial": it has all of its total in every '
            'class and cannot distinguish them; "poisson" compares counts themselves'
        )
    known = how.shared_variance or how.variance is not None or how.bayes
    if known or not len(layout.where("normal")) or len(statistic.parts) < 2:
        return
    moments = statistic.parts.parts[0]
    if moments.scatter.min() > 0.0:
        return
    unseen = moments.weight <= 0
    rigid = np.all((moments.scatter <= 0.0) | unseen, axis=1) & ~np.all(unseen, axis=1)
    if np.any(rigid) and not np.all(rigid):
        name = statistic.labels[rigid].tolist()[0]
        yield (
            f"y: the class {name!r} has a single row, or rows that are all alike: its variances are "
            f"var_smoothing={how.var_smoothing:g} of those of all rows, and a row that differs at all is not "
            'taken for one of it; NaiveBayes(estimate="bayes") learns from few rows'
        )
