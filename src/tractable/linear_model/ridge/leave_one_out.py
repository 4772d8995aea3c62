"""Leave-one-out and generalised cross-validation of ridge regression, for every penalty of a grid at once."""

from typing import Any

import numpy as np

from tractable.arrays.limits import check_squarable
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.base import Rows
from tractable.data import Source
from tractable.data.blocks import block_rows
from tractable.engines import LeastSquares, fold
from tractable.engines.long_rows import read_rows
from tractable.engines.spectrum import ColumnSpectrum, RowSpectrum
from tractable.linear_model.ridge.solution import Centering, dual_solution, primal_solution
from tractable.linear_model.rows import check_factor, linear_factor
from tractable.metrics.penalties import CVCurve
from tractable.primitives import SILENT
from tractable.primitives.threads import blas_for_columns
from tractable.statistics.rows import as_rows, counts
from tractable.value import value

#: What a penalty can be judged by.
METHODS = ("loo", "gcv")
#: One minus leverage that is rounding: such a row alone determines a direction and cannot be predicted.
DETERMINED = 1e-13


def leave_one_out_errors(residuals: Array, one_minus_leverage: Array, least: float = 0.0) -> Array:
    """Return the errors of rows that are left out of the fit, (y - ŷ) / (1 - h).

    ŷ is the fitted value and h the leverage of the row when it is not left out. The error is infinite where
    1 - h is at most `least`. Residuals are (n, t, k), of n rows and t targets for k penalties, and
    one_minus_leverage is (n, k).
    """
    xp = namespace_of(residuals)
    known = one_minus_leverage > least
    if bool(xp.all(known)):
        return residuals / one_minus_leverage[:, None, :]
    errors = residuals / xp.where(known, one_minus_leverage, 1.0)[:, None, :]
    return xp.where(known[:, None, :], errors, xp.inf)


@value
class LeftOutErrors:
    """Sums over rows, for every penalty: a statistic, which adds over blocks."""

    squares: Array  # (k,), of the squared leave-one-out errors, averaged over the targets
    fourths: Array  # (k,), of the squares of those averages
    rss: Array  # (t, k), of the squared residuals

    def __add__(self, other: "LeftOutErrors") -> "LeftOutErrors":
        return LeftOutErrors(
            squares=self.squares + other.squares,
            fourths=self.fourths + other.fourths,
            rss=self.rss + other.rss,
        )

    @classmethod
    @SILENT
    def of(cls, residuals: Array, errors: Array, weights: Array | None) -> "LeftOutErrors":
        """Sum residuals and leave-one-out errors, both (n, t, k)."""
        xp = namespace_of(residuals)
        squares = errors * errors
        squares = xp.mean(squares, axis=1) if squares.shape[1] > 1 else squares[:, 0, :]
        one = counts(weights, squares)
        n, *shape = residuals.shape
        rss = one @ xp.reshape(residuals * residuals, (n, -1))
        return cls(
            squares=one @ squares, fourths=one @ (squares * squares), rss=xp.reshape(rss, tuple(shape))
        )


@value
class LeaveOneOut:
    """The leave-one-out errors of a block of rows, for every penalty.

    Fitted values and leverages are two products of the rows in the basis V of the columns: with
    V s/(s² + α) Uᵀy and, squared, with 1/(s² + α). A row of weight w > 1 is left out one copy at a time; one
    that weighs less than one is left out whole.
    """

    centering: Centering
    basis: Array  # (p, r), V
    inverse: Array  # (r, k), 1 / (s² + α); zero in directions in which the columns do not vary
    gain: Array  # (r, t k), s/(s² + α) Uᵀy, over the scale of the targets
    target_scale: float  # targets and errors are divided by it
    weight: float  # of all rows

    @classmethod
    def at(
        cls, spectrum: ColumnSpectrum, centering: Centering, weight: float, target_scale: float, alphas: Array
    ) -> "LeaveOneOut":
        """Return the function for all penalties `alphas`, (k,)."""
        xp = namespace_of(alphas)
        # In directions in which the columns do not vary the rows have nothing but rounding.
        inverse = xp.where(spectrum.singular[:, None] > 0, spectrum.inverse(alphas), 0.0)
        gain = (spectrum.singular[:, None] * spectrum.projections)[:, :, None] * inverse[:, None, :]
        return cls(
            centering=centering,
            basis=spectrum.basis,
            inverse=inverse,
            gain=xp.reshape(gain, (gain.shape[0], -1)) / target_scale,
            target_scale=target_scale,
            weight=weight,
        )

    def __call__(self, x: Any, y: Any, weights: Any = None) -> LeftOutErrors:
        return LeftOutErrors.of(*self.errors(x, y, weights), weights)

    def errors(self, x: Any, y: Any, weights: Any = None) -> tuple[Array, Array]:
        """Return the residuals of rows, and their errors when they are left out, both (n, t, k)."""
        z = self.centering.columns(as_rows(x)) @ self.basis
        y = (_as_columns(y, z) - self.centering.offset) / self.target_scale
        xp = namespace_of(z)
        fitted = xp.reshape(z @ self.gain, (*y.shape, self.inverse.shape[1]))
        leverage = (z * z) @ self.inverse
        mean_leverage = self.centering.free_intercept / self.weight
        if weights is None:
            one_minus_leverage = (1.0 - mean_leverage) - leverage
        else:
            copy = xp.minimum(weights, xp.ones_like(weights))[:, None]
            one_minus_leverage = 1.0 - (mean_leverage + leverage) * copy
        residuals = y[:, :, None] - fitted
        return residuals, leave_one_out_errors(residuals, one_minus_leverage, DETERMINED)


