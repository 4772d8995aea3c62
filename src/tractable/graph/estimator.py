"""Bayesian networks fitted to the columns of a table, with missing entries, by EM."""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator, either_seed_name
from tractable.base import (
    CriteriaMixin,
    DensityMixin,
    EMEstimator,
    ModelTags,
    Rows,
    check_choice,
    check_number,
)
from tractable.base.by_blocks import by_blocks, of_held_rows
from tractable.base.table_rows import TableSummary, check_table_rows, coded_table, table_events, table_score
from tractable.data import Batch, Prepared, TableColumns
from tractable.data.table_columns import (
    DECLARE,
    MOST_CATEGORIES,
    filled,
    many_categories,
    table_of,
    warn_unseen,
)
from tractable.distributions import ProbabilityTable
from tractable.distributions.table.factor import MOST_CELLS, Axis, codes_of, level_values
from tractable.engines import fold
from tractable.engines.chow_liu import mutual_informations, pair_counts, spanning_tree
from tractable.engines.em import EMProblem
from tractable.graph.directed import DirectedGraph
from tractable.graph.families import (
    CodedRows,
    Families,
    coded_rows,
    completed,
    expected_counts,
    missing_probabilities,
)
from tractable.graph.network import BayesianNetwork, families_of
from tractable.statistics import ColumnSummary
from tractable.value import value


@value
class ColumnLevels:
    """The levels of the columns of a table, and rows of numbers as positions among them.

    Parameters
    ----------
    columns : TableColumns
        Names and categories. Columns without categories hold whole numbers.
    low, sizes : tuples of int
        The least number and how many levels a column has; the least code of categories is 0.
    """

    columns: TableColumns
    low: tuple[int, ...]
    sizes: tuple[int, ...]

    @classmethod
    def from_summary(cls, columns: TableColumns, summary: TableSummary) -> "ColumnLevels":
        """Return the levels of rows with this summary: whole numbers from the least to the greatest."""
        found = summary.columns
        found.check_observed(columns.names)
        columns.check_ranges(np.arange(len(columns.kinds)), found.low, found.high, summary.whole)
        low, sizes = [], []
        for j, table in enumerate(columns.categories):
            n = found.high[j] - found.low[j] + 1 if table is None else len(table)
            if n > MOST_CATEGORIES:
                raise many_categories(columns.label(j), float(n))
            low.append(0 if table is not None else int(found.low[j]))
            sizes.append(int(n))
        return cls(columns=columns, low=tuple(low), sizes=tuple(sizes))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, x0, x1, … where they have none."""
        return tuple(f"x{j}" if self.columns.names is None else str(self.columns.names[j]) for j in self._all)

    @cached_property
    def levels(self) -> tuple[tuple[Any, ...], ...]:
        """The levels of each column, as they are in the table."""
        tables = zip(self.columns.categories, self.low, self.sizes, strict=True)
        return tuple(tuple(range(low, low + n)) if table is None else table for table, low, n in tables)

    @property
    def _all(self) -> range:
        return range(len(self.columns.kinds))

    def codes(self, x: np.ndarray, unseen: str = "error") -> np.ndarray:
        """Return rows of numbers as positions of levels, -1 where an entry is missing, (n, d).

        Parameters
        ----------
        x : array (n, d)
            Rows, NaN where an entry is missing.
        unseen : {"error", "missing"}
            What a number out of range becomes.
        """
        x = np.asarray(x, dtype=np.float64)
        self.columns.check_entries(np.array(self._all), x)
        found = x - self.low
        odd = (found < 0) | (found >= self.sizes)
        for j in np.flatnonzero(odd.any(axis=0)).tolist():
            name, entry = self.columns.label(j), x[odd[:, j], j][0]
            if unseen == "error":
                least, most = self.low[j], self.low[j] + self.sizes[j] - 1
                raise ValueError(
                    f"X: the column {name!r} has no category {entry:g}; it has {least} to {most}; {DECLARE}"
                )
            warn_unseen(name, int(entry))
        return np.where(odd | np.isnan(found), -1.0, found).astype(np.int64)

    def events(self, codes: np.ndarray) -> np.ndarray:
        """Return positions of levels as events of the network, NaN where missing."""
        values = [np.append(np.asarray(level_values(v), dtype=float), np.nan) for v in self.levels]
        return np.stack([v[codes[:, j]] for j, v in enumerate(values)], axis=1)


@value
class EventCodes:
    """Events of a network as positions of levels; see `ColumnLevels.codes`."""

    axes: tuple[Axis, ...]

    def codes(self, x: np.ndarray) -> np.ndarray:
        """Return positions of levels, -1 where an entry is missing, (n, d)."""
        found = np.full(x.shape, -1)
        for j, (_, levels) in enumerate(self.axes):
            seen = ~np.isnan(x[:, j])
            found[seen, j] = codes_of(levels, x[seen, j])[0]
        return found


@value
class LevelCheck:
    """Rows like those of a fit as events: called with rows of numbers, it returns them or refuses them."""

    levels: ColumnLevels
    unseen: str

    def __call__(self, x: Any) -> np.ndarray:
        return self.levels.events(self.levels.codes(x, self.unseen))


@value
class PairCounting:
    """Counts of pairs of levels in a block of rows."""

    levels: ColumnLevels

    def __call__(self, block: Batch) -> np.ndarray:
        x, weights = _counted(block)
        return pair_counts(self.levels.codes(x), weights, self.levels.sizes, MOST_CELLS)


@value
class FamilyCounting:
    """A block of rows as what it contributes to the tables; rows without an entry are left out."""

    coding: ColumnLevels | EventCodes
    families: Families

    def __call__(self, block: Batch) -> CodedRows:
        x, weights = _counted(block)
        codes = self.coding.codes(x)
        some = (codes >= 0).any(axis=1)
        return coded_rows(self.families, codes[some], weights[some])


def _counted(block: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a block that count, which alone have the levels of the fit, and their weights."""
    weights = block.row_weights
    return (block.X, weights) if block.weights is None else (block.X[weights > 0], weights[weights > 0])


