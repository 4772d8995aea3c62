"""Scaled kernels."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.base import Contraction, Kernel
from tractable.kernels.combinator import Combinator, Wrapped, as_kernel
from tractable.kernels.hyperparameters import BOUNDS
from tractable.kernels.markov_term import MarkovTerm
from tractable.value import replace, set_fields, value


@value
class Scaled(Wrapped):
    """A kernel times a positive number and a function, ``2.0 * kernel``.

    k(x, x') = c f(x) k₁(x, x') f(x'): the covariance of √c f(x) g(x), where g has the covariance k₁.

    Parameters
    ----------
    kernel : Kernel
        k₁.
    scale : float
        c, positive: a variance.
    scale_bounds : (float, float) or "fixed"
        Where a search looks for it.
    scale_prior : Distribution, optional
        Of the number itself.
    function : callable, optional
        f, from rows (n, d) to n numbers; 1 where None.

    Examples
    --------
    >>> from tractable.kernels import Constant, RBF, Scaled
    >>> 2.0 * RBF(3.0)
    2.0 * RBF(length_scale=3.0)
    >>> Scaled(Constant(), function=lambda x: x[:, 0])([[1.0], [2.0]])
    array([[1., 2.],
           [2., 4.]])
    """

    _hyper: ClassVar[tuple[str, ...]] = ("scale",)

    kernel: Kernel
    scale: float
    scale_bounds: Any
    scale_prior: Distribution | None
    function: Callable[[Array], Array] | None

    def __init__(
        self,
        kernel: Kernel,
        scale: float = 1.0,
        *,
        scale_bounds: Any = BOUNDS,
        scale_prior: Distribution | None = None,
        function: Callable[[Array], Array] | None = None,
    ) -> None:
        if function is not None and not callable(function):
            raise ValueError(f"function must be callable or None, got {function!r}")
        set_fields(self, kernel=as_kernel(kernel), function=function)
        self._set_hyper(scale=(scale, scale_bounds, scale_prior))

    @property
    def is_stationary(self) -> bool:  # type: ignore[override]
        """Whether the kernel is a function of x - x' alone."""
        return self.function is None and self.kernel.is_stationary

    @property
    def is_isotropic(self) -> bool:  # type: ignore[override]
        """Whether the kernel is a function of |x - x'| alone."""
        return self.function is None and self.kernel.is_isotropic

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        found = self.kernel.block(x, y, same)
        found *= self.scale
        return found if self.function is None else found * self._factors(x, y)

    def block_diagonal(self, x: Array) -> Array:
        found = self.scale * self.kernel.block_diagonal(x)
        return found if self.function is None else found * self._heights(x) ** 2

    def pullback(self, x: Array, y: Array, same: int | None) -> tuple[Array, Contraction]:
        # The weights of the kernel inside are scaled as it is.
        inner, below = self.kernel.pullback(x, y, same)
        factors = self.scale if self.function is None else self.scale * self._factors(x, y)
        matrix = factors * inner

        def contract(weights: Array) -> np.ndarray:
            own = self.own_theta(lambda: {"scale": namespace_of(x).sum(weights * matrix)})
            return np.concatenate([own, below(factors * weights)])

        return matrix, contract

    def frequencies(self, n: int, columns: int, rng: np.random.Generator) -> np.ndarray:
        return (
            self.kernel.frequencies(n, columns, rng)
            if self.function is None
            else super().frequencies(n, columns, rng)
        )

    def markov_terms(self) -> tuple[MarkovTerm, ...]:
        """Return those of the kernel inside, of c times their variances."""
        if self.function is not None:
            return super().markov_terms()
        return tuple(
            replace(term, variance=self.scale * term.variance) for term in self.kernel.markov_terms()
        )

    def _heights(self, x: Array) -> Array:
        """Return f(x), (n,)."""
        assert self.function is not None
        found = as_reals("function", self.function(x), x)
        if tuple(found.shape) != (x.shape[0],):
            raise ValueError(
                f"function must return one number for each of {x.shape[0]} rows, "
                f"got shape {tuple(found.shape)}"
            )
        xp = namespace_of(x)
        if not bool(xp.all(xp.isfinite(found))):
            raise ValueError("function must return finite numbers: it returns NaN or infinity")
        return xp.astype(found, x.dtype, copy=False)

    def _factors(self, x: Array, y: Array) -> Array:
        return self._heights(x)[:, None] * self._heights(y)[None, :]

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        return self.kernel.n_features(columns)

    def block_features(self, x: Array) -> Array:
        found = self.scale**0.5 * self.kernel.block_features(x)
        return found if self.function is None else found * self._heights(x)[:, None]

    def __repr__(self) -> str:
        plain = Scaled(kernel=self.kernel, scale=self.scale)
        if self != plain:
            return super().__repr__()
        inner = f"({self.kernel!r})" if isinstance(self.kernel, Combinator) else repr(self.kernel)
        return f"{self.scale!r} * {inner}"