@value
class PenaltySearch:
    """The scores of all penalties, and the solution for the best."""

    curve: CVCurve
    solution: LeastSquares
    flat: bool  # whether there is one target, given as a vector


def has_few_rows(data: Any) -> bool:
    """Return whether rows are in memory, and no more than their columns: penalties are scored by products."""
    return not isinstance(data, Source) and data.shape[0] <= data.shape[1]


def search(rows: Rows, alphas: np.ndarray, method: str, **intercept: bool) -> PenaltySearch:
    """Score every penalty on rows in memory or in a stream: two passes for "loo", one for "gcv".

    Parameters
    ----------
    rows : Rows
        X, y and weights.
    alphas : array (k,)
        The penalties.
    method : {"loo", "gcv"}
        What they are judged by.
    **intercept : bool
        `fit_intercept` and `penalize_intercept`.
    """
    if has_few_rows(rows.data):
        with blas_for_columns(rows.data.shape[0]):  # a system of the size of the rows
            return _few_rows(rows, alphas, method, **intercept)
    spectrum, centering, weight, flat = _column_spectrum(rows, alphas, **intercept)
    target_scale = _target_scale(spectrum, weight, alphas)
    penalties = _like(alphas, spectrum.basis)
    if method == "gcv":
        curve, rss = _gcv(alphas, spectrum, centering, weight)
    else:
        errors = fold(
            LeaveOneOut.at(spectrum, centering, weight, target_scale, penalties),
            rows.data,
            rows.y,
            weights=rows.weights,
            # The cache holds the rows, their projections and squares, and the errors of all penalties.
            rows=block_rows(2 * (spectrum.basis.shape[0] + len(alphas))),
            label="leaving out",
        )
        curve, rss = _loo(alphas, errors, weight, target_scale), errors.rss * target_scale**2
    solution = primal_solution(spectrum, centering, weight, curve.best_alpha, rss[:, curve.best])
    return PenaltySearch(curve=curve, solution=solution, flat=flat)


def left_out_errors(rows: Rows, alphas: np.ndarray, **intercept: bool) -> np.ndarray:
    """Return the leave-one-out errors (n, t, k) of rows in memory, for every target and penalty.

    `intercept` are `fit_intercept` and `penalize_intercept`. Rows of weight zero are left out of every fit.
    """
    if not has_few_rows(rows.data):
        spectrum, centering, weight, _ = _column_spectrum(rows, alphas, **intercept)
        scale = _target_scale(spectrum, weight, alphas)
        of = LeaveOneOut.at(spectrum, centering, weight, scale, alphas)
        return scale * of.errors(rows.data, rows.y, rows.weights)[1]
    counted = np.ones(len(rows.data), dtype=bool) if rows.weights is None else rows.weights > 0.0
    few, centering, weight, weights = _row_spectrum(rows, alphas, **intercept)
    scale = _target_scale(few, weight, alphas)
    y = _as_columns(rows.y, rows.data)
    found = np.empty((*y.shape, len(alphas)))
    found[counted] = scale * leave_one_out_errors(*_row_errors(few, alphas, scale, weights))
    for k, alpha in enumerate(alphas):
        fitted = centering.columns(as_rows(rows.data[~counted])) @ few.coefficients(few.dual(float(alpha)))
        found[~counted, :, k] = y[~counted] - centering.offset - fitted
    return found


def _column_spectrum(
    rows: Rows, alphas: np.ndarray, **intercept: bool
) -> tuple[ColumnSpectrum, Centering, float, bool]:
    """Decompose the columns of many rows, by the products of their factor where that is safe."""
    statistic = check_factor(linear_factor(rows))
    if intercept["fit_intercept"] and not intercept["penalize_intercept"]:
        statistic = statistic.without_constant_columns()
    centering = Centering.of(statistic.mean, statistic.n_targets, **intercept)
    factor = centering.factor(statistic)
    p = factor.shape[1] - statistic.n_targets
    varies = namespace_of(factor).any(factor[:, :p] != 0, axis=0)
    with blas_for_columns(p):
        spectrum = ColumnSpectrum.from_scatter(_products(factor), varies, float(alphas.min()))
    if spectrum is None:
        spectrum = ColumnSpectrum.of(factor[:, :p], factor[:, p:])
    return spectrum, centering, float(statistic.weight), statistic.flat


@SILENT
def _products(factor: Array) -> Array:
    return factor.T @ factor


