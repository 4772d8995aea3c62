"""The no-U-turn sampler: Hamiltonian trajectories that end where they turn back, all chains together.

Hoffman and Gelman (2014), with draws from trajectories by their weights, and the criterion of Betancourt
(2017). A trajectory is built leaf by leaf, without recursion: of every subtree that is not complete its
first momentum alone is kept, at the depth that the bits of the number of the leaf say.
"""

from collections.abc import Mapping
from math import exp, log, sqrt
from typing import Any

import numpy as np

from tractable.arrays.linalg import jittered_cholesky
from tractable.arrays.numbers import check_number
from tractable.sampling.driver import State
from tractable.sampling.target import Target, as_target
from tractable.value import parameters, replace, value

#: Loss of log density along a trajectory that counts as a divergence.
DIVERGENCE = 1000.0
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

    def begin(self, rng: np.random.Generator, position: np.ndarray) -> tuple["Nuts", State]:
        """Return the step for points of this shape, with a first step size, and the first state, checked."""
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
            step = np.full((len(p), 1), size)
            with np.errstate(over="ignore", invalid="ignore"):
                _, p_end, log_p, _ = self._leapfrog(state.position, p, state.gradient, step)
                gain = np.minimum(log_p - 0.5 * np.sum(p_end * p_end, axis=1) - energy, 0.0)
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

    def _leapfrog(self, q: Any, p: Any, slope: Any, step: Any) -> tuple[Any, Any, Any, Any]:
        """Return position, momentum, log density and gradient after a step; momenta in units of the root."""
        root, half = self.root, 0.5 * step
        if root.ndim == 1:
            half = half * root
            p = p + half * slope
            q = q + step * (p * root)
            log_p, slope = self.target.pair(q)  # type: ignore[union-attr]
            return q, p + half * slope, log_p, slope
        p = p + half * (slope @ root)
        q = q + step * (p @ root.T)
        log_p, slope = self.target.pair(q)  # type: ignore[union-attr]
        return q, p + half * (slope @ root), log_p, slope

    def __call__(self, rng: np.random.Generator, state: State) -> tuple[State, dict[str, np.ndarray]]:
        """Draw momenta, double the trajectories until they turn back, and draw a point of each."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # where they diverge
            return self._transition(rng, state)

    def _transition(self, rng: np.random.Generator, state: State) -> tuple[State, dict[str, np.ndarray]]:
        n = len(state.position)
        tree = _Tree(state, rng.standard_normal(state.position.shape))
        end = State(*(part.copy() for part in state))
        accepted, leaves, divergent = np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
        depth = np.zeros(n, dtype=np.int64)
        for level in range(self.max_depth):
            branch = self._branch(rng, tree, level)
            who = tree.chains
            accepted[who] += branch.accepted
            leaves[who] += branch.n_leaves
            divergent[who] |= branch.diverged
            depth[who] = level + 1
            # A whole branch replaces the draw with the probability of its weight over that of the tree.
            taken = branch.alive & (-rng.standard_exponential(len(who)) < branch.log_weight - tree.log_weight)
            if taken.any():
                chosen = branch.chosen(rng)
                for whole, part in zip(end, (branch.points, branch.log_probs, branch.slopes), strict=True):
                    for i in np.flatnonzero(taken):
                        whole[who[i]] = part[chosen[i]][i]
            going = tree.join(branch)
            if not going.any():
                break
            tree.keep(going)
        info = {
            "acceptance": accepted / leaves,
            "divergent": divergent,
            "n_leapfrog": leaves,
            "tree_depth": depth,
        }
        return end, info

    def _branch(self, rng: np.random.Generator, tree: "_Tree", level: int) -> "_Branch":
        """Extend every trajectory by 2^level leaves, forwards or backwards, and say which may go on."""
        n = len(tree.chains)
        forwards = rng.random(n) < 0.5
        ahead = forwards[:, None]
        q, p, slope = (
            np.where(ahead, right, left) for right, left in zip(tree.right, tree.left, strict=True)
        )
        size = float(self.step_size or 1.0)
        step = np.where(ahead, size, -size)
        first_p: list[Any] = [None] * (level + 1)
        first_sum: list[Any] = [None] * (level + 1)
        branch = _Branch(forwards, 2**level)
        p_sum: Any = 0.0
        for leaf in range(2**level):
            q, p, log_p, slope = self._leapfrog(q, p, slope, step)
            p_sum = p_sum + p
            gain = log_p - 0.5 * np.vecdot(p, p) - tree.energy
            branch.add(q, log_p, slope, gain)
            if not gain.min() > -DIVERGENCE:
                self.target.check_leaf(q, p, log_p, slope)  # type: ignore[union-attr]
                branch.end(~(gain > -DIVERGENCE), leaf, diverged=True)
            last = (leaf >> 1).bit_count()
            if leaf % 2 == 0:
                first_p[last], first_sum[last] = p, p_sum
            else:
                # The subtrees that this leaf completes: as many as the number of the leaf ends in ones.
                ones = ((leaf + 1) & -(leaf + 1)).bit_length() - 1
                for at in range(last, last - ones, -1):
                    turned = _turned(first_p[at], p, p_sum - first_sum[at] + first_p[at])
                    if turned.any():
                        branch.end(turned, leaf)
            if branch.is_over:
                break
        branch.close(q, p, slope, p_sum)
        return branch


def _turned(first: np.ndarray, last: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Whether a trajectory turns back at one of its ends; `total` is the sum of its momenta.

    The sum less half of both ends is the way between them, by the trapezoidal rule.
    """
    way = total - 0.5 * (first + last)
    return ~((np.vecdot(first, way) > 0.0) & (np.vecdot(last, way) > 0.0))


