"""The joint distribution of the columns of any table, as a latent tree fitted by EM."""

from collections.abc import Iterable
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
from tractable.base.by_blocks import by_blocks
from tractable.base.scores import held_with_weights
from tractable.base.table_rows import TableSummary, check_table_rows, coded_table, table_events, table_score
from tractable.data import Batch, TableColumns, sample_rows
from tractable.data.table_columns import table_of
from tractable.density.latent_tree.cells import NumberCells
from tractable.density.latent_tree.model import CellEncoding, CellRowCheck, TreeParameters
from tractable.density.latent_tree.steps import TreeProblem, marginals_of, tree_over
from tractable.distributions import LatentTree
from tractable.engines import EMResult, fold
from tractable.value import replace

#: Rows in which cells, the tree and initial parameters are found, and those on which choices are compared.
SAMPLE_ROWS, CHOICE_ROWS = 20_000, 10_000

#: Parts of the rows of a choice, of which one is held out; in tables of few rows each in turn.
N_FOLDS, FEW_ROWS = 5, 1_000

#: Numbers of states that are tried.
STATES = (1, 16, 32, 64)

#: Steps of EM on a sample, to compare choices and to begin the search, at most; and the gain of a row, on
#: average, below which they end.
CHOICE_STEPS, SAMPLE_STEPS, SMALL_GAIN = 20, 30, 1e-3


