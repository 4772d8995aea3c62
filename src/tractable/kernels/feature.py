"""Kernels of explicit features."""

from collections.abc import Callable
from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, namespace_of
from tractable.kernels.base import Kernel
from tractable.value import set_fields, value


def as_map(name: str, function: Any) -> Callable[[Array], Any]:
    """Return the function of rows that a callable, or a transformer that has been fitted, is."""
    found = getattr(function, "transform", function)
    if not callable(found) or isinstance(function, type):
        raise ValueError(f"{name} must be a function of rows, or a fitted transformer, got {function!r:.80}")
    return found


def mapped(name: str, function: Any, x: Array) -> Array:
    """Return what a map makes of rows, finite numbers (n, k)."""
    xp = namespace_of(x)
    found = as_reals(name, as_map(name, function)(x), x)
    if found.ndim != 2 or found.shape[0] != x.shape[0]:
        raise ValueError(
            f"{name} must return rows, {x.shape[0]} of them, got an array of shape {tuple(found.shape)}"
        )
    if not bool(xp.all(xp.isfinite(found))):
        raise ValueError(f"{name} must be finite at every row of x")
    return xp.astype(found, x.dtype, copy=False)


@value
class Feature(Kernel):
    """The kernel of explicit features.

    k(x, x') = φ(x)ᵀφ(x'). Times 1/α it is the covariance of Bayesian linear regression on φ with the prior
    N(0, α⁻¹ I), Bishop (6.53).

    Parameters
    ----------
    function : callable or fitted transformer
        φ, from rows (n, d) to rows (n, k): a function, a basis such as `tractable.PolynomialBasis`, random
        Fourier features.

    Examples
    --------
    >>> import numpy as np
    >>> from tractable.kernels import Feature
    >>> Feature(lambda x: np.hstack([np.ones_like(x), x]))([[1.0], [2.0]])
    array([[2., 3.],
           [3., 5.]])
    """

    function: Any

    def __init__(self, function: Any) -> None:
        as_map("function", function)
        set_fields(self, function=function)

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return self.block_features(x) @ self.block_features(y).T

    def block_diagonal(self, x: Array) -> Array:
        features = self.block_features(x)
        return namespace_of(x).sum(features * features, axis=1)

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        import numpy as np

        return int(self.block_features(np.ones((1, columns))).shape[1])

    def block_features(self, x: Array) -> Array:
        return mapped("function", self.function, x)
