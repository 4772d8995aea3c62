"""The state of a descent by gradient steps, and steps that are safe."""

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.linear_model.leftover import Leftover
from tractable.primitives.gradient_pass import gradient_pass
from tractable.value import value

__all__ = ["Descent", "Scaling", "auto_step", "check_course", "check_targets", "stable_step"]

#: Sizes of which the squares are numbers, and their sums.
_LARGE = 1e150
#: Errors this many times the targets are on their way to infinity.
_TOO_FAR = 1e3
#: Squared errors this small beside squared targets are rounding, and may rise and fall.
_ROUNDED = 1e-20
#: Errors this many times those of a constant are no better; steps among mere noise err a little more than it.
_NO_BETTER = 1.5
#: Errors with such a cosine to a feature are not yet those of least squares,
_FOLLOWS = 0.5
#: unless they are this small beside the targets.
_LITTLE = 1e-4


@value
class Scaling:
    """The columns that steps are taken in: [1, (x - centre) / scale]."""

    centre: np.ndarray  # (d,)
    scale: np.ndarray  # (d,)
    n_located: int

    @classmethod
    def of(cls, X: np.ndarray, w: np.ndarray, *, standardize: bool, fit_intercept: bool) -> "Scaling":
        """Learn the scaling from rows; without `standardize` it changes nothing."""
        centre, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if standardize:
            centre = w @ X / w.sum()
            size = np.abs(X - centre).max(axis=0)
            size[size == 0.0] = 1.0
            scale = size * np.sqrt(w @ ((X - centre) / size) ** 2 / w.sum())
            scale[scale == 0.0] = 1.0
            centre = centre if fit_intercept else 0.0 * centre
        return cls(centre=centre, scale=scale, n_located=int(fit_intercept))

    def features(self, X: np.ndarray) -> np.ndarray:
        """Return φ for each row."""
        columns = (X - self.centre) / self.scale
        return np.column_stack([np.ones(len(X)), columns]) if self.n_located else columns

    def in_units(self, w: np.ndarray) -> tuple[np.ndarray, float]:
        """Return coefficients and intercept in the units of X."""
        coef = w[self.n_located :] / self.scale
        return coef, float(w[0] - self.centre @ coef) if self.n_located else 0.0


