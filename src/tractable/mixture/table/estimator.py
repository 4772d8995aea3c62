"""A mixture over the columns of any table."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.random import as_generator
from tractable.base import ModelTags, Rows, check_choice, check_columns, check_number, refuse_foreign
from tractable.data import is_frame, is_streamed
from tractable.data.source import mapped
from tractable.data.table_columns import (
    TableColumns,
    coded_frame,
    columns_of,
    filled,
    learn_columns,
    table_of,
)
from tractable.distributions import Bernoulli, Categorical, Mixture, Normal, Poisson, Product
from tractable.mixture.base import EMMixture
from tractable.mixture.gaussian import CollapsedComponentWarning
from tractable.mixture.table.model import TableUnits, checked_column, drawn, expected, survey_table
from tractable.mixture.table.steps import TableParameters, TableSteps
from tractable.value import replace

__all__ = ["TableMixture", "TableShell"]

#: What is added to the variances of normal columns, in units of the columns' variances, unless told.
REG_COVAR = 1e-6


class TableShell(EMMixture):
    """A mixture of which every component is a `Product` over columns; rows are codes, NaN where missing."""

    model_tags = ModelTags(
        kind="generative", parametric=True, streaming="exact over several passes", missing_values=True
    )
    alpha: float
    columns_: TableColumns

    #: What a column of numbers is when nothing else is said.
    _usual_kind: ClassVar[str] = "normal"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("alpha", self.alpha, least=0.0)
        if self._reg_covar() is not None:
            check_number("reg_covar", self._reg_covar(), least=0.0)
        check_choice("unseen", self._unseen(), ("error", "missing"))

    def _reg_covar(self) -> float | None:
        return None

    def _unseen(self) -> str:
        """Return what becomes of categories that were not fitted."""
        return str(getattr(self, "unseen", "error"))

    def _kinds(self) -> Any:
        """Return what the user says of the columns."""
        return None

    def _rows(self, X: Any, sample_weight: Any, *, reset: bool) -> Rows:
        leave = sample_weight if isinstance(sample_weight, str) else None
        refuse_foreign(X)
        rows = super()._rows(self._coded(X, leave, reset=reset), sample_weight, reset=reset)
        if reset and not hasattr(self, "columns_"):
            names = getattr(self, "feature_names_in_", None)
            self.columns_ = columns_of(names, self.n_features_in_, self._kinds(), self._usual_kind)
        return rows if reset else replace(rows, data=mapped(rows.data, self._asked))

    def _events(self, X: Any) -> np.ndarray:
        self._density()
        refuse_foreign(X)
        return self._asked(check_columns(self, self._coded(X)))

    def _prepared(self, x: np.ndarray) -> np.ndarray:
        """Return entries as the model takes them."""
        return x

    def _asked(self, x: np.ndarray) -> np.ndarray:
        """Return rows that are asked about, unless no row of the table could have their entries."""
        x, unseen = self._prepared(np.asarray(x)), self._unseen()
        for j in range(x.shape[1]):
            column = x[:, j]
            found = checked_column(self.units_, j, column, "X", unseen)
            if found is not column:
                x = x.copy()
                x[:, j] = found
        return x

    def _conditioned(self, dims: Any, values: Any) -> Any:
        given = self.columns_.given(dims, values)
        return self._density().condition({
            j: checked_column(self.units_, j, self._prepared(v), "values") for j, v in given.items()
        })  # fmt: skip

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of the rows.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        float
        """
        if not is_streamed(X):
            return super().score(X)
        density, rows = self._density(), self._rows(X, None, reset=False)
        return float(np.mean(np.concatenate([density.log_prob(b.X) for b in rows.data.batches()])))

    def _coded(self, X: Any, leave: Any = None, *, reset: bool = False) -> Any:
        """Return a table as numbers: those of frames by the kinds and categories of their columns."""
        if not is_frame(X):
            return X
        if reset:
            self.columns_ = self._learned_columns(X, leave)
        return coded_frame(X, self.columns_, self._unseen())

    def _learned_columns(self, frame: Any, leave: Any) -> TableColumns:
        return learn_columns(frame, self._kinds(), () if leave is None else (leave,))

    def _survey(self, rows: Rows) -> TableUnits:
        return survey_table(rows, self.columns_)

    def _problem(self, rows: Rows, units: TableUnits) -> TableSteps:
        return TableSteps(rows, units, self.n_components, float(self.alpha), self._floor(units))

    def _floor(self, units: TableUnits) -> np.ndarray:
        """Return what is added to variances, in standard units."""
        given, where = self._reg_covar(), units.where("normal")
        if given is None:  # a constant column has a unit that is its floor
            return np.where(units.varies[where], REG_COVAR, 1.0)
        return np.maximum(given * units.scale[where] ** 2, np.finfo(np.float64).eps)

    def _restart(self, units: TableUnits) -> TableParameters:
        before, own = self.params_, self.units_
        if units is own:
            return before
        ours, theirs = ((u.columns.kinds, u.columns.categories, u.sizes.tolist()) for u in (own, units))
        if ours != theirs:
            raise ValueError("X has other kinds of columns or other categories than warm_start begins with")
        where = units.where("normal")
        means = own.mean[where] + before.means / own.scale[where]
        return TableParameters(
            weights=before.weights,
            means=(means - units.mean[where]) * units.scale[where],
            variances=before.variances * (units.scale[where] / own.scale[where]) ** 2,
            rates=before.rates,
            shares=before.shares,
        )

    def _adopt(self, params: TableParameters, units: TableUnits) -> None:
        self.params_, self.weights_ = params, params.weights
        names = getattr(self, "feature_names_in_", None)
        components = Product(parts=_parts(params, units), names=None if names is None else tuple(names))
        self.distribution_ = Mixture(weights=params.weights, components=components)
        K, p = params.means.shape
        free = 2 * p + params.rates.shape[1] + int(np.sum(units.sizes[units.sizes > 0] - 1))
        self.n_parameters_ = K - 1 + K * free
        self.n_unseen_ = units.unseen
        narrow = (params.variances <= 2.0 * self._floor(units)) & units.varies[units.where("normal")]
        self.collapsed_ = narrow.any(axis=1) | (params.weights == 0.0)

    def _complain(self) -> None:
        which = np.flatnonzero(self.collapsed_).tolist()
        if which:
            warnings.warn(
                f"components {which} collapsed: they have lost their rows, or their rows have one value of "
                "a normal column, where the likelihood has no bound; use fewer of them or a larger reg_covar",
                CollapsedComponentWarning,
                stacklevel=5,
            )


