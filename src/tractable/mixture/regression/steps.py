"""The two steps of EM for mixtures of linear regressions, with constant mixing weights or a softmax gate.

E-step (:class:`RegressionEStep`): responsibilities γ_nk ∝ π_k(x_n) N(y_n | f_k(x_n), σ_k²), and the linear
statistic of the rows with these weights for every component. M-step (:meth:`RegressionProblem.maximize`):
weighted least squares, the noise, and the mixing weights or the gate.
"""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.limits import check_coefficients, check_squarable
from tractable.arrays.linalg import jittered_cholesky, solve_cholesky
from tractable.arrays.log_space import log_softmax, softmax_and_log_sum
from tractable.data import Batch, Source
from tractable.data.blocks import BLOCK_ENTRIES, map_blocks
from tractable.engines import LeastSquares, fold, least_squares, squared_extrapolation
from tractable.engines.em import EMProblem
from tractable.engines.glm.losses import LossExpansion, Softmax
from tractable.engines.newton import armijo_steps
from tractable.mixture.regression.model import RegressionMixture
from tractable.primitives.linear import triangle
from tractable.statistics import LinearFactor, Moments, Standardizer
from tractable.statistics.rows import as_rows
from tractable.value import replace, value

#: Responsibilities below exp(-230) are taken for zero.
LEAST_RESPONSIBILITY = 1e-100

#: How far apart the logits of two components are initially, at most, in standard deviations.
INITIAL_GATE = 4.0

#: Where EM comes nearer to its limit by less than a fraction 1 / SLOW a step, it is extrapolated.
SLOW = 4.0

#: A step of the gate that would raise the objective of a row by less than this is not taken.
LEAST_GATE_STEP = 1e-12


@value
class ExpectedRegressions:
    """Expected statistics of rows: a linear statistic for every component, weighted by responsibilities."""

    params: RegressionMixture
    factors: tuple[LinearFactor, ...]
    log_likelihood: float  # of the rows, in their own scale
    penalty: float  # part of the objective once, however many statistics are merged
    gate: LossExpansion | None = None  # of the softmax loss of the gate, at the gate of the parameters

    @property
    def objective(self) -> float:
        """The penalised log-likelihood."""
        return self.log_likelihood - self.penalty

    @property
    def weight(self) -> np.ndarray:
        """N_k, the expected number of rows of each component, (K,)."""
        return np.array([float(factor.weight) for factor in self.factors])

    def __add__(self, other: "ExpectedRegressions") -> "ExpectedRegressions":
        return replace(
            self,
            factors=tuple(a + b for a, b in zip(self.factors, other.factors, strict=True)),
            log_likelihood=self.log_likelihood + other.log_likelihood,
            gate=None if self.gate is None or other.gate is None else self.gate + other.gate,
        )


@value
class RegressionSummary:
    """The linear statistic of rows with one target, and how many of them have a positive weight."""

    linear: LinearFactor
    n_rows: int

    @classmethod
    def of(cls, x: Any, y: Any = None, weights: Any = None) -> "RegressionSummary":
        """Summarise a block of rows."""
        if y is None:
            raise ValueError("y must be given: X is a source without a target")
        x = as_rows(x)
        found = LinearFactor.of(x, as_target(y), weights, reduce=len(x) > x.shape[1])
        return cls(linear=found, n_rows=len(x) if weights is None else int(np.sum(np.asarray(weights) > 0)))

    def __add__(self, other: "RegressionSummary") -> "RegressionSummary":
        return RegressionSummary(linear=self.linear + other.linear, n_rows=self.n_rows + other.n_rows)

    def standardizer(self, *, fit_intercept: bool) -> Standardizer:
        """Return the standardizer of the columns and, last, the target; constant columns become zero.

        Without an intercept nothing is shifted, and the scale is the root mean square.
        """
        check_squarable("X", self.linear.root_mean_square[:-1])
        check_squarable("y", self.linear.root_mean_square[-1:])
        found = Standardizer.from_stddev(self.linear.mean, self.linear.stddev, centered=fit_intercept)
        scale = np.where(found.varies, found.scale, 0.0)
        if not found.varies[-1]:
            scale[-1] = 1.0 / (self.linear.root_mean_square[-1] or 1.0)
        return replace(found, scale=scale)