@value
class NetworkParameters:
    """The probabilities of all tables, one after the other."""

    cells: np.ndarray  # (n_cells,)


@value
class NetworkCounts:
    """Expected counts of the cells of all tables, the log likelihood and the log prior."""

    counts: np.ndarray  # (n_cells,)
    log_likelihood: float
    penalty: float

    @property
    def objective(self) -> float:
        """The penalised log likelihood."""
        return self.log_likelihood + self.penalty

    def __add__(self, other: "NetworkCounts") -> "NetworkCounts":
        """Add the counts of two blocks; the log prior counts once."""
        return NetworkCounts(
            counts=self.counts + other.counts,
            log_likelihood=self.log_likelihood + other.log_likelihood,
            penalty=self.penalty,
        )


@value
class CountExpectation:
    """The E-step at some parameters: called with coded rows, it returns their `NetworkCounts`."""

    families: Families
    cells: np.ndarray
    penalty: float

    def __call__(self, block: CodedRows) -> NetworkCounts:
        counts, total = expected_counts(self.families, self.cells, block)
        return NetworkCounts(counts=counts, log_likelihood=total, penalty=self.penalty)


def observed_counts(block: CodedRows) -> np.ndarray:
    """Return the counts of the families that were observed."""
    return block.counts


@value
class NetworkProblem(EMProblem):
    """EM for the tables of a network: expected counts, and their relative frequencies.

    `alpha` pseudo-observations in each cell are a Dirichlet(1 + α) prior, which is in the objective.
    """

    rows: Rows | None  # None for an M-step alone
    levels: ColumnLevels
    families: Families
    alpha: float
    coding: ColumnLevels | EventCodes  # of the rows
    total: float = 0.0  # weight of the rows with an observed entry
    unseen: float = 0.0  # weight of the others

    @cached_property
    def data(self) -> Prepared:
        """What blocks of rows contribute."""
        assert self.rows is not None
        return self.rows.source.prepare(FamilyCounting(coding=self.coding, families=self.families))

    def initial(self, rng: np.random.Generator) -> NetworkParameters:
        """Return the relative frequencies in the rows in which the family of a column was observed.

        Where none lacks an entry these are the answer; where some do, no cell may be zero, or it remains so.
        """
        counts = self.data.reduce(observed_counts, label="counting")
        complete = counts.sum() >= (1.0 - 1e-12) * self.total * len(self.levels.sizes)
        return NetworkParameters(
            cells=self.families.normalized(counts + (self.alpha if complete else max(self.alpha, 1.0)))
        )

    def expect(self, params: NetworkParameters) -> CountExpectation:
        """Return the E-step at these parameters."""
        penalty = self.alpha * float(np.log(params.cells).sum()) if self.alpha else 0.0
        return CountExpectation(families=self.families, cells=params.cells, penalty=penalty)

    def maximize(self, statistic: NetworkCounts) -> NetworkParameters:
        """Return the relative frequencies of the expected counts, with pseudo-observations."""
        return NetworkParameters(cells=self.families.normalized(statistic.counts + self.alpha))


