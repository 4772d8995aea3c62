"""Columns of counts, class by class: Poisson by themselves, or shares of a row's total together."""

from typing import Any

import numpy as np
from scipy.optimize import brentq

from tractable.arrays.special import gammaln
from tractable.classification.naive_bayes_estimation import Estimation
from tractable.classification.naive_bayes_normal import pooled
from tractable.conjugate.increments import gamma_rise
from tractable.distributions import NegativeBinomial, Poisson
from tractable.statistics import DiagonalMoments

__all__ = ["multinomial_rates", "poisson_evidence", "poisson_parts", "shares_of_counts", "with_factorials"]


def with_factorials(x: np.ndarray) -> np.ndarray:
    """Return counts and the logarithms of their factorials, which the evidence needs.

    Both are kept whatever the estimate: statistics do not depend on what will be made of them.
    """
    return np.concatenate([x, gammaln(np.asarray(x, dtype=np.float64) + 1.0)], axis=1)


def poisson_parts(found: list[DiagonalMoments], how: Estimation) -> list[Any]:
    """Return the distribution of each column, a batch of classes.

    The prior of a rate is worth `pseudocounts` rows of the average count: the estimate is
    (Σ x + a m) / (n + a), and with the rate integrated out a count is negative binomial.
    """
    shape, rate, usual = _gammas(found, how)
    if how.bayes:
        mean = shape / rate
        return [NegativeBinomial(shape=shape[:, j], mean=mean[:, j]) for j in range(len(usual))]
    nothing = rate == 0
    rates = np.where(nothing, usual, shape / np.where(nothing, 1.0, rate))
    return [Poisson(rate=rates[:, j]) for j in range(len(usual))]


def poisson_evidence(found: list[DiagonalMoments], how: Estimation) -> float:
    """Return Σ_k log p(columns of class k), the rates integrated out."""
    d = found[0].dim // 2
    _, _, usual = _gammas(found, how)
    prior = np.stack([how.pseudocounts * usual, np.full(d, how.pseudocounts)], axis=-1)
    total = 0.0
    for part in found:
        gain = np.stack([(part.weight * part.mean)[:d], part.weight[:d]], axis=-1)
        total += float(np.sum(gamma_rise(prior, gain))) - float(np.sum((part.weight * part.mean)[d:]))
    return total


def _gammas(found: list[DiagonalMoments], how: Estimation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return shape and rate of the belief about each rate, (K, d), and the average counts (d,)."""
    d = found[0].dim // 2
    weight, mean = (np.stack([getattr(part, name) for part in found])[:, :d] for name in ("weight", "mean"))
    whole = weight.sum(axis=0)
    # Where no class has counted anything, half a count is what may have been missed.
    usual = np.maximum(np.sum(weight * mean, axis=0), 0.5) / whole
    return weight * mean + how.pseudocounts * usual, weight + how.pseudocounts, usual


def multinomial_rates(found: list[DiagonalMoments], how: Estimation) -> np.ndarray:
    """Return the rates λ p_kj of Poisson distributions, (K, d), with λ the average total of a row.

    Given its total, a row of such counts is multinomial with shares p_k; the total itself, Poisson with the
    same λ in every class, says nothing of the class.
    """
    whole = pooled(found)
    length = max(float(whole.mean.sum()), 0.5 / float(whole.total))
    weight, mean = (np.stack([getattr(part, name) for part in found]) for name in ("weight", "mean"))
    counts = weight * mean
    a = how.pseudocounts
    usual = shares_of_counts(counts.sum(axis=0), whole.weight, a)
    shares = np.stack([shares_of_counts(*own, a, usual) for own in zip(counts, weight, strict=True)])
    return length * shares


def shares_of_counts(
    counts: np.ndarray, weight: np.ndarray, pseudocounts: float, usual: np.ndarray | None = None
) -> np.ndarray:
    """Return the shares p_j of totals, (d,), of which column j was observed in rows of weight n_j.

    Counts S_j are Poisson with means λ p_j n_j, where λ, the average total in this class, is free: totals say
    nothing of shares. Under a Dirichlet prior of α pseudocounts the mode has

        p_j = (S_j + α) / (S n_j / E + α d),    E = Σ_j n_j p_j,    S = Σ_j S_j,

    which is (S_j + α) / (S + α d) where nothing is missing, and in proportion to the mean counts S_j / n_j
    where α = 0. A column that was never observed has its `usual` share, and leaves the rest to the others.
    """
    seen = weight > 0
    if not np.all(seen):
        if usual is None or not np.any(seen):
            return np.full(len(counts), 1.0 / len(counts)) if usual is None else usual
        kept = shares_of_counts(counts[seen], weight[seen], pseudocounts, usual[seen] / usual[seen].sum())
        shares = np.array(usual)
        shares[seen] = kept * usual[seen].sum()
        return shares
    total, d = float(counts.sum()), len(counts)
    if not total + pseudocounts > 0:
        return np.full(d, 1.0 / d) if usual is None else usual
    low, high = float(weight.min()), float(weight.max())

    def shares_at(observed: float) -> np.ndarray:
        return (counts + pseudocounts) / (total * weight / observed + pseudocounts * d)

    if not total > 0 or not pseudocounts > 0 or low == high:
        shares = shares_at(high) if total > 0 else np.ones(d)
    else:
        shares = shares_at(brentq(lambda e: shares_at(e).sum() - 1.0, low, high, xtol=1e-14 * high))
    return shares / shares.sum()
