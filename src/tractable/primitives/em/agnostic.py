"""The passes of `tractable.primitives.em` in the array API."""

from math import log, pi
from typing import Any

import numpy as np

from tractable.arrays.linalg import cholesky, log_det_cholesky, solve_triangular, try_cholesky
from tractable.arrays.log_space import log_sum_exp, softmax_and_log_sum
from tractable.arrays.namespace import Array, device, is_numpy_array, is_torch_array, namespace_of
from tractable.primitives import SILENT

_SQUARES, _PRODUCTS = 2, 3


def features(x: Array, kind: int) -> Array:
    """Return T(x) = [1, x, second-order terms], (n, P)."""
    xp = namespace_of(x)
    one = xp.ones_like(x[:, :1])
    if kind == 0:
        return xp.concat([one, x], axis=1)
    if kind == 1:
        return xp.concat([one, x, xp.sum(x * x, axis=1, keepdims=True)], axis=1)
    if kind == 2:
        return xp.concat([one, x, x * x], axis=1)
    if is_torch_array(x) or is_numpy_array(x):
        return _products_by_column(x).T
    products = [x[:, i : i + 1] * x[:, i:] for i in range(x.shape[1])]
    return xp.concat([one, x, *products], axis=1)


def _products_by_column(x: Any) -> Any:
    """Return [1, x, products of columns] transposed, (P, n): whole columns are written, and nothing twice."""
    xp, (n, d) = namespace_of(x), x.shape
    found = xp.empty((1 + d + d * (d + 1) // 2, n), dtype=x.dtype, device=device(x))
    found[0], found[1 : 1 + d] = 1.0, x.T
    columns, first = found[1 : 1 + d], 1 + d
    for i in range(d):
        xp.multiply(columns[i], columns[i:], out=found[first : first + d - i])
        first += d - i
    return found


@SILENT
def mixture_pass(x: Array, w: Any, shift: Array, scale: Array, natural: Array, kind: int) -> Any:
    xp = namespace_of(x)
    t = features((x - shift) * scale, kind)
    r, evidence = softmax_and_log_sum(t @ natural.T, axis=1)
    if w is not None:
        r, evidence = r * w[:, None], evidence * w
    return r.T @ t, xp.sum(evidence)


@SILENT
def whitened_pass(
    x: Array,
    w: Any,
    shift: Array,
    scale: Array,
    means: Array,
    whiteners: Array,
    log_constants: Array,
    white: bool = False,
) -> Any:
    xp = namespace_of(x)
    centred = _centred((x - shift) * scale, means, log_constants)
    y = [c @ whiteners[k, ...].T for k, c in enumerate(centred)]
    log_joint = xp.stack(
        [c - 0.5 * xp.sum(v * v, axis=1) for c, v in zip(log_constants, y, strict=True)], axis=1
    )
    r, evidence = responsibilities_and_evidence(log_joint, w)
    rows = y if white else centred
    return feature_sums(r, rows, _PRODUCTS), evidence


@SILENT
def whitened_diagonal_pass(
    x: Array, w: Any, shift: Array, scale: Array, means: Array, whiteners: Array, log_constants: Array
) -> Any:
    xp = namespace_of(x)
    centred = _centred((x - shift) * scale, means, log_constants)
    log_joint = [
        log_constants[k] - 0.5 * xp.sum((c * whiteners[k, ...]) ** 2, axis=1) for k, c in enumerate(centred)
    ]
    r, evidence = responsibilities_and_evidence(xp.stack(log_joint, axis=1), w)
    return feature_sums(r, centred, _SQUARES), evidence


def responsibilities_and_evidence(log_joint: Array, w: Any) -> tuple[Array, Array]:
    """Return w r (n, K), and Σ w log p; rows of probability zero have none."""
    xp = namespace_of(log_joint)
    evidence = log_sum_exp(log_joint, axis=1)
    explained = evidence > -xp.inf
    r = xp.exp(log_joint - xp.where(explained, evidence, xp.zeros_like(evidence))[:, None])
    if w is not None:
        r, evidence = r * w[:, None], evidence * w
    return r, xp.sum(evidence)


def _centred(z: Array, means: Array, log_constants: Array) -> list[Array]:
    """Return the rows about each mean; about zero for a component without weight, whose mean may be none."""
    xp = namespace_of(z)
    alive = log_constants > -xp.inf
    means = xp.where(alive[:, None], means, xp.zeros_like(means))
    return [z - means[k, ...] for k in range(means.shape[0])]


def feature_sums(r: Array, rows: list[Array], kind: int) -> Array:
    """Return Σ_n r[n, k] T(rows_k[n]); rows without responsibility, which may be huge, are left out."""
    xp = namespace_of(r)
    parts = []
    for k, row in enumerate(rows):
        r_k = r[:, k]
        counted = xp.where(r_k[:, None] > 0.0, row, xp.zeros_like(row))
        parts.append(r_k @ features(counted, kind))
    return xp.stack(parts)


@SILENT
def pattern_pass(
    rows: Any, w: Any, log_weights: Array, means: Array, covariances: Array, first: int, last: int
) -> Any:
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
            counts = None if w is None else w[start:stop]
            more, log_p = _one_pattern(z, counts, mask, log_weights, means, dense, kind)
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
    r, evidence = responsibilities_and_evidence(xp.stack(log_densities, axis=1) + log_weights, w)
    spread = xp.sum(r, axis=0)[:, None] * xp.stack(left)
    return feature_sums(r, centred, kind) + spread, evidence


def _packed(corner: Array, back: Array, n_there: int, kind: int) -> Array:
    """Return the conditional covariance among all second-order features, [0, 0, …]."""
    xp = namespace_of(corner)
    m, d = corner.shape[0], n_there + corner.shape[0]
    nothing = xp.zeros((d, 1 + d), dtype=corner.dtype, device=device(corner))
    full = xp.concat([nothing[:n_there, :d], xp.concat([nothing[:m, :n_there], corner], axis=1)], axis=0)
    full = xp.take(xp.take(full, back, axis=0), back, axis=1)
    second = [full[i, i : (i + 1 if kind == _SQUARES else d)] for i in range(d)]
    return xp.concat([nothing[0, :], *second])


@SILENT
def pattern_scores(rows: Any, means: Array, covariances: Array, first: int, last: int) -> Array:
    xp = namespace_of(rows.flat)
    parts = [xp.zeros((0, means.shape[0]), dtype=means.dtype, device=device(means))]
    for p, mask in enumerate(rows.masks):
        start, stop = max(first, int(rows.begins[p])), min(last, int(rows.begins[p + 1]))
        if start < stop:
            observed = xp.asarray(np.flatnonzero(mask), device=device(means))
            parts.append(_scores(_entries(rows, p, start, stop), observed, means, covariances))
    return xp.concat(parts, axis=0)


def _scores(z: Array, o: Array, means: Array, covariances: Array) -> Array:
    xp = namespace_of(z)
    if not z.shape[1]:
        return xp.zeros((z.shape[0], means.shape[0]), dtype=z.dtype, device=device(z))
    found = []
    for k in range(means.shape[0]):
        covariance = covariances[min(k, covariances.shape[0] - 1), ...]
        lower, good = try_cholesky(xp, xp.take(xp.take(covariance, o, axis=0), o, axis=1))
        y = solve_triangular(lower, (z - xp.take(means[k, :], o)).T)
        score = -0.5 * (xp.sum(y * y, axis=0) + log_det_cholesky(lower) + z.shape[1] * log(2.0 * pi))
        found.append(xp.where(good, score, xp.full_like(score, xp.nan)))
    return xp.stack(found, axis=1)