@value
class Descent:
    """Where a descent is: the weights, the sum of those before, and how large the targets were."""

    step: Any  # a number, or a function of the number of the update
    w: np.ndarray  # (p,)
    total: np.ndarray  # (p,)
    n_summed: int
    n_steps: int
    power: float  # largest mean square of the targets of a block

    @classmethod
    def at_rest(cls, p: int, step: float | Callable[[int], float]) -> "Descent":
        """Begin with weights of zero."""
        zeros = np.zeros(p)
        return cls(step=step, w=zeros, total=zeros, n_summed=0, n_steps=0, power=0.0)

    @property
    def average(self) -> np.ndarray:
        """The mean of the weights after each update."""
        return self.total / self.n_summed if self.n_summed else self.w

    def walked(
        self, phi: np.ndarray, y: np.ndarray, w: np.ndarray, batch_size: int
    ) -> tuple["Descent", float]:
        """Return the descent after the batches of a block, and the summed squared error on the way."""
        n = -(-len(y) // batch_size)
        numbers = range(self.n_steps + 1, self.n_steps + n + 1)
        steps = np.array([_stepped(self.step, k) for k in numbers])
        with np.errstate(over="ignore", invalid="ignore"):
            moved, total, loss = gradient_pass(phi, y, w, steps, batch_size, self.w)
        after = Descent(
            step=self.step,
            w=moved,
            total=self.total + total,
            n_summed=self.n_summed + n,
            n_steps=self.n_steps + n,
            power=max(self.power, float(w @ y**2 / len(y))),
        )
        return after, float(loss)

    def sound(self, loss: float) -> bool:
        """Whether the weights are finite and the mean squared error is not on its way to infinity."""
        return bool(np.all(np.isfinite(self.w)) and loss <= _TOO_FAR**2 * self.power)


def check_targets(y: np.ndarray) -> None:
    """Refuse targets of which the squared errors are no numbers."""
    size = float(np.max(np.abs(y), initial=0.0))
    if size > _LARGE:
        raise ValueError(f"y must be in units nearer to one: of a size of {size:.1g}, its squares overflow")


def _stepped(step: Any, k: int) -> float:
    """Return the step of the k-th update, or say that a schedule gave none."""
    if not callable(step):
        return float(step)
    given = step(k)
    if not (isinstance(given, Real) and 0.0 <= float(given) < np.inf):
        raise ValueError(f"step must give positive, finite numbers, got {given!r} for update {k}")
    return float(given)


def check_course(losses: np.ndarray, at_rest: float, level: float, left: Leftover, *, bound: str) -> None:
    """Refuse a descent that ended further off than it began, and say where one has not come to an end.

    `losses` are the mean squared errors of the epochs, `at_rest` that of weights of zero, `level` that of the
    best constant, and `left` is what the plane that was learned leaves. Steps that keep no plane at all
    wander at some level above it, up and down; those that only need more of them fall, epoch for epoch.
    """
    level = max(level, _ROUNDED * at_rest)
    last, lowest = losses[-1], losses[:-1].min(initial=np.inf)
    if last > 4.0 * at_rest or (last > 4.0 * level and last > lowest):
        raise ValueError(
            f"step is too large: the mean squared error of the last epoch, {last:.3g}, is far above that of "
            f"a constant, {level:.3g}. {bound}"
        )
    falls = -np.diff(losses[-6:])
    if not len(falls):
        return
    if last > 4.0 * level or np.all(falls > 1e-3 * max(level, last)):
        _warn(
            f"its mean squared error still fell from {losses[-2]:.3g} to {last:.3g} in the last epoch; raise "
            "n_epochs or step, or try standardize=True"
        )
    elif last > _NO_BETTER * level:
        _warn(
            f"the mean squared error of the last epoch, {last:.3g}, is above that of a constant, "
            f"{level:.3g}; smaller or falling steps, or average=True, come nearer"
        )
    elif left.square > max(_LITTLE * level, _LITTLE**2 * at_rest) and left.follows > _FOLLOWS:
        _warn(
            f"its errors still follow {left.name}, with a correlation of {left.follows:.2f}; raise n_epochs, "
            "or try standardize=True where columns are in unlike units"
        )


def _warn(what: str) -> None:
    warnings.warn(f"LeastMeanSquares has not converged: {what}", ConvergenceWarning, stacklevel=5)


def auto_step(phi: np.ndarray, w: np.ndarray, *, whole: bool) -> float:
    """Return a step that shortens every error: 1/λmax for one batch of all rows, else 1 / max |φ|²."""
    if whole:
        return 0.5 * stable_step(phi, w)
    size = _size(phi)
    longest = float(np.max(w * np.sum((phi / size) ** 2, axis=1)))
    return _in_units(1.0 / (longest or 1.0), size)


def stable_step(phi: np.ndarray, w: np.ndarray) -> float:
    """Return 2/λmax, the least constant step that does not converge on average."""
    size = _size(phi)
    weighted = phi / size * np.sqrt(w / len(w))[:, None]
    largest = float(np.linalg.norm(weighted, ord=2)) ** 2
    return _in_units(2.0 / (largest or 1.0), size)


def _size(phi: np.ndarray) -> float:
    return float(np.max(np.abs(phi), initial=0.0)) or 1.0


def _in_units(step: float, size: float) -> float:
    """Return the step of features that were divided by their size, or say that it is no number."""
    if not 1.0 / _LARGE < size < _LARGE:
        raise ValueError(
            f"X must be in units nearer to one, or standardize=True: of a size of {size:.1g}, steps are no "
            "floating-point numbers"
        )
    return step / size**2
