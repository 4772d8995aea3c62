"""Distances in the feature space of a kernel, and the squared-exponential kernel of them."""

from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.base import Contraction, Kernel, column_of
from tractable.kernels.combinator import Wrapped, as_kernel
from tractable.kernels.hyperparameters import BOUNDS
from tractable.value import set_fields, value


@value
class KernelDistance:
    """The distance in the feature space of a kernel.

    d²(x, x') = |φ(x) - φ(x')|² = κ(x, x) + κ(x', x') - 2κ(x, x').

    Parameters
    ----------
    kernel : Kernel
        κ.

    Examples
    --------
    >>> from tractable.kernels import KernelDistance, Linear
    >>> KernelDistance(kernel=Linear())([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """

    kernel: Kernel

    def __post_init__(self) -> None:
        set_fields(self, kernel=as_kernel(self.kernel))

    def __call__(self, x: Any, y: Any = None) -> Array:
        """Return the distances between rows of x (n, d) and of y (m, d), or of x, an array (n, m)."""
        matrix = self.kernel(x, y)
        xp, rows = namespace_of(matrix), self.kernel.diagonal(x)
        columns = rows if y is None else self.kernel.diagonal(y)
        return xp.sqrt(xp.clip(rows[:, None] + columns[None, :] - 2.0 * matrix, 0.0, None))


@value
class DistanceRBF(Wrapped):
    """The squared-exponential kernel of the distance in another kernel's feature space.

    k(x, x') = exp(-(κ(x, x) + κ(x', x') - 2κ(x, x'))/2ℓ²). With κ linear it is `RBF`; with another κ it is
    the same of φ(x), and so a kernel of whatever κ is a kernel of.

    Parameters
    ----------
    kernel : Kernel
        κ, the kernel inside.
    length_scale : float
        ℓ, positive, in units of the distance in feature space.
    length_scale_bounds : (float, float) or "fixed"
        Where a search looks for it.
    length_scale_prior : Distribution, optional
        Of the number itself.

    Examples
    --------
    >>> from tractable.kernels import RBF, DistanceRBF, Linear
    >>> x, y = [[1.0, 2.0]], [[0.0, 1.5]]
    >>> DistanceRBF(Linear(), length_scale=2.0)(x, y).round(12) == RBF(2.0)(x, y).round(12)
    array([[ True]])
    """

    _hyper: ClassVar[tuple[str, ...]] = ("length_scale",)

    kernel: Kernel
    length_scale: float
    length_scale_bounds: Any
    length_scale_prior: Distribution | None

    def __init__(
        self,
        kernel: Kernel,
        length_scale: float = 1.0,
        *,
        length_scale_bounds: Any = BOUNDS,
        length_scale_prior: Distribution | None = None,
    ) -> None:
        set_fields(self, kernel=as_kernel(kernel))
        self._set_hyper(length_scale=(length_scale, length_scale_bounds, length_scale_prior))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return namespace_of(x).exp(self._exponent(self.kernel.block(x, y, same), x, y))

    def block_diagonal(self, x: Array) -> Array:
        return column_of(x, 1.0)

    def pullback(self, x: Array, y: Array, same: int | None) -> tuple[Array, Contraction]:
        # The weights of the matrix inside, and of both its diagonals.
        xp, precision = namespace_of(x), self.length_scale**-2.0
        inner, below = self.kernel.pullback(x, y, same)
        exponent = self._exponent(inner, x, y)
        matrix = xp.exp(exponent)

        def contract(weights: Array) -> np.ndarray:
            v = weights * matrix
            own = self.own_theta(lambda: {"length_scale": -2.0 * xp.sum(v * exponent)})
            ends = sum(
                self.kernel.contract_diagonal(xp.sum(v, axis=axis), rows) for axis, rows in ((1, x), (0, y))
            )
            return np.concatenate([own, precision * (below(v) - 0.5 * ends)])

        return matrix, contract

    def _exponent(self, inner: Array, x: Array, y: Array) -> Array:
        squares = (
            self.kernel.block_diagonal(x)[:, None] + self.kernel.block_diagonal(y)[None, :] - 2.0 * inner
        )
        return -0.5 * self.length_scale**-2.0 * namespace_of(x).clip(squares, 0.0, None)