class LatentTreeDensity(CriteriaMixin, DensityMixin, EMEstimator):
    """Joint distribution of the columns of a table: a hidden state for each column, on a tree, fitted by EM.

    p(row) = Σ_z p(z_root) Π_j p(z_j | z_parent(j)) p(x_j | z_j). The hidden states form the tree of Chow and
    Liu (1968) over the columns, so this is a hidden Chow-Liu tree; with one state columns are independent.
    Sums over states are exact: any columns can be conditioned on any others, and missing entries (NaN, None)
    drop out of fitting and of answers. Fits are *exact over several passes*.

    Columns of numbers are cut into cells of about equal weight; a frequent value is a cell of its own. Inside
    a cell the column keeps its own shape, so its support, signs, heaps and whole numbers hold by
    construction. Densities are constant in bins of ten rows or more; a heap is as wide as the step to which
    the column is recorded. A column of categories may have thousands of them.

    Estimates are posterior modes: each state shrinks to the column's marginal, which is tilted to the state's
    own mean and variance in columns of numbers.

    Parameters
    ----------
    n_states : int, sequence of int or "auto"
        H, the number of states of each hidden variable; of several, the least that no other exceeds, in the
        density of held-out rows, by more than a standard error. "auto" tries 1, 16, 32 and 64, and stops
        where more of them are worse.
    kinds : mapping or sequence, optional
        The kinds of columns, as in :class:`tractable.TableMixture`. Columns of numbers and of counts are cut
        into cells alike.
    start : {"auto", "row", "near"}
        Where EM begins: at one latent class model of whole rows, or at one of each column and its neighbours
        in the tree; "auto" lets held-out rows choose.
    max_cells : int
        Most cells of a column of numbers.
    unseen : {"error", "missing"}
        Treatment of a category that a column did not have in `fit`: an error, or taken as missing with a
        warning.
    tol : float
        The search ends when an iteration over all rows raises the objective of a row, on average, by less.
    max_iter : int
        Most iterations over all rows, after those on a sample of 20,000.
    random_state : None, int, RandomState or Generator
        Source of randomness; with a seed the result is repeatable.

    Attributes
    ----------
    distribution_ : LatentTree
        The fitted distribution, over numbers and the codes of categories: exact `condition`, `marginal`,
        `log_prob` and `sample`; its `mode` is a search.
    n_states_, start_ : int and str
        The number of states and the start that were chosen.
    parents_ : dict from column to column
        The tree: the parent of each column, None of the root.
    held_out_ : dict from (number of states, start) to float
        Mean log density of the held-out rows under each choice that was tried; empty if there was none.
    kinds_ : dict from column to kind
        The kind of each column.
    categories_ : dict from column to its categories, of which position c has the code c
        The categories of each categorical column, in the order of their codes.
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
    >>> penguins = tractable.datasets.load("penguins").frame.drop(columns="year")
    >>> model = tractable.LatentTreeDensity(random_state=0).fit(penguins)
    >>> heavy = model.condition({"body_mass_g": 5500.0}).marginal(["species"])
    >>> dict(zip(model.categories_["species"], heavy.prob([[0], [1], [2]]).round(1).tolist()))
    {'Adelie': 0.0, 'Chinstrap': 0.0, 'Gentoo': 1.0}
    """

    model_tags = ModelTags(
        kind="generative", parametric=True, streaming="exact over several passes", missing_values=True
    )
    _reads_text = True
    _default = "normal"
    #: The search has its own starts, see `start`.
    n_init = 1
    _columns_: TableColumns
    _encoding_: CellEncoding
    _params_: TreeParameters
    _marginals_: tuple[np.ndarray, ...]
    n_features_in_: int
    n_parameters_: int

    def __init__(
        self,
        n_states: Any = "auto",
        *,
        kinds: Any = None,
        start: str = "auto",
        max_cells: int = 64,
        unseen: str = "error",
        tol: float = 1e-2,
        max_iter: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_states, self.kinds, self.start, self.max_cells = n_states, kinds, start, max_cells
        self.unseen, self.tol, self.max_iter, self.random_state = unseen, tol, max_iter, random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for states in self._states():
            check_number("n_states", states, least=1, whole=True)
        check_choice("start", self.start, ("auto", "row", "near"))
        check_choice("unseen", self.unseen, ("error", "missing"))
        check_number("max_cells", self.max_cells, least=2, whole=True)

    def _states(self) -> tuple[Any, ...]:
        if isinstance(self.n_states, str):
            check_choice("n_states", self.n_states, ("auto",))
            return STATES
        found = tuple(self.n_states) if isinstance(self.n_states, Iterable) else (self.n_states,)
        if not found:
            raise ValueError("n_states must be a number of states, or several, got none")
        return found

    # Rows

    def _validate_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        return check_table_rows(self, super()._validate_rows, X, y, sample_weight, reset=reset)

    def _coded(self, X: Any, leave: Any = None, *, reset: bool = False) -> Any:
        return coded_table(self, X, leave, reset=reset, categorical=False)

    def _events(self, X: Any) -> np.ndarray:
        return table_events(self, X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        return table_score(self, X, sample_weight)

    def _row_check(self) -> CellRowCheck:
        return CellRowCheck(encoding=self._encoding_, unseen=self.unseen)

    # Fitting

    def _em_problem(self, rows: Rows | None, *, fitted: bool) -> TreeProblem:
        if fitted:
            return TreeProblem(
                rows=rows,
                encoding=self._encoding_,
                parents=self.distribution_.parents,
                n_states=self.n_states_,
                marginals=self._marginals_,
                unseen=self.n_unseen_,
            )
        assert rows is not None
        rng = as_generator(self.random_state, name="random_state")
        summary = fold(TableSummary.of, rows.data, weights=rows.weights)
        x, weights = sample_rows(rows.data, rows.weights, SAMPLE_ROWS, rng)
        encoding = CellEncoding.from_rows(self._columns_, summary, x, weights, self.max_cells)
        block = encoding(Batch(X=x, weights=weights))
        return TreeProblem(
            rows=rows,
            encoding=encoding,
            parents=tree_over(encoding, block),
            n_states=int(self._states()[0]),
            marginals=marginals_of(encoding, block),
            total=summary.columns.total,
            unseen=summary.columns.unseen,
        )

    def _search(self, problem: TreeProblem, earlier: Any) -> EMResult:
        """Choose the number of states and the start on held-out rows; EM on a sample, then on all rows."""
        draw, rng = as_generator(self.random_state, name="random_state").spawn(2)
        rows = problem.rows
        assert rows is not None
        x, weights = sample_rows(rows.data, rows.weights, SAMPLE_ROWS, draw)
        choice, self.held_out_ = self._choice(problem, x, weights, rng)
        self.n_states_, self.start_ = choice
        own = replace(problem, rows=Rows(data=x, weights=weights), n_states=self.n_states_)
        params = fitted_to_sample(own, self.start_, rng, SAMPLE_STEPS)
        return self._run_em(replace(problem, n_states=self.n_states_), params)

    def _choice(
        self, problem: TreeProblem, x: np.ndarray, weights: Any, rng: np.random.Generator
    ) -> tuple[tuple[int, str], dict[tuple[int, str], float]]:
        """Return the number of states and the start of the highest density of held-out rows."""
        states, starts = self._states(), ("row", "near") if self.start == "auto" else (self.start,)
        one = len(states) == 1 and (len(starts) == 1 or states[0] == 1 or x.shape[1] < 3)
        if one or len(x) == 1:  # nothing to choose, or no row to hold out
            return (int(states[0]), starts[0]), {}
        parts = np.array_split(rng.permutation(len(x))[:CHOICE_ROWS], N_FOLDS)
        folds = range(N_FOLDS if len(x) <= FEW_ROWS else 1)
        held = np.concatenate([parts[i] for i in folds])
        held_weights = None if weights is None else weights[held]

        def held_out(n: int, start: str) -> np.ndarray:
            """Return log densities of held-out rows under models of the others."""
            found = []
            for i in folds:
                some = np.concatenate([part for j, part in enumerate(parts) if j != i])
                rows = Rows(data=x[some], weights=None if weights is None else weights[some])
                block = problem.encoding(Batch(X=rows.data, weights=rows.weights))
                own = replace(
                    problem,
                    rows=rows,
                    n_states=n,
                    parents=tree_over(problem.encoding, block),
                    marginals=marginals_of(problem.encoding, block),
                )
                params = fitted_to_sample(own, start, rng, CHOICE_STEPS)
                density = problem.encoding.distribution(own.parents, params, None)
                found.append(density.log_prob(x[parts[i]]))
            return np.concatenate(found)

        scores = dict[tuple[int, str], np.ndarray]()
        for start in starts:
            best = -np.inf
            for n in map(int, states):
                if n == 1 and (1, starts[0]) in scores:
                    continue
                scores[n, start] = held_out(n, start)
                mean = float(np.average(scores[n, start], weights=held_weights))
                if mean < best:
                    break
                best = mean
        means = {key: float(np.average(own, weights=held_weights)) for key, own in scores.items()}
        return _simplest_of_the_best(scores, held_weights), means

    def _fitted_params(self, problem: TreeProblem) -> TreeParameters:
        return self._params_

    def _set_fitted(self, params: TreeParameters, problem: TreeProblem) -> None:
        encoding, H = problem.encoding, params.links.shape[-1]
        self._encoding_, self._params_, self._marginals_ = encoding, params, problem.marginals
        names = getattr(self, "feature_names_in_", None)
        self.distribution_ = encoding.distribution(
            problem.parents, params, None if names is None else tuple(names)
        )
        self.n_parameters_ = (
            H - 1 + (len(problem.parents) - 1) * H * (H - 1) + H * int(np.sum(encoding.sizes - 1))
        )
        self.n_unseen_ = problem.unseen

    @property
    def parents_(self) -> dict[Any, Any]:
        """The parent of each column in the tree."""
        label = self._columns_.label
        return {label(j): None if p < 0 else label(p) for j, p in enumerate(self.distribution_.parents)}

    @property
    def kinds_(self) -> dict[Any, str]:
        """The kind of each column."""
        return {self._columns_.label(j): kind for j, kind in enumerate(self._columns_.kinds)}

    @property
    def categories_(self) -> dict[Any, tuple[Any, ...]]:
        """The categories of each categorical column."""
        where = self._columns_.where("categorical")
        return self._columns_.values_of_categories(where, self._encoding_.sizes[where])

    # Answers

    @by_blocks
    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density of what was observed in each row, (n_samples,)."""
        return self._density().log_prob(self._events(X))

    def condition(self, dims: Any, values: Any = None) -> LatentTree:
        """Return the distribution of the other columns, given the values of some.

        Categories are given as in the table, and are codes in the result, see `categories_`; a missing value
        (NaN, None) is summed out.
        """
        density, given = self._density(), self._columns_.given(dims, values)
        return density.condition(given)

    @either_seed_name
    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Any:
        """Draw new rows, as a table like the one that was fitted; numbers are rounded as those were."""
        x = np.array(self._density().sample(n_samples, rng=random_state))
        for j, own in enumerate(self._encoding_.cells):
            if isinstance(own, NumberCells):
                x[:, j] = own.recorded(x[:, j])
        return table_of(self._columns_, x)

    def _log_likelihood(self, X: Any, sample_weight: Any) -> tuple[float, float]:
        rows, weights = held_with_weights(self, X, sample_weight)
        log_p = self.score_samples(rows)
        w = np.ones(len(log_p)) if weights is None else weights
        return float(w @ log_p), float(w.sum())


def _simplest_of_the_best(scores: dict[tuple[int, str], np.ndarray], weights: Any) -> tuple[int, str]:
    """Return the choice that no other exceeds by more than a standard error; fewer states come first.

    Scores are log densities of the same held-out rows, so the differences are those of pairs.
    """
    first, *others = sorted(scores, key=lambda key: key[0])
    for key in others:
        step = scores[key] - scores[first]
        gain = float(np.average(step, weights=weights))
        n = float(len(step) if weights is None else weights.sum())
        if gain > np.sqrt(np.average((step - gain) ** 2, weights=weights) / max(n - 1.0, 1.0)):
            first = key
    return first


def fitted_to_sample(
    problem: TreeProblem, start: str, rng: np.random.Generator, n_steps: int
) -> TreeParameters:
    """Return parameters after steps of EM on rows in memory, each under priors tilted to the states."""
    rows, last = problem.rows, -np.inf
    assert rows is not None
    n = float(len(rows.data) if rows.weights is None else rows.weights.sum())
    params = problem.started(start, rng)
    for _ in range(n_steps):
        sums = problem.data.reduce(problem.expect(params))
        params = problem.tilted(sums)
        if sums.log_likelihood - last < SMALL_GAIN * n:
            break
        last = sums.log_likelihood
    return params
