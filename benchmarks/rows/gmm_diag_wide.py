"""EM iterations of a Gaussian mixture: 100,000 × 32, K = 16, diagonal covariances."""

from benchmarks.mixtures import mixture_row

ROW = mixture_row(
    "gmm_diag_wide",
    "Ten EM iterations of a Gaussian mixture: 100,000 × 32, K = 16, diagonal covariances.",
    (100_000, 32, 16),
    "diag",
    4.0,
)
