"""Posteriors that samplers are known by, with means and standard deviations of which the error is stated.

A funnel and a banana have closed forms, the eight schools a quadrature in one dimension, and a logistic
regression of real rows a long run of importance sampling, which shares nothing with Markov chains.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tractable.sampling.driver import sample
from tractable.testing.assertions import SIGMAS
from tractable.value import value

__all__ = ["REFERENCE_POSTERIORS", "ReferencePosterior", "check_reference"]


@value
class ReferencePosterior:
    """A log density with its gradient, and what is known of it.

    Parameters
    ----------
    name : str
        What it is called.
    both : callable
        ``both(x)`` of points (..., d) returns the log density, up to a constant, and the gradient.
    dim : int
        d.
    quantities : callable
        ``quantities(x)`` of points (..., d) returns (..., k), that of which moments are known.
    mean, sd : array (k,)
        Their means and standard deviations.
    mean_error, sd_error : array (k,)
        Standard errors of these, zero of closed forms.
    """

    name: str
    both: Callable[[Any], tuple[np.ndarray, np.ndarray]]
    dim: int
    quantities: Callable[[np.ndarray], np.ndarray]
    mean: np.ndarray
    sd: np.ndarray
    mean_error: Any = 0.0
    sd_error: Any = 0.0

    def log_prob(self, x: np.ndarray) -> np.ndarray:
        """Return the log density of points (..., d) alone."""
        return self.both(x)[0]


def check_reference(
    make_step: Callable[[ReferencePosterior], Any],
    reference: ReferencePosterior,
    rng: Any = None,
    *,
    n_samples: int = 1000,
    n_warm_up: int = 500,
) -> None:
    """Sample a reference posterior and compare means and standard deviations, within five errors of both.

    Parameters
    ----------
    make_step : callable
        Returns the step of a sampler of a reference posterior.
    reference : ReferencePosterior
        One of `REFERENCE_POSTERIORS`.
    rng : None, int or Generator
        Source of randomness.
    n_samples, n_warm_up : int
        Of each of four chains.

    Examples
    --------
    >>> from tractable.sampling import nuts
    >>> def step(reference):
    ...     return nuts(reference.both, True, target_acceptance=0.95)
    >>> check_reference(step, REFERENCE_POSTERIORS["banana"], rng=0)
    """
    rng = np.random.default_rng(rng)
    start = 0.5 * rng.standard_normal((4, reference.dim))
    chains = sample(make_step(reference), start, n_samples, n_warm_up=n_warm_up, rng=rng)
    of = chains.map(lambda draws: {"quantities": reference.quantities(draws["x"])}).diagnoses["quantities"]
    for what, found, known, error in (
        ("means", of.mean, reference.mean, np.hypot(of.mcse_mean, reference.mean_error)),
        ("standard deviations", of.sd, reference.sd, np.hypot(of.mcse_sd, reference.sd_error)),
    ):
        off = np.abs(found - known) / error
        assert np.all(off < SIGMAS), (
            f"{reference.name}: {what} {found}, expected {known} ± {error}, of which {np.argmax(off)} is off"
        )


def funnel(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a funnel, v ~ N(0, 1) and every other coordinate ~ N(0, exp(v)), and its gradient."""
    v, rest = x[..., 0], x[..., 1:]
    k, squares = rest.shape[-1], np.sum(rest**2, axis=-1) * np.exp(-v)
    first = -v - 0.5 * k + 0.5 * squares
    slope = np.concatenate([first[..., None], -rest * np.exp(-v)[..., None]], axis=-1)
    return -0.5 * v * v - 0.5 * k * v - 0.5 * squares, slope


