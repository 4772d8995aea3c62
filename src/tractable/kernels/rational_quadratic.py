"""The rational quadratic kernel."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.hyperparameters import BOUNDS
from tractable.kernels.stationary import Stationary
from tractable.value import value


@value
class RationalQuadratic(Stationary):
    r"""The rational quadratic kernel, Rasmussen and Williams (4.19).

    .. math:: k(x, x') = \Bigl(1 + \frac{1}{2\alpha} \sum_d (x_d - x'_d)^2 / \ell_d^2\Bigr)^{-\alpha}

    A mixture of squared-exponential kernels of many length scales; α → ∞ is the squared exponential itself.

    Parameters
    ----------
    length_scale : float or array (d,)
        ℓ, positive: one for all columns, or one a column.
    alpha : float
        α, positive: the larger, the less the scales differ.
    length_scale_bounds, alpha_bounds : (float, float) or "fixed"
        Where a search looks for them; of the length scale also an array (d, 2).
    length_scale_prior, alpha_prior : Distribution, optional
        Of the numbers themselves.

    Examples
    --------
    >>> from tractable.kernels import RationalQuadratic
    >>> RationalQuadratic(1.0, alpha=0.5)([[0.0]], [[1.0]]).round(4)
    array([[0.7071]])
    """

    _hyper: ClassVar[tuple[str, ...]] = ("length_scale", "alpha")

    length_scale: Any
    alpha: float
    length_scale_bounds: Any
    alpha_bounds: Any
    length_scale_prior: Distribution | None
    alpha_prior: Distribution | None

    def __init__(
        self,
        length_scale: Any = 1.0,
        *,
        alpha: float = 1.0,
        length_scale_bounds: Any = BOUNDS,
        alpha_bounds: Any = BOUNDS,
        length_scale_prior: Distribution | None = None,
        alpha_prior: Distribution | None = None,
    ) -> None:
        self._set_hyper(
            length_scale=(length_scale, length_scale_bounds, length_scale_prior),
            alpha=(alpha, alpha_bounds, alpha_prior),
        )

    def _profile(self, s: Array) -> Array:
        return namespace_of(s).exp(-self.alpha * self._log_base(s))

    def _slope(self, matrix: Array, x: Array, y: Array) -> Array:
        return matrix * namespace_of(x).exp(-self._log_base(self._squares(x, y)))

    def derivatives(
        self, weights: Array, matrix: Array, x: Array, y: Array, same: int | None
    ) -> Mapping[str, Any]:
        xp = namespace_of(x)
        t = self._log_base(self._squares(x, y))
        # d log k/dα = 1 - exp(-t) - t, t = log(1 + s/2α)
        by_alpha = xp.sum(weights * matrix * (-xp.expm1(-t) - t))
        return {**super().derivatives(weights, matrix, x, y, same), "alpha": self.alpha * by_alpha}

    def _log_base(self, s: Array) -> Array:
        """Return log(1 + s/2α)."""
        s *= 0.5 / self.alpha
        return namespace_of(s).log1p(s)

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.sqrt(rng.standard_gamma(self.alpha, n) / self.alpha)
