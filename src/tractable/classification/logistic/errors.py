"""How sure logistic regression is of its planes: errors, intervals and tests, by the curvature (Wald)."""

from typing import Any

import numpy as np

from tractable.arrays.linalg import cholesky, solve_triangular, symmetrize
from tractable.base import check_columns, check_fitted, check_number
from tractable.distributions import Normal

__all__ = ["WaldErrors", "covariance_of", "gaussian_interval"]

#: Eigenvalues this small, times their number and the machine's rounding, count as none.
LOST = 10.0
#: A parameter with this share, or more, in a direction without curvature is not determined.
SHARE = 1e-6


def covariance_of(hessian: np.ndarray, mapping: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the covariance of ``mapping @ parameters``, the inverse of a curvature carried over.

    A combination that the curvature does not determine has an infinite variance. Parameters that are not
    `known`, such as those that a price on absolute values holds at zero, take no part.
    """
    h = hessian[np.ix_(known, known)]
    size = np.sqrt(np.diagonal(h))
    size = np.where(size > 0.0, size, 1.0)
    unit = symmetrize(h / size / size[:, None])
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        carried = mapping[:, known] / size
        try:
            root = solve_triangular(cholesky(unit), carried.T)
            return root.T @ root
        except ValueError:
            return _of_singular(unit, carried)


def _of_singular(unit: np.ndarray, carried: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(unit)
    kept = values > LOST * len(values) * np.finfo(np.float64).eps * np.max(values, initial=0.0)
    root = carried @ (vectors[:, kept] / np.sqrt(values[kept]))
    found = root @ root.T
    lost = np.sum((carried @ vectors[:, ~kept]) ** 2, axis=1)
    open_ = np.flatnonzero(lost > SHARE * np.sum(carried**2, axis=1))
    found[open_, open_] = np.inf
    return found


class WaldErrors:
    """`coef_std_errors_`, `coef_interval`, `z_values_` and `p_values_`, from `covariance_`.

    A model supplies `coef_`, `intercept_` and `covariance_`, of the parameters plane after plane, the
    intercept first where there is one; and `centered_covariance_`, of those for rows less `center_`.
    """

    coef_: np.ndarray
    intercept_: np.ndarray
    covariance_: Any
    center_: np.ndarray
    centered_covariance_: Any

    @property
    def coef_std_errors_(self) -> np.ndarray:
        """Standard errors of the coefficients, of the shape of `coef_`."""
        return self._errors()[:, -self.coef_.shape[1] :]

    @property
    def intercept_std_errors_(self) -> np.ndarray:
        """Standard errors of the intercepts; 0 where there are none."""
        errors = self._errors()
        located = errors.shape[1] > self.coef_.shape[1]
        return errors[:, 0] if located else np.zeros(len(errors))

    @property
    def z_values_(self) -> np.ndarray:
        """Coefficients in units of their standard errors, of the shape of `coef_`."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.coef_ / self.coef_std_errors_

    @property
    def p_values_(self) -> np.ndarray:
        """Probability of a z-value as far from 0, or farther, were the coefficient 0 (Wald's test)."""
        from scipy.special import erfc

        return erfc(np.abs(self.z_values_) / np.sqrt(2.0))

    def coef_interval(self, coverage: float = 0.95) -> np.ndarray:
        """Return the interval that holds each coefficient with the given confidence (Wald's).

        Parameters
        ----------
        coverage : float

        Returns
        -------
        array of shape (n_planes, n_features, 2)
        """
        check_fitted(self)
        return gaussian_interval(self.coef_, self.coef_std_errors_, coverage)

    def intercept_interval(self, coverage: float = 0.95) -> np.ndarray:
        """Return the interval that holds each intercept with the given confidence (Wald's).

        Parameters
        ----------
        coverage : float

        Returns
        -------
        array of shape (n_planes, 2)
        """
        check_fitted(self)
        return gaussian_interval(self.intercept_, self.intercept_std_errors_, coverage)

    def proba_interval(self, X: Any, coverage: float = 0.95) -> np.ndarray:
        """Return the interval that holds the probability of each class with the given confidence (Wald's).

        The odds of a class against the others, or the plane of a probit, are Gaussian as far as the curvature
        tells; their interval is carried over to the probability, so it never leaves [0, 1]. Coefficients that
        are exactly zero by a price on absolute values are taken to be held there.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        coverage : float

        Returns
        -------
        array of shape (n_samples, n_classes, 2)
        """
        check_number("coverage", coverage, above=0.0, below=1.0)
        self._errors()
        x = np.asarray(check_columns(self, X), dtype=np.float64)
        located = len(self.centered_covariance_) > self.coef_.size
        away = x - self.center_
        rows = np.column_stack([np.ones(len(x)), away]) if located else away
        carried = self._odds_by_planes(x)[:, :, :, None] * rows[:, None, None, :]  # (n, K, planes, p)
        variance = _variance(carried.reshape(*carried.shape[:2], -1), self.centered_covariance_)
        return self._reached(x, _quantile(coverage) * np.sqrt(variance))

    def _odds_by_planes(self, x: np.ndarray) -> np.ndarray:
        """Return how the odds of each class move with each plane, (n, K, planes)."""
        raise NotImplementedError(f"{type(self).__name__} must say how odds come from planes")

    def _reached(self, x: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Return the probabilities so far below and above the odds, (n, K, 2)."""
        raise NotImplementedError(f"{type(self).__name__} must say how probabilities come from odds")

    def _errors(self) -> np.ndarray:
        check_fitted(self)
        if self.covariance_ is None:
            raise ValueError(
                f"coef_ has {self.coef_.size} entries, too many for their covariance to be computed"
            )
        return np.sqrt(np.diagonal(self.covariance_)).reshape(len(self.coef_), -1)


def _variance(parts: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return partsᵀ covariance parts of each (n, K); infinite where a part is not determined."""
    places = np.arange(len(covariance))
    open_ = np.isinf(np.diagonal(covariance))
    known = covariance.copy()
    known[places[open_], places[open_]] = 0.0
    found = np.sum((parts @ known) * parts, axis=-1)
    return np.where(np.any(parts[..., open_] != 0.0, axis=-1), np.inf, np.maximum(found, 0.0))


def gaussian_interval(estimate: np.ndarray, error: np.ndarray, coverage: float) -> np.ndarray:
    """Return the interval (..., 2) that holds a Gaussian of such means and errors with a probability."""
    check_number("coverage", coverage, above=0.0, below=1.0)
    reach = _quantile(coverage) * error
    return np.stack([estimate - reach, estimate + reach], axis=-1)


def _quantile(coverage: float) -> float:
    return float(Normal(mean=0.0, stddev=1.0).interval(coverage)[1])