class BayesianNetworkDensity(CriteriaMixin, DensityMixin, EMEstimator):
    """Bayesian network over the categorical columns of a table, p(row) = Π_j p(x_j | parents of x_j).

    The graph is given, or is the tree over the columns that explains the rows best (Chow and Liu 1968): the
    spanning tree of greatest mutual information, of each pair over the rows in which both were observed. The
    tables are relative frequencies, smoothed by `alpha`, in one pass where all entries were observed. Missing
    entries (NaN, None) are summed out exactly, in fitting (by EM) and in answers. Fits are *exact over
    several passes*.

    The fitted network is a distribution: condition it on any columns, ask for the marginal of any others.

    Parameters
    ----------
    graph : DirectedGraph or what `DirectedGraph.of` reads, optional
        Its nodes are the columns of X, by name or position, ``"sex -> survived <- class"``; the names of the
        columns of an array are x0, x1, …. The tree when not given.
    root : column name or position, optional
        From which the edges of the tree lead away, the first column when not given; it changes no likelihood.
    alpha : float
        Pseudo-observations of each level, for each combination of levels of the parents; 0 is maximum
        likelihood, under which combinations that were not seen are impossible.
    unseen : {"error", "missing"}
        Treatment of a level that a column did not have in `fit`: an error, or taken as missing with a
        warning.
    tol : float
        The search ends when an iteration raises the objective of a row, on average, by less.
    max_iter : int
        Most iterations.

    Attributes
    ----------
    distribution_ : BayesianNetwork
        The fitted network. Text counts by its position among the categories, numbers as themselves.
    graph_ : DirectedGraph
        The graph, given or found.
    categories_ : dict from column to its categories, of which position c has the code c
        Text is sorted, a frame's categories keep their order, and whole numbers are all from the least to the
        greatest.
    n_parameters_ : int
        Number of free parameters, for `aic` and `bic`.
    n_unseen_ : float
        Weight of the rows in which every entry was missing. They do not change the fit.
    objective_trace_ : array of shape (n_iter_ + 1,)
        The penalised log likelihood of a row, on average, before the first iteration and after each.
    lower_bound_, n_iter_, converged_
        The last objective, the number of iterations, and whether they ended by `tol`.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    Examples
    --------
    >>> import tractable
    >>> penguins = tractable.datasets.load("penguins").frame[["species", "island", "sex"]]
    >>> model = tractable.BayesianNetworkDensity().fit(penguins)
    >>> print(model.graph_)
    species -> island; island -> sex
    >>> species = model.condition({"island": "Biscoe"}).marginal("species")
    >>> dict(zip(model.categories_["species"], species.probabilities.round(2).tolist()))
    {'Adelie': 0.26, 'Chinstrap': 0.01, 'Gentoo': 0.73}

    Missing entries are replaced by the most probable level, given the others of the row:

    >>> penguins["sex"].isna().sum(), model.impute(penguins)["sex"].isna().sum()
    (np.int64(11), np.int64(0))
    """

    model_tags = ModelTags(
        kind="generative", parametric=True, streaming="exact over several passes", missing_values=True
    )
    _default = "categorical"
    _reads_text = _positive_only = True
    # There is one start, the observed frequencies.
    n_init = 1
    random_state = None
    _columns_: TableColumns
    graph_: DirectedGraph
    n_features_in_: int
    n_parameters_: int

    def __init__(
        self,
        graph: Any = None,
        *,
        root: Any = None,
        alpha: float = 1.0,
        unseen: str = "error",
        tol: float = 1e-6,
        max_iter: int = 500,
    ) -> None:
        self.graph, self.root, self.alpha, self.unseen = graph, root, alpha, unseen
        self.tol, self.max_iter = tol, max_iter

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("alpha", self.alpha, least=0.0)
        check_choice("unseen", self.unseen, ("error", "missing"))
        if self.graph is not None:
            DirectedGraph.of(self.graph)
            if self.root is not None:
                raise ValueError("root must not be given with a graph: it is of the tree that is learned")

    # Rows

    def _validate_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        return check_table_rows(self, super()._validate_rows, X, y, sample_weight, reset=reset)

    def _coded(self, X: Any, leave: Any = None, *, reset: bool = False) -> Any:
        return coded_table(self, X, leave, reset=reset, categorical=True)

    def _events(self, X: Any) -> np.ndarray:
        return table_events(self, X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        return table_score(self, X, sample_weight)

    @property
    def _levels(self) -> ColumnLevels:
        levels = [table.axes[0][1] for table in self.distribution_.tables]
        coded = zip(levels, self._columns_.categories, strict=True)
        return ColumnLevels(
            columns=self._columns_,
            low=tuple(int(v[0]) if table is None else 0 for v, table in coded),
            sizes=tuple(map(len, levels)),
        )

    @property
    def categories_(self) -> dict[Any, tuple[Any, ...]]:
        """The levels of each column."""
        tables = self._density().tables
        return {self._columns_.label(j): table.axes[0][1] for j, table in enumerate(tables)}

    def _row_check(self) -> LevelCheck:
        return LevelCheck(levels=self._levels, unseen=self.unseen)

    # Fitting

    def _em_problem(self, rows: Rows | None, *, fitted: bool) -> NetworkProblem:
        if fitted:
            families, _ = families_of(self.distribution_.tables)
            levels, total, unseen = self._levels, 0.0, self.n_unseen_
            coding: ColumnLevels | EventCodes = EventCodes(axes=self.distribution_.axes)
        else:
            assert rows is not None
            summary = fold(TableSummary.of, rows.data, weights=rows.weights)
            coding = levels = ColumnLevels.from_summary(self._columns_, summary)
            families = Families(parents=self._parents(levels, rows), sizes=levels.sizes)
            families.check(levels.names)
            total, unseen = summary.columns.total, summary.columns.unseen
        return NetworkProblem(
            rows=rows,
            levels=levels,
            families=families,
            alpha=float(self.alpha),
            coding=coding,
            total=total,
            unseen=unseen,
        )

    def _parents(self, levels: ColumnLevels, rows: Rows) -> tuple[tuple[int, ...], ...]:
        """Return the columns on which each column depends, as given or by the tree."""
        if self.graph is None:
            root = 0 if self.root is None else self._position(self.root, "root")
            counts = rows.source.reduce(PairCounting(levels=levels), label="counting pairs")
            tree = spanning_tree(mutual_informations(counts, levels.sizes), root)
            return tuple((i,) if i >= 0 else () for i in tree)
        graph = DirectedGraph.of(self.graph)
        where = {node: self._position(node, "graph") for node in graph.nodes}
        other = sorted(set(range(len(levels.sizes))) - set(where.values()))
        if other:
            raise ValueError(
                f"graph must have all columns of X as nodes, and {self._columns_.label(other[0])!r} is none: "
                "leave the column out, or add it as a node without edges"
            )
        found: list[tuple[int, ...]] = [()] * len(levels.sizes)
        for node, j in where.items():
            found[j] = tuple(where[parent] for parent in graph.parents(node))
        return tuple(found)

    def _position(self, node: Any, argument: str) -> int:
        """Return the position of a column given by its name or position."""
        names = self._columns_.names
        known = [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(n) for n in names]
        if isinstance(node, str) and node in known:
            return known.index(node)
        if names is not None and node in names:
            return names.index(node)
        whole = isinstance(node, (int, np.integer)) and not isinstance(node, bool)
        if whole and 0 <= node < len(known):
            return int(node)
        raise ValueError(
            f"{argument} must name columns of X, got {node!r}; it has {', '.join(known[:12])}"
            f"{', …' if len(known) > 12 else ''}"
        )

    def _fitted_params(self, problem: NetworkProblem) -> NetworkParameters:
        return NetworkParameters(cells=families_of(self.distribution_.tables)[1])

    def _set_fitted(self, params: NetworkParameters, problem: NetworkProblem) -> None:
        families, levels = problem.families, problem.levels
        axes = list(zip(levels.names, levels.levels, strict=True))
        self.distribution_ = BayesianNetwork(
            tables=[
                ProbabilityTable(
                    probabilities=families.table(params.cells, j),
                    axes=[axes[j]],
                    given=[axes[i] for i in families.parents[j]],
                )
                for j in range(len(axes))
            ]
        )
        self.graph_ = self.distribution_.graph
        self.n_parameters_, self.n_unseen_ = families.n_parameters, problem.unseen

    # Answers

    @by_blocks
    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log probability of what was observed in each row, (n_samples,)."""
        return self._density().log_prob(self._events(X))

    @either_seed_name
    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Any:
        """Draw new rows, as a table like the one that was fitted."""
        density = self._density()
        codes = EventCodes(axes=density.axes).codes(density.sample(n_samples, rng=random_state))
        return table_of(self._columns_, self._numbers(codes, self._levels))

    @by_blocks
    def conditional_probabilities(self, X: Any, column: Any) -> np.ndarray:
        """Return p(column | the other entries of the row) for each row, (n_samples, levels of the column).

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows, of which the column itself is not looked at; other entries may be missing.
        column : column name or position
            Whose levels, in the order of `categories_`, the probabilities are of.
        """
        families, cells = families_of(self._density().tables)
        j = self._position(column, "column")
        codes = EventCodes(axes=self.distribution_.axes).codes(self._events(X))
        codes[:, j] = -1
        return missing_probabilities(families, cells, codes, j)

    @of_held_rows
    @either_seed_name
    def impute(self, X: Any, n_draws: int | None = None, *, random_state: Any = None) -> Any:
        """Return the table with its missing entries replaced, given the observed entries of each row.

        By default each by its most probable level.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            The table; one of a source is read into memory.
        n_draws : int, optional
            When given, a list of so many tables, the missing entries of each row drawn jointly from their
            conditional distribution: multiple imputation, whose spread shows the uncertainty.
        random_state : None, int, RandomState or Generator
            Where the randomness of draws comes from.
        """
        families, cells = families_of(self._density().tables)
        codes = EventCodes(axes=self.distribution_.axes).codes(self._events(X))
        hidden = np.where(codes < 0, np.nan, codes)
        levels = self._levels
        if n_draws is None:
            found = completed(families, cells, codes)
            return filled(X, self._columns_, hidden, self._numbers(found, levels))
        check_number("n_draws", n_draws, least=1, whole=True)
        rng = as_generator(random_state)
        return [
            filled(X, self._columns_, hidden, self._numbers(completed(families, cells, codes, rng), levels))
            for _ in range(n_draws)
        ]

    def _log_likelihood(self, X: Any, sample_weight: Any) -> tuple[float, float]:
        """Return Σ w log p(x), and Σ w over the rows with an observed entry."""
        self._density()
        rows = self._validate_rows(X, None, sample_weight, reset=False)
        seen = fold(ColumnSummary.of, rows.source)
        score = self.score(X, sample_weight=sample_weight)
        return score * (seen.total + seen.unseen), seen.total

    def _numbers(self, codes: np.ndarray, levels: ColumnLevels) -> np.ndarray:
        """Return positions of levels as the numbers of a coded table."""
        return (codes + np.array(levels.low)).astype(np.float64)
