"""Laws of conjugate models: statistics update priors, and the closed forms follow from Bayes' rule.

The data of a law are drawn from the model itself: a parameter from the prior, rows given the parameter.
"""

import copy
import pickle
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from tractable.testing.assertions import (
    SIGMAS,
    assert_frozen,
    assert_mean,
    check_laws,
    each,
    laws_above,
    parts,
    refused,
)
from tractable.value import parameters, replace


def assert_same_posterior(a: Any, b: Any, rng: np.random.Generator) -> None:
    """Raise unless two models are of one type and have the same prior."""
    assert type(a) is type(b), f"{type(a).__name__} is not {type(b).__name__}"
    assert type(a.prior) is type(b.prior)
    x = a.prior.sample(20, rng=rng)
    np.testing.assert_allclose(a.prior.log_prob(x), b.prior.log_prob(x), rtol=1e-9, atol=1e-9)
    each(partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-12), a.mean(), b.mean())


def updating_with_nothing_changes_nothing(model: Any, rng: np.random.Generator) -> None:
    """The empty statistic is neutral: the same posterior, and evidence 1."""
    rows, _ = rows_of(model, 3, rng)
    nothing = model.summarize(rows[:0])
    assert_same_posterior(model.update(nothing), model, rng)
    np.testing.assert_allclose(model.log_evidence(nothing), 0.0, atol=1e-12)


def updates_merge(model: Any, rng: np.random.Generator) -> None:
    """In one batch, in two parts, in either order, or row by row: one posterior."""
    rows, _ = rows_of(model, 12, rng)
    a, b = model.summarize(rows[:5]), model.summarize(rows[5:])
    at_once = model.update_rows(rows)
    for other in (model.update(a + b), model.update(a).update(b), model.update(b).update(a)):
        assert_same_posterior(at_once, other, rng)
    one_by_one = model
    for i in range(len(rows)):
        one_by_one = one_by_one.update_rows(rows[i : i + 1])
    assert_same_posterior(at_once, one_by_one, rng)


def weights_are_repetitions(model: Any, rng: np.random.Generator) -> None:
    """An integer weight counts a row so many times, in the posterior and in the evidence, by either name."""
    rows, _ = rows_of(model, 4, rng)
    times = np.array([2, 0, 1, 3])
    weights = times.astype(float)
    weighted, repeated = model.summarize(rows, weights), model.summarize(np.repeat(rows, times, 0))
    named = model.summarize(rows, sample_weight=weights), model.summarize(rows, weights=weights)
    for statistic in (weighted, *named):
        assert_same_posterior(model.update(statistic), model.update(repeated), rng)
    np.testing.assert_allclose(model.log_evidence(weighted), model.log_evidence(repeated), rtol=1e-10)


def discounting_forgets(model: Any, rng: np.random.Generator) -> None:
    """Half of what was seen twice counts as seen once."""
    statistic = model.summarize(rows_of(model, 5, rng)[0])
    assert_same_posterior(model.update((statistic + statistic).discount(0.5)), model.update(statistic), rng)


def updating_changes_nothing_else(model: Any, rng: np.random.Generator) -> None:
    """An update returns a new value: the old model, the rows and known parameters stay as they were."""
    rows, _ = rows_of(model, 4, rng)
    kept, x = np.array(rows), model.prior.sample(3, rng=rng)
    before = model.prior.log_prob(x)
    updated = model.update_rows(rows)
    np.testing.assert_array_equal(rows, kept)
    np.testing.assert_array_equal(model.prior.log_prob(x), before)
    assert parameters(updated).keys() == parameters(model).keys()
    assert_frozen(model)


def models_survive_pickling_and_copying(model: Any, rng: np.random.Generator) -> None:
    """A copy, a pickle and a rebuilt value are the same model."""
    statistic = model.summarize(rows_of(model, 4, rng)[0])
    pickled = pickle.loads(pickle.dumps(model))  # noqa: S301
    for other in (pickled, copy.copy(model), copy.deepcopy(model), replace(model)):
        assert_same_posterior(other.update(statistic), model.update(statistic), rng)
        assert other.log_evidence(statistic) == model.log_evidence(statistic)


