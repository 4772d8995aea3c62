"""Categorical columns, x_j | k ~ Cat(θ_kj), and columns of zeros and ones: from counts of categories."""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.limits import LARGEST
from tractable.arrays.namespace import is_sparse
from tractable.columns.family import ColumnFamily, Estimation, Membership
from tractable.conjugate.increments import dirichlet_increment
from tractable.data.table_columns import MOST_CATEGORIES, many_categories
from tractable.distributions.independent_columns import Categories
from tractable.primitives.naive_bayes import category_scores
from tractable.statistics import Counts
from tractable.value import value


@value
class CategoryPrior:
    """Pseudo-counts of the categories of columns.

    Parameters
    ----------
    sizes : array (d,) of int
        Number of categories C_j of each column.
    pseudocounts : float or array (Σ C_j,) or (K, Σ C_j)
        α of each category.
    otherwise : array (1, Σ C_j) or (K, Σ C_j)
        Probabilities of a column that has neither counts nor pseudo-counts.
    """

    sizes: np.ndarray
    pseudocounts: Any
    otherwise: Any


@value
class CategoryScores:
    """log θ_k(x) of rows of codes, (n, K), summed over columns."""

    tables: np.ndarray  # (Σ sizes, K), log probabilities
    starts: np.ndarray

    @classmethod
    def of(cls, columns: Any, *, least: float = -np.inf, **_: Any) -> "CategoryScores":
        """Compute the constants; logarithms are at least `least`."""
        sizes, starts = columns.sizes, Categories(sizes=columns.sizes).starts
        with np.errstate(divide="ignore"):
            tables = np.log(columns.probabilities).T
        if columns.log_unseen is not None:
            tables = np.insert(tables, starts + sizes, columns.log_unseen.T, axis=0)
            starts = starts + np.arange(len(starts))
        return cls(tables=np.maximum(tables, least), starts=starts)

    def __call__(self, x: Any) -> Any:
        """Return the scores of rows (n, d)."""
        return category_scores(x, self.tables, self.starts)

    @property
    def log_prior(self) -> float:
        """Σ log θ: the log prior of one pseudo-count of each category."""
        return float(self.tables.sum())


@value
class BernoulliScores:
    """log p_k^x (1 - p_k)^(1 - x) of rows of zeros and ones, (n, K), summed over columns."""

    log_one: np.ndarray  # (K, d)
    log_zero: np.ndarray

    @classmethod
    def of(cls, columns: Any, *, least: float = -np.inf, **_: Any) -> "BernoulliScores":
        """Compute the constants; logarithms are at least `least`."""
        p = columns.probability
        with np.errstate(divide="ignore"):
            return cls(log_one=np.maximum(np.log(p), least), log_zero=np.maximum(np.log1p(-p), least))

    def __call__(self, x: Any) -> Any:
        """Return the scores of rows (n, d), dense or sparse."""
        slopes, total = self._constants
        found = x @ slopes
        found += total
        if np.all(np.isfinite(found)):  # nothing is missing, and no probability is zero
            return found
        codes = np.stack([self.log_zero, self.log_one], axis=-1).reshape(len(self.log_zero), -1).T
        return category_scores(x, codes, 2 * np.arange(x.shape[1]))

    @property
    def log_prior(self) -> float:
        """Σ log p + log(1 - p): the log prior of one pseudo-count of zeros and of ones."""
        return float(self.log_one.sum() + self.log_zero.sum())

    @cached_property
    def _constants(self) -> tuple[np.ndarray, np.ndarray]:
        """log(p_kj / (1 - p_kj)), (d, K), and Σ_j log(1 - p_kj), (K,); NaN where these are infinite."""
        one, zero = self.log_one, self.log_zero
        if np.all(np.isfinite(one)) and np.all(np.isfinite(zero)):
            return (one - zero).T, zero.sum(axis=1)
        return np.full(one.T.shape, np.nan), np.full(len(one), np.nan)


