"""The evidence of linear regression with an isotropic prior: one decomposition serves all precisions."""

from collections.abc import Callable
from math import log, pi
from typing import Any, TypeVar

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base.parameters import check_number
from tractable.distributions import Mixture, Normal
from tractable.engines import em
from tractable.engines.least_squares import column_lengths, reduced_rows
from tractable.linear_model.noise_floor import ROUNDING
from tractable.statistics import LinearFactor
from tractable.value import replace, value

__all__ = [
    "METHODS",
    "EvidencePoint",
    "EvidenceSearch",
    "EvidenceSpectrum",
    "FixedPoint",
    "HyperPriors",
    "Precisions",
    "Units",
    "bounded_ratio",
    "check_evidence_parameters",
    "fixed_point",
    "hierarchical_predictive",
    "log_evidence",
]


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


#: A prior this much surer than the rows leaves nothing of them.
SUREST = 1e12


@value
class Precisions:
    """Precisions of the coefficients and of the noise."""

    prior: float
    noise: float


@value
class HyperPriors:
    """Gamma priors of both precisions (shape and rate; zero for a flat one), and a floor of the noise."""

    prior_shape: float
    prior_rate: float
    noise_shape: float
    noise_rate: float
    noise_floor: float

    def log_density(self, prior: float, noise: float) -> float:
        """Return their log density but for a constant."""
        return float(
            _log_gamma(prior, self.prior_shape, self.prior_rate)
            + _log_gamma(noise, self.noise_shape, self.noise_rate)
        )


@value
class EvidenceSearch:
    """Where a search ended.

    Parameters
    ----------
    point : EvidencePoint
    scores : tuple of float
        The objective before the first step and after each.
    converged : bool
    interrupted : bool
    """

    point: EvidencePoint
    scores: tuple[float, ...]
    converged: bool
    interrupted: bool = False


@value
class _Step:
    """Precisions, and the coefficients that they were made from."""

    at: Precisions
    coef: Any = None


@value
class _Expected:
    """A point and its penalised evidence, as the engine of EM wants it."""

    point: EvidencePoint
    objective: float


def mackay(
    spectrum: EvidenceSpectrum, start: Precisions, hyper: HyperPriors, *, tol: float, max_iter: int
) -> EvidenceSearch:
    """Repeat MacKay's fixed point, prior = γ / |m|² and 1 / noise = |y - Xm|² / (N - γ).

    It stops when the coefficients move by less than `tol` in all, as scikit-learn does. A step may lose
    evidence; the fixed point is that of EM.
    """
    xp = namespace_of(spectrum.singular)

    def step(before: _Step) -> tuple[_Step, float, bool]:
        expected = _expect(spectrum, hyper, before.at)
        point = expected.point
        at = _precisions(
            spectrum, hyper, point, point.gamma, point.length, spectrum.weight - point.gamma, point.residual
        )
        coef = spectrum.basis @ point.coef
        settled = before.coef is not None and float(xp.sum(xp.abs(coef - before.coef))) < tol
        return _Step(at=at, coef=coef), expected.objective, settled

    found = fixed_point(step, _Step(at=start), max_iter=max_iter)
    last = _expect(spectrum, hyper, found.state.at)
    return EvidenceSearch(
        point=last.point,
        scores=(*found.scores, last.objective),
        converged=found.converged,
        interrupted=found.interrupted,
    )


def expectation_maximisation(
    spectrum: EvidenceSpectrum, start: Precisions, hyper: HyperPriors, *, tol: float, max_iter: int
) -> EvidenceSearch:
    """Repeat the steps of EM, prior = D / (|m|² + Tr S) and 1 / noise = (|y - Xm|² + Tr XSXᵀ) / N.

    The penalised evidence never falls. It has plateaus, so the search stops when both precisions
    change by less than `tol` of themselves.
    """

    def expect(at: Precisions) -> _Expected:
        return _expect(spectrum, hyper, at)

    def settled(at: Precisions, following: Precisions) -> bool:
        return _near(at.prior, following.prior, tol) and _near(at.noise, following.noise, tol)

    def maximize(expected: _Expected) -> Precisions:
        point = expected.point
        return _precisions(
            spectrum,
            hyper,
            point,
            spectrum.basis.shape[0],
            point.length + point.trace,
            spectrum.weight,
            point.residual + point.trace_fit,
        )

    found = em(expect, maximize, start, max_iter=max_iter, label="evidence", settled=settled)
    return EvidenceSearch(
        point=expect(found.params).point,
        scores=found.trace,
        converged=found.converged,
        interrupted=found.interrupted,
    )


METHODS: dict[str, Any] = {"mackay": mackay, "em": expectation_maximisation}


def _expect(spectrum: EvidenceSpectrum, hyper: HyperPriors, at: Precisions) -> _Expected:
    point = spectrum.at(at.prior, at.noise)
    return _Expected(point=point, objective=point.log_evidence + hyper.log_density(at.prior, at.noise))


