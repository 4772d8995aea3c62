"""Worked examples, limits and edges of conjugate models."""

from dataclasses import is_dataclass

import numpy as np
import pytest

import tractable
from catalogue import CONJUGATE_MODELS
from tractable.arrays.namespace import to_numpy
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
    conjugate_prior,
)
from tractable.distributions import (
    Beta,
    Dirichlet,
    Gamma,
    MultivariateNormal,
    Normal,
    NormalGamma,
    NormalWishart,
    Wishart,
    expectation,
    grid_posterior,
)
from tractable.statistics import Counts, Moments, Totals
from tractable.testing.conjugate_laws import rows_of
from tractable.value import parameters

# The first twenty draws of Matlab's default stream, two batches of N(5, 2²).
DRAWS = 5.0 + 2.0 * np.array(
    [
        [0.5377, 1.8339, -2.2588, 0.8622, 0.3188, -1.3077, -0.4336, 0.3426, 3.5784, 2.7694],
        [-1.3499, 3.0349, 0.7254, -0.0631, 0.7147, -0.2050, -0.1241, 1.4897, 1.4090, 1.4172],
    ]
)
HOURS = np.array([3.0, 5.0, 7.0, 9.0, 10.0])


@pytest.mark.spec("W-06", "DIST-17", "DIST-18", "DIST-19", "DIST-20")
def test_die_with_pseudocounts():
    faces = np.array([1, 3, 5, 4, 4, 6]) - 1
    smoothed = CategoricalModel.from_pseudocounts(np.ones(6)).update_rows(faces)
    expected = np.array([2, 1, 2, 3, 2, 2]) / 12
    np.testing.assert_allclose(smoothed.predictive().probabilities, expected, rtol=1e-15)
    np.testing.assert_allclose(CategoricalModel.laplace(6).update_rows(faces).mean(), expected, rtol=1e-15)
    best = CategoricalModel(prior=Dirichlet(concentration=np.full(6, 2.0)))
    np.testing.assert_allclose(best.update_rows(faces).mode(), expected, rtol=1e-15)
    assert best.maximum_likelihood(best.summarize(faces))[1] == 0.0


@pytest.mark.spec("DIST-19")
def test_pseudocounts_are_map_under_one_more(rng):
    pseudocounts, labels = rng.random(5) * 3, rng.integers(0, 5, 30)
    expected = CategoricalModel.from_pseudocounts(pseudocounts).update_rows(labels).mean()
    best = CategoricalModel.from_pseudocounts(pseudocounts + 1.0).update_rows(labels).mode()
    np.testing.assert_allclose(best, expected, rtol=1e-13)


@pytest.mark.spec("W-07", "DIST-36", "E001-35", "DIST-35")
def test_sequential_mean_with_the_variance_of_each_batch():
    belief = Normal(mean=0.0, variance=1.0)
    found = []
    for batch in DRAWS:
        model = NormalMeanModel(prior=belief, variance=batch.var(ddof=1)).update_rows(batch)
        belief = model.prior
        found.append((float(belief.mean), float(belief.variance)))
    # The second step is printed as 4.0179, 0.2034: the variance was squared once more.
    np.testing.assert_allclose(found, [(2.77347, 0.55614), (4.531049, 0.287335)], atol=5e-6)


@pytest.mark.spec("W-07", "DIST-34", "DIST-35")
def test_sequential_mean_with_known_variance():
    start = NormalMeanModel(prior=Normal(mean=0.0, variance=1.0), variance=4.0)
    first, second = start.trace(start.summarize(batch) for batch in DRAWS)[1:]
    both = start.update_rows(DRAWS.ravel())
    found = [(float(m.prior.mean), float(m.prior.variance)) for m in (first, second, both)]
    expected = [(4.463271, 0.285714), (5.274308, 0.166667), (5.274308, 0.166667)]
    np.testing.assert_allclose(found, expected, atol=5e-7)


