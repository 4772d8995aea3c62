"""The passes over patterns of `tractable.primitives.em` for few rows, in NumPy: all patterns at once.

Each pattern has a matrix of all columns, in which a missing one is independent of the others and has variance
one: matrices of all patterns and components are one stack, and are factored together.
"""

from itertools import pairwise
from math import log, pi
from typing import Any

import numpy as np

from tractable.arrays.linalg import diagonals, inv_triangular, try_cholesky
from tractable.primitives import SILENT
from tractable.primitives.em.agnostic import responsibilities_and_evidence
from tractable.value import value

#: Entries of the matrices, or of the rows, of a slice.
_ENTRIES = 2**16


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

    def centred(self, means: np.ndarray) -> np.ndarray:
        """Return the entries about each mean, (K, n, d), zero where they are missing."""
        there = np.repeat(self.masks, self.counts, axis=0)
        return np.where(there, self.z - means[:, None, :], 0.0)

    def white(self, centred: np.ndarray, whiteners: np.ndarray, V: Any = None) -> tuple[np.ndarray, Any]:
        """Return W (z - m) of rows (K, n, d), and the rows with Vᵀ W (z - m) for what is missing.

        Matrices (K, P, d, d) are those of each pattern. Its rows are blocks of half as many rows as patterns
        have on average, filled up with zeros: all blocks are multiplied at once.
        """
        (K, n, d), P = centred.shape, max(1, len(self.counts))
        size = -(-n // (2 * P)) or 1
        n_blocks = -(-self.counts // size)
        pattern = np.repeat(np.arange(len(self.counts)), n_blocks)
        begins = np.cumsum(self.counts) - self.counts
        places = np.arange(n) + np.repeat(size * (np.cumsum(n_blocks) - n_blocks) - begins, self.counts)
        padded = np.zeros((K, len(pattern) * size, d))
        for k in range(K):
            padded[k, places] = centred[k]
        blocks = padded.reshape(K, len(pattern), size, d)
        transposed = np.ascontiguousarray(whiteners.swapaxes(-1, -2))  # small products copy other matrices
        white = blocks @ transposed.take(pattern, axis=1)
        if V is not None:
            blocks += white @ V.take(pattern, axis=1)
        return white.reshape(padded.shape).take(places, axis=1), padded.take(places, axis=1)

    def log_densities(self, white: np.ndarray, half_log_dets: np.ndarray) -> np.ndarray:
        """Return log densities (n, K) of white entries (K, n, d), with Σ log L_ii of each pattern, (P, K)."""
        constants = half_log_dets + 0.5 * log(2.0 * pi) * self.masks.sum(axis=1)[:, None]
        squares = np.einsum("knd,knd->nk", white, white)
        return 0.0 - 0.5 * squares - np.repeat(constants, self.counts, axis=0)  # of no entries 0, not -0

    def sums(self, r: np.ndarray) -> np.ndarray:
        """Return the sums (P, K) over the rows of each pattern."""
        return np.add.reduceat(r, np.cumsum(self.counts) - self.counts, axis=0) if len(r) else r


def _factors(masks: np.ndarray, covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the whiteners W (K, P, d, d), Σ log L_ii (P, K), and whether there is a factor, (K, P).

    Rows and columns of missing entries are those of the identity. Where there is no factor all is NaN.
    """
    d = masks.shape[1]
    pairs = masks[:, :, None] & masks[:, None, :]
    lower, good = try_cholesky(np, np.where(pairs, covariances[:, None], np.eye(d)))
    lower[~good] = np.nan
    return inv_triangular(lower), np.log(diagonals(lower)).sum(axis=-1).T, good


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
    sums, evidence, bad = np.zeros(()), 0.0, np.zeros(len(means), dtype=bool)
    for a, b in _slices(rows, means, covariances, max(first, rows.n_empty), last):
        more, log_p, wrong = _slice_pass(rows, w, log_weights, means, covariances, a, b)
        sums, evidence, bad = sums + more, evidence + log_p, bad | wrong
    return sums, evidence, bad


def _slices(
    rows: Any, means: np.ndarray, covariances: np.ndarray, first: int, last: int
) -> list[tuple[int, int]]:
    """Cut a range of rows so that what is computed with each slice stays in cache; there is one at least."""
    K, d = means.shape
    end = max(first, last)
    entries = 2 * K * d * np.arange(first, end)
    if covariances.ndim > 2:
        entries += K * d * d * np.repeat(np.arange(len(rows.masks)), np.diff(rows.begins))[first:end]
    steps = (entries - entries[:1]) // _ENTRIES
    return list(pairwise([first, *(first + 1 + np.flatnonzero(np.diff(steps))).tolist(), end]))


def _slice_pass(
    rows: Any,
    w: np.ndarray | None,
    log_weights: np.ndarray,
    means: np.ndarray,
    covariances: np.ndarray,
    first: int,
    last: int,
) -> Any:
    K, d = means.shape
    alive = (log_weights > -np.inf)[:, None]
    means, table = np.where(alive, means, 0.0), _Table.of(rows, first, last)
    missing, expected = ~table.masks, table.centred(means)
    if covariances.ndim == 2:
        variances = np.where(alive, covariances, 1.0)
        white = expected / np.sqrt(variances)[:, None, :]
        half_log_dets, bad = 0.5 * table.masks @ np.log(variances).T, ~(variances > 0.0).all(axis=1)
    else:
        dense = np.where(alive[:, :, None], covariances, np.eye(d))
        whiteners, half_log_dets, good = _factors(table.masks, dense)
        bad = ~good.all(axis=1)
        # With V = W Σ_om, missing entries have expectation m_m + Vᵀ W (z_o - m_o), covariance Σ_mm - Vᵀ V.
        V = whiteners @ np.where(table.masks[:, :, None] & missing[:, None, :], dense[:, None], 0.0)
        white, expected = table.white(expected, whiteners, V)
    log_joint = table.log_densities(white, half_log_dets) + log_weights
    r, evidence = responsibilities_and_evidence(log_joint, None if w is None else w[first:last])
    mass, r = table.sums(r).T, r.T  # (K, P) and (K, n)
    # Rows without responsibility may be huge.
    expected = np.where(r[:, :, None] > 0.0, expected, 0.0)
    weighted = r[:, :, None] * expected
    if covariances.ndim == 2:
        second = np.einsum("knd,knd->kd", weighted, expected) + (mass @ missing) * variances
    else:
        second = weighted.swapaxes(1, 2) @ expected
        second += (missing.T @ (mass[:, :, None] * missing)) * dense
        flat = V.reshape(K, -1, d)
        second -= (mass[:, :, None, None] * V).reshape(K, -1, d).swapaxes(1, 2) @ flat
        second = second[:, *np.triu_indices(d)]
    return np.concatenate([r.sum(axis=1)[:, None], weighted.sum(axis=1), second], axis=1), evidence, bad


@SILENT
def pattern_scores(
    rows: Any, means: np.ndarray, covariances: np.ndarray, first: int, last: int
) -> np.ndarray:
    """See `tractable.primitives.em.pattern_scores`."""
    table = _Table.of(rows, first, last)
    whiteners, half_log_dets, _ = _factors(table.masks, covariances)
    white, _ = table.white(table.centred(means), whiteners)
    return table.log_densities(white, half_log_dets)
