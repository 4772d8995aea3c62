"""Laws of samplers, and tests of samplers of posteriors: calibration by simulation, Geweke's joint test.

All rest on one idea: what leaves a distribution invariant turns exact draws into exact draws. Many chains
start from exact draws and take a few steps; where they are then are independent draws again, so that errors
are computed, not guessed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.sampling.driver import sample
from tractable.testing.assertions import SIGMAS, assert_mean, check_laws, largest_ks_distance, laws_above
from tractable.value import value


@value
class SampledTarget:
    """A step, and exact draws from what it samples.

    Parameters
    ----------
    step : callable
        ``step(rng, state) -> (state, info)``.
    draw : callable
        ``draw(rng, n)`` returns n exact draws, as the step takes starts.
    far : callable
        ``far(n)`` returns n starts far from most of the target.
    n_chains, n_steps : int
        Chains that start from exact draws, and the steps they take.
    """

    step: Any
    draw: Callable[[np.random.Generator, int], Any]
    far: Callable[[int], Any] | None = None
    n_chains: int = 2000
    n_steps: int = 5


def target_is_invariant(case: SampledTarget, rng: np.random.Generator) -> None:
    """Exact draws are exact draws after a few steps: moments, and the distribution of each coordinate."""
    before = case.draw(rng, case.n_chains)
    step, state = _begun(case, rng, before)
    for _ in range(case.n_steps):
        state, _info = step(rng, state)
    after, exact = _flat(state), _flat(case.draw(rng, 20 * case.n_chains))
    for name, f in (("mean", lambda x: x), ("second moment", _products)):
        expected = f(exact)
        found = f(after)
        error = np.sqrt(found.var(axis=0) / len(found) + expected.var(axis=0) / len(expected))
        off = np.abs(found.mean(axis=0) - expected.mean(axis=0)) - SIGMAS * error
        assert np.all(off <= 1e-12), (
            f"{name}: {found.mean(axis=0)}, expected {expected.mean(axis=0)} ± {error}"
        )
    for j in range(after.shape[1]):
        distance = _two_sample_ks(after[:, j], exact[:, j])
        bound = largest_ks_distance(len(after)) + largest_ks_distance(len(exact))
        assert distance <= bound, (
            f"coordinate {j} is {distance:.4f} off its distribution, at most {bound:.4f}"
        )


def chains_forget_their_start(case: SampledTarget, rng: np.random.Generator) -> None:
    """Chains that start far away have the right mean, within five of their own standard errors."""
    if case.far is None:
        return
    chains = sample(case.step, case.far(8), 1000, n_warm_up=1000, rng=rng)
    exact = _flat(case.draw(rng, 20_000))
    found = np.concatenate([d.mean.ravel() for d in chains.diagnoses.values()])
    error = np.concatenate([d.mcse_mean.ravel() for d in chains.diagnoses.values()])
    error = np.hypot(error, exact.std(axis=0) / np.sqrt(len(exact)))
    off = np.abs(found - exact.mean(axis=0)) / error
    assert np.all(off < SIGMAS), f"means {found} ± {error}, expected {exact.mean(axis=0)}"


def steps_are_pure(case: SampledTarget, rng: np.random.Generator) -> None:
    """The same generator and state give the same step, and the state given stays as it was."""
    seed = int(rng.integers(2**32))
    step, state = _begun(case, rng, case.draw(rng, 5))
    before = _flat(state).copy()
    once, told = step(np.random.default_rng(seed), state)
    assert np.array_equal(before, _flat(state)), "the step has changed the state that it was given"
    again, _ = step(np.random.default_rng(seed), state)
    assert np.array_equal(_flat(once), _flat(again)), "two steps with equal generators differ"
    for name, x in told.items():
        assert len(x) == 5, f"info[{name!r}] has no row a chain"


def what_a_step_tells_is_true(case: SampledTarget, rng: np.random.Generator) -> None:
    """Acceptance is a probability, and the log density and the gradient are those of the position."""
    step, state = _begun(case, rng, case.draw(rng, 20))
    for _ in range(3):
        state, info = step(rng, state)
        assert np.all((info["acceptance"] >= 0.0) & (info["acceptance"] <= 1.0)), "no probability"
    if getattr(state, "log_prob", None) is not None:
        np.testing.assert_allclose(state.log_prob, step.target(state.position), rtol=1e-12, atol=1e-12)
    if getattr(state, "gradient", None) is not None:
        slope = step.target.with_gradient(state.position)[1]
        np.testing.assert_allclose(state.gradient, slope, rtol=1e-10, atol=1e-10)


def chains_are_independent(case: SampledTarget, rng: np.random.Generator) -> None:
    """Steps of one chain say nothing of those of the next."""
    before = case.draw(rng, case.n_chains)
    step, state = _begun(case, rng, before)
    state, _info = step(rng, state)
    moved = _flat(state) - _flat(_begun(case, rng, before)[1])
    # From exact draws the mean move is zero.
    assert_mean(moved[:-1:2] * moved[1::2], 0.0, "product of the moves of two chains")


def seeds_repeat_runs(case: SampledTarget, rng: np.random.Generator) -> None:
    """A seed gives one answer; another seed another one."""
    start = case.draw(rng, 3)
    runs = [sample(case.step, start, 5, n_warm_up=5, rng=seed) for seed in (7, 7, 8)]
    first, second, third = (np.concatenate([x.ravel() for x in run.draws.values()]) for run in runs)
    assert np.array_equal(first, second), "one seed has given two answers"
    assert not np.array_equal(first, third), "two seeds have given one answer"


SAMPLER_LAWS = laws_above(globals())


def check_sampler(case: SampledTarget, rng: Any = None) -> None:
    """Run every law of samplers on a step and exact draws from its target.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> target = tractable.MultivariateNormal(mean=[0.0, 1.0], covariance=[[1.0, 0.5], [0.5, 1.0]])
    >>> step = tractable.sampling.gaussian_gibbs(target)
    >>> check_sampler(SampledTarget(step=step, draw=lambda rng, n: target.sample(n, rng=rng)), rng=0)
    """
    check_laws(SAMPLER_LAWS, case, rng)


@value
class Calibration:
    """Ranks of true parameters among draws from their posteriors, uniform where the sampler is right.

    Parameters
    ----------
    ranks : array (n_simulations, d)
        How many draws are below the true parameter.
    n_draws : int
        Draws from each posterior.
    p_values : array (d,)
        Of the chi-squared test that ranks are uniform, for each parameter.
    """

    ranks: np.ndarray
    n_draws: int
    p_values: np.ndarray


def simulation_based_calibration(
    draw_prior: Callable[[np.random.Generator, int], Any],
    simulate: Callable[[np.random.Generator, Any], Any],
    draw_posterior: Callable[[np.random.Generator, Any], Any],
    *,
    n_simulations: int = 500,
    n_bins: int = 10,
    rng: Any = None,
) -> Calibration:
    """Return the ranks of parameters drawn from the prior among draws from the posteriors of simulated data.

    Cook, Gelman and Rubin (2006), Talts and others (2018): they are uniform if the sampler is right. All
    simulations are made together, as rows.

    Parameters
    ----------
    draw_prior : callable
        ``draw_prior(rng, n)`` returns parameters (n, d).
    simulate : callable
        ``simulate(rng, parameters)`` returns data, a row for each row of parameters.
    draw_posterior : callable
        ``draw_posterior(rng, data)`` returns draws (n, n_draws, d), nearly independent ones.
    n_simulations : int
        How many parameters to draw.
    n_bins : int
        Bins of the chi-squared test.
    rng : None, int or Generator
        Source of randomness.

    Examples
    --------
    >>> import numpy as np
    >>> found = simulation_based_calibration(
    ...     lambda rng, n: rng.standard_normal((n, 1)),
    ...     lambda rng, x: x + rng.standard_normal(x.shape),
    ...     lambda rng, y: y[:, None] / 2 + np.sqrt(0.5) * rng.standard_normal((len(y), 99, 1)),
    ...     rng=0,
    ... )
    >>> bool(found.p_values[0] > 0.001)
    True
    """
    from scipy.stats import chisquare

    rng = np.random.default_rng(rng)
    parameters = np.asarray(draw_prior(rng, n_simulations))
    draws = np.asarray(draw_posterior(rng, simulate(rng, parameters)))
    ranks = np.sum(draws < parameters[:, None], axis=1)
    n_draws = draws.shape[1]
    edges = np.ceil(np.linspace(0, n_draws + 1, n_bins + 1)) - 0.5  # of the ranks 0, …, n_draws
    expected = n_simulations * np.diff(edges) / (n_draws + 1)
    p_values = np.array([chisquare(np.histogram(r, edges)[0], expected).pvalue for r in ranks.T])
    return Calibration(ranks=ranks, n_draws=n_draws, p_values=p_values)


def geweke_joint_test(
    draw_prior: Callable[[np.random.Generator, int], Any],
    simulate: Callable[[np.random.Generator, Any], Any],
    update: Callable[[np.random.Generator, Any, Any], Any],
    functions: Callable[[Any, Any], Any] | None = None,
    *,
    n_chains: int = 5000,
    n_steps: int = 5,
    rng: Any = None,
) -> np.ndarray:
    """Return z-scores of Geweke's (2004) test that a step leaves a joint distribution of parameters and data.

    Chains start from the joint distribution, and alternate between a step of the parameters given the data
    and new data given the parameters; it stays what it was if the step is right.

    Parameters
    ----------
    draw_prior, simulate : callables
        As in `simulation_based_calibration`.
    update : callable
        ``update(rng, parameters, data)`` returns parameters after one step, row by row.
    functions : callable, optional
        ``functions(parameters, data)`` returns (n, k), of which the means are compared; by default the
        parameters, their squares, and their products with the mean of the data of a row.
    n_chains, n_steps : int
        Number of chains, and of steps that each takes.
    rng : None, int or Generator
        Source of randomness.

    Examples
    --------
    >>> import numpy as np
    >>> z = geweke_joint_test(
    ...     lambda rng, n: rng.standard_normal((n, 1)),
    ...     lambda rng, x: x + rng.standard_normal(x.shape),
    ...     lambda rng, x, y: y / 2 + np.sqrt(0.5) * rng.standard_normal(x.shape),
    ...     rng=0,
    ... )
    >>> bool(np.all(np.abs(z) < 5))
    True
    """
    functions = _joint_moments if functions is None else functions
    rng = np.random.default_rng(rng)
    fresh = np.asarray(draw_prior(rng, n_chains))
    first = functions(fresh, simulate(rng, fresh))
    x = np.asarray(draw_prior(rng, n_chains))
    y = simulate(rng, x)
    for _ in range(n_steps):
        x = np.asarray(update(rng, x, y))
        y = simulate(rng, x)
    last = functions(x, y)
    error = np.sqrt((first.var(axis=0) + last.var(axis=0)) / n_chains)
    return (last.mean(axis=0) - first.mean(axis=0)) / error


def _joint_moments(x: np.ndarray, y: Any) -> np.ndarray:
    mean = np.asarray(y).reshape(len(x), -1).mean(axis=1, keepdims=True)
    return np.concatenate([x, x * x, x * mean], axis=1)


def _begun(case: SampledTarget, rng: np.random.Generator, start: Any) -> tuple[Any, Any]:
    return case.step.begin(rng, start) if hasattr(case.step, "begin") else (case.step, start)


def _flat(state: Any) -> np.ndarray:
    """Return positions as one array, a row a chain."""
    position = getattr(state, "position", state)
    parts = list(position.values()) if isinstance(position, dict) else [position]
    return np.concatenate([np.reshape(np.asarray(x, dtype=np.float64), (len(x), -1)) for x in parts], axis=1)


def _products(x: np.ndarray) -> np.ndarray:
    i, j = np.triu_indices(x.shape[1])
    return x[:, i] * x[:, j]


def _two_sample_ks(a: np.ndarray, b: np.ndarray) -> float:
    at = np.concatenate([a, b])
    return float(
        np.max(
            np.abs(
                np.searchsorted(np.sort(a), at, side="right") / len(a)
                - np.searchsorted(np.sort(b), at, side="right") / len(b)
            )
        )
    )
