"""The evidence of linear regression with an isotropic prior, and the precisions that maximise it."""

import warnings
from abc import abstractmethod
from math import exp, inf, log, pi
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.batched import as_reals
from tractable.arrays.devices import beside
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.base import FitInterrupted
from tractable.base.parameters import check_number
from tractable.data import Whole
from tractable.distributions import Mixture, Normal
from tractable.engines import EMResult, em
from tractable.engines.least_squares import reduced_rows
from tractable.engines.spectrum import ColumnSpectrum
from tractable.linear_model.bayes.posterior import BayesianLinearModel, free_intercept_posterior
from tractable.linear_model.noise_floor import NoiseVanishedWarning, noise_vanished, smallest_noise
from tractable.statistics import LinearFactor, Standardizer, column_varies
from tractable.value import replace, value

#: A prior so many times more precise than the rows leaves no effective parameter.
LARGEST_RATIO = 1e12
#: Steps of the logarithm of the ratio of both precisions in which maxima of the evidence are looked for.
GRID_STEP = 0.25


@value
class Precisions:
    """Precisions of the coefficients and of the noise, and the coefficients they were computed from."""

    prior: float
    noise: float
    coef: Any = None


@value
class HyperPriors:
    """Gamma priors of both precisions (shape and rate; zero for a flat one), and a floor of the noise."""

    prior_shape: float
    prior_rate: float
    noise_shape: float
    noise_rate: float
    noise_floor: float
    exact: bool = False  # whether the only solution fits without error

    def log_density(self, prior: Any, noise: float) -> float:
        """Return the log density of the precisions of the coefficients (one, or each) and of the noise."""
        if isinstance(prior, float):
            logs, total = log(prior), prior
        else:
            xp = namespace_of(prior)
            logs, total = float(xp.sum(xp.log(prior))), float(xp.sum(prior))
        coefficients = self.prior_shape * logs - self.prior_rate * total
        return coefficients + self.noise_shape * log(noise) - self.noise_rate * noise


@value
class EvidenceFit:
    """Where a search of precisions ended, for standardized columns and target."""

    coef: Array  # (d,), posterior mean of the coefficients
    root: Array  # (d, r), G: their posterior covariance is G Gᵀ / noise
    prior: Any  # precision of the coefficients, or of each, (d,)
    noise: float  # precision of the noise
    gamma: float  # effective number of parameters
    rss: float  # residual sum of squares at the posterior mean
    rank: int  # most columns that can be independent
    log_evidence: float
    search: EMResult


