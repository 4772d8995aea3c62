"""Mixture densities fitted by EM: components of rows, criteria, and streams."""

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.log_space import log_sum_exp
from tractable.arrays.namespace import is_foreign_array, namespace_of
from tractable.arrays.random import either_seed_name
from tractable.base import (
    DegenerateCovarianceWarning,
    DensityMixin,
    EMEstimator,
    ModelTags,
    check_columns,
    check_fitted,
    check_number,
    check_values,
    check_weights,
)
from tractable.base.by_blocks import by_blocks
from tractable.base.scores import held_with_weights, reduced
from tractable.covariance.shapes import CovariancePrior
from tractable.data import Batch, is_streamed
from tractable.value import value


class CollapsedComponentWarning(UserWarning):
    """A component has shrunk on a few points, a line or a plane, or has lost all its points."""


class EMMixture(DensityMixin, EMEstimator):
    """A mixture p(x) = Σ_k π_k p_k(x): labels, responsibilities, criteria and new rows.

    A model supplies what :class:`tractable.base.EMEstimator` asks for; `_set_fitted` sets `distribution_`, a
    `Mixture`, and `weights_` and `n_parameters_`.
    """

    model_tags = ModelTags(kind="generative", parametric=True, streaming="exact over several passes")
    #: What is added to variances, of the mixtures that have them.
    reg_covar: float | None = None
    #: Why components collapse, and what to do about it.
    _collapse: ClassVar[str]
    weights_: np.ndarray
    collapsed_: np.ndarray
    n_parameters_: int
    n_features_in_: int

    def __init__(
        self, n_components: int, tol: float, max_iter: int, n_init: int, warm_start: bool, random_state: Any
    ) -> None:
        self.n_components, self.random_state = n_components, random_state
        self.tol, self.max_iter, self.n_init, self.warm_start = tol, max_iter, n_init, warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("n_components", self.n_components, least=1, whole=True)
        if self.reg_covar is not None:
            check_number("reg_covar", self.reg_covar, least=0.0)

    def _validate_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        rows = super()._validate_rows(X, y, sample_weight, reset=reset)
        n = rows.n_rows
        if reset and n is not None and n < self.n_components:
            raise ValueError(
                f"n_components={self.n_components} needs as many rows, but X has n_samples={n} rows"
            )
        return rows

    def _min_rows(self) -> int:
        return 2

    def _warn_fitted(self) -> None:
        which = np.flatnonzero(self.collapsed_).tolist()
        if which:
            warnings.warn(
                f"components {which} collapsed: {self._collapse}", CollapsedComponentWarning, stacklevel=5
            )
        self._warn_constant()

    def _warn_constant(self) -> None:
        constant = np.flatnonzero(self._rounding_columns()).tolist()
        if constant:
            names = self._names()
            said = constant if names is None else [names[j] for j in constant]
            warnings.warn(
                f"columns {said} of X are constant: the variance of every component there is that of "
                "rounding, and any other value has a density of nearly 0; leave these columns out, or give "
                "reg_covar, a variance",
                DegenerateCovarianceWarning,
                stacklevel=6,
            )

    def _rounding_columns(self) -> np.ndarray:
        """Return which columns are constant and in every component as narrow as rounding."""
        return np.zeros(self.n_features_in_, dtype=bool)

    def _check_warm_start(self, n_components: int, n_features: int) -> None:
        """Refuse to go on from a fit with other components or columns."""
        if (len(self.weights_), self.n_features_in_) != (n_components, n_features):
            raise ValueError(
                f"warm_start goes on from {len(self.weights_)} components of {self.n_features_in_} columns; "
                "n_components and X must be as they were"
            )

    def _names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit to rows, and return the most probable component of each, (n_samples,).

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; y is ignored.
        """
        return self.fit(X, sample_weight=sample_weight).predict(X)

    @by_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable component of each row, argmax_k p(k | x), (n_samples,)."""
        found = self.predict_proba(X)
        return namespace_of(found).argmax(found, axis=1)

    @by_blocks
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the responsibilities p(k | x) = π_k p_k(x) / Σ_j π_j p_j(x), (n_samples, n_components)."""
        return self._density().responsibilities(self._events(X))

    @by_blocks
    def score_samples(self, X: Any) -> np.ndarray:
        return self._density().log_prob(self._events(X))

    @either_seed_name
    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Any:
        """Draw `n_samples` new rows, and the components they come from, (n_samples,)."""
        return self._density().sample_labelled(n_samples, rng=random_state)

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Return Akaike's criterion, -2 log p(X) + 2 parameters; lower is better.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        return information_criteria(self, X, sample_weight)["aic"]

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Return Schwarz's criterion, -2 log p(X) + parameters · log n; lower is better.

        Parameters
        ----------
        X, sample_weight
            As in `aic`.
        """
        return information_criteria(self, X, sample_weight)["bic"]

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """Return the integrated complete likelihood criterion: BIC + twice the entropy of the labels.

        It prefers separated components, where BIC prefers a good density; lower is better (Biernacki, Celeux
        and Govaert 2000).

        Parameters
        ----------
        X, sample_weight
            As in `aic`.
        """
        return information_criteria(self, X, sample_weight)["icl"]

    def _events(self, X: Any) -> Any:
        """Return checked rows as events of `distribution_`."""
        self._density()
        return check_columns(self, X)