@pytest.mark.spec("DIST-34", "DIST-33")
def test_two_forms_of_the_posterior_mean(rng):
    x, noise, mean, variance = rng.normal(3.0, 2.0, 7), 4.0, -1.0, 0.5
    after = NormalMeanModel(prior=Normal(mean=mean, variance=variance), variance=noise).update_rows(x).prior
    np.testing.assert_allclose(
        after.mean, (variance * x.sum() + noise * mean) / (noise + 7 * variance), rtol=1e-14
    )
    np.testing.assert_allclose(after.variance, noise * variance / (noise + 7 * variance), rtol=1e-14)
    vector = NormalMeanModel(
        prior=MultivariateNormal(mean=[mean], covariance=[[variance]]), covariance=[[noise]]
    ).update_rows(x[:, None])
    np.testing.assert_allclose(vector.prior.mean[0], after.mean, rtol=1e-13)
    np.testing.assert_allclose(vector.prior.covariance[0, 0], after.variance, rtol=1e-13)


@pytest.mark.spec("DIST-33", "DIST-55")
def test_vector_mean_in_precisions(rng):
    noise, start = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, -0.2], [-0.2, 3.0]])
    x, mean = rng.normal(size=(9, 2)), np.array([1.0, 2.0])
    prior = MultivariateNormal(mean=mean, covariance=start, names=("a", "b"))
    model = NormalMeanModel(prior=prior, covariance=noise).update_rows(x)
    precision = 9 * np.linalg.inv(noise) + np.linalg.inv(start)
    np.testing.assert_allclose(model.prior.precision, precision, rtol=1e-12)
    weighted = np.linalg.inv(noise) @ x.sum(axis=0) + np.linalg.inv(start) @ mean
    np.testing.assert_allclose(model.mean(), np.linalg.solve(precision, weighted), rtol=1e-12)
    np.testing.assert_allclose(model.predictive().covariance, model.prior.covariance + noise, rtol=1e-13)
    assert model.predictive().names == model.prior.names == ("a", "b")


@pytest.mark.spec("W-23", "DIST-50", "DIST-51")
def test_normal_gamma_on_the_hours():
    prior = NormalGamma(mean=0.0, strength=1.0, shape=2.0, rate=3.0)
    model = NormalModel(prior=prior).update_rows(HOURS)
    found = [
        float(x) for x in (model.prior.location, model.prior.strength, model.prior.shape, model.prior.rate)
    ]
    np.testing.assert_allclose(found, [5.666667, 6.0, 4.5, 38.666667], atol=5e-7)
    predictive = model.predictive()
    assert float(predictive.dof) == 9.0
    np.testing.assert_allclose(predictive.scale**2, 10.024691, atol=5e-7)
    np.testing.assert_allclose(predictive.prob(6.0), 0.121804, atol=5e-7)


@pytest.mark.spec("PROB-26", "PROB-23", "DIST-06")
def test_coin_with_three_tosses():
    """Three heads: ML is certain of a fourth, the prior is not."""
    coin = BernoulliModel(prior=Beta(alpha=2.0, beta=2.0))
    tosses = coin.summarize([1, 1, 1])
    after = coin.update(tosses)
    assert float(coin.maximum_likelihood(tosses)) == 1.0
    assert float(after.mode()) == 4 / 5
    np.testing.assert_allclose(after.mean(), 5 / 7, rtol=1e-15)
    assert float(after.predictive().prob(1)) == float(after.mean())
    # MAP does not need the evidence: the greatest of likelihood times prior.
    p = np.linspace(0.001, 0.999, 999)
    product = 3 * np.log(p) + coin.prior.log_prob(p)
    assert p[np.argmax(product)] == pytest.approx(float(after.mode()), abs=1e-12)


