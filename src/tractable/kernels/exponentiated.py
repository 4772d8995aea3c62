"""Exponentials of kernels."""

from tractable.arrays.namespace import Array, namespace_of
from tractable.kernels.base import Contraction, Kernel
from tractable.kernels.combinator import Wrapped, as_kernel
from tractable.value import set_fields, value


@value
class Exponentiated(Wrapped):
    """The exponential of a kernel.

    k(x, x') = exp(k₁(x, x')), a power series of products of k₁.

    Parameters
    ----------
    kernel : Kernel
        k₁.

    Examples
    --------
    >>> from tractable.kernels import Exponentiated, Linear
    >>> Exponentiated(Linear(0.0))([[1.0]], [[2.0]]).round(4)
    array([[7.3891]])
    """

    kernel: Kernel

    def __init__(self, kernel: Kernel) -> None:
        set_fields(self, kernel=as_kernel(kernel))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return namespace_of(x).exp(self.kernel.block(x, y, same))

    def block_diagonal(self, x: Array) -> Array:
        return namespace_of(x).exp(self.kernel.block_diagonal(x))

    def pullback(self, x: Array, y: Array, same: int | None) -> tuple[Array, Contraction]:
        inner, below = self.kernel.pullback(x, y, same)
        matrix = namespace_of(x).exp(inner)
        return matrix, lambda weights: below(weights * matrix)
