"""Columns of categories and of yes-or-no, class by class."""

import numpy as np

from tractable.classification.naive_bayes_columns import NaiveColumns
from tractable.classification.naive_bayes_estimation import Estimation
from tractable.conjugate.increments import shares_rise
from tractable.data.table_checks import check_entries
from tractable.data.table_columns import MOST_CATEGORIES, many_categories
from tractable.distributions import Categorical
from tractable.statistics import Counts

__all__ = ["Tallies", "check_counted", "counts_of_classes"]


def check_counted(
    layout: NaiveColumns, where: np.ndarray, x: np.ndarray, *, whole: bool = True
) -> np.ndarray:
    """Refuse columns that hold what their kind does not; return the greatest entry of each, NaN of none."""
    low, high = _ends(x)
    if np.any(np.isinf(high)) or np.any(np.isinf(low)):
        raise ValueError("X contains infinity")
    fine = np.ones(len(where), dtype=bool)
    if whole and np.any(x != np.floor(x)):
        fine = np.all((x == np.floor(x)) | np.isnan(x), axis=0)
    yes_or_no = np.isin(where, layout.where("bernoulli"))
    odd = np.flatnonzero((low < 0) | ~fine | (yes_or_no & (high > 1)))
    for i in odd[np.argsort(low[odd], kind="stable")]:  # what is negative is said first
        j = int(where[i])
        ends, kind = (float(low[i]), float(high[i])), layout.likelihoods[j]
        check_entries(layout.columns, j, *ends, whole=bool(fine[i]), kind=kind)
    return high


def _ends(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the greatest entry of each column that is not missing, NaN of none."""
    if len(x):
        low, high = x.min(axis=0), x.max(axis=0)
        if not np.any(np.isnan(low)):
            return low, high
    return np.fmin.reduce(x, axis=0, initial=np.nan), np.fmax.reduce(x, axis=0, initial=np.nan)


def counts_of_classes(
    layout: NaiveColumns,
    where: np.ndarray,
    x: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None,
) -> list[Counts]:
    """Return how often each category of each column was seen in every class; missing ones count nothing."""
    high = check_counted(layout, where, x)
    most = int(np.nanmax(high, initial=0.0)) + 1
    if most > MOST_CATEGORIES:
        raise many_categories(layout.columns.label(int(where[int(np.nanargmax(high))])), most)
    if len(layout.where("bernoulli")) == len(layout.where("bernoulli", "categorical")):
        return _yes_and_no(x, codes, n_classes, weights)
    seen = ~np.isnan(x)
    d = x.shape[1]
    place = (codes.astype(np.int64)[:, None] * d + np.arange(d)) * most
    place = (place + np.where(seen, x, 0.0).astype(np.int64))[seen]
    one = None if weights is None else np.broadcast_to(weights[:, None], x.shape)[seen]
    tally = np.bincount(place, one, n_classes * d * most).astype(np.float64).reshape(n_classes, d, most)
    return [Counts(counts=part) for part in tally]


def _yes_and_no(x: np.ndarray, codes: np.ndarray, n_classes: int, weights: np.ndarray | None) -> list[Counts]:
    """Return counts of zeros and ones: two products of matrices, or one where nothing is missing."""
    members = np.zeros((n_classes, len(x)))
    members[codes, np.arange(len(x))] = 1.0 if weights is None else weights
    x = np.asarray(x, dtype=np.float64)
    ones = members @ x
    whole = members.sum(axis=1, keepdims=True)
    if not np.all(np.isfinite(ones)):
        seen = ~np.isnan(x)
        ones, whole = members @ np.where(seen, x, 0.0), members @ seen.astype(np.float64)
    zeros = np.maximum(whole - ones, 0.0)
    return [Counts(counts=part) for part in np.stack([zeros, ones], axis=-1)]


class Tallies:
    """Counts of some columns in all classes, with the categories that each column has."""

    def __init__(self, layout: NaiveColumns, where: np.ndarray, found: list[Counts], how: Estimation) -> None:
        self.layout, self.where, self.how = layout, where, how
        most = max([1, *(part.n_classes for part in found)])
        self.counts = np.stack([part.padded(most).counts for part in found])  # (K, d, C)
        self.sizes = np.array([self._size(i, int(j)) for i, j in enumerate(where)], dtype=np.int64)

    def _size(self, i: int, j: int) -> int:
        if self.layout.likelihoods[j] == "bernoulli":
            return 2
        table = self.layout.columns.categories[j]
        if table is not None:
            return len(table)
        seen = np.flatnonzero(self.counts[:, i].any(axis=0))
        least = np.atleast_1d(1 if self.how.min_categories is None else self.how.min_categories)
        if len(least) not in (1, len(self.where)):
            raise ValueError(
                f"min_categories must have one entry a column, {len(self.where)}, got {len(least)}"
            )
        asked = int(least[i % len(least)])
        return max(asked, int(seen[-1]) + 1 if len(seen) else 1)

    def of(self, i: int) -> np.ndarray:
        """Return the counts of one column, (K, C)."""
        found, size = self.counts[:, i], int(self.sizes[i])
        return (
            found[:, :size] if found.shape[1] >= size else np.pad(found, ((0, 0), (0, size - found.shape[1])))
        )

    def shares(self, i: int) -> np.ndarray:
        """Return (n_kc + α) / (n_k + α C), (K, C); of a class of which nothing is known, those of all."""
        counts = self.of(i)
        smoothed = counts + self.how.pseudocounts
        total = smoothed.sum(axis=1, keepdims=True)
        if not np.all(total > 0):
            every = counts.sum(axis=0)
            smoothed = np.where(total > 0, smoothed, every if every.sum() > 0 else 1.0)
            total = smoothed.sum(axis=1, keepdims=True)
        return smoothed / total

    def probabilities(self, where: np.ndarray) -> np.ndarray:
        """Return the shares of ones of some columns of yes or no, (K, number of them)."""
        some = np.searchsorted(self.where, where)
        counts = self.counts[:, some, :2]
        counts = np.pad(counts, ((0, 0), (0, 0), (0, 2 - counts.shape[2])))
        smoothed = counts + self.how.pseudocounts
        total = smoothed.sum(axis=2, keepdims=True)
        if not np.all(total > 0):  # of a class of which nothing is known, those of all
            smoothed = np.where(total > 0, smoothed, counts.sum(axis=0))
            total = smoothed.sum(axis=2, keepdims=True)
        return smoothed[:, :, 1] / total[:, :, 0]

    def part(self, i: int) -> Categorical:
        """Return the distribution of one column of categories, a batch of classes."""
        return Categorical(probabilities=self.shares(i))

    def log_unseen(self, i: int) -> np.ndarray:
        """Return log α / (n_k + α (C + 1)), (K,): what a category has that would have been declared."""
        alpha, counts = self.how.pseudocounts, self.of(i)
        if not alpha > 0:
            return np.full(len(counts), -np.inf)
        return np.log(alpha) - np.log(counts.sum(axis=1) + alpha * (int(self.sizes[i]) + 1))

    def log_evidence(self) -> float:
        """Return Σ_k log p(columns of class k), the shares integrated out under Dirichlet priors."""
        found = (
            shares_rise(np.full(int(n), float(self.how.pseudocounts)), self.of(i)).sum()
            for i, n in enumerate(self.sizes)
        )
        return float(sum(found))
