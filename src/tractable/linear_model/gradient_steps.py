"""The state of a descent by gradient steps, and steps that are safe."""

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.linear_model.leftover import Leftover
from tractable.primitives.linear import gradient_pass
from tractable.value import replace, value

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
    weight: float = 0.0  # of the rows that it is learned from
    spread: np.ndarray | None = None  # (d,), of those rows; None for columns as they are given

    @classmethod
    def start(cls, d: int, *, standardize: bool, fit_intercept: bool) -> "Scaling":
        """Begin with columns as they are; with `standardize` rows that follow change that."""
        spread = np.zeros(d) if standardize else None
        return cls(centre=np.zeros(d), scale=np.ones(d), n_located=int(fit_intercept), spread=spread)

    def following(self, X: np.ndarray, w: np.ndarray) -> "Scaling":
        """Return the scaling after more rows: by the standard deviation of all, or their size about 0."""
        more = float(w.sum())
        if self.spread is None or more == 0.0:
            return self
        first = X[0] if self.n_located else np.zeros(X.shape[1])
        centre = first + self.n_located * (w @ (X - first) / more)
        weight, step = self.weight + more, centre - self.centre
        old, new = np.sqrt(self.weight / weight), np.sqrt(more / weight)
        parts = old * self.spread, new * _rms(X - centre, w), old * new * np.abs(step)
        spread = np.hypot(np.hypot(*parts[:2]), parts[2])
        return Scaling(
            centre=self.centre + new**2 * step,
            scale=np.where(spread > 0.0, spread, 1.0),
            n_located=self.n_located,
            weight=weight,
            spread=spread,
        )

    def retold(self, w: np.ndarray, after: "Scaling") -> np.ndarray:
        """Return the weights of the same plane in the columns of a later scaling."""
        n = self.n_located
        moved = (after.centre - self.centre) / self.scale @ w[n:]
        return np.concatenate([w[:n] + moved, w[n:] * (after.scale / self.scale)])

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
    """Where a descent is: the weights, the sum of those before, and how large targets and features were."""

    step: Any  # a number, a function of the number of the update, or None for the longest safe one
    w: np.ndarray  # (p,)
    total: np.ndarray  # (p,)
    n_summed: int
    n_steps: int
    power: float  # largest mean square of the targets of a block
    safe: float = np.inf  # the step with which no update so far overshoots
    length: float = 0.0  # root of the mean |φ|²
    n_rows: int = 0  # that this is of

    @classmethod
    def at_rest(cls, p: int, step: float | Callable[[int], float] | None) -> "Descent":
        """Begin with weights of zero."""
        zeros = np.zeros(p)
        return cls(step=step, w=zeros, total=zeros, n_summed=0, n_steps=0, power=0.0)

    @property
    def average(self) -> np.ndarray:
        """The mean of the weights after each update."""
        return self.total / self.n_summed if self.n_summed else self.w

    def retold(self, before: Scaling, after: Scaling) -> "Descent":
        """Return the same way, told in the columns of a later scaling."""
        if after is before:
            return self
        return replace(self, w=before.retold(self.w, after), total=before.retold(self.total, after))

    @property
    def stable(self) -> float:
        """2 / mean |φ|², a constant step below which converges on average: λmax is no more than the mean."""
        return _in_units(2.0, self.length or 1.0)

    def measured(self, phi: np.ndarray, w: np.ndarray, *, whole: bool) -> "Descent":
        """Return the descent that knows how long these rows are, too."""
        n, size = self.n_rows + len(w), _size(phi)
        block = size * float(np.linalg.norm(phi / size * np.sqrt(w / n)[:, None]))
        return replace(
            self,
            n_rows=n,
            length=float(np.hypot(self.length * np.sqrt(self.n_rows / n), block)),
            safe=min(self.safe, auto_step(phi, w, whole=whole)) if self.step is None else self.safe,
        )

    def walked(
        self, phi: np.ndarray, y: np.ndarray, w: np.ndarray, batch_size: int
    ) -> tuple["Descent", float]:
        """Return the descent after the batches of a block, and the summed squared error on the way."""
        n = -(-len(y) // batch_size)
        numbers = range(self.n_steps + 1, self.n_steps + n + 1)
        step = (self.safe if self.safe < np.inf else 1.0) if self.step is None else self.step
        steps = np.array([_stepped(step, k) for k in numbers])
        with np.errstate(over="ignore", invalid="ignore"):
            moved, total, loss = gradient_pass(phi, y, w, steps, batch_size, self.w)
        after = replace(
            self,
            w=moved,
            total=self.total + total,
            n_summed=self.n_summed + n,
            n_steps=self.n_steps + n,
            power=max(self.power, float(w @ y**2 / len(y))),
        )
        return after, float(loss)

    def sound(self, loss: float) -> bool:
        """Whether the weights are finite and the mean squared error is not on its way to infinity.

        Safe steps may jump where a row is very short, and come back at the next long one.
        """
        return bool(np.all(np.isfinite(self.w))) and (self.step is None or loss <= _TOO_FAR**2 * self.power)


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
    size = _size(phi)
    longest = float(np.max(w * np.sum((phi / size) ** 2, axis=1)))
    if longest == 0.0:
        return np.inf
    return 0.5 * stable_step(phi, w) if whole else _in_units(1.0 / longest, size)


def stable_step(phi: np.ndarray, w: np.ndarray) -> float:
    """Return 2/λmax, the least constant step that does not converge on average."""
    size = _size(phi)
    weighted = phi / size * np.sqrt(w / len(w))[:, None]
    largest = float(np.linalg.norm(weighted, ord=2)) ** 2
    return _in_units(2.0 / (largest or 1.0), size)


def _rms(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the root of the mean square of each column, where squares may be no numbers."""
    size = np.abs(x).max(axis=0)
    size[size == 0.0] = 1.0
    return size * np.sqrt(w @ (x / size) ** 2 / w.sum())


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
