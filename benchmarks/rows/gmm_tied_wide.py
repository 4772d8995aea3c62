"""EM iterations of a Gaussian mixture: 100,000 × 32, K = 16, one covariance for all."""

from benchmarks.mixtures import mixture_row

ROW = mixture_row(
    "gmm_tied_wide",
    "Ten EM iterations of a Gaussian mixture: 100,000 × 32, K = 16, one covariance for all.",
    (100_000, 32, 16),
    "tied",
    6.0,
)
