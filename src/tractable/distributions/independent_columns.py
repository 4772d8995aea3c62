"""Independent columns of a table, given one of K classes or components: parameters as arrays, log densities.

Naive Bayes learns such columns for every class, a table mixture for every component.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.saddle_point import count_deviance, factorial_rest
from tractable.distributions.discrete.binomial import Bernoulli
from tractable.distributions.discrete.categorical import Categorical
from tractable.distributions.discrete.poisson import Poisson
from tractable.distributions.normal import Normal
from tractable.distributions.product import Product
from tractable.primitives.naive_bayes import category_scores, diagonal_scores
from tractable.value import value


@value
class Categories:
    """The categories of several columns in one row of an array, column after column.

    Parameters
    ----------
    sizes : array (d,) of int
        Number of categories C_j of each column, at least 1; an array over all has Σ_j C_j entries a row.
    """

    sizes: np.ndarray

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the categories of each column begin, (d,)."""
        return np.cumsum(self.sizes) - self.sizes

    def totals(self, counts: np.ndarray) -> np.ndarray:
        """Return the sum of the counts of each column, (K, d), of counts (K, Σ C_j)."""
        return np.add.reduceat(counts, self.starts, axis=1) if len(self.sizes) else counts

    def probabilities(self, counts: np.ndarray, otherwise: Any) -> np.ndarray:
        """Return n_kjc / Σ_c n_kjc, (K, Σ C_j); of a column without counts, `otherwise`."""
        total = np.repeat(self.totals(counts), self.sizes, axis=1)
        if np.all(total > 0):
            return counts / total
        return np.where(total > 0, counts / np.where(total > 0, total, 1.0), otherwise)

    def by_column(self, entries: np.ndarray) -> list[np.ndarray]:
        """Return the entries (K, C_j) of each column."""
        return np.split(entries, self.starts[1:], axis=1) if len(self.sizes) else []


def smoothed_rates(
    sums: np.ndarray, weight: np.ndarray, pseudocounts: float, average: np.ndarray, otherwise: Any
) -> np.ndarray:
    """Return the Poisson rates (S + α m) / (n + α) of total counts S in rows of weight n, (K, c).

    The prior is worth α rows of the average count m; where n + α = 0 the rate is `otherwise`.
    """
    rows = weight + pseudocounts
    return np.where(rows > 0, (sums + pseudocounts * average) / np.where(rows > 0, rows, 1.0), otherwise)


