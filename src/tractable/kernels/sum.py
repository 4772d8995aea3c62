"""Sums of kernels."""

from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.kernels.base import Contraction, Kernel
from tractable.kernels.combinator import Combinator, as_kernel
from tractable.kernels.markov_term import MarkovTerm
from tractable.value import set_fields, value


@value
class Sum(Combinator):
    """A sum of kernels, ``k1 + k2``.

    k(x, x') = Σ_i k_i(x, x'): the covariance of a sum of independent functions.

    Parameters
    ----------
    terms : sequence of Kernel
        One at least; a sum among them is taken apart. Their hyper-parameters are
        ``k1__length_scale`` and so on.

    Examples
    --------
    >>> from tractable.kernels import RBF, White
    >>> kernel = RBF(2.0) + White(0.1)
    >>> kernel
    RBF(length_scale=2.0) + White(noise_level=0.1)
    >>> kernel.with_params(k2__noise_level=0.5)
    RBF(length_scale=2.0) + White(noise_level=0.5)
    """

    _argument: ClassVar[str] = "terms"

    terms: tuple[Kernel, ...]

    def __init__(self, terms: Any) -> None:
        found = self._checked("terms", terms)
        set_fields(self, terms=tuple(k for f in found for k in (f.terms if isinstance(f, Sum) else (f,))))

    @classmethod
    def of(cls, a: Any, b: Any) -> Kernel:
        """Return a + b; a number is a constant kernel, and zero adds nothing."""
        kernels = [k for k in (a, b) if isinstance(k, Kernel) or k != 0]
        if len(kernels) == 1:
            return kernels[0]
        return cls(terms=[as_kernel(k) for k in kernels])

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        total = self.terms[0].block(x, y, same)
        for term in self.terms[1:]:
            total += term.block(x, y, same)
        return total

    def block_diagonal(self, x: Array) -> Array:
        return sum((term.block_diagonal(x) for term in self.terms[1:]), self.terms[0].block_diagonal(x))

    def pullback(self, x: Array, y: Array, same: int | None) -> tuple[Array, Contraction]:
        # Every term has the weights of the sum.
        matrices, below = zip(*(term.pullback(x, y, same) for term in self.terms), strict=True)
        return reduce(add, matrices), lambda weights: np.concatenate([each(weights) for each in below])

    def frequencies(self, n: int, columns: int, rng: np.random.Generator) -> np.ndarray:
        # A mixture of those of the terms.
        at = np.zeros((1, columns))
        heights = np.array([float(term.diagonal(at)[0]) for term in self.terms])
        counts = rng.multinomial(n, heights / heights.sum())
        drawn = [t.frequencies(int(k), columns, rng) for t, k in zip(self.terms, counts, strict=True)]
        return rng.permutation(np.concatenate(drawn))

    def markov_terms(self) -> tuple[MarkovTerm, ...]:
        """Return those of the terms, one after the other."""
        return tuple(found for term in self.terms for found in term.markov_terms())

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        return sum(term.n_features(columns) for term in self.terms)

    def block_features(self, x: Array) -> Array:
        return namespace_of(x).concat([term.block_features(x) for term in self.terms], axis=1)

    def __repr__(self) -> str:
        if len(self.terms) == 1:
            return super().__repr__()
        return " + ".join(map(repr, self.terms))
