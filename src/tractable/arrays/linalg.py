"""Linear algebra for every array library: the contents page."""

from tractable.arrays.factor import Factor, cholesky, jittered_cholesky
from tractable.arrays.triangular import log_det_cholesky, solve_cholesky, solve_triangular

__all__ = [
    "Factor",
    "cholesky",
    "jittered_cholesky",
    "log_det_cholesky",
    "solve_cholesky",
    "solve_triangular",
]
