"""See `tractable.primitives.pattern_scores`."""

from math import log, pi
from typing import Any

import numpy as np

from tractable.arrays.factor import try_cholesky
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.triangular import log_det_cholesky, solve_triangular

__all__ = ["pattern_scores"]


def pattern_scores(rows: Any, means: Array, covariances: Array, first: int, last: int) -> Array:
    """See `tractable.primitives.pattern_scores.pattern_scores`."""
    xp = namespace_of(rows.flat)
    parts = [xp.zeros((0, means.shape[0]), dtype=means.dtype, device=device(means))]
    for p, mask in enumerate(rows.masks):
        start, stop = max(first, int(rows.begins[p])), min(last, int(rows.begins[p + 1]))
        if start < stop:
            there = np.flatnonzero(mask)
            a = int(rows.starts[p]) + (start - int(rows.begins[p])) * len(there)
            z = xp.reshape(rows.flat[a : a + (stop - start) * len(there)], (stop - start, len(there)))
            parts.append(_scores(z, xp.asarray(there, device=device(z)), means, covariances))
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
