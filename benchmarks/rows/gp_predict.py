"""Predictions of a Gaussian process with their standard deviations."""

from benchmarks.gaussian_process import check_prediction, predicted, setup, their_prediction
from benchmarks.row import Row, at_least

ROW = Row(
    name="gp_predict",
    shows="Means and standard deviations at 5,000 new rows, of a process fitted to 2,000.",
    setup=setup,
    size=(2_000, 10, 5_000),
    dry_size=(60, 4, 30),
    ours=predicted,
    peers={"scikit-learn": their_prediction},
    check=check_prediction,
    targets={"scikit-learn": at_least(1.8)},
    limit="a triangular system of 2,000 equations for each new row.",
    reason="Nine tenths of the processor time are one BLAS routine at the rate of matrix products, which "
    "scikit-learn calls too.",
)
