"""The one driver of Markov chains: it repeats a step for all chains together, warms up, keeps, stops.

A step is a pure function ``(rng, state) -> (state, info)``. Chains are rows: every array of a state has them
along its first axis, and one call moves them all. Randomness comes in blocks of steps, each with a generator
spawned from the seed, so that a state, which is data, and the number of its block are all that a run needs to
go on.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import floor, log
from typing import Any, NamedTuple

import numpy as np

from tractable.arrays.numbers import check_count, check_number
from tractable.arrays.random import as_generator, either_seed_name
from tractable.data.progress import progress
from tractable.engines.checkpoint import fingerprint, next_checkpoint
from tractable.sampling.chains import Chains
from tractable.sampling.diagnostics import effective_sample_size

#: Steps between two looks at the clock, the effective sample size and the checkpoint.
BLOCK = 100


class State(NamedTuple):
    """Where chains are.

    Parameters
    ----------
    position : array (n_chains, ...) or mapping of arrays
        The point of each chain.
    log_prob : array (n_chains,), optional
        The log density there.
    gradient : array (n_chains, ...), optional
        Its gradient.
    """

    position: Any
    log_prob: Any = None
    gradient: Any = None


@either_seed_name
def sample(
    step: Callable[[Any, Any], Any],
    start: Any,
    n_samples: int = 1000,
    *,
    n_chains: int = 4,
    n_warm_up: int = 1000,
    thin: int = 1,
    target_ess: float | None = None,
    max_samples: int | None = None,
    rng: Any = None,
    label: str = "sampling",
) -> Chains:
    """Run Markov chains side by side, and return their draws.

    Parameters
    ----------
    step : callable
        ``step(rng, state) -> (state, info)``, such as `metropolis_hastings`, `gibbs`, `slice` and `nuts`
        return; a state has a row a chain in every array, and `info` is a mapping of arrays (n_chains,).
        Where it has them, ``step.begin(rng, position)`` returns the step for such points and the first
        state, checked, ``step.for_steps(n_steps)`` the step for a run of at most so many, and
        ``step.tuning(state, n_warm_up)`` what is adapted during warm-up, and only then.
    start : array (n_chains, ...), mapping of arrays, distribution or callable
        A row a chain; what to draw the starts from; or ``start(rng, n_chains)``.
    n_samples : int
        Draws of each chain that are kept.
    n_chains : int
        Number of chains, where `start` does not say.
    n_warm_up : int
        Steps before the first draw, which are dropped: how many a chain needs to forget its start is a
        choice, which R-hat helps to judge.
    thin : int
        Keep every so manyth step.
    target_ess : float, optional
        Go on until the smallest effective sample size, of all chains together, is this, or until
        `max_samples`, with a warning.
    max_samples : int, optional
        The most draws of each chain, with `target_ess`; ten times `n_samples` by default.
    rng : None, int or Generator
        Source of randomness; with a seed the result is repeatable.
    label : str
        Shown before the progress bar of a run that takes more than a second.

    Notes
    -----
    Inside :func:`tractable.checkpoint` a run is saved now and then, and goes on from there. After Ctrl-C the
    draws so far are lost unless it ran in such a block.

    Examples
    --------
    >>> import tractable
    >>> target = tractable.MultivariateNormal(mean=[1.0, 2.0], covariance=[[1.0, 0.8], [0.8, 1.0]])
    >>> step = tractable.sampling.metropolis_hastings(target)
    >>> chains = sample(step, np.zeros((4, 2)), 2000, rng=0)
    >>> chains["x"].shape, bool(np.all(np.abs(chains.flat().mean(axis=0) - [1.0, 2.0]) < 0.2))
    ((4, 2000, 2), True)
    """
    if not callable(step):
        raise ValueError(f"step must be a function (rng, state) -> (state, info), got {type(step).__name__}")
    n_samples = check_count("n_samples", n_samples, least=1)
    n_warm_up, thin = check_count("n_warm_up", n_warm_up), check_count("thin", thin, least=1)
    if target_ess is not None:
        check_number("target_ess", target_ess, above=0.0)
    elif max_samples is not None:
        raise ValueError("max_samples is for target_ess: without it n_samples are drawn")
    most = (
        n_samples
        if target_ess is None
        else check_count("max_samples", 10 * n_samples if max_samples is None else max_samples, least=1)
    )
    n_chains, rng = check_count("n_chains", n_chains, least=1), as_generator(rng)
    mark = next_checkpoint()
    saved = mark.state
    # With the seed that was saved, starts that are drawn are those of the run that was broken off.
    seed = saved.get("seed") if isinstance(saved, dict) else None
    seed = seed or [int(word) for word in rng.integers(0, 2**32, size=4)]
    first = _generator(seed, 0)
    position = _starts(start, first, n_chains)
    run = _Run(step, seed, first, position, n_warm_up, thin, most)
    kind: dict[str, Any] = {"kind": (label, type(step).__name__)}
    if mark.is_stored:
        kind["parameters"] = fingerprint((step, n_warm_up, thin, position)).hex()
    if saved is not None:
        run.resume(saved, kind, first)
    with progress(label, n_warm_up + most * thin) as line:
        line.advance(run.n_steps)
        while not run.is_done(n_samples, target_ess):
            done = run.advance(_generator(seed, 1 + run.n_blocks))
            line.advance(done, note="warm-up" if run.n_steps < n_warm_up else "")
            mark.save_if_due(partial(run.state, kind))
    if target_ess is not None and run.n_kept >= most:
        _warn_if_short(run.chains(), target_ess)
    if mark.is_stored:
        mark.save(run.state(kind))
    return run.chains()


class _Run:
    """A run under way: the state, what is tuned, and the draws so far."""

    def __init__(
        self, step: Any, seed: list[int], rng: Any, position: Any, n_warm_up: int, thin: int, most: int
    ) -> None:
        begun = hasattr(step, "begin")
        step, self.at = step.begin(rng, position) if begun else (_checked(step), position)
        if hasattr(step, "for_steps"):
            step = step.for_steps(n_warm_up + thin * most)
        self.step, self.n_warm_up, self.thin, self.most = step, n_warm_up, thin, most
        self.tuned: Any = None
        if n_warm_up and hasattr(step, "tuning"):
            self.tuned = step.tuning(self.at, n_warm_up)
        self.n_steps = self.n_blocks = 0
        self.seed = seed
        self.draws: dict[str, list[np.ndarray]] = {}
        self.info: dict[str, list[np.ndarray]] = {}

    @property
    def n_kept(self) -> int:
        return max(self.n_steps - self.n_warm_up, 0) // self.thin

    def is_done(self, n_samples: int, target_ess: float | None) -> bool:
        if self.n_kept < (n_samples if target_ess is None else min(n_samples, self.most)):
            return False
        if target_ess is None or self.n_kept >= self.most:
            return True
        if not self._is_time_to_look(n_samples):
            return False
        found = self.chains()
        return found.n_draws >= 4 and all(size >= target_ess for size in _effective_sizes(found))

    def _is_time_to_look(self, n_samples: int) -> bool:
        """Whether there are a tenth more draws than at the last look: looks cost as much as all of them.

        It depends on the number of steps alone, so that a run that is resumed ends where it would have.
        """
        before = max(self.n_steps - BLOCK - self.n_warm_up, 0) // self.thin
        looks = [floor(log(max(n, 1) / n_samples) / log(1.1)) for n in (before, self.n_kept)]
        return before < n_samples or looks[0] < looks[1]

    def advance(self, rng: np.random.Generator) -> int:
        """Take the steps of one block, and return how many they were."""
        warming = self.n_steps < self.n_warm_up
        left = (
            self.n_warm_up - self.n_steps
            if warming
            else self.n_warm_up + self.most * self.thin - self.n_steps
        )
        n = min(BLOCK, left)
        if warming:
            self._warm_up(rng, n)
        else:
            self._keep(rng, n)
        self.n_steps += n
        self.n_blocks += 1
        return n

    def _warm_up(self, rng: np.random.Generator, n: int) -> None:
        at, tuned, step = self.at, self.tuned, self.step
        for _ in range(n):
            if tuned is None:
                at, _info = step(rng, at)
            else:
                at, info = step.tuned(tuned)(rng, at)
                tuned = tuned.updated(at, info)
        self.at, self.tuned = at, tuned

    def _keep(self, rng: np.random.Generator, n: int) -> None:
        at, step, thin = self.at, self._tuned_step(), self.thin
        offset = self.n_steps - self.n_warm_up
        kept: list[tuple[Any, Mapping[str, Any]]] = []
        for i in range(offset + 1, offset + n + 1):
            at, info = step(rng, at)
            if i % thin == 0:
                kept.append((at, info))
        self.at = at
        if not kept:
            return
        for name in _variables(kept[0][0]):
            block = np.stack([_variables(state)[name] for state, _ in kept], axis=1)
            self.draws.setdefault(name, []).append(block)
        log_prob = {"log_prob": getattr(at, "log_prob", None)}
        for name in {**kept[0][1], **{k: v for k, v in log_prob.items() if v is not None}}:
            rows = [getattr(state, "log_prob") if name == "log_prob" else info[name] for state, info in kept]  # noqa: B009
            self.info.setdefault(name, []).append(np.stack(rows, axis=1))

    def _tuned_step(self) -> Any:
        return self.step if self.tuned is None else self.step.tuned(self.tuned.finished())

    def chains(self) -> Chains:
        """Return the draws so far."""
        joined = ({k: np.concatenate(x, axis=1) for k, x in part.items()} for part in (self.draws, self.info))
        draws, info = joined
        names: Any = getattr(self.step, "names", None)
        return Chains(draws=draws, info=info, names=names, n_warm_up=self.n_warm_up, thin=self.thin)

    def state(self, kind: Mapping[str, Any]) -> dict[str, Any]:
        """Return the run as data."""
        found = self.chains() if self.draws else None
        return {
            **kind,
            "seed": self.seed,
            "at": self.at._asdict() if isinstance(self.at, State) else self.at,
            "tuned": None if self.tuned is None else self.tuned.as_data(),
            "n_steps": self.n_steps,
            "n_blocks": self.n_blocks,
            "draws": {} if found is None else dict(found.draws),
            "info": {} if found is None else dict(found.info),
        }

    def resume(self, saved: Any, kind: Mapping[str, Any], rng: np.random.Generator) -> None:
        """Go on from a saved state of the same run: of the same step, from the same starts, on one target."""
        if not isinstance(saved, dict) or any(saved.get(name) != kind[name] for name in kind):
            raise _another_run()
        at = State(**saved["at"]) if isinstance(self.at, State) else saved["at"]
        if isinstance(at, State) and at.log_prob is not None:
            # Functions have no digest, but a value where the chains are.
            try:
                again = self.step.begin(rng, at.position)[1].log_prob
            except ValueError as error:
                raise _another_run() from error
            if not np.allclose(again, at.log_prob, rtol=1e-6, atol=1e-9):
                raise _another_run()
        self.at = at
        if self.tuned is not None:
            self.tuned = type(self.tuned).from_data(saved["tuned"])
        self.n_steps, self.n_blocks = saved["n_steps"], saved["n_blocks"]
        self.draws = {name: [x] for name, x in saved["draws"].items()}
        self.info = {name: [x] for name, x in saved["info"].items()}


def _another_run() -> ValueError:
    return ValueError(
        "path: the checkpoint is of another run; run the same code, or remove the file, or choose another"
    )


def _effective_sizes(chains: Chains) -> Iterator[float]:
    """Yield the smallest effective sample size of each quantity: of the bulk of all, then of the tails."""
    for kind in ("bulk", "tail"):
        for x in chains.draws.values():
            yield float(np.min(effective_sample_size(x, kind)))


def _warn_if_short(chains: Chains, target_ess: float) -> None:
    ess = min(_effective_sizes(chains)) if chains.n_draws >= 4 else 0.0
    if ess < target_ess:
        warnings.warn(
            f"target_ess = {target_ess:g} is not reached: {chains.n_draws} draws of each chain, which are "
            f"max_samples, have an effective sample size of {ess:.0f}; raise max_samples, or take another "
            "step",
            RuntimeWarning,
            stacklevel=3,
        )


def _checked(step: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a step that is a function of the user's, of which what it returns is checked."""
    if hasattr(step, "tuning"):
        return step

    def taken(rng: np.random.Generator, at: Any) -> Any:
        found = step(rng, at)
        if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], Mapping)):
            raise ValueError(
                f"step must return a pair: the state, and a mapping of arrays, got {type(found).__name__}"
            )
        before, after = _variables(at), _variables(found[0])
        for name, x in before.items():
            moved = np.asarray(after[name]) if name in after else None
            if moved is None or moved.shape != np.shape(x):
                got = None if moved is None else moved.shape
                raise ValueError(f"step must keep the shape of the state, {np.shape(x)}, got {got}")
            if not np.all(np.isfinite(moved)):
                raise ValueError(f"step has moved the chains to {moved}, which is not finite")
        return found

    return taken