class EvidenceModel(BayesianLinearModel):
    """A Bayesian linear model whose precisions maximise the evidence (type-II maximum likelihood).

    The search runs on standardized columns and target. A model supplies `_search(scaled)`, and says by
    `_common_scale` whether all columns have one scale.
    """

    max_iter: int
    tol: float
    alpha_1: float
    alpha_2: float
    lambda_1: float
    lambda_2: float
    compute_score: bool
    fit_intercept: bool
    scores_: Any
    _common_scale: bool

    @abstractmethod
    def _search(self, scaled: "StandardizedFactor") -> tuple[EvidenceFit, HyperPriors]:
        """Return the precisions of highest evidence, and the priors of these."""

    def _check_parameters(self) -> None:
        check_number("max_iter", self.max_iter, least=1, whole=True)
        for name in ("tol", "alpha_1", "alpha_2", "lambda_1", "lambda_2"):
            check_number(name, getattr(self, name), least=0.0)

    def _dof(self) -> float:
        """Return how many rows count for the noise: one less where the intercept is integrated out."""
        return float(self.statistic_.weight) - float(bool(self.fit_intercept))

    def _plugged_in(self, scaled: "StandardizedFactor", found: Any) -> tuple[float, float]:
        """Return the noise variance of predictions and its degrees of freedom, n - 1 - gamma_."""
        return self.noise_variance_, self._dof() - self.gamma_ + 2.0 * self.alpha_1

    def _hyper_priors(self, scaled: "StandardizedFactor", rss: float, rank: int) -> HyperPriors:
        """Return the priors of the precisions; `rss` is that of least squares."""
        floor, exact = smallest_noise(scaled.statistic, rss, rank, bool(self.fit_intercept))
        return HyperPriors(
            prior_shape=self.lambda_1,
            prior_rate=self.lambda_2,
            noise_shape=self.alpha_1,
            noise_rate=self.alpha_2,
            noise_floor=floor,
            exact=exact,
        )

    def _learn(self, statistic: Any) -> None:
        self.statistic_ = statistic = self._check_factor(statistic, some=True)
        centred, weight = bool(self.fit_intercept), float(statistic.weight)
        varying = statistic.without_constant_columns() if centred else statistic
        scaled = StandardizedFactor.of(varying, fit_intercept=centred, common=self._common_scale)
        found, hyper = self._search(scaled)
        lost = noise_vanished(scaled.statistic, found.rss, found.rank, centred, self.alpha_2)
        self.noise_vanished_ = hyper.exact or lost or found.noise >= 1.0 / hyper.noise_floor
        self.alpha_, self.gamma_ = scaled.noise_precision(found.noise), found.gamma
        self.noise_variance_, self._predictive_dof_ = 1.0 / self.alpha_, inf
        self._plug_in_ = self._plugged_in(scaled, found)
        # A flat prior of the intercept takes one row, and integrates to √(2πσ²/n).
        log_jacobian = self._dof() * log(scaled.target) + (0.5 * log(weight) if centred else 0.0)
        self.log_evidence_ = found.log_evidence - log_jacobian
        self.objective_trace_ = np.asarray(found.search.trace) - log_jacobian
        if self.compute_score:
            self.scores_ = beside(np.asarray(self.objective_trace_, dtype=np.float64), found.coef)
        self.n_iter_, self.converged_ = found.search.n_iter, found.search.converged
        coef, root = found.coef * (scaled.target / scaled.columns), found.root / scaled.columns[:, None]
        if varying is not statistic:  # a constant column, of any mean: rounding would move the intercept
            xp = namespace_of(coef)
            varies = xp.any(varying.factor[:, : varying.dim] != 0, axis=0)
            coef = xp.where(varies, coef, xp.zeros_like(coef))
        self._set_posterior(free_intercept_posterior(statistic, coef, root, fit_intercept=centred))
        if found.search.interrupted:
            raise FitInterrupted

    def _report(self) -> None:
        for message, category in self._warnings():
            warnings.warn(message, category, stacklevel=4)

    def _warnings(self) -> list[tuple[str, type[Warning]]]:
        """Return what a user should know of the fit."""
        if self.noise_vanished_:
            message = (
                "y is fitted without error, so the noise vanished: alpha_ would grow without bound, and "
                "stops where alpha_2 or the rounding of y stops it; predictive intervals are too narrow"
            )
            return [(message, NoiseVanishedWarning)]
        if not self.converged_:
            message = f"the evidence did not converge in max_iter={self.max_iter} iterations"
            return [(message, ConvergenceWarning)]
        return []


@value
class EvidencePoint:
    """Posterior and evidence at one pair of precisions."""

    prior: float  # precision of the coefficients
    noise: float  # precision of the noise
    coef: Array  # (r,), posterior mean of the coefficients in the basis of the columns
    rss: float  # residual sum of squares at the posterior mean
    length: float  # squared length of the posterior mean
    gamma: float  # effective number of parameters, Σ λ/(λ + prior) with the eigenvalues λ of noise XᵀX
    trace: float  # of the posterior covariance of the coefficients
    log_evidence: float
    objective: float  # log evidence with the log density of the Gamma priors of the precisions


def spectrum_of(statistic: LinearFactor, *, fit_intercept: bool) -> ColumnSpectrum:
    """Return the spectrum of the rows, centred where the intercept is free."""
    if not fit_intercept:
        return ColumnSpectrum.of(*reduced_rows(statistic, fit_intercept=False))
    columns, targets = statistic.factor[:, : statistic.dim], statistic.factor[:, statistic.dim :]
    found = ColumnSpectrum.from_products(columns, targets)
    return ColumnSpectrum.of(columns, targets) if found is None else found


