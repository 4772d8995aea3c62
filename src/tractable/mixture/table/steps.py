"""Counted columns as features of an exponential family: log p(x | k) is linear in them."""

import math
from functools import cached_property, partial
from typing import Any

import numpy as np

from tractable.arrays.special import log_sum_exp
from tractable.base import Rows
from tractable.data import sample_rows
from tractable.distributions import Poisson
from tractable.engines import fold
from tractable.engines.kmeans import kmeans
from tractable.mixture.table.model import TableUnits
from tractable.primitives.em import LINEAR, mixture_pass
from tractable.value import parameters, value

__all__ = [
    "MANY",
    "Design",
    "TableParameters",
    "TableSteps",
    "TableSums",
    "indicators",
    "log_floor",
    "log_terms",
    "totals",
]


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


#: Entries of the arrays that a block of rows makes.
BLOCK_ENTRIES = 2**20

#: Rows that a start looks at.
START_ROWS = 20_000


@value
class TableParameters:
    """A mixture over a table: normal columns in standard units, rates of counts, shares of categories."""

    weights: np.ndarray  # (K,)
    means: np.ndarray  # (K, p)
    variances: np.ndarray  # (K, p)
    rates: np.ndarray  # (K, c)
    shares: np.ndarray  # (K, all categories of all columns)


@value
class TableSums:
    """What responsibilities weight, the log likelihood, and the prior's share of the objective."""

    weight: np.ndarray  # (K,)
    mass: np.ndarray  # (K, p), of the observed entries of normal columns
    first: np.ndarray  # (K, p), about the means
    second: np.ndarray  # (K, p)
    tallies: np.ndarray  # (K, all categories)
    seen: np.ndarray  # (K, c), of the observed counts
    counts: np.ndarray  # (K, c)
    log_likelihood: float
    penalty: float
    params: TableParameters  # that made the responsibilities

    @property
    def objective(self) -> float:
        """The penalised log likelihood."""
        return self.log_likelihood + self.penalty

    def __add__(self, other: "TableSums") -> "TableSums":
        same: dict[str, Any] = {"penalty": self.penalty, "params": self.params}
        added = {
            name: mine + getattr(other, name) for name, mine in parameters(self).items() if name not in same
        }
        return TableSums(**added, **same)


