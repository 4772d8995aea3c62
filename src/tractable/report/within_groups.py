"""Pairs of numbers whose correlation turns round within the groups of a third column (Simpson's paradox)."""

import math

import numpy as np

from tractable.report.mutual_information import Pair, coded, correlation_interval
from tractable.report.table import Table
from tractable.value import value

__all__ = ["Reversal", "reversals"]

#: Rows that a group must have, and the size of a correlation within groups that is worth telling.
LEAST_ROWS = 10
LEAST = 0.1


@value
class Reversal:
    """A pair of numbers, the groups within which they go the other way, and their correlation there."""

    pair: Pair
    by: str
    within: float
    low: float
    high: float


def reversals(table: Table, pairs: list[Pair]) -> list[Reversal]:
    """Return the pairs of numbers whose correlation has the other sign within groups, the surest first.

    The correlation within groups is that of the deviations from each group's means, pooled; it must be at
    least 0.1, and neither interval of 95 % may hold 0. Each pair is told once, with the groups within which
    it is greatest.
    """
    found = []
    groups = {name: coded(table, name) for name in table.names("category", "boolean")}
    for pair in pairs:
        if pair.correlation is None or pair.low is None or pair.high is None or pair.low * pair.high <= 0:
            continue
        x, y = (table.frame[name].to_numpy(dtype=float) for name in (pair.a, pair.b))
        turned = [_within(pair, name, x, y, codes) for name, codes in groups.items()]
        told = [one for one in turned if one is not None and one.within * pair.correlation < 0]
        found += sorted(told, key=lambda one: -abs(one.within))[:1]
    return sorted(found, key=lambda one: -abs(one.within))


def _within(pair: Pair, by: str, x: np.ndarray, y: np.ndarray, codes: np.ndarray) -> Reversal | None:
    both = np.isfinite(x) & np.isfinite(y) & (codes >= 0)
    x, y, codes = x[both], y[both], codes[both]
    counts = np.bincount(codes)
    full = counts[codes] >= LEAST_ROWS
    x, y, codes = x[full], y[full], codes[full]
    groups = len(np.unique(codes))
    if groups < 2 or len(x) - groups < LEAST_ROWS:
        return None
    x, y = _deviations(x, codes), _deviations(y, codes)
    scale = math.sqrt(float(x @ x)) * math.sqrt(float(y @ y))
    r = float(x @ y) / scale if scale > 0 else 0.0
    low, high = correlation_interval(r, len(x) - groups + 1)  # each further mean costs a row
    sure = low * high > 0 and abs(r) >= LEAST
    return Reversal(pair=pair, by=by, within=r, low=low, high=high) if sure else None


def _deviations(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    values = values / (np.abs(values).max() or 1.0)
    means = np.bincount(codes, weights=values) / np.maximum(np.bincount(codes), 1)
    return values - means[codes]