def evidence_at(
    spectrum: ColumnSpectrum, dof: float, prior: float, noise: float, log_density: float = 0.0
) -> EvidencePoint:
    """Return posterior and evidence for the precisions of prior and noise, in O(d).

    `dof` is the weight of the rows, less one where an intercept is integrated out, and `log_density` that of
    the precisions under their priors.
    """
    xp = namespace_of(spectrum.singular)
    projections = spectrum.projections[:, 0]
    fitted, shrunk, total = root_fractions(spectrum, prior, noise)
    coef = noise**0.5 / total * fitted * projections
    residuals = shrunk**2 * projections
    rss = float(spectrum.rest[0]) + float(residuals @ residuals)
    length = float(coef @ coef)
    log_det = -2.0 * float(xp.sum(xp.log(shrunk)))  # of I + noise / prior XᵀX
    log_evidence = 0.5 * (dof * log(noise / (2.0 * pi)) - log_det - noise * rss - prior * length)
    return EvidencePoint(
        prior=prior,
        noise=noise,
        coef=coef,
        rss=rss,
        length=length,
        gamma=float(fitted @ fitted),
        trace=float(xp.sum(1.0 / total**2)) + (spectrum.basis.shape[0] - total.shape[0]) / prior,
        log_evidence=log_evidence,
        objective=log_evidence + log_density,
    )


def _posterior_root(spectrum: ColumnSpectrum, prior: float, noise: float) -> Array:
    """Return G, (d, d): the posterior covariance of the coefficients is G Gᵀ / noise."""
    xp = namespace_of(spectrum.basis)
    d, r = spectrum.basis.shape
    inside = noise**0.5 / root_fractions(spectrum, prior, noise)[2]
    if r == d:
        return spectrum.basis * inside
    outside = (noise / prior) ** 0.5
    identity = xp.eye(d, dtype=spectrum.basis.dtype, device=device(spectrum.basis))
    return outside * identity + (spectrum.basis * (inside - outside)) @ spectrum.basis.T


def root_fractions(spectrum: ColumnSpectrum, prior: float, noise: float) -> tuple[Array, Array, Array]:
    """Return the roots of λ/(λ + prior), of prior/(λ + prior), and of λ + prior, with λ = noise s²."""
    xp = namespace_of(spectrum.singular)
    root = noise**0.5 * spectrum.singular
    total = xp.hypot(root, xp.full_like(root, prior**0.5))
    return root / total, prior**0.5 / total, total


def best_precisions(spectrum: ColumnSpectrum, dof: float, hyper: HyperPriors) -> Precisions:
    """Return the precisions of the highest penalised evidence of all.

    For a given ratio ρ = prior / noise the best noise precision has a closed form, so the evidence is a
    function of ρ alone. Its slope in log ρ is half of γ - prior |m|² + 2 (shape - rate prior), which is zero
    at fixed points of the updates. Both are smooth on the scale of one unit of log ρ: between points of a
    grid a quarter of it apart there is no maximum that is higher than both, unless the slope changes its
    sign, and there Brent's method finds it.
    """
    top = spectrum.largest
    if not top > 0.0:
        return Precisions(prior=1.0, noise=1.0)
    profile = _Profile.of(spectrum, dof, hyper)
    low, high = profile.bounds()
    steps = 1 + int((high - low) / GRID_STEP)
    grid = low + (high - low) / steps * np.arange(steps + 1)
    slope = profile.slope(grid)
    rises, falls = slope[:-1] > 0.0, slope[1:] <= 0.0
    peaks = [_peak(profile, grid[i], grid[i + 1]) for i in np.flatnonzero(rises & falls)]
    at = [*peaks, high] if slope[-1] > 0.0 or not peaks else peaks
    best = at[0] if len(at) == 1 else at[int(np.argmax(profile.objective(np.asarray(at))))]
    noise = float(profile.noise(best))
    coef = spectrum.singular / (spectrum.singular**2 + exp(best)) * spectrum.projections[:, 0]
    return Precisions(prior=exp(best) * noise, noise=noise, coef=coef)


