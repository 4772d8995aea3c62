"""The state of a descent by gradient steps, and steps that are safe."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.primitives.gradient_pass import gradient_pass
from tractable.value import value

__all__ = ["Descent", "Scaling", "auto_step", "stable_step"]

#: Errors this many times the targets are on their way to infinity.
_TOO_FAR = 1e3


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
        steps = np.array([self.step(k) for k in numbers]) if callable(self.step) else np.full(n, self.step)
        with np.errstate(over="ignore", invalid="ignore"):
            moved, total, loss = gradient_pass(phi, y, w, steps.astype(float), batch_size, self.w)
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


def auto_step(phi: np.ndarray, w: np.ndarray, *, whole: bool) -> float:
    """Return a step that shortens every error: 1/λmax for one batch of all rows, else 1 / max |φ|²."""
    if whole:
        return 0.5 * stable_step(phi, w)
    return 1.0 / (float(np.max(w * np.sum(phi**2, axis=1))) or 1.0)


def stable_step(phi: np.ndarray, w: np.ndarray) -> float:
    """Return 2/λmax, the least constant step that does not converge on average."""
    weighted = phi * np.sqrt(w / len(w))[:, None]
    largest = float(np.linalg.norm(weighted, ord=2)) ** 2
    return 2.0 / (largest or 1.0)
