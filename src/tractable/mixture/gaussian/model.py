"""Parameters of a Gaussian mixture in standardized columns, and the expected statistics of its rows."""

from typing import Any

import numpy as np

from tractable.covariance import Covariance
from tractable.covariance.shapes import scale_columns
from tractable.statistics import Standardizer
from tractable.value import replace, value


@value
class GaussianParameters:
    """Weights π, means μ and covariances Σ of the components, in standardized columns."""

    weights: np.ndarray  # (K,)
    means: np.ndarray  # (K, d)
    structure: Any  # a Covariance of K components, or one that they share; None before the first M-step


def standardize(
    weights: np.ndarray, means: np.ndarray, structure: Covariance, standardizer: Standardizer
) -> GaussianParameters:
    """Return parameters of rows as parameters of standardized rows."""
    return GaussianParameters(
        weights=weights,
        means=standardizer.transform(means),
        structure=scale_columns(structure, standardizer.scale),
    )


def destandardize(
    params: GaussianParameters, standardizer: Standardizer
) -> tuple[np.ndarray, np.ndarray, Covariance]:
    """Return weights, means and covariances of rows from those of standardized rows."""
    structure = scale_columns(params.structure, 1.0 / standardizer.scale)
    return params.weights, standardizer.inverse_transform(params.means), structure


@value
class GaussianSums:
    """The expected statistics of rows: Σ_n w_n r_nk [1, z_n - o_k, second-order terms of z_n - o_k].

    r_nk are the responsibilities at `params`; two statistics of the same mixture are merged with ``+``.

    Parameters
    ----------
    origin : array (K, d)
        o_k: the centre of the standardized rows z, or the component's mean where that loses fewer digits.
    weight : array (K,)
        N_k = Σ_n w_n r_nk, the expected number of rows of each component.
    first : array (K, d)
        Σ_n w_n r_nk (z_n - o_k).
    second : array
        Products (K, d, d), squares (K, d) or sums of squares (K,); products summed over the components,
        (1, d, d), where they share their covariance.
    log_likelihood : float
        Of the rows in their own scale.
    penalty : float
        Log prior of the parameters; part of the objective once, however many statistics are merged.
    params : GaussianParameters
        Where the responsibilities were computed; a component without rows keeps these.
    """

    origin: np.ndarray
    weight: np.ndarray
    first: np.ndarray
    second: np.ndarray
    log_likelihood: float
    penalty: float
    params: GaussianParameters

    @property
    def objective(self) -> float:
        """The penalised log-likelihood."""
        return self.log_likelihood + self.penalty

    @property
    def means(self) -> np.ndarray:
        """Means of the components; those of `params` where a component has no weight."""
        found = self.origin + self._mean_about_origin()
        return np.where(self.weight[:, None] > 0, found, self.params.means)

    def scatter(self) -> np.ndarray:
        """Return the second-order sums about the components' own means."""
        step = np.sqrt(self.weight)[:, None] * self._mean_about_origin()  # products of equals are symmetric
        return self.second - _second_order(self.second, self.weight, step, step)

    def about(self, origin: np.ndarray) -> "GaussianSums":
        """Return the same sums about other origins."""
        step = self.origin - origin
        first = self.first + self.weight[:, None] * step
        moved = _second_order(self.second, self.weight, step, 2.0 * self.first + self.weight[:, None] * step)
        return replace(self, origin=origin, first=first, second=self.second + moved)

    def discount(self, rate: float) -> "GaussianSums":
        """Return the same moments with `rate` times the weight."""
        names = ("weight", "first", "second", "log_likelihood")
        return replace(self, **{name: getattr(self, name) * rate for name in names})

    def __add__(self, other: Any) -> "GaussianSums":
        if not isinstance(other, GaussianSums):
            return NotImplemented
        if self.second.shape != other.second.shape or self.first.shape != other.first.shape:
            raise ValueError("cannot merge sums of mixtures of another shape")
        if self.origin is not other.origin and not np.array_equal(self.origin, other.origin):
            other = other.about(self.origin)
        names = ("weight", "first", "second", "log_likelihood")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    def _mean_about_origin(self) -> np.ndarray:
        return self.first / np.where(self.weight > 0, self.weight, 1.0)[:, None]


def _second_order(like: np.ndarray, weight: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the symmetric part of a_k b_kᵀ in the form of the second-order sums."""
    if like.ndim == 1:
        return np.sum(a * b, axis=1)
    if like.ndim == 2:
        return a * b
    products = a[:, :, None] * b[:, None, :]
    if a is not b:
        products = 0.5 * (products + products.transpose(0, 2, 1))
    return products.sum(axis=0, keepdims=True) if len(like) < len(weight) else products
