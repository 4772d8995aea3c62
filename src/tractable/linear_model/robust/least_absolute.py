"""Least absolute errors exactly: the simplex method over vertices, with a certificate of optimality."""

from typing import Any

import numpy as np

from tractable.data import Batch
from tractable.engines import EMResult, LeastSquares, em, least_squares
from tractable.linear_model.robust.noise import LaplaceNoise
from tractable.linear_model.robust.steps import (
    LEAST_SCALE,
    RobustParameters,
    RobustProblem,
    standardized_target,
)
from tractable.statistics import LinearFactor
from tractable.value import replace, value

#: How far |r| is smoothed, relative to its median, stage after stage.
SMOOTHING = (1e-1, 1e-2)
#: Perturbations of the targets that break ties, relative to the median residual; none in the last search.
PERTURBATIONS = (1e-6, 1e-9, 0.0)
#: By how much a dual value may exceed the weight of its row, relative to it: rounding.
SLACK = 1e-9
#: Rounding of a subgradient, relative to the sum of the weights.
ROUNDING = 1e-13


def least_absolute_errors(problem: RobustProblem, *, tol: float, max_iter: int, **options: Any) -> EMResult:
    """Return the likeliest parameters of Laplace noise: EM on smoothed absolute errors, then the best vertex.

    The rows are held in memory: medians and vertices are of single rows. `options` are those of `em`.
    """
    held, params = problem.data.collect(), problem.initial()
    rows = Batch(
        X=held.X.astype(np.float64), y=standardized_target(problem.target, held), weights=held.weights
    )
    smooth = np.inf
    trace: tuple[float, ...] = ()
    for stage in SMOOTHING:
        # Relative to the median, which outliers do not move.
        size = np.abs(rows.y - params.linear.predict(rows.X)[:, 0])
        median = np.quantile(size, 0.5, weights=rows.row_weights, method="inverted_cdf")
        smooth = min(smooth, max(stage * float(median), LEAST_SCALE))
        # Nearer to the maximum than the smoothing moves it, nothing is gained.
        found = em(
            problem.expect,
            problem.maximize,
            _with_noise(params.linear, rows, smooth),
            problem.data,
            tol=max(tol, 0.1 * stage),
            max_iter=max_iter - max(len(trace) - 1, 0),
            scale=problem.total,
            **options,
        )
        params, trace = found.params, (*trace, *found.trace[min(len(trace), 1) :])
        found = replace(found, trace=trace)
        if found.interrupted or len(trace) > max_iter:
            return replace(found, params=_with_noise(params.linear, rows, smooth), converged=False)
    return _at_a_vertex(problem, rows, found, max_iter)


def _with_noise(linear: LeastSquares, rows: Batch, smooth: float) -> RobustParameters:
    """Return the coefficients with the likeliest noise about them."""
    w, r = rows.row_weights, rows.y - linear.predict(rows.X)[:, 0]
    scale = max(float(w @ np.hypot(r, smooth) / w.sum()), LEAST_SCALE)
    return RobustParameters(linear=linear, noise=LaplaceNoise(scale=scale, smooth=smooth))


def _at_a_vertex(problem: RobustProblem, rows: Batch, found: EMResult, max_iter: int) -> EMResult:
    """Fit exactly the rows that the least absolute errors fit exactly: as many as there are parameters."""
    counted = np.flatnonzero(rows.row_weights > 0)
    X, y, w = rows.X[counted], np.asarray(rows.y)[counted], rows.row_weights[counted]
    linear: LeastSquares = found.params.linear
    errors = y - linear.predict(X)[:, 0]
    phi = problem.least_squares.predictor_root(X)
    vertex = best_vertex(phi, y, w, errors, LEAST_SCALE, max_iter - found.n_iter - 1)
    cost = float(w @ np.abs(errors))
    costs = np.minimum.accumulate([cost, *vertex.costs])[1:]
    if vertex.optimal or vertex.costs[-1] < cost:
        exact = LinearFactor.of(X[vertex.rows], y[vertex.rows])
        linear = least_squares(exact, fit_intercept=problem.fit_intercept)
    mean = -1.0 - np.log(2.0 * np.maximum(costs / problem.total, LEAST_SCALE)) + problem.target.log_jacobian
    return replace(
        found,
        params=_with_noise(linear, rows, 0.0),
        trace=(*found.trace, *(problem.total * mean).tolist()),
        converged=vertex.optimal,
    )


@value
class Vertex:
    """Coefficients that fit as many rows exactly as there are coefficients."""

    rows: np.ndarray  # (r,), those that are fitted exactly
    costs: tuple[float, ...]  # the sum of absolute errors at the first vertex and after each step
    optimal: bool  # whether dual values within the weights prove that no coefficients err less


@value
class _State:
    """The rows of the vertex, and the sign of the residual of every row."""

    rows: np.ndarray  # (r,)
    sign: np.ndarray  # (n,), of -1 and 1; chosen where the residual is zero


