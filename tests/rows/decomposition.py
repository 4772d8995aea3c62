"""Principal components, probabilistic and of kernels, and factors."""

from functools import partial

import numpy as np

from rows.row import Row
from tractable.base import Rows, check_rows
from tractable.decomposition import PCA, FactorAnalysis, KernelPCA, ProbabilisticPCA
from tractable.testing.em_laws import EMCase

ROWS = [
    Row("PCA", partial(PCA, 2)),
    Row("PCA-all", PCA),
    Row("PCA-whitened", partial(PCA, 1, whiten=True, svd_solver="full")),
    Row("PCA-fraction", partial(PCA, 0.9, ddof=0.0)),
    Row("ProbabilisticPCA", partial(ProbabilisticPCA, 1)),
    Row(
        "ProbabilisticPCA-bic",
        partial(ProbabilisticPCA, "bic"),
        exempt={
            "extreme_scales_change_the_scale_alone": "a column of 1e-100 beside one of 1e100 adds no "
            "direction, without which the criterion is infinite: said"
        },
    ),
    Row("ProbabilisticPCA-ard", partial(ProbabilisticPCA, "ard")),
    Row("FactorAnalysis", FactorAnalysis),
    Row("KernelPCA", partial(KernelPCA, 2)),
    Row(
        "KernelPCA-landmarks",
        partial(KernelPCA, 2, n_landmarks=10, random_state=0),
    ),
]


def em_problem(model, holes=0.0):
    """The steps of a model over rows of two factors."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 5)) + 0.5 * rng.standard_normal((80, 5)) + 3.0
    X[rng.random(X.shape) < holes] = np.nan
    check_rows(model, X, reset=True)
    problem = model._em_problem(Rows(data=X), fitted=False)
    return EMCase(
        expect=problem.expect,
        maximize=problem.maximize,
        data=problem.data,
        start=problem.initial(np.random.default_rng(0)),
        numbers=lambda p: np.concatenate([p.mean, p.structure.dense().ravel()]),
    )


EM_ROWS = [
    Row("Probabilistic PCA", lambda: em_problem(ProbabilisticPCA(2))),
    Row("Probabilistic PCA, missing entries", lambda: em_problem(ProbabilisticPCA(2), 0.2)),
    Row("Probabilistic PCA, relevance, missing entries", lambda: em_problem(ProbabilisticPCA("ard"), 0.2)),
    Row("Probabilistic PCA, relevance", lambda: em_problem(ProbabilisticPCA("ard"))),
    Row("Factor analysis", lambda: em_problem(FactorAnalysis(2))),
    Row("Factor analysis, missing entries", lambda: em_problem(FactorAnalysis(2), 0.2)),
]
