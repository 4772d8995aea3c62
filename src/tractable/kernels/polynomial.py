"""Polynomial kernels."""

from collections.abc import Mapping
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any, ClassVar

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.base import Kernel, column_of
from tractable.kernels.hyperparameters import BOUNDS
from tractable.spatial.checks import as_whole
from tractable.value import set_fields, value


@value
class Polynomial(Kernel):
    r"""A polynomial kernel.

    k(x, x') = (γ xᵀx' + c)\ :sup:`p`. Its features are the monomials of degree p, or up to p where c > 0,
    each times the root of its multinomial coefficient: (x₁², √2 x₁x₂, x₂²) where p = 2, c = 0 and γ = 1.

    Parameters
    ----------
    degree : int
        p, at least 1.
    gamma : float
        γ, positive.
    coef0 : float
        c, not negative; at zero it stays there.
    gamma_bounds, coef0_bounds : (float, float) or "fixed"
        Where a search looks for them.
    gamma_prior, coef0_prior : Distribution, optional
        Of the numbers themselves.

    Examples
    --------
    >>> from tractable.kernels import Polynomial
    >>> quadratic = Polynomial(2, coef0=0.0)
    >>> quadratic([[1.0, 2.0]], [[3.0, -1.0]])
    array([[1.]])
    >>> quadratic.features([[1.0, 2.0]]).round(4)
    array([[1.    , 2.8284, 4.    ]])
    """

    _hyper: ClassVar[tuple[str, ...]] = ("gamma", "coef0")
    _may_be_zero: ClassVar[tuple[str, ...]] = ("coef0",)

    degree: int
    gamma: float
    coef0: float
    gamma_bounds: Any
    coef0_bounds: Any
    gamma_prior: Distribution | None
    coef0_prior: Distribution | None

    def __init__(
        self,
        degree: int = 2,
        *,
        gamma: float = 1.0,
        coef0: float = 1.0,
        gamma_bounds: Any = BOUNDS,
        coef0_bounds: Any = BOUNDS,
        gamma_prior: Distribution | None = None,
        coef0_prior: Distribution | None = None,
    ) -> None:
        set_fields(self, degree=as_whole("degree", degree, 1))
        self._set_hyper(gamma=(gamma, gamma_bounds, gamma_prior), coef0=(coef0, coef0_bounds, coef0_prior))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return (self.gamma * (x @ y.T) + self.coef0) ** self.degree

    def block_diagonal(self, x: Array) -> Array:
        return (self.gamma * namespace_of(x).sum(x * x, axis=1) + self.coef0) ** self.degree

    def derivatives(
        self, weights: Array, matrix: Array, x: Array, y: Array, same: int | None
    ) -> Mapping[str, Any]:
        xp, product = namespace_of(x), self.gamma * (x @ y.T)
        slope = self.degree * weights * (product + self.coef0) ** (self.degree - 1)
        return {"gamma": xp.sum(slope * product), "coef0": self.coef0 * xp.sum(slope)}

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        return comb(columns + (self.coef0 > 0.0) + self.degree - 1, self.degree)

    def block_features(self, x: Array) -> Array:
        xp, root = namespace_of(x), self.gamma**0.5
        columns = [root * x[:, d] for d in range(x.shape[1])]
        if self.coef0 > 0.0:
            columns = [column_of(x, self.coef0**0.5), *columns]
        chosen = list(combinations_with_replacement(range(len(columns)), self.degree))
        monomials = [prod((columns[i] for i in which[1:]), start=columns[which[0]]) for which in chosen]
        return xp.stack(
            [_multiplicity(w) ** 0.5 * monomial for w, monomial in zip(chosen, monomials, strict=True)],
            axis=1,
        )


def _multiplicity(which: tuple[int, ...]) -> float:
    """Return in how many orders the factors of a monomial can be written."""
    return factorial(len(which)) / prod(factorial(which.count(i)) for i in set(which))
