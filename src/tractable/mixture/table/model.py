"""Mixtures over the columns of a table: parameters, rows in the numbers of the search, imputed entries."""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.grouping import by_pattern
from tractable.base.table_rows import TableSummary
from tractable.columns import ColumnLikelihoods, indicators
from tractable.columns.counts import log_average_counts
from tractable.covariance import Full
from tractable.covariance.shapes import scale_columns
from tractable.data import Batch, TableColumns
from tractable.data.table_columns import MOST_CATEGORIES, binarized
from tractable.distributions import (
    Bernoulli,
    Categorical,
    IndependentColumns,
    Mixture,
    MultivariateNormal,
    Normal,
    Product,
)
from tractable.distributions.independent_columns import Categories, some_columns
from tractable.primitives.em import PatternRows, group_by_pattern
from tractable.statistics import Standardizer
from tractable.value import value

#: Entries of the arrays that a block of rows makes.
BLOCK_ENTRIES = 2**20


@value
class TableParameters:
    """The parameters of K components, normal columns in standardized coordinates."""

    weights: np.ndarray  # (K,)
    means: np.ndarray  # (K, p), of the normal columns
    variances: np.ndarray  # (K, p), or covariances (K, p, p) where normal columns are not independent
    rates: np.ndarray  # (K, number of columns of counts)
    ones: np.ndarray  # (K, number of binary columns), probabilities of one
    probabilities: np.ndarray  # (K, number of categories of all categorical columns)


@value
class EncodedRows:
    """A block of rows as the E-step takes it; rows without an observed entry are left out."""

    x: np.ndarray  # (n, d), normal columns standardized, categories by their codes
    weights: np.ndarray | None
    indicators: Any  # sparse (n, number of categories), one where a row has a category
    patterns: PatternRows | None  # the normal columns, by which are missing; None if these are independent
    log_base: float  # the part of the log likelihood that does not depend on the parameters

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.x)


