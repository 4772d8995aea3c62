"""Products of kernels."""

from functools import reduce
from math import prod
from operator import add, mul
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.kernels.base import Contraction, Kernel
from tractable.kernels.combinator import Combinator
from tractable.kernels.constant import Constant
from tractable.kernels.markov_term import MarkovTerm
from tractable.kernels.sum import Sum
from tractable.value import replace, set_fields, value


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

    def pullback(self, x: Array, y: Array, same: int | None) -> tuple[Array, Contraction]:
        # ∂Πk/∂k_i is the product of the others.
        matrices, below = zip(*(factor.pullback(x, y, same) for factor in self.factors), strict=True)

        def contract(weights: Array) -> np.ndarray:
            others = (matrices[:i] + matrices[i + 1 :] for i in range(len(matrices)))
            return np.concatenate(
                [each(reduce(mul, rest, weights)) for each, rest in zip(below, others, strict=True)]
            )

        return reduce(mul, matrices), contract

    def frequencies(self, n: int, columns: int, rng: np.random.Generator) -> np.ndarray:
        # The convolution of those of the factors.
        return reduce(add, (factor.frequencies(n, columns, rng) for factor in self.factors))

    def markov_terms(self) -> tuple[MarkovTerm, ...]:
        """Return those of one factor, times the constants that the others are."""
        others = [factor for factor in self.factors if not isinstance(factor, Constant)]
        if len(others) > 1:
            return super().markov_terms()
        constant = prod(factor.constant_value for factor in self.factors if isinstance(factor, Constant))
        terms = others[0].markov_terms() if others else Constant(1.0).markov_terms()
        return tuple(replace(term, variance=constant * term.variance) for term in terms)

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        return reduce(mul, (factor.n_features(columns) for factor in self.factors))

    def block_features(self, x: Array) -> Array:
        return feature_products([factor.block_features(x) for factor in self.factors])

    def __repr__(self) -> str:
        if len(self.factors) == 1:
            return super().__repr__()
        return " * ".join(f"({k!r})" if isinstance(k, Sum) else repr(k) for k in self.factors)


def feature_products(features: list[Array]) -> Array:
    """Return the products of one feature of each map, (n, Πk): the features of a product of kernels."""
    xp, total = namespace_of(features[0]), features[0]
    for each in features[1:]:
        pairs = total[:, :, None] * each[:, None, :]
        total = xp.reshape(pairs, (pairs.shape[0], pairs.shape[1] * pairs.shape[2]))
    return total