def trace_is_the_sequence_of_updates(model: Any, rng: np.random.Generator) -> None:
    """A trace starts at the model itself and ends with everything seen."""
    rows, _ = rows_of(model, 6, rng)
    parts = [model.summarize(rows[:2]), model.summarize(rows[2:])]
    trace = model.trace(parts)
    assert len(trace) == len(parts) + 1
    assert trace[0] is model
    assert_same_posterior(trace[-1], model.update_rows(rows), rng)


def bad_rows_are_refused(model: Any, rng: np.random.Generator) -> None:
    """Missing and infinite numbers, other widths, other statistics and other priors are one clear error."""
    rows = np.array(rows_of(model, 4, rng)[0], dtype=float)
    for bad in (np.nan, np.inf):
        spoilt = np.array(rows)
        spoilt.flat[-1] = bad
        refused(partial(model.summarize, spoilt), "X")
    refused(partial(model.summarize, np.zeros((3, 97))), "X")
    refused(partial(model.summarize, rows, -np.ones(len(rows))), "weight")
    for call in (model.update, model.log_evidence, partial(replace, model, prior=None)):
        try:
            call(*() if isinstance(call, partial) else (rows,))
        except TypeError as error:
            assert "statistic" in str(error) or "prior" in str(error)
        else:
            raise AssertionError("rows were taken for a statistic, or nothing for a prior")


N_DRAWS = 20_000


def every(f: Any, *events: Any) -> bool:
    """Return whether f holds of all entries of events, all parts of them."""
    return bool(np.all([np.all(part) for part in parts(each(f, *events))]))


