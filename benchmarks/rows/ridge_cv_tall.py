"""The penalty of ridge regression by leave-one-out, many rows."""

from benchmarks.ridge_cv import check, ours, scikit_learns, setup
from benchmarks.row import Row, at_least

ROW = Row(
    name="ridge_cv_tall",
    shows="Leave-one-out errors of 50 penalties on 50,000 × 100 rows, and the best fit.",
    setup=setup,
    size=(50_000, 100),
    dry_size=(300, 5),
    ours=ours,
    peers={"scikit-learn": scikit_learns},
    check=check,
    targets={"scikit-learn": at_least(20.0)},
    limit="four products of the rows with 100 columns, and reading the rows twice.",
)