def _peak(profile: "_Profile", low: float, high: float) -> float:
    """Return where the slope falls to zero, by Brent's method."""
    from scipy.optimize import brentq

    try:
        return brentq(profile.slope_at, low, high, xtol=1e-13)
    except ValueError:  # at one end the sign is that of rounding: it is zero there
        return min(low, high, key=lambda t: abs(profile.slope_at(t)))


@value
class _Profile:
    """The penalised evidence as a function of t = log(prior / noise), at the best noise precision.

    Methods take one t, or several, (k,).
    """

    squares: Any  # (r,), s² of the directions in which the columns vary
    targets: Any  # (r,), squares of the projections of the targets on them
    lengths: Any  # (r,), squares of the coefficients without a prior, targets / squares
    rest: float
    dof: float
    hyper: HyperPriors

    @classmethod
    def of(cls, spectrum: ColumnSpectrum, dof: float, hyper: HyperPriors) -> "_Profile":
        singular, projections = to_numpy(spectrum.singular), to_numpy(spectrum.projections)[:, 0]
        varies = singular > 0.0
        squares, targets = singular[varies] ** 2, projections[varies] ** 2
        return cls(
            squares=squares,
            targets=targets,
            lengths=targets / squares,
            rest=float(spectrum.rest[0]),
            dof=dof,
            hyper=hyper,
        )

    def bounds(self) -> tuple[float, float]:
        """Return the range of t that has every maximum.

        For ρ below every s², γ is at least r/2 and |m| at most its length without a prior, so the precision
        of the prior is at least half of r / |m|²; that of the noise is at most at its floor.
        """
        length = float(np.sum(self.lengths)) + 2.0 * self.hyper.prior_rate
        terms = self._shape()
        variance = (self.rest + 2.0 * self.hyper.noise_rate) / terms if terms > 0.0 else 0.0
        least = float(np.min(self.squares))
        if length > 0.0:
            least_prior = 0.5 * self.squares.shape[0] / length
            least = min(least, least_prior * max(variance, self.hyper.noise_floor))
        return log(least) - 1.0, log(LARGEST_RATIO * float(np.max(self.squares)))

    def _shape(self) -> float:
        """Return twice the exponent of the noise precision in the penalised evidence."""
        return self.dof + 2.0 * (self.hyper.prior_shape + self.hyper.noise_shape)

    def _shrunk(self, t: Any) -> tuple[Any, Any, Any]:
        """Return ρ, (k,), ρ / (s² + ρ), (k, r), and s² / (s² + ρ)."""
        ratio = np.exp(t)
        each = ratio[..., None]
        total = self.squares + each
        return ratio, each / total, self.squares / total

    def noise(self, t: Any) -> Any:
        """Return the best noise precision: its terms over |y - Xm|² + ρ |m|² and the rates of the priors."""
        return self._noise(*self._shrunk(t)[:2])

    def _noise(self, ratio: Any, shrunk: Any) -> Any:
        squares = self.rest + shrunk @ self.targets
        rates = 2.0 * (self.hyper.prior_rate * ratio + self.hyper.noise_rate)
        return bounded_ratio(self._shape(), squares + rates, 1.0 / self.hyper.noise_floor, 1.0)

    def slope(self, t: Any) -> Any:
        """Return twice the derivative of the objective; that of the best noise does not enter."""
        ratio, shrunk, fitted = self._shrunk(t)
        length = fitted**2 @ self.lengths
        prior = ratio * self._noise(ratio, shrunk)
        return (
            fitted.sum(axis=-1)
            - prior * length
            + 2.0 * (self.hyper.prior_shape - self.hyper.prior_rate * prior)
        )

    def slope_at(self, t: float) -> float:
        """Return the same at one t, in fewer operations: for a search."""
        ratio, hyper = exp(t), self.hyper
        inverse = 1.0 / (self.squares + ratio)
        fitted = inverse * self.squares
        gamma, length = float(np.add.reduce(fitted)), float((fitted * fitted) @ self.lengths)
        rates = 2.0 * (hyper.prior_rate * ratio + hyper.noise_rate)
        squares = self.rest + ratio * float(inverse @ self.targets) + rates
        prior = ratio * bounded_ratio(self._shape(), squares, 1.0 / hyper.noise_floor, 1.0)
        return gamma - prior * length + 2.0 * (hyper.prior_shape - hyper.prior_rate * prior)

    def objective(self, t: Any) -> Any:
        """Return the log evidence and the log density of the priors, less what is the same everywhere."""
        ratio, shrunk, _ = self._shrunk(t)
        noise = self._noise(ratio, shrunk)
        squares = self.rest + shrunk @ self.targets
        evidence = 0.5 * (self.dof * np.log(noise) + np.sum(np.log(shrunk), axis=-1) - noise * squares)
        prior = [self.hyper.log_density(float(r * b), float(b)) for r, b in zip(ratio, noise, strict=True)]
        return evidence + np.asarray(prior)