def standardized_prior(
    given: Any, dof: float | None, scale: np.ndarray, n_components: int
) -> CovariancePrior:
    """Return the inverse Wishart prior of the covariances of standardized columns.

    `given` and `dof` are the parameters `covariance_prior` and `degrees_of_freedom_prior` of a mixture, and
    `scale` (d,) multiplies its columns.
    """
    d = len(scale)
    if dof is not None:
        check_number("degrees_of_freedom_prior", dof, above=d - 1.0)
    if given is None:
        if dof is not None:
            raise ValueError('degrees_of_freedom_prior needs a covariance_prior; "data" is one')
        return CovariancePrior.none(d)
    if isinstance(given, str):
        if given != "data":
            raise ValueError(f'covariance_prior must be "data", a matrix or None, got {given!r}')
        scatter = np.eye(d) / n_components ** (2.0 / max(d, 1))
    else:
        scatter = check_values("covariance_prior", given, (d, d), definite=True) * scale[:, None] * scale
    if not d:  # no column has a variance
        return CovariancePrior.none(d)
    return CovariancePrior(scatter=scatter, weight=(d + 2.0 if dof is None else float(dof)) + d + 1.0)


def information_criteria(model: Any, X: Any, sample_weight: Any = None) -> dict[str, float]:
    """Return "aic", "bic" and "icl" of a fitted mixture, by one pass over rows as `fit` takes them."""
    check_fitted(model)
    if is_streamed(X):
        found = reduced(model, X, None, sample_weight, CriterionSums)
    else:
        rows, weights = held_with_weights(model, X, sample_weight)
        sums = CriterionSums(estimator=model)
        found = sums.of_events(sums.events(rows), weights)
    weight, log_likelihood, entropy = map(float, found)
    aic = 2.0 * model.n_parameters_ - 2.0 * log_likelihood
    bic = model.n_parameters_ * float(np.log(weight)) - 2.0 * log_likelihood
    return {"aic": aic, "bic": bic, "icl": bic + 2.0 * entropy}


@value
class CriterionSums:
    """Σ w, Σ w log p(x) and Σ w H(k | x) over the rows of a block in which something was observed."""

    estimator: Any
    columns: Callable[[Any], Any] | None = None

    def __call__(self, block: Batch) -> np.ndarray:
        return self.of_events(
            self.events(block.X if self.columns is None else self.columns(block.X)), block.weights
        )

    def events(self, X: Any) -> Any:
        """Return checked rows as events of `distribution_`."""
        found = self.estimator._events(X)  # noqa: SLF001  (of a class of this file)
        return found if is_foreign_array(found) else np.asarray(found)

    def of_events(self, events: Any, weights: Any) -> Any:
        """Return the sums, of events with their weights."""
        xp = namespace_of(events)
        joint = self.estimator.distribution_.log_joint(events)
        log_prob = log_sum_exp(joint)
        # r log r = r (log p(x, k) - log p(x)), and 0 where a component is absent.
        log_r = xp.where(joint > -xp.inf, joint, 0.0) - xp.where(log_prob > -xp.inf, log_prob, 0.0)[:, None]
        entropy = -xp.sum(xp.where(joint > -xp.inf, xp.exp(log_r) * log_r, 0.0), axis=1)
        checked = check_weights(weights, events)
        counts = xp.ones_like(log_prob) if checked is None else checked
        if xp.isdtype(events.dtype, "real floating"):
            counts = xp.where(xp.all(xp.isnan(events), axis=1), 0.0, counts)
        return xp.stack([xp.sum(counts), counts @ log_prob, counts @ entropy])
