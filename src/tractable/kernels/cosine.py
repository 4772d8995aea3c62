"""The cosine kernel."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.base import Kernel, column_of, like_rows, one_number
from tractable.kernels.hyperparameters import BOUNDS
from tractable.kernels.markov_term import MarkovTerm
from tractable.value import value


@value
class Cosine(Kernel):
    r"""The cosine kernel.

    k(x, x') = cos(2π Σ_d (x_d - x'_d)/p_d): the covariance of a cos(2π Σ x_d/p_d) + b sin(2π Σ x_d/p_d) with
    independent standard normal a and b, a wave of one frequency. Its two features are the cosine and the
    sine.

    Parameters
    ----------
    periodicity : float or array (d,)
        p, positive: one for all columns, or one a column.
    periodicity_bounds : (float, float), array (d, 2) or "fixed"
        Where a search looks for it.
    periodicity_prior : Distribution, optional
        Of the number itself.

    Examples
    --------
    >>> from tractable.kernels import Cosine
    >>> Cosine(4.0)([[0.0]], [[1.0], [2.0], [4.0]]).round(4)
    array([[ 0., -1.,  1.]])
    """

    _hyper: ClassVar[tuple[str, ...]] = ("periodicity",)
    _vectors: ClassVar[tuple[str, ...]] = ("periodicity",)
    is_stationary: ClassVar[bool] = True

    periodicity: Any
    periodicity_bounds: Any
    periodicity_prior: Distribution | None

    def __init__(
        self,
        periodicity: Any = 1.0,
        *,
        periodicity_bounds: Any = BOUNDS,
        periodicity_prior: Distribution | None = None,
    ) -> None:
        self._set_hyper(periodicity=(periodicity, periodicity_bounds, periodicity_prior))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return namespace_of(x).cos(self._angles(x, y))

    def block_diagonal(self, x: Array) -> Array:
        return column_of(x, 1.0)

    def derivatives(
        self, weights: Array, matrix: Array, x: Array, y: Array, same: int | None
    ) -> Mapping[str, Any]:
        xp = namespace_of(x)
        v = weights * xp.sin(self._angles(x, y))
        waves = self._waves(x), self._waves(y)
        by_column = xp.sum(v, axis=1) @ waves[0] - xp.sum(v, axis=0) @ waves[1]
        together = not isinstance(self.periodicity, np.ndarray)
        return {"periodicity": xp.sum(by_column) if together else by_column}

    def markov_terms(self) -> tuple[MarkovTerm, ...]:
        """Return its one term: two states that turn, the wave and the one a quarter of a period before."""
        rate = 2.0 * np.pi / one_number(self.periodicity, "periodicity")
        turn = np.array([[0.0, -1.0], [1.0, 0.0]])
        return (MarkovTerm(drift=turn, stationary=np.eye(2), variance=1.0, rate=rate, damped=False),)

    def _waves(self, x: Array) -> Array:
        """Return 2π x/p of each column."""
        return x * (2.0 * np.pi / like_rows(self.periodicity, x, "periodicity"))

    def _angles(self, x: Array, y: Array) -> Array:
        xp = namespace_of(x)
        # About a common centre: an angle of many periods would lose digits.
        centre = xp.mean(y, axis=0) if y.shape[0] else 0.0
        rows, columns = (xp.sum(self._waves(part - centre), axis=1) for part in (x, y))
        return rows[:, None] - columns[None, :]

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        return 2

    def block_features(self, x: Array) -> Array:
        xp = namespace_of(x)
        angles = xp.sum(self._waves(x), axis=1)
        return xp.stack([xp.cos(angles), xp.sin(angles)], axis=1)

    def frequencies(self, n: int, columns: int, rng: np.random.Generator) -> np.ndarray:
        # One frequency, of either sign.
        return rng.choice([-1.0, 1.0], (n, 1)) * self._waves(np.ones((1, columns)))
