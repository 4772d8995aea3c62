"""EM iterations of a Gaussian mixture: 100,000 × 16, K = 10, each its own covariance."""

from benchmarks.mixtures import mixture_row

ROW = mixture_row(
    "gmm_full",
    "Ten EM iterations of a Gaussian mixture: 100,000 × 16, K = 10, each its own covariance.",
    (100_000, 16, 10),
    "full",
    12.0,
)
