"""How far draws of Markov chains can be trusted: R-hat, effective sample sizes, standard errors.

Rank-normalised split R-hat and effective sample sizes of Vehtari, Gelman, Simpson, Carpenter and Bürkner
(2021). Draws are arrays (n_chains, n_draws, ...); all entries of an event are looked at together, in blocks
that stay in the cache.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import to_numpy
from tractable.arrays.numbers import check_number
from tractable.value import value

#: Entries of an event that are looked at together: so many that their draws take half a megabyte.
BLOCK_ENTRIES = 2**16
#: Kinds of effective sample sizes.
KINDS = ("bulk", "tail", "mean", "sd")
#: Levels of the quantiles between which the bulk of a distribution lies.
TAILS = (0.05, 0.95)
#: R-hat above which, and effective draws a chain below which, chains are not to be trusted.
LARGEST_R_HAT, LEAST_ESS = 1.01, 100


@value
class Diagnosis:
    """What the diagnostics say of each entry of an event.

    Parameters
    ----------
    mean, sd : array
        Mean and standard deviation of the draws.
    mcse_mean, mcse_sd : array
        Monte Carlo standard errors of the two.
    ess_bulk, ess_tail : array
        Effective sample sizes of the location and of the 5 % and 95 % quantiles.
    r_hat : array
        Rank-normalised split R-hat; 1 where chains agree, NaN where all draws are equal.
    autocorrelation_time : array
        Draws for one independent draw, of the mean.
    """

    mean: np.ndarray
    sd: np.ndarray
    mcse_mean: np.ndarray
    mcse_sd: np.ndarray
    ess_bulk: np.ndarray
    ess_tail: np.ndarray
    r_hat: np.ndarray
    autocorrelation_time: np.ndarray

    def complaints(self, n_chains: int) -> list[str]:
        """Return in words what is wrong: chains that disagree, too few effective draws, constant entries."""
        found = []
        worst = float(np.nanmax(np.append(self.r_hat, 1.0)))
        if worst > LARGEST_R_HAT:
            found.append(f"R-hat is up to {worst:.3f}: chains disagree; draw for longer")
        least = float(np.min(np.append(self.ess_bulk, self.ess_tail)))
        if least < LEAST_ESS * n_chains:
            found.append(
                f"the effective sample size is down to {least:.0f}, fewer than {LEAST_ESS} a chain: R-hat "
                "and standard errors are not reliable; draw for longer"
            )
        if np.any(np.isnan(self.r_hat)):
            found.append("an entry has the same value in all draws")
        return found


def diagnose(draws: Any) -> Diagnosis:
    """Return all diagnostics of draws of Markov chains.

    Parameters
    ----------
    draws : array (n_chains, n_draws, ...)
        The draws, at least four of each chain.

    Examples
    --------
    >>> draws = np.random.default_rng(0).standard_normal((4, 1000, 2))
    >>> found = diagnose(draws)
    >>> bool(np.all(found.r_hat < 1.01)), bool(np.all(found.ess_bulk > 3000))
    (True, True)
    """
    x, event = _blocks(draws)
    parts = [_diagnosed(block) for block in x]
    return Diagnosis(
        **{name: np.concatenate([part[name] for part in parts]).reshape(event) for name in parts[0]}
    )


def r_hat(draws: Any) -> np.ndarray:
    """Return the rank-normalised split R-hat of each entry of an event.

    The square root of the variance of all draws over that within the halves of chains, of ranks mapped to
    normal quantiles; the larger of that of the draws and that of their distances from the median. It is 1
    where chains agree, and NaN where all draws are equal. Of one chain, its halves are compared.

    Parameters
    ----------
    draws : array (n_chains, n_draws, ...)
        The draws, at least four of each chain.

    Examples
    --------
    >>> draws = np.random.default_rng(0).standard_normal((4, 1000))
    >>> bool(r_hat(draws) < 1.01), bool(r_hat(draws + np.arange(4.0)[:, None]) > 1.5)
    (True, True)
    """
    x, event = _blocks(draws)
    return np.concatenate([_r_hat(_split(block)) for block in x]).reshape(event)


def effective_sample_size(draws: Any, kind: str = "bulk") -> np.ndarray:
    """Return the effective sample size of the draws of Markov chains, for each entry of an event.

    N / τ with τ = 1 + 2 Σ ρ_t, the autocorrelations ρ_t of the halves of chains summed as long as pairs of
    them are positive, each no larger than the one before (Geyer's initial monotone sequence).

    Parameters
    ----------
    draws : array (n_chains, n_draws, ...)
        The draws, at least four of each chain.
    kind : {"bulk", "tail", "mean", "sd"}
        Of what: of ranks mapped to normal quantiles; the smaller one of the 5 % and 95 % quantiles; of the
        mean; of the standard deviation.

    Examples
    --------
    >>> draws = np.random.default_rng(0).standard_normal((4, 1000))
    >>> bool(effective_sample_size(draws) > 3000), float(effective_sample_size(np.zeros((4, 10))))
    (True, 40.0)
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {[*KINDS]}, got {kind!r}")
    x, event = _blocks(draws)
    return np.concatenate([_ess_of(block, kind) for block in x]).reshape(event)


def mcse(draws: Any, of: str | float = "mean") -> np.ndarray:
    """Return the Monte Carlo standard error of a mean, standard deviation or quantile of draws.

    Parameters
    ----------
    draws : array (n_chains, n_draws, ...)
        The draws, at least four of each chain.
    of : {"mean", "sd"} or float
        Of what; a number between 0 and 1 is the level of a quantile.

    Examples
    --------
    >>> draws = np.random.default_rng(0).standard_normal((4, 1000))
    >>> [round(float(mcse(draws, of)), 3) for of in ("mean", "sd", 0.5)]
    [0.016, 0.011, 0.02]
    """
    if isinstance(of, str):
        if of not in ("mean", "sd"):
            raise ValueError(f'of must be "mean", "sd" or the level of a quantile, got {of!r}')
    else:
        check_number("of", of, above=0.0, below=1.0)
    x, event = _blocks(draws)
    return np.concatenate([_mcse(block, of) for block in x]).reshape(event)


def autocorrelation(draws: Any) -> np.ndarray:
    """Return the autocorrelation of the draws of each chain at every lag, of the shape of `draws`.

    Parameters
    ----------
    draws : array (n_chains, n_draws, ...)
        The draws, at least four of each chain; a chain that is constant has autocorrelation 1.

    Examples
    --------
    >>> walk = np.cumsum(np.random.default_rng(0).standard_normal((1, 1000)), axis=1)
    >>> autocorrelation(walk)[0, :3].round(2)
    array([1.  , 0.99, 0.98])
    """
    x, _ = _blocks(draws)
    found = [_from_spectrum(_spectrum(_scaled(block)), block.shape[2]) for block in x]
    parts = [np.divide(c, c[..., :1], out=np.ones_like(c), where=c[..., :1] > 0) for c in found]
    return np.moveaxis(np.concatenate(parts), 0, -1).reshape(np.shape(draws))


def autocorrelation_time(draws: Any) -> np.ndarray:
    """Return the integrated autocorrelation time τ, for the mean of each entry of an event.

    Parameters
    ----------
    draws : array (n_chains, n_draws, ...)
        The draws, at least four of each chain.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = np.zeros((4, 5000))
    >>> for t in range(1, 5000):
    ...     x[:, t] = 0.9 * x[:, t - 1] + rng.standard_normal(4)
    >>> round(float(autocorrelation_time(x)), -1)  # (1 + 0.9) / (1 - 0.9)
    20.0
    """
    shape = np.shape(draws)
    return shape[0] * shape[1] / effective_sample_size(draws, "mean")


def kish_ess(weights: Any) -> float:
    """Return the effective sample size of weighted draws, (Σw)² / Σw² (Kish, 1965).

    The sum of weights p/q alone says nothing of it: its expectation is their number, whatever q is.

    Parameters
    ----------
    weights : array (n,)
        Weights, not negative; their scale does not matter.

    Examples
    --------
    >>> kish_ess([1.0, 1.0, 1.0]), kish_ess([1.0, 0.0, 0.0])
    (3.0, 1.0)
    """
    w = np.asarray(as_reals("weights", weights), dtype=np.float64)
    if w.ndim != 1 or not len(w) or not np.all((w >= 0.0) & (w < np.inf)) or not np.any(w > 0.0):
        raise ValueError("weights must be a list of finite numbers from 0 on, one of them above 0")
    w = w / w.max()
    return float(w.sum() ** 2 / (w @ w))


def pareto_k(log_weights: Any) -> float:
    """Return the shape k of the generalised Pareto distribution of the largest importance weights.

    Weights have as many finite moments as 1/k: their mean converges quickly below 0.7, and above 1 there is
    none. The posterior mean of Zhang and Stephens (2009) of the largest 3√n weights, at most a fifth of
    them. Infinite where there are too few different weights to tell; -inf where all are equal.

    Parameters
    ----------
    log_weights : array (n,)
        Logarithms of weights; minus infinity is a weight of zero.

    Examples
    --------
    >>> x = np.random.default_rng(0).standard_normal(5000)
    >>> pareto_k(-0.1 * x * x) < 0.5 < 0.7 < pareto_k(0.45 * x * x)
    True
    """
    log_w = np.asarray(as_reals("log_weights", log_weights), dtype=np.float64)
    if log_w.ndim != 1 or not len(log_w) or not np.max(log_w) > -np.inf or not np.all(log_w < np.inf):
        raise ValueError("log_weights must be a list of numbers, none of them NaN or +inf, one above -inf")
    log_w = np.sort(log_w - log_w.max())
    if log_w[0] == log_w[-1]:
        return -np.inf
    n = len(log_w)
    n_tail = int(np.ceil(min(0.2 * n, 3.0 * np.sqrt(n))))
    cutoff = max(log_w[-min(n_tail, n - 1) - 1], np.log(np.finfo(np.float64).tiny))
    tail = np.exp(log_w[log_w > cutoff]) - np.exp(cutoff)
    return _generalised_pareto_shape(tail) if len(tail) > 4 else np.inf


def _generalised_pareto_shape(x: np.ndarray) -> float:
    """Return the posterior mean of k given excesses in increasing order; a grid of b = -k/σ is the prior."""
    n = len(x)
    m = 30 + int(np.sqrt(n))
    quarter = x[int(n / 4 + 0.5) - 1]
    b = 1.0 / x[-1] + (1.0 - np.sqrt(m / (np.arange(1, m + 1) - 0.5))) / (3.0 * quarter)
    k = np.mean(np.log1p(-b[:, None] * x), axis=1)
    log_likelihood = n * (np.log(-b / k) - k - 1.0)
    weights = np.exp(log_likelihood - log_likelihood.max())
    weights = np.where(weights >= 10.0 * np.finfo(np.float64).eps * weights.sum(), weights, 0.0)
    mean = float(b @ weights / weights.sum())
    # Ten observations of k = 1/2 make it steady where there are few.
    return float((n * np.mean(np.log1p(-mean * x)) + 10.0 * 0.5) / (n + 10.0))


def _blocks(draws: Any) -> tuple[list[np.ndarray], tuple[int, ...]]:
    """Return blocks (p, n_chains, n_draws) of entries of an event, and the shape of an event."""
    x = np.asarray(to_numpy(as_reals("draws", draws)), dtype=np.float64)
    if x.ndim < 2 or x.shape[0] < 1 or x.shape[1] < 4:
        raise ValueError(
            f"draws must have the shape (n_chains, n_draws, ...) with at least 4 draws, got {x.shape}"
        )
    if not np.all(np.isfinite(x)):
        raise ValueError("draws must be finite: there is NaN or infinity among them")
    event = x.shape[2:]
    flat = x.reshape(*x.shape[:2], -1)
    size = max(1, BLOCK_ENTRIES // (x.shape[0] * x.shape[1]))
    starts = range(0, max(flat.shape[2], 1), size)
    return [np.ascontiguousarray(np.moveaxis(flat[:, :, i : i + size], 2, 0)) for i in starts], event


def _scaled(x: np.ndarray) -> np.ndarray:
    """Return draws less their middle over half their range: no square of them overflows or vanishes."""
    low, high = (f(x, axis=(1, 2), keepdims=True) for f in (np.min, np.max))
    half = 0.5 * high - 0.5 * low
    return (x - (low + half)) / np.where(half > 0.0, half, 1.0)


def _split(x: np.ndarray) -> np.ndarray:
    """Return the halves of chains, (p, 2 n_chains, n_draws // 2); a middle draw is left out."""
    half = x.shape[2] // 2
    return np.concatenate([x[:, :, :half], x[:, :, -half:]], axis=1)


def _diagnosed(x: np.ndarray) -> dict[str, np.ndarray]:
    """Return the fields of a `Diagnosis` of a block (p, n_chains, n_draws)."""
    ranked = _Ranked(_split(x))
    scores = ranked.scores()
    n = x.shape[1] * x.shape[2]
    ess_mean, (sd, mcse_sd) = _ess(_split(_scaled(x))), _mcse_of_sd(x)
    in_order = np.sort(x.reshape(len(x), -1), axis=1) if x.shape[2] % 2 else ranked.draws
    return {
        "mean": x.mean(axis=(1, 2)),
        "sd": sd,
        "mcse_mean": sd / np.sqrt(ess_mean),
        "mcse_sd": mcse_sd,
        "ess_bulk": _ess(scores),
        "ess_tail": np.minimum(*(_ess_of_quantile(x, in_order, level) for level in TAILS)),
        "r_hat": np.fmax(_ratio(scores), _ratio(ranked.folded_scores())),
        "autocorrelation_time": n / ess_mean,
    }


def _r_hat(halves: np.ndarray) -> np.ndarray:
    ranked = _Ranked(halves)
    return np.fmax(_ratio(ranked.scores()), _ratio(ranked.folded_scores()))


def _ratio(x: np.ndarray) -> np.ndarray:
    """Return √((B/W + n - 1) / n), B and W the variances between and within chains."""
    n = x.shape[2]
    between = n * np.var(x.mean(axis=2), axis=1, ddof=1)
    within = np.mean(np.var(x, axis=2, ddof=1), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((between / within + n - 1) / n)


def _ess_of(x: np.ndarray, kind: str) -> np.ndarray:
    if kind == "bulk":
        return _ess(_Ranked(_split(x)).scores())
    if kind == "tail":
        ranked = np.sort(x.reshape(len(x), -1), axis=1)
        return np.minimum(*(_ess_of_quantile(x, ranked, level) for level in TAILS))
    z = _scaled(x)
    if kind == "sd":
        z = _scaled((z - z.mean(axis=(1, 2), keepdims=True)) ** 2)
    return _ess(_split(z))


def _ess_of_quantile(x: np.ndarray, ranked: np.ndarray, level: float) -> np.ndarray:
    """Return the effective sample size of the indicators x ≤ quantile; `ranked` has all draws in order."""
    position = ranked.shape[1] * level + (1.0 - level)
    below = int(min(max(np.floor(position), 1), ranked.shape[1] - 1))
    part = min(max(position - below, 0.0), 1.0)
    quantile = (1.0 - part) * ranked[:, below - 1] + part * ranked[:, below]
    return _ess(_split((x <= quantile[:, None, None]).astype(np.float64)))


def _mcse(x: np.ndarray, of: str | float) -> np.ndarray:
    if of == "sd":
        return _mcse_of_sd(x)[1]
    if of == "mean":
        return _sd(x) / np.sqrt(_ess_of(x, "mean"))
    from scipy.special import betaincinv

    level = float(of)
    ranked = np.sort(x.reshape(len(x), -1), axis=1)
    ess, n = _ess_of_quantile(x, ranked, level), ranked.shape[1]
    # The order statistics a standard deviation of the level to either side of it.
    low, high = (betaincinv(ess * level + 1.0, ess * (1.0 - level) + 1.0, p) for p in (0.1586553, 0.8413447))
    first = np.floor(np.maximum(low * n - 1.0, 0.0)).astype(int)
    last = np.ceil(np.minimum(high * n - 1.0, n - 1)).astype(int)
    rows = np.arange(len(x))
    return 0.5 * (ranked[rows, last] - ranked[rows, first])


def _sd(x: np.ndarray) -> np.ndarray:
    return np.std(x.reshape(len(x), -1), axis=1, ddof=1)


def _mcse_of_sd(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the standard deviation and its standard error, √(Var((x - mean)²) / ESS / 4 Var(x))."""
    low, high = x.min(axis=(1, 2), keepdims=True), x.max(axis=(1, 2), keepdims=True)
    unit = 0.5 * high - 0.5 * low
    unit = np.where(unit > 0.0, unit, 1.0)
    z = x / unit
    squares = (z - z.mean(axis=(1, 2), keepdims=True)) ** 2
    variance = squares.mean(axis=(1, 2))
    excess = (squares * squares).mean(axis=(1, 2)) - variance**2
    ess = _ess(_split(_scaled(squares)))
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(np.maximum(excess, 0.0) / ess / variance / 4.0)
    unit = unit[:, 0, 0]
    return unit * _sd(z), unit * np.where(variance > 0.0, error, 0.0)


def _ess(x: np.ndarray) -> np.ndarray:
    """Return N / τ of each entry, (p, m, n) -> (p,); N where all draws are equal."""
    p, m, n = x.shape
    covariance = _from_spectrum(_spectrum(x).mean(axis=1), n)
    within = covariance[:, :1] * n / (n - 1.0)
    total = covariance[:, :1] + (np.var(x.mean(axis=2), axis=1, ddof=1)[:, None] if m > 1 else 0.0)
    varies = np.max(x, axis=(1, 2)) > np.min(x, axis=(1, 2))
    rho = 1.0 - (within - covariance) / np.where(varies[:, None] & (total > 0.0), total, 1.0)
    rho[:, 0] = 1.0
    most = max(-(-(n - 4) // 2), 0)  # so many pairs (ρ_2k, ρ_2k+1) at most, and the one that ends the sum
    pairs = rho[:, 0 : 2 * most + 2 : 2] + rho[:, 1 : 2 * most + 2 : 2]
    ended = pairs <= 0.0
    ended[:, most] = True
    k = np.argmax(ended, axis=1)
    steady = np.cumsum(np.minimum.accumulate(pairs, axis=1), axis=1)
    rows = np.arange(p)
    summed = np.where(k > 0, steady[rows, k - 1], 0.0)
    even = rho[rows, 2 * k]
    last = np.where((even > 0.0) | (pairs[rows, k] >= 0.0), even, 0.0)
    time = np.maximum(2.0 * summed + last - 1.0, 1.0 / np.log10(m * n))
    return np.where(varies, m * n / time, float(m * n))


def _spectrum(x: np.ndarray) -> np.ndarray:
    """Return the squared moduli of the Fourier transform of each chain about its mean, padded with zeros."""
    from scipy.fft import next_fast_len, rfft

    size = next_fast_len(2 * x.shape[2], real=True)
    found = rfft(x - x.mean(axis=2, keepdims=True), n=size, axis=2)
    return found.real**2 + found.imag**2


def _from_spectrum(power: np.ndarray, n: int) -> np.ndarray:
    """Return the autocovariances (1/n) Σ (x_i - mean)(x_i+t - mean) at every lag t below n."""
    from scipy.fft import irfft, next_fast_len

    return irfft(power, n=next_fast_len(2 * n, real=True), axis=-1)[..., :n] / n


class _Ranked:
    """Draws (p, m, n) in increasing order, entry by entry, and the normal quantiles of their ranks."""

    def __init__(self, x: np.ndarray) -> None:
        flat = x.reshape(len(x), -1)
        self.shape, self.order = x.shape, np.argsort(flat, axis=1)
        self.draws = np.take_along_axis(flat, self.order, axis=1)

    def scores(self) -> np.ndarray:
        """Return the normal quantiles of (rank - 3/8) / (N + 1/4), those of ties of their mean rank."""
        return self._placed(self.draws, self.order)

    def folded_scores(self) -> np.ndarray:
        """Return those of the distances from the median."""
        n = self.draws.shape[1]
        median = 0.5 * (self.draws[:, (n - 1) // 2] + self.draws[:, n // 2])
        far = np.abs(self.draws - median[:, None])
        # A falling and a rising run, which a stable sort merges.
        order = np.argsort(far, axis=1, kind="stable")
        return self._placed(
            np.take_along_axis(far, order, axis=1), np.take_along_axis(self.order, order, axis=1)
        )

    def _placed(self, ranked: np.ndarray, order: np.ndarray) -> np.ndarray:
        scores, n = np.empty(ranked.shape), ranked.shape[1]
        equal = ranked[:, 1:] == ranked[:, :-1]
        found = _scores_of_ranks(n)
        found = found[_twice_mean_rank(equal)] if equal.any() else np.broadcast_to(found[::2], ranked.shape)
        np.put_along_axis(scores, order, found, axis=1)
        return scores.reshape(self.shape)


def _twice_mean_rank(equal: np.ndarray) -> np.ndarray:
    """Return twice the mean rank of ties, from 0: the first position of a run of equal draws plus the last.

    `equal` says of each draw but the first whether it equals the one before.
    """
    n, edge = equal.shape[1] + 1, np.ones((len(equal), 1), dtype=bool)
    here = np.broadcast_to(np.arange(n), (len(equal), n))
    begins, ends = np.concatenate([edge, ~equal], axis=1), np.concatenate([~equal, edge], axis=1)
    first = np.maximum.accumulate(np.where(begins, here, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, here, n)[:, ::-1], axis=1)[:, ::-1]
    return first + last


@lru_cache(maxsize=8)
def _scores_of_ranks(n: int) -> np.ndarray:
    """Return the scores of ranks 1, 1½, 2, …, n."""
    from scipy.special import ndtri

    return ndtri((np.arange(2 * n - 1) / 2.0 + 1.0 - 0.375) / (n + 0.25))
