"""Powers of kernels."""

from functools import reduce

import numpy as np

from tractable.arrays.namespace import Array
from tractable.kernels.base import Contraction, Kernel
from tractable.kernels.combinator import Wrapped, as_kernel
from tractable.kernels.product import feature_products
from tractable.spatial.checks import as_whole
from tractable.value import set_fields, value


@value
class Power(Wrapped):
    """A kernel to a whole power, ``kernel**2``.

    k(x, x') = k₁(x, x')ᵖ, a product of p equal kernels. Powers that are not whole need not be positive
    semi-definite.

    Parameters
    ----------
    kernel : Kernel
        k₁.
    exponent : int
        p, at least 1.

    Examples
    --------
    >>> from tractable.kernels import Linear
    >>> (Linear(1.0) ** 2)([[1.0]], [[2.0]])
    array([[9.]])
    """

    kernel: Kernel
    exponent: int

    def __init__(self, kernel: Kernel, exponent: int = 2) -> None:
        set_fields(self, kernel=as_kernel(kernel), exponent=as_whole("exponent", exponent, 1))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return self.kernel.block(x, y, same) ** self.exponent

    def block_diagonal(self, x: Array) -> Array:
        return self.kernel.block_diagonal(x) ** self.exponent

    def pullback(self, x: Array, y: Array, same: int | None) -> tuple[Array, Contraction]:
        inner, below = self.kernel.pullback(x, y, same)
        slope = self.exponent * inner ** (self.exponent - 1)
        return inner**self.exponent, lambda weights: below(weights * slope)

    def frequencies(self, n: int, columns: int, rng: np.random.Generator) -> np.ndarray:
        # Sums of independent ones of the kernel inside.
        drawn = (self.kernel.frequencies(n, columns, rng) for _ in range(self.exponent))
        return reduce(np.add, drawn)

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        return self.kernel.n_features(columns) ** self.exponent

    def block_features(self, x: Array) -> Array:
        return feature_products([self.kernel.block_features(x)] * self.exponent)

    def __repr__(self) -> str:
        return f"({self.kernel!r}) ** {self.exponent}"
