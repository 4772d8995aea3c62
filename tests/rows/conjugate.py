"""Conjugate models: every pair, weak and strong beliefs, one and several dimensions."""

import numpy as np

from rows.row import Row
from tractable.conjugate import (
    BernoulliModel,
    BinomialModel,
    CategoricalModel,
    MultinomialModel,
    MultivariateNormalModel,
    NormalMeanModel,
    NormalModel,
    NormalPrecisionModel,
    PoissonModel,
)
from tractable.covariance import Diagonal, Isotropic
from tractable.distributions import (
    Beta,
    Dirichlet,
    Gamma,
    MultivariateNormal,
    Normal,
    NormalGamma,
    NormalWishart,
    Wishart,
)

SPREAD = [[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]]

ROWS = [
    Row("BernoulliModel", lambda: BernoulliModel(prior=Beta(alpha=2.0, beta=3.0))),
    Row("BernoulliModel-flat", lambda: BernoulliModel(prior=Beta(alpha=1.0, beta=1.0))),
    Row("BernoulliModel-strong", lambda: BernoulliModel.from_mean_strength(0.3, 100.0)),
    Row("BinomialModel", lambda: BinomialModel(prior=Beta(alpha=1.5, beta=4.0), n_trials=7)),
    Row("BinomialModel-flat", lambda: BinomialModel(prior=Beta(alpha=1.0, beta=1.0), n_trials=40)),
    Row("BinomialModel-billion", lambda: BinomialModel.from_mean_strength(0.3, 1e10, n_trials=10**9)),
    Row("CategoricalModel", lambda: CategoricalModel(prior=Dirichlet(concentration=[2.0, 1.5, 4.0]))),
    Row("CategoricalModel-laplace", lambda: CategoricalModel.laplace(4)),
    Row(
        "MultinomialModel",
        lambda: MultinomialModel(prior=Dirichlet(concentration=[3.0, 2.0, 5.0]), n_trials=12),
    ),
    Row("MultinomialModel-pseudocounts", lambda: MultinomialModel.from_pseudocounts([2.0, 2.0], n_trials=3)),
    Row(
        "MultinomialModel-billion",
        lambda: MultinomialModel.from_mean_strength([0.2, 0.5, 0.3], 1e10, n_trials=10**9),
    ),
    Row("PoissonModel", lambda: PoissonModel(prior=Gamma(shape=3.0, rate=0.5))),
    Row("PoissonModel-strong", lambda: PoissonModel.from_mean_strength(20.0, 8.0)),
    Row("PoissonModel-billion", lambda: PoissonModel.from_mean_strength(1e9, 10.0)),
    Row("NormalMeanModel", lambda: NormalMeanModel(prior=Normal(mean=0.0, variance=1.0), variance=4.0)),
    Row("NormalMeanModel-far", lambda: NormalMeanModel(prior=Normal(mean=1e4, stddev=3.0), variance=0.25)),
    Row(
        "NormalMeanModel-vector",
        lambda: NormalMeanModel(
            prior=MultivariateNormal(mean=[0.0, 1.0, -1.0], covariance=np.eye(3) + 0.5), covariance=SPREAD
        ),
    ),
    Row(
        "NormalMeanModel-structured",
        lambda: NormalMeanModel(
            prior=MultivariateNormal(mean=[0.0, 1.0], covariance=Diagonal(variances=[1.0, 2.0])),
            covariance=Isotropic(variance=2.0, dim=2),
        ),
    ),
    Row(
        "NormalPrecisionModel",
        lambda: NormalPrecisionModel(prior=Gamma(shape=3.0, rate=2.0), known_mean=1.0),
    ),
    Row(
        "NormalPrecisionModel-far",
        lambda: NormalPrecisionModel(prior=Gamma(shape=3.0, rate=2.0), known_mean=1e8),
    ),
    Row(
        "NormalPrecisionModel-matrix",
        lambda: NormalPrecisionModel(
            prior=Wishart(dof=7.0, scale=[[1.0, 0.3], [0.3, 0.5]]), known_mean=[1.0, -2.0]
        ),
    ),
    Row(
        "NormalModel",
        lambda: NormalModel(prior=NormalGamma(mean=1.0, strength=2.0, shape=4.0, rate=3.0)),
    ),
    Row("NormalModel-far", lambda: NormalModel.from_mean_strength(1e5, 12.0, variance=4.0)),
    Row(
        "MultivariateNormalModel",
        lambda: MultivariateNormalModel(
            prior=NormalWishart(mean=[1.0, -1.0], strength=2.0, dof=8.0, scale=[[0.5, 0.1], [0.1, 0.3]])
        ),
    ),
    Row(
        "MultivariateNormalModel-1d",
        lambda: MultivariateNormalModel(
            prior=NormalWishart(mean=[1.0], strength=2.0, dof=8.0, scale=[[0.5]])
        ),
    ),
]
