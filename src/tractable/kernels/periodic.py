"""Periodic kernels."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.base import Kernel, column_of, like_rows
from tractable.kernels.hyperparameters import BOUNDS
from tractable.value import value


@value
class Periodic(Kernel):
    r"""The periodic kernel of MacKay, Rasmussen and Williams (4.31), a product over columns.

    .. math:: k(x, x') = \exp\Bigl(-2 \sum_d \sin^2(\pi (x_d - x'_d)/p_d) / \ell_d^2\Bigr)

    Functions of it repeat exactly; times a squared exponential they change slowly from period to period. It
    is positive semi-definite in every dimension, which the same formula of the distance |x - x'| is not.

    Parameters
    ----------
    length_scale : float or array (d,)
        ℓ, positive, in units of the period over π: one for all columns, or one a column.
    periodicity : float or array (d,)
        p, positive: one for all columns, or one a column.
    length_scale_bounds, periodicity_bounds : (float, float), array (d, 2) or "fixed"
        Where a search looks for them.
    length_scale_prior, periodicity_prior : Distribution, optional
        Of the numbers themselves.

    Examples
    --------
    >>> from tractable.kernels import Periodic
    >>> Periodic(1.0, periodicity=2.0)([[0.0]], [[1.0], [2.0]]).round(4)
    array([[0.1353, 1.    ]])
    """

    _hyper: ClassVar[tuple[str, ...]] = ("length_scale", "periodicity")
    _vectors: ClassVar[tuple[str, ...]] = ("length_scale", "periodicity")
    is_stationary: ClassVar[bool] = True

    length_scale: Any
    periodicity: Any
    length_scale_bounds: Any
    periodicity_bounds: Any
    length_scale_prior: Distribution | None
    periodicity_prior: Distribution | None

    def __init__(
        self,
        length_scale: Any = 1.0,
        *,
        periodicity: Any = 1.0,
        length_scale_bounds: Any = BOUNDS,
        periodicity_bounds: Any = BOUNDS,
        length_scale_prior: Distribution | None = None,
        periodicity_prior: Distribution | None = None,
    ) -> None:
        self._set_hyper(
            length_scale=(length_scale, length_scale_bounds, length_scale_prior),
            periodicity=(periodicity, periodicity_bounds, periodicity_prior),
        )

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        xp, total = namespace_of(x), 0.0
        for angles, scale in self._angles(x, y):
            total = total + (xp.sin(angles) / scale) ** 2
        return xp.exp(-2.0 * total)

    def block_diagonal(self, x: Array) -> Array:
        return column_of(x, 1.0)

    def derivatives(
        self, weights: Array, matrix: Array, x: Array, y: Array, same: int | None
    ) -> Mapping[str, Any]:
        xp, v = namespace_of(x), weights * matrix
        by_scale, by_period = [], []
        for angles, scale in self._angles(x, y):
            by_scale.append(4.0 * xp.sum(v * (xp.sin(angles) / scale) ** 2))
            by_period.append(2.0 * xp.sum(v * angles * xp.sin(2.0 * angles)) / scale**2)
        found = {"length_scale": xp.stack(by_scale), "periodicity": xp.stack(by_period)}
        return {
            name: each if isinstance(getattr(self, name), np.ndarray) else xp.sum(each)
            for name, each in found.items()
        }

    def _angles(self, x: Array, y: Array) -> Any:
        """Yield π (x - x')/p of each column, and ℓ."""
        per_column = np.ones(x.shape[1])
        like = np.empty((0, x.shape[1]))
        scales = like_rows(self.length_scale, like, "length_scale") * per_column
        periods = like_rows(self.periodicity, like, "periodicity") * per_column
        for d in range(x.shape[1]):
            yield (x[:, d : d + 1] - y[None, :, d]) * float(np.pi / periods[d]), float(scales[d])

    def frequencies(self, n: int, columns: int, rng: np.random.Generator) -> np.ndarray:
        # Harmonics j of the period, in proportion to I_j(1/ℓ²).
        from scipy.special import ive

        like = np.empty((0, columns))
        scales = like_rows(self.length_scale, like, "length_scale") * np.ones(columns)
        periods = like_rows(self.periodicity, like, "periodicity") * np.ones(columns)
        drawn = []
        for scale, period in zip(scales, periods, strict=True):
            # The coefficients fall as a normal density of variance 1/ℓ² does, or faster.
            harmonics = np.arange(int(20.0 + 10.0 / scale))
            masses = ive(harmonics, scale**-2.0)
            masses[1:] *= 2.0
            signed = rng.choice(harmonics, n, p=masses / masses.sum()) * rng.choice([-1.0, 1.0], n)
            drawn.append(signed * (2.0 * np.pi / period))
        return np.stack(drawn, axis=1)