@pytest.mark.spec("DIST-54")
def test_flat_prior_makes_map_maximum_likelihood():
    coin = BernoulliModel(prior=Beta(alpha=1.0, beta=1.0))
    assert float(coin.update_rows([1, 0, 1, 1]).mode()) == 0.75
    labels = [0, 1, 1, 2]
    die = CategoricalModel(prior=Dirichlet(concentration=[1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(
        die.update_rows(labels).mode(), die.maximum_likelihood(die.summarize(labels))
    )
    vague = NormalMeanModel(prior=Normal(mean=0.0, variance=1e16), variance=1.0)
    np.testing.assert_allclose(vague.update_rows([1.0, 4.0]).mode(), 2.5, rtol=1e-14)


@pytest.mark.spec("DIST-55", "DIST-06")
def test_no_data_gives_the_prior_and_all_data_the_frequency():
    coin = BernoulliModel(prior=Beta(alpha=3.0, beta=5.0))
    assert float(coin.update(Totals(weight=0.0, total=np.array(0.0))).mode()) == 1 / 3
    for n in (1e3, 1e6, 1e9):
        after = coin.update(Totals(weight=n, total=np.array(0.7 * n)))
        assert abs(float(after.mode()) - 0.7) < 10 / n


@pytest.mark.spec("E000-06", "DIST-06", "DIST-15")
@pytest.mark.parametrize(
    ("alpha", "beta", "mode"),
    [(3.0, 2.0, 2 / 3), (1.0, 3.0, 0.0), (0.5, 3.0, 0.0), (3.0, 0.5, 1.0), (1.0, 0.5, 1.0), (0.5, 1.0, 0.0)],
)
def test_modes_of_a_probability_at_the_boundary(alpha, beta, mode):
    assert float(BernoulliModel(prior=Beta(alpha=alpha, beta=beta)).mode()) == mode
    pair = CategoricalModel(prior=Dirichlet(concentration=[alpha, beta]))
    np.testing.assert_allclose(pair.mode(), [mode, 1 - mode])


@pytest.mark.spec("E000-06")
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 0.5), (0.5, 0.9)])
def test_no_single_mode_is_said(alpha, beta):
    with pytest.raises(ValueError, match="no single mode"):
        BernoulliModel(prior=Beta(alpha=alpha, beta=beta)).mode()
    with pytest.raises(ValueError, match="no single mode"):
        CategoricalModel(prior=Dirichlet(concentration=[alpha, beta])).mode()


@pytest.mark.spec("E000-13", "DIST-42")
def test_modes_of_a_precision_need_enough_data():
    vague = NormalPrecisionModel(prior=Gamma(shape=0.5, rate=1.0), known_mean=0.0)
    with pytest.raises(ValueError, match="no mode"):
        vague.mode()
    assert float(vague.update_rows([2.0]).mode()) == 0.0
    assert float(vague.update_rows([2.0, 1.0, 1.0]).mode()) == 1.0 / 4.0
    matrix = NormalPrecisionModel(prior=Wishart(dof=2.5, scale=np.eye(2)), known_mean=np.zeros(2))
    with pytest.raises(ValueError, match="no mode"):
        matrix.mode()
    rows = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    after = matrix.update_rows(rows)
    scale = np.linalg.inv(np.eye(2) + rows.T @ rows)
    np.testing.assert_allclose(after.mode(), (2.5 + 3 - 2 - 1) * scale, rtol=1e-12)
    assert float(PoissonModel(prior=Gamma(shape=0.5, rate=1.0)).mode()) == 0.0


@pytest.mark.spec("DIST-42", "DIST-50")
def test_joint_modes_need_enough_data():
    with pytest.raises(ValueError, match="no mode"):
        NormalModel(prior=NormalGamma(mean=0.0, strength=1.0, shape=0.4, rate=1.0)).mode()
    with pytest.raises(ValueError, match="no mode"):
        MultivariateNormalModel(
            prior=NormalWishart(mean=np.zeros(2), strength=1.0, dof=1.5, scale=np.eye(2))
        ).mode()


