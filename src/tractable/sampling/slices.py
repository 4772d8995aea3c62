"""Slice sampling: uniform draws from the region under the density, one coordinate after the other."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.sampling.driver import State
from tractable.sampling.target import Target, as_target, check_array
from tractable.value import parameters, replace, value

#: After so many shrinkages an interval is the old point itself, even from the largest number to the smallest.
MOST_SHRINKS = 10_000


@value
class SliceTuning:
    """What warm-up has found: how far coordinates move, and so how wide the first interval should be.

    Parameters
    ----------
    width : array (d,)
        The width of the first interval of each coordinate.
    moved : array (d,)
        The sum of the widths of the last intervals so far.
    n_steps : int
        Steps so far.
    is_final : bool
        Whether warm-up is over.
    """

    width: np.ndarray
    moved: np.ndarray
    n_steps: int
    is_final: bool = False

    def updated(self, state: State, info: Mapping[str, Any]) -> "SliceTuning":
        """Return the tuning after a step: the width of a slice is about that of its last interval."""
        n = self.n_steps + 1
        moved = self.moved + info["width"].mean(axis=0)
        width = np.where(moved > 0.0, moved / n, self.width) if n >= 10 else self.width
        return replace(self, width=width, moved=moved, n_steps=n)

    def finished(self) -> "SliceTuning":
        """Return what stays."""
        return replace(self, is_final=True)

    def as_data(self) -> dict[str, Any]:
        """Return the fields."""
        return parameters(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "SliceTuning":
        """Return the tuning of these fields."""
        return cls(**data)


@value
class Slice:
    """A sweep of slice sampling; see `slice`.

    Parameters
    ----------
    log_prob : callable or distribution
        The target.
    width : float or array (d,)
        Of the first interval about a point.
    max_steps : int
        How many widths an interval may be long.
    vectorized : bool, optional
        Whether `log_prob` takes a batch of points.
    target : Target, optional
        The target as `begin` found it.
    tell_widths : bool
        Whether to say how wide slices were, as warm-up asks.
    """

    log_prob: Any
    width: Any = 1.0
    max_steps: int = 64
    vectorized: bool | None = None
    target: Target | None = None
    tell_widths: bool = False

    def begin(self, rng: np.random.Generator, position: np.ndarray) -> tuple["Slice", State]:
        """Return the step for points of this shape, and the first state, checked."""
        check_array(position)
        position = np.asarray(position, dtype=np.float64)
        if position.ndim > 2:
            raise ValueError(f"start must be numbers or vectors, a row a chain, got {position.shape}")
        target = as_target(self.log_prob, position, vectorized=self.vectorized)
        dim = position.shape[1] if position.ndim == 2 else 1
        width = np.asarray(as_reals("width", self.width), dtype=np.float64)
        if width.shape not in ((), (dim,)) or not np.all((width > 0.0) & (width < np.inf)):
            raise ValueError(f"width must be a number above 0 or {dim} of them, got {self.width!r}")
        state = State(position=position, log_prob=target.at_start(position))
        return replace(self, target=target, width=np.broadcast_to(width, (dim,)).copy()), state

    def tuning(self, state: State, n_warm_up: int) -> SliceTuning:
        """Return what warm-up adapts: the widths."""
        return SliceTuning(width=self.width, moved=np.zeros(len(self.width)), n_steps=0)

    def tuned(self, found: SliceTuning) -> "Slice":
        """Return the step with what warm-up has found."""
        return replace(self, width=found.width, tell_widths=not found.is_final)

    def __call__(self, rng: np.random.Generator, state: State) -> tuple[State, dict[str, np.ndarray]]:
        """Draw every coordinate from its slice, given the others."""
        scalar = state.position.ndim == 1
        x = state.position[:, None].copy() if scalar else state.position.copy()
        log_p, calls = state.log_prob, np.zeros(len(x))
        widths = np.empty(x.shape)
        for d in range(x.shape[1]):
            x[:, d], log_p, used, widths[:, d] = self._coordinate(rng, x, d, log_p, scalar)
            calls += used
        info = {"acceptance": np.ones(len(x)), "n_evaluations": calls}
        if self.tell_widths:
            info["width"] = widths
        return State(x[:, 0] if scalar else x, log_p), info

    def _coordinate(
        self, rng: np.random.Generator, x: np.ndarray, d: int, log_p: np.ndarray, scalar: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Step out from a random interval about x_d to the ends of the slice, then shrink it (Neal, 2003)."""
        n, width, old = len(x), self.width[d], x[:, d].copy()
        level = log_p - rng.standard_exponential(n)

        def density(at: np.ndarray) -> np.ndarray:
            moved = x.copy()
            moved[:, d] = at
            return self.target(moved[:, 0] if scalar else moved)  # type: ignore[misc]

        left = old - width * rng.random(n)
        right = left + width
        room_left = np.floor(self.max_steps * rng.random(n))
        room_right = self.max_steps - 1 - room_left
        used = np.zeros(n)
        for end, room, step in ((left, room_left, -width), (right, room_right, width)):
            out = room > 0
            while np.any(out):
                inside = density(end) > level
                used += out
                out &= inside
                end[out] += step
                room[out] -= 1
                out &= room > 0
        low, high = left.copy(), right.copy()
        new, log_new, done = old.copy(), log_p.copy(), np.zeros(n, dtype=bool)
        for _ in range(MOST_SHRINKS):
            tried = np.where(done, new, low + rng.random(n) * (high - low))
            log_tried = density(tried)
            used += ~done
            hit = ~done & (log_tried > level)
            new, log_new = np.where(hit, tried, new), np.where(hit, log_tried, log_new)
            done |= hit
            if done.all():
                break
            low = np.where(~done & (tried < old), tried, low)
            high = np.where(~done & (tried >= old), tried, high)
        return new, log_new, used, high - low


def slice(  # noqa: A001  (the field's word)
    log_prob: Any, *, width: Any = 1.0, max_steps: int = 64, vectorized: bool | None = None
) -> Slice:
    """Return the step of slice sampling: every coordinate in turn, uniformly from where p exceeds a level.

    The level is uniform below p(x). About x an interval of the width is placed at random and stepped out to
    both sides until its ends are below the level; points are then drawn from it, and it is shrunk to those
    below, until one is above (Neal, 2003). There is nothing to tune but the width, which warm-up does, and no
    draw is refused. Run it with `sample`.

    Parameters
    ----------
    log_prob : callable or distribution
        log p up to a constant, of one point or of a batch of points, a row a chain.
    width : float or array (d,)
        Of the first interval, about that of the density; warm-up improves it.
    max_steps : int
        How many widths an interval may be long at most.
    vectorized : bool, optional
        Whether `log_prob` takes a batch; found out when not given. If not, it is called for each chain.

    Examples
    --------
    >>> import tractable
    >>> step = slice(lambda x: -np.abs(x - 2.0))
    >>> chains = tractable.sampling.sample(step, np.ones(50), 200, n_warm_up=50, rng=0)
    >>> round(float(chains.flat().mean()), 1)
    2.0
    """
    if isinstance(max_steps, bool) or not isinstance(max_steps, int) or max_steps < 1:
        raise ValueError(f"max_steps must be a whole number from 1, got {max_steps!r}")
    return Slice(log_prob=log_prob, width=width, max_steps=max_steps, vectorized=vectorized)
