"""Linear algebra for every array library: the contents page."""

from tractable.arrays.blocks import block_inverse, schur_complement
from tractable.arrays.definite import is_pd, is_psd
from tractable.arrays.equilibrate import symmetrize
from tractable.arrays.factor import Factor, cholesky, jittered_cholesky
from tractable.arrays.svd import SVD, pinv, svd_from_gram, thin_svd, truncated_svd
from tractable.arrays.triangular import log_det_cholesky, solve_cholesky, solve_triangular
from tractable.arrays.updates import rank_one_update, sherman_morrison

__all__ = [
    "SVD",
    "Factor",
    "block_inverse",
    "cholesky",
    "is_pd",
    "is_psd",
    "jittered_cholesky",
    "log_det_cholesky",
    "pinv",
    "rank_one_update",
    "schur_complement",
    "sherman_morrison",
    "solve_cholesky",
    "solve_triangular",
    "svd_from_gram",
    "symmetrize",
    "thin_svd",
    "truncated_svd",
]
