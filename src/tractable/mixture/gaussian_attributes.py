"""What users read of Gaussian components, in scikit-learn's shapes."""

from typing import Any

import numpy as np

from tractable.arrays import Array
from tractable.covariance import Covariance, Full, Isotropic

__all__ = ["CovarianceAttributes", "compact"]


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
