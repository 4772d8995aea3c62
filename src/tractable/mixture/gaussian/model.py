"""What an E-step over Gaussian components sums."""

from typing import Any

import numpy as np

from tractable.arrays import Array
from tractable.covariance import Covariance, Full, Isotropic
from tractable.value import replace, value

__all__ = ["CovarianceAttributes", "GaussianParameters", "GaussianSums", "compact", "packed", "unpacked"]


@value
class GaussianParameters:
    """Weights, means and covariances of the components, in standardised units."""

    weights: np.ndarray  # (K,)
    means: np.ndarray  # (K, d)
    structure: Any  # a Covariance of K components, or one that they share; None before the first M-step


@value
class GaussianSums:
    """Σ_n w_n r_nk [1, z - o_k, second-order terms of z - o_k], and the likelihood they were made at.

    The origin o_k is the standardised rows' own, or the component's mean where that keeps digits.

    Parameters
    ----------
    origin : array (K, d)
    weight : array (K,)
    first : array (K, d)
    second : array
        Products (K, d, d), squares (K, d) or sums of squares (K,); products of all components in one,
        (1, d, d), where they share their covariance.
    log_likelihood : float
        Of the rows, in their own units.
    penalty : float
        What the prior adds to it.
    params : GaussianParameters
        Where the sums were made; a component without rows stays there.
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
        """The penalised log likelihood."""
        return self.log_likelihood + self.penalty

    @property
    def means(self) -> np.ndarray:
        """Means of the components; where they were, if they have no weight."""
        found = self.origin + self._step()
        return np.where(self.weight[:, None] > 0, found, self.params.means)

    def scatter(self) -> np.ndarray:
        """Return the second-order sums about the components' own means."""
        step = self._step()
        return self.second - _second_order(self.second, self.weight, step, self.weight[:, None] * step)

    def about(self, origin: np.ndarray) -> "GaussianSums":
        """Return the same sums about other origins."""
        step = self.origin - origin
        first = self.first + self.weight[:, None] * step
        moved = _second_order(self.second, self.weight, step, 2.0 * self.first + self.weight[:, None] * step)
        return replace(self, origin=origin, first=first, second=self.second + moved)

    def discount(self, rate: float) -> "GaussianSums":
        """Forget: the same moments, believed `rate` times as strongly."""
        names = ("weight", "first", "second", "log_likelihood")
        return replace(self, **{name: getattr(self, name) * rate for name in names})

    def __add__(self, other: Any) -> "GaussianSums":
        """Merge with the sums of other rows."""
        if not isinstance(other, GaussianSums):
            return NotImplemented
        if self.second.shape != other.second.shape or self.first.shape != other.first.shape:
            raise ValueError("cannot merge sums of mixtures of another shape")
        if not np.array_equal(self.origin, other.origin):
            other = other.about(self.origin)
        names = ("weight", "first", "second", "log_likelihood")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    def _step(self) -> np.ndarray:
        """From the origin to the means."""
        return self.first / np.where(self.weight > 0, self.weight, 1.0)[:, None]


def _second_order(like: np.ndarray, weight: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the symmetric part of a_k b_kᵀ in the form that second-order sums are kept in."""
    if like.ndim == 1:
        return np.sum(a * b, axis=1)
    if like.ndim == 2:
        return a * b
    products = a[:, :, None] * b[:, None, :]
    products = 0.5 * (products + products.transpose(0, 2, 1))
    return products.sum(axis=0, keepdims=True) if len(like) < len(weight) else products


def packed(matrices: np.ndarray) -> np.ndarray:
    """Return the upper triangles of symmetric matrices, (K, d, d) to (K, d(d+1)/2), row after row."""
    rows, columns = np.triu_indices(matrices.shape[-1])
    return matrices[:, rows, columns]


def unpacked(triangles: np.ndarray, d: int) -> np.ndarray:
    """Return symmetric matrices from their upper triangles."""
    rows, columns = np.triu_indices(d)
    out = np.empty((len(triangles), d, d))
    out[:, rows, columns] = triangles
    out[:, columns, rows] = triangles
    return out


class CovarianceAttributes:
    """`covariances_`, `precisions_` and `precisions_cholesky_` of a model whose components are normals."""

    covariance_type: str
    _density: Any

    @property
    def covariances_(self) -> Array:
        """The covariances in the shape that `covariance_type` gives them."""
        return compact(self._structure(), self._structure().dense())

    @property
    def precisions_(self) -> Array:
        """Their inverses."""
        return compact(self._structure(), self._structure().precision())

    @property
    def precisions_cholesky_(self) -> Array:
        """Upper factors P of the inverses, Σ⁻¹ = P Pᵀ; roots where they are diagonal."""
        precisions = self.precisions_
        if self.covariance_type in ("diag", "spherical"):
            return np.sqrt(precisions)
        lower = np.linalg.cholesky(self.covariances_)
        return np.swapaxes(np.linalg.inv(lower), -1, -2)

    def _structure(self) -> Covariance:
        found: Covariance = self._density().components.structure
        return found[0] if self.covariance_type == "tied" and found.batch_shape else found


def compact(structure: Covariance, matrices: Array) -> Array:
    """Return matrices in scikit-learn's shapes."""
    if isinstance(structure, Isotropic):
        return matrices[..., 0, 0]
    if isinstance(structure, Full) or hasattr(structure, "factor"):
        return matrices
    return np.diagonal(matrices, axis1=-2, axis2=-1)