class CategoricalColumns(ColumnFamily):
    """x_j | k ~ Cat(θ_kj), or Bernoulli: θ_kjc = (n_kjc + α_c) / Σ_c (n_kjc + α_c).

    The statistic is `Counts` (K, d, C), of as many categories as the column with the most of them has shown;
    where rows are sparse indicators of known categories, counts (K, Σ C_j).
    """

    scores = CategoryScores.of

    def summarize(self, x: Any, membership: Membership) -> Counts:
        """Count the categories of each column in every class; missing entries are not counted."""
        if is_sparse(x):
            return Counts(counts=membership.indicator_sums(x))
        largest = x.max(initial=0.0) if x.min(initial=0.0) >= 0.0 else np.nan
        if not largest < MOST_CATEGORIES:  # or an entry is missing
            high = self.check(x)
            largest = np.nanmax(high, initial=0.0)
            if not largest < MOST_CATEGORIES:
                raise many_categories(self.label(int(np.nanargmax(high))), int(largest) + 1)
        found = membership.category_counts(x, int(largest) + 1)
        if found is None:  # a fraction is no code
            self.check(x)
        return Counts(counts=found)

    def prior(self, sums: Counts, how: Estimation, classes: Any = None) -> CategoryPrior:
        categories = Categories(sizes=self._sizes(sums, how.min_categories))
        counts = self.flat(sums, categories.sizes).sum(axis=0, keepdims=True)
        uniform = np.repeat(1.0 / categories.sizes, categories.sizes)
        overall = categories.probabilities(counts, uniform)
        return CategoryPrior(sizes=categories.sizes, pseudocounts=how.pseudocounts, otherwise=overall)

    def _sizes(self, sums: Counts, least: Any) -> np.ndarray:
        """Return how many categories each column has: declared, or as many as it has shown, or `least`."""
        counts = sums.padded(1).counts
        seen = np.where(np.any(counts > 0, axis=0), np.arange(1, counts.shape[-1] + 1), 1).max(axis=1)
        least = np.atleast_1d(1 if least is None else least)
        if len(least) not in (1, len(self.where)):
            raise ValueError(
                f"min_categories must have one entry a column, {len(self.where)}, got {len(least)}"
            )
        sizes, binary = np.maximum(seen, least).astype(np.int64), self._binary
        sizes[binary] = 2
        for i in np.flatnonzero(~binary):
            table = self.layout.columns.categories[self.where[i]]
            if table is not None:
                sizes[i] = len(table)
        return sizes

    @cached_property
    def _binary(self) -> np.ndarray:
        """Which columns are Bernoulli."""
        return self.layout.among(self.where, "bernoulli")

    def flat(self, sums: Counts, sizes: np.ndarray) -> np.ndarray:
        """Return the counts of the categories column after column, (K, Σ C_j)."""
        if sums.counts.ndim == 2:
            return sums.counts
        most = int(sizes.max(initial=1))
        counts = sums.padded(most).counts
        return counts[:, np.arange(counts.shape[-1]) < sizes[:, None]]

    def estimate(self, sums: Counts, prior: CategoryPrior) -> dict[str, Any]:
        """Return smoothed probabilities; a column without counts has those of `prior.otherwise`."""
        categories, alpha = Categories(sizes=prior.sizes), prior.pseudocounts
        counts, binary = self.flat(sums, prior.sizes), self._binary
        probabilities = categories.probabilities(counts + alpha, prior.otherwise)
        many = ~binary
        unseen = np.full((len(counts), len(self.where)), -np.inf)
        if np.ndim(alpha) == 0 and alpha > 0 and np.any(many):
            unseen = np.log(alpha) - np.log(categories.totals(counts) + alpha * (categories.sizes + 1.0))
        return {
            "binary": self.where[binary],
            "probability": probabilities[:, categories.starts[binary] + 1],
            "categorical": self.where[many],
            "sizes": categories.sizes[many],
            "probabilities": probabilities[:, np.repeat(many, categories.sizes)],
            "log_unseen": unseen[:, many],
        }

    def log_evidence(self, sums: Counts, prior: CategoryPrior) -> float:
        """Return Σ_k log p(categories of class k), probabilities integrated out under Dirichlet priors."""
        each = Categories(sizes=prior.sizes).by_column(self.flat(sums, prior.sizes))
        alpha = float(prior.pseudocounts)
        return float(sum(dirichlet_increment(np.full(own.shape[1], alpha), own).sum() for own in each))


class BernoulliColumns(CategoricalColumns):
    """x_j | k ~ Bernoulli(p_kj), p_kj = (n_kj1 + α) / (n_kj + 2α), of zeros and ones.

    Where the layout has a threshold, entries are those on either side of it.
    """

    scores = BernoulliScores.of  # type: ignore[assignment]

    def summarize(self, x: Any, membership: Membership) -> Counts:
        """Count zeros and ones, (K, d, 2)."""
        threshold = self.layout.binarize
        if threshold is None and not (membership.checked or is_sparse(x)):
            self.check(x)
        found = membership.totals(x, within=(-LARGEST, LARGEST), above=threshold)
        zeros = np.maximum(found.weight - found.total, 0.0)
        return Counts(counts=np.stack([zeros, found.total], axis=-1))

    def _sizes(self, sums: Counts, least: Any) -> np.ndarray:
        return np.full(len(self.where), 2)

    def estimate(self, sums: Counts, prior: CategoryPrior) -> dict[str, Any]:
        zeros, ones = np.moveaxis(sums.padded(2).counts, -1, 0)
        rows = zeros + ones + 2.0 * prior.pseudocounts
        found = (ones + prior.pseudocounts) / np.where(rows > 0, rows, 1.0)
        if not np.all(rows > 0):
            found = np.where(rows > 0, found, prior.otherwise[:, 1::2])
        return {"binary": self.where, "probability": found}