class TableSteps:
    """`expect` and `maximize` over the rows of a table.

    `alpha` pseudo-observations of each category, and of the average count, are a Dirichlet and a gamma prior;
    `reg` is added to the variances of normal columns as if entries were clouds of that variance: all three
    have their share in the objective, which both steps climb.
    """

    def __init__(
        self, rows: Rows, units: TableUnits, n_components: int, alpha: float, reg: np.ndarray
    ) -> None:
        self.rows, self.units, self.n_components, self.alpha, self.reg = rows, units, n_components, alpha, reg
        self.normal, self.counted = units.where("normal"), units.where("poisson")
        self.usual = units.mean[self.counted]  # the average count of each column
        self.total = units.total

    def expect(self, params: TableParameters) -> TableSums:
        """Sum over rows what their responsibilities weight."""
        width = len(self.units.sizes) + (0 if self._many() else int(self.units.sizes.sum()))
        width += self.n_components * (1 + len(self.normal))
        of = partial(self._of, params, self._penalty(params))
        block = max(256, BLOCK_ENTRIES // width)
        return fold(of, self.rows.data, weights=self.rows.weights, rows=block)

    def maximize(self, sums: TableSums) -> TableParameters:
        """Take the averages that the sums suggest; a component without rows stays as it was."""
        before, design = sums.params, self._design(np.zeros((1, len(self.units.sizes))))
        some = np.where(sums.mass > 0, sums.mass, 1.0)
        step = sums.first / some
        variances = np.maximum(sums.second / some - step * step, 0.0) + self.reg
        tallies, seen = sums.tallies + self.alpha, sums.seen + self.alpha
        rates = (sums.counts + self.alpha * self.usual) / np.where(seen > 0, seen, 1.0)
        return TableParameters(
            weights=sums.weight / sums.weight.sum(),
            means=before.means + step,
            variances=np.where(sums.mass > 0, variances, before.variances),
            rates=np.where(seen > 0, rates, before.rates),
            shares=design.normalised(np.where(design.spread(tallies) > 0, tallies, before.shares)),
        )

    def start(self, rng: np.random.Generator) -> TableParameters:
        """Begin at the clusters that k-means finds in the coded rows."""
        K = self.n_components
        choice, draw = rng.spawn(2)  # what one draws must not depend on how many rows the other looked at
        x, weights = sample_rows(self.rows.data, self.rows.weights, START_ROWS, draw)
        labels = kmeans(self._placed(x), weights, K, choice).labels
        return self.begin(x, weights, np.eye(K)[labels])

    def begin(self, x: np.ndarray, weights: Any, shares: np.ndarray) -> TableParameters:
        """Take an M-step from given shares (n, K) of the components in rows."""
        one = np.ones(len(x)) if weights is None else weights
        average = self._average(totals(self.units, x, one[:, None])[0])
        shares = one[:, None] * shares
        counted = self._counted_sums(shares.sum(axis=0), totals(self.units, x, shares), average)
        return self.maximize(self._sums(self._standard(x), shares, counted))

    def _average(self, tallies: np.ndarray) -> TableParameters:
        """Return components that are all like the average row."""
        K, p = self.n_components, len(self.normal)
        shares = self._design(np.zeros((1, len(self.units.sizes)))).normalised(tallies + 1.0)
        return TableParameters(
            weights=np.full(K, 1.0 / K),
            means=np.zeros((K, p)),
            variances=np.ones((K, p)),
            rates=np.repeat(self.usual[None], K, axis=0),
            shares=np.repeat(shares, K, axis=0),
        )

    def _placed(self, x: np.ndarray) -> np.ndarray:
        """Return rows as points between which distances mean something: columns alike, holes at the mean."""
        z = (x - self.units.mean) * self.units.scale
        flat = np.where(np.isnan(z), 0.0, z)[:, np.concatenate([self.normal, self.counted])]
        codes = [indicators(x[:, j], size) for j, size in enumerate(self.units.sizes) if size]
        return np.concatenate([flat, *codes], axis=1, dtype=np.float64, casting="unsafe")

    def _of(self, params: TableParameters, penalty: float, x: Any, weights: Any = None) -> TableSums:
        x, w = _seen_rows(np.asarray(x, dtype=np.float64), weights)
        design = self._design(x)
        said = {"penalty": penalty, "base": design.log_base(x, w)}
        if self._many():
            joint = log_floor(params.weights) + log_terms(design, x, params.shares, params.rates)
            return self._of_joint(design, None, x, w, joint, params, **said)
        features = design.rows(x)
        constant, slopes = design.natural(params.shares, params.rates)
        constant = constant + log_floor(params.weights)
        if not len(self.normal):
            natural, P = np.concatenate([constant[:, None], slopes], axis=1), features.shape[1]
            found, evidence = mixture_pass(features, w, np.zeros(P), np.ones(P), natural, LINEAR)
            return self._counted_sums(
                found[:, 0], design.totals(found[:, 0], found[:, 1:]), params, evidence, **said
            )
        return self._of_joint(design, features, x, w, constant + features @ slopes.T, params, **said)

    def _of_joint(
        self,
        design: Design,
        features: np.ndarray | None,
        x: np.ndarray,
        w: np.ndarray | None,
        joint: np.ndarray,
        params: TableParameters,
        **said: float,
    ) -> TableSums:
        """Return sums from the log of π_k and of what the counted columns say, (n, K)."""
        z = self._standard(x)
        joint = joint + self._of_normals(z, params)
        evidence = log_sum_exp(joint)
        shares = np.exp(joint - evidence[:, None])
        if w is not None:
            evidence, shares = evidence * w, shares * w[:, None]
        weight = shares.sum(axis=0)
        if features is None:
            found = totals(self.units, x, shares)
        else:
            found = design.totals(weight, shares.T @ features)
        return self._sums(z, shares, self._counted_sums(weight, found, params, float(evidence.sum()), **said))

    def _many(self) -> bool:
        """Whether a column has so many categories that indicators would be too wide."""
        return bool(self.units.sizes.max(initial=0) > MANY)

    def _of_normals(self, z: np.ma.MaskedArray, params: TableParameters) -> np.ndarray:
        """Return Σ_j log N(z_j | k) over the observed columns, (n, K), as densities of x."""
        seen = ~z.mask
        level = -0.5 * np.log(2.0 * math.pi * params.variances) + np.log(self.units.scale[self.normal])
        level = level - 0.5 * self.reg / params.variances
        both = zip(params.means, params.variances, strict=True)
        squares = [np.sum((z.data - m) ** 2 / v, axis=1, where=seen) for m, v in both]
        return seen @ level.T - 0.5 * np.stack(squares, axis=1)

    def _standard(self, x: np.ndarray) -> np.ma.MaskedArray:
        z = (x[:, self.normal] - self.units.mean[self.normal]) * self.units.scale[self.normal]
        missing = np.isnan(z)
        return np.ma.MaskedArray(np.where(missing, 0.0, z), mask=missing)

    def _design(self, x: np.ndarray) -> Design:
        return Design(units=self.units, complete=~np.isnan(x).any(axis=0))

    def _sums(self, z: np.ma.MaskedArray, shares: np.ndarray, counted: TableSums) -> TableSums:
        """Add to the sums of counted columns those of the normal ones."""
        away = [np.where(z.mask, 0.0, z.data - m) for m in counted.params.means]
        sums = {
            "mass": shares.T @ (~z.mask).astype(np.float64),
            "first": np.stack([r @ step for r, step in zip(shares.T, away, strict=True)]),
            "second": np.stack([r @ (step * step) for r, step in zip(shares.T, away, strict=True)]),
        }
        return TableSums(**{**parameters(counted), **sums})

    def _counted_sums(
        self,
        weight: np.ndarray,
        counted: tuple[np.ndarray, np.ndarray, np.ndarray],
        params: TableParameters,
        evidence: float = 0.0,
        base: float = 0.0,
        penalty: float = 0.0,
    ) -> TableSums:
        tallies, seen, counts = counted
        none = np.zeros((len(weight), 0))
        return TableSums(
            weight=weight,
            mass=none,
            first=none,
            second=none,
            tallies=tallies,
            seen=seen,
            counts=counts,
            log_likelihood=evidence + base,
            penalty=penalty,
            params=params,
        )

    def _penalty(self, params: TableParameters) -> float:
        """Return α Σ log shares + α Σ (usual log rate - rate), less what usual rates give: the log prior."""
        if not self.alpha:
            return 0.0
        design = self._design(np.zeros((1, len(self.units.sizes))))
        counts = self.usual * design.log_times(params.rates) - (params.rates - self.usual)
        return self.alpha * float(log_floor(params.shares).sum() + counts.sum())


def _seen_rows(x: np.ndarray, weights: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Leave out the rows in which nothing was observed: they say nothing, also not of the weights."""
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    seen = ~np.isnan(x).all(axis=1)
    return (x, w) if seen.all() else (x[seen], None if w is None else w[seen])
