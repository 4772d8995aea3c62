"""What cannot be used is refused by one ValueError that names the argument, whatever it is."""

import re

import numpy as np
import pytest

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
    empirical_bayes,
)
from tractable.distributions import (
    Beta,
    Dirichlet,
    Empirical,
    Gamma,
    MultivariateLaplace,
    MultivariateNormal,
    MultivariateStudentT,
    Normal,
    Poisson,
    Wishart,
    expectation,
    from_one_hot,
    grid_posterior,
    one_hot,
)

COIN = Beta(alpha=1.0, beta=1.0)
LINE = Normal(mean=0.0, variance=1.0)
POINTS = np.linspace(0.0, 1.0, 11)
STRINGS = [["a", "b"], ["c", "d"]]
HUGE = 10**400


def binomial(n):
    return BinomialModel(prior=COIN, n_trials=n)


CASES = [
    *(("n_trials", binomial, bad) for bad in (np.nan, np.inf, None, [3], "a", HUGE, 2.5, 0, True)),
    *(("n_classes", CategoricalModel.laplace, bad) for bad in (-1, 0, 2.5, None, "a", [3], np.nan)),
    ("n_classes", lambda k: MultinomialModel.laplace(k, n_trials=3), None),
    *(("mean", lambda m: BernoulliModel.from_mean_strength(m, 2.0), bad) for bad in ("a", [0.2, 0.3], None)),
    *(("strength", lambda s: BernoulliModel.from_mean_strength(0.5, s), bad) for bad in ("a", [1.0], None)),
    *(("mean", lambda m: PoissonModel.from_mean_strength(m, 2.0), bad) for bad in ("a", [1.0, 2.0], None)),
    *(("variance", lambda v: NormalModel.from_mean_strength(0.0, 1.0, variance=v), x) for x in ([1, 2], "a")),
    *(("mean", lambda m: NormalModel.from_mean_strength(m, 1.0, variance=1.0), x) for x in ([1, 2], "a")),
    ("variance", lambda v: NormalMeanModel(prior=LINE, variance=v), "a"),
    ("mean", lambda m: NormalMeanModel.from_mean_strength(m, 1.0, variance=1.0), "a"),
    ("known_mean", lambda m: NormalPrecisionModel(prior=Gamma(shape=1.0, rate=1.0), known_mean=m), "a"),
    ("precision", lambda p: NormalPrecisionModel.from_mean_strength(p, 1.0, known_mean=0.0), "a"),
    (
        "covariance",
        lambda c: MultivariateNormalModel.from_mean_strength([0.0, 0.0], 3.0, covariance=c),
        STRINGS,
    ),
    ("X", NormalMeanModel(prior=LINE, variance=1.0).summarize, ["a", "b"]),
    ("labels", one_hot, ["a", "b"]),
    ("labels", one_hot, [0, 10**12]),
    ("labels", lambda k: one_hot([0, 1], k), 10**12),
    *(("n_classes", lambda k: one_hot([0, 1], k), bad) for bad in ("a", 2.5, -1)),
    ("codes", from_one_hot, STRINGS),
    ("values", lambda x: Empirical(values=x), ["a", "b"]),
    ("values", lambda x: Empirical(values=x), [[1.0], [1.0, 2.0]]),
    ("weights", lambda w: Empirical(values=[1.0, 2.0], weights=w), ["a", "b"]),
    *(("X", family.fit, STRINGS) for family in (Empirical, Dirichlet, MultivariateLaplace)),
    *(("X", family.fit, STRINGS) for family in (MultivariateStudentT, Wishart)),
    ("grid", lambda g: grid_posterior(np.log, LINE, g), ["a", "b"]),
    ("log_likelihood", lambda f: grid_posterior(f, LINE, POINTS), lambda x: 0.0),
    ("log_likelihood", lambda f: grid_posterior(f, LINE, POINTS), 3),
    ("log_prior", lambda f: grid_posterior(np.zeros_like, f, POINTS), lambda x: "a"),
    ("f", lambda f: expectation(f, LINE), 3),
    ("mean", lambda m: Normal(mean=m, variance=1.0), HUGE),
    ("variance", lambda v: Normal(mean=0.0, variance=v), HUGE),
    ("alpha", lambda a: Beta(alpha=a, beta=1.0), HUGE),
    ("rate", lambda r: Poisson(rate=r), HUGE),
    ("mean", lambda m: MultivariateNormal(mean=m, covariance=np.eye(2)), [HUGE, 0.0]),
    ("x", LINE.log_prob, HUGE),
    *(("coverage", LINE.interval, bad) for bad in ("a", None, [0.5], np.nan, 1.0)),
    *(("coverage", BernoulliModel(prior=COIN).interval, bad) for bad in ("a", None, [0.5])),
    ("statistics", lambda s: empirical_bayes(BernoulliModel(prior=COIN), s), [[1, 0]]),
    ("statistics", lambda s: empirical_bayes(BernoulliModel(prior=COIN), s), 3),
    ("statistics", lambda s: empirical_bayes(BernoulliModel(prior=COIN), s), []),
]


@pytest.mark.parametrize(("name", "call", "bad"), CASES)
def test_refused_by_name(name, call, bad):
    with pytest.raises(ValueError, match=rf"^{re.escape(name)}\b"):
        call(bad)


@pytest.mark.parametrize("bad", [-1, 0, 2.5, "a", None])
def test_steps_of_empirical_bayes(bad):
    model = BernoulliModel(prior=COIN)
    with pytest.raises(ValueError, match=r"^max_iter"):
        empirical_bayes(model, [model.summarize([1, 0])], max_iter=bad)