@pytest.mark.spec("DIST-07", "E000-05")
def test_hyperparameters_by_mean_and_strength():
    coin = BernoulliModel.from_mean_strength(0.3, 10.0)
    np.testing.assert_allclose([coin.prior.alpha, coin.prior.beta], [3.0, 7.0])
    # α / β is the odds, 0.4286.
    np.testing.assert_allclose(coin.mean(), 0.3, rtol=1e-15)
    weak, strong = (BernoulliModel.from_mean_strength(0.3, n).update_rows([1] * 5) for n in (2.0, 100.0))
    assert float(weak.mean()) > float(strong.mean()) > 0.3
    assert BinomialModel.from_mean_strength(0.5, 4.0, n_trials=3).n_trials == 3
    np.testing.assert_allclose(
        CategoricalModel.from_mean_strength([0.2, 0.8], 5.0).prior.concentration, [1, 4]
    )
    np.testing.assert_allclose(PoissonModel.from_mean_strength(3.0, 2.0).mean(), 3.0)
    np.testing.assert_allclose(
        NormalPrecisionModel.from_mean_strength([[2.0, 0.5], [0.5, 1.0]], 4.0, known_mean=[0, 0]).mean(),
        [[2.0, 0.5], [0.5, 1.0]],
    )
    vector = NormalMeanModel.from_mean_strength([1.0, 2.0], 4.0, covariance=np.eye(2))
    np.testing.assert_allclose(vector.prior.covariance, np.eye(2) / 4)
    for bad in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match="mean"):
            BernoulliModel.from_mean_strength(bad, 1.0)
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="strength"):
            BernoulliModel.from_mean_strength(0.5, bad)


@pytest.mark.spec("DIST-50")
def test_a_number_is_a_vector_of_one(rng):
    x = rng.normal(3.0, 2.0, 8)
    number = NormalModel.from_mean_strength(1.0, 3.0, variance=2.0)
    vector = MultivariateNormalModel.from_mean_strength([1.0], 3.0, covariance=[[2.0]])
    np.testing.assert_allclose(
        number.log_evidence(number.summarize(x)), vector.log_evidence(vector.summarize(x)), rtol=1e-12
    )
    ours, theirs = number.update_rows(x).predictive(), vector.update_rows(x[:, None]).predictive()
    np.testing.assert_allclose(ours.log_prob(x), theirs.log_prob(x[:, None]), rtol=1e-11)
    scalar = NormalPrecisionModel.from_mean_strength(0.5, 3.0, known_mean=1.0)
    matrix = NormalPrecisionModel.from_mean_strength([[0.5]], 3.0, known_mean=[1.0])
    np.testing.assert_allclose(
        scalar.log_evidence(scalar.summarize(x)), matrix.log_evidence(matrix.summarize(x)), rtol=1e-12
    )


@pytest.mark.spec("DIST-16", "DIST-08", "DIST-05", "DIST-14")
def test_counts_and_orders_differ_by_the_number_of_orders():
    """The evidence of counts is that of the labels in their order, times how many orders there are."""
    tosses = [1, 0, 0, 1, 0]
    coin, sums = (
        BernoulliModel(prior=Beta(alpha=2.0, beta=1.0)),
        BinomialModel(prior=Beta(alpha=2.0, beta=1.0), n_trials=5),
    )
    ordered, counted = coin.log_evidence(coin.summarize(tosses)), sums.log_evidence(sums.summarize([2]))
    np.testing.assert_allclose(counted - ordered, np.log(10.0), rtol=1e-13)
    labels = [0, 2, 2, 1]
    die = CategoricalModel.laplace(3)
    bag = MultinomialModel.laplace(3, n_trials=4)
    ordered, counted = die.log_evidence(die.summarize(labels)), bag.log_evidence(bag.summarize([[1, 1, 2]]))
    np.testing.assert_allclose(counted - ordered, np.log(12.0), rtol=1e-13)
    # A posterior does not care about orders: totals alone will do.
    np.testing.assert_array_equal(
        bag.update(Totals(weight=1.0, total=np.array([1.0, 1.0, 2.0]))).mean(),
        die.update(Counts(counts=np.array([1.0, 1.0, 2.0]))).mean(),
    )
    with pytest.raises(TypeError, match="CountTotals"):
        bag.log_evidence(Totals(weight=1.0, total=np.array([1.0, 1.0, 2.0])))


