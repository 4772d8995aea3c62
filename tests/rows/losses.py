"""Losses of the catalogue, each with targets that it is of."""

import numpy as np
from scipy.special import ndtr

from rows.row import Row
from tractable.arrays.log_space import log_softmax, sigmoid
from tractable.distributions import Bernoulli, NegativeBinomial, Poisson, StudentT
from tractable.distributions import Gamma as GammaDistribution
from tractable.engines.glm import losses
from tractable.testing.loss_laws import LossOfTargets
from tractable.value import value


@value
class Classes:
    """Codes of classes with log probabilities (n, K)."""

    log_p: np.ndarray

    def log_prob(self, y):
        return np.take_along_axis(self.log_p, y[:, None], axis=1)[:, 0]


def codes(k):
    return lambda rng, n: rng.integers(0, k, n)


def counts(rng, n):
    return rng.poisson(2.0, n).astype(float)


def amounts(rng, n):
    return rng.gamma(2.0, 1.0, n)


def numbers(rng, n):
    return 2.0 * rng.standard_normal(n)


def made(loss, draw, distribution=None, **options):
    return lambda: LossOfTargets(loss=loss, draw=draw, distribution=distribution, **options)


ROWS = [
    Row("Logistic", made(losses.Logistic(), codes(2), lambda eta: Bernoulli(probability=sigmoid(eta)))),
    Row("Probit", made(losses.Probit(), codes(2), lambda eta: Bernoulli(probability=ndtr(eta)))),
    Row(
        "Softmax",
        made(
            losses.Softmax.of(4),
            codes(4),
            lambda eta: Classes(log_p=log_softmax(eta @ losses.helmert_contrasts(4).T)),
        ),
    ),
    Row(
        "Softmax-overparametrised",
        made(
            losses.Softmax.of(3, overparametrised=True), codes(3), lambda eta: Classes(log_p=log_softmax(eta))
        ),
    ),
    Row("Softmax-two", made(losses.Softmax.of(2), codes(2))),
    Row("Poisson", made(losses.Poisson(), counts, lambda eta: Poisson(rate=np.exp(eta)))),
    Row("Gamma", made(losses.Gamma(), amounts, lambda eta: GammaDistribution(shape=1.0, rate=np.exp(-eta)))),
    Row(
        "Gamma-inverse",
        made(
            losses.Gamma(link="inverse"),
            amounts,
            lambda eta: GammaDistribution(shape=1.0, rate=eta),
            positive=True,
        ),
    ),
    Row(
        "NegativeBinomial",
        made(
            losses.NegativeBinomial(dispersion=0.7),
            counts,
            lambda eta: NegativeBinomial(shape=1.0 / 0.7, mean=np.exp(eta)),
        ),
    ),
    Row("Huber", made(losses.Huber(tuning=1.0), numbers)),
    Row("Tukey", made(losses.Tukey(), numbers)),
    Row(
        "Student",
        made(losses.Student(dof=3.0), numbers, lambda eta: StudentT(dof=3.0, location=eta, scale=1.0)),
    ),
    Row("Quantile", made(losses.Quantile(quantile=0.8), numbers)),
]
