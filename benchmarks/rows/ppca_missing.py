"""One iteration of EM of probabilistic PCA over rows with missing entries, beside one product."""

from types import SimpleNamespace

import numpy as np

from benchmarks.decomposition import table
from benchmarks.row import Row, within
from tractable.data import as_source
from tractable.decomposition.probabilistic.steps import FactorProblem
from tractable.engines import fold
from tractable.primitives.threads import single_threaded_blas
from tractable.statistics import ColumnSummary


def setup(size, folder):
    n_rows, n_columns, k = size
    X = table((n_rows, n_columns, k), folder)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    hidden = np.random.default_rng(1).random(X.shape) < 0.2
    gaps = np.where(hidden, np.nan, X)
    source = as_source(gaps, None, None)
    summary = fold(ColumnSummary.of, source)
    standardizer = summary.standardizer(common=True)
    problem = FactorProblem(source=source, summary=summary, standardizer=standardizer, rank=k, isotropic=True)
    params = problem.initial(np.random.default_rng(0))
    return SimpleNamespace(X=X, problem=problem, data=problem.data, params=params, loadings=params.loadings)


@single_threaded_blas()  # as in every search by EM
def ours(data):
    sums = data.data.reduce(data.problem.expect(data.params))
    return float(data.problem.maximize(sums).noise[0])


@single_threaded_blas()
def one_product(data):
    return float(np.sum(data.X @ data.loadings))


def check(mine, theirs):
    """Both are numbers; they answer different questions."""
    assert np.isfinite([mine, theirs]).all()


ROW = Row(
    name="ppca_missing",
    shows="An iteration of ProbabilisticPCA(5), 20,000 × 50 rows, 20 % of the entries missing, beside X @ W.",
    setup=setup,
    size=(20_000, 50, 5),
    dry_size=(300, 6, 2),
    ours=ours,
    peers={"one X @ W": one_product},
    check=check,
    targets={"one X @ W": within(20.0)},
    limit="four products of the masks and the rows with small matrices, and an inverse of k × k a pattern.",
)
