"""The squared-exponential kernel."""

from typing import Any

import numpy as np

from tractable.arrays.devices import on_host
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.hyperparameters import BOUNDS
from tractable.kernels.stationary import Stationary
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.standardizer import Standardizer
from tractable.value import value


@value
class RBF(Stationary):
    r"""The squared-exponential, Gaussian or radial-basis-function kernel, Rasmussen and Williams (4.9).

    .. math:: k(x, x') = \exp\Bigl(-\tfrac12 \sum_d (x_d - x'_d)^2 / \ell_d^2\Bigr)

    Functions have derivatives of every order. With one length scale a column it is the kernel of automatic
    relevance determination: a column of a long scale hardly matters. Both are stationary; only the first is
    isotropic. ``exp(-|x - x'|²/σ²)``, another convention, is ``RBF(σ / √2)``, and
    ``exp(-½ Σ θ_d (x_d - x'_d)²)`` is ``RBF(1 / √θ)``.

    Parameters
    ----------
    length_scale : float or array (d,)
        ℓ, positive: one for all columns, or one a column.
    length_scale_bounds : (float, float), array (d, 2) or "fixed"
        Where a search looks for it.
    length_scale_prior : Distribution, optional
        Of the number itself; one for all columns, or a batch of d.

    Examples
    --------
    >>> from tractable.kernels import RBF
    >>> RBF(2.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    >>> (0.5 * RBF([1.0, 3.0])).theta_names
    ('Scaled.scale', 'RBF.length_scale[0]', 'RBF.length_scale[1]')
    """

    length_scale: Any
    length_scale_bounds: Any
    length_scale_prior: Distribution | None

    def __init__(
        self,
        length_scale: Any = 1.0,
        *,
        length_scale_bounds: Any = BOUNDS,
        length_scale_prior: Distribution | None = None,
    ) -> None:
        self._set_hyper(length_scale=(length_scale, length_scale_bounds, length_scale_prior))

    def _profile(self, s: Array) -> Array:
        s *= -0.5
        return np.exp(s, out=s) if is_numpy_array(s) else namespace_of(s).exp(s)

    def _slope(self, matrix: Array, x: Array, y: Array) -> Array:
        return matrix + 0.0

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.ones(n)


def default_lengths(x: Array, weights: Array | None) -> np.ndarray:
    """Return √d times the standard deviation of each of d columns; 1 of a column that does not vary.

    They are numbers of the host, wherever the rows are.

    Examples
    --------
    >>> default_lengths(np.array([[0.0], [2.0]]), None)
    array([1.])
    """
    standardizer = on_host(Standardizer.from_moments(DiagonalMoments.of(x, weights)))
    spread = np.where(standardizer.varies, 1.0 / standardizer.scale, 1.0)
    return np.sqrt(x.shape[1]) * spread
