"""Log densities of many rows with missing entries under normal distributions."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.covariance import Covariance, Full
from tractable.primitives.em import group_by_pattern, pattern_scores
from tractable.primitives.threads import ordered_map

__all__ = ["many_incomplete_rows"]


def many_incomplete_rows(x: Array, mean: Array, structure: Covariance) -> Any:
    """Return log N(x_o | μ_o, Σ_oo) of rows, by one factor for each pattern of what is there; or None.

    Rows (n, d) of one distribution, or (n, 1, d) of a batch of K, held by NumPy in double precision: the
    answer is (n,) or (n, K). None says that they are others, or that a factor was lost in rounding.
    """
    n_batch = mean.ndim - 1
    fits = x.ndim == 2 + n_batch and n_batch <= 1 and x.shape[1:-1] == (1,) * n_batch
    held = is_numpy_array(x) and x.dtype == mean.dtype == np.float64
    if not (fits and held and isinstance(structure, Full)):
        return None
    rows = group_by_pattern(x.reshape(len(x), -1))
    covariances = structure.dense().reshape(-1, x.shape[-1], x.shape[-1])
    means = mean.reshape(-1, x.shape[-1])
    found = np.empty((len(x), len(means)))

    def score(part: tuple[int, int]) -> None:
        found[rows.order[slice(*part)]] = pattern_scores(rows, means, covariances, part)

    for _ in ordered_map(score, rows.parts()):
        pass
    seen = ~np.isinf(x).any(axis=-1).reshape(-1)
    if np.isnan(found[seen]).any():
        return None
    return found if n_batch else found[:, 0]
