"""See `tractable.primitives.pattern_pass`."""

from math import log, pi
from typing import Any

import numpy as np

from tractable.arrays.factor import cholesky
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.triangular import log_det_cholesky, solve_triangular
from tractable.primitives._agnostic.mixture_pass import features
from tractable.primitives._agnostic.whitened_pass import feature_sums, shares_and_evidence

__all__ = ["pattern_pass"]

_SQUARES, _PRODUCTS = 2, 3


def pattern_pass(
    rows: Any, w: Any, log_weights: Array, means: Array, covariances: Array, first: int, last: int
) -> Any:
    """See `tractable.primitives.pattern_pass.pattern_pass`."""
    xp = namespace_of(rows.flat)
    kind = _SQUARES if covariances.ndim == 2 else _PRODUCTS
    eye = xp.eye(means.shape[1], dtype=means.dtype, device=device(means))
    alive = (log_weights > -xp.inf)[:, None]
    dense = covariances[:, :, None] * eye if kind == _SQUARES else covariances
    dense, means = xp.where(alive[:, :, None], dense, eye), xp.where(alive, means, xp.zeros_like(means))
    sums, evidence = 0.0 * features(means, kind), 0.0 * xp.sum(means)
    for p, mask in enumerate(rows.masks):
        start, stop = max(first, int(rows.begins[p])), min(last, int(rows.begins[p + 1]))
        if start < stop and mask.any():
            z = _entries(rows, p, start, stop)
            share = None if w is None else w[start:stop]
            more, log_p = _one_pattern(z, share, mask, log_weights, means, dense, kind)
            sums, evidence = sums + more, evidence + log_p
    return sums, evidence


def _entries(rows: Any, p: int, start: int, stop: int) -> Array:
    """Return the entries of some rows of a pattern, (n, d_o)."""
    d = int(rows.masks[p].sum())
    a = int(rows.starts[p]) + (start - int(rows.begins[p])) * d
    xp = namespace_of(rows.flat)
    return xp.reshape(rows.flat[a : a + (stop - start) * d], (stop - start, d))


def _one_pattern(
    z: Array, w: Any, mask: np.ndarray, log_weights: Array, means: Array, covariances: Array, kind: int
) -> tuple[Array, Array]:
    """Return the completed sums (K, P) and the evidence of rows with the same entries."""
    xp = namespace_of(z)
    there, missing = np.flatnonzero(mask), np.flatnonzero(~mask)
    back = np.argsort(np.concatenate([there, missing]))
    o, m, back = (xp.asarray(index, device=device(z)) for index in (there, missing, back))
    centred, log_densities, left = [], [], []
    for k in range(means.shape[0]):
        observed = xp.take(covariances[k, ...], o, axis=0)
        lower = cholesky(xp.take(observed, o, axis=1), name="covariances")
        gain = solve_triangular(lower, xp.take(observed, m, axis=1))
        c = z - xp.take(means[k, :], o)
        y = solve_triangular(lower, c.T).T
        norm = log_det_cholesky(lower) + len(there) * log(2.0 * pi)
        log_densities.append(-0.5 * (xp.sum(y * y, axis=1) + norm))
        centred.append(xp.take(xp.concat([c, y @ gain], axis=1), back, axis=1))
        corner = xp.take(xp.take(covariances[k, ...], m, axis=0), m, axis=1) - gain.T @ gain
        left.append(_packed(corner, back, len(there), kind))
    shares, evidence = shares_and_evidence(xp.stack(log_densities, axis=1) + log_weights, w)
    spread = xp.sum(shares, axis=0)[:, None] * xp.stack(left)
    return feature_sums(shares, centred, kind) + spread, evidence


def _packed(corner: Array, back: Array, n_there: int, kind: int) -> Array:
    """Return the conditional covariance among all second-order features, [0, 0, …]."""
    xp = namespace_of(corner)
    m, d = corner.shape[0], n_there + corner.shape[0]
    nothing = xp.zeros((d, 1 + d), dtype=corner.dtype, device=device(corner))
    full = xp.concat([nothing[:n_there, :d], xp.concat([nothing[:m, :n_there], corner], axis=1)], axis=0)
    full = xp.take(xp.take(full, back, axis=0), back, axis=1)
    second = [full[i, i : (i + 1 if kind == _SQUARES else d)] for i in range(d)]
    return xp.concat([nothing[0, :], *second])