def _few_rows(rows: Rows, alphas: np.ndarray, method: str, **intercept: bool) -> PenaltySearch:
    """Search in the space of the rows; those of weight zero are left out."""
    spectrum, centering, total, weights = _row_spectrum(rows, alphas, **intercept)
    target_scale = _target_scale(spectrum, total, alphas)
    if method == "gcv":
        curve, _ = _gcv(alphas, spectrum, centering, total)
    else:
        residuals, one_minus_leverage = _row_errors(
            spectrum, _like(alphas, spectrum.basis), target_scale, weights
        )
        errors = leave_one_out_errors(residuals, one_minus_leverage)
        curve = _loo(alphas, LeftOutErrors.of(residuals, errors, weights), total, target_scale)
    solution = dual_solution(spectrum, centering, total, curve.best_alpha)
    return PenaltySearch(curve=curve, solution=solution, flat=rows.y.ndim == 1)


def _row_spectrum(
    rows: Rows, alphas: np.ndarray, **intercept: bool
) -> tuple[RowSpectrum, Centering, float, Array | None]:
    """Decompose few rows, those of positive weight."""
    x, y, weights = _counted(rows)
    xp = namespace_of(x)
    one = counts(weights, y)
    root, total = xp.sqrt(one), float(xp.sum(one))
    d, penalised = x.shape[1], intercept["penalize_intercept"]
    if penalised:
        x = xp.concat([xp.ones_like(x[:, :1]), x], axis=1)
    centred = intercept["fit_intercept"] and not penalised
    mean, columns, products = read_rows(x, weights, centred=centred)
    centering = Centering.of(xp.concat([mean[:d], one @ y / total]), int(y.shape[1]), **intercept)
    # Rounding of the means moves rows along `free` alone, which the decomposition leaves out.
    free = root / total**0.5 if centering.free_intercept else None
    targets = (y - centering.offset) * root[:, None]
    spectrum = RowSpectrum.of(columns, targets, float(alphas.min()), free, products)
    return spectrum, centering, total, weights


def _counted(rows: Rows) -> tuple[Array, Array, Array | None]:
    x, weights = as_rows(rows.data), rows.weights
    xp = namespace_of(x)
    y = _as_columns(rows.y, x)
    if weights is not None and not bool(xp.all(weights > 0)):
        counted = xp.nonzero(weights > 0)[0]
        x, y, weights = (xp.take(part, counted, axis=0) for part in (x, y, weights))
    return x, y, weights


def _row_errors(
    spectrum: RowSpectrum, alphas: Array, target_scale: float, weights: Array | None
) -> tuple[Array, Array]:
    """Return the residuals of few rows, over the scale of the targets, and one minus their leverages."""
    residuals, one_minus_leverage = spectrum.row_residuals(alphas)
    residuals = residuals / target_scale
    if weights is not None:
        xp = namespace_of(alphas)
        # Of a row of weight w > 1 one copy is left out, whose leverage is h/w.
        copies = xp.where(weights > 1.0, weights, xp.ones_like(weights))[:, None]
        residuals = residuals / xp.sqrt(weights)[:, None, None]
        one_minus_leverage = (1.0 - 1.0 / copies) + one_minus_leverage / copies
    return residuals, one_minus_leverage


def _loo(alphas: np.ndarray, errors: LeftOutErrors, weight: float, target_scale: float) -> CVCurve:
    """Return the mean squared leave-one-out error of every penalty, with its standard error."""
    squares, fourths = to_numpy(errors.squares), to_numpy(errors.fourths)
    scores = squares / weight
    with np.errstate(invalid="ignore"):
        variance = np.maximum(fourths / weight - scores**2, 0.0) / max(weight - 1.0, 1.0)
    return CVCurve(
        alphas=alphas,
        scores=scores * target_scale**2,
        standard_errors=np.sqrt(variance) * target_scale**2,
        method="loo",
    )


def _gcv(alphas: np.ndarray, spectrum: Any, centering: Centering, weight: float) -> tuple[CVCurve, Array]:
    """Return (rss / n) / (1 - Tr H / n)² for every penalty, and the residual sums of squares, (t, k)."""
    rss, shrinkage = spectrum.residuals(_like(alphas, spectrum.projections))
    left = weight - centering.free_intercept - spectrum.projections.shape[0] + to_numpy(shrinkage)  # n - Tr H
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = weight * to_numpy(rss).mean(axis=0) / left**2
    return CVCurve(alphas=alphas, scores=scores, method="gcv"), rss


def _target_scale(spectrum: Any, weight: float, alphas: np.ndarray) -> float:
    """Return the root mean square of the largest target, or one: over it, fourth powers do not overflow."""
    target_scale = float(namespace_of(spectrum.projections).max(spectrum.target_lengths)) / weight**0.5 or 1.0
    check_squarable("y", target_scale, nonzero=True)
    if float(alphas.min()) == 0.0:
        check_squarable("X", spectrum.largest, nonzero=True)
    return target_scale


def _as_columns(y: Any, like: Array) -> Array:
    xp = namespace_of(like)
    y = xp.astype(xp.asarray(y), xp.float64)
    return y[:, None] if y.ndim == 1 else y


def _like(alphas: np.ndarray, x: Array) -> Array:
    xp = namespace_of(x)
    return xp.asarray(alphas, dtype=xp.float64, device=device(x))
