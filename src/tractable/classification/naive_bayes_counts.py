"""Columns of counts, class by class: Poisson by themselves, or shares of a row's total together."""

from typing import Any

import numpy as np

from tractable.arrays.special import gammaln
from tractable.classification.naive_bayes_estimation import Estimation
from tractable.classification.naive_bayes_normal import pooled
from tractable.conjugate.rises import gamma_rise
from tractable.distributions import NegativeBinomial, Poisson
from tractable.statistics import DiagonalMoments

__all__ = ["multinomial_rates", "poisson_evidence", "poisson_parts", "with_factorials"]


def with_factorials(x: np.ndarray) -> np.ndarray:
    """Return counts and the logarithms of their factorials, which the evidence needs."""
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
    d = found[0].dim // 2 if how.bayes else found[0].dim
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
    totals = np.stack([part.total * part.mean for part in found])
    smoothed = totals + how.pseudocounts
    even = np.maximum(totals.sum(axis=0), 0.0) + (0.0 if totals.sum() > 0 else 1.0)
    smoothed = np.where(smoothed.sum(axis=1, keepdims=True) > 0, smoothed, even)
    return length * smoothed / smoothed.sum(axis=1, keepdims=True)
