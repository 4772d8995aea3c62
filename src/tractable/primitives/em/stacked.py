"""The passes over patterns of `tractable.primitives.em` for few rows, in NumPy: all patterns at once.

Each pattern has a matrix of all columns, in which a missing one is independent of the others and has variance
one: matrices of all patterns and components are one stack, and are factored together.
"""

from math import log, pi
from typing import Any

import numpy as np

from tractable.arrays.linalg import diagonals, inv_triangular, try_cholesky
from tractable.primitives import SILENT
from tractable.primitives.em.agnostic import feature_sums, responsibilities_and_evidence
from tractable.value import value

_SQUARES, _PRODUCTS = 2, 3


@value
class _Table:
    """Rows of some patterns with all columns, zero where an entry is missing."""

    z: np.ndarray  # (n, d)
    masks: np.ndarray  # (P, d)
    counts: np.ndarray  # (P,), rows of each pattern, one or more

    @classmethod
    def of(cls, rows: Any, first: int, last: int) -> "_Table":
        counts = np.diff(np.clip(rows.begins, first, max(first, last)))
        used = np.flatnonzero(counts)
        masks, counts = rows.masks[used], counts[used]
        there, z = np.repeat(masks, counts, axis=0), np.zeros((counts.sum(), masks.shape[1]))
        if len(used):
            p = used[0]
            start = rows.starts[p] + (first - rows.begins[p]) * np.count_nonzero(rows.masks[p])
            z[there] = rows.flat[start : start + np.count_nonzero(there)]
        return cls(z=z, masks=masks, counts=counts)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Where the rows of each pattern begin and end."""
        ends = np.cumsum(self.counts)
        return list(zip((ends - self.counts).tolist(), ends.tolist(), strict=True))

    def centred(self, means: np.ndarray) -> np.ndarray:
        """Return the entries about each mean, (K, n, d), zero where they are missing."""
        there = np.repeat(self.masks, self.counts, axis=0)
        return np.where(there, self.z - means[:, None, :], 0.0)

    def log_densities(self, white: np.ndarray, half_log_dets: np.ndarray) -> np.ndarray:
        """Return log densities (n, K) of white entries (K, n, d), with Σ log L_ii of each pattern, (P, K)."""
        constants = half_log_dets + 0.5 * log(2.0 * pi) * self.masks.sum(axis=1)[:, None]
        squares = np.einsum("knd,knd->nk", white, white)
        return 0.0 - 0.5 * squares - np.repeat(constants, self.counts, axis=0)  # of no entries 0, not -0


def _factors(masks: np.ndarray, covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the whiteners W of each pattern and covariance, Σ log L_ii, and whether there is a factor.

    Rows and columns of missing entries are those of the identity. Where there is no factor all is NaN.
    """
    d = masks.shape[1]
    pairs = masks[:, :, None] & masks[:, None, :]
    lower, good = try_cholesky(np, np.where(pairs[:, None], covariances, np.eye(d)))
    lower[~good] = np.nan
    return inv_triangular(lower), np.log(diagonals(lower)).sum(axis=-1), good


@SILENT
def pattern_pass(
    rows: Any,
    w: np.ndarray | None,
    log_weights: np.ndarray,
    means: np.ndarray,
    covariances: np.ndarray,
    first: int,
    last: int,
) -> Any:
    """See `tractable.primitives.em.pattern_pass`; the last answer says which covariances have no factor."""
    d = means.shape[1]
    first = max(first, rows.n_empty)
    alive = (log_weights > -np.inf)[:, None]
    means, table = np.where(alive, means, 0.0), _Table.of(rows, first, last)
    centred = table.centred(means)
    if covariances.ndim == 2:
        variances = np.where(alive, covariances, 1.0)
        white = centred / np.sqrt(variances)[:, None, :]
        half_log_dets = 0.5 * table.masks @ np.log(variances).T
        left, bad = np.where(table.masks[:, None], 0.0, variances), ~(variances > 0.0).all(axis=1)
    else:
        dense = np.where(alive[:, :, None], covariances, np.eye(d))
        whiteners, half_log_dets, good = _factors(table.masks, dense)
        missing, there = ~table.masks[:, None, :, None], table.masks[:, None, None, :]
        gains = np.where(missing & there, dense, 0.0) @ whiteners.swapaxes(-1, -2)  # L_mo
        left = np.where(missing & ~there, dense, 0.0) - gains @ gains.swapaxes(-1, -2)
        white, bad = np.empty_like(centred), ~good.all(axis=0)
        for p, (a, b) in enumerate(table.ranges):
            np.matmul(centred[:, a:b], whiteners[p].swapaxes(-1, -2), out=white[:, a:b])
            if not table.masks[p].all():
                centred[:, a:b] += white[:, a:b] @ gains[p].swapaxes(-1, -2)
    log_joint = table.log_densities(white, half_log_dets) + log_weights
    r, evidence = responsibilities_and_evidence(log_joint, None if w is None else w[first : max(first, last)])
    sums = feature_sums(r, list(centred), _SQUARES if covariances.ndim == 2 else _PRODUCTS)
    if len(r):
        mass = np.add.reduceat(r, [a for a, _ in table.ranges], axis=0)
        second = np.einsum("pk,pk...->k...", mass, left)
        sums[:, 1 + d :] += second if covariances.ndim == 2 else second[:, *np.triu_indices(d)]
    return sums, evidence, bad


@SILENT
def pattern_scores(
    rows: Any, means: np.ndarray, covariances: np.ndarray, first: int, last: int
) -> np.ndarray:
    """See `tractable.primitives.em.pattern_scores`."""
    table = _Table.of(rows, first, last)
    white = table.centred(means)
    whiteners, half_log_dets, _ = _factors(table.masks, covariances)
    for p, (a, b) in enumerate(table.ranges):
        white[:, a:b] = white[:, a:b] @ whiteners[p].swapaxes(-1, -2)
    return table.log_densities(white, half_log_dets)
