"""Metropolis-Hastings: any proposal, corrected where it is asymmetric; random walks tuned in warm-up."""

from collections.abc import Callable, Mapping
from math import exp, sqrt
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.linalg import jittered_cholesky
from tractable.arrays.numbers import check_number
from tractable.sampling.driver import State
from tractable.sampling.target import Target, as_target, check_array
from tractable.value import parameters, replace, value

#: Acceptance that random walks are tuned to, in one dimension and in many (Roberts and Rosenthal, 2001).
BEST_ACCEPTANCE = (0.44, 0.234)
#: Steps of the shortest window after which the covariance of the walk is renewed.
SHORTEST_WINDOW = 50


@value
class RandomWalk:
    """The proposal x + N(0, scale² C), a symmetric one.

    Parameters
    ----------
    scale : float, optional
        2.38 / √d when not given, the best for a normal target of covariance C.
    covariance : array (d,) or (d, d), optional
        C, its diagonal or all of it; the identity when not given.

    Examples
    --------
    >>> RandomWalk(scale=0.5).scale
    0.5
    """

    scale: float | None = None
    covariance: Any = None

    def __post_init__(self) -> None:
        if self.scale is not None:
            check_number("scale", self.scale, above=0.0)
        if self.covariance is not None:
            found = np.asarray(as_reals("covariance", self.covariance), dtype=np.float64)
            if found.ndim not in (1, 2) or not np.all(np.isfinite(found)):
                raise ValueError(f"covariance must be (d,) or (d, d) and finite, got {self.covariance!r}")
            if np.any((found if found.ndim == 1 else np.diagonal(found)) <= 0.0):
                raise ValueError(f"covariance must have variances above 0, got {self.covariance!r}")
            object.__setattr__(self, "covariance", found)

    def root(self, dim: int) -> np.ndarray:
        """Return scale times a factor K of C = K Kᵀ, transposed, (d, d), or one number a coordinate, (d,)."""
        scale = 2.38 / sqrt(dim) if self.scale is None else float(self.scale)
        c = np.ones(dim) if self.covariance is None else self.covariance
        if c.shape[-1] != dim:
            raise ValueError(f"covariance must be of {dim} coordinates, got {c.shape}")
        return scale * (np.sqrt(c) if c.ndim == 1 else jittered_cholesky(c, name="covariance").lower.T)


