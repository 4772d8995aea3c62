"""One table per kind of public object: every law of the kind runs on every row.

Adding an object is one row here, or in its group's file in `rows`. An exemption is written on the row with
its reason, as a strict xfail.
"""

import re
from collections import Counter

import numpy as np
import pytest

import quick
from rows import (
    bayesian_gaussian_mixture,
    bayesian_logistic,
    compound,
    conjugate,
    decomposition,
    discrete,
    discrete_mixtures,
    discriminants,
    gaussian_mixture,
    gaussian_process,
    histogram,
    kernel_regression,
    kernels,
    kmeans,
    latent_tree,
    linear_basis,
    linear_bayes,
    linear_generalized,
    linear_gradient,
    linear_least_squares,
    linear_ridge,
    linear_robust,
    linear_sparse,
    logistic,
    losses,
    manifold,
    mean_shift,
    mixture_regression,
    more_pictures,
    multivariate,
    naive_bayes,
    negative_binomial,
    neighbors,
    networks,
    perceptron,
    pictures,
    samplers,
    scalars,
    smoothed,
    stacked,
    student_t_mixture,
    tables,
)
from rows.row import Row
from toys import Average, Standardiser
from tractable.covariance import Diagonal, Full, Isotropic, LowRankPlusDiagonal
from tractable.density import GaussianDensity
from tractable.distributions import MultivariateNormal, Normal
from tractable.statistics import (
    ByClass,
    ColumnSummary,
    DiagonalMoments,
    IncompleteMoments,
    Moments,
    ScatterFactor,
)
from tractable.testing.statistic_laws import StatisticOfRows


def cross(laws, rows, most=None):
    """Every (law, row) pair as a pytest parameter.

    Of a family (what a row's name begins with) `most` rows are judged by `make test`, and each further row by
    one of the laws, in turn; `make test-all` judges all by all.
    """
    laws = list(laws)
    return [
        pytest.param(
            law,
            row.make,
            id=f"{row.name}-{law.__name__}",
            marks=[*(late if i != n % len(laws) else []), *_exempt(row, law)],
        )
        for n, (row, late) in enumerate(zip(rows, _late(rows, most), strict=True))
        for i, law in enumerate(laws)
        if not (quick.ALONE and late and i != n % len(laws))
    ]


def some_of_each_family(rows, most=1):
    """Rows as parameters; all but `most` of a family wait for `make test-all`."""
    return [
        pytest.param(row, id=row.name, marks=late) for row, late in zip(rows, _late(rows, most), strict=True)
    ]


def _exempt(row, law):
    return [pytest.mark.xfail(reason=row.exempt[law.__name__])] if law.__name__ in row.exempt else []


def _late(rows, most):
    seen = Counter()
    for row in rows:
        family = re.split("[-,]", row.name)[0]
        seen[family] += 1
        yield [pytest.mark.slow] if most is not None and seen[family] > most else []


def with_holes(rng, shape):
    """Rows in which a third of the entries is missing."""
    return np.where(rng.random(shape) < 0.3, np.nan, rng.standard_normal(shape))


def with_classes(rng, shape):
    """Rows of which the last column is a class."""
    return np.column_stack([rng.standard_normal((shape[0], shape[1] - 1)), rng.integers(0, 3, shape[0])])


class TriangularFactor(ScatterFactor):
    """The statistic that keeps many rows as a triangle."""

    of = ScatterFactor.triangle_of


