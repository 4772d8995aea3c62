"""The two steps of EM for mixtures over the columns of a table."""

import math
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.special import log_sum_exp
from tractable.base import Rows
from tractable.data import sample_rows
from tractable.engines import fold
from tractable.mixture.kmeans_search import kmeans
from tractable.mixture.table_design import Design, log_floor
from tractable.mixture.table_lookup import MANY, indicators, log_terms, totals
from tractable.mixture.table_units import TableUnits
from tractable.primitives.em import LINEAR, mixture_pass
from tractable.value import parameters, value

__all__ = ["TableParameters", "TableSteps", "TableSums"]

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
