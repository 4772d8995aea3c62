"""Products of kernels."""

from collections.abc import Iterator
from functools import reduce
from operator import mul
from typing import Any, ClassVar

from tractable.arrays.namespace import Array, namespace_of
from tractable.kernels.base import Kernel
from tractable.kernels.combinator import Combinator
from tractable.kernels.sum import Sum
from tractable.value import set_fields, value


@value
class Product(Combinator):
    """A product of kernels, ``k1 * k2``.

    k(x, x') = Π_i k_i(x, x').

    Parameters
    ----------
    factors : sequence of Kernel
        One at least; a product among them is taken apart. Their hyper-parameters are
        ``k1__length_scale`` and so on.

    Examples
    --------
    >>> from tractable.kernels import RBF, Linear
    >>> (RBF(2.0) * Linear(0.0))([[1.0]], [[3.0]]).round(4)
    array([[1.8196]])
    """

    _argument: ClassVar[str] = "factors"

    factors: tuple[Kernel, ...]

    def __init__(self, factors: Any) -> None:
        found = self._checked("factors", factors)
        set_fields(
            self, factors=tuple(k for f in found for k in (f.factors if isinstance(f, Product) else (f,)))
        )

    @classmethod
    def of(cls, a: Kernel, b: Kernel) -> Kernel:
        """Return a * b."""
        return cls(factors=[a, b])

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        total = self.factors[0].block(x, y, same)
        for factor in self.factors[1:]:
            total *= factor.block(x, y, same)
        return total

    def block_diagonal(self, x: Array) -> Array:
        return reduce(mul, (factor.block_diagonal(x) for factor in self.factors))

    def part_weights(
        self, weights: Array, x: Array, y: Array, same: int | None
    ) -> Iterator[tuple[Kernel, Array]]:
        """∂Πk/∂k_i is the product of the others."""
        matrices = [factor.block(x, y, same) for factor in self.factors]
        for i, factor in enumerate(self.factors):
            yield factor, reduce(mul, matrices[:i] + matrices[i + 1 :], weights)

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        return reduce(mul, (factor.n_features(columns) for factor in self.factors))

    def block_features(self, x: Array) -> Array:
        xp = namespace_of(x)
        total = self.factors[0].block_features(x)
        for factor in self.factors[1:]:
            each = total[:, :, None] * factor.block_features(x)[:, None, :]
            total = xp.reshape(each, (x.shape[0], -1))
        return total

    def __repr__(self) -> str:
        if len(self.factors) == 1:
            return super().__repr__()
        return " * ".join(f"({k!r})" if isinstance(k, Sum) else repr(k) for k in self.factors)
