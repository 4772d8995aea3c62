"""Independent columns of a table, given one of K classes or components: parameters as arrays.

Naive Bayes learns such columns for every class, a table mixture for every component.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from tractable.distributions.discrete.binomial import Bernoulli
from tractable.distributions.discrete.categorical import Categorical
from tractable.distributions.discrete.poisson import Poisson
from tractable.distributions.normal import Normal
from tractable.distributions.product import Product
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