@pytest.mark.spec("DIST-53", "PROB-27")
def test_bayes_on_a_grid_and_averages_agree(rng):
    model = PoissonModel(prior=Gamma(shape=3.0, rate=0.5))
    x = np.array([4.0, 7.0, 2.0])
    grid = np.linspace(1e-6, 40.0, 4001)
    numeric = grid_posterior(
        lambda rate: sum(model.likelihood(rate).log_prob(row) for row in x), model.prior, grid
    )
    after = model.update_rows(x)
    np.testing.assert_allclose(numeric.log_evidence, model.log_evidence(model.summarize(x)), rtol=1e-8)
    np.testing.assert_allclose(np.exp(numeric.log_density), after.prior.prob(grid), atol=1e-6)
    averaged = expectation(lambda rate: after.likelihood(rate).prob(5.0), after.prior)
    np.testing.assert_allclose(averaged.value, after.predictive().prob(5.0), rtol=1e-9)
    drawn = expectation(lambda rate: after.likelihood(rate).prob(5.0), after.prior, n_samples=20_000, rng=rng)
    assert abs(drawn.value - after.predictive().prob(5.0)) < 5 * drawn.standard_error


@pytest.mark.spec("DIST-52")
def test_lookup():
    from tractable.distributions import Binomial

    assert conjugate_prior(Binomial, "probability") is BinomialModel
    assert conjugate_prior("MultivariateNormal", "both") is MultivariateNormalModel
    assert conjugate_prior("Normal", "precision").prior_families == (Gamma, Wishart)
    assert conjugate_prior("Poisson") is PoissonModel
    for likelihood, unknown in [("Normal", "median"), ("Laplace", "mean"), (3, None)]:
        with pytest.raises(ValueError, match=r"there are: Bernoulli \(probability\)"):
            conjugate_prior(likelihood, unknown)
    assert conjugate_prior(Normal(mean=0.0, variance=1.0), "mean") is NormalMeanModel
    with pytest.raises(
        ValueError, match="several conjugate models; give unknown, one of 'mean', 'precision'"
    ):
        conjugate_prior("Normal")
    for family, spread in [
        ("Normal", "variance"),
        ("Normal", "stddev"),
        ("MultivariateNormal", "covariance"),
    ]:
        with pytest.raises(ValueError, match=f"^unknown must be .* got '{spread}'.*the 'precision'"):
            conjugate_prior(family, spread)
    with pytest.raises(ValueError, match="no conjugate model of Poisson with unknown 'variance'"):
        conjugate_prior("Poisson", "variance")


@pytest.mark.spec("DIST-35")
def test_a_stream_is_folded_into_a_belief(rng):
    model = MultivariateNormalModel.from_mean_strength([0.0, 0.0], 3.0, covariance=np.eye(2))
    x = rng.normal(size=(500, 2))
    parts = [x[:100], x[100:350], x[350:]]
    streamed = model.update(tractable.fold(model.summarize, parts))
    np.testing.assert_allclose(
        streamed.predictive().log_prob(x), model.update_rows(x).predictive().log_prob(x)
    )


def test_scatter_about_a_known_mean_is_of_that_mean():
    model, other = (
        NormalPrecisionModel(prior=Gamma(shape=1.0, rate=1.0), known_mean=mean) for mean in (0.0, 1.0)
    )
    rows = np.array([0.5, 2.0, -1.0])
    # Moments of the rows about their own mean serve too.
    np.testing.assert_allclose(
        model.update(Moments.of(rows[:, None])).prior.rate, model.update_rows(rows).prior.rate, rtol=1e-14
    )
    for call in (other.update, model.summarize(rows).__add__):
        with pytest.raises(ValueError, match="scatter about"):
            call((model if call == other.update else other).summarize(rows))


