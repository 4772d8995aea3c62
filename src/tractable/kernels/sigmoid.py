"""The sigmoid kernel."""

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.base import Kernel
from tractable.kernels.hyperparameters import BOUNDS
from tractable.value import set_fields, value


@value
class Sigmoid(Kernel):
    r"""The sigmoid kernel, which is not positive semi-definite in general.

    k(x, x') = tanh(γ xᵀx' + c). Its matrices may have negative eigenvalues, and a Gaussian process of them
    does not exist; it is here for kernel regression and for what was published with it.

    Parameters
    ----------
    gamma : float
        γ, positive.
    coef0 : float
        c, any number; it is not searched.
    gamma_bounds : (float, float) or "fixed"
        Where a search looks for γ.
    gamma_prior : Distribution, optional
        Of the number itself.

    Examples
    --------
    >>> from tractable.kernels import Sigmoid
    >>> Sigmoid(0.5)([[1.0]], [[2.0]]).round(4)
    array([[0.964]])
    >>> Sigmoid().is_positive_semidefinite
    False
    """

    _hyper: ClassVar[tuple[str, ...]] = ("gamma",)
    is_positive_semidefinite: ClassVar[bool] = False

    gamma: float
    coef0: float
    gamma_bounds: Any
    gamma_prior: Distribution | None

    def __init__(
        self,
        gamma: float = 1.0,
        *,
        coef0: Any = 1.0,
        gamma_bounds: Any = BOUNDS,
        gamma_prior: Distribution | None = None,
    ) -> None:
        if not isinstance(coef0, Real) or not np.isfinite(float(coef0)):
            raise ValueError(f"coef0 must be a finite number, got {coef0!r}")
        set_fields(self, coef0=float(coef0))
        self._set_hyper(gamma=(gamma, gamma_bounds, gamma_prior))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return namespace_of(x).tanh(self.gamma * (x @ y.T) + self.coef0)

    def block_diagonal(self, x: Array) -> Array:
        xp = namespace_of(x)
        return xp.tanh(self.gamma * xp.sum(x * x, axis=1) + self.coef0)

    def derivatives(
        self, weights: Array, matrix: Array, x: Array, y: Array, same: int | None
    ) -> Mapping[str, Any]:
        return {"gamma": self.gamma * namespace_of(x).sum(weights * (1.0 - matrix * matrix) * (x @ y.T))}
