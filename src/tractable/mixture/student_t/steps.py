"""Where rows with far outliers lie and how wide they are: medians, which outliers do not move."""

import math
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays import jittered_cholesky, log_det_cholesky
from tractable.arrays.gamma import log_minus_digamma, trigamma
from tractable.arrays.special import log_sum_exp
from tractable.base import Rows
from tractable.data import sample_rows
from tractable.engines import fold
from tractable.mixture.gaussian.initial import START_ROWS, first_rows, first_shares
from tractable.mixture.units import Units, seen_in, survey
from tractable.value import parameters, replace, value

__all__ = [
    "GREATEST_DOF",
    "LEAST_DOF",
    "StudentTParameters",
    "StudentTSteps",
    "StudentTSums",
    "drawn_in",
    "place",
    "survey_by_medians",
]

#: The standard deviation of a normal column is so many times its median distance from the median.
NORMAL_WIDTH = 1.482602218505602


def survey_by_medians(rows: Rows) -> Units:
    """Return units in which a normal column has variance one, with outliers or without.

    Of many rows some are looked at, always the same.
    """
    found = survey(rows)
    x, weights = sample_rows(rows.data, rows.weights, START_ROWS, np.random.default_rng(0))
    location, away = place(x, np.ones(len(x)) if weights is None else weights)
    width = NORMAL_WIDTH * away
    told = found.varies & (width > np.finfo(np.float64).eps * np.abs(location))
    by_medians = replace(
        found,
        shift=np.where(told, location, found.shift),
        scale=np.where(told, 1.0 / np.where(told, width, 1.0), found.scale),
    )
    return seen_in(rows, by_medians)


