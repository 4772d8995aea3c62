"""Laws of conjugate models as applications of Bayes' rule: posterior, evidence, predictive, estimates."""

from itertools import pairwise
from typing import Any

import numpy as np

from tractable.testing.monte_carlo import SIGMAS, assert_mean

__all__ = ["CONJUGATE_DENSITY_LAWS", "each", "predictive_by_ratio", "rows_of"]

N_DRAWS = 20_000


def each(f: Any, *events: Any) -> Any:
    """Return f of events, part by part where an event is a pair."""
    pair = isinstance(events[0], tuple)
    return type(events[0])(*(f(*parts) for parts in zip(*events, strict=True))) if pair else f(*events)


def every(f: Any, *events: Any) -> bool:
    """Say whether f holds of all entries of events, all parts of them."""
    return bool(np.all([np.all(part) for part in _parts(each(f, *events))]))


def _parts(event: Any) -> tuple[Any, ...]:
    return event if isinstance(event, tuple) else (event,)


def rows_of(model: Any, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw a parameter from the belief and n rows given it."""
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
    for theta, a, b in zip(*map(_parts, (after.prior.sample(N_DRAWS, rng=rng), low, high)), strict=True):
        assert np.shape(a) == np.shape(b) == theta.shape[1:]
        assert_mean((theta < a).astype(float), 0.1, "below")
        assert_mean((theta > b).astype(float), 0.1, "above")


CONJUGATE_DENSITY_LAWS = (
    posterior_is_prior_times_likelihood,
    evidence_is_a_chain_of_predictives,
    evidence_is_an_integral,
    evidence_is_the_prior_average_of_the_likelihood,
    predictive_is_the_average_of_the_likelihood,
    predictive_is_an_integral,
    predictive_is_a_ratio,
    posterior_concentrates,
    mode_has_the_greatest_density,
    map_tends_to_maximum_likelihood,
    maximum_likelihood_has_the_greatest_likelihood,
    intervals_hold_their_coverage,
)
