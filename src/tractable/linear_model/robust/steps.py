"""The E- and M-steps of robust regression: iteratively reweighted least squares."""

from typing import Any

import numpy as np

from tractable.data import Batch, as_source
from tractable.engines import EMResult, LeastSquares, em, fold, least_squares
from tractable.engines.student_t import PrecisionSums
from tractable.linear_model.robust.least_absolute import best_vertex
from tractable.linear_model.robust.noise import LEAST_DOF, GaussianNoise, LaplaceNoise, StudentNoise
from tractable.statistics import LinearFactor
from tractable.value import replace, value

#: How far |r| is smoothed, relative to its median, stage after stage.
SMOOTHING = (1e-1, 1e-2)


@value
class RobustParameters:
    """Coefficients and the noise."""

    linear: LeastSquares
    noise: Any  # GaussianNoise, LaplaceNoise or StudentNoise


@value
class RobustStatistic:
    """Sums over rows of an E-step; they merge with ``+``."""

    params: RobustParameters  # that they were made with
    factor: LinearFactor  # of rows weighted by w times their IRLS weights
    weight: float  # Σ w
    log_likelihood: float  # Σ w log p(r)
    distance: float  # Σ w √(r² + smooth²), of Laplace noise
    precisions: PrecisionSums | None = None  # of Student's noise

    def __add__(self, other: "RobustStatistic") -> "RobustStatistic":
        both = self.precisions, other.precisions
        return replace(
            self,
            factor=self.factor + other.factor,
            weight=self.weight + other.weight,
            log_likelihood=self.log_likelihood + other.log_likelihood,
            distance=self.distance + other.distance,
            precisions=None if both[0] is None or both[1] is None else both[0] + both[1],
        )

    @property
    def objective(self) -> float:
        """Mean log-likelihood of a row; of Laplace noise at the likeliest scale for these residuals."""
        if isinstance(self.params.noise, LaplaceNoise):
            return -1.0 - float(np.log(2.0 * self.distance / self.weight))
        return self.log_likelihood / self.weight


@value
class EStep:
    """The expected precision of each row given its residual, as the weights of a `LinearFactor`."""

    params: RobustParameters

    def __call__(self, block: Batch) -> RobustStatistic:
        noise: Any = self.params.noise
        w: Any = block.row_weights
        r = block.y - self.params.linear.predict(block.X)[:, 0]
        laplace = isinstance(noise, LaplaceNoise)
        return RobustStatistic(
            params=self.params,
            factor=LinearFactor.of(block.X, block.y, w * noise.irls_weights(r)),
            weight=float(w.sum()),
            log_likelihood=0.0 if laplace else float(w @ noise.log_prob(r)),
            distance=float(w @ noise.distance(r)) if laplace else 0.0,
            precisions=noise.precision_sums(r, w) if isinstance(noise, StudentNoise) else None,
        )

    def least_rows(self, n_columns: int) -> int:
        """Return how many rows make a block worth a merge of factors."""
        return LinearFactor.least_rows(n_columns)


@value
class MStep:
    """Weighted least squares, and the likeliest noise about it.

    The scale of Student's t divides the squares by the sum of the weights, not of the rows, which has the
    same fixed point and converges sooner (PX-EM). Where its degrees of freedom are unknown, they alone change
    where that promises more of the likelihood (ECME). The scale of Laplace noise is that of the residuals of
    the E-step: it has no influence on the coefficients.
    """

    floor: float  # smallest scale of the noise
    fit_intercept: bool = True

    def __call__(self, statistic: RobustStatistic) -> RobustParameters:
        linear = least_squares(statistic.factor, fit_intercept=self.fit_intercept)
        before = statistic.params.noise
        if isinstance(before, LaplaceNoise):
            scale = statistic.distance / statistic.weight
        else:
            scale = float(np.sqrt(linear.rss[0] / statistic.factor.weight))
        noise = replace(before, scale=max(scale, self.floor))
        if isinstance(noise, StudentNoise) and not noise.known:
            growth = 2.0 * float(np.log(noise.scale / before.scale))
            moves, dof = before.mixture.better_step(statistic.precisions, growth, LEAST_DOF)
            if not moves:
                linear, noise = statistic.params.linear, replace(before, dof=float(dof[0]))
        return RobustParameters(linear=linear, noise=noise)