def best_vertex(
    phi: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    errors: np.ndarray,
    floor: float,
    max_steps: int,
    tilt: float = 0.0,
) -> Vertex:
    """Return the vertex with the least Σ w (|r| + tilt r), r = y - φβ, from coefficients near it.

    A sum of absolute errors is minimal at coefficients that fit as many rows exactly as there are
    coefficients. Such a vertex is optimal where the subgradient of the other rows, Σ w sign(r) φ, is
    balanced by multiples of its own rows no greater than their weights. A row with a greater multiple leaves:
    the coefficients move along the edge that keeps the others exact, until the sum ceases to fall, at another
    row (the simplex method, with an exact line search along each edge).

    Parameters
    ----------
    phi : array (n, r)
        Features, of full rank and of similar lengths.
    y : array (n,)
        Targets.
    w : array (n,)
        Positive.
    errors : array (n,)
        Residuals of the coefficients to start from.
    floor : float
        What is rounding in a residual.
    max_steps : int
        The most rows that may leave.
    tilt : float
        Between -1 and 1: positive errors count 1 + tilt, negative ones 1 - tilt, as for the quantile
        (1 + tilt) / 2.
    """
    state = _State(rows=_first_rows(phi, np.abs(errors), floor), sign=_signs(errors))
    median = float(np.quantile(np.abs(errors), 0.5, weights=w, method="inverted_cdf"))
    noise = np.random.default_rng(0).uniform(-1.0, 1.0, len(y))
    costs = [_cost(phi, y, w, state, tilt)]
    slope = tilt * (w @ phi)
    slack = ROUNDING * float(w.sum())
    # Ties, rows whose residual is zero by chance, could make the search cycle: it is run on perturbed targets
    # that have none, and the signs found for such rows serve for the targets that were given.
    for size in PERTURBATIONS:
        perturbed = y + (max(size * median, 16.0 * floor) if size else 0.0) * noise
        state = _with_signs(phi, perturbed, state, floor)
        dual = _dual_values(phi, w, state, slope)
        while not (optimal := _is_optimal(dual, w[state.rows], slack)) and len(costs) <= max_steps:
            state = _exchanged(phi, perturbed, w, state, dual)
            costs.append(_cost(phi, y, w, state, tilt))
            dual = _dual_values(phi, w, state, slope)
        given = _with_signs(phi, y, state, floor)
        if np.array_equal(given.sign, state.sign):
            break
        state = given
    return Vertex(rows=state.rows, costs=tuple(costs), optimal=optimal)


def _first_rows(phi: np.ndarray, distance: np.ndarray, floor: float) -> np.ndarray:
    """Return independent rows with small residuals: the first of a pivoted QR of φ / |r|."""
    from scipy.linalg import qr

    # Among rows nearer than a thousandth of the median the least dependent are taken.
    least = max(1e-3 * float(np.median(distance)), floor, np.finfo(float).tiny)
    chosen = qr((phi / np.maximum(distance, least)[:, None]).T, mode="r", pivoting=True)[1]
    return np.asarray(chosen[: phi.shape[1]])


def _signs(r: np.ndarray) -> np.ndarray:
    return np.where(r < 0.0, -1.0, 1.0)


def _residuals(phi: np.ndarray, y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    r = y - phi @ np.linalg.solve(phi[rows], y[rows])
    r[rows] = 0.0
    return r


def _cost(phi: np.ndarray, y: np.ndarray, w: np.ndarray, state: _State, tilt: float) -> float:
    r = _residuals(phi, y, state.rows)
    return float(w @ (np.abs(r) + tilt * r))


def _with_signs(phi: np.ndarray, y: np.ndarray, state: _State, floor: float) -> _State:
    """Return the state with the signs of the residuals of y, where these are more than rounding."""
    r = _residuals(phi, y, state.rows)
    return _State(rows=state.rows, sign=np.where(np.abs(r) > floor, _signs(r), state.sign))


def _dual_values(phi: np.ndarray, w: np.ndarray, state: _State, slope: np.ndarray) -> np.ndarray:
    """Return the multiples of the vertex's rows that balance the subgradient of the others and the tilt."""
    subgradient = w * state.sign
    subgradient[state.rows] = 0.0
    return np.linalg.solve(phi[state.rows].T, -(subgradient @ phi + slope))


def _is_optimal(dual: np.ndarray, w: np.ndarray, slack: float) -> bool:
    """Whether no dual value exceeds the weight of its row."""
    return bool(np.all(np.abs(dual) <= (1.0 + SLACK) * w + slack))


def _exchanged(phi: np.ndarray, y: np.ndarray, w: np.ndarray, state: _State, dual: np.ndarray) -> _State:
    """Exchange the row of the largest dual value for the one at which the sum of errors ceases to fall."""
    leaving = int(np.argmax(np.abs(dual) / w[state.rows]))
    away = np.zeros(len(state.rows))
    away[leaving] = -np.sign(dual[leaving])
    rate = state.sign * (phi @ np.linalg.solve(phi[state.rows], away))  # at which |r| falls
    rate[state.rows] = 0.0
    crossed = np.flatnonzero(rate > 1e-12 * np.abs(rate).max())
    distance = np.maximum(state.sign * _residuals(phi, y, state.rows), 0.0)
    crossed = crossed[np.argsort(distance[crossed] / rate[crossed], kind="stable")]
    slope = w[state.rows[leaving]] - abs(dual[leaving]) + 2.0 * np.cumsum(w[crossed] * rate[crossed])
    last = min(int(np.searchsorted(slope, 0.0)), len(crossed) - 1)
    rows, sign = state.rows.copy(), state.sign.copy()
    sign[crossed[:last]] *= -1.0
    sign[rows[leaving]] = np.sign(dual[leaving])
    rows[leaving] = crossed[last]
    return _State(rows=rows, sign=sign)
