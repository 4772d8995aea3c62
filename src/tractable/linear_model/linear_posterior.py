"""What is believed of a plane after the rows, in units of the noise."""

from math import log, pi

from tractable.arrays.linalg import solve_triangular
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base import NotYetDetermined
from tractable.engines.least_squares import column_lengths
from tractable.linear_model.gaussian_prior import GaussianPrior
from tractable.linear_model.plane_belief import PlaneBelief
from tractable.primitives.linear import triangle
from tractable.statistics import LinearFactor
from tractable.value import value

__all__ = ["LinearPosterior", "linear_posterior"]


@value
class LinearPosterior(PlaneBelief):
    """The belief of a plane after rows, and what is left for the noise to explain.

    Parameters
    ----------
    centre, location, root : array
        See `PlaneBelief`.
    rest : float
        Least value of Σ r² + σ² |K (w - m)|²: what neither rows nor prior explain.
    weight : float
        How many rows there were.
    n_flat : int
        Number of directions in which the prior is flat.
    log_det_ratio : float
        Log determinant of the precision before the rows less the one after, both in units of the noise.
    """

    rest: float
    weight: float
    n_flat: int
    log_det_ratio: float

    @property
    def n_told(self) -> float:
        """Rows that are left to tell of the noise."""
        return self.weight - self.n_flat

    def log_evidence(self, noise_variance: float) -> float:
        """Return log ∫ p(y | w, σ²) p(w) dw; a flat prior has density one."""
        level = self.n_told * log(2.0 * pi * noise_variance) + self.rest / noise_variance
        return 0.5 * (self.log_det_ratio - level)


def linear_posterior(
    statistic: LinearFactor, prior: GaussianPrior, *, noise_variance: float = 1.0
) -> LinearPosterior:
    """Return the belief of a plane after rows with noise of variance σ².

    The prior is rows σK, with targets σKm, under the factor of the rows: the QR of both has the condition of
    the columns, not its square.

    Parameters
    ----------
    statistic : LinearFactor
        Of one target.
    prior : GaussianPrior
        With one parameter more than the columns where there is an intercept.
    noise_variance : float
        One, where the prior is in units of the noise.
    """
    factor = statistic.factor
    xp = namespace_of(factor)
    d, p = statistic.dim, int(prior.mean.shape[0])
    centre = statistic.mean[:d] if p > d else xp.zeros_like(statistic.mean[:d])
    known = noise_variance**0.5 * prior.root
    aims = known @ prior.mean
    mean = xp.sqrt(xp.asarray(statistic.weight, dtype=factor.dtype)) * statistic.mean
    if p > d:
        known = xp.concat([known[:, :1], known[:, 1:] - known[:, :1] * centre], axis=1)
        none = xp.zeros_like(factor[:, :1])
        first = xp.sqrt(xp.asarray(statistic.weight, dtype=factor.dtype))
        top = xp.concat([xp.reshape(first, (1,)), xp.zeros_like(mean[:d]), mean[d:]])
        factor = xp.concat([none, factor], axis=1)
    else:
        top = mean
    stacked = xp.concat([top[None, :], factor, xp.concat([known, aims[:, None]], axis=1)])
    r = triangle(stacked)
    _check_determined(r[:p, :p], stacked[:, :p], certain=prior.n_flat <= p - d)
    identity = xp.eye(p, dtype=r.dtype, device=device(r))
    units = prior.root.shape[0] * log(noise_variance)
    return LinearPosterior(
        centre=centre,
        location=solve_triangular(r[:p, :p].T, r[:p, p:], transposed=True)[:, 0],
        root=solve_triangular(r[:p, :p].T, identity, transposed=True),
        rest=float(r[p, p]) ** 2,
        weight=float(statistic.weight),
        n_flat=prior.n_flat,
        log_det_ratio=prior.log_det + units - 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(r[:p, :p])))),
    )


def _check_determined(r: Array, rows: Array, *, certain: bool) -> None:
    """Refuse directions that neither the prior nor the rows say anything of."""
    xp = namespace_of(r)
    tol = 0.0 if certain else 10.0 * r.shape[0] * float(xp.finfo(r.dtype).eps)
    length = column_lengths(rows)
    if bool(xp.any(xp.linalg.diagonal(r) <= tol * length)):
        raise NotYetDetermined(
            "the prior is flat where X says nothing: more rows, columns that do not follow from others, or "
            "a positive prior_precision are needed"
        )
