"""Columns of counts: Poisson with rates of each class, and multinomial given the total of a row."""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq

from tractable.arrays.gamma import gammaln
from tractable.arrays.saddle_point import count_deviance, factorial_rest
from tractable.columns.family import ColumnFamily, Estimation, Membership
from tractable.conjugate.increments import gamma_increment
from tractable.distributions import NegativeBinomial
from tractable.statistics import Totals
from tractable.value import replace, value


@value
class RatePrior:
    """What rates of counts are estimated with, beside their sums.

    Parameters
    ----------
    pseudocounts : float
        α: the prior is worth so many rows of the average count.
    average : array (d,)
        The average count.
    otherwise : array (d,) or (K, d)
        Of a class without rows, if α = 0.
    """

    pseudocounts: float
    average: np.ndarray
    otherwise: np.ndarray


@value
class MultinomialPrior:
    """What probabilities of counts given their total are estimated with, beside their sums."""

    pseudocounts: float  # α of each column
    length: float  # the average total of a row
    overall: np.ndarray  # (1, d), of a column that a class has not observed


@value
class CountScores:
    """log Poisson(x | r_k) of rows of counts, (n, K), summed over columns.

    Counts are scored relative to average rates m_j: Σ_j x_j log(r_kj / m_j) - (r_kj - m_j) keeps the digits
    by which classes differ where counts are large. The rest, log Poisson(x_j | m_j), is the same for all k;
    `relative` scores omit it.
    """

    rate: np.ndarray  # (K, d)
    log_ratio: np.ndarray  # (K, d), of rates to average rates
    average: np.ndarray  # (d,)
    relative: bool

    @classmethod
    def of(
        cls,
        columns: Any,
        *,
        relative: bool = False,
        average: np.ndarray | None = None,
        least: float = -np.inf,
        **_: Any,
    ) -> "CountScores":
        """Compute the constants; `average` rates are those of the K classes when not given.

        Logarithms of relative rates are at least `least`.
        """
        average = columns.rate.mean(axis=0) if average is None else average
        average = np.where(average > 0, average, 1.0)
        with np.errstate(divide="ignore"):
            ratio = np.maximum(_log_ratio(columns.rate, average), least)
        return cls(rate=columns.rate, log_ratio=ratio, average=average, relative=relative)

    def __call__(self, x: Any) -> Any:
        """Return the scores of rows (n, d), dense or sparse."""
        less, never, slopes, total = self._constants
        found = x @ slopes
        if np.all(np.isfinite(found)):
            found += total
        else:
            seen = ~np.isnan(x)
            found = np.where(seen, x, 0.0) @ slopes + seen.astype(np.float64) @ less.T
        if never is not None:
            found[(x > 0).astype(np.float64) @ never.T.astype(np.float64) > 0] = -np.inf
        return found if self.relative else found + log_average_counts(x, self.average)[:, None]

    @property
    def log_prior(self) -> float:
        """Σ m log(r / m) - (r - m): the log prior of rates that is worth one row of the average counts."""
        average = self.average
        return float((average * self.log_ratio - (self.rate - average)).sum())

    @cached_property
    def _constants(self) -> tuple[np.ndarray, np.ndarray | None, np.ndarray, np.ndarray]:
        """m_j - r_kj, (K, d); where r_kj is zero, if anywhere; log(r_kj / m_j), (d, K); Σ_j (m_j - r_kj)."""
        less, never = self.average - self.rate, np.isneginf(self.log_ratio)
        slopes = np.where(never, 0.0, self.log_ratio).T
        return less, never if np.any(never) else None, slopes, less.sum(axis=1)


def log_average_counts(x: np.ndarray, average: np.ndarray) -> np.ndarray:
    """Return Σ_j log Poisson(x_j | m_j) of rows of counts, (n,), over the entries that are not missing."""
    x = np.asarray(x, dtype=np.float64)
    seen = ~np.isnan(x)
    k = np.where(seen, x, 0.0)
    return np.sum(-factorial_rest(k) - count_deviance(k, average), axis=1, where=seen)


def _log_ratio(rate: np.ndarray, average: np.ndarray) -> np.ndarray:
    """Return log(r / m), with the digits of r - m where the two are close."""
    near = np.abs(rate - average) < 0.5 * average
    return np.where(near, np.log1p(np.where(near, (rate - average) / average, 0.0)), np.log(rate / average))


class CountColumns(ColumnFamily):
    """x_j | k ~ Poisson(r_kj), under a prior worth α rows of the average count."""

    scores = CountScores.of

    def summarize(self, x: Any, membership: Membership) -> Totals:
        return membership.totals(x, self.check)

    def prior(self, sums: Totals, how: Estimation, classes: Any = None) -> RatePrior:
        sums = self._counts(sums)
        # Where no class has a count, the average is that of half a count.
        average = np.maximum(sums.total.sum(axis=0), 0.5) / sums.weight.sum(axis=0)
        return RatePrior(pseudocounts=how.pseudocounts, average=average, otherwise=average)

    def estimate(self, sums: Totals, prior: RatePrior) -> dict[str, Any]:
        """Return rates (S + α m) / (n + α)."""
        sums, alpha = self._counts(sums), prior.pseudocounts
        rows = sums.weight + alpha
        rate = (sums.total + alpha * prior.average) / np.where(rows > 0, rows, 1.0)
        return {"counted": self.where, "rate": np.where(rows > 0, rate, prior.otherwise)}

    def _counts(self, sums: Totals) -> Totals:
        """Return the weights and the totals of the counts alone."""
        return sums


