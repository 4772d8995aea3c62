"""Markov chains with finitely many states: the exact transition matrix of a step, and its properties."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tractable.value import value

#: Levels at which a uniform number is tried before the jumps between them are found by bisection.
N_LEVELS = 64
#: Halvings of a level, down to its last digit.
N_HALVINGS = 60


@value
class FiniteChain:
    """A Markov chain with finitely many states.

    Parameters
    ----------
    matrix : array (n, n)
        The probability of going from state i to state j.

    Examples
    --------
    >>> chain = FiniteChain(matrix=[[0.9, 0.1], [0.3, 0.7]])
    >>> chain.stationary.round(12), chain.mixing_time(start=1, distance=0.01)
    (array([0.75, 0.25]), 9)
    """

    matrix: np.ndarray

    def __post_init__(self) -> None:
        found = np.asarray(self.matrix, dtype=np.float64)
        square = found.ndim == 2 and found.shape[0] == found.shape[1]
        if not square or np.any(found < -1e-12) or np.any(np.abs(found.sum(axis=1) - 1.0) > 1e-9):
            raise ValueError("matrix must be square, with rows of probabilities that add up to 1")
        object.__setattr__(self, "matrix", found)

    @property
    def stationary(self) -> np.ndarray:
        """The distribution π with π T = π, of a chain that has one alone."""
        n = len(self.matrix)
        system = np.vstack([self.matrix.T - np.eye(n), np.ones(n)])
        return np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0]

    def imbalance(self, p: Any) -> float:
        """Return the largest |p_i T_ij - p_j T_ji|: zero where detailed balance holds for p."""
        flow = np.asarray(p, dtype=np.float64)[:, None] * self.matrix
        return float(np.max(np.abs(flow - flow.T)))

    def drift(self, p: Any) -> float:
        """Return the largest |(p T - p)_i|: zero where p is stationary."""
        p = np.asarray(p, dtype=np.float64)
        return float(np.max(np.abs(p @ self.matrix - p)))

    def mixing_curve(self, start: int, n_steps: int) -> np.ndarray:
        """Return the total variation distance from the stationary distribution after 0, …, n_steps steps."""
        p, limit = np.eye(len(self.matrix))[start], self.stationary
        found = np.empty(n_steps + 1)
        for t in range(n_steps + 1):
            found[t] = 0.5 * np.sum(np.abs(p - limit))
            p = p @ self.matrix
        return found

    def mixing_time(self, start: int | None = None, distance: float = 0.25, most: int = 100_000) -> int:
        """Return the steps after which the distance is below a bound, from a start or from the worst one.

        Parameters
        ----------
        start : int, optional
            The state to start from; all of them, and the slowest counts, when not given.
        distance : float
            The bound of the total variation distance.
        most : int
            Steps after which to give up, with a ValueError.
        """
        limit = self.stationary
        p = np.eye(len(self.matrix))[slice(None) if start is None else [start]]
        for t in range(most + 1):
            if np.max(0.5 * np.sum(np.abs(p - limit), axis=1)) < distance:
                return t
            p = p @ self.matrix
        raise ValueError(f"the chain has not mixed in {most} steps; it may be periodic or have several parts")


def transition_matrix(
    step: Callable[[Any, Any], Any], states: Sequence[Any], *, key: Callable[[Any], Any] | None = None
) -> FiniteChain:
    """Return the exact chain of a step that moves between finitely many states, by exhausting its randomness.

    The step is run with a generator that gives prescribed uniform numbers. What follows from one is constant
    between jumps, whose places are found by bisection to the last digit; draws among finitely many outcomes
    are all taken. So the probabilities are exact to rounding, whatever the step does with its numbers.

    Parameters
    ----------
    step : callable
        ``step(rng, state) -> (state, info)``, of one chain. It may call `random`, `standard_exponential`,
        `integers` and `choice` of its generator.
    states : sequence
        All states, as the step takes them.
    key : callable, optional
        ``key(state)`` is a number, a text or a tuple that tells states apart; the tuple of the entries of the
        (position of the) state when not given.

    Examples
    --------
    >>> def walk(rng, x):
    ...     return (x + 1) % 3 if rng.random() < 0.25 else x, {}
    >>> transition_matrix(walk, [0, 1, 2]).matrix
    array([[0.75, 0.25, 0.  ],
           [0.  , 0.75, 0.25],
           [0.25, 0.  , 0.75]])
    """
    key = _entries if key is None else key
    number = {key(state): i for i, state in enumerate(states)}

    def law(state: Any, tape: list[float]) -> np.ndarray:
        try:
            after, _ = step(_Tape(tape), state)
        except _NeedsOutcomeError as needed:
            return sum(p * law(state, [*tape, x]) for x, p in needed.outcomes)  # type: ignore[return-value]
        except _NeedsLevelError:
            return _integrated(lambda u: law(state, [*tape, u]))
        found = np.zeros(len(number))
        found[number[key(after)]] = 1.0
        return found

    return FiniteChain(matrix=np.array([law(state, []) for state in states]))


def _entries(state: Any) -> tuple[Any, ...]:
    position = getattr(state, "position", state)
    if isinstance(position, dict):
        return tuple(_entries(x) for x in position.values())
    return tuple(np.ravel(position).tolist())


def _integrated(law: Callable[[float], np.ndarray]) -> np.ndarray:
    """Return the integral over (0, 1) of a piecewise constant function."""
    levels = [(i + 0.5) / N_LEVELS for i in range(N_LEVELS)]
    ends, found = [0.0, *levels, 1.0 - 2.0**-53], [law(2.0**-54), *(law(u) for u in levels)]
    found.append(law(ends[-1]))
    total = np.zeros_like(found[0])
    for i in range(len(ends) - 1):
        total = total + _between(law, ends[i], ends[i + 1], found[i], found[i + 1])
    return total


def _between(law: Callable[[float], Any], low: float, high: float, at_low: Any, at_high: Any) -> Any:
    """Return the integral from low to high; between different ends there is one jump, or others are found."""
    if np.array_equal(at_low, at_high):
        return (high - low) * at_low
    a, b = low, high
    for _ in range(N_HALVINGS):
        middle = 0.5 * (a + b)
        if not a < middle < b:
            break
        found = law(middle)
        if np.array_equal(found, at_low):
            a = middle
        elif np.array_equal(found, at_high):
            b = middle
        else:
            return _between(law, low, middle, at_low, found) + _between(law, middle, high, found, at_high)
    return (b - low) * at_low + (high - b) * at_high


class _NeedsLevelError(Exception):
    """A step asks for one more uniform number."""


class _NeedsOutcomeError(Exception):
    """A step asks for one of finitely many outcomes."""

    def __init__(self, outcomes: list[tuple[Any, float]]) -> None:
        super().__init__()
        self.outcomes = outcomes


class _Tape(np.random.Generator):
    """A generator whose next numbers are prescribed; it asks for more when they are used up."""

    def __init__(self, numbers: list[Any]) -> None:
        super().__init__(np.random.PCG64(0))
        self._numbers, self._at = numbers, 0

    def _next(self) -> Any:
        if self._at == len(self._numbers):
            return None
        self._at += 1
        return self._numbers[self._at - 1]

    def random(self, size: Any = None, *args: Any, **options: Any) -> Any:
        return self._filled(size, lambda u: u)

    def standard_exponential(self, size: Any = None, *args: Any, **options: Any) -> Any:
        return self._filled(size, lambda u: -np.log(u))

    def integers(self, low: Any, high: Any = None, size: Any = None, *args: Any, **options: Any) -> Any:
        start, end = (0, low) if high is None else (low, high)
        return self._chosen(range(int(start), int(end)), None, size)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, **options: Any) -> Any:  # type: ignore[override]
        return self._chosen(range(a) if isinstance(a, (int, np.integer)) else list(a), p, size)

    def standard_normal(self, *args: Any, **options: Any) -> Any:
        raise ValueError("step must move between finitely many states, and draws a normal number")

    def _filled(self, size: Any, of: Callable[[float], float]) -> Any:
        shape = () if size is None else size
        found = np.empty(shape)
        for index in np.ndindex(found.shape):
            u = self._next()
            if u is None:
                raise _NeedsLevelError
            found[index] = of(u)
        return float(found) if size is None else found

    def _chosen(self, outcomes: Sequence[Any], p: Any, size: Any) -> Any:
        weights = (
            np.full(len(outcomes), 1.0 / len(outcomes)) if p is None else np.asarray(p, dtype=np.float64)
        )
        shape = () if size is None else size
        found = np.empty(shape, dtype=np.asarray(outcomes).dtype)
        for index in np.ndindex(found.shape):
            x = self._next()
            if x is None:
                raise _NeedsOutcomeError(
                    [(o, float(w)) for o, w in zip(outcomes, weights, strict=True) if w > 0]
                )
            found[index] = x
        return found[()] if size is None else found