def test_weights_have_one_name():
    model, rows, times = PoissonModel(prior=Gamma(shape=3.0, rate=0.5)), [2, 5], [1.0, 3.0]
    by_name = model.summarize(rows, sample_weight=times)
    folded = tractable.fold(model.summarize, np.array(rows)[:, None], weights=np.array(times))
    for statistic in (model.summarize(rows, times), model.summarize(rows, weights=times), folded):
        np.testing.assert_array_equal(statistic.total, by_name.total)
        assert model.log_evidence(statistic) == model.log_evidence(by_name)
    with pytest.raises(ValueError, match="sample_weight and weights"):
        model.summarize(rows, times, weights=times)


def test_refusals_name_what_is_wrong():
    good = Normal(mean=0.0, variance=1.0)
    cases = {
        "exactly one": lambda: NormalMeanModel(prior=good),
        "variance": lambda: NormalMeanModel(prior=good, covariance=np.eye(1)),
        "positive": lambda: NormalMeanModel(prior=good, variance=-1.0),
        "coordinates": lambda: NormalMeanModel(
            prior=MultivariateNormal(mean=[0.0], covariance=[[1.0]]), covariance=np.eye(2)
        ),
        "batch": lambda: BernoulliModel(prior=Beta(alpha=[1.0, 2.0], beta=1.0)),
        "n_trials": lambda: BinomialModel(prior=Beta(alpha=1.0, beta=1.0), n_trials=2.5),
        "at most 1": lambda: BernoulliModel(prior=Beta(alpha=1.0, beta=1.0)).summarize([0, 2]),
        "add up": lambda: MultinomialModel.laplace(2, n_trials=3).summarize([[1, 1]]),
        "known_mean": lambda: NormalPrecisionModel(prior=Gamma(shape=1.0, rate=1.0), known_mean=[0.0]),
        "weight above 0": lambda: BernoulliModel(prior=Beta(alpha=1.0, beta=1.0)).maximum_likelihood(
            Totals.of(np.zeros(0))
        ),
        "2 columns": lambda: NormalMeanModel(
            prior=MultivariateNormal(mean=[0.0, 0.0], covariance=np.eye(2)), covariance=np.eye(2)
        ).update(Moments.of([[1.0]])),
    }
    for message, call in cases.items():
        with pytest.raises(ValueError, match=message):
            call()


def test_models_are_saved_and_loaded(tmp_path, rng):
    for row in CONJUGATE_MODELS:
        model = row.make()
        tractable.save(model, tmp_path / "model.tractable")
        again = tractable.load(tmp_path / "model.tractable")
        x = model.prior.sample(5, rng=rng)
        assert type(again) is type(model)
        np.testing.assert_array_equal(again.prior.log_prob(x), model.prior.log_prob(x))


def in_library(record, backend):
    """The same value with its arrays in another library; structures of covariance included."""
    changed = {}
    for name, x in parameters(record).items():
        if isinstance(x, np.ndarray):
            changed[name] = backend.asarray(x)
        else:
            changed[name] = in_library(x, backend) if is_dataclass(x) else x
    return type(record)(**changed)


@pytest.mark.parametrize("row", CONJUGATE_MODELS, ids=lambda row: row.name)
def test_same_answer_in_every_array_library(row, backend, rng):
    ours = row.make()
    rows, _ = rows_of(ours, 6, rng)
    theirs, given = in_library(ours, backend), backend.asarray(rows)
    statistic = theirs.summarize(given)
    after = theirs.update(statistic)
    for found in (after.mean(), after.mode(), theirs.maximum_likelihood(statistic)):
        for part in found if isinstance(found, tuple) else (found,):
            assert backend.owns(part)
    expected = ours.update_rows(rows)
    np.testing.assert_allclose(
        to_numpy(theirs.log_evidence(statistic)), ours.log_evidence(ours.summarize(rows)), rtol=1e-10
    )
    np.testing.assert_allclose(
        to_numpy(after.predictive().log_prob(given)), expected.predictive().log_prob(rows), rtol=1e-9
    )
