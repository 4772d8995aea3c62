"""Expectation-maximisation over pure steps; state lives in the arguments."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from tractable.arrays.devices import asks_single
from tractable.data.progress import progress
from tractable.engines.checkpoint import BlockDigest, Checkpoint, fingerprint, next_checkpoint
from tractable.primitives.threads import single_threaded_blas
from tractable.value import parameters, replace, value

P = TypeVar("P")


class Reducible(Protocol):
    """Data that sums a function over its blocks."""

    def reduce(self, of: Callable[[Any], Any], *, label: str = ...) -> Any:
        """Return the sum of ``of(block)`` over all blocks."""


class EMProblem(ABC):
    """The data of a search and its two steps; what `EMEstimator._em_problem` returns.

    Attributes
    ----------
    data : source, `Prepared` or `Whole`
        What an E-step reduces.
    total : float
        Weight of the rows.
    """

    @abstractmethod
    def initial(self, rng: np.random.Generator) -> Any:
        """Return initial parameters."""

    @abstractmethod
    def expect(self, params: Any) -> Any:
        """Return the E-step at these parameters: a function of a block that holds no rows."""

    @abstractmethod
    def maximize(self, statistic: Any) -> Any:
        """Return the parameters that maximise the expected log-likelihood."""

    def extrapolate(self, start: Any, once: Any, twice: Any) -> Any:
        """Return parameters farther along two steps of EM, or None to go on from where they led; see `em`."""
        return None


@value
class EMResult:
    """Where expectation-maximisation stopped.

    Parameters
    ----------
    params : object
        The parameters, what `maximize` returns.
    trace : tuple of float
        The objective, before the first step and after each.
    converged : bool
        Whether the search ended by its tolerance.
    interrupted : bool
        Whether it ended by Ctrl-C: use what is here, then raise KeyboardInterrupt again.
    """

    params: Any
    trace: tuple[float, ...]
    converged: bool
    interrupted: bool = False

    @property
    def n_iter(self) -> int:
        """Number of M-steps taken."""
        return len(self.trace) - 1

    @property
    def objective(self) -> float:
        """The objective at the parameters."""
        return self.trace[-1]


def em(
    expect: Callable[[P], Any],
    maximize: Callable[[Any], P],
    params: P,
    data: Reducible,
    *,
    tol: float = 1e-8,
    max_iter: int = 200,
    label: str = "EM",
    scale: float | None = None,
    settled: Callable[[P, P], bool] | None = None,
    extrapolate: Callable[[P, P, P], P | None] | None = None,
    options: Any = None,
) -> EMResult:
    """Alternate E- and M-steps until the objective grows by less than `tol` of itself, or of a `scale`.

    An E-step is a fold over the data: ``data.reduce(expect(params))``. So a model runs on threads, on files
    and wherever else a source reduces. An interruption (Ctrl-C) ends the search and is said in the result, so
    that a model can keep the best so far before it raises KeyboardInterrupt again. Inside
    :func:`tractable.checkpoint` the search is saved now and then, and resumed from where it was.

    Parameters
    ----------
    expect : callable
        ``expect(params)`` is the E-step at these parameters: a function of a block of the data, which holds
        parameters and no rows. It returns the block's expected statistics, which add, and whose sum has an
        attribute `objective`: the (penalised) log-likelihood of the parameters that they were made with.
    maximize : callable
        ``expected statistics -> params``: the best, or (generalised EM) only better ones.
    params : value
        The initial parameters.
    data : source, or anything with a method ``reduce(of)``
        See :class:`tractable.data.Source`, `Prepared` and, for a statistic in the place of rows, `Whole`.
    tol : float
        Relative growth of the objective below which the search stops.
    max_iter : int
        Most M-steps taken.
    label : str
        Shown before the progress bar of a search that takes more than a second.
    scale : float, optional
        What `tol` is a fraction of, in place of the objective: the weight of the rows, say, where the origin
        of the objective has no meaning.
    settled : callable, optional
        ``(params, following) -> bool``: whether a step is the last, in place of `tol` where the objective
        has plateaus.
    extrapolate : callable, optional
        ``(params, after one step, after two) -> params``, or None: parameters farther on, such as those of
        `squared_extrapolation`. They are taken, after every second step, where the objective is higher
        there, so that it never falls; one more E-step is what a trial costs.
    options : mapping, optional
        The parameters of the model, which a search that is resumed must have too.
    """
    mark = next_checkpoint()
    kind = _identity(label, params, data, (tol, max_iter, scale, options)) if mark.is_stored else {}
    params, trace, done = _resumed(mark, kind, params)
    # Waking the threads of BLAS for small matrices, between two folds, costs more than an iteration.
    with single_threaded_blas(), progress(label, max_iter) as line:
        expected: Any = None if done else data.reduce(expect(params), label="E-step")
        trace = trace or (float(expected.objective),)
        passed: tuple[P, ...] = (params,)
        try:
            while not done and len(trace) <= max_iter:
                following = maximize(expected)
                expected = data.reduce(expect(following), label="E-step")
                longer = (*trace, float(expected.objective))
                last = settled(params, following) if settled else _settled(longer, tol, scale)
                passed = () if extrapolate is None else (*passed, following)
                if extrapolate is not None and len(passed) == 3:
                    farther = None if last else extrapolate(*passed)
                    if farther is not None:
                        there = data.reduce(expect(farther), label="E-step")
                        if float(there.objective) > longer[-1]:
                            following, expected, longer = farther, there, (*trace, float(there.objective))
                    passed = (following,)
                # All or none, should an interruption fall between.
                params, trace, done = following, longer, last
                line.advance(note=f"objective {trace[-1]:.6g}")
                mark.save_if_due(partial(_state, kind, params, trace, done))
        except KeyboardInterrupt:
            mark.save(_state(kind, params, trace, done))
            return EMResult(params=params, trace=trace, converged=False, interrupted=True)
    mark.save(_state(kind, params, trace, done))
    # A stopping rule of its own needs no objective that never falls (a fixed point of the evidence).
    sound = settled is not None or not _fell(trace)
    return EMResult(params=params, trace=trace, converged=done and sound)


def squared_extrapolation(
    start: np.ndarray, once: np.ndarray, twice: np.ndarray, *, least: float = 1.0
) -> np.ndarray | None:
    """Return start + 2 s r + s² v, with r the first step, v the change of the step and s = |r| / |v|.

    The squared extrapolation of Varadhan and Roland (2008, scheme S3). EM converges linearly, along a few
    slow directions: this is as many of its steps at once as the last two predict. None where s is no more
    than `least`: one is no farther than the two steps taken.

    Parameters
    ----------
    start, once, twice : arrays
        Parameters as a vector before a step of EM, after one and after two.
    least : float
        Where the distance to the limit shrinks by a factor q a step, s is about 1 / (1 - q): few steps are
        left where it is small, and an E-step for a trial is one of them.

    Examples
    --------
    >>> squared_extrapolation(np.array([1.0]), np.array([0.9]), np.array([0.81])).round(12).tolist()
    [0.0]
    """
    r = once - start
    v = (twice - once) - r
    size = float(np.linalg.norm(v))
    length = float(np.linalg.norm(r)) / size if size > 0.0 else 0.0
    return start + 2.0 * length * r + length * length * v if least < length < np.inf else None


def best_of(
    search: Callable[[int], EMResult], n_init: int, sound: Callable[[Any], bool] = lambda _: True
) -> EMResult:
    """Run a search from several starts and return the one with the highest objective.

    Of searches that ended at one optimum, but for rounding, the first is returned, so that another array
    library or another number of threads does not choose another order of the components. An interrupted
    search is the last; the best so far is returned, and says that it was interrupted.

    Parameters
    ----------
    search : callable
        ``search(i)`` returns the `EMResult` from the i-th start, i from 0.
    n_init : int
        Number of starts.
    sound : callable
        Whether parameters are sound; a search that ended at others (where the objective has no bound) loses
        to any that did not.
    """
    if n_init < 1:
        raise ValueError(f"n_init must be at least 1, got {n_init!r}")
    best = search(0)
    for start in range(1, n_init):
        if best.interrupted:
            break
        try:
            found = search(start)
        except KeyboardInterrupt:  # before its first step: the starts before are kept
            return replace(best, interrupted=True)
        winner = found if _exceeds(_merit(found, sound), _merit(best, sound)) else best
        best = replace(winner, interrupted=found.interrupted)
    return best


#: Objectives no farther apart than this, relatively, differ by rounding. No more: a unit of the rows adds a
#: constant to a log-likelihood, and is not to decide between searches.
ROUNDING = 1e-14


def _exceeds(merit: tuple[bool, bool, float], other: tuple[bool, bool, float]) -> bool:
    """Return whether a merit is greater than another, by more than rounding where objectives decide."""
    same = merit[:2] == other[:2] and math.isclose(merit[2], other[2], rel_tol=ROUNDING)
    return not same and merit > other


def _merit(found: EMResult, sound: Callable[[Any], bool]) -> tuple[bool, bool, float]:
    """Return a sort key: results that are numbers first, then those that are sound, then by objective."""
    number = not math.isnan(found.objective)
    return number, sound(found.params), found.objective if number else 0.0


def _settled(trace: tuple[float, ...], tol: float, scale: float | None) -> bool:
    return len(trace) > 1 and trace[-1] - trace[-2] <= tol * (abs(trace[-2]) if scale is None else scale)


def _fell(trace: tuple[float, ...]) -> bool:
    """Whether the last step lowered the objective by more than rounding, so that EM has not converged."""
    rounding = 1e-6 if asks_single() else 1e-9
    return len(trace) > 1 and trace[-1] - trace[-2] < -rounding * abs(trace[-2])


def _identity(label: str, params: Any, data: Reducible, options: Any) -> dict[str, Any]:
    """Return what identifies a search, for a checkpoint: its kind, its data and its parameters."""
    return {
        "kind": (label, _shapes(params)),
        "data": data.reduce(BlockDigest(), label="fingerprint"),
        "parameters": fingerprint(options).hex(),
    }


def _state(identity: Any, params: Any, trace: tuple[float, ...], done: bool) -> dict[str, Any]:
    return {**identity, "params": parameters(params), "trace": trace, "done": done}


def _resumed(mark: Checkpoint, identity: dict[str, Any], start: P) -> tuple[P, tuple[float, ...], bool]:
    state = mark.state
    if state is None:
        return start, (), False
    found = state if isinstance(state, dict) else {}
    others = [name for name in identity if found.get(name) != identity[name]]
    if others:
        of = "another search" if "kind" in others else " and ".join(f"other {name}" for name in others)
        raise ValueError(
            f"path: the checkpoint is of {of}; run the same code on the same data, or remove the file, or "
            "choose another"
        )
    return type(start)(**state["params"]), tuple(state["trace"]), state["done"]


def _shapes(x: Any) -> Any:
    """Return a description of the initial parameters of a search: their types and shapes, not the numbers."""
    if hasattr(x, "shape"):
        return tuple(int(n) for n in x.shape)
    if is_dataclass(x):
        return type(x).__name__, tuple((name, _shapes(part)) for name, part in parameters(x).items())
    if isinstance(x, (tuple, list)):
        return tuple(_shapes(part) for part in x)
    return type(x).__name__
