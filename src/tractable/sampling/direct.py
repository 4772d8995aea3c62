"""Independent draws: Monte Carlo averages, inverse transforms, rejection, importance sampling."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.numbers import check_count, check_number
from tractable.arrays.random import as_generator, either_seed_name
from tractable.distributions import Distribution, MultivariateNormal
from tractable.distributions.checks import exactly_one
from tractable.engines.roots import bisect
from tractable.sampling.diagnostics import kish_ess, pareto_k
from tractable.value import value

#: How Monte Carlo averages draw.
METHODS = ("random", "antithetic", "quasi")
#: Independent scramblings of a quasi-random sequence, whose means have the standard error.
N_SCRAMBLED = 16
#: Draws that rejection sampling proposes at once.
MOST_PROPOSED = 2**17
#: Without one acceptance in so many proposals rejection sampling gives up.
PATIENCE = 10_000_000


@value
class MonteCarloEstimate:
    """An average over draws, and how far off it may be.

    Parameters
    ----------
    value : array
        The average.
    standard_error : array
        Its standard error.
    n_samples : int
        How often the function was evaluated.
    largest_share : float
        The largest |f(x) w| over the sum of them all: where one draw has most of it, others that matter more
        may never have been drawn, and the standard error says nothing.
    """

    value: np.ndarray
    standard_error: np.ndarray
    n_samples: int
    largest_share: float

    def __float__(self) -> float:
        return float(self.value)


@either_seed_name
def monte_carlo(
    f: Callable[[Any], Any],
    distribution: Distribution,
    n_samples: int = 10_000,
    *,
    method: str = "random",
    control: Callable[[Any], Any] | None = None,
    control_mean: Any = None,
    rng: Any = None,
) -> MonteCarloEstimate:
    """Return the average of f over draws, (1/M) Σ f(x_i), with its standard error √(Var f / M).

    The error of independent draws does not depend on the dimension. It fails silently where f is large where
    draws are rare: `largest_share` of the result says whether one draw decides.

    Parameters
    ----------
    f : callable
        ``f(x)`` takes draws (m, ...) and returns (m, ...), one number or array each.
    distribution : Distribution
        One distribution, no batch.
    n_samples : int
        How often f is evaluated.
    method : {"random", "antithetic", "quasi"}
        Independent draws; pairs at levels u and 1 - u, or reflected at the mean of a normal, whose errors
        cancel where f is monotone; scrambled Sobol' points, whose error falls nearly as 1/M where f is
        smooth. The last two are for numbers with quantiles and for normals.
    control : callable, optional
        A function with a known mean, correlated with f: f - b (control - control_mean) is averaged, with b
        by least squares.
    control_mean : float, optional
        The mean of `control`.
    rng : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

    Examples
    --------
    >>> import tractable
    >>> x = tractable.Normal(mean=1.0, stddev=2.0)
    >>> plain = monte_carlo(np.square, x, rng=0)
    >>> bool(abs(plain.value - 5.0) < 4 * plain.standard_error)
    True
    >>> quasi = monte_carlo(np.square, x, method="quasi", rng=0)
    >>> bool(quasi.standard_error < 0.1 * plain.standard_error)
    True
    """
    _check_distribution("distribution", distribution)
    if not callable(f):
        raise ValueError(f"f must be a function, got {type(f).__name__}")
    n = check_count("n_samples", n_samples, least=2)
    if method not in METHODS:
        raise ValueError(f"method must be one of {[*METHODS]}, got {method!r}")
    if (control is None) != (control_mean is None):
        raise ValueError("control_mean must be given where control is, and only there")
    if control_mean is not None:
        check_number("control_mean", control_mean)
    x, n_groups = _drawn(distribution, n, method, as_generator(rng))
    values = _values(f, x, "f")
    share = _largest_share(values)
    if control is not None:
        values = _controlled(values, _values(control, x, "control"), control_mean)
    # Pairs, and scramblings, are independent of each other; draws within them are not.
    means = values.reshape(n_groups, -1, *values.shape[1:]).mean(axis=1)
    error = np.std(means, axis=0, ddof=1) / np.sqrt(n_groups)
    return MonteCarloEstimate(
        value=means.mean(axis=0), standard_error=error, n_samples=len(x), largest_share=share
    )


@either_seed_name
def inverse_transform(
    n_samples: int = 1,
    *,
    icdf: Any = None,
    cdf: Callable[[np.ndarray], Any] | None = None,
    table: Any = None,
    support: tuple[float, float] | None = None,
    rng: Any = None,
) -> np.ndarray:
    """Draw x = F⁻¹(u) with u uniform on (0, 1), from an inverse cdf, a cdf or a table of one.

    Parameters
    ----------
    n_samples : int
        How many draws.
    icdf : callable or distribution, optional
        F⁻¹, of an array of levels, or a distribution that has it.
    cdf : callable, optional
        F, of an array of points; it is inverted by bisection on the support.
    table : pair of arrays, optional
        Increasing points and F there, from 0 to 1; linear in between.
    support : pair of float, optional
        Where F goes from 0 to 1, for `cdf`; ends may be infinite, as both are by default.
    rng : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

    Examples
    --------
    >>> inverse_transform(3, icdf=lambda u: -np.log1p(-u), rng=0).round(4)
    array([1.0132, 0.3144, 0.0418])
    >>> inverse_transform(3, cdf=lambda x: -np.expm1(-np.maximum(x, 0.0)), rng=0).round(4)
    array([1.0132, 0.3144, 0.0418])
    """
    n = check_count("n_samples", n_samples, least=0)
    name, given = exactly_one(icdf=icdf, cdf=cdf, table=table)
    if support is not None and name != "cdf":
        raise ValueError("support is for cdf alone: the others say where they end")
    if name == "cdf" and not callable(given):
        raise ValueError(f"cdf must be a function, got {type(given).__name__}")
    # The open interval: an inverse may be infinite at its ends.
    u = np.clip(as_generator(rng).random(n), 2.0**-54, 1.0 - 2.0**-53)
    if name == "icdf":
        inverse = getattr(given, "icdf", given)
        if not callable(inverse):
            raise ValueError(f"icdf must be a function or a distribution, got {type(given).__name__}")
        found = np.asarray(inverse(u), dtype=np.float64)
        if found.shape != u.shape or np.any(np.isnan(found)):
            raise ValueError("icdf must return one number a level, none of them NaN")
        return found
    return _from_table(given, u) if name == "table" else _inverted(given, u, support or (-np.inf, np.inf))


@value
class RejectionSample:
    """Draws that rejection sampling kept.

    Parameters
    ----------
    draws : array (n_samples, ...)
        Independent draws from the target.
    acceptance : float
        The share of proposals that was kept.
    normalizer : float
        An estimate of the integral of the density given, k times the acceptance; 1 for a normalised one.
    normalizer_error : float
        Its standard error.
    n_proposed : int
        Number of proposals.
    """

    draws: np.ndarray
    acceptance: float
    normalizer: float
    normalizer_error: float
    n_proposed: int


@either_seed_name
def rejection(
    log_prob: Any, proposal: Distribution, k: float, n_samples: int = 1, *, rng: Any = None
) -> RejectionSample:
    """Draw from a density p: propose x from q, and keep it with probability p(x) / (k q(x)).

    k q must nowhere be below p, which is checked at every proposal. Of a normalised density 1/k of the
    proposals is kept, so k, which grows exponentially with the dimension, decides the cost: for normals of
    widths σ_p < σ_q it is at least (σ_q / σ_p)^D.

    Parameters
    ----------
    log_prob : callable or distribution
        log p of draws (m, ...), up to a constant.
    proposal : Distribution
        q.
    k : float
        The factor by which q is above p everywhere.
    n_samples : int
        How many draws to keep.
    rng : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

    Examples
    --------
    Three times the density of Beta(2, 2) below 4.5 times the uniform: two thirds are kept.

    >>> import tractable
    >>> uniform = tractable.Uniform(low=0.0, high=1.0)
    >>> found = rejection(lambda x: np.log(18 * x * (1 - x)), uniform, 4.5, 10000, rng=0)
    >>> round(found.acceptance, 1), round(found.normalizer, 1)
    (0.7, 3.0)
    """
    _check_distribution("proposal", proposal)
    density, n = _log_density(log_prob), check_count("n_samples", n_samples, least=1)
    check_number("k", k, above=0.0)
    rng, log_k = as_generator(rng), float(np.log(k))
    kept: list[np.ndarray] = []
    n_kept = n_proposed = last = 0
    while n_kept < n:
        # As many as the acceptance so far asks for, and a few more.
        share = max(n_kept, 1) / max(n_proposed, 1) if n_proposed else min(1.0, 1.0 / float(k))
        m = int(np.clip(1.1 * (n - n_kept) / share + 16, 64, MOST_PROPOSED))
        x = proposal.sample(m, rng=rng)
        log_p, log_q = density(x), np.asarray(proposal.log_prob(x))
        if np.any(log_p > log_q + log_k + 1e-12 * (1.0 + np.abs(log_p))):
            where = int(np.argmax(log_p - log_q))
            raise ValueError(
                f"k = {k:g} is too small: at {x[where]} the density is "
                f"{np.exp(log_p[where] - log_q[where]):.6g} times that of the proposal"
            )
        accepted = np.flatnonzero(-rng.standard_exponential(m) <= log_p - log_q - log_k)
        if n_kept + len(accepted) >= n:  # proposals after the last draw were not needed
            accepted = accepted[: n - n_kept]
            last = int(accepted[-1]) + 1
        n_proposed += last or m
        n_kept += len(accepted)
        kept.append(np.asarray(x)[accepted])
        if n_proposed > PATIENCE * (n_kept + 1):
            raise ValueError(
                f"log_prob: {n_kept} of {n_proposed} proposals were kept; k is too large, or the proposal "
                "far from the density"
            )
    # The number of proposals up to the n-th that is kept is negative binomial: (n - 1) / (m - 1) is unbiased.
    acceptance = (n - 1) / (n_proposed - 1) if n > 1 else n / n_proposed
    error = np.sqrt(acceptance * (1.0 - acceptance) / n_proposed)
    return RejectionSample(
        draws=np.concatenate(kept),
        acceptance=acceptance,
        normalizer=float(k) * acceptance,
        normalizer_error=float(k) * float(error),
        n_proposed=n_proposed,
    )


@value
class ImportanceSample:
    """Draws from a proposal q with the weights p/q.

    Parameters
    ----------
    draws : array (n_samples, ...)
        Draws from q.
    log_weights : array (n_samples,)
        log p - log q.
    """

    draws: np.ndarray
    log_weights: np.ndarray

    @cached_property
    def weights(self) -> np.ndarray:
        """Weights that sum to one."""
        w = np.exp(self.log_weights - self.log_weights.max())
        return w / w.sum()

    @property
    def ess(self) -> float:
        """The effective sample size, (Σw)² / Σw²."""
        return kish_ess(self.weights)

    @property
    def mean_weight(self) -> float:
        """The mean of p/q: about 1 for a normalised p, whatever q is; infinite where it overflows."""
        with np.errstate(over="ignore"):
            return float(np.exp(self.log_evidence))

    @property
    def log_evidence(self) -> float:
        """Log of the mean weight, an estimate of the log of the integral of p."""
        top = self.log_weights.max()
        return float(top + np.log(np.mean(np.exp(self.log_weights - top))))

    @property
    def log_evidence_error(self) -> float:
        """Standard error of the log evidence, √(1/ESS - 1/M) to first order."""
        n = len(self.log_weights)
        return float(np.sqrt(max(1.0 / self.ess - 1.0 / n, 0.0)))

    @cached_property
    def pareto_k(self) -> float:
        """Shape of the tail of the weights: above 0.7 averages are not to be trusted."""
        return pareto_k(self.log_weights)

    def expectation(
        self, f: Callable[[Any], Any] = lambda x: x, *, self_normalized: bool = True
    ) -> MonteCarloEstimate:
        """Return E_p[f], Σ w f / Σ w, or (1/M) Σ w f of a normalised density, with its standard error.

        Parameters
        ----------
        f : callable
            ``f(x)`` takes draws (m, ...) and returns (m, ...); the draws themselves by default.
        self_normalized : bool
            Whether the weights are divided by their sum, as they must be where p is known up to a constant.
        """
        values, n = _values(f, self.draws, "f"), len(self.draws)
        with np.errstate(over="ignore"):
            w = n * self.weights if self_normalized else np.exp(self.log_weights)
        if not np.all(w < np.inf):
            raise ValueError(
                f"self_normalized must be True: weights up to exp({self.log_weights.max():g}) are too large "
                "for a number, so the density is not normalised"
            )
        wide = w.reshape(-1, *(1,) * (values.ndim - 1))
        mean = np.mean(wide * values, axis=0)
        deviations = wide * (values - mean) if self_normalized else wide * values - mean
        return MonteCarloEstimate(
            value=mean,
            standard_error=np.sqrt(np.sum(deviations**2, axis=0) / n / max(n - 1, 1)),
            n_samples=n,
            largest_share=_largest_share(wide * values),
        )

    @either_seed_name
    def resample(self, n_samples: int, *, rng: Any = None) -> np.ndarray:
        """Draw from the draws by their weights, at evenly spaced levels: each is chosen M w times, rounded.

        Parameters
        ----------
        n_samples : int
            How many.
        rng : None, int or Generator
            Source of randomness; with a seed the result is repeatable.
        """
        n, rng = check_count("n_samples", n_samples, least=1), as_generator(rng)
        levels = (np.arange(n) + rng.random()) / n
        chosen = np.searchsorted(np.cumsum(self.weights), levels * (1.0 - 1e-15), side="right")
        return self.draws[rng.permutation(np.minimum(chosen, len(self.draws) - 1))]

    def complaints(self) -> list[str]:
        """Return in words what is wrong with the weights, the gravest first; nothing where they are good."""
        found = []
        if self.pareto_k > 0.7:
            found.append(
                f"Pareto's k is {self.pareto_k:.2f}, above 0.7: a few weights decide, and no standard error "
                "is to be trusted; take a proposal with heavier tails"
            )
        if self.ess < 100:
            found.append(f"the effective sample size is {self.ess:.0f}; take a proposal nearer to the target")
        return found


@either_seed_name
def importance(
    log_prob: Any, proposal: Distribution, n_samples: int = 10_000, *, rng: Any = None
) -> ImportanceSample:
    """Draw from a proposal q and weigh the draws by p/q.

    No bound of p/q is needed; a q far from p gives weights of high variance, not bias. `ess`, `pareto_k` and
    `complaints` of the result say how far to trust it.

    Parameters
    ----------
    log_prob : callable or distribution
        log p of draws (m, ...), up to a constant.
    proposal : Distribution
        q, positive wherever p is.
    n_samples : int
        How many draws.
    rng : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

    Examples
    --------
    >>> import tractable
    >>> p, q = tractable.Normal(mean=1.0, stddev=1.0), tractable.Normal(mean=0.0, stddev=1.5)
    >>> found = importance(p, q, 20000, rng=0)
    >>> round(float(found.expectation()), 1), round(found.ess / 20000, 1), round(found.mean_weight, 1)
    (1.0, 0.6, 1.0)
    """
    _check_distribution("proposal", proposal)
    density, n = _log_density(log_prob), check_count("n_samples", n_samples, least=2)
    x = proposal.sample(n, rng=rng)
    log_weights = density(x) - np.asarray(proposal.log_prob(x))
    if not np.any(log_weights > -np.inf):
        raise ValueError("proposal has no draw of positive density: it must be positive wherever log_prob is")
    return ImportanceSample(draws=np.asarray(x), log_weights=log_weights)


def _check_distribution(name: str, given: Any) -> None:
    if not isinstance(given, Distribution):
        raise ValueError(f"{name} must be a distribution, got {type(given).__name__}")
    if given.batch_shape:
        raise ValueError(f"{name} must be one distribution, got a batch of shape {given.batch_shape}")


def _log_density(target: Any) -> Callable[[Any], np.ndarray]:
    """Return a log density of draws (m, ...), checked."""
    function = getattr(target, "log_prob", target)
    if not callable(function):
        raise ValueError(f"log_prob must be a function or a distribution, got {type(target).__name__}")

    def checked(x: Any) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.asarray(function(x), dtype=np.float64)
        if found.shape != (len(x),):
            raise ValueError(f"log_prob must return one number a draw, ({len(x)},), got {found.shape}")
        if not np.all(found < np.inf):
            where = int(np.argmax(np.isnan(found) | (found == np.inf)))
            raise ValueError(f"log_prob must be a number below infinity; at {x[where]} it is {found[where]}")
        return found

    return checked


def _values(f: Callable[[Any], Any], x: Any, name: str) -> np.ndarray:
    values = np.asarray(f(x), dtype=np.float64)
    if values.shape[:1] != (len(x),):
        raise ValueError(f"{name} must return one value a draw, ({len(x)}, ...), got {values.shape}")
    if not np.all(np.isfinite(values)):
        where = int(np.argmax(~np.isfinite(values.reshape(len(x), -1)).all(axis=1)))
        raise ValueError(f"{name} must be finite; at {x[where]} it is {values[where]}")
    return values


def _largest_share(values: np.ndarray) -> float:
    sizes = np.abs(values)
    total = sizes.sum(axis=0)
    return float(np.max(sizes.max(axis=0) / np.where(total > 0.0, total, 1.0)))


def _drawn(d: Any, n: int, method: str, rng: np.random.Generator) -> tuple[Any, int]:
    """Return draws, and how many independent groups they are in, one after the other."""
    if method == "random":
        return d.sample(n, rng=rng), n
    normal = isinstance(d, MultivariateNormal)
    if not (normal or (d.event_shape == () and hasattr(d, "icdf"))):
        raise ValueError(
            f'method must be "random" for {type(d).__name__}: {method} draws are of numbers with quantiles '
            "and of normal vectors"
        )
    if method == "antithetic":
        half = max(n // 2, 2)
        if normal:
            x = d.sample(half, rng=rng)
            pairs = np.stack([x, 2.0 * np.asarray(d.mean) - x], axis=1)
        else:
            u = rng.random(half)
            pairs = np.stack([d.icdf(u), d.icdf(1.0 - u)], axis=1)
        return pairs.reshape(2 * half, *pairs.shape[2:]), half
    from scipy.special import ndtri
    from scipy.stats import qmc

    # Sobol' points are balanced in powers of two of them.
    size = 2 ** max(int(np.log2(n / N_SCRAMBLED)), 1)
    dim = d.event_shape[0] if normal else 1
    u = np.concatenate([qmc.Sobol(dim, rng=rng).random(size) for _ in range(N_SCRAMBLED)])
    u = np.clip(u, 2.0**-54, 1.0 - 2.0**-53)
    if not normal:
        return d.icdf(u[:, 0]), N_SCRAMBLED
    return np.asarray(d.mean) + ndtri(u) @ np.linalg.cholesky(np.asarray(d.covariance)).T, N_SCRAMBLED


def _controlled(values: np.ndarray, control: np.ndarray, mean: Any) -> np.ndarray:
    """Return f - b (c - E c), with b = Cov(f, c) / Var(c)."""
    if control.ndim != 1:
        raise ValueError(f"control must return one number a draw, got {control.shape}")
    centered = control - control.mean()
    variance = float(centered @ centered)
    b = centered @ values.reshape(len(values), -1) / variance if variance > 0.0 else np.zeros(1)
    return values - np.multiply.outer(control - float(mean), b).reshape(values.shape)


def _from_table(table: Any, u: np.ndarray) -> np.ndarray:
    if not (isinstance(table, (tuple, list)) and len(table) == 2):
        raise ValueError("table must be a pair: points, and the cdf there")
    x, levels = (np.asarray(as_reals("table", part), dtype=np.float64) for part in table)
    if x.ndim != 1 or x.shape != levels.shape or len(x) < 2:
        raise ValueError(f"table must be two lists of one length, got {x.shape} and {levels.shape}")
    if not (np.all(np.diff(x) > 0) and np.all(np.diff(levels) >= 0) and levels[0] == 0 and levels[-1] == 1):
        raise ValueError("table must have increasing points, and a cdf that goes from 0 to 1")
    right = np.clip(np.searchsorted(levels, u, side="left"), 1, len(x) - 1)
    low, high = levels[right - 1], levels[right]
    part = np.divide(u - low, high - low, out=np.ones_like(u), where=high > low)
    return x[right - 1] + part * (x[right] - x[right - 1])


def _inverted(cdf: Callable[[np.ndarray], Any], u: np.ndarray, support: tuple[float, float]) -> np.ndarray:
    """Return the least x with F(x) ≥ u, by bisection."""

    def reached(x: np.ndarray) -> np.ndarray:
        found = np.asarray(cdf(x), dtype=np.float64)
        if found.shape != x.shape or not np.all((found >= -1e-12) & (found <= 1.0 + 1e-12)):
            raise ValueError("cdf must return a number from 0 to 1 at each point")
        return found >= u

    if np.shape(support) != (2,) or not support[0] < support[1]:
        raise ValueError(f"support must be two numbers in increasing order, got {support!r}")
    low, high = (np.full(u.shape, float(end)) for end in support)
    # An infinite end is replaced by one far enough out, sixteen times as far every time.
    for end, other, sign in ((low, high, -1.0), (high, low, 1.0)):
        if not np.isinf(end).any():
            continue
        anchor = np.where(np.isfinite(other), other, 0.0)
        reach = np.ones(u.shape)
        end[:] = anchor + sign * reach
        for _ in range(256):
            short = reached(end) if sign < 0 else ~reached(end)
            if not short.any():
                break
            reach = np.where(short, 16.0 * reach, reach)
            end[:] = anchor + sign * reach
        else:
            raise ValueError("cdf must go from 0 to 1 on its support, and does not")
    if np.any(~reached(high)):
        raise ValueError("cdf must reach 1 at the upper end of the support, and does not")
    return bisect(reached, low, high)
