"""Likelihoods p(y | f) of one latent value a row: logarithms with three derivatives in f.

Those of generalised linear models: classes through a logistic or a probit link, counts through a logarithm.
All are log-concave. Laplace's approximation of a Gaussian process needs the third derivative, by which the
curvature at the mode changes with the hyper-parameters.
"""

import numpy as np

from tractable.arrays.log_space import log_sigmoid, sigmoid
from tractable.arrays.namespace import namespace_of
from tractable.engines.glm.losses import probit_loss
from tractable.value import value

#: Below this margin the curvature of a probit is 1 - 1/m² to all digits that its derivative keeps.
FAR = -50.0
#: The largest logarithm of a rate: its square is a number.
MOST_LOG_RATE = 340.0


@value
class LikelihoodExpansion:
    """log p(y_n | f_n), and its derivatives in f_n, (n,) each; the second with its sign changed."""

    value: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray  # -∂² log p / ∂f², not negative
    third: np.ndarray  # ∂³ log p / ∂f³

    def __mul__(self, weights: np.ndarray) -> "LikelihoodExpansion":
        """Return that of rows which count so often."""
        return LikelihoodExpansion(
            value=weights * self.value,
            slope=weights * self.slope,
            curvature=weights * self.curvature,
            third=weights * self.third,
        )


@value
class BernoulliLogit:
    """p(y = 1 | f) = σ(f), y of 0 and 1.

    Examples
    --------
    >>> found = BernoulliLogit().expand(np.zeros(1), np.ones(1))
    >>> float(found.slope[0]), float(found.curvature[0]), abs(float(found.third[0]))
    (0.5, 0.25, 0.0)
    """

    def expand(self, f: np.ndarray, y: np.ndarray) -> LikelihoodExpansion:
        """Return log σ(±f), y - σ, σ(1 - σ) and -σ(1 - σ)(1 - 2σ)."""
        xp, above, below = namespace_of(f), sigmoid(f), sigmoid(-f)
        curvature = above * below
        return LikelihoodExpansion(
            value=log_sigmoid(xp.where(y > 0.5, f, -f)),
            slope=xp.where(y > 0.5, below, -above),
            curvature=curvature,
            third=-curvature * (below - above),
        )


@value
class BernoulliProbit:
    """p(y = 1 | f) = Φ(f), y of 0 and 1.

    Examples
    --------
    >>> found = BernoulliProbit().expand(np.zeros(1), np.ones(1))
    >>> float(found.slope[0].round(4)), float(found.curvature[0].round(4))
    (0.7979, 0.6366)
    """

    def expand(self, f: np.ndarray, y: np.ndarray) -> LikelihoodExpansion:
        """Return log Φ(m) of the margin m = ±f, and derivatives by the ratio r = φ(m)/Φ(m)."""
        xp = namespace_of(f)
        sign = xp.where(y > 0.5, xp.ones_like(f), -xp.ones_like(f))
        margin = sign * f
        loss, minus_ratio, curvature = probit_loss(margin)
        ratio = -minus_ratio
        with np.errstate(over="ignore", divide="ignore"):
            change = xp.where(
                margin < FAR, -2.0 / xp.abs(margin) ** 3, ratio - curvature * (2.0 * ratio + margin)
            )
        return LikelihoodExpansion(value=-loss, slope=sign * ratio, curvature=curvature, third=-sign * change)


@value
class PoissonLog:
    """Counts y of the rate exp(offset + f).

    Examples
    --------
    >>> found = PoissonLog(offset=np.zeros(1)).expand(np.zeros(1), np.array([2.0]))
    >>> float(found.value[0].round(4)), float(found.slope[0])
    (-1.6931, 1.0)
    """

    offset: np.ndarray  # (n,)

    def expand(self, f: np.ndarray, y: np.ndarray) -> LikelihoodExpansion:
        """Return y log μ - μ - log y!, y - μ, μ and -μ, of the rate μ."""
        from scipy.special import gammaln

        log_rate = np.minimum(self.offset + f, MOST_LOG_RATE)
        rate = np.exp(log_rate)
        return LikelihoodExpansion(
            value=y * log_rate - rate - gammaln(y + 1.0), slope=y - rate, curvature=rate, third=-rate
        )