def some_columns(x: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return the columns at some positions, without a copy if these are all columns."""
    if where.shape[0] == x.shape[1]:
        return x
    return x.take(where, axis=1) if type(x) is np.ndarray else x[:, where]  # in rows, as compiled code reads


@value
class IndependentColumns:
    """p(x | k) = Π_j p(x_j | k) of K classes or components.

    Columns of the common families are arrays, so that tables of thousands of columns are learned and scored
    without a distribution object for each.

    Parameters
    ----------
    parts : tuple, one entry a column
        A distribution of batch K for columns of other families; None for those in the arrays below.
    normal, counted, binary, categorical : arrays of int
        Positions of the normal, Poisson, Bernoulli and categorical columns.
    mean, variance : arrays (K, number of normal columns)
        Of the normal columns, for each component.
    rate : array (K, number of counted columns)
        Expected counts of the Poisson columns.
    probability : array (K, number of binary columns)
        Of ones.
    sizes : array (number of categorical columns,) of int
        How many categories each has.
    probabilities : array (K, Σ sizes)
        Of categories, see `Categories`.
    log_unseen : array (K, number of categorical columns), optional
        Log probability of a category that was not declared, whose code is the column's size.
    """

    parts: tuple[Any, ...]
    normal: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    counted: np.ndarray
    rate: np.ndarray
    binary: np.ndarray
    probability: np.ndarray
    categorical: np.ndarray
    sizes: np.ndarray
    probabilities: np.ndarray
    log_unseen: np.ndarray | None = None

    def by_column(self) -> list[np.ndarray]:
        """Return the probabilities (K, C_j) of each categorical column."""
        return Categories(sizes=self.sizes).by_column(self.probabilities)

    @cached_property
    def relative_scores(self) -> "ColumnScores":
        """Scores of rows that omit what is the same for all k, without log π_k."""
        return ColumnScores.of(self, np.zeros(self.n_components), relative=True)

    @property
    def n_components(self) -> int:
        """K."""
        return len(self.probabilities)

    def product(self, names: tuple[Any, ...] | None = None) -> Product:
        """Return p(x | k) as a `Product` of batch K; `names` that are not all text are left out."""
        named = names is not None and all(isinstance(name, str) for name in names)
        every = self.distributions(range(len(self.parts)))
        return Product(parts=every, names=names if named else None)

    def distributions(self, where: Iterable[int]) -> list[Any]:
        """Return the distributions of batch K of the columns at some positions."""
        parts = list(self.parts)
        for i, j in enumerate(self.normal):
            parts[j] = Normal(mean=self.mean[:, i], variance=self.variance[:, i])
        for i, j in enumerate(self.counted):
            parts[j] = Poisson(rate=self.rate[:, i])
        for i, j in enumerate(self.binary):
            parts[j] = Bernoulli(probability=self.probability[:, i])
        for j, probabilities in zip(self.categorical, self.by_column(), strict=True):
            parts[j] = Categorical(probabilities=probabilities)
        return [parts[j] for j in where]


@value
class ColumnScores:
    """log π_k + Σ_j log p(x_j | k) of blocks of rows, (n, K), with the constants of K classes computed once.

    A missing entry (NaN) is left out of the sum, which integrates it out. Counts are scored relative to the
    average rates m_j: Σ_j x_j log(r_kj / m_j) - (r_kj - m_j) keeps the digits by which classes differ where
    counts are large. The rest, log Poisson(x_j | m_j), is the same for all k; `relative` scores omit it.

    Make one with `of`.
    """

    columns: IndependentColumns
    log_weights: np.ndarray  # (K,)
    scale: np.ndarray  # (K, p), reciprocal standard deviations
    log_norm: np.ndarray  # (K, p), log density at the mean
    tables: np.ndarray  # (Σ sizes, K), log probabilities of categories
    starts: np.ndarray
    log_one: np.ndarray  # (K, b)
    log_zero: np.ndarray
    log_ratio: np.ndarray  # (K, c), of rates to average rates
    average: np.ndarray  # (c,)
    relative: bool

    @classmethod
    def of(
        cls,
        columns: IndependentColumns,
        log_weights: np.ndarray,
        *,
        relative: bool = False,
        average: np.ndarray | None = None,
        least: float = -np.inf,
    ) -> "ColumnScores":
        """Compute the constants; `average` rates are those of the K classes when not given.

        Logarithms of probabilities and of relative rates are at least `least`.
        """
        if average is None:
            average = columns.rate.mean(axis=0)
        average = np.where(average > 0, average, 1.0)
        p, stddev, sizes = columns.probability, np.sqrt(columns.variance), columns.sizes
        with np.errstate(divide="ignore"):
            tables, starts = np.log(columns.probabilities).T, Categories(sizes=sizes).starts
            if columns.log_unseen is not None:
                tables = np.insert(tables, starts + sizes, columns.log_unseen.T, axis=0)
                starts = starts + np.arange(len(starts))
            return cls(
                columns=columns,
                log_weights=log_weights,
                scale=1.0 / stddev,
                log_norm=-np.log(stddev) - 0.5 * LOG_2PI,
                tables=np.maximum(tables, least),
                starts=starts,
                log_one=np.maximum(np.log(p), least),
                log_zero=np.maximum(np.log1p(-p), least),
                log_ratio=np.maximum(_log_ratio(columns.rate, average), least),
                average=average,
                relative=relative,
            )

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the scores of rows (n, d), categories by their codes."""
        columns, found = self.columns, list[Any]()
        if columns.normal.shape[0]:
            some = some_columns(x, columns.normal)
            found.append(diagonal_scores(some, columns.mean, self.scale, self.log_norm))
        if columns.categorical.shape[0]:
            found.append(category_scores(some_columns(x, columns.categorical), self.tables, self.starts))
        if columns.binary.shape[0]:
            found.append(self._of_binary(some_columns(x, columns.binary)))
        if columns.counted.shape[0]:
            found.append(self._of_counts(some_columns(x, columns.counted)))
        scores = sum(found[1:], found[0]) if found else np.zeros((len(x), columns.n_components))
        scores += self.log_weights
        for j, part in self._others:
            seen = ~np.isnan(x[:, j])
            scores[seen] += part.log_prob(np.asarray(x[seen, j], dtype=np.float64)[:, None])
        return scores

    @cached_property
    def _others(self) -> list[tuple[int, Any]]:
        """Positions and distributions of the columns of other families."""
        return [(j, part) for j, part in enumerate(self.columns.parts) if part is not None]

    def _of_binary(self, x: np.ndarray) -> np.ndarray:
        one, zero = self.log_one, self.log_zero
        slopes, total = self._binary_constants
        found = x @ slopes
        found += total
        if np.all(np.isfinite(found)):  # nothing is missing, and no probability is zero
            return found
        codes = np.stack([zero, one], axis=-1).reshape(len(zero), -1).T
        return category_scores(x, codes, 2 * np.arange(x.shape[1]))

    @cached_property
    def _binary_constants(self) -> tuple[np.ndarray, np.ndarray]:
        """log(p_kj / (1 - p_kj)), (b, K), and Σ_j log(1 - p_kj), (K,); NaN where these are infinite."""
        one, zero = self.log_one, self.log_zero
        if np.all(np.isfinite(one)) and np.all(np.isfinite(zero)):
            return (one - zero).T, zero.sum(axis=1)
        return np.full(one.T.shape, np.nan), np.full(len(one), np.nan)

    def _of_counts(self, x: np.ndarray) -> np.ndarray:
        less, never, slopes, total = self._count_constants
        found = x @ slopes
        if np.all(np.isfinite(found)):
            found += total
        else:
            seen = ~np.isnan(x)
            found = np.where(seen, x, 0.0) @ slopes + seen.astype(np.float64) @ less.T
        if never is not None:
            found[(x > 0).astype(np.float64) @ never.T.astype(np.float64) > 0] = -np.inf
        return found if self.relative else found + log_average_counts(x, self.average)[:, None]

    @cached_property
    def _count_constants(self) -> tuple[np.ndarray, np.ndarray | None, np.ndarray, np.ndarray]:
        """m_j - r_kj, (K, c); where r_kj is zero, if anywhere; log(r_kj / m_j), (c, K); Σ_j (m_j - r_kj)."""
        less, never = self.average - self.columns.rate, np.isneginf(self.log_ratio)
        slopes = np.where(never, 0.0, self.log_ratio).T
        return less, never if np.any(never) else None, slopes, less.sum(axis=1)


def log_average_counts(x: np.ndarray, average: np.ndarray) -> np.ndarray:
    """Return Σ_j log Poisson(x_j | m_j) of rows of counts, (n,), over the entries that are not missing."""
    x = np.asarray(x, dtype=np.float64)
    seen = ~np.isnan(x)
    k = np.where(seen, x, 0.0)
    return np.sum(-factorial_rest(k) - count_deviance(k, average), axis=1, where=seen)


def _log_ratio(rate: np.ndarray, average: np.ndarray) -> np.ndarray:
    """Return log(r / m), with the digits of r - m where the two are close."""
    near = np.abs(rate - average) < 0.5 * average
    return np.where(near, np.log1p(np.where(near, (rate - average) / average, 0.0)), np.log(rate / average))
