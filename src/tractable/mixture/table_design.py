"""Counted columns as features of an exponential family: log p(x | k) is linear in them."""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.distributions import Poisson
from tractable.mixture.table_units import TableUnits
from tractable.value import value

__all__ = ["Design", "log_floor"]


def log_floor(x: np.ndarray) -> np.ndarray:
    """Return log x, and of zero the logarithm of the smallest number, which is as good as never."""
    return np.log(np.maximum(x, np.finfo(np.float64).tiny))


@value
class Design:
    """Features T(x) of the categories and the counts of a table, the fewest that say everything.

    A column of C categories gives an indicator of each but the first, a column of counts gives the count. A
    column with missing entries gives one feature more, whether it was observed, so that a missing entry adds
    exactly nothing.
    """

    units: TableUnits
    complete: np.ndarray  # (d,), bool: whether a column has no missing entry here

    @cached_property
    def categorical(self) -> np.ndarray:
        """Positions of the columns with categories."""
        return self.units.where("categorical", "bernoulli")

    @cached_property
    def counted(self) -> np.ndarray:
        """Positions of the columns of counts."""
        return self.units.where("poisson")

    @cached_property
    def edges(self) -> np.ndarray:
        """Where the categories of each column begin and end in one row of shares."""
        return np.concatenate([[0], np.cumsum(self.units.sizes[self.categorical])])

    def rows(self, x: np.ndarray) -> np.ndarray:
        """Return the features of rows, (n, P)."""
        seen = ~np.isnan(x[:, self.incomplete])
        sizes = self.units.sizes[self.categorical]
        if np.all(sizes == 2) and len(sizes) == x.shape[1] and not len(self.incomplete):
            return x  # zeros and ones are their own features
        if np.all(sizes == 2):  # all columns at once
            codes = [x[:, self.categorical] == 1.0]
        else:
            codes = [x[:, j, None] == np.arange(1.0, n) for j, n in zip(self.categorical, sizes, strict=True)]
        counts = x[:, self.counted]
        parts = [seen, *codes, np.where(np.isnan(counts), 0.0, counts)]
        return np.concatenate(parts, axis=1, dtype=np.float64, casting="unsafe")

    @cached_property
    def incomplete(self) -> np.ndarray:
        """Positions of the counted columns with missing entries."""
        columns = np.concatenate([self.categorical, self.counted])
        return columns[~self.complete[columns]]

    def natural(self, shares: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return constants (K,) and coefficients (K, P) of log p(x | k), but for what all k have alike."""
        log_shares, log_rates = log_floor(shares), self.log_times(rates)
        base = np.zeros((len(shares), len(self.units.sizes)))  # of the first category, of no counts
        base[:, self.categorical] = log_shares[:, self.edges[:-1]]
        base[:, self.counted] = self.usual - rates
        steps = [log_shares[:, a + 1 : b] - log_shares[:, a, None] for a, b in self._spans()]
        return base[:, self.complete].sum(axis=1), np.concatenate(
            [base[:, self.incomplete], *steps, log_rates], axis=1
        )

    def totals(self, weight: np.ndarray, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Read weighted sums of features: tallies of categories, observed weight and total of counts."""
        mass = np.repeat(weight[:, None], len(self.units.sizes), axis=1)
        m = len(self.incomplete)
        mass[:, self.incomplete] = sums[:, :m]
        tallies, at = [], m
        for j in self.categorical:
            others = sums[:, at : at + self.units.sizes[j] - 1]
            first = np.maximum(mass[:, j] - others.sum(axis=1), 0.0)
            tallies += [first[:, None], others]
            at += self.units.sizes[j] - 1
        whole = np.concatenate(tallies, axis=1) if tallies else np.zeros((len(weight), 0))
        return whole, mass[:, self.counted], sums[:, at:]

    def normalised(self, tallies: np.ndarray) -> np.ndarray:
        """Return tallies as shares that are one in sum within each column."""
        parts = [tallies[:, a:b] / tallies[:, a:b].sum(axis=1, keepdims=True) for a, b in self._spans()]
        return np.concatenate(parts, axis=1) if parts else tallies

    def spread(self, tallies: np.ndarray) -> np.ndarray:
        """Return the sum of the tallies of each column beside each of its categories."""
        parts = [
            np.broadcast_to(tallies[:, a:b].sum(axis=1, keepdims=True), tallies[:, a:b].shape)
            for a, b in self._spans()
        ]
        return np.concatenate(parts, axis=1) if parts else tallies

    @cached_property
    def usual(self) -> np.ndarray:
        """The average counts, about which others are told: rates of 1e12 must not drown what is learnt."""
        average = self.units.mean[self.counted]
        return np.where(average > 0, average, 1.0)

    def log_times(self, rates: np.ndarray) -> np.ndarray:
        """Return log(rate / usual rate)."""
        times = np.maximum(rates / self.usual, np.finfo(np.float64).tiny)
        near = np.abs(times - 1.0) < 0.5
        return np.where(near, np.log1p(np.where(near, (rates - self.usual) / self.usual, 0.0)), np.log(times))

    def log_base(self, x: np.ndarray, weights: Any = None) -> float:
        """Return Σ_n w_n log h(x_n), which all components have alike: what the usual rates say of counts."""
        counts = x[:, self.counted]
        seen = ~np.isnan(counts)
        found = Poisson(rate=self.usual).log_prob(np.where(seen, counts, 0.0))
        each = np.sum(found, axis=1, where=seen)
        return float(each.sum() if weights is None else each @ weights)

    def _spans(self) -> list[tuple[int, int]]:
        return list(zip(self.edges[:-1], self.edges[1:], strict=True))
