"""The functions of `tractable.primitives.stress` in NumPy."""

import numpy as np

from tractable.primitives import squared_distances
from tractable.primitives.threads import even_blocks

#: Pairs met at a time: they stay in the cache, and their memory is not asked of the system anew.
PAIRS = 2**14


def guttman_transform(
    distances: np.ndarray, points: np.ndarray, weights: np.ndarray, references: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    sums, stress = np.empty(points.shape), np.empty(len(points))
    for part in even_blocks(len(points), max(1, PAIRS // max(len(references), 1))):
        apart = np.sqrt(squared_distances(points[part], references))
        stress[part] = (distances[part] - apart) ** 2 @ weights
        ratios = np.divide(distances[part], apart, out=np.zeros_like(apart), where=apart > 0.0)
        ratios *= weights
        sums[part] = ratios.sum(axis=1)[:, None] * points[part] - ratios @ references
    return sums, stress
