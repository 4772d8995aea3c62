"""Statistical comparisons whose tolerance is computed, never tuned."""

from typing import Any

import numpy as np

__all__ = ["SIGMAS", "assert_mean", "largest_ks_distance", "standardized"]

#: How many standard errors away counts as wrong: one chance in two million.
SIGMAS = 5.0


def assert_mean(draws: np.ndarray, expected: Any, what: str) -> None:
    """Raise unless the mean of independent draws is within five standard errors of what it should be."""
    draws = np.asarray(draws, dtype=np.float64)
    error = np.abs(draws.mean(axis=0) - expected)
    standard_error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    rounding = 1e-12 * (1.0 + np.abs(expected))
    worst = np.max(error - SIGMAS * standard_error - rounding)
    assert worst <= 0, f"{what}: mean {draws.mean(axis=0)}, expected {expected}, s.e. {standard_error}"


def largest_ks_distance(n: int) -> float:
    """Return the distance of an empirical distribution function that counts as wrong (Massart's bound)."""
    chance = 5.7e-7
    return float(np.sqrt(np.log(2.0 / chance) / (2.0 * n)))


def standardized(x: np.ndarray, mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    """Return (x - mean) / stddev, and 0 for entries that have no finite, positive standard deviation."""
    known = np.isfinite(mean) & np.isfinite(stddev) & (stddev > 0)
    safe = np.where(known, stddev, 1.0)
    return np.where(known, (x - np.where(known, mean, 0.0)) / safe, 0.0)