def standardized(standardizer: Standardizer, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return standardized rows and targets."""
    columns, target = standardizer[:-1], standardizer[-1]
    return columns.transform(as_rows(x)), target.transform(as_target(y))


@value
class RegressionEStep:
    """Responsibilities γ_nk ∝ π_k(x_n) N(y_n | f_k(x_n), σ_k²) of a block, and the statistics they weight."""

    params: RegressionMixture
    standardizer: Standardizer
    penalty: float

    def __call__(self, block: Batch) -> ExpectedRegressions:
        x, y, r, log_prob = self.responsibilities(block)
        w = block.row_weights
        log_jacobian = float(np.log(self.standardizer.scale[-1]))
        gate = None
        if self.params.gate.shape[1] > 1 and len(self.params.gate) > 1:
            coef = self.gate_loss.free_coef(self.params.gate)
            gate = LossExpansion.of(x, r, loss=self.gate_loss, coef=coef)
        return ExpectedRegressions(
            params=self.params,
            factors=_weighted_factors(x, y, r),
            log_likelihood=float(w @ log_prob) + float(np.sum(w)) * log_jacobian,
            penalty=self.penalty,
            gate=gate,
        )

    @cached_property
    def gate_loss(self) -> Softmax:
        """The softmax loss, over contrasts of the components."""
        return Softmax.of(len(self.params.gate))

    def responsibilities(self, block: Batch) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return standardized rows and targets, w_n γ_nk (n, K) and log p(y | x) (n,)."""
        step = max(64, BLOCK_ENTRIES // len(self.params.noise))
        if block.n_rows <= step:
            return self._weighted(block)
        return map_blocks(self._weighted, (block[a : a + step] for a in range(0, block.n_rows, step)))

    def _weighted(self, block: Batch) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the same of rows whose arrays stay in the cache."""
        x, y = standardized(self.standardizer, block.X, block.y)
        r, log_prob = softmax_and_log_sum(self.params.log_joint(x, y))
        r[r < LEAST_RESPONSIBILITY] = 0.0
        if block.weights is not None:
            r *= block.weights[:, None]
        return x, y, r, log_prob


def _weighted_factors(x: np.ndarray, y: np.ndarray, r: np.ndarray) -> tuple[LinearFactor, ...]:
    """Return the linear statistic of rows with each column of weights: by moments, or by a QR.

    Moments take a quarter of the work, and are kept where they have the digits of a QR.
    """
    # Rows fewer than their columns are a smaller factor than a triangle.
    if len(x) <= x.shape[1]:
        return tuple(LinearFactor.of(x, y, column, reduce=False) for column in r.T)
    both = np.column_stack([x, y])
    found = (LinearFactor.of_moments(Moments.of(both, column)) for column in r.T)
    return tuple(
        LinearFactor.of(x, y, column) if factor is None else factor
        for factor, column in zip(found, r.T, strict=True)
    )


@value
class GateLoss:
    """-Σ_n w_n Σ_k γ_nk log π_k(x_n) of a block, at free coefficients of a gate."""

    step: RegressionEStep
    coef: np.ndarray

    def __call__(self, block: Batch) -> float:
        x, _, r, _ = self.step.responsibilities(block)
        gate = self.step.gate_loss.contrasts @ self.coef
        log_weights = log_softmax(gate[:, 0] + x @ gate[:, 1:].T)
        return -float(np.sum(r * log_weights))


@value
class RegressionProblem(EMProblem):
    """The data and the two steps of a mixture of regressions, in standardized columns and targets."""

    data: Any  # the rows as a source; None for an M-step alone, which leaves a gate as it is
    summary: RegressionSummary | None
    standardizer: Standardizer  # of the columns and the target
    n_components: int
    fit_intercept: bool = True
    alpha: float = 0.0  # penalty weight of squared coefficients of the rows, divided by each noise
    shared: bool = True  # whether all components have one noise
    floor: float  # the least noise variance, standardized
    gate_alpha: float | None = None  # penalty weight of the gate; without it mixing weights are constant
    initial_coef: tuple[np.ndarray, np.ndarray] | None = None  # with the intercepts, standardized

    @property
    def total(self) -> float:
        """Weight of the rows."""
        return 0.0 if self.summary is None else float(self.summary.linear.weight)

    @cached_property
    def root_alpha(self) -> np.ndarray:
        """Roots of the penalty weights of standardized columns."""
        return np.sqrt(float(self.alpha)) * self.standardizer.scale[:-1]

    @cached_property
    def least_squares(self) -> LeastSquares:
        """The least-squares fit of all rows."""
        assert self.summary is not None
        linear, scale = self.summary.linear, self.standardizer.scale
        mean = (linear.mean - self.standardizer.shift) * scale
        standard = replace(linear, mean=mean, factor=linear.factor * scale, rest=0.0)
        return least_squares(standard, fit_intercept=self.fit_intercept)

    def initial(self, rng: np.random.Generator) -> RegressionMixture:
        """Return given regressions, or ones scattered about least squares as far as its residuals reach.

        Random slopes in directions in which the rows vary alike: the components differ by the residuals'
        standard deviation.
        """
        if self.initial_coef is not None:
            return self.with_coefficients(*self.initial_coef)
        one, K = self.least_squares, self.n_components
        root = one.slopes_root[:, int(one.has_intercept) :]  # without the column of the offset
        reach = np.sqrt(max(float(one.noise_variance_ml[0]), self.floor))
        apart = rng.random() if self.fit_intercept else 0.0  # the part of the difference in the intercepts
        lifts = np.sqrt(apart) * reach * rng.standard_normal(K)
        draws = np.sqrt((1.0 - apart) / max(one.rank, 1)) * reach * rng.standard_normal((K, one.rank))
        tilts = np.sqrt(self.total) * draws @ root.T
        found = self.with_coefficients(one.coef + tilts, one.intercept + lifts - tilts @ one.centre)
        if self.gate_alpha is None:
            return found
        # A gate that separates the rows, more or less sharply: components may differ in where they are, too.
        sharp = INITIAL_GATE * rng.random() / np.sqrt(max(one.rank, 1))
        slopes = sharp * np.sqrt(self.total) * rng.standard_normal((K, one.rank)) @ root.T
        slopes -= slopes.mean(axis=0)
        return replace(found, gate=np.column_stack([-slopes @ one.centre, slopes]))

    def with_coefficients(self, coef: np.ndarray, intercept: np.ndarray) -> RegressionMixture:
        """Return given regressions with equal mixing weights and the noise of least squares."""
        K, one = self.n_components, self.least_squares
        offset = intercept + coef @ one.centre
        regressions = tuple(
            replace(one, coef=coef[[k]], intercept=intercept[[k]], offset=offset[[k]]) for k in range(K)
        )
        if self.gate_alpha is None:
            gate = np.full((K, 1), -np.log(K))
        else:
            gate = np.zeros((K, 1 + one.coef.shape[1]))
        noise = np.full(K, max(float(one.noise_variance_ml[0]), self.floor))
        return RegressionMixture(regressions=regressions, noise=noise, gate=gate)

    def expect(self, params: RegressionMixture) -> RegressionEStep:
        """Return the E-step at these parameters."""
        return RegressionEStep(params=params, standardizer=self.standardizer, penalty=self.penalty(params))

    def maximize(self, expected: ExpectedRegressions) -> RegressionMixture:
        """Return weighted least squares, its noise, and the mixing weights or the gate."""
        before, weight = expected.params, expected.weight
        regressions = tuple(
            self._regression(factor, old)
            for factor, old in zip(expected.factors, before.regressions, strict=True)
        )
        # The residual sum of squares is Σ_n γ_nk (y_n - f_k(x_n))², with the penalty.
        squares = np.array([float(regression.rss[0]) for regression in regressions])
        return RegressionMixture(
            regressions=regressions,
            noise=self._noise(squares, weight, before.noise),
            gate=self._constant_gate(weight) if self.gate_alpha is None else self._gate(expected),
        )

    def extrapolate(
        self, start: RegressionMixture, once: RegressionMixture, twice: RegressionMixture
    ) -> RegressionMixture | None:
        """Return parameters farther along two steps of EM, or None; see `squared_extrapolation`.

        Where components, or the gates of experts, differ little, EM alone takes hundreds of iterations.
        """
        # A gate is always slow: its steps are one of Newton's.
        least = SLOW if self.gate_alpha is None else 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            vectors = (_as_vector(params) for params in (start, once, twice))
            found = squared_extrapolation(*vectors, least=least)
            if found is None or not np.all(np.isfinite(found)):
                return None
            noise = np.maximum(np.exp(found[: self.n_components]), self.floor)
        if not np.all(noise < np.inf):
            return None
        coef = found[self.n_components :].reshape(self.n_components, -1)
        split = 1 + twice.coef.shape[1]
        regressions = tuple(
            replace(one, coef=w[None, 1:split], intercept=w[:1], offset=w[:1] + one.centre @ w[1:split])
            for one, w in zip(twice.regressions, coef, strict=True)
        )
        return RegressionMixture(regressions=regressions, noise=noise, gate=coef[:, split:])

    def penalty(self, params: RegressionMixture) -> float:
        """Return ½ Σ_k α |w_k|² / σ_k², and the gate's ½ gate_alpha |v|²."""
        with np.errstate(over="ignore"):
            squares = (params.coef * self.root_alpha / np.sqrt(params.noise[:, None])) ** 2
        found = 0.5 * float(np.sum(check_coefficients(squares)))
        return found + 0.5 * (self.gate_alpha or 0.0) * float(np.sum(params.gate[:, 1:] ** 2))

    def _regression(self, factor: LinearFactor, before: LeastSquares) -> LeastSquares:
        """Return argmin_w Σ_n γ_n (y_n - f(x_n))² + α|w|²: by QR, the penalty as rows of its own."""
        if not float(factor.weight) > 0.0:
            return replace(before, rss=np.zeros(1))  # a component without rows stays
        if np.any(self.root_alpha > 0):
            penalty = np.column_stack([np.diag(self.root_alpha), np.zeros(len(self.root_alpha))])
            factor = replace(factor, factor=triangle(np.concatenate([factor.factor, penalty])))
        return least_squares(factor, fit_intercept=self.fit_intercept)

    def _noise(self, squares: np.ndarray, weight: np.ndarray, before: np.ndarray) -> np.ndarray:
        if self.shared:
            return np.full(len(weight), max(float(np.sum(squares) / np.sum(weight)), self.floor))
        own = np.where(weight > 0, squares / np.where(weight > 0, weight, 1.0), before)
        return np.maximum(own, self.floor)

    def _constant_gate(self, weight: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(weight / np.sum(weight))[:, None]

    def _gate(self, expected: ExpectedRegressions) -> np.ndarray:
        """Return a gate that fits the responsibilities better: one step of Newton's method (IRLS).

        The E-step has expanded the loss of the softmax regression at the gate of its parameters. A step is
        halved until the loss falls, so that EM stays monotone; EM goes on from there in its next iteration.
        """
        before, gate = expected.params, expected.gate
        if self.data is None or gate is None:
            return before.gate
        step = self.expect(before)
        coef = step.gate_loss.free_coef(before.gate)
        ridge = np.append(0.0, np.full(coef.shape[1] - 1, float(self.gate_alpha or 0.0)))

        def loss(value: float, b: np.ndarray) -> float:
            return value + 0.5 * float(np.sum(ridge * b * b))

        gradient = gate.gradient + ridge * coef
        curvature = gate.curvature + np.diag(np.tile(ridge, len(coef)))
        lower = jittered_cholesky(curvature, max_jitter=1.0).lower
        direction = solve_cholesky(lower, gradient.reshape(-1, 1)).reshape(coef.shape)
        here, slope = loss(float(gate.value), coef), float(np.sum(gradient * direction))
        least = LEAST_GATE_STEP * float(np.sum(expected.weight))
        for length, bound in armijo_steps(here, slope, least):
            if length * slope <= least:
                break
            there = coef - length * direction
            if loss(self.data.reduce(GateLoss(step=step, coef=there)), there) <= bound:
                return step.gate_loss.contrasts @ there
        return before.gate


def _as_vector(params: RegressionMixture) -> np.ndarray:
    """Return log noises, and for each component its intercept, coefficients and gate, as one vector."""
    coef = np.column_stack([params.intercept, params.coef, params.gate])
    return np.concatenate([np.log(params.noise), coef.reshape(-1)])


def as_target(y: Any) -> np.ndarray:
    """Return targets as a vector of numbers; refuse several."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y must be one target, of shape (n_samples,); got shape {y.shape}")
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers: {error}") from None


def summarize_rows(source: Source, n_components: int) -> RegressionSummary:
    """Summarise rows in one pass, and refuse those that no search can use."""
    found = fold(RegressionSummary.of, source)
    if not float(found.linear.weight) > 0.0:
        raise ValueError("sample_weight must have a positive entry, all are zero")
    if found.n_rows < n_components:
        raise ValueError(
            f"n_components={n_components} needs as many rows that count, but X has n_samples={found.n_rows}"
        )
    return found