@value
class EvidenceStep:
    """Posterior and evidence of a spectrum at some precisions: the E-step."""

    params: Precisions
    hyper: HyperPriors
    dof: float

    def __call__(self, spectrum: ColumnSpectrum) -> EvidencePoint:
        at = self.params
        return evidence_at(spectrum, self.dof, at.prior, at.noise, self.hyper.log_density(at.prior, at.noise))


@value
class EvidenceProblem:
    """The data and the two steps of the search of both precisions; see `maximize_evidence`."""

    spectrum: ColumnSpectrum
    dof: float  # weight of the rows, less one where an intercept is integrated out
    hyper: HyperPriors
    method: str
    tol: float

    @property
    def data(self) -> Whole:
        """The spectrum of the rows in their place."""
        return Whole(value=self.spectrum)

    def expect(self, params: Precisions) -> EvidenceStep:
        """Return the E-step at these precisions."""
        return EvidenceStep(params=params, hyper=self.hyper, dof=self.dof)

    def maximize(self, point: EvidencePoint) -> Precisions:
        """Return the next precisions."""
        if self.method == "mackay":
            terms = point.gamma, point.length, self.dof - point.gamma, point.rss
        else:
            d = float(self.spectrum.basis.shape[0])
            terms = d, point.length + point.trace, self.dof, point.rss + point.gamma / point.noise
        return _updated(point, self.hyper, self.spectrum.largest, *terms)

    def settled(self, before: Precisions, after: Precisions) -> bool:
        """Whether a step is the last."""
        if self.method == "em":
            pairs = (before.prior, after.prior), (before.noise, after.noise)
            return all(abs(old - new) <= self.tol * new for old, new in pairs)
        if before.coef is None:
            return False
        change = self.spectrum.basis @ (after.coef - before.coef)
        return float(namespace_of(change).sum(abs(change))) < self.tol


def maximize_evidence(
    spectrum: ColumnSpectrum,
    dof: float,
    start: Precisions,
    hyper: HyperPriors,
    *,
    method: str,
    tol: float,
    max_iter: int,
) -> EvidenceFit:
    """Maximise the evidence over both precisions.

    "mackay" repeats prior = γ / |m|² and noise = (N - γ) / |y - Xm|² with N = `dof`, until the coefficients
    change by less than `tol`, all together. "em" repeats prior = D / (|m|² + Tr S) and
    noise = N / (|y - Xm|² + Tr XSXᵀ), whose penalised evidence never falls; it has plateaus, so the search
    stops when both precisions change by less than `tol` of themselves. Both have the same fixed points.
    """
    problem = EvidenceProblem(spectrum=spectrum, dof=dof, hyper=hyper, method=method, tol=tol)
    if start.coef is not None and method == "mackay":  # a fixed point: the first step changes nothing
        point = problem.expect(start)(spectrum)
        found = EMResult(params=start, trace=(point.objective, point.objective), converged=True)
    else:
        found = em(
            problem.expect,
            problem.maximize,
            start,
            problem.data,
            max_iter=max_iter,
            label="evidence",
            settled=problem.settled,
        )
        point = evidence_at(spectrum, dof, found.params.prior, found.params.noise)
    return EvidenceFit(
        coef=spectrum.basis @ point.coef,
        root=_posterior_root(spectrum, point.prior, point.noise),
        prior=point.prior,
        noise=point.noise,
        gamma=point.gamma,
        rss=point.rss,
        rank=spectrum.rank,
        log_evidence=point.log_evidence,
        search=found,
    )


