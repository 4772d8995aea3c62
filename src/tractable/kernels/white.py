"""White noise."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.base import Kernel, column_of, on_diagonal
from tractable.kernels.hyperparameters import BOUNDS
from tractable.value import value


@value
class White(Kernel):
    """White noise.

    k(x_n, x_m) = noise_level where n = m, else 0: each row of ``kernel(x)`` has noise of its own, equal rows
    too, and ``kernel(x, y)`` is zero, since its rows are other measurements.

    Parameters
    ----------
    noise_level : float
        The variance, positive.
    noise_level_bounds : (float, float) or "fixed"
        Where a search looks for it.
    noise_level_prior : Distribution, optional
        Of the number itself.

    Examples
    --------
    >>> from tractable.kernels import White
    >>> White(0.5)([[1.0], [1.0]])
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    _hyper: ClassVar[tuple[str, ...]] = ("noise_level",)
    is_stationary: ClassVar[bool] = True
    is_isotropic: ClassVar[bool] = True
    has_noise: ClassVar[bool] = True

    noise_level: float
    noise_level_bounds: Any
    noise_level_prior: Distribution | None

    def __init__(
        self,
        noise_level: float = 1.0,
        *,
        noise_level_bounds: Any = BOUNDS,
        noise_level_prior: Distribution | None = None,
    ) -> None:
        self._set_hyper(noise_level=(noise_level, noise_level_bounds, noise_level_prior))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        zeros = namespace_of(x).zeros((x.shape[0], y.shape[0]), dtype=x.dtype, device=device(x))
        return on_diagonal(zeros, self.noise_level, same)

    def block_diagonal(self, x: Array) -> Array:
        return column_of(x, self.noise_level)

    def derivatives(
        self, weights: Array, matrix: Array, x: Array, y: Array, same: int | None
    ) -> Mapping[str, Any]:
        if same is None:
            return {"noise_level": 0.0}
        xp = namespace_of(weights)
        trace = xp.linalg.trace(weights, offset=same)
        return {"noise_level": self.noise_level * trace}