def place(z: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the median of each column and the median distance from it; where that is zero, of the others."""
    location = _median(z, weights)
    away = np.abs(z - location)
    width = _median(away, weights)
    for j in np.flatnonzero(width == 0):  # more than half of the rows have one value
        other = (away[:, j] > 0) & (weights > 0)
        if other.any():
            width[j] = _median(away[other, j, None], weights[other])[0]
    return location, width


def drawn_in(z: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return rows about their medians, on a scale that is logarithmic from a few widths on."""
    location, width = place(z, np.ones(len(z)) if weights is None else weights)
    return np.arcsinh((z - location) / np.where(width > 0, width, 1.0))


def _median(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted median of each column; whole weights are repetitions."""
    order = np.argsort(x, axis=0, kind="stable")
    total = np.cumsum(weights[order], axis=0)
    ordered, half = np.take_along_axis(x, order, axis=0), 0.5 * total[-1]
    low = np.argmax(total >= half, axis=0)
    high = np.argmax(total > half, axis=0)
    columns = np.arange(x.shape[1])
    return 0.5 * (ordered[low, columns] + ordered[high, columns])


#: Between which degrees of freedom are sought: at the upper end rows have no heavier tails than a normal.
LEAST_DOF, GREATEST_DOF = 1e-1, 1e6

#: Where the search for them begins.
FIRST_DOF = 4.0

#: A step may also try so many times the degrees of freedom: where tails are light, EM alone would crawl.
TRIALS = (1.0 / 3.0, 3.0)

#: Newton steps to the degrees of freedom: each doubles the digits.
ROOT_STEPS = 6

#: Entries of the arrays that a block of rows makes.
BLOCK_ENTRIES = 2**19


@value
class StudentTParameters:
    """Weights, locations, scale matrices and degrees of freedom, in standardised units."""

    weights: np.ndarray  # (K,)
    locations: np.ndarray  # (K, d)
    scales: np.ndarray  # (K, d, d), or (K, d) where columns are uncorrelated
    dof: np.ndarray  # (K,)


@value
class StudentTSums:
    """What responsibilities r and precisions u weight, about the locations, and the penalised likelihood."""

    weight: np.ndarray  # (K,), Σ r
    pull: np.ndarray  # (K,), Σ r u
    first: np.ndarray  # (K, d), Σ r u (z - μ)
    second: np.ndarray  # (K, d, d) or (K, d), Σ r u (z - μ)(z - μ)ᵀ
    excess: np.ndarray  # (K,), Σ r (log u - u + 1), with u = (ν + d) / (ν + Δ²)
    trials: np.ndarray  # (K, 2), Σ r log St(ν')/St(ν) with the TRIALS of ν
    objective: float
    params: StudentTParameters  # that made them

    def __add__(self, other: "StudentTSums") -> "StudentTSums":
        mine = {name: x for name, x in parameters(self).items() if name != "params"}
        return StudentTSums(
            params=self.params, **{name: x + getattr(other, name) for name, x in mine.items()}
        )


class StudentTSteps:
    """`expect` and `maximize` of a mixture of Student-t vectors, in standardised units.

    The complete data are the component of a row and its precision u, x | u ~ N(μ, Σ/u), u ~ Gamma(ν/2, ν/2)
    (Peel and McLachlan 2000). `reg` is added to every scale matrix as if rows were clouds of that variance,
    with a share of -½ tr(reg Σ⁻¹) in the log density.
    """

    def __init__(
        self, rows: Rows, units: Units, *, n_components: int, diagonal: bool, dof: Any, reg: np.ndarray
    ) -> None:
        self.rows, self.units, self.n_components, self.diagonal = rows, units, n_components, diagonal
        self.dof, self.reg, self.total = dof, reg, units.total

    def expect(self, params: StudentTParameters) -> StudentTSums:
        """Sum over rows what responsibilities and precisions weight."""
        block = max(64, BLOCK_ENTRIES // (self.n_components * len(self.reg)))
        of = partial(self._of, params, *self._constants(params))
        return fold(of, self.rows.data, weights=self.rows.weights, rows=block)

    def maximize(self, sums: StudentTSums) -> StudentTParameters:
        """Take, in each component, the step that promises most; each raises the objective.

        One step averages the rows by r u; its expanded form (Liu, Rubin and Wu 1998) divides by Σ r u instead
        of Σ r. The other leaves u out of the complete data and tries other degrees of freedom alone. A
        component without rows stays as it was.
        """
        before, some = sums.params, sums.weight > 0
        n, pull = (np.where(some, x, 1.0) for x in (sums.weight, sums.pull))
        step = sums.first / pull[:, None]
        scatter = sums.second - self._products(step) * self._wide(pull)
        spreads = [np.ones_like(n), pull / n]
        scales = [scatter / self._wide(n * a) + self._floor() for a in spreads]
        dofs = self._next_dofs(sums, n, spreads)
        promised = [
            self._complete(sums, n, scatter, *each) for each in zip(spreads, scales, dofs, strict=True)
        ]
        here = self._complete(sums, n, sums.second, spreads[0], before.scales, before.dof)
        expanded = promised[1] > promised[0]
        tried, gain = self._trial(sums, n)
        moves = some & (np.maximum(*promised) - here >= gain)
        return StudentTParameters(
            weights=sums.weight / sums.weight.sum(),
            locations=np.where(moves[:, None], before.locations + step, before.locations),
            scales=np.where(
                self._wide(moves), np.where(self._wide(expanded), scales[1], scales[0]), before.scales
            ),
            dof=np.where(moves, np.where(expanded, dofs[1], dofs[0]), np.where(some, tried, before.dof)),
        )

    def start(self, rng: np.random.Generator) -> StudentTParameters:
        """Begin at the clusters that k-means finds with outliers drawn in, at their medians and widths."""
        z, weights = first_rows(self.rows, self.units, self.n_components, rng)
        share = first_shares("kmeans", drawn_in(z, weights), weights, self.n_components, rng)
        share = share if weights is None else share * weights[:, None]
        places = [place(z, r) for r in share.T]
        variances = np.stack([width**2 for _, width in places]) + self.reg
        return StudentTParameters(
            weights=share.sum(axis=0) / share.sum(),
            locations=np.stack([location for location, _ in places]),
            scales=variances if self.diagonal else variances[:, :, None] * np.eye(z.shape[1]),
            dof=np.full(self.n_components, FIRST_DOF if self.dof is None else float(self.dof)),
        )

    def _of(
        self,
        params: StudentTParameters,
        constants: np.ndarray,
        whiteners: np.ndarray,
        x: Any,
        weights: Any = None,
    ) -> StudentTSums:
        z = (np.asarray(x, dtype=np.float64) - self.units.shift) * self.units.scale
        d = z.shape[1]
        away = z - params.locations[:, None]  # (K, n, d)
        white = away * whiteners[:, None] if self.diagonal else away @ np.swapaxes(whiteners, 1, 2)
        squared, dof = np.sum(white * white, axis=2), params.dof[:, None]
        joint = constants[:, None] - 0.5 * (dof + d) * np.log1p(squared / dof)
        evidence = log_sum_exp(joint, axis=0)
        r = np.exp(joint - evidence)
        if weights is not None:
            evidence, r = evidence * weights, r * weights
        u, more = (dof + d) / (dof + squared), (d - squared) / (dof + squared)  # u and u - 1
        ru = r * u
        return StudentTSums(
            weight=r.sum(axis=1),
            pull=ru.sum(axis=1),
            first=np.einsum("kn,knd->kd", ru, away),
            second=np.stack([self._scatter(a, w) for a, w in zip(away, ru, strict=True)]),
            excess=np.sum(r * (_log(u, more) - more), axis=1),
            trials=self._trials(params, r, squared),
            objective=float(evidence.sum()),
            params=params,
        )

    def _constants(self, params: StudentTParameters) -> tuple[np.ndarray, np.ndarray]:
        """Return the log of π_k times the density at the location, penalised, and the whitening factors."""
        log_det, whiteners = self._factored(params.scales)
        peak = _log_peak(params.dof, len(self.reg)) - 0.5 * log_det
        pressure = self.reg * whiteners**2 if self.diagonal else self.reg * np.sum(whiteners**2, axis=1)
        weights = np.log(np.maximum(params.weights, np.finfo(np.float64).tiny))
        return weights + peak - 0.5 * pressure.sum(axis=1) + np.log(self.units.scale).sum(), whiteners

    def _factored(self, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log |Σ| and W with W Σ Wᵀ = I, of each component."""
        if self.diagonal:
            return np.log(scales).sum(axis=1), 1.0 / np.sqrt(scales)
        lower = jittered_cholesky(scales).lower
        return log_det_cholesky(lower), np.linalg.inv(lower)

    def _trials(self, params: StudentTParameters, r: np.ndarray, squared: np.ndarray) -> np.ndarray:
        """Return what other degrees of freedom would add to Σ r log St."""
        d = len(self.reg)
        if self.dof is not None:
            return np.zeros((len(r), len(TRIALS)))

        def total(dof: np.ndarray) -> np.ndarray:
            logs = np.log1p(squared / dof[:, None])
            return r.sum(axis=1) * _log_peak(dof, d) - 0.5 * (dof + d) * np.sum(r * logs, axis=1)

        return np.stack([total(dof) - total(params.dof) for dof in _tried(params.dof)], axis=1)

    def _trial(self, sums: StudentTSums, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the better of the trials of ν, and what it adds to the log density of a row, on average."""
        if self.dof is not None:
            return sums.params.dof, np.full(len(n), -np.inf)
        which = np.argmax(sums.trials, axis=1)
        tried, gain = np.stack(_tried(sums.params.dof), axis=1), sums.trials / n[:, None]
        here = np.arange(len(n))
        return tried[here, which], gain[here, which]

    def _complete(
        self,
        sums: StudentTSums,
        n: np.ndarray,
        scatter: np.ndarray,
        spread: np.ndarray,
        scales: np.ndarray,
        dof: np.ndarray,
    ) -> np.ndarray:
        """Return Q/n of each component, with α Σ for Σ and α u for u: what the averages raise."""
        from scipy.special import gammaln

        log_det, whiteners = self._factored(scales)
        d, half = sums.first.shape[1], 0.5 * dof
        inner = scatter / self._wide(n * spread) + self._floor()
        if self.diagonal:
            trace = np.sum(inner * whiteners**2, axis=1)
        else:
            trace = np.einsum("kij,kjl,kil->k", whiteners, inner, whiteners)
        u = sums.pull / n
        log_u = sums.excess / n + u - 1.0 - _log_minus(sums.params.dof, d) - np.log(spread)
        gamma = half * (np.log(half) + log_u - u / spread) - gammaln(half)
        return gamma - 0.5 * (log_det + d * np.log(spread) + trace)

    def _next_dofs(self, sums: StudentTSums, n: np.ndarray, spreads: list[np.ndarray]) -> list[np.ndarray]:
        """Return ν with log(ν/2) - ψ(ν/2) = E u/α - 1 - E log(u/α), where Q is greatest, for each α."""
        before = sums.params.dof
        if self.dof is not None:
            return [before for _ in spreads]
        u = sums.pull / n
        least = _log_minus(before, sums.first.shape[1]) - sums.excess / n
        return list(_solved(np.stack([least + (u / a - u) + np.log(a) for a in spreads])))

    def _scatter(self, away: np.ndarray, weights: np.ndarray) -> np.ndarray:
        if self.diagonal:
            return weights @ (away * away)
        return away.T @ (away * weights[:, None])

    def _products(self, x: np.ndarray) -> np.ndarray:
        return x * x if self.diagonal else x[:, :, None] * x[:, None, :]

    def _wide(self, x: np.ndarray) -> np.ndarray:
        """Return one number a component beside its scale matrix."""
        return x[:, None] if self.diagonal else x[:, None, None]

    def _floor(self) -> np.ndarray:
        return self.reg if self.diagonal else np.diag(self.reg)


def _log(u: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return log u, with all digits where u is near one or next to nothing."""
    return np.where(u < 0.5, np.log(u), np.log1p(np.maximum(more, -0.5)))


def _log_minus(dof: np.ndarray, dim: int) -> np.ndarray:
    """Return log a - ψ(a) for a = (ν + d)/2: how far E log u is below log E u."""
    return log_minus_digamma(0.5 * (dof + dim))


def _log_peak(dof: np.ndarray, dim: int) -> np.ndarray:
    """Return the log density at the location, where the scale is the identity."""
    from scipy.special import betaln, gammaln

    return gammaln(0.5 * dim) - betaln(0.5 * dof, 0.5 * dim) - 0.5 * dim * np.log(dof * math.pi)


def _tried(dof: np.ndarray) -> list[np.ndarray]:
    return [np.clip(dof * times, LEAST_DOF, GREATEST_DOF) for times in TRIALS]


def _solved(wanted: np.ndarray) -> np.ndarray:
    """Return ν with log(ν/2) - ψ(ν/2) = wanted, within its bounds.

    The left side is convex in 1/ν, with slopes from 1 to 2, and at least 1/ν: so Newton's steps from
    1/ν = wanted only fall, and a few are enough.
    """
    low, high = 1.0 / GREATEST_DOF, 1.0 / LEAST_DOF
    inverse = np.clip(wanted, low, high)
    for _ in range(ROOT_STEPS):
        half = 0.5 / inverse
        slope = 2.0 * half * (half * trigamma(half) - 1.0)
        inverse = np.clip(inverse - (log_minus_digamma(half) - wanted) / slope, low, high)
    return 1.0 / inverse
