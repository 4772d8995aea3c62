"""Student's t distribution of a number."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.gamma import log_minus_digamma
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.random import standard_gamma, standard_normal
from tractable.arrays.special import betaln, stdtr, stdtrit
from tractable.distributions.checks import check_finite, check_positive, exactly_one
from tractable.distributions.columns import as_columns, like_columns
from tractable.distributions.distribution import as_parameters
from tractable.distributions.double_precision import found_in_double
from tractable.distributions.gamma_family import reciprocal
from tractable.distributions.student_t_divergence import expected_log_ratio
from tractable.distributions.student_t_fit import fit_student_t
from tractable.distributions.univariate import Univariate
from tractable.value import value

__all__ = ["StudentT"]


@value
class StudentT(Univariate):
    """St(x | μ, t, ν) = Γ((ν+1)/2) / Γ(ν/2) (t/πν)^(1/2) (1 + t (x - μ)²/ν)^(-(ν+1)/2), with t = 1 / scale².

    It is the normal N(μ, 1/λ) with λ ~ Gam(a, b) integrated out, where ν = 2a and t = a/b, and so the
    predictive distribution of a normal of unknown precision. Its tails fall as |x|^-(ν+1): far observations
    weigh little.

    Parameters
    ----------
    dof : array (*batch,)
        ν, positive: the mean exists for ν > 1, the variance is finite for ν > 2.
    location : array (*batch,)
        μ.
    scale : array (*batch,)
        Give this or `precision`. It is not the standard deviation, which is scale √(ν / (ν - 2)).
    precision : array (*batch,)
        t = 1 / scale².

    Examples
    --------
    >>> d = StudentT(dof=4.0, location=1.0, precision=0.25)
    >>> float(d.scale), float(d.variance), float(d.cdf(1.0))
    (2.0, 8.0, 0.5)
    >>> float(StudentT(dof=1.0, location=0.0, scale=1.0).mean)
    nan
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"dof": 0, "location": 0, "scale": 0}

    dof: Array
    location: Array
    scale: Array

    def __init__(self, *, dof: Any, location: Any, scale: Any = None, precision: Any = None) -> None:
        name, size = exactly_one(scale=scale, precision=precision)
        given = as_parameters(
            {"dof": 0, "location": 0, name: 0}, **{"dof": dof, "location": location, name: size}
        )
        check_positive(name, given[name])
        width = (
            given[name] if name == "scale" else namespace_of(given[name]).sqrt(reciprocal(name, given[name]))
        )
        for field, x in {"dof": given["dof"], "location": given["location"], "scale": width}.items():
            object.__setattr__(self, field, x)
        self._settle(dof=check_positive, location=check_finite)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, dof: float | None = None) -> Self:
        """Return the maximum likelihood estimate, by expectation-maximisation (ECME, Liu & Rubin 1994).

        A likelihood in μ and the scale can have several maxima; this is the one reached from the mean. With
        fewer than 1/(n-1) degrees of freedom it is unbounded, and no such are looked for.

        Parameters
        ----------
        X : array (n, *batch)
            Observations on the first axis, not all the same.
        sample_weight : array (n,), optional
            How often each observation counts.
        dof : float, optional
            Degrees of freedom, if they are known; by default they are estimated too, between 0.01 and 1e6:
            the upper end says that the tails are no heavier than a normal's.
        """
        X, columns, weights = as_columns(X, sample_weight)
        fitted = [_fitted(columns[:, j], weights, dof) for j in range(columns.shape[1])]
        xp = namespace_of(X)
        dofs, locations, scales = (xp.stack(part) for part in zip(*fitted, strict=True))
        return like_columns(cls(dof=dofs, location=locations, scale=scales), X)

    @property
    def precision(self) -> Array:
        """The precision t = 1 / scale²."""
        return 1.0 / self.scale / self.scale

    @property
    def mean(self) -> Array:
        """The location for ν > 1; NaN below, where there is no mean."""
        xp = namespace_of(self.dof)
        return xp.where(self.dof > 1.0, self.location, xp.full_like(self.location, xp.nan))

    @property
    def variance(self) -> Array:
        """scale² ν / (ν - 2) for ν > 2; infinite for 1 < ν ≤ 2, NaN where there is no mean."""
        xp = namespace_of(self.dof)
        known = self.dof > 2.0
        ratio = self.dof / xp.where(known, self.dof - 2.0, xp.ones_like(self.dof))
        ratio = xp.where(known, ratio, xp.full_like(ratio, xp.inf))
        return self.scale * self.scale * xp.where(self.dof > 1.0, ratio, xp.full_like(ratio, xp.nan))

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`."""
        return self.location

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`."""
        with np.errstate(over="ignore"):
            distance = namespace_of(self.dof).abs(self._standardized(x))
        return student_t_log_density(distance, self.dof) - namespace_of(self.scale).log(self.scale)

    def cdf(self, x: Any) -> Array:
        """See `Univariate.cdf`: all its digits in the lower tail."""
        return stdtr(self.dof, self._standardized(x))

    def survival(self, x: Any) -> Array:
        """See `Univariate.survival`: all its digits in the upper tail."""
        return stdtr(self.dof, -self._standardized(x))

    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`."""
        with np.errstate(over="ignore"):
            return self.location + self.scale * stdtrit(self.dof, self._quantile(q))

    def entropy(self) -> Array:
        """See `Distribution.entropy`: ½(ν+1) (ψ(½(ν+1)) - ψ(½ν)) + log(√ν B(½ν, ½)) + log scale."""
        xp = namespace_of(self.dof)
        half = 0.5 * self.dof
        # ψ(h + ½) - ψ(h), without the logarithms that cancel.
        step = xp.log1p(0.5 / half) + log_minus_digamma(half) - log_minus_digamma(half + 0.5)
        return (half + 0.5) * step - _log_peak(self.dof) + xp.log(self.scale)

    def kl_divergence(self, other: "StudentT") -> Array:
        """See `Distribution.kl_divergence`; there is no closed form, and it is by quadrature, to 1e-10."""
        if not isinstance(other, StudentT):
            raise TypeError(f"other must be a StudentT, got {type(other).__name__}")
        return found_in_double(lambda p, q: expected_log_ratio(p, q, student_t_log_density), self, other)

    def _sample(self, n: int, rng: Any) -> Array:
        noise = standard_normal(rng, (n, *self.batch_shape), like=self.location)
        precision = standard_gamma(rng, 0.5 * self.dof, n) / (0.5 * self.dof)
        with np.errstate(divide="ignore", over="ignore"):
            return self.location + self.scale * (noise / namespace_of(noise).sqrt(precision))

    def _standardized(self, x: Any) -> Array:
        with np.errstate(over="ignore"):
            return (self._event(x) - self.location) / self.scale


