"""The functions of `tractable.primitives.stress` in NumPy."""

import numpy as np

from tractable.primitives import squared_distances


def guttman_transform(
    distances: np.ndarray, points: np.ndarray, weights: np.ndarray, references: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    apart = np.sqrt(squared_distances(points, references))
    stress = (distances - apart) ** 2 @ weights
    ratios = weights * np.divide(distances, apart, out=np.zeros_like(apart), where=apart > 0.0)
    return ratios.sum(axis=1)[:, None] * points - ratios @ references, stress
