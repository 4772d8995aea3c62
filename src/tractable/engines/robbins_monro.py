"""Stochastic approximation: the root of a function that is observed with noise."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat
from math import isfinite
from typing import Any

import numpy as np

from tractable.value import value


@value
class StepSize:
    """The step for the N-th observation, a_N = scale / (N + offset)^power.

    Convergence with probability one needs Σ a_N = ∞, so that any distance can be covered, and Σ a_N² < ∞, so
    that the noise averages out. This is ½ < power ≤ 1; other powers raise ValueError unless `unchecked`.

    Parameters
    ----------
    scale : float
        The step for the first observation, where the offset is 0.
    offset : float
        Above -1; larger values make the first steps smaller.
    power : float
        How fast the steps decrease, as N^-power.
    unchecked : bool
        Accept a power that does not converge, to see what it does.

    Examples
    --------
    >>> step = StepSize(scale=2.0)
    >>> step(1), step(4)
    (2.0, 0.5)
    """

    scale: float = 1.0
    offset: float = 0.0
    power: float = 1.0
    unchecked: bool = False

    def __post_init__(self) -> None:
        if not (self.scale > 0 and isfinite(self.scale)):
            raise ValueError(f"scale must be positive, got {self.scale!r}")
        if not (self.offset > -1 and isfinite(self.offset)):
            raise ValueError(f"offset must be above -1, got {self.offset!r}")
        if not self.unchecked and not 0.5 < self.power <= 1.0:
            raise ValueError(f"power must be above 1/2 and at most 1 to converge, got {self.power!r}")

    def __call__(self, n: int) -> float:
        """Return the step for the n-th observation, counted from 1."""
        return float(self.scale / (n + self.offset) ** self.power)


@value
class RobbinsMonroResult:
    """The result of a stochastic approximation: the estimate, and its history.

    Parameters
    ----------
    x : array
        The last estimate.
    history : array (n + 1, *x.shape)
        The start, and the estimate after each observation.
    """

    x: np.ndarray
    history: np.ndarray

    @property
    def n_steps(self) -> int:
        """Number of observations used."""
        return len(self.history) - 1


def robbins_monro(
    observe: Callable[[np.ndarray], Any],
    start: Any,
    *,
    n_steps: int,
    step: Callable[[int], float] = StepSize(),  # noqa: B008  (an immutable value)
    bounds: Any = None,
) -> RobbinsMonroResult:
    """Find the root of f(θ) = E[z | θ] from noisy observations z: θ_N = θ_{N-1} - a_N z(θ_{N-1}).

    f must increase through its root (negate z otherwise), and z must have a finite variance near it.

    Parameters
    ----------
    observe : callable
        ``θ -> z``, a noisy observation of f.
    start : float or array
        θ₀, the first estimate.
    n_steps : int
        Number of observations to make.
    step : callable
        The step for the N-th observation, N from 1.
    bounds : pair, optional
        The least and the greatest value of θ, or of each of its entries: estimates beyond are moved there.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = robbins_monro(lambda x: x - 3.0 + rng.standard_normal(), 0.0, n_steps=4000)
    >>> bool(abs(found.x - 3.0) < 0.1)
    True
    """
    if n_steps < 1:
        raise ValueError(f"n_steps must be at least 1, got {n_steps!r}")
    return _iterate(repeat(observe, n_steps), start, step, bounds)


def sequential_mle(
    score: Callable[[np.ndarray, Any], Any],
    start: Any,
    stream: Iterable[Any],
    *,
    step: Callable[[int], float] = StepSize(),  # noqa: B008
    bounds: Any = None,
) -> RobbinsMonroResult:
    """Follow the likelihood one observation at a time: θ_N = θ_{N-1} + a_N ∂ log p(x_N | θ_{N-1}) / ∂θ.

    The maximum of the expected log-likelihood is the root of its gradient, so this is Robbins and Monro's
    method with z minus the score. For the mean of a Gaussian and steps σ²/N it is the recursive mean exactly.

    Parameters
    ----------
    score : callable
        ``(θ, x) -> ∂ log p(x | θ) / ∂θ``.
    stream : iterable
        Observations, used once each.
    start, step, bounds
        As in `robbins_monro`; a positive rate or scale needs a bound above 0.

    Examples
    --------
    >>> variance, x = 4.0, [3.0, 5.0, 10.0]
    >>> found = sequential_mle(lambda mean, x: (x - mean) / variance, 123.0, x, step=StepSize(scale=variance))
    >>> float(found.x)
    6.0
    """

    def negative_score(x: Any, theta: np.ndarray) -> np.ndarray:
        return -np.asarray(score(theta, x))

    return _iterate((partial(negative_score, x) for x in stream), start, step, bounds)


def _iterate(
    observations: Iterable[Callable[[np.ndarray], Any]],
    start: Any,
    step: Callable[[int], float],
    bounds: Any,
) -> RobbinsMonroResult:
    x = np.asarray(start, dtype=float)
    low, high = (-np.inf, np.inf) if bounds is None else (np.asarray(end, dtype=float) for end in bounds)
    if not np.all((low < high) & (low <= x) & (x <= high)):
        raise ValueError(f"bounds must be a least and a greatest value about the start, got {bounds!r}")
    history = [x]
    for n, observe in enumerate(observations, start=1):
        with np.errstate(over="ignore", invalid="ignore"):
            x = x - step(n) * np.asarray(observe(x), dtype=float)
        if not np.all(np.isfinite(x)):
            raise ValueError(f"the estimate is no longer finite after {n} observations; make step smaller")
        x = np.clip(x, low, high)
        history.append(x)
    return RobbinsMonroResult(x=x, history=np.stack(history))