def _parts(params: TableParameters, units: TableUnits) -> list[Any]:
    """Return the distribution of each column, a batch of components, from the parameters of the steps."""
    parts: list[Any] = []
    normal, count, edge = iter(range(params.means.shape[1])), iter(range(params.rates.shape[1])), 0
    for j, (kind, size) in enumerate(zip(units.columns.kinds, units.sizes, strict=True)):
        shares = params.shares[:, edge : edge + size]
        edge += size
        if kind == "normal":
            i = next(normal)
            mean = units.mean[j] + params.means[:, i] / units.scale[j]
            parts.append(Normal(mean=mean, stddev=np.sqrt(params.variances[:, i]) / units.scale[j]))
        elif kind == "poisson":
            parts.append(Poisson(rate=params.rates[:, next(count)]))
        elif kind == "bernoulli":
            parts.append(Bernoulli(probability=shares[:, 1]))
        else:
            parts.append(Categorical(probabilities=shares))
    return parts


class TableMixture(TableShell):
    """p(row) = Σ_k π_k Π_j p_kj(x_j) over columns of numbers, categories, counts and yes-or-no, by EM.

    Within a component the columns are independent, each of its own family: normal, categorical, Poisson or
    Bernoulli. Over the components any column may depend on any other, so the fitted table can be asked for
    whatever is missing: :meth:`condition` some columns on others, or :meth:`impute` the holes. Missing
    entries drop out exactly, in learning and in asking; nothing is filled in.

    Estimates are the most probable ones under weak priors: `alpha` pseudo-observations of each category and
    of the average count in each component, and `reg_covar` on the variances, without which a component may
    collapse on one value. The objective has their share, and never falls.

    Parameters
    ----------
    n_components : int
        K.
    kinds : mapping or sequence, optional
        ``{"visits": "poisson", "age": "normal"}``, by name or position, or one kind a column; of "normal",
        "categorical", "poisson" and "bernoulli". Columns of a frame that are not told: text and categories
        are categorical, booleans Bernoulli, and all other numbers normal (decimals too); dates must be told,
        or given as numbers. Columns of arrays: normal; a
        categorical column of an array holds the codes 0, 1, ….
    alpha : float
        Pseudo-observations; 0 is maximum likelihood.
    reg_covar : float, optional
        What is added to the variances of normal columns; 1e-6 of each column's variance by default.
    tol : float
        The search ends when an iteration raises the objective of a row, on average, by less.
    max_iter, n_init : int
        Most iterations; searches, of which the best is kept. Each begins at what k-means finds in the rows,
        standardised, with an indicator for each category.
    unseen : {"error", "missing"}
        What becomes of a category that a column did not have in `fit`: it is refused, or taken as missing
        with a warning (in cross-validation, a fold may lack a rare one).
    warm_start : bool
        Begin at the earlier fit.
    random_state : None, int, RandomState or Generator

    Attributes
    ----------
    distribution_ : Mixture
        Of a `Product`, one part a column, over numbers and the codes of categories.
    weights_ : array of shape (n_components,)
    kinds_ : dict from column to kind
    categories_ : dict from column to its categories, of which position c has the code c
    collapsed_ : array of bool, shape (n_components,)
        Which components have lost their rows (they have weight zero and keep their place), or have shrunk to
        one value of a normal column.
    n_unseen_ : float
        Weight of the rows in which every entry was missing. They change nothing.
    converged_, n_iter_, lower_bound_, lower_bounds_, n_parameters_
        As in :class:`tractable.GaussianMixture`.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Examples
    --------
    >>> import tractable
    >>> penguins = tractable.datasets.load("penguins").frame.drop(columns="year")
    >>> model = tractable.TableMixture(4, random_state=0).fit(penguins)
    >>> model.kinds_["species"], model.kinds_["body_mass_g"], model.categories_["sex"]
    ('categorical', 'normal', ('female', 'male'))

    What is known of a penguin of 5.5 kg? Its species, for one:

    >>> heavy = model.condition({"body_mass_g": 5500.0}).marginal(["species"])
    >>> dict(zip(model.categories_["species"], heavy.prob([[0], [1], [2]]).round(2).tolist()))
    {'Adelie': 0.02, 'Chinstrap': 0.02, 'Gentoo': 0.97}

    The holes of the table, filled with the likeliest category and the mean:

    >>> penguins["sex"].isna().sum(), model.impute(penguins)["sex"].isna().sum()
    (np.int64(11), np.int64(0))
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        kinds: Any = None,
        alpha: float = 1.0,
        reg_covar: float | None = None,
        tol: float = 1e-5,
        max_iter: int = 500,
        n_init: int = 1,
        unseen: str = "error",
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kinds = kinds
        self.alpha = alpha
        self.reg_covar = reg_covar
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.unseen = unseen
        self.warm_start = warm_start
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.input_tags.categorical = True
        found.input_tags.string = True
        return found

    @property
    def kinds_(self) -> dict[Any, str]:
        """What each column is."""
        return dict(zip(self._columns(), self.columns_.kinds, strict=True))

    @property
    def categories_(self) -> dict[Any, tuple[Any, ...]]:
        """The categories of each categorical column."""
        found = zip(
            self._columns(), self.columns_.categories, self.units_.sizes, self.columns_.kinds, strict=True
        )
        return {c: tuple(range(n)) if t is None else t for c, t, n, kind in found if kind == "categorical"}

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Any:
        """Draw new rows, as a table like the one that was fitted, and the components they come from.

        Parameters
        ----------
        n_samples : int
        random_state : None, int, RandomState or Generator

        Returns
        -------
        X : frame or array of shape (n_samples, n_features)
        labels : array of int, shape (n_samples,)
        """
        codes, labels = super().sample(n_samples, random_state=random_state)
        return table_of(self.columns_, codes), labels

    def condition(self, dims: Any, values: Any = None) -> Any:
        """Return the distribution of the other columns, given the values of some.

        Parameters
        ----------
        dims : mapping from column to value, or column names or positions
            Categories are given as the values they have in the table.
        values : array of shape (..., len(dims)), optional
            Leading axes become batch axes of the answer; a missing value (NaN, None) says nothing.

        Returns
        -------
        Mixture
            Of a `Product` over the other columns, in order; categories by their codes, see `categories_`.
        """
        return self._conditioned(dims, values)

    def impute(self, X: Any, n_draws: int | None = None, *, random_state: Any = None) -> Any:
        """Return the table with its holes filled, by what each row's observed entries say of the others.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_features)
        n_draws : int, optional
            So many tables, with the holes of each row drawn together from their distribution given the rest:
            what is computed from every one, and compared, shows how much the holes leave open. By default one
            table, with the mean of numbers (of counts, the nearest whole number) and the likeliest category.
        random_state : None, int, RandomState or Generator
            Where the draws come from.

        Returns
        -------
        table like X, or a list of `n_draws` of them
        """
        x = np.asarray(self._events(X), dtype=np.float64)
        mixture = self._density()
        if n_draws is None:
            return filled(X, self.columns_, x, expected(mixture, x))
        check_number("n_draws", n_draws, least=1, whole=True)
        rng = as_generator(random_state)
        return [filled(X, self.columns_, x, drawn(mixture, x, rng)) for _ in range(n_draws)]

    def _reg_covar(self) -> float | None:
        return self.reg_covar

    def _kinds(self) -> Any:
        # A table of kinds by name is not changed by those who ask.
        return dict(self.kinds) if isinstance(self.kinds, Mapping) else self.kinds

    def _columns(self) -> tuple[Any, ...]:
        return self.columns_.names or tuple(range(len(self.columns_.kinds)))
