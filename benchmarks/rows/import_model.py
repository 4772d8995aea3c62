"""The price of the first estimator."""

from benchmarks.fresh import both_ended_well, nothing, statement
from benchmarks.row import Row, at_most_slower

ROW = Row(
    name="import_model",
    shows="A fresh process that reaches for one estimator, beside scikit-learn's base classes.",
    setup=nothing,
    size=None,
    dry_size=None,
    ours=statement("import tractable; tractable.GaussianDensity"),
    peers={"import sklearn.base": statement("import sklearn.base")},
    check=both_ended_well,
    targets={"import sklearn.base": at_most_slower(0.2)},
    memory=False,
    limit="scikit-learn's import, which every estimator needs.",
)
