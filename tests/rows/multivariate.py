"""Distributions of vectors, of matrices, and of pairs of the two."""

import numpy as np

from rows.row import Row
from tractable.covariance import Diagonal, LowRankPlusDiagonal
from tractable.distributions import (
    Dirichlet,
    InverseWishart,
    MultivariateLaplace,
    MultivariateStudentT,
    NormalGamma,
    NormalWishart,
    Wishart,
)

PAIR = [[2.0, 0.6], [0.6, 1.0]]
THREE = [[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]]
SEVERAL = [PAIR, [[1.0, -0.2], [-0.2, 0.5]], [[0.3, 0.0], [0.0, 3.0]]]

SIMPLEX = [
    Row("Dirichlet", lambda: Dirichlet(concentration=[4.0, 2.0, 1.5])),
    Row("Dirichlet-two", lambda: Dirichlet(concentration=[0.7, 2.0])),
    Row("Dirichlet-uniform", lambda: Dirichlet(concentration=np.ones(4))),
    Row("Dirichlet-edges", lambda: Dirichlet(concentration=[0.3, 1.0, 2.0])),
    Row("Dirichlet-corners", lambda: Dirichlet(concentration=[0.4, 0.3, 0.4])),
    Row("Dirichlet-strong", lambda: Dirichlet(concentration=[3e5, 1e5, 2e5])),
    Row(
        "Dirichlet-batch",
        lambda: Dirichlet(concentration=[[1.0, 2.0, 3.0], [0.5, 0.5, 0.5], [9.0, 1.0, 1.0]]),
    ),
]
MATRICES = [
    Row("Wishart", lambda: Wishart(dof=5.0, scale=PAIR)),
    Row("Wishart-1d", lambda: Wishart(dof=3.0, scale=[[0.5]])),
    Row("Wishart-few", lambda: Wishart(dof=2.2, scale=PAIR)),
    Row("Wishart-three", lambda: Wishart(dof=4.5, scale=THREE)),
    Row("Wishart-strong", lambda: Wishart(dof=1e5, scale=PAIR)),
    Row("Wishart-batch", lambda: Wishart(dof=[[3.5, 4.0, 9.0]], scale=SEVERAL)),
    Row("InverseWishart", lambda: InverseWishart(dof=12.0, scale=PAIR)),
    Row("InverseWishart-1d", lambda: InverseWishart(dof=15.0, scale=[[0.5]])),
    Row("InverseWishart-no-variance", lambda: InverseWishart(dof=4.0, scale=PAIR)),
    Row("InverseWishart-no-mean", lambda: InverseWishart(dof=2.5, scale=PAIR)),
    Row("InverseWishart-batch", lambda: InverseWishart(dof=[15.0, 20.0, 14.0], scale=SEVERAL)),
]
VECTORS = [
    Row("MultivariateStudentT", lambda: MultivariateStudentT(dof=9.0, location=[1.0, -2.0], scale=PAIR)),
    Row("MultivariateStudentT-1d", lambda: MultivariateStudentT(dof=12.0, location=[2.0], scale=[[0.25]])),
    Row(
        "MultivariateStudentT-Cauchy",
        lambda: MultivariateStudentT(dof=1.0, location=[0.0, 1.0], scale=[[1.0, 0.9], [0.9, 1.0]]),
    ),
    Row(
        "MultivariateStudentT-no-variance",
        lambda: MultivariateStudentT(dof=1.5, location=[0.0, 1.0], scale=PAIR),
    ),
    Row(
        "MultivariateStudentT-named",
        lambda: MultivariateStudentT(dof=10.0, location=[0.0, 1.0, 2.0], scale=THREE, names=("a", "b", "c")),
    ),
    Row(
        "MultivariateStudentT-batch",
        lambda: MultivariateStudentT(
            dof=[9.0, 15.0, 30.0], location=[[0.0, 0.0], [1.0, 1.0], [3.0, -1.0]], scale=SEVERAL
        ),
    ),
    Row(
        "MultivariateStudentT-shared",
        lambda: MultivariateStudentT(dof=[[9.0], [11.0]], location=np.arange(6.0).reshape(2, 3), scale=THREE),
    ),
    Row(
        "MultivariateStudentT-diagonal",
        lambda: MultivariateStudentT(dof=20.0, location=[0.0, 5.0], scale=Diagonal(variances=[0.04, 9.0])),
    ),
    Row(
        "MultivariateStudentT-low-rank",
        lambda: MultivariateStudentT(
            dof=9.0,
            location=np.arange(4.0),
            scale=LowRankPlusDiagonal(factor=[[1.0], [2.0], [-1.0], [0.0]], variances=[0.5, 1.0, 0.2, 1.0]),
        ),
    ),
    Row("MultivariateLaplace-l1", lambda: MultivariateLaplace(location=[1.0, -2.0], scale=0.7, norm="l1")),
    Row("MultivariateLaplace-l2", lambda: MultivariateLaplace(location=[1.0, -2.0], scale=0.7, norm="l2")),
    Row("MultivariateLaplace-1d", lambda: MultivariateLaplace(location=[3.0], scale=2.0, norm="l2")),
    Row("MultivariateLaplace-far", lambda: MultivariateLaplace(location=np.full(5, 1e6), scale=1.0)),
    Row(
        "MultivariateLaplace-l1-batch",
        lambda: MultivariateLaplace(location=np.arange(6.0).reshape(2, 3), scale=[1.0, 0.5], norm="l1"),
    ),
    Row(
        "MultivariateLaplace-l2-batch",
        lambda: MultivariateLaplace(location=[[[0.0, 1.0]], [[0.5, 0.5]]], scale=[1.0, 3.0, 0.1], norm="l2"),
    ),
]
PAIRS = [
    Row("NormalGamma", lambda: NormalGamma(mean=1.0, strength=2.0, shape=6.0, rate=3.0)),
    Row("NormalGamma-vague", lambda: NormalGamma(mean=0.0, strength=0.1, shape=0.8, rate=2.0)),
    Row("NormalGamma-no-mode", lambda: NormalGamma(mean=0.0, strength=1.0, shape=0.45, rate=2.0)),
    Row("NormalGamma-strong", lambda: NormalGamma(mean=1e6, strength=1e4, shape=1e5, rate=1e3)),
    Row(
        "NormalGamma-batch",
        lambda: NormalGamma(mean=[[0.0], [2.0]], strength=[1.0, 3.0, 0.5], shape=[5.0, 6.0, 8.0], rate=4.0),
    ),
    Row("NormalWishart", lambda: NormalWishart(mean=[1.0, -1.0], strength=2.0, dof=12.0, scale=PAIR)),
    Row("NormalWishart-1d", lambda: NormalWishart(mean=[1.0], strength=0.5, dof=14.0, scale=[[2.0]])),
    Row("NormalWishart-few", lambda: NormalWishart(mean=[0.0, 1.0], strength=1.0, dof=1.95, scale=PAIR)),
    Row(
        "NormalWishart-batch",
        lambda: NormalWishart(
            mean=np.zeros((3, 2)), strength=[1.0, 4.0, 0.5], dof=[13.0, 20.0, 14.0], scale=SEVERAL
        ),
    ),
]
ROWS = [*SIMPLEX, *MATRICES, *VECTORS, *PAIRS]