METHODS = ("mackay", "em")


def _updated(
    point: EvidencePoint,
    hyper: HyperPriors,
    top: float,
    n_coef: float,
    length: float,
    n_rows: float,
    rss: float,
) -> Precisions:
    """Return new precisions from numbers of terms and sums of squares, bounded so that nothing overflows."""
    reach = point.noise * top**2
    largest = LARGEST_RATIO * reach if reach > 0.0 else point.prior
    shape, rate = n_coef + 2.0 * hyper.prior_shape, length + 2.0 * hyper.prior_rate
    rows, squares = n_rows + 2.0 * hyper.noise_shape, rss + 2.0 * hyper.noise_rate
    return Precisions(
        prior=bounded_ratio(shape, rate, largest, point.prior),
        noise=bounded_ratio(rows, squares, 1.0 / hyper.noise_floor, point.noise),
        coef=point.coef,
    )


def bounded_ratio(above: Any, below: Any, most: Any, before: Any) -> Any:
    """Return above / below, at most `most`; `before` where `above` is zero and leaves the ratio open.

    Examples
    --------
    >>> bounded_ratio(1.0, 0.0, 1e6, 2.0), bounded_ratio(0.0, 0.0, 1e6, 2.0)
    (1000000.0, 2.0)
    """
    plain = isinstance(above, float) and isinstance(most, float)
    if plain and isinstance(below, float) and isinstance(before, float):
        ratio = above / below if above < most * below else most
        return float(ratio) if above > 0 else before
    if type(below) is np.ndarray and np.all(above > 0.0):
        return above / np.maximum(below, above / most)
    xp = namespace_of(above, below, most, before)
    above, below, most, before = (xp.asarray(part, dtype=xp.float64) for part in (above, below, most, before))
    within = above < most * below
    ratio = xp.where(within, above / xp.where(within, below, 1.0), most)
    return xp.where(above > 0, ratio, before)


@value
class StandardizedFactor:
    """The statistic of standardized columns and target, whose precisions are near one, and the way back."""

    statistic: LinearFactor  # of columns and target divided by their sizes
    # (d,), standard deviation of each column (root mean square without an intercept), or one for all
    columns: Array
    target: float  # standard deviation of the target; of a constant one its size, or one

    @classmethod
    def of(cls, statistic: LinearFactor, *, fit_intercept: bool, common: bool) -> "StandardizedFactor":
        """Standardize rows about their mean where there is an intercept; with `common`, by one scale."""
        xp = namespace_of(statistic.mean)
        d = statistic.dim
        mean, stddev = statistic.mean, statistic.stddev
        standardizer = Standardizer.from_stddev(mean[:d], stddev[:d], common=common, centered=fit_intercept)
        columns = 1.0 / standardizer.scale
        target = float(stddev[d])
        if not bool(column_varies(mean[d], stddev[d])):
            target = abs(float(mean[d])) or 1.0
        sizes = xp.concat([columns, xp.full_like(columns[:1], target)])
        scaled = replace(statistic, mean=mean / sizes, factor=statistic.factor / sizes, rest=0.0)
        return cls(statistic=scaled, columns=columns, target=target)

    def prior_precision(self, precision: Any) -> Array:
        """Return precisions of coefficients in the units of the data, (d,)."""
        xp = namespace_of(self.columns)
        with np.errstate(over="ignore", under="ignore"):
            found = precision * (self.columns / self.target) ** 2
        self._check_range(float(xp.min(found)), float(xp.max(found)))
        return found

    def noise_precision(self, precision: float) -> float:
        """Return a precision of the noise in the units of the data."""
        inverse = 1.0 / self.target
        found = precision * (inverse * inverse)
        self._check_range(found, found)
        return found

    def _check_range(self, least: float, largest: float) -> None:
        if not (least > 1e-307 and largest < 1e307):
            size = float(namespace_of(self.columns).max(self.columns))
            raise ValueError(
                f"X and y must be in units nearer to one: of sizes up to {size:.1g} and of "
                f"{self.target:.1g}, their precisions are no floating-point numbers"
            )


