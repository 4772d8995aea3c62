"""Units in which a mixture of regressions is searched: columns and targets of mean 0 and spread 1."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.special import log_sum_exp
from tractable.base import Rows
from tractable.engines import LeastSquares, fold, least_squares
from tractable.engines.glm import LossExpansion, softmax_regression
from tractable.mixture.regression.model import RegressionMixture
from tractable.primitives.linear import triangle
from tractable.statistics import LinearFactor
from tractable.statistics.rows import as_rows
from tractable.value import replace, value

__all__ = ["ExpectedPlanes", "RegressionProblem", "RegressionUnits", "survey"]

#: A spread of fewer roundings than these of a column's mean is no spread.
ROUNDINGS = 16.0


@value
class RegressionUnits:
    """The search runs on (x - shift) / spread and (y - middle) / width.

    Parameters
    ----------
    shift, spread : array (d,)
        The spread of a column that never varies is infinite: in these units it is zero.
    middle, width : float
        Of the targets.
    located : bool
        Whether planes have an intercept; without one nothing is shifted.
    plane : LeastSquares
        The one plane of least squares, in these units.
    total : float
        Weight of the rows.
    """

    shift: np.ndarray
    spread: np.ndarray
    middle: float
    width: float
    located: bool
    plane: LeastSquares
    total: float

    def columns(self, x: Any) -> np.ndarray:
        """Return rows in these units."""
        return (as_rows(x) - self.shift) / self.spread

    def targets(self, y: Any) -> np.ndarray:
        """Return targets in these units."""
        return (one_target(y) - self.middle) / self.width

    def slopes(self, coef: np.ndarray) -> np.ndarray:
        """Return coefficients (K, d) of planes in the units of the rows."""
        return coef * self.width / self.spread

    def heights(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Return the intercepts (K,) of planes in the units of the rows."""
        return self.middle + self.width * intercept - self.slopes(coef) @ self.shift


@value
class _Survey:
    """The linear statistic of rows, and how many of them count."""

    linear: LinearFactor
    n_rows: int

    @classmethod
    def of(cls, x: Any, y: Any, weights: Any = None) -> "_Survey":
        found = LinearFactor.of(x, one_target(y), weights)
        return cls(linear=found, n_rows=len(x) if weights is None else int(np.sum(np.asarray(weights) > 0)))

    def __add__(self, other: "_Survey") -> "_Survey":
        return _Survey(linear=self.linear + other.linear, n_rows=self.n_rows + other.n_rows)


def survey(rows: Rows, n_components: int, *, fit_intercept: bool) -> RegressionUnits:
    """Look at the rows once, and refuse those that no search can use."""
    if rows.y is None and not hasattr(rows.data, "batches"):
        raise ValueError("y must be given")
    found = fold(_survey_of, rows.data, rows.y, weights=rows.weights)
    if not float(found.linear.weight) > 0.0:
        raise ValueError("sample_weight must have a positive entry, all are zero")
    if found.n_rows < n_components:
        raise ValueError(
            f"n_components={n_components} needs as many rows that count, but X has n_samples={found.n_rows}"
        )
    return _units(found.linear, fit_intercept=fit_intercept)


def _survey_of(x: Any, y: Any = None, weights: Any = None) -> _Survey:
    if y is None:
        raise ValueError("y must be given: X is a source without a target")
    return _Survey.of(x, y, weights)


def _units(linear: LinearFactor, *, fit_intercept: bool) -> RegressionUnits:
    total, d = float(linear.weight), linear.dim
    spread = _lengths(linear.factor) / np.sqrt(total)
    whole = np.hypot(spread, linear.mean)  # about the origin
    varies = spread > ROUNDINGS * np.finfo(float).eps * np.abs(linear.mean)
    if not fit_intercept:
        spread, varies = whole, whole > 0
    shift = linear.mean if fit_intercept else np.zeros(d + 1)
    columns = np.where(varies[:d], spread[:d], np.inf)
    width = float(spread[d]) if varies[d] else float(whole[d]) or 1.0
    _check_width(width)
    scale = np.append(columns, width)
    standard = replace(linear, mean=(linear.mean - shift) / scale, factor=linear.factor / scale)
    return RegressionUnits(
        shift=shift[:d],
        spread=columns,
        middle=float(shift[d]),
        width=width,
        located=fit_intercept,
        plane=least_squares(standard, fit_intercept=fit_intercept),
        total=total,
    )