def _generator(seed: list[int], number: int) -> np.random.Generator:
    """Return the generator of a block of steps, spawned from the seed."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))


def _variables(state: Any) -> Mapping[str, np.ndarray]:
    position = getattr(state, "position", state)
    return position if isinstance(position, Mapping) else {"x": position}


def _starts(start: Any, rng: np.random.Generator, n_chains: int) -> Any:
    """Return starting points, a row a chain."""
    if hasattr(start, "sample"):
        start = start.sample(n_chains, rng=rng)
    elif callable(start):
        start = start(rng, n_chains)
    if isinstance(start, Mapping):
        found = {name: _rows(f"start[{name!r}]", x) for name, x in start.items()}
        if len({len(x) for x in found.values()}) != 1:
            raise ValueError(
                "start must have as many rows, one a chain, in every array: "
                + ", ".join(f"{name} has {len(x)}" for name, x in found.items())
            )
        return found
    return _rows("start", start)


def _rows(name: str, x: Any) -> np.ndarray:
    found = np.asarray(x)
    if found.dtype.kind not in "fiub" or found.ndim < 1 or not found.size:
        raise ValueError(f"{name} must be an array of numbers with a row a chain, got {x!r}")
    if not np.all(np.isfinite(found)):
        raise ValueError(f"{name} must be finite")
    return found.astype(np.float64) if found.dtype.kind == "f" else found
