"""The no-U-turn sampler: Hamiltonian trajectories that end where they turn back, all chains together.

Hoffman and Gelman (2014), with draws from trajectories by their weights, and the criterion of Betancourt
(2017). The algebra of trajectories is in `tractable.primitives.trajectory`.
"""

from collections.abc import Mapping
from math import exp, log, sqrt
from typing import Any

import numpy as np

from tractable.arrays.linalg import jittered_cholesky
from tractable.arrays.numbers import check_number
from tractable.primitives.trajectory import ACCEPTED, DRAW, KINETIC, LEAVES, LOG_P, Trajectories
from tractable.sampling.driver import State
from tractable.sampling.target import Target, as_target, check_array
from tractable.value import parameters, replace, value

#: Steps of a run from which on trajectories run compiled code: NumPy takes about half a second for them.
COMPILED_STEPS = 1000
#: Shares of warm-up before the first window of the mass and after the last, at most so many steps.
FIRST_WINDOW, LAST_WINDOW, SHORTEST_WINDOW = 75, 50, 25


@value
class NutsTuning:
    """What warm-up has found: the step size, by dual averaging, and the scales of the coordinates.

    Parameters
    ----------
    log_step, mean_log_step, start_log_step : float
        Logarithms of the step size, of its average, and of what it is drawn towards.
    shortfall : float
        The average of how far the acceptance is below its target.
    n_averaged : int
        Steps since dual averaging began.
    target_acceptance : float
        What the acceptance should be.
    root : array (d,) or (d, d)
        Standard deviations of the coordinates, or a factor of their covariance.
    n_steps, n_warm_up, window_end, window : int
        Steps so far and in all, where the window ends after which the root is renewed, and its length.
    weight, mean, scatter : int, array, array
        The moments of the points of the window.
    """

    log_step: float
    mean_log_step: float
    start_log_step: float
    shortfall: float
    n_averaged: int
    target_acceptance: float
    root: np.ndarray
    n_steps: int
    n_warm_up: int
    window_end: int
    window: int
    weight: int
    mean: np.ndarray
    scatter: np.ndarray

    @classmethod
    def first(cls, step_size: float, root: np.ndarray, target: float, n_warm_up: int) -> "NutsTuning":
        """Return the tuning before any step."""
        opening, closing = _ends(n_warm_up)
        window = min(SHORTEST_WINDOW, max(n_warm_up - opening - closing, 1))
        return cls(
            log_step=log(step_size), mean_log_step=log(step_size), start_log_step=log(10.0 * step_size),
            shortfall=0.0, n_averaged=0, target_acceptance=target, root=root, n_steps=0, n_warm_up=n_warm_up,
            window_end=_window_end(opening, window, n_warm_up - closing), window=window, weight=0,
            mean=np.zeros(root.shape[-1]), scatter=np.zeros_like(root),
        )  # fmt: skip

    def updated(self, state: State, info: Mapping[str, Any]) -> "NutsTuning":
        """Return the tuning after a step (Nesterov's dual averaging; Hoffman and Gelman, section 3.2)."""
        n, t = self.n_steps + 1, self.n_averaged + 1
        accepted = float(info["acceptance"].mean())
        shortfall = self.shortfall + (self.target_acceptance - accepted - self.shortfall) / (t + 10.0)
        log_step = self.start_log_step - sqrt(t) / 0.05 * shortfall
        log_step = min(max(log_step, -600.0), 600.0)
        share = t**-0.75
        changed: dict[str, Any] = {
            "log_step": log_step, "mean_log_step": share * log_step + (1.0 - share) * self.mean_log_step,
            "shortfall": shortfall, "n_averaged": t, "n_steps": n,
        }  # fmt: skip
        opening, closing = _ends(self.n_warm_up)
        if opening < n <= self.n_warm_up - closing:
            changed |= self._moments(state.position)
            if n == self.window_end:
                changed |= self._renewed(changed)
        return replace(self, **changed)

    def _moments(self, x: np.ndarray) -> dict[str, Any]:
        weight = self.weight + len(x)
        center = x.mean(axis=0)
        ahead, centered = center - self.mean, x - center
        part = self.weight * len(x) / weight
        if self.root.ndim == 1:
            scatter = self.scatter + np.sum(centered * centered, axis=0) + part * ahead * ahead
        else:
            scatter = self.scatter + centered.T @ centered + part * np.outer(ahead, ahead)
        return {"weight": weight, "mean": self.mean + ahead * (len(x) / weight), "scatter": scatter}

    def _renewed(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return the root of the covariance of a window, shrunk a little, and begin another twice as long."""
        n = found["weight"]
        covariance = found["scatter"] / max(n - 1, 1)
        shrunk = (n + 5e-3) / (n + 5.0)
        if self.root.ndim == 1:
            root = np.where(covariance > 0.0, np.sqrt(shrunk * covariance), self.root)
        else:
            # Few points for many coordinates: their correlations are less certain than their scales.
            dim = len(covariance)
            sure = n / (n + 2.0 * dim)
            wide = shrunk * (sure * covariance + (1.0 - sure) * np.diag(np.diag(covariance)))
            root = jittered_cholesky(wide, name="covariance").lower
        closing = self.n_warm_up - _ends(self.n_warm_up)[1]
        window = 2 * self.window
        # In units of the new root a step of order one is the right start.
        step = log(len(root) ** -0.25)
        return {
            "root": root, "weight": 0, "mean": np.zeros(len(self.mean)), "scatter": np.zeros_like(root),
            "window": window, "window_end": _window_end(self.window_end, window, closing),
            "log_step": step, "mean_log_step": step, "start_log_step": step + log(10.0), "shortfall": 0.0,
            "n_averaged": 0,
        }  # fmt: skip

    def finished(self) -> "NutsTuning":
        """Return what stays: the average of the step sizes."""
        return replace(self, log_step=self.mean_log_step)

    def as_data(self) -> dict[str, Any]:
        """Return the fields."""
        return parameters(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "NutsTuning":
        """Return the tuning of these fields."""
        return cls(**data)


def _ends(n_warm_up: int) -> tuple[int, int]:
    """Return the steps of warm-up before the first window and after the last."""
    return min(FIRST_WINDOW, int(0.15 * n_warm_up)), min(LAST_WINDOW, int(0.1 * n_warm_up))


def _window_end(start: int, window: int, last: int) -> int:
    """Return where a window ends: it takes what is left if the next one, twice as long, has no room."""
    return last if start + 3 * window > last else start + window


@value
class Nuts:
    """A step of the no-U-turn sampler; see `nuts`.

    Parameters
    ----------
    log_prob : callable or distribution
        The target.
    gradient : callable, True or "torch"
        Its gradient.
    step_size : float, optional
        Of the leapfrog integrator.
    root : array (d,) or (d, d), optional
        Standard deviations of the coordinates, or a factor of their covariance.
    mass : {"diagonal", "dense"}
        What is adapted.
    target_acceptance : float
        What the step size is tuned to.
    max_depth : int
        Doublings of a trajectory at most.
    vectorized : bool, optional
        Whether the functions take a batch of points.
    target : Target, optional
        The target as `begin` found it.
    compiled : bool
        Whether trajectories run compiled code.
    """

    log_prob: Any
    gradient: Any
    step_size: float | None = None
    root: Any = None
    mass: str = "diagonal"
    target_acceptance: float = 0.8
    max_depth: int = 10
    vectorized: bool | None = None
    target: Target | None = None
    compiled: bool = False

    def begin(self, rng: np.random.Generator, position: np.ndarray) -> tuple["Nuts", State]:
        """Return the step for points of this shape, with a first step size, and the first state, checked."""
        check_array(position)
        position = np.asarray(position, dtype=np.float64)
        if position.ndim != 2:
            raise ValueError(f"start must be vectors, a row a chain, got {position.shape}")
        dim = position.shape[1]
        target = as_target(self.log_prob, position, gradient=self.gradient, vectorized=self.vectorized)
        log_p, slope = target.with_gradient(position)
        target.check_start(log_p, position)
        root = self.root
        if root is None:
            root = np.eye(dim) if self.mass == "dense" else np.ones(dim)
        if np.shape(root) not in ((dim,), (dim, dim)):
            raise ValueError(f"root must be ({dim},) or ({dim}, {dim}), got {np.shape(root)}")
        state = State(position, log_p, slope)
        begun = replace(self, target=target, root=np.asarray(root, dtype=np.float64))
        if begun.step_size is None:
            begun = replace(begun, step_size=begun._first_step_size(rng, state))  # noqa: SLF001
        return begun, state

    def _first_step_size(self, rng: np.random.Generator, state: State) -> float:
        """Return the step size, doubled or halved, at which one leapfrog step is accepted half the time."""
        p = rng.standard_normal(state.position.shape)
        energy = state.log_prob - 0.5 * np.sum(p * p, axis=1)
        size, way = 1.0, 0
        for _ in range(60):
            with np.errstate(over="ignore", invalid="ignore"):
                middle = p + 0.5 * size * self._force(state.gradient)
                log_p, slope = self.target.pair(state.position + size * self._scaled(middle))  # type: ignore[union-attr]
                end = middle + 0.5 * size * self._force(slope)
                gain = np.minimum(log_p - 0.5 * np.sum(end * end, axis=1) - energy, 0.0)
            good = float(np.mean(np.exp(np.where(np.isnan(gain), -np.inf, gain)))) > 0.5
            if way and good != (way > 0):
                break
            way = 1 if good else -1
            size *= 2.0**way
        return size

    def tuning(self, state: State, n_warm_up: int) -> NutsTuning:
        """Return what warm-up adapts: the step size and the mass."""
        return NutsTuning.first(float(self.step_size or 1.0), self.root, self.target_acceptance, n_warm_up)

    def tuned(self, found: NutsTuning) -> "Nuts":
        """Return the step with what warm-up has found."""
        return replace(self, step_size=exp(found.log_step), root=found.root)

    def for_steps(self, n_steps: int) -> "Nuts":
        """Return the step for a run of so many steps: a long one is worth compiled code."""
        return replace(self, compiled=n_steps >= COMPILED_STEPS)

    def _scaled(self, z: np.ndarray) -> np.ndarray:
        """Return root z, the offset of points whose whitened offset is z."""
        return z * self.root if self.root.ndim == 1 else z @ self.root.T

    def _force(self, slope: np.ndarray) -> np.ndarray:
        """Return rootᵀ times gradients, those in whitened coordinates."""
        return slope * self.root if self.root.ndim == 1 else slope @ self.root

    def __call__(self, rng: np.random.Generator, state: State) -> tuple[State, dict[str, np.ndarray]]:
        """Draw momenta, double the trajectories until they turn back, and draw a point of each."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # where they diverge
            return self._transition(rng, state)

    def _transition(self, rng: np.random.Generator, state: State) -> tuple[State, dict[str, np.ndarray]]:
        origin, target = state.position, self.target
        n = going = len(origin)
        momentum, forwards = rng.standard_normal(origin.shape), rng.random((self.max_depth, n)) < 0.5
        found = Trajectories.begin(
            *state, self._force(state.gradient), momentum, forwards, float(self.step_size or 1.0)
        )
        for level in range(self.max_depth):
            uniforms = rng.random((2**level, 2, n))
            for leaf in range(2**level):
                start = origin if going == n else origin[found.going[:going]]
                x = start + self._scaled(found.points[:going])
                log_p, slope = target.pair(x)  # type: ignore[union-attr]
                leaves = (x, log_p, slope, self._force(slope))
                going, n_diverged = found.add_leaves(
                    going, level, leaf, leaves, uniforms[leaf], compiled=self.compiled
                )
                if n_diverged:
                    target.check_leaf(x, found.numbers[KINETIC, : len(x)], log_p, slope)  # type: ignore[union-attr]
                if not going:
                    break
            if not going:
                break
        numbers = found.numbers
        info = {
            "acceptance": numbers[ACCEPTED] / numbers[LEAVES],
            "divergent": found.diverged,
            "n_leapfrog": numbers[LEAVES].copy(),
            "tree_depth": found.depth,
        }
        position, gradient = found.vectors[DRAW].copy(), found.vectors[DRAW + 1].copy()
        return State(position, numbers[LOG_P].copy(), gradient), info


def nuts(
    log_prob: Any,
    gradient: Any = None,
    *,
    mass: str = "diagonal",
    target_acceptance: float = 0.8,
    max_depth: int = 10,
    step_size: float | None = None,
    vectorized: bool | None = None,
) -> Nuts:
    """Return the step of the no-U-turn sampler, for densities with a gradient.

    Momenta are drawn, and Hamilton's equations followed in either direction, twice as far every time, until a
    trajectory turns back; the draw is one of its points, by their weights. Step size and mass are tuned
    during warm-up, from all chains together. Run it with `sample`.

    Parameters
    ----------
    log_prob : callable or distribution
        log p up to a constant, of one point or of a batch of points, a row a chain; on all of space, so that
        a parameter that is positive enters by its logarithm, with the Jacobian.
    gradient : callable, True or "torch"
        Its gradient; True where `log_prob` returns the pair of both; "torch" where it is written in torch,
        which then differentiates it.
    mass : {"diagonal", "dense"}
        Whether warm-up learns a standard deviation for each coordinate, or their covariance: better for
        strongly correlated targets of up to some hundred coordinates.
    target_acceptance : float
        Mean acceptance that the step size is tuned to; nearer to 1 where draws diverge.
    max_depth : int
        A trajectory has at most 2^max_depth points.
    step_size : float, optional
        Where to start; found by trial when not given.
    vectorized : bool, optional
        Whether the functions take a batch; found out when not given. If not, they are called for each chain.

    Examples
    --------
    >>> import tractable
    >>> step = nuts(lambda x: -0.5 * np.sum(x**2, axis=-1), lambda x: -x)
    >>> chains = tractable.sampling.sample(step, np.ones((4, 3)), 500, n_warm_up=300, rng=0)
    >>> bool(np.all(chains.diagnoses["x"].r_hat < 1.03)), chains.n_divergent
    (True, 0)
    """
    if gradient is None:
        raise ValueError(
            'gradient is needed: give the gradient of log_prob, True where log_prob returns both, or "torch" '
            "where it is written in torch"
        )
    if mass not in ("diagonal", "dense"):
        raise ValueError(f"mass must be 'diagonal' or 'dense', got {mass!r}")
    check_number("target_acceptance", target_acceptance, above=0.0, below=1.0)
    check_number("max_depth", max_depth, least=1, most=20, whole=True)
    if step_size is not None:
        check_number("step_size", step_size, above=0.0)
    return Nuts(
        log_prob=log_prob,
        gradient=gradient,
        mass=mass,
        target_acceptance=float(target_acceptance),
        max_depth=int(max_depth),
        step_size=step_size,
        vectorized=vectorized,
    )
