"""Empirical Bayes: the evidence of many groups, maximised over the prior."""

import numpy as np
import pytest

from tractable.arrays.gradient import check_gradient
from tractable.conjugate import (
    BernoulliModel,
    BinomialModel,
    CategoricalModel,
    MultinomialModel,
    NormalMeanModel,
    NormalModel,
    NormalPrecisionModel,
    PoissonModel,
    empirical_bayes,
)
from tractable.distributions import Beta, Gamma, MultivariateNormal, Normal, NormalGamma, Wishart

MODELS = {
    "Bernoulli": lambda: BernoulliModel(prior=Beta(alpha=3.0, beta=5.0)),
    "Binomial": lambda: BinomialModel(prior=Beta(alpha=3.0, beta=5.0), n_trials=20),
    "Categorical": lambda: CategoricalModel.from_pseudocounts([2.0, 3.0, 1.5]),
    "Multinomial": lambda: MultinomialModel.from_pseudocounts([2.0, 3.0, 1.5], n_trials=8),
    "Poisson": lambda: PoissonModel(prior=Gamma(shape=4.0, rate=0.5)),
    "NormalMean": lambda: NormalMeanModel(prior=Normal(mean=2.0, variance=3.0), variance=4.0),
    "NormalMean-far": lambda: NormalMeanModel(prior=Normal(mean=1e6, variance=3.0), variance=4.0),
    "NormalPrecision": lambda: NormalPrecisionModel(prior=Gamma(shape=5.0, rate=2.0), known_mean=1.0),
}


def groups_of(model, rng, n_groups=400, n_rows=6):
    truths = model.prior.sample(n_groups, rng=rng)
    return [model.summarize(model.likelihood(truth).sample(n_rows, rng=rng)) for truth in truths]


def total_evidence(model, groups):
    return sum(model.log_evidence(group) for group in groups)


#: Sums of such: what holds of one trial at a time holds of them, and takes longer.
SUMS = ("Binomial", "Multinomial")


@pytest.fixture(
    params=[pytest.param(m, marks=pytest.mark.slow if m in SUMS else ()) for m in MODELS], ids=str
)
def model(request):
    return MODELS[request.param]()


def test_search_has_the_evidence_and_its_derivatives(model, rng):
    groups = groups_of(model, rng, n_groups=12)
    search = model._search(groups)
    np.testing.assert_allclose(search.objective(search.start)[0], -total_evidence(model, groups), rtol=1e-11)
    near = search.start + 0.1 * rng.standard_normal(len(search.start))
    np.testing.assert_allclose(
        search.objective(near)[0], -total_evidence(search.model(near), groups), rtol=1e-9
    )
    check_gradient(lambda x: search.objective(x)[0], lambda x: search.objective(x)[1], near, rtol=1e-6)
    check_gradient(
        lambda x: search.objective(x)[1], lambda x: search.objective(x)[2], near, rtol=1e-6, atol=1e-8
    )


def test_nothing_near_is_more_probable_and_the_truth_is_found(model, rng):
    groups = groups_of(model, rng)
    best = empirical_bayes(model, groups)
    highest = total_evidence(best, groups)
    search = best._search(groups)
    _, slope, bend = search.objective(search.start)
    assert np.linalg.eigvalsh(bend).min() > 0
    # What is left to gain is nothing.
    assert slope @ np.linalg.solve(bend, slope) < 1e-8
    for _ in range(5):
        near = search.start + 0.05 * rng.standard_normal(len(search.start))
        assert -search.objective(near)[0] < highest
    true = total_evidence(model, groups)
    assert highest > true
    # Twice the log likelihood ratio is chi-square; five sigma of it.
    assert 2 * (highest - true) < len(slope) + 5 * np.sqrt(2 * len(slope)) + 20


def test_start_does_not_matter(rng):
    truth = BinomialModel(prior=Beta(alpha=3.0, beta=5.0), n_trials=20)
    groups = groups_of(truth, rng)
    found = [
        empirical_bayes(BinomialModel(prior=Beta(alpha=a, beta=b), n_trials=20), groups).prior
        for a, b in [(1.0, 1.0), (0.01, 5.0), (300.0, 10.0)]
    ]
    for other in found[1:]:
        np.testing.assert_allclose([other.alpha, other.beta], [found[0].alpha, found[0].beta], rtol=1e-6)


def test_groups_are_shrunk_towards_each_other(rng):
    model = empirical_bayes(MODELS["Poisson"](), groups := groups_of(MODELS["Poisson"](), rng))
    alone = np.array([float(model.maximum_likelihood(g)) for g in groups])
    together = np.array([float(model.update(g).mean()) for g in groups])
    assert together.std() < alone.std()
    assert np.all(np.abs(together - model.mean()) <= np.abs(alone - model.mean()) + 1e-12)


@pytest.mark.parametrize("name", ["Binomial", "Poisson", "NormalMean"])
def test_groups_that_do_not_differ_are_said_to(name):
    model = MODELS[name]()
    groups = [model.summarize(rows) for rows in ([3.0, 4.0, 5.0], [4.0, 4.0, 4.0], [5.0, 4.0, 3.0])]
    with pytest.warns(RuntimeWarning, match="no finite prior"):
        best = empirical_bayes(model, groups)
    assert float(best.prior.stddev) < 1e-2 * float(model.prior.stddev)


def test_empty_groups_say_nothing(rng):
    model = MODELS["NormalMean"]()
    groups = groups_of(model, rng)
    nothing = model.summarize(np.zeros(0))
    a, b = empirical_bayes(model, groups), empirical_bayes(model, [nothing, *groups])
    np.testing.assert_allclose([a.prior.mean, a.prior.variance], [b.prior.mean, b.prior.variance], rtol=1e-9)
    for make in MODELS.values():
        with pytest.raises(ValueError, match="statistics"):
            empirical_bayes(make(), [_no_rows(make())])


def _no_rows(model):
    return model.summarize(model.likelihood(model.mean()).sample(0))


def test_models_without_a_search_say_so():
    vector = NormalMeanModel(prior=MultivariateNormal(mean=[0.0], covariance=[[1.0]]), covariance=[[1.0]])
    matrix = NormalPrecisionModel(prior=Wishart(dof=3.0, scale=[[1.0]]), known_mean=[0.0])
    both = NormalModel(prior=NormalGamma(mean=0.0, strength=1.0, shape=1.0, rate=1.0))
    for model in (vector, matrix, both):
        with pytest.raises(ValueError, match="searched"):
            empirical_bayes(model, [model.summarize([[1.0], [2.0]])])