@value
class RandomWalkTuning:
    """What warm-up has found of a random walk: its scale, and the covariance of the target.

    Parameters
    ----------
    log_scale : float
        Of the walk.
    root : array (d, d)
        The factor that noise is multiplied by, without the scale.
    n_steps, n_warm_up, next_window : int
        Steps so far, of all of warm-up, and those after which the covariance is renewed.
    weight, mean, scatter : int, array (d,), array (d, d)
        The moments of the points since it was last renewed.
    """

    log_scale: float
    root: np.ndarray
    n_steps: int
    n_warm_up: int
    next_window: int
    weight: int
    mean: np.ndarray
    scatter: np.ndarray

    @classmethod
    def first(cls, root: np.ndarray, dim: int, n_warm_up: int) -> "RandomWalkTuning":
        """Return the tuning before any step."""
        full = np.diag(root) if root.ndim == 1 else root
        return cls(
            log_scale=0.0, root=full, n_steps=0, n_warm_up=n_warm_up,
            next_window=min(SHORTEST_WINDOW, n_warm_up // 4), weight=0, mean=np.zeros(dim),
            scatter=np.zeros((dim, dim)),
        )  # fmt: skip

    def updated(self, state: State, info: Mapping[str, Any]) -> "RandomWalkTuning":
        """Return the tuning after a step: Robbins-Monro steps of the scale, and moments of the points."""
        dim, n = len(self.mean), self.n_steps + 1
        best = BEST_ACCEPTANCE[0] if dim == 1 else BEST_ACCEPTANCE[1]
        since = min(self.weight // max(len(state.position), 1), n) + 1
        log_scale = self.log_scale + (float(info["acceptance"].mean()) - best) * 3.0 / since**0.6
        changed: dict[str, Any] = {"log_scale": min(max(log_scale, -50.0), 50.0), "n_steps": n}
        x = state.position.reshape(len(state.position), dim)
        weight = self.weight + len(x)
        ahead = x.mean(axis=0) - self.mean
        changed["mean"] = self.mean + ahead * (len(x) / weight)
        centered = x - x.mean(axis=0)
        changed["scatter"] = self.scatter + centered.T @ centered
        changed["scatter"] += np.outer(ahead, ahead) * (self.weight * len(x) / weight)
        changed["weight"] = weight
        # The last quarter tunes the scale alone, at the covariance that stays.
        if n >= self.next_window and n <= 0.75 * self.n_warm_up:
            changed |= self._renewed(changed, n)
        return replace(self, **changed)

    def _renewed(self, found: dict[str, Any], n: int) -> dict[str, Any]:
        """Return the covariance of the points of this window, shrunk, and an empty window to follow."""
        dim, weight = len(self.mean), found["weight"]
        covariance = found["scatter"] / max(weight - 1, 1)
        level = np.diag(np.maximum(np.diag(covariance), 1e-300))
        share = dim / (dim + 0.1 * weight)
        covariance = (1.0 - share) * covariance + share * level
        root = jittered_cholesky(covariance, name="covariance").lower.T
        return {
            "root": 2.38 / sqrt(dim) * root, "log_scale": 0.0, "weight": 0, "mean": np.zeros(dim),
            "scatter": np.zeros((dim, dim)), "next_window": min(2 * n, int(0.75 * self.n_warm_up)),
        }  # fmt: skip

    def finished(self) -> "RandomWalkTuning":
        """Return what stays."""
        return self

    def as_data(self) -> dict[str, Any]:
        """Return the fields."""
        return parameters(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "RandomWalkTuning":
        """Return the tuning of these fields."""
        return cls(**data)


@value
class MetropolisHastings:
    """A step of the Metropolis-Hastings algorithm; see `metropolis_hastings`.

    Parameters
    ----------
    log_prob : callable or distribution
        The target.
    proposal : RandomWalk or callable
        Where to go.
    symmetric : bool
        Whether a proposal that is a function is symmetric.
    vectorized : bool, optional
        Whether the functions take a batch of points.
    target : Target, optional
        The target as `begin` found it.
    root : array, optional
        What noise is multiplied by; None until `begin`.
    """

    log_prob: Any
    proposal: Any
    symmetric: bool = False
    vectorized: bool | None = None
    target: Target | None = None
    root: Any = None

    def begin(self, rng: np.random.Generator, position: np.ndarray) -> tuple["MetropolisHastings", State]:
        """Return the step for points of this shape, and the first state, checked."""
        walk = isinstance(self.proposal, RandomWalk)
        check_array(position)
        position = np.asarray(position, dtype=np.float64) if walk else position
        target = as_target(self.log_prob, position, vectorized=self.vectorized)
        root = self.proposal.root(max(int(np.prod(position.shape[1:])), 1)) if walk else None
        state = State(position=position, log_prob=target.at_start(position))
        return replace(self, target=target, root=root), state

    def tuning(self, state: State, n_warm_up: int) -> RandomWalkTuning | None:
        """Return what warm-up adapts: the scale and the covariance of a random walk."""
        if not isinstance(self.proposal, RandomWalk):
            return None
        dim = max(int(np.prod(state.position.shape[1:])), 1)
        return RandomWalkTuning.first(self.root, dim, n_warm_up)

    def tuned(self, found: RandomWalkTuning) -> "MetropolisHastings":
        """Return the step with what warm-up has found."""
        return replace(self, root=exp(found.log_scale) * found.root)

    def __call__(self, rng: np.random.Generator, state: State) -> tuple[State, dict[str, np.ndarray]]:
        """Propose x' for each chain, and go there with probability min(1, p(x')q(x|x') / p(x)q(x'|x))."""
        x, log_p = state.position, state.log_prob
        proposed, correction = self._propose(rng, x)
        log_p_proposed = self.target(proposed)  # type: ignore[misc]
        log_ratio = log_p_proposed - log_p
        if correction is not None:
            log_ratio = log_ratio + correction
        accepted = -rng.standard_exponential(len(x)) < log_ratio
        wide = accepted.reshape(len(x), *(1,) * (x.ndim - 1))
        position = np.where(wide, proposed, x)
        info = {"acceptance": np.exp(np.minimum(log_ratio, 0.0))}
        return State(position, np.where(accepted, log_p_proposed, log_p)), info

    def _propose(self, rng: np.random.Generator, x: np.ndarray) -> tuple[np.ndarray, Any]:
        """Return proposals and log q(x | x') - log q(x' | x), None where that is zero."""
        if self.root is not None:
            noise = rng.standard_normal(x.shape)
            if self.root.ndim == 1:
                return x + noise * self.root, None
            return x + (noise.reshape(len(x), -1) @ self.root).reshape(x.shape), None
        forward = self.proposal(x)
        if not hasattr(forward, "log_prob"):
            raise ValueError(
                "proposal must return a distribution, a batch of one for each chain, got "
                f"{type(forward).__name__}"
            )
        independent = forward.batch_shape != x.shape[:1]
        proposed = np.asarray(
            forward.sample(len(x), rng=rng) if independent else forward.sample(1, rng=rng)[0]
        )
        if proposed.shape != x.shape:
            raise ValueError(
                f"proposal must have the shape of the points, {x.shape}, got {proposed.shape}: a batch of "
                f"{len(x)} distributions over {'vectors' if x.ndim > 1 else 'numbers'}, one for each chain"
            )
        if self.symmetric:
            return proposed, None
        backward = forward if independent else self.proposal(proposed)
        return proposed, np.asarray(backward.log_prob(x)) - np.asarray(forward.log_prob(proposed))


def metropolis_hastings(
    log_prob: Any,
    proposal: RandomWalk | Callable[[np.ndarray], Any] | None = None,
    *,
    symmetric: bool = False,
    vectorized: bool | None = None,
) -> MetropolisHastings:
    """Return the step of Metropolis and Hastings: propose a move, accept it by the ratio of densities.

    Accepted with probability min(1, p(x') q(x | x') / (p(x) q(x' | x))), so that p(x) T(x' | x) is symmetric
    for the transition T. Run it with `sample`.

    Parameters
    ----------
    log_prob : callable or distribution
        log p up to a constant, of one point or of a batch of points, a row a chain.
    proposal : RandomWalk or callable, optional
        A normal random walk, whose scale and covariance are tuned during warm-up (default); or a function of
        the points, a row a chain, that returns the distribution of the next ones: a batch of one for each
        chain, or one distribution for all, whatever the points are.
    symmetric : bool
        Whether q(x' | x) = q(x | x') for a proposal that is a function, so that it need not be evaluated.
    vectorized : bool, optional
        Whether `log_prob` takes a batch; found out when not given. If not, it is called for each chain.

    Examples
    --------
    A proposal that is not symmetric, since it shrinks towards 0:

    >>> import tractable
    >>> step = metropolis_hastings(
    ...     lambda x: -0.5 * (x - 3.0) ** 2, lambda x: tractable.Normal(mean=0.9 * x, stddev=1.0)
    ... )
    >>> chains = tractable.sampling.sample(step, np.zeros(100), 200, n_warm_up=100, rng=0)
    >>> round(float(chains.flat().mean()), 1)
    3.0
    """
    proposal = RandomWalk() if proposal is None else proposal
    if not (isinstance(proposal, RandomWalk) or callable(proposal)):
        raise ValueError(
            "proposal must be a RandomWalk or a function that returns a distribution, got "
            f"{type(proposal).__name__}"
        )
    return MetropolisHastings(
        log_prob=log_prob, proposal=proposal, symmetric=symmetric, vectorized=vectorized
    )
