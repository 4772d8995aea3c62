"""The linear kernel."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, freeze, namespace_of, to_numpy
from tractable.distributions.distribution import Distribution
from tractable.kernels.base import Kernel, column_of, like_rows
from tractable.kernels.hyperparameters import BOUNDS
from tractable.value import set_fields, value


@value
class Linear(Kernel):
    r"""The linear kernel.

    k(x, x') = σ₀² + (x - c)ᵀ(x' - c): the covariance of w₀ + wᵀ(x - c) with w ~ N(0, I) and w₀ ~ N(0, σ₀²).
    Times a scale α⁻¹ it is Bayesian linear regression with the prior N(0, α⁻¹ I).

    Parameters
    ----------
    sigma_0 : float
        σ₀, not negative; at zero functions go through the origin, and there is no hyper-parameter.
    sigma_0_bounds : (float, float) or "fixed"
        Where a search looks for it.
    sigma_0_prior : Distribution, optional
        Of the number itself.
    center : float or array (d,)
        c, where lines have the least variance: one for all columns, or one a column. It is not searched.

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
    center: Any

    def __init__(
        self,
        sigma_0: float = 1.0,
        *,
        sigma_0_bounds: Any = BOUNDS,
        sigma_0_prior: Distribution | None = None,
        center: Any = 0.0,
    ) -> None:
        set_fields(self, center=_checked_center(center))
        self._set_hyper(sigma_0=(sigma_0, sigma_0_bounds, sigma_0_prior))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return self._centred(x) @ self._centred(y).T + self.sigma_0**2

    def block_diagonal(self, x: Array) -> Array:
        return namespace_of(x).sum(self._centred(x) ** 2, axis=1) + self.sigma_0**2

    def derivatives(
        self, weights: Array, matrix: Array, x: Array, y: Array, same: int | None
    ) -> Mapping[str, Any]:
        return {"sigma_0": 2.0 * self.sigma_0**2 * namespace_of(weights).sum(weights)}

    @property
    def n_columns(self) -> int:
        """How many columns rows have, as far as the center tells; else 1."""
        return len(self.center) if isinstance(self.center, np.ndarray) else 1

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        return columns + (self.sigma_0 > 0.0)

    def block_features(self, x: Array) -> Array:
        xp, found = namespace_of(x), self._centred(x)
        return (
            xp.concat([column_of(x, self.sigma_0)[:, None], found], axis=1) if self.sigma_0 > 0.0 else found
        )

    def _centred(self, x: Array) -> Array:
        return x - like_rows(self.center, x, "center")


def _checked_center(center: Any) -> Any:
    found = freeze(np.asarray(to_numpy(as_reals("center", center)), dtype=np.float64))
    if found.ndim > 1 or not found.size or not np.all(np.isfinite(found)):
        raise ValueError(f"center must be finite, a number or one a column, got {center!r:.80}")
    return found if found.ndim else float(found)
