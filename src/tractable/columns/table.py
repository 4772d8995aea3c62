"""The families of the columns of a table, and the statistic of all of them for each class of rows."""

from copy import copy
from typing import Any

import numpy as np

from tractable.arrays.namespace import is_foreign_array, is_sparse, namespace_of
from tractable.columns.categorical import BernoulliColumns, CategoricalColumns
from tractable.columns.counts import MultinomialColumns, PoissonColumns
from tractable.columns.family import ColumnFamily, Estimation
from tractable.columns.fitted import FittedColumn
from tractable.columns.independent import independent_columns
from tractable.columns.likelihoods import ColumnLikelihoods
from tractable.columns.membership import ClassCodes
from tractable.columns.normal import NormalColumns
from tractable.distributions.independent_columns import IndependentColumns, some_columns
from tractable.statistics import ByClass, DiagonalMoments, SideBySide
from tractable.statistics.by_class import label_codes, labels_beside
from tractable.statistics.rows import as_weights
from tractable.value import value

#: The family of columns by their likelihoods. Statistics in files have parts in this order: append.
FAMILIES: dict[tuple[str, ...], type[ColumnFamily]] = {
    ("normal",): NormalColumns,
    ("categorical", "bernoulli"): CategoricalColumns,  # of zeros and ones alone: `BernoulliColumns`
    ("poisson",): PoissonColumns,
    ("multinomial",): MultinomialColumns,
}


def families_of(layout: ColumnLikelihoods) -> list[ColumnFamily]:
    """Return the families of columns that share a statistic, in the order of a statistic's parts."""
    found: list[ColumnFamily] = []
    for words, family in FAMILIES.items():
        where = layout.where(*words)
        only_binary = "bernoulli" in words and len(where) == len(layout.where("bernoulli"))
        if len(where):
            found.append((BernoulliColumns if only_binary else family)(layout, where))
    alone = [*layout.where("kernel"), *layout.of_families]
    return [*found, *(FittedColumn(layout, np.array([j])) for j in alone)]


@value
class ClassStatistics:
    """The statistic of each class in a block of rows: ``of(rows, labels, weights=w)`` for `fold`."""

    layout: ColumnLikelihoods

    def __call__(self, x: Any, labels: Any, weights: Any = None) -> ByClass:
        """Summarise rows, dense or sparse (see `counted_entries`); those of weight zero have no class."""
        xp = namespace_of(labels if is_sparse(x) else x)
        if not (is_foreign_array(x) or is_sparse(x)):
            x, labels = np.asarray(x), np.asarray(labels)
        words, labels = labels_beside(labels, x)
        w = weights if is_sparse(x) else as_weights(weights, x)
        if w is not None and not bool(xp.all(w > 0.0)):
            some = xp.nonzero(w > 0.0)[0]
            x = x[some] if is_sparse(x) else xp.take(x, some, axis=0)
            labels, w = (xp.take(each, some, axis=0) for each in (labels, w))
        found, codes = label_codes(labels)
        found = found if words is None else words[found]
        rows = ClassCodes(codes=codes, n_classes=len(found), weights=w)
        families = families_of(self.layout)
        parts = tuple(family.summarize(some_columns(x, family.where), rows) for family in families)
        counted = bool(parts) and isinstance(parts[0], DiagonalMoments)  # moments count rows on the way
        total = parts[0].total if counted else rows.total
        together = SideBySide(parts=parts, total=total, dim=int(x.shape[1]), about=self.layout)
        return ByClass(labels=found, parts=together, dim=together.dim)


def fitted_columns(
    statistic: ByClass, classes: np.ndarray, layout: ColumnLikelihoods, how: Estimation
) -> IndependentColumns:
    """Return the likelihood of every column in every class."""
    estimates = []
    for family, sums in zip(families_of(layout), statistic.among(classes).parts, strict=True):
        family.check_observed(sums)
        prior = family.prior(sums, how, classes)
        estimates.append(family.predictive(sums, prior) if how.bayes else family.estimate(sums, prior))
    return independent_columns(len(layout.likelihoods), estimates, len(classes))


def log_evidence(statistic: ByClass, layout: ColumnLikelihoods, how: Estimation) -> float:
    """Return Σ_k log p(rows of class k), all parameters integrated out."""
    each = zip(families_of(layout), statistic.parts.parts, strict=True)
    return float(sum(family.log_evidence(sums, family.prior(sums, how)) for family, sums in each))


def counted_entries(layout: ColumnLikelihoods, X: Any) -> Any:
    """Return sparse rows (CSR) as they are counted by their stored entries alone; None if that cannot be.

    All columns are counts of a multinomial, or zeros and ones. What is not stored must be a zero after
    `binarize`, and no entry missing or refused; dense blocks say which one is.
    """
    kind, stored = layout.one_kind, X.data
    if kind == "multinomial":
        good = bool(np.min(stored, initial=0.0) >= 0.0)
    elif kind == "bernoulli" and layout.binarize is not None:
        good = layout.binarize >= 0.0 and not np.any(np.isnan(stored))
        stored = stored > layout.binarize
    else:
        good = kind == "bernoulli" and bool(np.all((stored == 0.0) | (stored == 1.0)))
    if not good:
        return None
    found = copy(X)
    found.data = stored.astype(np.float64, copy=False)
    return found