@value
class TableEncoding:
    """Rows of a table in the numbers of the search: called with a block, it returns `EncodedRows`.

    Parameters
    ----------
    columns : TableColumns
        Names, kinds and categories of the columns.
    standardizer : Standardizer
        Of all columns; its shift is the average count where a column has counts.
    sizes : array of int
        Number of categories of each categorical column.
    joint : bool
        Whether the normal columns of a component have covariances.
    """

    columns: TableColumns
    standardizer: Standardizer
    sizes: np.ndarray
    joint: bool = False

    @classmethod
    def from_summary(
        cls, columns: TableColumns, summary: TableSummary, *, joint: bool = False
    ) -> "TableEncoding":
        """Return the encoding of rows with this summary, unless columns hold what their kinds exclude.

        Parameters
        ----------
        columns : TableColumns
            Names, kinds and categories of the columns.
        summary : TableSummary
            Of the rows.
        joint : bool
            Whether the normal columns of a component have covariances, if there are several.
        """
        found = summary.columns
        found.check_observed(columns.names)
        discrete = columns.where("categorical", "poisson", "bernoulli")
        columns.check_ranges(discrete, found.low[discrete], found.high[discrete], summary.whole[discrete])
        where = columns.where("categorical")
        for j in where[found.high[where] >= MOST_CATEGORIES]:
            raise ValueError(
                f"X has the code {found.high[j]:g} in the column {columns.label(int(j))!r}: codes of "
                f"categories are 0, 1, 2, …, fewer than {MOST_CATEGORIES}"
            )
        tables = [columns.categories[j] for j in where]
        sizes = [
            int(found.high[j]) + 1 if table is None else len(table)
            for j, table in zip(where, tables, strict=True)
        ]
        return cls(
            columns=columns,
            standardizer=found.standardizer(),
            sizes=np.array(sizes, dtype=np.int64),
            joint=joint and len(columns.where("normal")) > 1,
        )

    @cached_property
    def normal(self) -> np.ndarray:
        """Positions of the normal columns."""
        return self.columns.where("normal")

    @cached_property
    def counted(self) -> np.ndarray:
        """Positions of the columns of counts."""
        return self.columns.where("poisson")

    @cached_property
    def binary(self) -> np.ndarray:
        """Positions of the columns of zeros and ones."""
        return self.columns.where("bernoulli")

    @cached_property
    def categorical(self) -> np.ndarray:
        """Positions of the categorical columns."""
        return self.columns.where("categorical")

    @cached_property
    def layout(self) -> ColumnLikelihoods:
        """The columns, each with the family of its kind."""
        return ColumnLikelihoods(columns=self.columns, likelihoods=self.columns.kinds)

    @property
    def categories(self) -> Categories:
        """The categories of the categorical columns, column after column."""
        return Categories(sizes=self.sizes)

    @property
    def average(self) -> np.ndarray:
        """The average counts."""
        return self.standardizer.shift[self.counted]

    def __call__(self, block: Batch) -> EncodedRows:
        """Encode a block of rows."""
        x = np.asarray(block.X, dtype=np.float64)
        w = None if block.weights is None else np.asarray(block.weights, dtype=np.float64)
        missing = np.isnan(x)
        some = ~missing.all(axis=1)
        if not some.all():
            x, missing, w = x[some], missing[some], None if w is None else w[some]
        counts = some_columns(x, self.counted)
        base = log_average_counts(counts, np.where(self.average > 0, self.average, 1.0))
        if len(self.normal):
            scaled = self.standardizer[self.normal]
            base = base + (~some_columns(missing, self.normal)) @ np.log(scaled.scale)
            x = np.array(x)
            x[:, self.normal] = scaled.transform(x[:, self.normal])
        return EncodedRows(
            x=x,
            weights=w,
            indicators=indicators(x[:, self.categorical], self.sizes),
            log_base=float(base.sum() if w is None else base @ w),
            patterns=group_by_pattern(x[:, self.normal]) if self.joint else None,
        )

    def independent_columns(self, params: TableParameters, standardizer: Any = None) -> IndependentColumns:
        """Return the columns of each component, standardized or (with a `standardizer`) as they were.

        Normal columns that are not independent of each other are left out.
        """
        means, variances = params.means, params.variances
        if self.joint:
            means = variances = np.zeros((len(means), 0))
        elif standardizer is not None:
            scaled = standardizer[self.normal]
            means, variances = scaled.inverse_transform(means), variances / scaled.scale**2
        return IndependentColumns(
            parts=(None,) * len(self.columns.kinds),
            normal=self.normal[:0] if self.joint else self.normal,
            mean=means,
            variance=variances,
            counted=self.counted,
            rate=params.rates,
            binary=self.binary,
            probability=params.ones,
            categorical=self.categorical,
            sizes=self.sizes,
            probabilities=params.probabilities,
        )

    def product(self, params: TableParameters, names: tuple[Any, ...] | None) -> Product:
        """Return the components as a `Product` of batch K, in the units of the table."""
        columns = self.independent_columns(params, self.standardizer)
        if not self.joint:
            return columns.product(names)
        scaled = self.standardizer[self.normal]
        normal = MultivariateNormal(
            mean=scaled.inverse_transform(params.means),
            covariance=scale_columns(Full.jittered(params.variances), 1.0 / scaled.scale),
        )
        others = [j for j in range(len(self.columns.kinds)) if j not in set(self.normal.tolist())]
        named = names is not None and all(isinstance(name, str) for name in names)
        return Product(
            parts=[normal, *columns.distributions(others)],
            columns=[self.normal.tolist(), *([j] for j in others)],
            names=names if named else None,
        )

    def check_rows(self, x: np.ndarray, unseen: str = "error", argument: str = "X") -> np.ndarray:
        """Return rows that the model describes, or refuse them.

        Parameters
        ----------
        x : array (n, d)
            Rows.
        unseen : {"error", "missing", "extra"}
            What unknown categories become, as in `TableColumns.known_codes`.
        argument : str
            The name of x in error messages.
        """
        where = self.normal
        odd = np.flatnonzero(np.isinf(some_columns(x, where)).any(axis=0))
        for j in where[odd]:
            raise ValueError(f"{argument} must be finite in the column {self.columns.label(int(j))!r}")
        where = self.columns.where("poisson", "bernoulli")
        if len(where):
            self.columns.check_entries(where, some_columns(x, where), argument=argument)
        if not len(self.categorical):
            return x
        codes = some_columns(x, self.categorical)
        known = self.columns.known_codes(self.categorical, codes, self.sizes, unseen, argument=argument)
        if known is not codes:
            x = x.copy()
            x[:, self.categorical] = known
        return x

    def check_values(self, j: int, values: np.ndarray, argument: str = "values") -> np.ndarray:
        """Return values of one column, or refuse those that it cannot have.

        Parameters
        ----------
        j : int
            The position of the column.
        values : array
            Its values, of any shape.
        argument : str
            Their name in error messages.
        """
        rows = np.full((values.size, len(self.columns.kinds)), np.nan)
        rows[:, j] = np.ravel(values)
        return self.check_rows(rows, argument=argument)[:, j].reshape(values.shape)


