"""What mixtures over the columns of a table do alike."""

import warnings
from typing import Any, ClassVar

import numpy as np

from tractable.base import ModelTags, Rows, check_choice, check_columns, check_number, refuse_foreign
from tractable.data import is_frame, is_streamed
from tractable.data.source import mapped
from tractable.data.table_columns import TableColumns, columns_of
from tractable.data.table_reading import coded_frame, learn_columns
from tractable.distributions import Bernoulli, Categorical, Mixture, Normal, Poisson, Product
from tractable.mixture.gaussian import CollapsedComponentWarning
from tractable.mixture.shell import EMMixture
from tractable.mixture.table_steps import TableParameters, TableSteps
from tractable.mixture.table_units import TableUnits, checked_column, survey_table
from tractable.value import replace

__all__ = ["TableShell"]

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