def initial_parameters(
    X: np.ndarray, y: np.ndarray, w: np.ndarray, noise: str, dof: float | None, *, fit_intercept: bool
) -> RobustParameters:
    """Return the coefficients of least squares, with noise of the size of their residuals."""
    linear = _weighted_least_squares(X, y, w, fit_intercept=fit_intercept)
    r = y - linear.predict(X)[:, 0]
    rms = float(np.sqrt(w @ r**2 / w.sum()))
    models = {
        "gaussian": GaussianNoise(scale=rms),
        "laplace": LaplaceNoise(scale=float(w @ np.abs(r) / w.sum())),
        "student": StudentNoise(scale=rms, dof=4.0 if dof is None else float(dof), known=dof is not None),
    }
    return RobustParameters(linear=linear, noise=models[noise])


def robust_search(
    X: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    start: RobustParameters,
    floor: float,
    *,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
) -> EMResult:
    """Run EM; absolute errors are approached through smoothed ones, and minimised exactly at the end."""
    data = as_source(X, y, w)
    maximize = MStep(floor=floor, fit_intercept=fit_intercept)
    options: dict[str, Any] = {"label": "RobustRegression"}
    if not isinstance(start.noise, LaplaceNoise):
        return em(_expect, maximize, start, data, tol=tol, max_iter=max_iter, **options)
    params, smooth = start, np.inf
    trace: tuple[float, ...] = ()
    for stage in SMOOTHING:
        r = y - params.linear.predict(X)[:, 0]
        # Relative to the median, which outliers do not move.
        median = np.quantile(np.abs(r), 0.5, weights=w, method="inverted_cdf")
        smooth = min(smooth, max(stage * float(median), floor))
        # Nearer to the maximum than the smoothing moves it, nothing is gained.
        found = em(
            _expect,
            maximize,
            _with_laplace_noise(params.linear, r, w, floor, smooth),
            data,
            tol=max(tol, 0.1 * stage),
            max_iter=max_iter - max(len(trace) - 1, 0),
            **options,
        )
        params, trace = found.params, (*trace, *found.trace[min(len(trace), 1) :])
        if found.interrupted or len(trace) > max_iter:
            r = y - params.linear.predict(X)[:, 0]
            params = _with_laplace_noise(params.linear, r, w, floor, smooth)
            return replace(found, params=params, trace=trace, converged=False)
    return _at_a_vertex(X, y, w, start.linear, replace(found, trace=trace), floor, max_iter, fit_intercept)


def _expect(params: RobustParameters) -> EStep:
    return EStep(params=params)


def _with_laplace_noise(
    linear: LeastSquares, r: np.ndarray, w: np.ndarray, floor: float, smooth: float
) -> RobustParameters:
    scale = max(float(w @ np.hypot(r, smooth) / w.sum()), floor)
    return RobustParameters(linear=linear, noise=LaplaceNoise(scale=scale, smooth=smooth))


def _at_a_vertex(
    X: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    whole: LeastSquares,
    found: EMResult,
    floor: float,
    max_iter: int,
    fit_intercept: bool,
) -> EMResult:
    """Fit exactly the rows that the least absolute errors fit exactly: as many as there are parameters."""
    counted = np.flatnonzero(w > 0)
    linear: LeastSquares = found.params.linear
    errors = (y - linear.predict(X)[:, 0])[counted]
    vertex = best_vertex(
        independent_columns(X[counted], whole),
        y[counted],
        w[counted],
        errors,
        floor,
        max_iter - found.n_iter - 1,
    )
    cost = float(w[counted] @ np.abs(errors))
    costs = np.minimum.accumulate([cost, *vertex.costs])[1:]
    if vertex.optimal or vertex.costs[-1] < cost:
        rows = counted[vertex.rows]
        linear = _weighted_least_squares(X[rows], y[rows], np.ones(len(rows)), fit_intercept=fit_intercept)
    trace = -1.0 - np.log(2.0 * np.maximum(costs / w.sum(), floor))
    return replace(
        found,
        params=_with_laplace_noise(linear, y - linear.predict(X)[:, 0], w, floor, 0.0),
        trace=(*found.trace, *trace.tolist()),
        converged=vertex.optimal,
    )


def independent_columns(X: np.ndarray, whole: LeastSquares) -> np.ndarray:
    """Return linearly independent columns with the span of those of X and of the intercept."""
    columns = (X - whole.centre) @ whole.root
    return np.column_stack([np.full((len(X), int(whole.has_intercept)), whole.weight**-0.5), columns])


def _weighted_least_squares(
    X: np.ndarray, y: np.ndarray, w: np.ndarray, *, fit_intercept: bool
) -> LeastSquares:
    return least_squares(fold(LinearFactor.of, X, y, weights=w), fit_intercept=fit_intercept)
