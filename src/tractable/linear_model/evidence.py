"""The evidence of linear regression with an isotropic prior: one decomposition serves all precisions."""

from math import log, pi
from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base.parameters import check_number
from tractable.engines.least_squares import reduced_rows
from tractable.statistics import LinearFactor
from tractable.value import value

__all__ = ["EvidencePoint", "EvidenceSpectrum", "log_evidence"]


@value
class EvidencePoint:
    """Posterior and evidence at one pair of precisions.

    Parameters
    ----------
    prior, noise : float
        Precisions of the coefficients and of the noise.
    coef : array (r,)
        Expected coefficients in the basis of the columns.
    residual : float
        Sum of squared residuals.
    length : float
        Squared length of the expected coefficients.
    gamma : float
        Effective number of parameters, Σ λ/(λ + prior) with the eigenvalues λ of noise XᵀX.
    trace : float
        Of the covariance of the coefficients.
    trace_fit : float
        Of the covariance of the plane at the rows.
    log_evidence : float
    """

    prior: float
    noise: float
    coef: Array
    residual: float
    length: float
    gamma: float
    trace: float
    trace_fit: float
    log_evidence: float


@value
class EvidenceSpectrum:
    """The columns X = U diag(s) Vᵀ and the targets in their basis.

    Parameters
    ----------
    basis : array (d, r)
        V.
    singular : array (r,)
        s; zero in directions in which the columns do not vary.
    turned : array (r,)
        Uᵀy.
    beyond : float
        Squares of the targets that no plane can reach.
    weight : float
        How many rows there were.
    """

    basis: Array
    singular: Array
    turned: Array
    beyond: float
    weight: float

    @classmethod
    def of(cls, statistic: LinearFactor, *, fit_intercept: bool) -> "EvidenceSpectrum":
        """Decompose the triangular factor of the rows, centred where the intercept is free."""
        r, z, rest = reduced_rows(statistic, fit_intercept=fit_intercept)
        xp = namespace_of(r)
        u, s, vt = xp.linalg.svd(r, full_matrices=False)
        seen = s > 10.0 * r.shape[1] * float(xp.finfo(s.dtype).eps) * s[0]
        turned = xp.where(seen, (u.T @ z)[:, 0], 0.0)
        return cls(
            basis=vt.T,
            singular=xp.where(seen, s, 0.0),
            turned=turned,
            beyond=float(rest[0]) + float(xp.sum((z[:, 0] - u @ turned) ** 2)),
            weight=float(statistic.weight),
        )

    @property
    def rank(self) -> int:
        """Number of directions in which the columns vary."""
        xp = namespace_of(self.singular)
        return int(xp.sum(xp.astype(self.singular > 0, xp.int64)))

    def at(self, prior: float, noise: float) -> EvidencePoint:
        """Return posterior and evidence for the precisions of prior and noise; of the order of d."""
        xp = namespace_of(self.singular)
        told, left, total = self._shares(prior, noise)
        coef = noise**0.5 / total * told * self.turned
        residual = self.beyond + float(xp.sum((left**2 * self.turned) ** 2))
        length = float(xp.sum(coef**2))
        level = self.weight * log(noise / (2.0 * pi)) + 2.0 * float(xp.sum(xp.log(left)))
        return EvidencePoint(
            prior=prior,
            noise=noise,
            coef=coef,
            residual=residual,
            length=length,
            gamma=float(xp.sum(told**2)),
            trace=float(xp.sum(1.0 / total**2)) + (self.basis.shape[0] - total.shape[0]) / prior,
            trace_fit=float(xp.sum(told**2)) / noise,
            log_evidence=0.5 * (level - noise * residual - prior * length),
        )

    def shrinkage(self, prior: float, noise: float) -> Array:
        """Return λ/(λ + prior) for every direction: 1 where the rows decide, 0 where the prior does."""
        return self._shares(prior, noise)[0] ** 2

    def root(self, prior: float, noise: float) -> Array:
        """Return G, (d, d): the covariance of the coefficients is G Gᵀ / noise."""
        xp = namespace_of(self.basis)
        d, r = self.basis.shape
        inside = noise**0.5 / self._shares(prior, noise)[2]
        if r == d:
            return self.basis * inside
        outside = (noise / prior) ** 0.5
        identity = xp.eye(d, dtype=self.basis.dtype, device=device(self.basis))
        return outside * identity + (self.basis * (inside - outside)) @ self.basis.T

    def _shares(self, prior: float, noise: float) -> tuple[Array, Array, Array]:
        """Return the roots of λ/(λ + prior), of prior/(λ + prior), and of λ + prior; no square overflows."""
        xp = namespace_of(self.singular)
        seen = noise**0.5 * self.singular
        total = xp.hypot(seen, xp.full_like(seen, prior**0.5))
        return seen / total, prior**0.5 / total, total


def log_evidence(X: Any, y: Any, *, alpha: float, beta: float) -> float:
    """Return log p(y | α, β) of y ~ N(Xw, 1/β) with w ~ N(0, 1/α), the coefficients integrated out.

    (N/2) log(β/2π) + (D/2) log α - ½ log |Λ| - (β/2) |y - Xm|² - (α/2) |m|², with Λ = β XᵀX + α I and
    m = β Λ⁻¹ Xᵀy. It equals log N(y | 0, I/β + XXᵀ/α). All columns are penalised: one of ones as well.

    Parameters
    ----------
    X : array (n, d)
    y : array (n,)
    alpha : float
        Precision of every coefficient; scikit-learn's `lambda_`.
    beta : float
        Precision of the noise; scikit-learn's `alpha_`.

    Examples
    --------
    >>> round(log_evidence([[1.0], [2.0]], [1.0, 3.0], alpha=1.0, beta=2.0), 6)
    -3.434587
    """
    X = as_reals("X", X)
    y = as_reals("y", y, X)
    for name, x in (("alpha", alpha), ("beta", beta)):
        check_number(name, x, above=0.0)
    if X.ndim != 2 or y.ndim != 1 or not X.shape[0]:
        raise ValueError(f"X must be rows and y a vector, got shapes {tuple(X.shape)} and {tuple(y.shape)}")
    spectrum = EvidenceSpectrum.of(LinearFactor.of(X, y), fit_intercept=False)
    return spectrum.at(float(alpha), float(beta)).log_evidence
