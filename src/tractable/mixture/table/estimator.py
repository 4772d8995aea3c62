"""Mixtures over the columns of any table."""

from functools import partial
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.random import as_generator, either_seed_name
from tractable.base import (
    ModelTags,
    Rows,
    check_choice,
    check_number,
)
from tractable.base.by_blocks import of_held_rows
from tractable.base.table_rows import TableSummary, check_table_rows, coded_table, table_events, table_score
from tractable.covariance import Full
from tractable.covariance.shapes import collapsed_components, rounding_columns
from tractable.data import TableColumns
from tractable.data.source import mapped
from tractable.data.table_columns import binarized, filled, table_of
from tractable.distributions import Mixture
from tractable.engines import fold
from tractable.mixture.base import EMMixture, standardized_prior
from tractable.mixture.table.model import (
    RowCheck,
    TableEncoding,
    TableParameters,
    drawn,
    expected,
)
from tractable.mixture.table.steps import TableProblem
from tractable.value import replace

#: Added to the variances of normal columns, as a fraction of the column's variance, unless it is given.
REG_COVAR = 1e-6


class BaseTableMixture(EMMixture):
    """A mixture whose components are products over columns; rows are codes, NaN where missing."""

    model_tags = ModelTags(
        kind="generative", parametric=True, streaming="exact over several passes", missing_values=True
    )
    alpha: float
    _columns_: TableColumns
    _encoding_: TableEncoding

    _collapse = (
        "they have lost their rows, or their rows have one value of a normal column, where the likelihood "
        "has no bound; use fewer of them, a covariance_prior or a larger reg_covar"
    )
    #: The kind of columns that are not declared and have no type.
    _default: ClassVar[str] = "normal"
    # Parameters that only some of these mixtures have.
    kinds: Any = None
    unseen: str = "error"
    binarize: float | None = None
    covariance_type: str = "diag"
    covariance_prior: Any = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("alpha", self.alpha, least=0.0)
        check_choice("covariance_type", self.covariance_type, ("diag", "full"))
        check_choice("unseen", self.unseen, ("error", "missing"))

    # Rows

    def _validate_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        rows = check_table_rows(self, super()._validate_rows, X, y, sample_weight, reset=reset)
        if not reset or self.binarize is None:
            return rows
        return replace(rows, data=mapped(rows.data, partial(binarized, threshold=self.binarize)))

    def _coded(self, X: Any, leave: Any = None, *, reset: bool = False) -> Any:
        return coded_table(self, X, leave, reset=reset, categorical=self._default == "categorical")

    def _events(self, X: Any) -> np.ndarray:
        return table_events(self, X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        return table_score(self, X, sample_weight)

    def _row_check(self) -> RowCheck:
        return RowCheck(encoding=self._encoding_, binarize=self.binarize, unseen=self.unseen)

    # Fitting

    def _em_problem(self, rows: Rows | None, *, fitted: bool) -> TableProblem:
        total, unseen = 0.0, getattr(self, "n_unseen_", 0.0)
        encoding: Any = getattr(self, "_encoding_", None)
        if rows is not None and not fitted:
            summary = fold(TableSummary.of, rows.data, weights=rows.weights)
            joint = self.covariance_type == "full"
            encoding = TableEncoding.from_summary(self._columns_, summary, joint=joint)
            total, unseen = summary.columns.total, summary.columns.unseen
        return TableProblem(
            rows=rows,
            encoding=encoding,
            n_components=self.n_components,
            alpha=float(self.alpha),
            reg_covar=self._standardized_reg_covar(encoding),
            prior=standardized_prior(
                self.covariance_prior,
                None,
                encoding.standardizer[encoding.normal].scale,
                self.n_components,
            ),
            total=total,
            unseen=unseen,
        )

    def _standardized_reg_covar(self, encoding: TableEncoding) -> np.ndarray:
        """Return what is added to the variances of standardized columns."""
        given, scaled = self.reg_covar, encoding.standardizer[encoding.normal]
        if given is None:  # a constant column is standardized by its rounding errors
            return np.where(scaled.varies, REG_COVAR, 1.0)
        return np.maximum(given * scaled.scale**2, np.finfo(np.float64).eps)

    def _fitted_params(self, problem: TableProblem) -> TableParameters:
        before, own, new = self._params_, self._encoding_, problem.encoding
        if new is own:
            return before
        self._check_warm_start(problem.n_components, len(new.columns.kinds))
        ours, theirs = ((e.columns.kinds, e.columns.categories, e.sizes.tolist()) for e in (own, new))
        if ours != theirs:
            raise ValueError("X has other kinds of columns or other categories than warm_start begins with")
        if own.joint != new.joint:
            raise ValueError("covariance_type must be as it was: warm_start goes on from the earlier fit")
        old, now = own.standardizer[own.normal], new.standardizer[new.normal]
        ratio = now.scale / old.scale
        return replace(
            before,
            means=now.transform(old.inverse_transform(before.means)),
            variances=before.variances * (ratio[:, None] * ratio if own.joint else ratio**2),
        )

    def _set_fitted(self, params: TableParameters, problem: TableProblem) -> None:
        encoding = problem.encoding
        self._encoding_, self._params_, self.weights_ = encoding, params, params.weights
        self.distribution_ = Mixture(
            weights=params.weights, components=encoding.product(params, self._names())
        )
        K, p = params.means.shape
        spreads = p * (p + 1) // 2 if encoding.joint else p
        free = p + spreads + params.rates.shape[1] + params.ones.shape[1] + int(np.sum(encoding.sizes - 1))
        self.n_parameters_ = K - 1 + K * free
        self.n_unseen_ = problem.unseen
        varies = encoding.standardizer.varies[encoding.normal]
        if encoding.joint:
            structure = Full.jittered(params.variances)
            self.collapsed_ = collapsed_components(params.weights, structure, problem.reg_covar, varies)
        else:
            narrow = (params.variances <= 2.0 * problem.reg_covar) & varies
            self.collapsed_ = narrow.any(axis=1) | (params.weights == 0.0)

    def _rounding_columns(self) -> np.ndarray:
        found, normal = super()._rounding_columns(), self._encoding_.normal
        variances = self._params_.variances
        if self._encoding_.joint:
            variances = np.diagonal(variances, axis1=1, axis2=2)
        found[normal] = rounding_columns(variances, self._encoding_.standardizer.varies[normal])
        return found

    # Queries

    def condition(self, dims: Any, values: Any = None) -> Any:
        """Return the distribution of the other columns, given the values of some.

        Categories are given as in the table, and are codes in the result, see `categories_`; a missing value
        (NaN, None) is integrated out.
        """
        density, given = self._density(), self._columns_.given(dims, values)
        return density.condition({
            j: self._encoding_.check_values(j, binarized(v, self.binarize)) for j, v in given.items()
        })  # fmt: skip


class TableMixture(BaseTableMixture):
    """Mixture over columns of numbers, categories, counts and truth values, fitted by EM.

    p(row) = Σ_k π_k Π_j p_kj(x_j). Within a component the columns are independent, each of its own family:
    normal, categorical, Poisson or Bernoulli; with ``covariance_type="full"`` the normal columns of a
    component are one multivariate normal, p(row) = Σ_k π_k N(x | μ_k, Σ_k) Π_j p_kj(x_j). Over the components
    any column may depend on any other: :meth:`condition` some columns on others, or :meth:`impute` missing
    entries. Missing entries drop out exactly, in fitting and in prediction; nothing is filled in. Fits are
    *exact over several passes*.

    Estimates are posterior modes under weak priors: `alpha` pseudo-observations of each category and of the
    average count in each component, and `reg_covar` on the variances, without which a component may collapse
    on one value; `covariance_prior` keeps it from getting near one. The objective includes the log priors,
    and never decreases.

    Parameters
    ----------
    n_components : int
        K. With one component columns are independent (with "full" all but the numbers), and :meth:`condition`
        changes nothing.
    kinds : mapping or sequence, optional
        ``{"visits": "poisson", "age": "normal"}``, by name or position, or one kind a column; of "normal",
        "categorical", "poisson" and "bernoulli". Columns of a frame that are not declared: text and
        categories are categorical, booleans Bernoulli, and all other numbers normal (decimals too); dates
        must be declared, or given as numbers. Columns of arrays: normal; a categorical column of an array
        holds the codes 0, 1, ….
    covariance_type : {"diag", "full"}
        Whether normal columns are independent within a component, or have a covariance matrix, by which a
        number depends on the other numbers of its row within a component too.
    alpha : float
        Pseudo-observations; 0 is maximum likelihood.
    reg_covar : float, optional
        Added to the variances of normal columns; 1e-6 of each column's variance by default.
    covariance_prior : {"data"} or array of shape (p, p), optional
        The scale Ψ of an inverse Wishart prior on the covariance of the p normal columns of every component,
        Σ_k = (S_k + Ψ) / (N_k + 2p + 3), which keeps components from collapsing; with "diag", on variances.
        "data" is the columns' variances over K^(2/p), as in `GaussianMixture`.
    tol : float
        The search ends when an iteration raises the objective of a row, on average, by less.
    max_iter, n_init : int
        Most iterations; number of starts, of which the best is kept. Each starts at the clusters that k-means
        finds in the rows, standardized, with an indicator for each category.
    unseen : {"error", "missing"}
        Treatment of a category that a column did not have in `fit`: an error, or taken as missing with a
        warning (in cross-validation, a fold may lack a rare one).
    warm_start : bool
        Start at the earlier fit.
    random_state : None, int, RandomState or Generator
        Source of randomness; with a seed the result is repeatable.

    Attributes
    ----------
    distribution_ : Mixture
        Of a `Product`, one part a column (the normal columns one part with ``covariance_type="full"``), over
        numbers and the codes of categories.
    weights_ : array of shape (n_components,)
        π.
    kinds_ : dict from column to kind
        The kind of each column.
    categories_ : dict from column to its categories, of which position c has the code c
        The categories of each categorical column, in the order of their codes.
    collapsed_ : array of bool, shape (n_components,)
        Which components have lost their rows (they have weight zero and keep their position), or have shrunk
        to one value of a normal column.
    n_unseen_ : float
        Weight of the rows in which every entry was missing. They do not change the fit.
    objective_trace_ : array of shape (n_iter_ + 1,)
        The penalised log likelihood of a row, on average, before the first iteration and after each.
    lower_bound_, n_iter_, converged_
        The last objective, the number of iterations, and whether they ended by `tol`.
    n_parameters_ : int
        Number of free parameters, for `aic` and `bic`.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    Examples
    --------
    >>> import tractable
    >>> penguins = tractable.datasets.load("penguins").frame.drop(columns="year")
    >>> model = tractable.TableMixture(4, random_state=0).fit(penguins)
    >>> model.kinds_["species"], model.kinds_["body_mass_g"], model.categories_["sex"]
    ('categorical', 'normal', ('female', 'male'))

    The species of a penguin of 5.5 kg:

    >>> heavy = model.condition({"body_mass_g": 5500.0}).marginal(["species"])
    >>> dict(zip(model.categories_["species"], heavy.prob([[0], [1], [2]]).round(2).tolist()))
    {'Adelie': 0.02, 'Chinstrap': 0.02, 'Gentoo': 0.97}

    With covariances a number depends on the others within a component too: the body mass at a flipper length.

    >>> model = tractable.TableMixture(3, covariance_type="full", random_state=0).fit(penguins)
    >>> given = model.condition({"flipper_length_mm": [190.0, 220.0]})
    >>> given.marginal(["body_mass_g"]).mean[:, 0].round(-1)
    array([3660., 5230.])

    Missing entries replaced by the most probable category and the mean:

    >>> penguins["sex"].isna().sum(), model.impute(penguins)["sex"].isna().sum()
    (np.int64(11), np.int64(0))
    """

    _reads_text = True

    def __init__(
        self,
        n_components: int = 1,
        *,
        kinds: Any = None,
        covariance_type: str = "diag",
        alpha: float = 1.0,
        reg_covar: float | None = None,
        covariance_prior: Any = None,
        tol: float = 1e-5,
        max_iter: int = 500,
        n_init: int = 1,
        unseen: str = "error",
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_components, tol, max_iter, n_init, warm_start, random_state)
        self.kinds, self.unseen, self.covariance_type = kinds, unseen, covariance_type
        self.alpha, self.reg_covar, self.covariance_prior = alpha, reg_covar, covariance_prior

    @property
    def kinds_(self) -> dict[Any, str]:
        """The kind of each column."""
        return {self._columns_.label(j): kind for j, kind in enumerate(self._columns_.kinds)}

    @property
    def categories_(self) -> dict[Any, tuple[Any, ...]]:
        """The categories of each categorical column."""
        return self._columns_.values_of_categories(self._encoding_.categorical, self._encoding_.sizes)

    @either_seed_name
    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Any:
        """Draw new rows, as a table like the one that was fitted, and the components they come from."""
        codes, labels = super().sample(n_samples, random_state=random_state)
        return table_of(self._columns_, codes), labels

    @of_held_rows
    @either_seed_name
    def impute(self, X: Any, n_draws: int | None = None, *, random_state: Any = None) -> Any:
        """Return the table with its missing entries replaced, given the observed entries of each row.

        By default by the mean of numbers (of counts, the nearest whole number) and the most probable
        category.

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
        x = np.asarray(self._events(X), dtype=np.float64)
        mixture = self._density()
        if n_draws is None:
            return filled(X, self._columns_, x, expected(mixture, x))
        check_number("n_draws", n_draws, least=1, whole=True)
        rng = as_generator(random_state)
        return [filled(X, self._columns_, x, drawn(mixture, x, rng)) for _ in range(n_draws)]