def rows_of(model: Any, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw a parameter from the prior and n rows given it."""
    parameter = _draw(model, rng)
    return model.likelihood(parameter).sample(n, rng=rng), parameter


def _draw(model: Any, rng: np.random.Generator) -> Any:
    return each(lambda x: x[0], model.prior.sample(1, rng=rng))


def log_likelihood(model: Any, parameters: Any, rows: Any) -> np.ndarray:
    """Return Σ log p(row | parameter) for each parameter of an array."""
    given = model.likelihood(parameters)
    return np.sum([given.log_prob(row) for row in rows], axis=0)


def predictive_by_ratio(model: Any, row: Any, parameter: Any) -> Any:
    """Return log p(x) = log p(x | θ) + log p(θ) - log p(θ | x): Bayes' rule read backwards, at any θ."""
    after = model.update_rows(row[None])
    given = model.likelihood(parameter).log_prob(row)
    return given + model.prior.log_prob(parameter) - after.prior.log_prob(parameter)


def posterior_is_prior_times_likelihood(model: Any, rng: np.random.Generator) -> None:
    """Conjugacy: log p(D | θ) + log p(θ) - log p(θ | D) is the log evidence, whatever θ."""
    rows, _ = rows_of(model, 6, rng)
    after = model.update_rows(rows)
    draws = model.prior.sample(20, rng=rng), after.prior.sample(20, rng=rng)
    theta = each(lambda *parts: np.concatenate(parts), *draws)
    terms = (log_likelihood(model, theta, rows), model.prior.log_prob(theta), -after.prior.log_prob(theta))
    # Far from the data the three are large and cancel.
    slack = 1e-10 * (1.0 + np.sum(np.abs(terms), axis=0))
    found = np.abs(np.sum(terms, axis=0) - model.log_evidence(model.summarize(rows)))
    assert np.all(found <= slack), f"posterior and prior times likelihood differ by {found.max()} nats"


def evidence_is_a_chain_of_predictives(model: Any, rng: np.random.Generator) -> None:
    """P(x₁, …, xₙ) = Π p(xᵢ | x₁, …, xᵢ₋₁), and the evidence of parts multiplies likewise."""
    rows, _ = rows_of(model, 10, rng)
    chain, now = 0.0, model
    for row in rows:
        chain += float(now.predictive().log_prob(row))
        now = now.update_rows(row[None])
    at_once = model.log_evidence(model.summarize(rows))
    assert isinstance(at_once, float)
    np.testing.assert_allclose(at_once, chain, rtol=1e-9, atol=1e-9)
    a, b = model.summarize(rows[:4]), model.summarize(rows[4:])
    parts = model.log_evidence(a) + model.update(a).log_evidence(b)
    np.testing.assert_allclose(parts, at_once, rtol=1e-9, atol=1e-9)


def evidence_is_an_integral(model: Any, rng: np.random.Generator) -> None:
    """∫ p(D | θ) p(θ) dθ, by quadrature where θ is a number."""
    if model.prior.event_shape:
        return
    rows, _ = rows_of(model, 4, rng)
    log_evidence = model.log_evidence(model.summarize(rows))

    def integrand(theta: float) -> float:
        joint = log_likelihood(model, np.array([theta]), rows) + model.prior.log_prob(np.array([theta]))
        return float(np.exp(joint[0] - log_evidence))

    np.testing.assert_allclose(_line_integral(integrand, model.update_rows(rows).prior), 1.0, rtol=1e-7)


def _line_integral(f: Any, near: Any) -> float:
    """Integrate over the support of a distribution, cut where its mass is."""
    from scipy.integrate import quad

    tails = np.array([1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1.0 - 1e-6, 1.0 - 1e-12])
    inner = near.icdf(tails)
    low, high = (float(np.min(bound)) for bound in near.support)
    cuts = [low, *(float(c) for c in np.unique(inner) if low < c < high), high]
    return sum(quad(f, a, b, epsabs=1e-10, epsrel=1e-10, limit=200)[0] for a, b in pairwise(cuts))


def evidence_is_the_prior_average_of_the_likelihood(model: Any, rng: np.random.Generator) -> None:
    """P(D) = E[p(D | θ)] over the prior, within five standard errors; any number of parameters."""
    rows, _ = rows_of(model, 2, rng)
    log_evidence = model.log_evidence(model.summarize(rows))
    theta = model.prior.sample(N_DRAWS, rng=rng)
    assert_mean(np.exp(log_likelihood(model, theta, rows) - log_evidence), 1.0, "evidence")


def predictive_is_the_average_of_the_likelihood(model: Any, rng: np.random.Generator) -> None:
    """P(x | D) = E[p(x | θ)] over the posterior, within five standard errors."""
    rows, _ = rows_of(model, 5, rng)
    after = model.update_rows(rows[1:])
    theta = after.prior.sample(N_DRAWS, rng=rng)
    scaled = np.exp(after.likelihood(theta).log_prob(rows[0]) - after.predictive().log_prob(rows[0]))
    assert_mean(scaled, 1.0, "predictive")


def predictive_is_an_integral(model: Any, rng: np.random.Generator) -> None:
    """P(x | D) = ∫ p(x | θ) p(θ | D) dθ, by quadrature where θ is a number."""
    if model.prior.event_shape:
        return
    rows, _ = rows_of(model, 5, rng)
    after = model.update_rows(rows[1:])
    expected = float(after.predictive().log_prob(rows[0]))

    def integrand(theta: float) -> float:
        joint = after.likelihood(theta).log_prob(rows[0]) + after.prior.log_prob(theta)
        return float(np.exp(joint - expected))

    np.testing.assert_allclose(_line_integral(integrand, after.prior), 1.0, rtol=1e-7)


def predictive_is_a_ratio(model: Any, rng: np.random.Generator) -> None:
    """The log-ratio identity gives the predictive distribution at any row from any parameter."""
    rows, _ = rows_of(model, 8, rng)
    after = model.update_rows(rows[4:])
    for row in rows[:4]:
        theta = _draw(after, rng)
        found = predictive_by_ratio(after, row, theta)
        np.testing.assert_allclose(found, after.predictive().log_prob(row), rtol=1e-9, atol=1e-9)


def posterior_concentrates(model: Any, rng: np.random.Generator) -> None:
    """With many rows the posterior is narrow, and the truth is within five of its standard deviations."""
    rows, truth = rows_of(model, 4000, rng)
    few, many = model.update_rows(rows[:4]), model.update_rows(rows)
    assert every(lambda a, b: a < b, many.prior.stddev, few.prior.stddev)
    near = every(lambda m, t, s: np.abs(m - t) <= SIGMAS * s, many.mean(), truth, many.prior.stddev)
    assert near, f"{many.mean()} is too far from {truth}"


def mode_has_the_greatest_density(model: Any, rng: np.random.Generator) -> None:
    """No parameter near the MAP estimate is more probable, nor any draw."""
    after = model.update_rows(rows_of(model, 30, rng)[0])
    mode, draws = after.mode(), after.prior.sample(400, rng=rng)
    best = after.prior.log_prob(mode)
    for theta in (draws, _nearer(mode, draws)):
        assert np.all(after.prior.log_prob(theta) <= best + 1e-9 * (1.0 + abs(best)))


def _nearer(point: Any, draws: Any) -> Any:
    return each(lambda p, x: p + 0.01 * (x - p), point, draws)


def map_tends_to_maximum_likelihood(model: Any, rng: np.random.Generator) -> None:
    """As rows repeat without end the prior counts for nothing: mode and mean tend to the ML estimate."""
    rows, _ = rows_of(model, 30, rng)
    best = model.maximum_likelihood(model.summarize(rows))
    many = model.update(model.summarize(rows, np.full(len(rows), 1e9)))
    for found in (many.mode(), many.mean()):
        near = every(lambda x, b: np.abs(x - b) <= 1e-6 * (1.0 + np.abs(b)), found, best)
        assert near, f"{found} is not {best}"


def maximum_likelihood_has_the_greatest_likelihood(model: Any, rng: np.random.Generator) -> None:
    """No parameter near it, nor any draw, makes the rows more probable."""
    rows, _ = rows_of(model, 30, rng)
    best = model.maximum_likelihood(model.summarize(rows))
    draws = model.update_rows(rows).prior.sample(200, rng=rng)
    greatest = log_likelihood(model, each(lambda x: x[None], best), rows)[0]
    for theta in (draws, _nearer(best, draws)):
        assert np.all(log_likelihood(model, theta, rows) <= greatest + 1e-9 * (1.0 + abs(greatest)))


def intervals_hold_their_coverage(model: Any, rng: np.random.Generator) -> None:
    """Each entry of the parameter is inside with the probability asked for, half of the rest on each side."""
    after = model.update_rows(rows_of(model, 5, rng)[0])
    low, high = after.interval(0.8)
    for theta, a, b in zip(*map(parts, (after.prior.sample(N_DRAWS, rng=rng), low, high)), strict=True):
        assert np.shape(a) == np.shape(b) == theta.shape[1:]
        assert_mean((theta < a).astype(float), 0.1, "below")
        assert_mean((theta > b).astype(float), 0.1, "above")


CONJUGATE_LAWS = laws_above(globals())


def check_conjugate_model(model: Any, rng: Any = 0) -> None:
    """Run every law of conjugate models on one; AssertionError says which it breaks and how.

    Examples
    --------
    >>> from tractable.conjugate import NormalMeanModel
    >>> from tractable.distributions import Normal
    >>> check_conjugate_model(NormalMeanModel(prior=Normal(mean=0.0, variance=1.0), variance=4.0))
    """
    check_laws(CONJUGATE_LAWS, model, rng)
