"""What mixtures of regressions say of new rows: a predictive distribution with several modes."""

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from tractable.arrays.special import log_sum_exp
from tractable.base import (
    PredictiveMixin,
    check_columns,
    check_fitted,
    check_targets,
    check_weights,
    refuse_foreign,
)
from tractable.distributions import Mixture, Normal
from tractable.mixture.regression_model import RegressionMixture
from tractable.mixture.regression_units import RegressionUnits

__all__ = ["PlanesPredictions"]


class PlanesPredictions(PredictiveMixin):
    """`predict_dist`, `responsibilities`, `log_likelihood` and `bic` from `model_` in units of `units_`."""

    n_components: int
    n_parameters_: int
    model_: RegressionMixture
    units_: RegressionUnits

    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Any:
        """Return p(y | x) = Σ_k π_k(x) N(y | f_k(x), σ_k²), or the mixture of the planes without their noise.

        The planes are taken for known. Without noise each has its large-sample distribution, as if it were
        known which rows belong to it.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        include_noise : bool

        Returns
        -------
        Mixture
            Of batch shape (n_samples,); that of one row, ``dist[i]``, says where its `modes` are.
        """
        x, model, units = self._columns(X), self.model_, self.units_
        variance = np.broadcast_to(model.noise, (len(x), self.n_components))
        if not include_noise:
            variance = model.plane_variance(x)
        return Mixture(
            weights=np.exp(model.log_shares(x)),
            components=Normal(
                mean=units.middle + units.width * model.heights(x), variance=variance * units.width**2
            ),
        )

    def predict_components(self, X: Any) -> np.ndarray:
        """Return every plane at each row, f_k(x).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        x = self._columns(X)
        return self.units_.middle + self.units_.width * self.model_.heights(x)

    def responsibilities(self, X: Any, y: Any) -> np.ndarray:
        """Return p(k | x, y) ∝ π_k(x) N(y | f_k(x), σ_k²): which plane each row belongs to, once y is seen.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        joint = self._log_joint(X, y)
        return np.exp(joint - log_sum_exp(joint)[:, None])

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Σ_i w_i log p(y_i | x_i).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        per_row = log_sum_exp(self._log_joint(X, y)) - np.log(self.units_.width)
        weights = check_weights(sample_weight, per_row[:, None])
        return float(np.sum(per_row) if weights is None else weights @ per_row)

    def aic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Akaike's criterion, -2 log p(y | X) + 2 parameters; lower is better.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return 2.0 * self.n_parameters_ - 2.0 * self.log_likelihood(X, y, sample_weight)

    def bic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Schwarz's criterion, -2 log p(y | X) + parameters · log n; lower is better.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        likelihood = self.log_likelihood(X, y, sample_weight)
        weight = float(len(X)) if sample_weight is None else float(np.sum(sample_weight))
        return self.n_parameters_ * float(np.log(weight)) - 2.0 * likelihood

    def _columns(self, X: Any) -> np.ndarray:
        """Return checked rows in the units of the search."""
        check_fitted(self)
        refuse_foreign(X)
        return self.units_.columns(check_columns(self, X))

    def _log_joint(self, X: Any, y: Any) -> np.ndarray:
        x = self._columns(X)
        return self.model_.log_joint(x, self.units_.targets(column_or_1d(check_targets(self, y, x))))