@value
class RowCheck:
    """Rows like those of a fit, checked: called with rows, it returns them or refuses their entries."""

    encoding: TableEncoding
    binarize: float | None
    unseen: str

    def __call__(self, x: Any) -> np.ndarray:
        """Return rows that the model describes."""
        return self.encoding.check_rows(binarized(np.asarray(x), self.binarize), self.unseen)


def expected(mixture: Mixture, x: np.ndarray) -> np.ndarray:
    """Return rows with missing entries replaced: means, rounded for counts, and most probable categories."""
    responsibilities = mixture.responsibilities(x)
    found = x.copy()
    for part, where in mixture.components.placed():  # type: ignore[attr-defined]
        if part.event_shape:
            means = np.zeros((len(x), len(where)))
            for k in range(mixture.n_components):
                means += responsibilities[:, k, None] * _completed(part[k], x[:, where])
            found[:, where] = np.where(np.isnan(x[:, where]), means, x[:, where])
        else:
            missing = np.isnan(x[:, where[0]])
            found[missing, where[0]] = _best(part, responsibilities[missing])
    return found


def _completed(normal: Any, x: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
    """Return rows with missing entries replaced by their means given the others, or drawn (with `rng`)."""
    found = x.copy()
    for missing, rows in by_pattern(np.isnan(x)):
        seen, gaps = np.flatnonzero(~missing), np.flatnonzero(missing)
        if len(gaps):
            given = (
                normal.condition(seen, x[np.ix_(rows, seen)]) if len(seen) else normal.expand((len(rows),))
            )
            found[np.ix_(rows, gaps)] = given.mean if rng is None else given.sample(1, rng=rng)[0]
    return found


def drawn(mixture: Mixture, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return rows with missing entries drawn given the observed ones: first a component, then the entries."""
    edges = np.cumsum(mixture.responsibilities(x), axis=1)
    labels = np.sum(rng.random((len(x), 1)) * edges[:, -1:] >= edges[:, :-1], axis=1)
    found = x.copy()
    for part, where in mixture.components.placed():  # type: ignore[attr-defined]
        missing = np.isnan(x[:, where]).any(axis=1)
        for k in np.unique(labels[missing]):
            of_k = np.flatnonzero(missing & (labels == k))
            if part.event_shape:
                found[np.ix_(of_k, where)] = _completed(part[k], x[np.ix_(of_k, where)], rng)
            else:
                found[of_k, where[0]] = part[k].sample(len(of_k), rng=rng)
    return found


def _best(part: Any, responsibilities: np.ndarray) -> np.ndarray:
    if isinstance(part, Categorical):
        rows = max(1, BLOCK_ENTRIES // part.probabilities.shape[1])
        blocks = [responsibilities[i : i + rows] for i in range(0, len(responsibilities), rows)]
        return np.concatenate([np.zeros(0), *(np.argmax(r @ part.probabilities, axis=1) for r in blocks)])
    mean = responsibilities @ part.mean
    if isinstance(part, Bernoulli):
        return mean > 0.5
    return mean if isinstance(part, Normal) else np.rint(mean)
