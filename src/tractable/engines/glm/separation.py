"""Whether a loss without a penalty has a minimum: directions along which it falls for ever."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import namespace_of, to_numpy
from tractable.engines.glm.losses import ClassLoss, Loss, Scaling, design
from tractable.engines.glm.problem import LinearPredictorProblem
from tractable.value import value

_EPS = float(np.finfo(np.float64).eps)
#: Margins so small, relative to the size of a row, may be meant to be zero.
NEAR = (1e-2, 1e-4, 1e-6, 1e-8)
#: Coefficients that lose all but this part when rows near a boundary are put on it separate nothing.
STORED = 1e-3
#: A margin above this many times rounding is positive.
CLEAR = 1e3


def separating_coef(problem: LinearPredictorProblem, candidates: list[np.ndarray]) -> np.ndarray | None:
    """Return coefficients along which the loss falls for ever, or None where no candidate leads to any.

    No row has a negative margin there (`Loss.margins`), and some have positive ones: hyperplanes separate
    classes (Albert and Anderson 1984), or counts of zero from others. A search without a minimum moves along
    such coefficients, up to what it has still to lose. So rows near a boundary are put on it exactly, and the
    margins of all rows are then computed: up to the rounding of its own terms, what is found is certain.

    Parameters
    ----------
    problem : LinearPredictorProblem
        Without a penalty.
    candidates : list of arrays (c, p)
        Where a search stopped, and the direction in which it went.
    """
    rounding = 8.0 * _EPS * (8 + problem.shape[1])
    options: Any = {"loss": problem.loss}
    for coef in candidates:
        unit = coef / _size(problem.loss, coef)
        low = problem.reduce(_Margins.of, coef=unit, **options).low
        if low > rounding:
            return unit
        for near in NEAR if problem.few_parameters else ():
            if low < -near:
                break
            boundary: _Boundary = problem.reduce(_Boundary.of, coef=unit, near=near, **options)
            cleaned = boundary.project(unit)
            size = _size(problem.loss, cleaned)
            if size < STORED:
                continue
            seen = problem.reduce(_Margins.of, coef=cleaned / size, **options)
            if seen.low >= -rounding and seen.high > CLEAR * rounding:
                return cleaned / size
    return None


def _size(loss: Loss, coef: np.ndarray) -> float:
    """Return the largest coefficient, of a class where there are classes."""
    return float(np.max(np.abs(loss.contrasts @ coef if isinstance(loss, ClassLoss) else coef)))


@value
class _Margins:
    """The smallest and the largest margin, relative to the sizes of the rows; they add."""

    low: float
    high: float

    @classmethod
    def of(cls, x: Any, y: Any, weights: Any = None, **options: Any) -> "_Margins":
        margins = _relative_margins(x, y, weights, **options)[1]
        if not margins.shape[0]:
            return cls(low=np.inf, high=-np.inf)
        xp = namespace_of(margins)
        return cls(low=float(xp.min(margins)), high=float(xp.max(margins)))

    def __add__(self, other: "_Margins") -> "_Margins":
        return _Margins(low=min(self.low, other.low), high=max(self.high, other.high))


@value
class _Boundary:
    """Rows near a boundary, each with the linear predictors that its margin is of: a triangular factor."""

    factor: np.ndarray  # (…, c p)

    @classmethod
    def of(
        cls, x: Any, y: Any, weights: Any = None, *, near: float, loss: Loss, coef: np.ndarray, **options: Any
    ) -> "_Boundary":
        z, margins, y = _relative_margins(x, y, weights, loss=loss, coef=coef, **options)
        close = np.abs(to_numpy(margins)) <= near
        z, (c, p) = to_numpy(z), coef.shape
        axes = [np.broadcast_to(axis, (len(z), c)) for axis in np.eye(c)]
        # Margins are linear in η, or absolute values of it: those of unit vectors.
        slopes = [to_numpy(loss.margins(axis[:, 0] if c == 1 else axis, to_numpy(y))) for axis in axes]
        rows, which = np.nonzero(close)
        each = np.stack(slopes, axis=-1)[rows, which]  # (…, c)
        products = (each[:, :, None] * z[rows][:, None, :]).reshape(-1, c * p)
        return cls(factor=np.linalg.qr(products, mode="r"))  # type: ignore[arg-type]

    def __add__(self, other: "_Boundary") -> "_Boundary":
        return _Boundary(factor=np.linalg.qr(np.concatenate([self.factor, other.factor]), mode="r"))  # type: ignore[arg-type]

    def project(self, coef: np.ndarray) -> np.ndarray:
        """Return the coefficients without what gives these rows a margin."""
        _, sizes, axes = np.linalg.svd(self.factor, full_matrices=False)
        axes = axes[sizes > 64.0 * _EPS * coef.size * np.max(sizes, initial=0.0)]
        flat = coef.reshape(-1)
        for _ in range(2):  # the second time for rounding
            flat = flat - axes.T @ (axes @ flat)
        return flat.reshape(coef.shape)


def _relative_margins(
    x: Any, y: Any, weights: Any, *, loss: Loss, scaling: Scaling, coef: np.ndarray
) -> tuple[Any, ...]:
    """Return rows z of unit size, their margins (n, m) along coefficients, and their targets."""
    x, y = (x, y) if weights is None else (x[weights > 0], y[weights > 0])
    y, _ = loss.targets(y)
    z = design(x, scaling, coef.shape[1])
    xp = namespace_of(z)
    size = xp.sum(xp.abs(z), axis=1, keepdims=True)
    z = z / xp.where(size > 0.0, size, 1.0)
    eta = z @ coef.T
    return z, loss.margins(eta[:, 0] if loss.n_predictors == 1 else eta, y), y
