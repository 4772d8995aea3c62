"""Laws of draws: they follow the distribution that made them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.testing.events import each, flat, length
from tractable.testing.monte_carlo import assert_mean, largest_ks_distance, standardized
from tractable.value import parameters, replace

__all__ = ["SAMPLE_LAWS"]

N_DRAWS = 20_000


def samples_match_mean_and_variance(d: Any, rng: np.random.Generator) -> None:
    """Standardised draws have mean 0 and mean square 1."""
    z, stddev = _standardized_draws(d, rng), flat(d, d.stddev)
    assert_mean(z, 0.0, "standardised draws")
    spread = np.where(np.isfinite(stddev) & (stddev > 0), 1.0, 0.0)
    assert_mean(z * z, spread, "squares of standardised draws")


def _standardized_draws(d: Any, rng: np.random.Generator) -> np.ndarray:
    """Draw events, each entry in units of its standard deviation, all entries on the last axis."""
    x = d.sample(N_DRAWS, rng=rng)
    return standardized(flat(d, x), flat(d, d.mean), flat(d, d.stddev))


def samples_match_covariance(d: Any, rng: np.random.Generator) -> None:
    """Products of standardised entries of a vector have the declared correlation as their mean."""
    if not hasattr(d, "covariance") or len(d.event_shape) != 1:
        return
    z = _standardized_draws(d, rng)
    known = np.isfinite(d.stddev) & (d.stddev > 0)
    scale = np.where(known, d.stddev, 1.0)
    both = known[..., :, None] & known[..., None, :]
    correlation = np.where(both, d.covariance, 0.0) / scale[..., :, None] / scale[..., None, :]
    assert_mean(z[..., :, None] * z[..., None, :], correlation, "products of standardised draws")


def samples_follow_the_cdf(d: Any, rng: np.random.Generator) -> None:
    """The empirical distribution function stays within the Dvoretzky-Kiefer-Wolfowitz bound."""
    if not hasattr(d, "cdf"):
        return
    x = np.sort(d.sample(N_DRAWS, rng=rng), axis=0)
    expected = d.cdf(x)
    for i in np.ndindex(d.batch_shape):
        column = x[(slice(None), *i)]
        empirical = np.searchsorted(column, column, side="right") / len(column)
        distance = np.abs(empirical - expected[(slice(None), *i)]).max()
        assert distance < largest_ks_distance(N_DRAWS), f"Kolmogorov-Smirnov distance {distance:.4f}"


def draws_are_independent(d: Any, rng: np.random.Generator) -> None:
    """Neither successive draws nor members of a batch go together."""
    z = _standardized_draws(d, rng)
    assert_mean(z[:-1:2] * z[1::2], 0.0, "products of successive draws")
    n_batch = len(d.batch_shape)
    for axis in range(1, 1 + n_batch):
        if z.shape[axis] > 1:
            here, there = (np.take(z, i, axis=axis) for i in (0, 1))
            assert_mean(here * there, 0.0, "products of draws of two members of the batch")


def entropy_is_expected_surprise(d: Any, rng: np.random.Generator) -> None:
    """Entropy = -E log p(x)."""
    assert_mean(-d.log_prob(d.sample(N_DRAWS, rng=rng)), d.entropy(), "surprise")


def kl_vanishes_on_itself(d: Any, rng: np.random.Generator) -> None:
    """KL(p, p) = 0."""
    np.testing.assert_allclose(d.kl_divergence(d), 0.0, atol=1e-9)


def kl_is_the_expected_log_ratio(d: Any, rng: np.random.Generator) -> None:
    """KL(p, q) = E log p(x)/q(x) > 0, with q another of the family."""
    other = partner(d, rng)
    if other is None:
        return
    divergence = d.kl_divergence(other)
    assert np.all(divergence > 0), f"KL divergence {divergence}"
    x = d.sample(N_DRAWS, rng=rng)
    ratio, finite = d.log_prob(x) - other.log_prob(x), np.isfinite(divergence)
    lacking = np.isinf(ratio).any(axis=0)
    assert np.all(finite != lacking), "infinite where, and only where, the other lacks some of the draws"
    assert_mean(np.where(finite, ratio, 0.0), np.where(finite, divergence, 0.0), "log ratio")


def fit_is_the_most_likely(d: Any, rng: np.random.Generator) -> None:
    """None of the family is likelier on data than the fitted one: neither the true nor a near one."""
    if not hasattr(type(d), "fit") or d.batch_shape:
        return
    x = d.sample(_enough(d), rng=rng)
    fit = fitted_to(d, x)
    fitted, true = fit.log_prob(x).sum(), d.log_prob(x).sum()
    assert fitted >= true - 1e-9 * abs(true), f"log likelihood {fitted} of the fit, {true} of the truth"
    for name, near in _neighbours(fit):
        other = near.log_prob(x).sum()
        assert not other > fitted + 1e-9 * abs(fitted), f"{other} > {fitted} with another {name}"


def _neighbours(d: Any) -> Iterator[tuple[str, Any]]:
    """Yield distributions with one parameter, a number, moved by a thousandth of itself or of its spread."""
    known = getattr(type(d), "known", ())
    for name, x in parameters(d).items():
        if name in known or not isinstance(x, np.ndarray) or x.ndim:
            continue
        spread = np.nan_to_num(np.max(flat(d, d.stddev)), nan=0.0, posinf=0.0)
        for step in (1e-3, -1e-3):
            try:
                yield name, replace(d, **{name: x + step * (x if x > 0 else spread)})
            except ValueError:  # outside what the parameter may be
                continue


def weights_of_fit_are_repetitions(d: Any, rng: np.random.Generator) -> None:
    """An integer weight counts an observation so many times."""
    if not hasattr(type(d), "fit") or d.batch_shape:
        return
    x = d.sample(_enough(d), rng=rng)
    times = rng.integers(0, 4, size=length(x))
    weighted = fitted_to(d, x, times.astype(float))
    repeated = fitted_to(d, each(lambda part: np.repeat(part, times, axis=0), x))
    np.testing.assert_allclose(weighted.log_prob(x), repeated.log_prob(x), rtol=1e-8, atol=1e-8)


def partner(d: Any, rng: np.random.Generator) -> Any:
    """Return another distribution of the family: a fit to a few draws, or a neighbour in the batch."""
    if d.batch_shape:
        return None if d.batch_shape[0] == 1 else d[np.roll(np.arange(d.batch_shape[0]), 1)]
    return fitted_to(d, d.sample(_enough(d), rng=rng)) if hasattr(type(d), "fit") else None


def fitted_to(d: Any, x: Any, weights: np.ndarray | None = None) -> Any:
    """Return the fit of d's family to data; what the family calls `known` is taken from d, not learnt."""
    known = {name: getattr(d, name) for name in getattr(type(d), "known", ())}
    return type(d).fit(x, weights, **known)


def _enough(d: Any) -> int:
    return 60 + 10 * flat(d, d.mean).shape[-1]


SAMPLE_LAWS = (
    samples_match_mean_and_variance,
    samples_match_covariance,
    samples_follow_the_cdf,
    draws_are_independent,
    entropy_is_expected_surprise,
    kl_vanishes_on_itself,
    kl_is_the_expected_log_ratio,
    fit_is_the_most_likely,
    weights_of_fit_are_repetitions,
)
