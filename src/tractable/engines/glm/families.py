"""Exponential-dispersion families of generalised linear models of counts and of positive amounts.

The mean of a row is e g⁻¹(η): a linear predictor η = zᵀ coef, a link g, and the exposure e of the row. A
family gives the terms of minus the log-likelihood that depend on η, with their derivatives, its deviance, and
its log density. `expand_rows` and `FamilyFit.of` sum them over a block of rows, so that
``fold(partial(expand_rows, family=family, coef=coef, scaling=scaling), rows, y)`` is a step of Newton's
method over any source of rows. Targets are y (n,), or y and the exposure of each row (n, 2).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.linalg import product
from tractable.engines.glm.losses import LossExpansion, Scaling
from tractable.statistics.rows import counts
from tractable.value import parameters, value

#: Entries of the standardised columns of a part of a block, which stay in cache, and its fewest and most
#: rows: of fewer, threads wait for each other's interpreter.
TILE_ENTRIES, LEAST_ROWS, MOST_ROWS = 2**16, 512, 4096
#: The largest logarithm of a mean: its square is a number.
MOST_LOG_MEAN = 340.0
#: Whole numbers up to this size are counted in a table, on which special functions are evaluated.
MOST_COUNTED = 2**16


@value
class RowTerms:
    """Terms of minus the log-likelihood of each row, (n,) each: value, and derivatives in η."""

    value: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray  # second derivative, or its expectation


@value
class PoissonFamily:
    """Counts of mean and variance μ = e exp(η), the canonical link.

    Examples
    --------
    >>> found = PoissonFamily().terms(np.zeros(1), np.array([2.0]), 1.0)
    >>> float(found.slope[0]), float(found.curvature[0])
    (-1.0, 1.0)
    """

    link = "log"
    unit_dispersion = True  # Var(y) = μ: no scale is estimated

    def mean(self, eta: np.ndarray, exposure: Any) -> np.ndarray:
        """Return μ."""
        return exposure * np.exp(np.minimum(eta, MOST_LOG_MEAN))

    def variance(self, mean: np.ndarray) -> np.ndarray:
        """Return V(μ), by which the variance depends on the mean."""
        return mean

    def terms(self, eta: np.ndarray, y: np.ndarray, exposure: Any) -> RowTerms:
        """Return μ - y η, μ - y and μ."""
        mean = self.mean(eta, exposure)
        return RowTerms(value=mean - y * eta, slope=mean - y, curvature=mean)

    def expected_curvature(self, eta: np.ndarray, exposure: Any) -> np.ndarray:
        """Return the Fisher information of η, μ."""
        return self.mean(eta, exposure)

    def deviance(self, y: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Return 2 (y log(y/μ) - (y - μ))."""
        return 2.0 * (_y_log_ratio(y, mean) - (y - mean))

    def saturated(self, y: np.ndarray) -> np.ndarray:
        """Return the log density at μ = y, y log y - y - log y!."""
        return _y_log_ratio(y, np.ones_like(y)) - y - _of_counts(_log_factorial, y)


