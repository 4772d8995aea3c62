"""The penalty of ridge regression by leave-one-out, many columns."""

from benchmarks.ridge_cv import check, ours, scikit_learns, setup
from benchmarks.row import Row, at_least

ROW = Row(
    name="ridge_cv_wide",
    shows="Leave-one-out errors of 50 penalties on 500 × 20,000 rows, and the best fit.",
    setup=setup,
    size=(500, 20_000),
    dry_size=(20, 60),
    ours=ours,
    peers={"scikit-learn": scikit_learns},
    check=check,
    targets={"scikit-learn": at_least(2.5)},
    limit="the inner products of 500 rows, 5 GFlop, half of the time, and their eigenvectors on one core.",
)
