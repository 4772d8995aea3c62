"""Distributions of counts, labels and samples, and their statistics."""

import numpy as np

from rows.row import Row
from tractable.distributions import (
    Bernoulli,
    BetaBinomial,
    Binomial,
    Categorical,
    DirichletMultinomial,
    Empirical,
    Multinomial,
    Poisson,
)
from tractable.statistics import Counts, Totals
from tractable.testing.statistic_laws import StatisticOfRows

ROWS = [
    Row("Bernoulli", lambda: Bernoulli(probability=0.3)),
    Row("Bernoulli-logit", lambda: Bernoulli(logit=-1.5)),
    Row("Bernoulli-batch", lambda: Bernoulli(probability=[[0.1, 0.9, 0.5], [0.7, 0.2, 0.6]])),
    Row("Bernoulli-logits", lambda: Bernoulli(logit=[-0.3, 2.0])),
    Row("Binomial", lambda: Binomial(n_trials=12, probability=0.3)),
    Row("Binomial-batch", lambda: Binomial(n_trials=7, probability=[[0.1, 0.9], [0.5, 0.2]])),
    Row("Binomial-large", lambda: Binomial(n_trials=10**9, probability=0.25)),
    Row("Binomial-rare", lambda: Binomial(n_trials=10**9, probability=3e-9)),
    Row("Categorical", lambda: Categorical(probabilities=[0.2, 0.5, 0.3])),
    Row("Categorical-logits", lambda: Categorical(logits=[[0.0, 1.0, 2.0], [3.0, -2.0, 1.0]])),
    Row("Categorical-batch", lambda: Categorical(probabilities=[[[0.5, 0.5], [0.1, 0.9]]])),
    Row("Multinomial", lambda: Multinomial(n_trials=6, probabilities=[0.2, 0.5, 0.3])),
    Row(
        "Multinomial-batch",
        lambda: Multinomial(n_trials=4, probabilities=[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]),
    ),
    Row("Multinomial-pair", lambda: Multinomial(n_trials=30, probabilities=[0.6, 0.4])),
    Row("Multinomial-large", lambda: Multinomial(n_trials=10**9, probabilities=[0.2, 0.7, 0.1])),
    Row("Poisson", lambda: Poisson(rate=3.5)),
    Row("Poisson-batch", lambda: Poisson(rate=[0.4, 7.0, 100.0])),
    Row("Poisson-large", lambda: Poisson(rate=1e8)),
    Row("BetaBinomial", lambda: BetaBinomial(n_trials=12, alpha=2.0, beta=3.0)),
    Row("BetaBinomial-edges", lambda: BetaBinomial(n_trials=7, alpha=0.5, beta=0.3)),
    Row("BetaBinomial-batch", lambda: BetaBinomial(n_trials=5, alpha=[1.0, 3.0], beta=[2.0, 0.5])),
    Row("BetaBinomial-large", lambda: BetaBinomial(n_trials=10**5, alpha=30.0, beta=50.0)),
    Row("DirichletMultinomial", lambda: DirichletMultinomial(n_trials=6, concentration=[1.0, 2.0, 0.5])),
    Row(
        "DirichletMultinomial-batch",
        lambda: DirichletMultinomial(n_trials=4, concentration=[[1.0, 2.0, 0.5], [10.0, 20.0, 5.0]]),
    ),
    Row("DirichletMultinomial-edges", lambda: DirichletMultinomial(n_trials=20, concentration=[0.5, 0.2])),
    Row("Empirical", lambda: Empirical(values=[1.0, 2.0, 2.0, 5.5])),
    Row(
        "Empirical-weighted",
        lambda: Empirical(values=np.linspace(-2.0, 3.0, 40) ** 3, weights=np.arange(40.0)),
    ),
    Row(
        "Empirical-pairs",
        lambda: Empirical(values=np.arange(24.0).reshape(12, 2) % 5.0, weights=np.arange(12.0) % 4.0),
    ),
    Row("Empirical-matrices", lambda: Empirical(values=np.arange(48.0).reshape(12, 2, 2) % 5.0)),
]
STATISTICS = [
    Row(
        "Counts",
        lambda: StatisticOfRows(statistic=Counts, draw=lambda rng, shape: rng.integers(0, 5, size=shape)),
    ),
    Row("Totals", lambda: StatisticOfRows(statistic=Totals, draw=lambda rng, shape: rng.poisson(4.0, shape))),
    Row(
        "Totals-trials",
        lambda: StatisticOfRows(statistic=Totals, draw=lambda rng, shape: rng.random(shape) < 0.3),
    ),
]