class _Tree:
    """The trajectories of the chains that are still going: both ends, the sum of momenta, and the weight."""

    def __init__(self, state: State, p: np.ndarray) -> None:
        self.chains = np.arange(len(p))
        self.energy = state.log_prob - 0.5 * np.vecdot(p, p)
        self.left: tuple[Any, ...] = (state.position, p, state.gradient)
        self.right: tuple[Any, ...] = self.left
        self.p_sum, self.log_weight = p, np.zeros(len(p))

    def join(self, branch: "_Branch") -> np.ndarray:
        """Join the branches, and return which trajectories go on: whole branches that do not turn back."""
        ahead = branch.forwards[:, None]
        far = (branch.q, branch.p, branch.slope)
        self.right = tuple(np.where(ahead, new, old) for new, old in zip(far, self.right, strict=True))
        self.left = tuple(np.where(ahead, old, new) for new, old in zip(far, self.left, strict=True))
        self.p_sum = self.p_sum + branch.p_sum
        self.log_weight = np.logaddexp(self.log_weight, branch.log_weight)
        return branch.alive & ~_turned(self.left[1], self.right[1], self.p_sum)

    def keep(self, going: np.ndarray) -> None:
        """Leave out the trajectories that have ended."""
        if going.all():
            return
        self.chains, self.energy, self.p_sum = self.chains[going], self.energy[going], self.p_sum[going]
        self.log_weight = self.log_weight[going]
        self.left = tuple(part[going] for part in self.left)
        self.right = tuple(part[going] for part in self.right)


class _Branch:
    """New leaves at one end of the trajectories: their points and weights, and the outermost of them."""

    def __init__(self, forwards: np.ndarray, most: int) -> None:
        n = len(forwards)
        self.forwards, self.is_over = forwards, False
        self.points: list[np.ndarray] = []
        self.log_probs: list[np.ndarray] = []
        self.slopes: list[np.ndarray] = []
        self.gains: list[np.ndarray] = []
        self.alive, self.diverged = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
        self.n_leaves = np.full(n, float(most))

    def add(self, q: np.ndarray, log_p: np.ndarray, slope: np.ndarray, gain: np.ndarray) -> None:
        """Add a leaf to every trajectory."""
        self.points.append(q)
        self.log_probs.append(log_p)
        self.slopes.append(slope)
        self.gains.append(gain)

    def end(self, which: np.ndarray, leaf: int, *, diverged: bool = False) -> None:
        """End some of the trajectories at a leaf, where they turn back or diverge."""
        which = which & self.alive
        self.n_leaves[which] = leaf + 1.0
        self.alive &= ~which
        if diverged:
            self.diverged |= which
        self.is_over = not self.alive.any()

    def close(self, q: np.ndarray, p: np.ndarray, slope: np.ndarray, p_sum: np.ndarray) -> None:
        """Keep the outermost leaf and the sum of momenta, and sum up the weights."""
        self.q, self.p, self.slope, self.p_sum = q, p, slope, p_sum
        gains = np.stack(self.gains)
        counted = np.arange(len(gains))[:, None] < self.n_leaves
        self.log_weights = np.where(counted & ~np.isnan(gains), gains, -np.inf)
        top = np.maximum(self.log_weights.max(axis=0), -1e300)
        self._weights = np.exp(self.log_weights - top)
        self._total = self._weights.sum(axis=0)
        self.log_weight = top + np.log(self._total)
        self.accepted = np.exp(np.minimum(self.log_weights, 0.0)).sum(axis=0)

    def chosen(self, rng: np.random.Generator) -> np.ndarray:
        """Return the number of one leaf of each trajectory, drawn by their weights."""
        if len(self.gains) == 1:
            return np.zeros(len(self.forwards), dtype=np.int64)
        levels = np.cumsum(self._weights, axis=0)
        return np.minimum(
            np.sum(levels < rng.random(len(self._total)) * self._total, axis=0), len(levels) - 1
        )


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