class PoissonColumns(CountColumns):
    """Poisson columns whose evidence is known: the statistic has the sums of x and, after them, of log x!."""

    def summarize(self, x: Any, membership: Membership) -> Totals:
        self.check(x)
        factorials = gammaln(np.asarray(x, dtype=np.float64) + 1.0)
        return membership.totals(np.concatenate([x, factorials], axis=1))

    def _counts(self, sums: Totals) -> Totals:
        d = len(self.where)
        return replace(sums, weight=sums.weight[:, :d], total=sums.total[:, :d])

    def check_observed(self, sums: Totals) -> None:
        super().check_observed(self._counts(sums))

    def predictive(self, sums: Totals, prior: RatePrior) -> dict[str, Any]:
        """Return the predictive negative binomials."""
        sums, alpha = self._counts(sums), prior.pseudocounts
        shape = sums.total + alpha * prior.average
        mean = shape / (sums.weight + alpha)
        each = {j: NegativeBinomial(shape=shape[:, i], mean=mean[:, i]) for i, j in enumerate(self.where)}
        return {"parts": each}

    def log_evidence(self, sums: Totals, prior: RatePrior) -> float:
        own, alpha, d = self._counts(sums), prior.pseudocounts, len(self.where)
        gamma = np.stack([alpha * prior.average, np.full(d, alpha)], axis=-1)
        evidence = gamma_increment(gamma, np.stack(np.broadcast_arrays(own.total, own.weight), axis=-1))
        return float(np.sum(evidence)) - float(np.sum(sums.total[:, d:]))


class MultinomialColumns(CountColumns):
    """Counts x | k that are multinomial given their total, with probabilities p_k.

    With totals that are Poisson(λ) in every class the columns are independent, Poisson(λ p_kj), and the total
    has the same distribution in all classes.
    """

    def prior(self, sums: Totals, how: Estimation, classes: Any = None) -> Any:
        total, weight = sums.total.sum(axis=0), sums.weight.sum(axis=0)
        length = max(float(np.sum(total / weight)), 0.5 / float(weight.max()))
        overall = multinomial_probabilities(total[None], weight[None], how.pseudocounts)
        return MultinomialPrior(pseudocounts=how.pseudocounts, length=length, overall=overall)

    def estimate(self, sums: Totals, prior: Any) -> dict[str, Any]:
        """Return rates λ p_kj, with λ the average total of a row."""
        each = multinomial_probabilities(sums.total, sums.weight, prior.pseudocounts, prior.overall)
        return {"counted": self.where, "rate": prior.length * each}


def multinomial_probabilities(
    counts: np.ndarray, weight: np.ndarray, pseudocounts: float, overall: np.ndarray | None = None
) -> np.ndarray:
    """Return the probabilities p_j, (K, d), of totals S_j whose column was observed in rows of weight n_j.

    Totals S_j are Poisson with means λ p_j n_j, where λ, the average total of a row of this class, is free.
    Under a Dirichlet prior of α pseudocounts the posterior mode has

        p_j = (S_j + α) / (S n_j / E + α d),    E = Σ_j n_j p_j,    S = Σ_j S_j,

    which is (S_j + α) / (S + α d) where nothing is missing, and proportional to the mean counts S_j / n_j
    where α = 0. A column that was never observed has its `overall` probability, (1, d).
    """
    d = counts.shape[1]
    default = np.full((1, d), 1.0 / d) if overall is None else overall
    found = counts + pseudocounts
    size = found.sum(axis=1, keepdims=True)
    low = weight.min(axis=1)
    whole = (low == weight.max(axis=1)) & (low > 0) & (size[:, 0] > 0)
    if np.all(whole):
        found /= size
        return found
    found /= np.where(size > 0, size, 1.0)
    weight = np.broadcast_to(weight, counts.shape)
    for k in np.flatnonzero(~whole):
        found[k] = _mode_of_observed(counts[k], weight[k], pseudocounts, default[0], overall is None)
    return found


def _mode_of_observed(
    counts: np.ndarray, weight: np.ndarray, pseudocounts: float, overall: np.ndarray, alone: bool = False
) -> np.ndarray:
    """Return the probabilities (d,) of one class, of which columns were observed in different rows."""
    seen, d = weight > 0, len(counts)
    if not np.all(seen):
        if alone or not np.any(seen):
            return overall
        rest = overall[seen].sum()
        found = np.array(overall)
        found[seen] = rest * _mode_of_observed(counts[seen], weight[seen], pseudocounts, overall[seen] / rest)
        return found
    total = float(counts.sum())
    if not total + pseudocounts > 0:
        return overall
    low, high = float(weight.min()), float(weight.max())

    def at(observed: float) -> np.ndarray:
        return (counts + pseudocounts) / (total * weight / observed + pseudocounts * d)

    if not total > 0 or not pseudocounts > 0 or low == high:
        found = at(high) if total > 0 else np.ones(d)
    else:
        found = at(brentq(lambda e: at(e).sum() - 1.0, low, high, xtol=1e-14 * high))
    return found / found.sum()