def _precisions(
    spectrum: EvidenceSpectrum,
    hyper: HyperPriors,
    point: EvidencePoint,
    n_coef: float,
    length: float,
    n_rows: float,
    residual: float,
) -> Precisions:
    """Return new precisions from numbers of terms and sums of squares; bounded, so that nothing overflows."""
    xp = namespace_of(spectrum.singular)
    reach = point.noise * float(xp.max(spectrum.singular)) ** 2
    surest = SUREST * reach if reach > 0.0 else point.prior
    shape, rate = n_coef + 2.0 * hyper.prior_shape, length + 2.0 * hyper.prior_rate
    rows, squares = n_rows + 2.0 * hyper.noise_shape, residual + 2.0 * hyper.noise_rate
    return Precisions(
        prior=float(bounded_ratio(shape, rate, surest, point.prior)),
        noise=float(bounded_ratio(rows, squares, 1.0 / hyper.noise_floor, point.noise)),
    )


def _log_gamma(x: float, shape: float, rate: float) -> float:
    return shape * log(x) - rate * x


def _near(a: float, b: float, tol: float) -> bool:
    return abs(a - b) <= tol * b


S = TypeVar("S")


@value
class FixedPoint:
    """Where the iterations stopped.

    Parameters
    ----------
    state : value
        After the last whole step.
    scores : tuple of float
        The objective before each.
    converged : bool
    interrupted : bool
        By Ctrl-C: use the state, then raise KeyboardInterrupt again.
    """

    state: Any
    scores: tuple[float, ...]
    converged: bool
    interrupted: bool = False


def fixed_point(step: Callable[[S], tuple[S, float, bool]], state: S, *, max_iter: int) -> FixedPoint:
    """Repeat ``step(state) -> (following, score of the state, whether it was the last)``.

    An interruption (Ctrl-C) ends the search with the last whole step, and is said in the result.

    Parameters
    ----------
    step : callable
    state : value
        Where to begin.
    max_iter : int
        Most steps.

    Examples
    --------
    >>> found = fixed_point(lambda x: (0.5 * x + 1.0, x, abs(x - 2.0) < 1e-3), 0.0, max_iter=100)
    >>> round(found.state, 2), found.converged, len(found.scores)
    (2.0, True, 12)
    """
    scores: tuple[float, ...] = ()
    settled = False
    try:
        while not settled and len(scores) < max_iter:
            following, score, settled = step(state)
            # All or none, should an interruption fall between.
            state, scores = following, (*scores, score)
    except KeyboardInterrupt:
        return FixedPoint(state=state, scores=scores, converged=False, interrupted=True)
    return FixedPoint(state=state, scores=scores, converged=settled)


def bounded_ratio(above: Any, below: Any, most: Any, before: Any) -> Array:
    """Return above / below, at most `most`; nothing above says nothing, and leaves what was before.

    Examples
    --------
    >>> float(bounded_ratio(1.0, 0.0, 1e6, 2.0)), float(bounded_ratio(0.0, 0.0, 1e6, 2.0))
    (1000000.0, 2.0)
    """
    xp = namespace_of(above, below, most, before)
    above, below, most, before = (xp.asarray(part, dtype=xp.float64) for part in (above, below, most, before))
    within = above < most * below
    ratio = xp.where(within, above / xp.where(within, below, 1.0), most)
    return xp.where(above > 0, ratio, before)


def check_evidence_parameters(estimator: Any) -> None:
    """Check `max_iter`, `tol` and the Gamma priors of an estimator."""
    check_number("max_iter", estimator.max_iter, least=1, whole=True)
    for name in ("tol", "alpha_1", "alpha_2", "lambda_1", "lambda_2"):
        check_number(name, getattr(estimator, name), least=0.0)


