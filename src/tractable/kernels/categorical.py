"""Kernels of categories."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.base import Kernel, column_of, like_rows
from tractable.kernels.hyperparameters import BOUNDS
from tractable.value import value


@value
class Categorical(Kernel):
    r"""The Hamming kernel, of columns that are categories.

    .. math:: k(x, x') = \exp\Bigl(-\sum_d [x_d \ne x'_d] / \ell_d\Bigr)

    A product of kernels that are 1 where two categories are the same and exp(-1/ℓ) where not: no order
    of the categories, no distance between them. Of a table with numbers as well, use `Subspace`.

    Parameters
    ----------
    length_scale : float or array (d,)
        ℓ, positive: one for all columns, or one a column. The longer, the less a category matters.
    length_scale_bounds : (float, float), array (d, 2) or "fixed"
        Where a search looks for it.
    length_scale_prior : Distribution, optional
        Of the number itself; one for all columns, or a batch of d.

    Examples
    --------
    >>> from tractable.kernels import Categorical
    >>> Categorical(2.0)([[0, 1]], [[0, 1], [0, 2], [3, 2]]).round(4)
    array([[1.    , 0.6065, 0.3679]])
    """

    _hyper: ClassVar[tuple[str, ...]] = ("length_scale",)
    _vectors: ClassVar[tuple[str, ...]] = ("length_scale",)

    length_scale: Any
    length_scale_bounds: Any
    length_scale_prior: Distribution | None

    def __init__(
        self,
        length_scale: Any = 1.0,
        *,
        length_scale_bounds: Any = BOUNDS,
        length_scale_prior: Distribution | None = None,
    ) -> None:
        self._set_hyper(length_scale=(length_scale, length_scale_bounds, length_scale_prior))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        total = sum((differ / scale for differ, scale in self._differences(x, y)), 0.0)
        return namespace_of(x).exp(-total)

    def block_diagonal(self, x: Array) -> Array:
        return column_of(x, 1.0)

    def derivatives(
        self, weights: Array, matrix: Array, x: Array, y: Array, same: int | None
    ) -> Mapping[str, Any]:
        xp, v = namespace_of(x), weights * matrix
        by_column = xp.stack([xp.sum(v * differ) / scale for differ, scale in self._differences(x, y)])
        together = not isinstance(self.length_scale, np.ndarray)
        return {"length_scale": xp.sum(by_column) if together else by_column}

    def _differences(self, x: Array, y: Array) -> Any:
        """Yield [x_d ≠ x'_d] of each column as numbers, and ℓ_d."""
        xp = namespace_of(x)
        scales = like_rows(self.length_scale, np.empty((0, x.shape[1])), "length_scale") * np.ones(x.shape[1])
        for d in range(x.shape[1]):
            yield xp.astype(x[:, d : d + 1] != y[None, :, d], x.dtype), float(scales[d])
