"""Kernels of transformed rows."""

from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array
from tractable.kernels.base import Contraction, Kernel
from tractable.kernels.combinator import Wrapped, as_kernel
from tractable.kernels.feature import as_map, mapped
from tractable.value import set_fields, value


@value
class Warped(Wrapped):
    """A kernel of transformed rows.

    k(x, x') = k₁(g(x), g(x')).

    Parameters
    ----------
    kernel : Kernel
        k₁.
    function : callable or fitted transformer
        g, from rows (n, d) to rows (n, k).

    Examples
    --------
    >>> import numpy as np
    >>> from tractable.kernels import RBF, Warped
    >>> Warped(RBF(), np.log)([[1.0]], [[np.e]]).round(4)
    array([[0.6065]])
    """

    is_stationary: ClassVar[bool] = False
    is_isotropic: ClassVar[bool] = False

    kernel: Kernel
    function: Any

    def __init__(self, kernel: Kernel, function: Any) -> None:
        as_map("function", function)
        set_fields(self, kernel=as_kernel(kernel), function=function)

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return self.kernel.block(self._warped(x), self._warped(y), same)

    def block_diagonal(self, x: Array) -> Array:
        return self.kernel.block_diagonal(self._warped(x))

    def pullback(self, x: Array, y: Array, same: int | None) -> tuple[Array, Contraction]:
        return self.kernel.pullback(self._warped(x), self._warped(y), same)

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        return self.kernel.n_features(int(self._warped(np.ones((1, columns))).shape[1]))

    def block_features(self, x: Array) -> Array:
        return self.kernel.block_features(self._warped(x))

    def _warped(self, x: Array) -> Array:
        return mapped("function", self.function, x)
