"""Hot loops, one public function each; each picks its twin by the type of its arrays.

``_compiled`` holds Numba functions for NumPy arrays, loaded on first use; ``_agnostic`` the same functions
in the array API, for every other library, and as the oracle of the compiled ones.
"""

from tractable.primitives.distance_sums import distance_sums
from tractable.primitives.gradient_pass import gradient_pass
from tractable.primitives.mahalanobis import squared_mahalanobis
from tractable.primitives.residuals import residual_sums
from tractable.primitives.triangle import centred_triangle, merged_triangle, triangle

__all__ = [
    "centred_triangle",
    "distance_sums",
    "gradient_pass",
    "merged_triangle",
    "residual_sums",
    "squared_mahalanobis",
    "triangle",
]
