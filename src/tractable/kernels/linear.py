"""The linear kernel."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.base import Kernel, column_of
from tractable.kernels.hyperparameters import BOUNDS
from tractable.value import value


@value
class Linear(Kernel):
    r"""The linear kernel.

    k(x, x') = σ₀² + xᵀx': the covariance of w₀ + wᵀx with w ~ N(0, I) and w₀ ~ N(0, σ₀²). Times a scale α⁻¹
    it is Bayesian linear regression with the prior N(0, α⁻¹ I).

    Parameters
    ----------
    sigma_0 : float
        σ₀, not negative; at zero functions go through the origin, and there is no hyper-parameter.
    sigma_0_bounds : (float, float) or "fixed"
        Where a search looks for it.
    sigma_0_prior : Distribution, optional
        Of the number itself.

    Examples
    --------
    >>> from tractable.kernels import Linear
    >>> Linear(1.0)([[1.0, 2.0]], [[3.0, -1.0]])
    array([[2.]])
    """

    _hyper: ClassVar[tuple[str, ...]] = ("sigma_0",)
    _may_be_zero: ClassVar[tuple[str, ...]] = ("sigma_0",)

    sigma_0: float
    sigma_0_bounds: Any
    sigma_0_prior: Distribution | None

    def __init__(
        self,
        sigma_0: float = 1.0,
        *,
        sigma_0_bounds: Any = BOUNDS,
        sigma_0_prior: Distribution | None = None,
    ) -> None:
        self._set_hyper(sigma_0=(sigma_0, sigma_0_bounds, sigma_0_prior))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return x @ y.T + self.sigma_0**2

    def block_diagonal(self, x: Array) -> Array:
        return namespace_of(x).sum(x * x, axis=1) + self.sigma_0**2

    def derivatives(
        self, weights: Array, matrix: Array, x: Array, y: Array, same: int | None
    ) -> Mapping[str, Any]:
        return {"sigma_0": 2.0 * self.sigma_0**2 * namespace_of(weights).sum(weights)}

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        return columns + (self.sigma_0 > 0.0)

    def block_features(self, x: Array) -> Array:
        xp = namespace_of(x)
        return xp.concat([column_of(x, self.sigma_0)[:, None], x], axis=1) if self.sigma_0 > 0.0 else x