STRONG = [[1.0, 0.9999], [0.9999, 1.0]]
SPREAD = [[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]]
DISTRIBUTIONS = [
    Row("Normal", lambda: Normal(mean=1.0, variance=4.0)),
    Row("Normal-stddev", lambda: Normal(mean=-0.5, stddev=0.1)),
    Row("Normal-batch", lambda: Normal(mean=[[0.0], [3.0]], variance=[1.0, 0.25, 9.0])),
    Row("Normal-far", lambda: Normal(mean=1e6, stddev=1.0)),
    Row("Normal-tiny", lambda: Normal(mean=0.0, stddev=1e-100)),
    Row("Normal-huge", lambda: Normal(mean=1e100, stddev=1e100)),
    Row(
        "MultivariateNormal",
        lambda: MultivariateNormal(mean=[1.0, -2.0], covariance=[[2.0, 0.6], [0.6, 1.0]]),
    ),
    Row("MultivariateNormal-1d", lambda: MultivariateNormal(mean=[2.0], covariance=[[0.25]])),
    Row(
        "MultivariateNormal-named",
        lambda: MultivariateNormal(mean=[0.0, 1.0, 2.0], covariance=SPREAD, names=("a", "b", "c")),
    ),
    Row(
        "MultivariateNormal-batch",
        lambda: MultivariateNormal(
            mean=[[0.0, 0.0], [1.0, 1.0], [3.0, -1.0]],
            covariance=[[[1.0, 0.2], [0.2, 1.0]], [[2.0, -0.5], [-0.5, 1.0]], [[0.5, 0.0], [0.0, 0.1]]],
        ),
    ),
    Row(
        "MultivariateNormal-shared",
        lambda: MultivariateNormal(mean=np.arange(12.0).reshape(2, 2, 3), covariance=SPREAD),
    ),
    Row("MultivariateNormal-strong", lambda: MultivariateNormal(mean=[0.0, 0.0], covariance=STRONG)),
    Row(
        "MultivariateNormal-far",
        lambda: MultivariateNormal(mean=[1e6, -1e6], covariance=[[1.0, 0.5], [0.5, 2.0]]),
    ),
    Row(
        "MultivariateNormal-scales",
        lambda: MultivariateNormal(mean=[0.0, 1e100], covariance=[[1e-200, 0.5], [0.5, 1e200]]),
    ),
    Row(
        "MultivariateNormal-diagonal",
        lambda: MultivariateNormal(mean=[0.0, 5.0], covariance=Diagonal(variances=[0.04, 9.0])),
    ),
    Row(
        "MultivariateNormal-isotropic",
        lambda: MultivariateNormal(
            mean=np.zeros((3, 2)), covariance=Isotropic(variance=[1.0, 2.0, 3.0], dim=2)
        ),
    ),
    Row(
        "MultivariateNormal-low-rank",
        lambda: MultivariateNormal(
            mean=np.arange(5.0),
            covariance=LowRankPlusDiagonal(
                factor=[[1.0, 0.0], [2.0, 1.0], [-1.0, 0.5], [0.0, 0.3], [0.5, 0.5]],
                variances=[0.5, 1.0, 0.2, 1.0, 2.0],
            ),
        ),
    ),
    *compound.ROWS,
    *histogram.DISTRIBUTIONS,
    *multivariate.ROWS,
    *scalars.ROWS,
    *discrete.ROWS,
    *negative_binomial.ROWS,
    *smoothed.ROWS,
    *stacked.ROWS,
    *tables.ROWS,
    *networks.ROWS,
]
COVARIANCES = [
    Row("Full", lambda: Full(matrix=SPREAD)),
    Row("Full-1d", lambda: Full(matrix=[[4.0]])),
    Row("Full-batch", lambda: Full(matrix=[[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.9], [-0.9, 1.0]]])),
    Row("Full-cholesky", lambda: Full.from_cholesky([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 0.5, 0.3]])),
    Row("Full-precision", lambda: Full.from_precision([[2.0, -1.0], [-1.0, 3.0]])),
    Row("Full-strong", lambda: Full(matrix=STRONG)),
    Row("Full-scales", lambda: Full(matrix=[[1e-200, 0.5], [0.5, 1e200]])),
    Row("Full-jittered", lambda: Full.jittered(np.ones((3, 3)) + np.diag([1.0, 0.0, 0.0]))),
    Row("Full-jittered-batch", lambda: Full.jittered(np.stack([np.ones((2, 2)), np.eye(2)]))),
    Row("Diagonal", lambda: Diagonal(variances=[4.0, 0.25, 1.0])),
    Row("Diagonal-batch", lambda: Diagonal(variances=[[[1.0, 2.0]], [[3.0, 0.1]]])),
    Row("Diagonal-scales", lambda: Diagonal(variances=[1e-200, 1e200])),
    Row("Isotropic", lambda: Isotropic(variance=2.0, dim=3)),
    Row("Isotropic-batch", lambda: Isotropic(variance=[1e-10, 1e10], dim=2)),
    Row(
        "LowRankPlusDiagonal",
        lambda: LowRankPlusDiagonal(factor=[[1.0], [2.0], [-1.0], [0.0]], variances=[0.5, 1.0, 0.2, 1.0]),
    ),
    Row(
        "LowRankPlusDiagonal-batch",
        lambda: LowRankPlusDiagonal(
            factor=np.linspace(-1.0, 2.0, 12).reshape(2, 3, 2), variances=[1.0, 0.1, 2.0]
        ),
    ),
    Row(
        "LowRankPlusDiagonal-strong",
        lambda: LowRankPlusDiagonal(factor=[[100.0], [100.0]], variances=[1.0, 1.0]),
    ),
    Row(
        "LowRankPlusDiagonal-overfull",
        lambda: LowRankPlusDiagonal(
            factor=np.linspace(-1.0, 1.0, 8).reshape(2, 4) ** 3, variances=[1.0, 2.0]
        ),
    ),
]
KERNELS = kernels.ROWS
LOSSES = losses.ROWS
STATISTICS = [
    Row("Moments", lambda: Moments),
    Row("DiagonalMoments", lambda: DiagonalMoments),
    Row("ColumnSummary", lambda: ColumnSummary),
    Row("ColumnSummary-holes", lambda: StatisticOfRows(statistic=ColumnSummary, draw=with_holes)),
    Row("IncompleteMoments", lambda: IncompleteMoments),
    Row("IncompleteMoments-holes", lambda: StatisticOfRows(statistic=IncompleteMoments, draw=with_holes)),
    Row("DiagonalMoments-holes", lambda: StatisticOfRows(statistic=DiagonalMoments, draw=with_holes)),
    Row("ScatterFactor", lambda: ScatterFactor),
    Row("ScatterFactor-triangular", lambda: TriangularFactor),
    Row("ByClass", lambda: StatisticOfRows(statistic=ByClass, draw=with_classes, n_targets=1)),
    *discrete.STATISTICS,
    *discriminants.STATISTICS,
    *histogram.STATISTICS,
    *linear_least_squares.STATISTICS,
    *naive_bayes.STATISTICS,
    *scalars.STATISTICS,
]
CONJUGATE_MODELS = conjugate.ROWS
ESTIMATORS = [
    *bayesian_gaussian_mixture.ROWS,
    *bayesian_logistic.ROWS,
    Row("GaussianDensity", GaussianDensity),
    Row("GaussianDensity-diag", lambda: GaussianDensity(covariance_type="diag")),
    Row("GaussianDensity-spherical", lambda: GaussianDensity(covariance_type="spherical")),
    Row("GaussianDensity-unbiased", lambda: GaussianDensity(ddof=1)),
    *decomposition.ROWS,
    *discrete_mixtures.ROWS,
    *latent_tree.ROWS,
    *discriminants.ROWS,
    *gaussian_mixture.ROWS,
    *gaussian_process.ROWS,
    *histogram.ESTIMATORS,
    *kernel_regression.ROWS,
    *kmeans.ROWS,
    *linear_basis.ROWS,
    *linear_bayes.ROWS,
    *linear_generalized.ROWS,
    *linear_gradient.ROWS,
    *linear_least_squares.ROWS,
    *linear_ridge.ROWS,
    *linear_robust.ROWS,
    *linear_sparse.ROWS,
    *logistic.ROWS,
    *manifold.ROWS,
    *mean_shift.ROWS,
    *mixture_regression.ROWS,
    *naive_bayes.ROWS,
    *neighbors.ROWS,
    *networks.ESTIMATORS,
    *perceptron.ROWS,
    *smoothed.ESTIMATORS,
    *student_t_mixture.ROWS,
    Row("toy-Average", Average),
    Row("toy-Standardiser", Standardiser),
]
SAMPLERS = samplers.ROWS
PICTURES = [*pictures.PICTURES, *more_pictures.PICTURES]
