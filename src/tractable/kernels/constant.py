"""The constant kernel."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.base import Kernel, column_of
from tractable.kernels.hyperparameters import BOUNDS
from tractable.kernels.markov_term import MarkovTerm
from tractable.value import value


@value
class Constant(Kernel):
    r"""The constant kernel.

    k(x, x') = c: the covariance of a function that is one Gaussian number everywhere. In a sum it adds a
    mean level of variance c; ``2.0 + kernel`` makes one.

    Parameters
    ----------
    constant_value : float
        c, positive.
    constant_value_bounds : (float, float) or "fixed"
        Where a search looks for it.
    constant_value_prior : Distribution, optional
        Of the number itself.

    Examples
    --------
    >>> from tractable.kernels import Constant
    >>> Constant(2.0)([[0.0], [1.0]])
    array([[2., 2.],
           [2., 2.]])
    """

    _hyper: ClassVar[tuple[str, ...]] = ("constant_value",)
    is_stationary: ClassVar[bool] = True
    is_isotropic: ClassVar[bool] = True

    constant_value: float
    constant_value_bounds: Any
    constant_value_prior: Distribution | None

    def __init__(
        self,
        constant_value: float = 1.0,
        *,
        constant_value_bounds: Any = BOUNDS,
        constant_value_prior: Distribution | None = None,
    ) -> None:
        self._set_hyper(constant_value=(constant_value, constant_value_bounds, constant_value_prior))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return column_of(x, self.constant_value)[:, None] + 0.0 * column_of(y, 0.0)

    def block_diagonal(self, x: Array) -> Array:
        return column_of(x, self.constant_value)

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        return 1

    def block_features(self, x: Array) -> Array:
        return column_of(x, self.constant_value**0.5)[:, None]

    def markov_terms(self) -> tuple[MarkovTerm, ...]:
        """Return its one term: a state that stays as it is."""
        one = np.ones((1, 1))
        return (
            MarkovTerm(drift=0.0 * one, stationary=one, variance=self.constant_value, rate=0.0, damped=False),
        )

    def frequencies(self, n: int, columns: int, rng: np.random.Generator) -> np.ndarray:
        # The spectrum is all at zero.
        return np.zeros((n, columns))

    def derivatives(
        self, weights: Array, matrix: Array, x: Array, y: Array, same: int | None
    ) -> Mapping[str, Any]:
        return {"constant_value": self.constant_value * namespace_of(weights).sum(weights)}