def log_evidence(X: Any, y: Any, *, alpha: float, beta: float) -> float:
    """Return log p(y | α, β) of y ~ N(Xw, 1/β) with w ~ N(0, 1/α), the coefficients integrated out.

    (N/2) log(β/2π) + (D/2) log α - ½ log |Λ| - (β/2) |y - Xm|² - (α/2) |m|², with Λ = β XᵀX + α I and
    m = β Λ⁻¹ Xᵀy. It equals log N(y | 0, I/β + XXᵀ/α). All columns are penalised: one of ones as well.

    Parameters
    ----------
    X : array (n, d)
        Rows.
    y : array (n,)
        Targets.
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
    _check_shapes(X, y)
    spectrum = spectrum_of(LinearFactor.of(X, y), fit_intercept=False)
    return evidence_at(spectrum, float(X.shape[0]), float(alpha), float(beta)).log_evidence


def hierarchical_predictive(X: Any, y: Any, X_new: Any, *, alphas: Any, betas: Any) -> Mixture:
    """Return p(y | x, D) = ∫∫∫ p(y | x, w, β) p(w | α, β, D) p(α, β | D), by quadrature over a grid.

    The coefficients are integrated out in closed form, w ~ N(0, 1/α) with noise of variance 1/β. Every point
    of the grid has the same prior probability: logarithmic grids are flat priors of log α and log β between
    their ends. :class:`BayesianRidge` puts the maximum of the evidence in the place of the average.

    Parameters
    ----------
    X : array (n, d)
        Rows.
    y : array (n,)
        Targets.
    X_new : array (m, d)
        Where to predict.
    alphas : array (k,)
        Precisions of the coefficients.
    betas : array (l,)
        Precisions of the noise.

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
    _check_shapes(X, y)
    if X_new.ndim != 2 or X_new.shape[1] != X.shape[1]:
        raise ValueError(f"X_new must be rows of {X.shape[1]} columns, got shape {tuple(X_new.shape)}")
    alphas, betas = _check_precisions("alphas", alphas, X), _check_precisions("betas", betas, X)
    xp = namespace_of(X)
    spectrum = spectrum_of(LinearFactor.of(X, y), fit_intercept=False)
    points = [evidence_at(spectrum, float(X.shape[0]), float(a), float(b)) for a in alphas for b in betas]
    log_weights = xp.asarray([point.log_evidence for point in points], dtype=X.dtype)
    weights = xp.exp(log_weights - xp.max(log_weights))
    prior = xp.asarray([point.prior for point in points], dtype=X.dtype)
    noise = xp.asarray([point.noise for point in points], dtype=X.dtype)
    projections = X_new @ spectrum.basis
    total = noise * spectrum.singular[:, None] ** 2 + prior
    outside = xp.sum(X_new**2, axis=1) - xp.sum(projections**2, axis=1)
    outside = xp.where(outside > 0, outside, xp.zeros_like(outside))
    return Mixture(
        weights=weights / xp.sum(weights),
        components=Normal(
            mean=projections @ xp.stack([point.coef for point in points], axis=1),
            variance=1.0 / noise + projections**2 @ (1.0 / total) + outside[:, None] / prior,
        ),
    )


def _check_shapes(X: Array, y: Array) -> None:
    if X.ndim != 2 or y.ndim != 1 or not X.shape[0]:
        raise ValueError(f"X must be rows and y a vector, got shapes {tuple(X.shape)} and {tuple(y.shape)}")


def _check_precisions(name: str, x: Any, like: Array) -> Array:
    x = as_reals(name, x, like)
    xp = namespace_of(x)
    if x.ndim != 1 or not x.shape[0] or not bool(xp.all((x > 0) & xp.isfinite(x))):
        raise ValueError(f"{name} must be positive and finite precisions, got shape {tuple(x.shape)}")
    return x
