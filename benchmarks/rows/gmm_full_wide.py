"""EM iterations of a Gaussian mixture: 100,000 × 32, K = 16, each its own covariance."""

from benchmarks.mixtures import mixture_row

ROW = mixture_row(
    "gmm_full_wide",
    "Ten EM iterations of a Gaussian mixture: 100,000 × 32, K = 16, each its own covariance.",
    (100_000, 32, 16),
    "full",
    10.0,
)