def banana(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a banana, a ~ N(0, 1) and b ~ N(a², 1/4), and its gradient."""
    a, off = x[..., 0], 4.0 * (x[..., 1] - x[..., 0] ** 2)
    return -0.5 * a * a - off * off / 8.0, np.stack([2.0 * a * off - a, -off], axis=-1)


#: Rubin's (1981) eight schools: effects of coaching and their standard errors.
EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def eight_schools(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return that of (μ, log τ, z), θ = μ + τ z, μ ~ N(0, 5²), τ ~ half-Cauchy(5), and its gradient."""
    mean, log_tau, z = x[..., 0], x[..., 1], x[..., 2:]
    tau = np.exp(log_tau)
    off = (EFFECTS - mean[..., None] - tau[..., None] * z) / ERRORS
    ratio, pull = (tau / 5.0) ** 2, off / ERRORS
    value = -0.5 * (mean / 5.0) ** 2 - np.log1p(ratio) + log_tau - 0.5 * np.sum(z * z + off * off, axis=-1)
    by_mean = np.sum(pull, axis=-1) - mean / 25.0
    by_tau = tau * np.sum(pull * z, axis=-1) - 2.0 * ratio / (1.0 + ratio) + 1.0
    slope = [by_mean[..., None], by_tau[..., None], tau[..., None] * pull - z]
    return value, np.concatenate(slope, axis=-1)


def school_effects(x: np.ndarray) -> np.ndarray:
    """Return μ, log τ and the effects θ."""
    effects = x[..., :1] + np.exp(x[..., 1:2]) * x[..., 2:]
    return np.concatenate([x[..., :2], effects], axis=-1)


def penguins(b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the log posterior of a logistic regression, N(0, 2.5²) a coefficient, and its gradient."""
    rows = penguin_rows()
    margin = b @ rows.T
    small = np.exp(-np.abs(margin))
    value = np.sum(np.minimum(margin, 0.0) - np.log1p(small), axis=-1) - 0.08 * np.sum(b * b, axis=-1)
    return value, np.where(margin > 0.0, small, 1.0) / (1.0 + small) @ rows - 0.16 * b


@cache
def penguin_rows() -> np.ndarray:
    """Return an intercept and the standardized bill and body of penguins, by the sign of the sex."""
    from tractable import datasets

    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    frame = datasets.load("penguins").frame.dropna(subset=[*columns, "sex"])
    X = frame[columns].to_numpy(dtype=np.float64)
    Z = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / X.std(axis=0)])
    return Z * np.where(frame["sex"].to_numpy() == "male", 1.0, -1.0)[:, None]


#: By name. The moments of the logistic regression are those of two million draws of importance sampling from
#: Student's t about the mode, worth a million and a half, and their errors those of 200 batches.
REFERENCE_POSTERIORS = {
    one.name: one
    for one in (
        ReferencePosterior(
            name="funnel",
            both=funnel,
            dim=10,
            quantities=lambda x: x,
            mean=np.zeros(10),
            sd=np.append(1.0, np.full(9, np.exp(0.25))),
        ),
        ReferencePosterior(
            name="banana",
            both=banana,
            dim=2,
            quantities=lambda x: x,
            mean=np.array([0.0, 1.0]),
            sd=np.array([1.0, 1.5]),
        ),
        ReferencePosterior(
            name="eight schools",
            both=eight_schools,
            dim=10,
            quantities=school_effects,
            mean=np.array(
                [
                    4.396821,
                    0.802139,
                    6.211884,
                    4.940178,
                    3.927004,
                    4.757098,
                    3.615477,
                    4.042613,
                    6.296724,
                    4.854253,
                ]
            ),
            sd=np.array(
                [
                    3.317704,
                    1.171226,
                    5.593126,
                    4.674268,
                    5.262615,
                    4.780297,
                    4.657453,
                    4.826866,
                    5.077849,
                    5.290801,
                ]
            ),
            mean_error=1e-6,
            sd_error=1e-6,
        ),
        ReferencePosterior(
            name="logistic regression",
            both=penguins,
            dim=5,
            quantities=lambda x: x,
            mean=np.array([0.14863, 0.57991, 3.88621, -0.34616, 4.20413]),
            sd=np.array([0.20217, 0.2582, 0.45354, 0.46473, 0.59808]),
            mean_error=np.array([0.00016, 0.0002, 0.00036, 0.00034, 0.00043]),
            sd_error=np.array([0.00016, 0.00048, 0.0033, 0.00036, 0.0032]),
        ),
    )
}