@value
class GammaFamily:
    """Positive amounts of mean μ and variance φ μ²: η = log(μ/e), or the canonical link η = 1/μ.

    Examples
    --------
    >>> found = GammaFamily(link="inverse").terms(np.full(1, 0.5), np.array([2.0]), 1.0)
    >>> float(found.slope[0]), float(found.curvature[0])
    (0.0, 4.0)
    """

    link: str = "log"
    unit_dispersion = False

    def mean(self, eta: np.ndarray, exposure: Any) -> np.ndarray:
        """Return μ; NaN where the inverse of η is no positive number."""
        if self.link == "log":
            return exposure * np.exp(np.clip(eta, -MOST_LOG_MEAN, MOST_LOG_MEAN))
        return 1.0 / np.where(eta > 0.0, eta, np.nan)

    def variance(self, mean: np.ndarray) -> np.ndarray:
        """Return V(μ) = μ²."""
        return mean * mean

    def terms(self, eta: np.ndarray, y: np.ndarray, exposure: Any) -> RowTerms:
        """Return y/μ + log μ, without the logarithm of the exposure, and its derivatives; convex in η."""
        if self.link == "log":
            ratio = y / self.mean(eta, exposure)
            return RowTerms(value=ratio + eta, slope=1.0 - ratio, curvature=ratio)
        inverse = self.mean(eta, 1.0)
        return RowTerms(value=y * eta + np.log(inverse), slope=y - inverse, curvature=inverse * inverse)

    def expected_curvature(self, eta: np.ndarray, exposure: Any) -> np.ndarray:
        """Return the Fisher information of η at φ = 1: 1, or μ²."""
        return np.ones_like(eta) if self.link == "log" else self.mean(eta, exposure) ** 2

    def deviance(self, y: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Return 2 (y/μ - 1 - log(y/μ))."""
        return 2.0 * (y / mean - 1.0 - np.log(y / mean))

    def saturated(self, y: np.ndarray) -> np.ndarray:
        """Return -log y, the part of the log density that neither the mean nor φ changes."""
        return -np.log(y)


@value
class NegativeBinomialFamily:
    """Counts of mean μ = e exp(η) and variance μ + α μ²: Poisson counts whose rates vary, α their dispersion.

    Examples
    --------
    >>> found = NegativeBinomialFamily(dispersion=0.5).terms(np.zeros(1), np.array([2.0]), 1.0)
    >>> float(found.slope[0].round(4)), float(found.curvature[0].round(4))
    (-0.6667, 0.8889)
    """

    dispersion: float
    link = "log"
    unit_dispersion = True

    def mean(self, eta: np.ndarray, exposure: Any) -> np.ndarray:
        """Return μ."""
        return exposure * np.exp(np.minimum(eta, MOST_LOG_MEAN))

    def variance(self, mean: np.ndarray) -> np.ndarray:
        """Return V(μ) = μ + α μ²."""
        return mean * (1.0 + self.dispersion * mean)

    def terms(self, eta: np.ndarray, y: np.ndarray, exposure: Any) -> RowTerms:
        """Return (y + 1/α) log(1 + α μ) - y η, (μ - y) / (1 + α μ) and (1 + α y) μ / (1 + α μ)²."""
        alpha, mean = self.dispersion, self.mean(eta, exposure)
        over = 1.0 + alpha * mean
        return RowTerms(
            value=(y + 1.0 / alpha) * np.log1p(alpha * mean) - y * eta,
            slope=(mean - y) / over,
            curvature=(1.0 + alpha * y) * mean / over**2,
        )

    def expected_curvature(self, eta: np.ndarray, exposure: Any) -> np.ndarray:
        """Return the Fisher information of η, μ / (1 + α μ)."""
        mean = self.mean(eta, exposure)
        return mean / (1.0 + self.dispersion * mean)

    def deviance(self, y: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Return 2 (y log(y/μ) - (y + 1/α) log((1 + α y) / (1 + α μ)))."""
        alpha = self.dispersion
        # (1 + α y) / (1 + α μ) - 1, without cancellation where they are near.
        excess = alpha * (y - mean) / (1.0 + alpha * mean)
        return 2.0 * (_y_log_ratio(y, mean) - (y + 1.0 / alpha) * np.log1p(excess))

    def saturated(self, y: np.ndarray) -> np.ndarray:
        """Return the log density at μ = y."""
        alpha = self.dispersion
        rest = _y_log_ratio(y, np.ones_like(y)) - (y + 1.0 / alpha) * np.log1p(alpha * y)
        return rest + _of_counts(lambda v: log_rising(v, alpha)[0] - _log_factorial(v), y)

    def dispersion_terms(
        self, eta: np.ndarray, y: np.ndarray, exposure: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return first and second derivatives by log α of (y + 1/α) log(1 + α μ), and the mixed one by η."""
        alpha, mean = self.dispersion, self.mean(eta, exposure)
        part = alpha * mean / (1.0 + alpha * mean)
        shape, log_over = 1.0 / alpha, np.log1p(alpha * mean)
        first = (y + shape) * part - shape * log_over
        second = shape * (log_over - 2.0 * part) + (y + shape) * part * (1.0 - part)
        return first, second, part * (y - mean) / (1.0 + alpha * mean)


Family = PoissonFamily | GammaFamily | NegativeBinomialFamily


def log_rising(y: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Σ_{j<y} log(1 + α j) = log Γ(y + 1/α)/Γ(1/α) + y log α, and two derivatives by log α.

    Of whole numbers by the sums themselves, which lose no digits where α is small.

    Examples
    --------
    >>> log_rising(np.array([0.0, 1.0, 2.0]), 1.0)[0].round(4).tolist()
    [0.0, 0.0, 0.6931]
    """
    top = float(np.max(y, initial=0.0))
    if top <= MOST_COUNTED and np.all(y == np.floor(y)):
        j = alpha * np.arange(top)
        sums = (np.append(0.0, np.cumsum(part)) for part in (np.log1p(j), j / (1.0 + j), j / (1.0 + j) ** 2))
        of = y.astype(np.int64)
        value, first, second = (part[of] for part in sums)
        return value, first, second
    from scipy.special import digamma, gammaln, polygamma

    shape = 1.0 / alpha
    ratio = digamma(y + shape) - digamma(shape)
    change = polygamma(1, y + shape) - polygamma(1, shape)
    value = gammaln(y + shape) - gammaln(shape) - y * np.log(shape)
    return value, y - shape * ratio, shape * (ratio + shape * change)


def expand_rows(
    x: Any,
    targets: Any,
    weights: Any = None,
    *,
    family: Family,
    coef: np.ndarray,
    scaling: Scaling,
    curvature: str = "observed",
    learn_dispersion: bool = False,
) -> LossExpansion:
    """Expand minus the log-likelihood of a block of rows about coefficients, up to terms without them.

    Parameters
    ----------
    x : array (n, d)
        Rows.
    targets : array (n,), or (n, 2) with the exposure of each row
        The targets.
    weights : array (n,), optional
        How often each row counts.
    family : PoissonFamily, GammaFamily or NegativeBinomialFamily
        The likelihood, at a dispersion of one (`GammaFamily`), or at its own.
    coef : array (p,), p = d, or 1 + d with the intercept first
        Where it is expanded.
    scaling : shift and scale (d,) of the columns
        The coefficients are of (x - shift) * scale.
    curvature : {"observed", "expected"}
        The Hessian, or its expectation: the Fisher information.
    learn_dispersion : bool
        Whether the logarithm of the dispersion of a `NegativeBinomialFamily` is one more parameter, the last.

    Examples
    --------
    >>> x, y, unit = np.ones((2, 1)), np.array([1.0, 3.0]), (np.zeros(1), np.ones(1))
    >>> found = expand_rows(x, y, family=PoissonFamily(), coef=np.zeros(1), scaling=unit)
    >>> found.gradient.tolist(), found.curvature.tolist()
    ([-2.0], [[2.0]])
    """
    x, y, exposure, w = split_rows(x, targets, weights)
    p, size = len(coef), len(coef) + int(learn_dispersion)
    total, gradient, hessian = 0.0, np.zeros(size), np.zeros((size, size))
    for part, z in tiles(x, scaling, p):
        eta = product(z, coef)
        own, e, one = y[part], exposure[part], None if w is None else w[part]
        found = family.terms(eta, own, e)
        bend = found.curvature if curvature == "observed" else family.expected_curvature(eta, e)
        slope, value = found.slope, found.value
        if one is not None:
            slope, value, bend = one * slope, one * value, one * bend
        total += float(np.sum(value))
        gradient[:p] += product(slope, z)
        hessian[:p, :p] += product((z * bend[:, None]).T, z)
        if learn_dispersion and isinstance(family, NegativeBinomialFamily):
            first, second, mixed = family.dispersion_terms(eta, own, e)
            rising = _of_counts(lambda v: np.stack(log_rising(v, family.dispersion), axis=-1), own)
            count = np.ones(len(own)) if one is None else one
            total -= float(count @ rising[:, 0])
            gradient[p] += count @ (first - rising[:, 1])
            hessian[p, p] += count @ (second - rising[:, 2])
            hessian[:p, p] += product(count * mixed, z)
    hessian[p:, :p] = hessian[:p, p:].T
    return LossExpansion(value=total, gradient=gradient, curvature=hessian)


@value
class FamilyFit:
    """What the rows say of fitted means: sums over rows, which add."""

    deviance: float
    pearson: float  # Σ (y - μ)² / V(μ)
    log_saturated: float  # the log-likelihood at μ = y, at a dispersion of one
    excess: float  # Σ (y - μ)² - y, by which counts vary more than Poisson's
    squares: float  # Σ μ²
    information: np.ndarray  # (p, p), Fisher's, of the coefficients at a dispersion of one

    @classmethod
    def of(
        cls,
        x: Any,
        targets: Any,
        weights: Any = None,
        *,
        family: Family,
        coef: np.ndarray,
        scaling: Scaling,
    ) -> "FamilyFit":
        """Sum over a block of rows.

        Parameters
        ----------
        x, targets, weights, family, coef, scaling
            As in `expand_rows`.
        """
        x, y, exposure, w = split_rows(x, targets, weights)
        sums, information = np.zeros(4), np.zeros((len(coef), len(coef)))
        for part, z in tiles(x, scaling, len(coef)):
            eta, own = product(z, coef), y[part]
            mean = family.mean(eta, exposure[part])
            one = np.ones(len(own)) if w is None else w[part]
            square = (own - mean) ** 2
            sums += [
                one @ family.deviance(own, mean),
                one @ (square / family.variance(mean)),
                one @ (square - own),
                one @ (mean * mean),
            ]
            bend = one * family.expected_curvature(eta, exposure[part])
            information += product((z * bend[:, None]).T, z)
        saturated = float(counts(w, y) @ family.saturated(y))
        deviance, pearson, excess, squares = (float(part) for part in sums)
        return cls(
            deviance=deviance,
            pearson=pearson,
            log_saturated=saturated,
            excess=excess,
            squares=squares,
            information=information,
        )

    def __add__(self, other: "FamilyFit") -> "FamilyFit":
        mine, theirs = parameters(self), parameters(other)
        return FamilyFit(**{name: part + theirs[name] for name, part in mine.items()})


def split_rows(x: Any, targets: Any, weights: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return rows that count, their targets, exposures (ones where there are none) and weights, (n,) each."""
    given = np.asarray(targets, dtype=np.float64)
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    if w is not None and not np.all(w > 0.0):
        some = w > 0.0
        x, given, w = x[some], given[some], w[some]
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim == 1:
        return x, given, np.broadcast_to(1.0, given.shape), w
    return x, given[:, 0], given[:, 1], w


def tiles(x: Any, scaling: Scaling, width: int) -> Any:
    """Yield slices of rows with their standardised columns, behind ones where there is an intercept."""
    shift, scale = scaling
    rows = max(LEAST_ROWS, min(MOST_ROWS, TILE_ENTRIES // max(1, width)))
    held = np.ones((min(rows, len(x)), width))
    first = width - x.shape[1]
    for start in range(0, len(x), rows):
        part = slice(start, start + rows)
        z = held[: len(x[part])]
        np.subtract(x[part], shift, out=z[:, first:])
        z[:, first:] *= scale
        yield part, z


def _y_log_ratio(y: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return y log(y/μ), 0 at y = 0."""
    some = y > 0.0
    return y * np.log(np.where(some, y, 1.0) / np.where(some, mean, 1.0))


def _log_factorial(y: np.ndarray) -> np.ndarray:
    from scipy.special import gammaln

    return gammaln(y + 1.0)


def _of_counts(function: Callable[[np.ndarray], np.ndarray], y: np.ndarray) -> np.ndarray:
    """Return a function of each y; of whole numbers by a table of those up to the largest."""
    top = float(np.max(y, initial=0.0))
    if top >= min(len(y), MOST_COUNTED) or not np.all(y == np.floor(y)):
        return function(y)
    return function(np.arange(top + 1.0))[y.astype(np.int64)]