def one_target(y: Any) -> np.ndarray:
    """Return targets as a vector; refuse several."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y must be one target, of shape (n_samples,); got shape {y.shape}")
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers: {error}") from None


def _check_width(width: float) -> None:
    limits = np.finfo(float)
    if not limits.tiny / limits.eps < width * width < limits.max * limits.eps:
        raise ValueError("y varies by so much, or so little, that its square is no number; rescale it")


def _lengths(factor: np.ndarray) -> np.ndarray:
    """Return the lengths of columns, without overflow."""
    peak = np.max(np.abs(factor), axis=0, initial=0.0)
    peak = np.where(peak > 0, peak, 1.0)
    return peak * np.sqrt(np.sum((factor / peak) ** 2, axis=0))


#: Responsibilities below exp(-230) count for nothing.
LEAST_SHARE = 1e-100

#: How far apart the logits of two planes are where a search begins, at most, in standard deviations.
GATE_REACH = 4.0

#: Newton steps of the gate in one M-step: it need only climb.
GATE_STEPS = 2


@value
class ExpectedPlanes:
    """What the E-step expects of the rows: a linear statistic for every plane, with shares for weights."""

    params: RegressionMixture
    factors: tuple[LinearFactor, ...]
    log_likelihood: float  # of the rows, in their own units
    penalty: float  # taken off once, however many statistics are added

    @property
    def objective(self) -> float:
        """The penalised log-likelihood."""
        return self.log_likelihood - self.penalty

    @property
    def mass(self) -> np.ndarray:
        """N_k: how many rows each plane is expected to have, (K,)."""
        return np.array([float(factor.weight) for factor in self.factors])

    def __add__(self, other: "ExpectedPlanes") -> "ExpectedPlanes":
        return replace(
            self,
            factors=tuple(a + b for a, b in zip(self.factors, other.factors, strict=True)),
            log_likelihood=self.log_likelihood + other.log_likelihood,
        )


@value
class RegressionProblem:
    """Rows, and the pure steps of a search over them, in units of `units`.

    Parameters
    ----------
    rows : Rows
    units : RegressionUnits
    n_components : int
    root_alpha : array (d,)
        The root of the price of squared coefficients, in these units and in units of each noise.
    shared : bool
        Whether all planes have one noise.
    floor : float
        The least noise.
    gate_alpha : float, optional
        Price of squared coefficients of the gate; without it the shares are constant.
    """

    rows: Rows
    units: RegressionUnits
    n_components: int
    root_alpha: np.ndarray
    shared: bool
    floor: float
    gate_alpha: float | None = None

    @property
    def total(self) -> float:
        """Weight of the rows."""
        return self.units.total

    def start(self, rng: np.random.Generator) -> RegressionMixture:
        """Return planes scattered about the one of least squares, as far as its residuals reach.

        Random slopes in directions in which the rows vary alike: the planes differ by the residuals' spread.
        """
        plane, k, located = self.units.plane, self.n_components, self.units.located
        reach = np.sqrt(max(float(plane.sigma2_ml[0]), self.floor))
        apart = rng.random() if located else 0.0  # how much planes differ in height, and not in slope
        lifts = np.sqrt(apart) * reach * rng.standard_normal(k)
        draws = np.sqrt((1.0 - apart) / max(plane.rank, 1)) * reach * rng.standard_normal((k, plane.rank))
        tilts = np.sqrt(self.total) * draws @ plane.spread.T
        found = self.begin(plane.coef + tilts, plane.intercept + lifts - tilts @ plane.centre)
        if self.gate_alpha is None:
            return found
        # A gate that parts the rows, more or less sharply: planes may differ in where they are, too.
        sharp = GATE_REACH * rng.random() / np.sqrt(max(plane.rank, 1))
        slopes = sharp * np.sqrt(self.total) * rng.standard_normal((k, plane.rank)) @ plane.spread.T
        slopes -= slopes.mean(axis=0)
        return replace(found, gate=np.column_stack([-slopes @ plane.centre, slopes]))

    def begin(self, coef: np.ndarray, intercept: np.ndarray) -> RegressionMixture:
        """Return given planes with equal shares and the noise of the one plane."""
        k, plane = self.n_components, self.units.plane
        noise = max(float(plane.sigma2_ml[0]), self.floor)
        return RegressionMixture(
            planes=tuple(
                replace(
                    plane, coef=coef[[i]], intercept=intercept[[i]], offset=_offset(plane, coef, intercept, i)
                )
                for i in range(k)
            ),
            noise=np.full(k, noise),
            gate=np.zeros((k, 1 if self.gate_alpha is None else 1 + plane.coef.shape[1]))
            + (-np.log(k) if self.gate_alpha is None else 0.0),
        )

    def expect(self, params: RegressionMixture) -> ExpectedPlanes:
        """Return the expected statistics of all rows: one pass."""
        return fold(
            partial(self.expect_block, params), self.rows.data, self.rows.y, weights=self.rows.weights
        )

    def expect_block(self, params: RegressionMixture, x: Any, y: Any, weights: Any = None) -> ExpectedPlanes:
        """Return the expected statistics of a block: γ_ki ∝ π_k(x_i) N(y_i | f_k(x_i), σ_k²)."""
        x, y, shares, log_p = self._shares(params, x, y)
        w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
        counted = np.where(shares > LEAST_SHARE, shares, 0.0) * w[:, None]
        return ExpectedPlanes(
            params=params,
            factors=tuple(LinearFactor.of(x, y, column) for column in counted.T),
            log_likelihood=float(w @ log_p) - float(np.sum(w)) * float(np.log(self.units.width)),
            penalty=self.penalty(params),
        )

    def maximize(self, expected: ExpectedPlanes) -> RegressionMixture:
        """Return the planes of weighted least squares, their noise, and the shares."""
        before, mass = expected.params, expected.mass
        planes = tuple(
            self._plane(factor, old) for factor, old in zip(expected.factors, before.planes, strict=True)
        )
        # What least squares leaves is Σ_i γ_ki (y_i - f_k(x_i))², and the penalty with it.
        squares = np.array([float(plane.residual[0]) for plane in planes])
        return RegressionMixture(
            planes=planes,
            noise=self._noise(squares, mass, before.noise),
            gate=self._constant_gate(mass) if self.gate_alpha is None else self._gate(before),
        )

    def penalty(self, params: RegressionMixture) -> float:
        """Return ½ Σ_k α |w_k|² / σ_k², and the gate's ½ gate_alpha |v|²."""
        of_planes = 0.5 * float(np.sum((params.coef * self.root_alpha) ** 2 / params.noise[:, None]))
        return of_planes + 0.5 * (self.gate_alpha or 0.0) * float(np.sum(params.gate[:, 1:] ** 2))

    def _shares(
        self, params: RegressionMixture, x: Any, y: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        x, y = self.units.columns(x), self.units.targets(y)
        joint = params.log_joint(x, y)
        log_p = log_sum_exp(joint)
        return x, y, np.exp(joint - log_p[:, None]), log_p

    def _plane(self, factor: LinearFactor, before: LeastSquares) -> LeastSquares:
        """Return argmin_w Σ_i γ_i (y_i - f(x_i))² + α|w|²: by QR, the penalty as rows of its own."""
        if not float(factor.weight) > 0.0:
            return replace(before, residual=np.zeros(1))  # no row is left to move it
        if np.any(self.root_alpha > 0):
            prices = np.column_stack([np.diag(self.root_alpha), np.zeros(len(self.root_alpha))])
            factor = replace(factor, factor=triangle(np.concatenate([factor.factor, prices])))
        return least_squares(factor, fit_intercept=self.units.located)

    def _noise(self, squares: np.ndarray, mass: np.ndarray, before: np.ndarray) -> np.ndarray:
        if self.shared:
            return np.full(len(mass), max(float(np.sum(squares) / np.sum(mass)), self.floor))
        own = np.where(mass > 0, squares / np.where(mass > 0, mass, 1.0), before)
        return np.maximum(own, self.floor)

    def _constant_gate(self, mass: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(mass / np.sum(mass))[:, None]

    def _gate(self, before: RegressionMixture) -> np.ndarray:
        """Return a gate that explains the responsibilities better: softmax regression on them (IRLS)."""

        def walk(of: Callable[..., LossExpansion]) -> LossExpansion:
            def shared_out(x: Any, y: Any, weights: Any = None) -> LossExpansion:
                x, _, shares, _ = self._shares(before, x, y)
                return of(x, shares, weights=weights)

            return fold(shared_out, self.rows.data, self.rows.y, weights=self.rows.weights)

        k, p = before.gate.shape
        found = softmax_regression(
            walk, k, p - 1, penalty=self.gate_alpha, start=before.gate, max_iter=GATE_STEPS
        )
        return np.column_stack([found.intercept, found.coef])


def _offset(plane: LeastSquares, coef: np.ndarray, intercept: np.ndarray, i: int) -> np.ndarray:
    return intercept[[i]] + coef[[i]] @ plane.centre
