"""Samplers, each with exact draws from what it samples."""

import numpy as np

from rows.row import Row
from tractable.distributions import MultivariateNormal, Normal
from tractable.sampling import (
    RandomWalk,
    gaussian_gibbs,
    gibbs,
    metropolis_hastings,
    nuts,
    slice,  # noqa: A004
)
from tractable.testing import SampledTarget
from tractable.value import replace

MEAN = np.array([1.0, -2.0])
COVARIANCE = np.array([[2.0, 0.9], [0.9, 1.0]])
FACTOR = np.linalg.cholesky(COVARIANCE)
PRECISION = np.linalg.inv(COVARIANCE)
NORMAL = MultivariateNormal(mean=MEAN, covariance=COVARIANCE)


def log_normal(x):
    z = x - MEAN
    return -0.5 * np.sum((z @ PRECISION) * z, axis=-1)


def both_of_normal(x):
    slope = -(x - MEAN) @ PRECISION
    return 0.5 * np.sum((x - MEAN) * slope, axis=-1), slope


def draw_normal(rng, n):
    return MEAN + rng.standard_normal((n, 2)) @ FACTOR.T


def far(n):
    return np.tile([8.0, 8.0], (n, 1))


def log_banana(x):
    """The second coordinate about the square of the first."""
    return -0.5 * (x[..., 0] ** 2 + (x[..., 1] - x[..., 0] ** 2) ** 2 / 0.25)


def banana_slope(x):
    off = (x[..., 1] - x[..., 0] ** 2) / 0.25
    return np.stack([-x[..., 0] + 2.0 * x[..., 0] * off, -off], axis=-1)


def draw_banana(rng, n):
    first = rng.standard_normal(n)
    return np.stack([first, first**2 + 0.5 * rng.standard_normal(n)], axis=1)


def log_one_sided(x):
    """Gamma of shape 2, zero below 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 0.0, np.log(np.maximum(x, 1e-300)) - x, -np.inf)


def draw_one_sided(rng, n):
    return rng.standard_gamma(2.0, n)


def shrinking(x):
    """Proposals that are not symmetric: they lean towards 0."""
    return Normal(mean=0.5 * x, stddev=1.0)


def conditional(own, other):
    """One coordinate of the normal given the other."""
    slope = COVARIANCE[own, other] / COVARIANCE[other, other]
    variance = COVARIANCE[own, own] - slope * COVARIANCE[own, other]
    names = ("a", "b")
    return lambda _rng, v: Normal(
        mean=MEAN[own] + slope * (v[names[other]] - MEAN[other]), stddev=np.sqrt(variance)
    )


def one_draw(own, other):
    of = conditional(own, other)
    return lambda rng, v: of(rng, v).sample(1, rng=rng)[0]


def named(points):
    return {"a": points[:, 0], "b": points[:, 1]}


def one_point(x):
    """The same density, of one point alone."""
    return float(log_normal(np.asarray(x)[None])[0]) if np.ndim(x) == 1 else 1 / 0


ROWS = [
    Row(
        "metropolis",
        lambda: SampledTarget(step=metropolis_hastings(log_normal), draw=draw_normal, far=far),
    ),
    Row(
        "metropolis-banana",
        lambda: SampledTarget(step=metropolis_hastings(log_banana, RandomWalk(scale=0.8)), draw=draw_banana),
    ),
    Row(
        "metropolis-asymmetric",
        lambda: SampledTarget(step=metropolis_hastings(log_one_sided, shrinking), draw=draw_one_sided),
    ),
    Row(
        "metropolis-independent",
        lambda: SampledTarget(
            step=metropolis_hastings(lambda x: -0.5 * x**2, lambda _: Normal(mean=0.5, stddev=1.5)),
            draw=lambda rng, n: rng.standard_normal(n),
        ),
    ),
    Row(
        "metropolis-one-point",
        lambda: SampledTarget(step=metropolis_hastings(one_point), draw=draw_normal, n_chains=300),
    ),
    Row(
        "gibbs",
        lambda: SampledTarget(
            step=gibbs({"a": conditional(0, 1), "b": conditional(1, 0)}),
            draw=lambda rng, n: named(draw_normal(rng, n)),
            far=lambda n: named(far(n)),
        ),
    ),
    Row(
        "gibbs-one-chain",
        lambda: SampledTarget(
            step=gibbs({"a": one_draw(0, 1), "b": one_draw(1, 0)}, vectorized=False),
            draw=lambda rng, n: named(draw_normal(rng, n)),
            n_chains=100,
            n_steps=2,
        ),
    ),
    Row("gaussian_gibbs", lambda: SampledTarget(step=gaussian_gibbs(NORMAL), draw=draw_normal, far=far)),
    Row("nuts", lambda: SampledTarget(step=nuts(both_of_normal, True), draw=draw_normal, far=far, n_steps=3)),
    Row(
        "nuts-dense",
        lambda: SampledTarget(step=nuts(both_of_normal, True, mass="dense", step_size=1.3), draw=draw_normal),
    ),
    Row(
        "nuts-banana",
        lambda: SampledTarget(
            step=nuts(log_banana, banana_slope, step_size=0.3), draw=draw_banana, n_steps=2
        ),
    ),
    Row(
        "nuts-compiled",
        lambda: SampledTarget(
            step=replace(nuts(log_banana, banana_slope, step_size=0.3), compiled=True), draw=draw_banana
        ),
    ),
    Row(
        "nuts-short",
        lambda: SampledTarget(
            step=nuts(log_banana, banana_slope, step_size=0.4, max_depth=2), draw=draw_banana
        ),
    ),
    Row(
        "nuts-one-point",
        lambda: SampledTarget(
            step=nuts(one_point, lambda x: both_of_normal(x[None])[1][0]), draw=draw_normal, n_chains=100
        ),
    ),
    Row("slice", lambda: SampledTarget(step=slice(log_normal), draw=draw_normal, far=far)),
    Row(
        "slice-narrow",
        lambda: SampledTarget(step=slice(log_banana, width=0.3, max_steps=3), draw=draw_banana),
    ),
    Row(
        "slice-one-sided",
        lambda: SampledTarget(step=slice(log_one_sided, width=5.0), draw=draw_one_sided, n_steps=3),
    ),
]