def student_t_log_density(distance: Array, dof: Array) -> Array:
    """Return the log density of the standard t at a distance |t| from its centre."""
    xp = namespace_of(distance, dof)
    ratio = distance / xp.sqrt(dof)
    far = ratio > 1e8
    near = xp.where(far, xp.zeros_like(ratio), ratio)
    # Far out log(1 + r²) is 2 log r, and the square may overflow.
    logs = xp.where(far, 2.0 * xp.log(xp.where(far, ratio, xp.ones_like(ratio))), xp.log1p(near * near))
    return _log_peak(dof) - 0.5 * (dof + 1.0) * logs


def _log_peak(dof: Array) -> Array:
    """Return the log density of the standard t at its centre, -log(√ν B(½ν, ½))."""
    xp = namespace_of(dof)
    return -0.5 * xp.log(dof) - betaln(0.5 * dof, 0.5 * xp.ones_like(dof))


def _fitted(column: Array, weights: Array | None, dof: float | None) -> tuple[Array, Array, Array]:
    """Fit one column in units of its own, far from neither origin nor one."""
    xp = namespace_of(column)
    seen = column if weights is None else column[weights > 0.0]
    low, high = xp.min(seen), xp.max(seen)
    size = 0.5 * high - 0.5 * low
    if not bool(size > 0.0):
        raise ValueError("X must vary: the likelihood of observations that are all the same is unbounded")
    centre = 0.5 * low + 0.5 * high
    found, location, scale = fit_student_t(((column - centre) / size)[:, None], weights, dof)
    return found, centre + size * location[0], size * xp.sqrt(scale[0, 0])