@value
class Units:
    """Sizes of the columns and of the target.

    Parameters
    ----------
    columns : array (d,)
        Root mean square of each column, or of all of them; one where it is zero.
    target : float
        Standard deviation of the target; of a constant one its size, or one.
    """

    columns: Array
    target: float

    @classmethod
    def of(cls, statistic: LinearFactor, *, fit_intercept: bool, common: bool) -> "Units":
        """Measure rows, about their mean where there is an intercept; with `common`, all columns as one."""
        xp = namespace_of(statistic.mean)
        d, root = statistic.dim, float(statistic.weight) ** 0.5
        spread, mean = column_lengths(statistic.factor) / root, xp.abs(statistic.mean)
        sizes = (spread if fit_intercept else xp.hypot(spread, mean))[:d]
        if common:
            sizes = xp.ones_like(sizes) * column_lengths(sizes[:, None]) / d**0.5
        square = float(xp.hypot(spread[d], mean[d]))
        target = float(spread[d])
        return cls(
            columns=xp.where(sizes > 0, sizes, xp.ones_like(sizes)),
            target=target if target > ROUNDING * square else square or 1.0,
        )

    def without(self, statistic: LinearFactor) -> LinearFactor:
        """Return what the statistic of rows and targets in these units would be."""
        xp = namespace_of(statistic.mean)
        sizes = xp.concat([self.columns, xp.full_like(self.columns[:1], self.target)])
        return replace(statistic, mean=statistic.mean / sizes, factor=statistic.factor / sizes)

    def prior(self, precision: Any) -> Array:
        """Return the precision of every coefficient in the units of the data, (d,)."""
        with np.errstate(over="ignore", under="ignore"):
            return self._checked(precision * (self.columns / self.target) ** 2)

    def noise(self, precision: float) -> float:
        """Return the precision of the noise in the units of the data."""
        xp = namespace_of(self.columns)
        inverse = xp.ones_like(self.columns[:1]) / self.target
        with np.errstate(over="ignore", under="ignore"):
            return float(self._checked(precision * inverse**2)[0])

    def _checked(self, precisions: Array) -> Array:
        xp = namespace_of(precisions)
        if not bool(xp.all((precisions > 1e-307) & (precisions < 1e307))):
            raise ValueError(
                f"X and y must be in units nearer to one: of sizes up to {float(xp.max(self.columns)):.1g} "
                f"and of {self.target:.1g}, their precisions are no floating-point numbers"
            )
        return precisions


def hierarchical_predictive(X: Any, y: Any, X_new: Any, *, alphas: Any, betas: Any) -> Mixture:
    """Return p(y | x, D) = ∫∫∫ p(y | x, w, β) p(w | α, β, D) p(α, β | D), by quadrature over a grid.

    The coefficients are integrated out in closed form, w ~ N(0, 1/α) with noise of variance 1/β. Every point
    of the grid has the same probability before the rows: logarithmic grids are flat in log α and log β from
    end to end, which is the prior. :class:`BayesianRidge` puts the peak in the place of the average.

    Parameters
    ----------
    X : array (n, d)
    y : array (n,)
    X_new : array (m, d)
        Where to predict.
    alphas : array (k,)
        Precisions of the coefficients.
    betas : array (l,)
        Precisions of the noise.

    Returns
    -------
    Mixture
        Of k l normals, of batch shape (m,).

    Examples
    --------
    >>> import numpy as np
    >>> grid = np.logspace(-2, 2, 30)
    >>> x = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> p = hierarchical_predictive(x, [1.1, 1.9, 3.2, 3.9], [[5.0]], alphas=grid, betas=grid)
    >>> p.mean.round(2), p.stddev.round(2)
    (array([5.]), array([0.38]))
    """
    X = as_reals("X", X)
    y, X_new = as_reals("y", y, X), as_reals("X_new", X_new, X)
    if X.ndim != 2 or y.ndim != 1 or not X.shape[0]:
        raise ValueError(f"X must be rows and y a vector, got shapes {tuple(X.shape)} and {tuple(y.shape)}")
    if X_new.ndim != 2 or X_new.shape[1] != X.shape[1]:
        raise ValueError(f"X_new must be rows of {X.shape[1]} columns, got shape {tuple(X_new.shape)}")
    alphas, betas = _checked_precisions("alphas", alphas, X), _checked_precisions("betas", betas, X)
    xp = namespace_of(X)
    spectrum = EvidenceSpectrum.of(LinearFactor.of(X, y), fit_intercept=False)
    points = [spectrum.at(float(a), float(b)) for a in alphas for b in betas]
    log_weights = xp.asarray([point.log_evidence for point in points], dtype=X.dtype)
    weights = xp.exp(log_weights - xp.max(log_weights))
    prior = xp.asarray([point.prior for point in points], dtype=X.dtype)
    noise = xp.asarray([point.noise for point in points], dtype=X.dtype)
    turned = X_new @ spectrum.basis
    total = noise * spectrum.singular[:, None] ** 2 + prior
    outside = xp.sum(X_new**2, axis=1) - xp.sum(turned**2, axis=1)
    outside = xp.where(outside > 0, outside, xp.zeros_like(outside))
    return Mixture(
        weights=weights / xp.sum(weights),
        components=Normal(
            mean=turned @ xp.stack([point.coef for point in points], axis=1),
            variance=1.0 / noise + turned**2 @ (1.0 / total) + outside[:, None] / prior,
        ),
    )


def _checked_precisions(name: str, x: Any, like: Array) -> Array:
    x = as_reals(name, x, like)
    xp = namespace_of(x)
    if x.ndim != 1 or not x.shape[0] or not bool(xp.all((x > 0) & xp.isfinite(x))):
        raise ValueError(f"{name} must be positive and finite precisions, got shape {tuple(x.shape)}")
    return x
