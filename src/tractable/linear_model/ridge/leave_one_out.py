"""How well every penalty of a grid predicts the rows it leaves out, and the solution of the best."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.base import Rows
from tractable.data import Source
from tractable.data.blocks import block_rows
from tractable.engines import fold
from tractable.linear_model.cv_curve import CVCurve
from tractable.linear_model.noise_floor import LARGE
from tractable.linear_model.ridge.solution import RidgeSolution, place
from tractable.linear_model.ridge.spectrum import (
    DualSpectrum,
    LeftOutErrors,
    PrimalSpectrum,
    column_sums,
    dual_spectrum,
    penalised_rows,
)
from tractable.linear_model.rows import blas_for
from tractable.primitives.threads import single_threaded_blas
from tractable.statistics import LinearFactor, Moments
from tractable.statistics.rows import as_rows
from tractable.value import value

__all__ = ["METHODS", "Found", "search"]


@value
class Found:
    """What a search found."""

    curve: CVCurve
    solution: RidgeSolution
    flat: bool


def search(rows: Rows, alphas: np.ndarray, method: str, **intercept: bool) -> Found:
    """Judge every penalty on rows in memory or in a stream: two passes, or one for GCV.

    Parameters
    ----------
    rows : Rows
    alphas : array (k,)
    method : {"loo", "gcv"}
    **intercept
        `fit_intercept` and `penalize_intercept`.
    """
    if not isinstance(rows.data, Source) and rows.data.shape[0] <= rows.data.shape[1]:
        # One thread decomposes few rows sooner than several; products run on all cores by blocks of columns.
        with single_threaded_blas():
            return _few_rows(rows, alphas, method, **intercept)
    with blas_for(rows):
        return _many_rows(rows, alphas, method, **intercept)


def _many_rows(rows: Rows, alphas: np.ndarray, method: str, **intercept: bool) -> Found:
    """Search in the space of the columns."""
    spectrum, flat = _decomposed(rows, alphas, method, **intercept)
    xp = namespace_of(spectrum.singular)
    _check_sizes(float(xp.max(spectrum.singular)), spectrum.unit, alphas)
    penalties = _like(alphas, spectrum.basis)
    if method == "gcv":
        squares, left = spectrum.squares(penalties)
        curve = _gcv(alphas, squares, left, spectrum.weight)
    else:
        errors = fold(
            spectrum.left_out(penalties),
            rows.data,
            rows.y,
            weights=rows.weights,
            # Beside the rows, the cache holds them turned and squared, and the errors of all penalties.
            rows=block_rows(2 * (spectrum.basis.shape[0] + len(alphas))),
            label="leaving out",
        )
        squares = errors.residual * spectrum.unit**2
        curve = _loo(alphas, errors, spectrum.weight, spectrum.unit)
    solution = spectrum.solution(curve.best_alpha, squares[:, curve.best])
    return Found(curve=curve, solution=solution, flat=flat)


def _decomposed(
    rows: Rows, alphas: np.ndarray, method: str, **intercept: bool
) -> tuple[PrimalSpectrum, bool]:
    """Decompose many rows: by their scatter where that is safe and rows are read again, else by QR."""
    centred = intercept["fit_intercept"] and not intercept["penalize_intercept"]
    if method == "loo" and centred and not isinstance(rows.data, Source):
        n_targets = 1 if rows.y.ndim == 1 else int(rows.y.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            moments = fold(_moments, rows.data, rows.y, weights=rows.weights)
        placement = place(moments.mean, n_targets, **intercept)
        spectrum = PrimalSpectrum.of_moments(moments, placement, float(alphas.min()))
        if spectrum is not None:
            return spectrum, rows.y.ndim == 1
    statistic = fold(LinearFactor.of, rows.data, rows.y, weights=rows.weights)
    placement = place(statistic.mean, statistic.n_targets, **intercept)
    with np.errstate(over="ignore"):
        return PrimalSpectrum.of_factor(statistic, placement), statistic.flat


def _moments(x: Any, y: Any, weights: Any = None) -> Moments:
    xp = namespace_of(x)
    x, y = as_rows(x), xp.astype(xp.asarray(y), xp.float64)
    # What overflows here has a triangular factor still.
    with np.errstate(over="ignore", invalid="ignore"):
        return Moments.of(xp.concat([x, y[:, None] if y.ndim == 1 else y], axis=1), weights)


def _few_rows(rows: Rows, alphas: np.ndarray, method: str, **intercept: bool) -> Found:
    """Search in the space of the rows; those that do not count are left aside."""
    x, y, weights = _counted(rows)
    xp = namespace_of(x)
    root = xp.ones_like(y[:, 0]) if weights is None else xp.sqrt(weights)
    total = float(root @ root)
    mean = xp.concat([column_sums(x, root * root), (root * root) @ y]) / total
    placement = place(mean, int(y.shape[1]), **intercept)
    columns, targets = penalised_rows(x, placement, None if weights is None else root), y - placement.offset
    targets = targets if weights is None else targets * root[:, None]
    # Rounding of the means moves rows along `free` alone, which the decomposition leaves out.
    free = root / total**0.5 if placement.n_located else None
    spectrum = dual_spectrum(columns, targets, placement, total, float(alphas.min()), free)
    reach = float(xp.max(spectrum.eigenvalues)) ** 0.5 or float(xp.max(xp.abs(columns)))
    _check_sizes(reach, spectrum.unit, alphas)
    penalties = _like(alphas, x)
    if method == "gcv":
        curve = _gcv(alphas, *spectrum.squares(penalties), total)
    else:
        curve = _loo(alphas, _left_out(spectrum, penalties, weights), total, spectrum.unit)
    return Found(curve=curve, solution=spectrum.solution(curve.best_alpha), flat=rows.y.ndim == 1)


def _counted(rows: Rows) -> tuple[Array, Array, Array | None]:
    x, weights = as_rows(rows.data), rows.weights
    xp = namespace_of(x)
    y = xp.astype(xp.asarray(rows.y), xp.float64)
    y = y[:, None] if y.ndim == 1 else y
    if weights is not None and not bool(xp.all(weights > 0)):
        kept = xp.nonzero(weights > 0)[0]
        x, y, weights = (xp.take(part, kept, axis=0) for part in (x, y, weights))
    return x, y, weights


def _left_out(spectrum: DualSpectrum, alphas: Array, weights: Array | None) -> LeftOutErrors:
    """Leave-one-out errors without cancellation: residuals and 1 - leverage are both sums of α / (λ + α)."""
    xp = namespace_of(alphas)
    residuals, stays = spectrum.residuals(alphas)
    residuals = residuals / spectrum.unit
    if weights is None:
        return LeftOutErrors.of(residuals, stays, 0.0, None)
    # Of a row that counts w > 1 times one copy is left out: 1 - h = 1 - (1 - stays)/w.
    copies = xp.where(weights > 1.0, weights, xp.ones_like(weights))[:, None]
    each = residuals / xp.sqrt(weights)[:, None, None]
    return LeftOutErrors.of(each, (1.0 - 1.0 / copies) + stays / copies, 0.0, weights)


def _loo(alphas: np.ndarray, errors: LeftOutErrors, weight: float, unit: float) -> CVCurve:
    squares, fourths = to_numpy(errors.squares), to_numpy(errors.fourths)
    scores = squares / weight
    with np.errstate(invalid="ignore"):
        spread = np.maximum(fourths / weight - scores**2, 0.0) / max(weight - 1.0, 1.0)
    return CVCurve(
        alphas=alphas, scores=scores * unit**2, standard_errors=np.sqrt(spread) * unit**2, method="loo"
    )


def _gcv(alphas: np.ndarray, squares: Array, left: Array, weight: float) -> CVCurve:
    """(Σ r² / n) / (1 - Tr H / n)², the denominator squared."""
    squares, left = to_numpy(squares), to_numpy(left)
    with np.errstate(divide="ignore", invalid="ignore"):
        return CVCurve(alphas=alphas, scores=weight * squares.mean(axis=0) / left**2, method="gcv")


def _check_sizes(wide: float, tall: float, alphas: np.ndarray) -> None:
    """Refuse what cannot be squared: columns of such a reach, or targets of such a size."""
    small = 0.0 < wide < 1.0 / LARGE and float(alphas.min()) == 0.0
    if small or not wide < LARGE:
        raise ValueError(f"X must be in units nearer to one: of a size of {wide:.1g}, it has no squares")
    if not 1.0 / LARGE < tall < LARGE:
        raise ValueError(f"y must be in units nearer to one: of a size of {tall:.1g}, it has no squares")


def _like(alphas: np.ndarray, x: Array) -> Array:
    xp = namespace_of(x)
    return xp.asarray(alphas, dtype=xp.float64, device=device(x))


#: What a penalty can be judged by.
METHODS = ("loo", "gcv")
