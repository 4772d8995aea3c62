"""Columns of many categories: shares looked up by code, where indicators would fill the memory."""

import numpy as np

from tractable.mixture.table_design import Design, log_floor
from tractable.mixture.table_units import TableUnits

__all__ = ["MANY", "indicators", "log_terms", "totals"]

#: A column of more categories is looked up, and its indicators are projected on so many directions.
MANY = 128


def log_terms(design: Design, x: np.ndarray, shares: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return Σ_j log p(x_j | k) over categories and counts, (n, K), but for what all k have alike."""
    found, edge, log_shares = np.zeros((len(x), len(shares))), 0, log_floor(shares).T
    for j in design.categorical:
        seen = ~np.isnan(x[:, j])
        found[seen] += log_shares[edge + x[seen, j].astype(np.int64)]
        edge += design.units.sizes[j]
    counts = x[:, design.counted]
    seen = ~np.isnan(counts)
    return found + np.where(seen, counts, 0.0) @ design.log_times(rates).T - seen @ (rates - design.usual).T


def totals(units: TableUnits, x: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return tallies of categories, observed weight and total of counts, of shares (n, K) of the rows."""
    tallies = [np.zeros((shares.shape[1], 0))]
    for j in units.where("categorical", "bernoulli"):
        seen = ~np.isnan(x[:, j])
        codes = x[seen, j].astype(np.int64)
        tallies.append(np.stack([np.bincount(codes, r, units.sizes[j]) for r in shares[seen].T]))
    counts = x[:, units.where("poisson")]
    seen = ~np.isnan(counts)
    return np.concatenate(tallies, axis=1), shares.T @ seen, shares.T @ np.where(seen, counts, 0.0)


def indicators(codes: np.ndarray, size: int) -> np.ndarray:
    """Return an indicator of each category, (n, size), zeros where an entry is missing.

    Many are projected on few random directions, always the same: distances stay about what they were.
    """
    if size <= MANY:
        return codes[:, None] == np.arange(size)
    seen = ~np.isnan(codes)
    signs = np.random.default_rng(0).integers(0, 2, (size, MANY), dtype=np.int8)
    found = np.zeros((len(codes), MANY), dtype=np.float32)
    found[seen] = (2.0 * signs[codes[seen].astype(np.int64)] - 1.0) / np.sqrt(MANY)
    return found
