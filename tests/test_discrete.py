"""Distributions of counts and labels: estimates of the courses, corrected formulas, edges, refusals."""

import itertools

import numpy as np
import pytest

from tractable import fold
from tractable.arrays.namespace import to_numpy
from tractable.distributions import (
    Bernoulli,
    BetaBinomial,
    Binomial,
    Categorical,
    DirichletMultinomial,
    Empirical,
    Multinomial,
    Poisson,
    one_hot,
)
from tractable.statistics import Counts, Totals
from tractable.testing import check_persistence

DIE = np.array([1, 3, 5, 4, 4, 6]) - 1


@pytest.mark.spec("DIST-17", "DIST-18", "DIST-20", "W-06")
def test_die_with_pseudocounts():
    expected = [1 / 6, 1 / 12, 1 / 6, 1 / 4, 1 / 6, 1 / 6]
    for smoothed in (
        Categorical.fit(DIE, pseudocounts=np.ones(6)),
        Categorical.fit(DIE, pseudocounts=1.0),
        Categorical.fit(DIE, smoothing="laplace"),
    ):
        np.testing.assert_allclose(smoothed.probabilities, expected, rtol=1e-15)
    assert float(Categorical.fit(DIE).prob(1)) == 0.0


@pytest.mark.spec("DIST-17")
def test_pseudocounts_are_counted_in_advance(rng):
    x, c = rng.integers(0, 4, 30), np.array([0.5, 2.0, 0.0, 7.0])
    n = np.bincount(x, minlength=4)
    fitted = Categorical.fit(x, pseudocounts=c)
    np.testing.assert_allclose(fitted.probabilities, (c + n) / (30 + c.sum()), rtol=1e-15)
    # Whole pseudocounts are the same as labels seen before.
    seen = np.concatenate([x, np.repeat(np.arange(4), [1, 2, 0, 7])])
    same = Categorical.fit(x, pseudocounts=[1, 2, 0, 7])
    np.testing.assert_allclose(same.probabilities, Categorical.fit(seen).probabilities, rtol=1e-15)


@pytest.mark.spec("DIST-10")
def test_likelihood_of_labels_comes_from_their_counts(rng):
    d = Categorical(probabilities=[0.2, 0.5, 0.3])
    x = d.sample(50, rng=rng)
    counts = Counts.of(x).counts
    np.testing.assert_allclose(d.log_prob(x).sum(), counts @ np.log(d.probabilities), rtol=1e-13)
    np.testing.assert_allclose(d.prob(x), np.prod(d.probabilities ** one_hot(x, 3), axis=-1), rtol=1e-15)


@pytest.mark.spec("DIST-02")
def test_the_share_of_ones_has_no_slope(rng):
    x = rng.random(40) < 0.3
    fitted = Bernoulli.fit(x)
    assert float(fitted.probability) == x.mean()

    def likelihood(p):
        return Bernoulli(probability=p).log_prob(x).sum()

    p, h = x.mean(), 1e-6
    assert abs(likelihood(p + h) - likelihood(p - h)) / (2 * h) < 1e-5
    assert likelihood(p + h) + likelihood(p - h) < 2 * likelihood(p)


@pytest.mark.spec("DIST-11", "MATH-07")
@pytest.mark.parametrize("counts", [[3.0, 1.0, 6.0], [0.0, 5.0, 5.0], [2.5, 0.5, 1.0, 9.0]])
def test_relative_frequencies_solve_the_constrained_problem(counts):
    """An optimiser on the simplex, and the multiplier: n_k / μ_k = λ = N where μ_k > 0."""
    from scipy.optimize import minimize

    n = np.array(counts)
    found = Categorical.from_statistic(Counts(counts=n)).probabilities

    def minus(p):
        return -np.sum(n[n > 0] * np.log(p[n > 0]))

    result = minimize(
        minus,
        np.full(len(n), 1 / len(n)),
        method="SLSQP",
        bounds=[(0.0 if k == 0 else 1e-9, 1.0) for k in n],
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(found, result.x, atol=1e-6)
    multiplier = n.sum()
    seen = found > 0
    np.testing.assert_allclose(n[seen] / found[seen], multiplier, rtol=1e-14)
    assert np.all(n[~seen] <= multiplier)


@pytest.mark.spec("DIST-09", "E000-07")
def test_exponents_are_counts():
    """The printed N!/Π n_k! Π μ_k^(x_k) with one-of-K x is no distribution; with the counts it is."""
    p, N = np.array([0.5, 0.3, 0.2]), 3
    d = Multinomial(n_trials=N, probabilities=p)
    outcomes = [np.array(x) for x in itertools.product(range(N + 1), repeat=3) if sum(x) == N]
    assert abs(sum(float(d.prob(x)) for x in outcomes) - 1.0) < 1e-14

    def ways(x):
        return np.prod(np.arange(1, N + 1)) / np.prod([np.prod(np.arange(1, k + 1)) for k in x])

    printed = sum(ways(x) * np.prod(p ** one_hot(int(np.argmax(x)), 3)) for x in outcomes)
    assert abs(printed - 1.0) > 0.5
    # Of sequences of labels, one in every order of the counts has the categorical's probability.
    sequences = [x for x in itertools.product(range(3), repeat=N) if sorted(x) == [0, 0, 2]]
    together = sum(float(np.exp(Categorical(probabilities=p).log_prob(np.array(x)).sum())) for x in sequences)
    np.testing.assert_allclose(d.prob([2, 0, 1]), together, rtol=1e-14)


@pytest.mark.spec("DIST-09", "DIST-10")
def test_one_trial_is_the_categorical():
    p = [0.5, 0.3, 0.2]
    np.testing.assert_allclose(
        Multinomial(n_trials=1, probabilities=p).log_prob(one_hot([0, 1, 2])),
        Categorical(probabilities=p).log_prob([0, 1, 2]),
        rtol=1e-14,
    )


@pytest.mark.spec("DIST-16")
def test_next_label_after_counts():
    """(n_k + α_k) / (N + Σ α), one trial at a time and in batches."""
    n, a = np.array([3.0, 0.0, 2.0]), np.array([1.0, 0.5, 2.0])
    nexts = DirichletMultinomial(n_trials=1, concentration=n + a).prob(np.eye(3))
    np.testing.assert_allclose(nexts, (n + a) / (n + a).sum(), rtol=1e-14)
    both = DirichletMultinomial(n_trials=2, concentration=n + a).prob([1, 1, 0])
    first = nexts[0] * DirichletMultinomial(n_trials=1, concentration=n + a + [1, 0, 0]).prob([0, 1, 0])
    second = nexts[1] * DirichletMultinomial(n_trials=1, concentration=n + a + [0, 1, 0]).prob([1, 0, 0])
    np.testing.assert_allclose(both, first + second, rtol=1e-14)


@pytest.mark.slow
@pytest.mark.spec("DIST-08")
def test_beta_binomial_is_the_binomial_averaged_over_its_probability():
    from scipy.integrate import quad
    from scipy.stats import beta

    d, k = BetaBinomial(n_trials=9, alpha=2.5, beta=1.5), np.arange(10)
    for j in k:
        one, _ = quad(
            lambda p, j=j: Binomial(n_trials=9, probability=p).prob(j) * beta(2.5, 1.5).pdf(p), 0, 1
        )
        np.testing.assert_allclose(d.prob(j), one, rtol=1e-9)


@pytest.mark.spec("PROB-15")
def test_relative_frequencies(rng):
    x = rng.integers(0, 5, 60)
    by_label, by_value = Categorical.fit(x), Empirical(values=x)
    expected = np.bincount(x) / 60
    np.testing.assert_allclose(by_label.probabilities, expected, rtol=1e-14)
    np.testing.assert_allclose(by_value.prob(np.arange(5)), expected, rtol=1e-14)
    np.testing.assert_allclose(by_value.masses.sum(), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(by_value.atoms, np.unique(x))


def test_weighted_samples():
    d = Empirical(values=[3.0, 1.0, 1.0, 7.0], weights=[1.0, 1.0, 2.0, 0.0])
    np.testing.assert_allclose(d.prob([1.0, 3.0, 7.0, 2.0]), [0.75, 0.25, 0.0, 0.0])
    assert np.isnan(d.log_prob(np.nan))
    np.testing.assert_array_equal(d.atoms, [1.0, 3.0])
    np.testing.assert_array_equal(d.icdf([0.0, 0.75, 0.76, 1.0]), [1.0, 1.0, 3.0, 3.0])
    np.testing.assert_array_equal(d.cdf([0.0, 1.0, 2.9, 3.0, np.inf]), [0.0, 0.75, 0.75, 1.0, 1.0])
    assert d.support == (1.0, 3.0)
    assert float(d.mode) == 1.0
    assert float(d.mean) == 1.5
    assert float(Empirical(values=[0.0, 1.0]).kl_divergence(Empirical(values=[0.0, 2.0]))) == np.inf


def test_covariance_of_a_sample(rng):
    x, w = rng.standard_normal((40, 3)), rng.integers(0, 4, 40)
    d = Empirical(values=x, weights=w)
    np.testing.assert_allclose(d.mean, np.average(x, axis=0, weights=w), rtol=1e-12)
    np.testing.assert_allclose(d.covariance, np.cov(x.T, fweights=w, ddof=0), rtol=1e-12, atol=1e-14)
    assert not hasattr(d, "cdf")


def test_learning_is_a_fold(rng):
    """A family's statistic of streamed blocks gives the fit of all rows at once."""
    x = rng.poisson(3.0, (1000, 2)).astype(float)
    w = rng.integers(0, 3, 1000).astype(float)
    cases = [
        (Poisson, {}, x),
        (Binomial, {"n_trials": 40}, x),
        (Bernoulli, {}, (x > 3).astype(float)),
        (Categorical, {"n_classes": 20}, x),
        (Multinomial, {"n_trials": 7}, rng.multinomial(7, [0.2, 0.8], 1000).astype(float)),
    ]
    for family, known, rows in cases:
        streamed = family.from_statistic(fold(family.statistic.of, rows, weights=w, rows=64), **known)
        at_once = family.fit(rows, w, **known)
        np.testing.assert_allclose(streamed.mean, at_once.mean, rtol=1e-13)
        np.testing.assert_allclose(streamed.variance, at_once.variance, rtol=1e-13)


@pytest.mark.parametrize("n_trials", [5, 60])
def test_fitted_concentrations_have_no_slope(n_trials, rng):
    d = DirichletMultinomial(n_trials=n_trials, concentration=[0.7, 2.0, 4.0])
    x = d.sample(400, rng=rng)
    fitted = DirichletMultinomial.fit(x)
    best = fitted.log_prob(x).sum()
    for step in np.concatenate([np.eye(3), -np.eye(3)]) * 1e-4:
        moved = DirichletMultinomial(n_trials=n_trials, concentration=fitted.concentration * np.exp(step))
        slope = (moved.log_prob(x).sum() - best) / 1e-4
        assert -0.1 < slope <= 1e-6
    pair = BetaBinomial.fit(x[:, 0], n_trials=n_trials)
    both = DirichletMultinomial.fit(np.stack([x[:, 0], n_trials - x[:, 0]], axis=-1))
    np.testing.assert_allclose([pair.alpha, pair.beta], both.concentration, rtol=1e-8)


def test_concentrations_that_have_no_fit_are_refused():
    with pytest.raises(ValueError, match="X is no more spread out"):
        BetaBinomial.fit([3.0, 3.0, 2.0, 3.0], n_trials=6)
    with pytest.raises(ValueError, match="X has one category alone"):
        BetaBinomial.fit([0.0, 6.0, 6.0], n_trials=6)
    with pytest.raises(ValueError, match="X must have a count in every category"):
        BetaBinomial.fit([0.0, 0.0, 0.0], n_trials=6)
    with pytest.raises(ValueError, match="X is no more spread out"):
        DirichletMultinomial.fit([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])


MODES = [
    (Bernoulli(probability=0.5), 0.0),
    (Bernoulli(probability=1.0), 1.0),
    (Binomial(n_trials=9, probability=0.5), 4.0),  # 4 and 5
    (Binomial(n_trials=9, probability=1.0), 9.0),
    (Binomial(n_trials=9, probability=0.0), 0.0),
    (Poisson(rate=4.0), 3.0),  # 3 and 4
    (Poisson(rate=0.0), 0.0),
    (Categorical(probabilities=[0.4, 0.2, 0.4]), 0.0),
    (BetaBinomial(n_trials=8, alpha=1.0, beta=1.0), 0.0),
    (BetaBinomial(n_trials=8, alpha=0.5, beta=0.4), 8.0),
    (BetaBinomial(n_trials=8, alpha=3.0, beta=0.4), 8.0),
    (Multinomial(n_trials=2, probabilities=[0.5, 0.5]), [1.0, 1.0]),
    (Multinomial(n_trials=1, probabilities=[0.0, 0.5, 0.5]), [0.0, 1.0, 0.0]),
    (DirichletMultinomial(n_trials=5, concentration=[0.5, 0.9, 0.9]), [0.0, 5.0, 0.0]),
    (DirichletMultinomial(n_trials=5, concentration=[0.5, 3.0, 2.0]), [0.0, 4.0, 1.0]),
]


@pytest.mark.parametrize(("d", "mode"), MODES)
def test_modes(d, mode):
    np.testing.assert_array_equal(d.mode, mode)


@pytest.mark.parametrize("K", [2, 3, 4])
def test_modes_of_count_vectors_are_the_greatest(K, rng):
    everything = [x for x in itertools.product(range(8), repeat=K) if sum(x) == 7]
    for _ in range(30):
        a = rng.gamma(1.5, size=K)
        for d in (
            Multinomial(n_trials=7, probabilities=a / a.sum()),
            DirichletMultinomial(n_trials=7, concentration=a),
        ):
            assert float(d.log_prob(d.mode)) >= d.log_prob(np.array(everything)).max() - 1e-12


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_outcomes(p):
    for d, sure in (
        (Bernoulli(probability=p), p),
        (Binomial(n_trials=6, probability=p), 6 * p),
        (Categorical(probabilities=[1.0 - p, p]), p),
    ):
        assert np.all(d.sample(20, rng=0) == sure)
        assert float(d.log_prob(sure)) == 0.0
        assert float(d.entropy()) == 0.0
        assert float(d.variance) == 0.0
        assert float(d.cdf(sure)) == 1.0
        assert float(d.kl_divergence(d)) == 0.0
        assert float(d.icdf(0.5)) == sure
        assert float(d.icdf(1.0)) == sure
        assert float(d.log_prob(6 - sure)) == -np.inf


def test_impossible_categories_are_never_drawn():
    d = Multinomial(n_trials=10**9, probabilities=[1 / 3, 0.0, 2 / 3, 0.0])
    assert np.all(d.sample(50, rng=0)[:, [1, 3]] == 0)
    assert float(Categorical(probabilities=[0.3, 0.7, 0.0]).icdf(1.0)) == 1.0
    assert set(Categorical(probabilities=[0.0, 1.0, 0.0]).sample(100, rng=0)) == {1.0}


def test_divergences_between_different_numbers_of_trials():
    few, many = Binomial(n_trials=3, probability=0.4), Binomial(n_trials=7, probability=0.3)
    k = np.arange(4.0)
    expected = np.sum(few.prob(k) * (few.log_prob(k) - many.log_prob(k)))
    np.testing.assert_allclose(few.kl_divergence(many), expected, rtol=1e-12)
    assert float(many.kl_divergence(few)) == np.inf
    never = Binomial(n_trials=7, probability=0.0)
    np.testing.assert_allclose(never.kl_divergence(few), -few.log_prob(0), rtol=1e-12)
    few, many = (BetaBinomial(n_trials=n, alpha=2.0, beta=1.0) for n in (3, 7))
    expected = np.sum(few.prob(k) * (few.log_prob(k) - many.log_prob(k)))
    np.testing.assert_allclose(few.kl_divergence(many), expected, rtol=1e-12)
    assert float(many.kl_divergence(few)) == np.inf
    p = [0.2, 0.8]
    for family, shares in ((Multinomial, "probabilities"), (DirichletMultinomial, "concentration")):
        three, four = (family(n_trials=n, **{shares: p}) for n in (3, 4))
        assert float(three.kl_divergence(four)) == np.inf


def test_counts_of_independent_events_add_up(rng):
    both = Poisson(rate=2.0) + Poisson(rate=0.5)
    k = np.arange(30.0)
    one, other = (Poisson(rate=r).prob(k) for r in (2.0, 0.5))
    np.testing.assert_allclose(both.prob(k), np.convolve(one, other)[:30], rtol=1e-11)


def test_numbers_outside_the_support(rng):
    for d in (
        Binomial(n_trials=5, probability=0.3),
        Poisson(rate=2.0),
        Categorical(probabilities=[0.5, 0.5]),
    ):
        np.testing.assert_array_equal(d.log_prob([-1.0, 0.5, np.inf, -np.inf]), -np.inf)
        assert np.isnan(d.log_prob(np.nan))
        assert np.isnan(d.cdf(np.nan))
    d = Multinomial(n_trials=3, probabilities=[0.5, 0.5])
    np.testing.assert_array_equal(d.log_prob([[1, 1], [1.5, 1.5], [-1, 4], [np.inf, 0]]), -np.inf)
    assert np.isnan(d.log_prob([np.nan, 1.0]))


REFUSED = [
    (lambda: Bernoulli(probability=1.5), "probability must be from 0 to 1"),
    (lambda: Bernoulli(probability=0.5, logit=0.0), "exactly one of probability and logit"),
    (lambda: Bernoulli(logit=np.inf), "logit must be finite"),
    (lambda: Binomial(n_trials=2.5, probability=0.5), "n_trials must be whole"),
    (lambda: Binomial(n_trials=-1, probability=0.5), "n_trials must be whole"),
    (lambda: Binomial(n_trials=3, probability=np.nan), "probability must be"),
    (lambda: Categorical(probabilities=[0.5, 0.4]), "probabilities must be .* add up to 1"),
    (lambda: Categorical(probabilities=[1.5, -0.5]), "probabilities must be from 0 to 1"),
    (lambda: Categorical(probabilities=[]), "probabilities must have"),
    (lambda: Multinomial(n_trials=3, probabilities=[0.5, 0.6]), "probabilities must be"),
    (lambda: Poisson(rate=-1.0), "rate must be"),
    (lambda: Poisson(rate=np.inf), "rate must be"),
    (lambda: BetaBinomial(n_trials=3, alpha=0.0, beta=1.0), "alpha must be positive"),
    (lambda: DirichletMultinomial(n_trials=3, concentration=[1.0, -1.0]), "concentration must be positive"),
    (lambda: DirichletMultinomial(n_trials=3, concentration=[1.0]), "concentration must have"),
    (lambda: Empirical(values=[1.0, np.nan]), "values must be finite"),
    (lambda: Empirical(values=[]), "values must have"),
    (lambda: Empirical(values=[1.0, 2.0], weights=[0.0, 0.0]), "weights must have a positive"),
    (lambda: Empirical(values=[1.0, 2.0], weights=[1.0]), "weights must have shape"),
    (lambda: Bernoulli.fit([0, 2]), "X must be zeros and ones"),
    (lambda: Bernoulli.fit([0.5]), "X must be whole"),
    (lambda: Bernoulli.fit([]), "rows"),
    (lambda: Binomial.fit([3, 9], n_trials=8), "X must not have more successes"),
    (lambda: Binomial.fit([0], n_trials=0), "n_trials must be at least 1"),
    (lambda: Poisson.fit([1.0, np.nan]), "X must be whole"),
    (lambda: Poisson.fit([-1.0]), "X must be whole"),
    (lambda: Categorical.fit([0, 5], n_classes=3), "X has the label 5"),
    (lambda: Categorical.fit([]), "X must have rows"),
    (lambda: Categorical.fit([0], pseudocounts=-1.0), "pseudocounts must be"),
    (lambda: Categorical.fit([0, 1, 2], pseudocounts=[1.0, 1.0]), "X has the label 2"),
    (lambda: Categorical.fit([0], n_classes=3, pseudocounts=[1.0, 1.0]), "pseudocounts must be"),
    (lambda: Categorical.fit([0], smoothing="jeffreys"), "smoothing must be"),
    (lambda: Categorical.fit([0], smoothing="laplace", pseudocounts=2.0), "pseudocounts or smoothing"),
    (lambda: Multinomial.fit([[1, 2], [2, 2]]), "X must have rows that add up"),
    (lambda: Multinomial.fit([[1, 2], [1, 4]]), "X must have rows that add up"),
    (lambda: BetaBinomial.fit([3, 9], n_trials=8), "X must not have more successes"),
    (lambda: Binomial(n_trials=3, probability=0.5).icdf(1.2), "q must be from 0 to 1"),
    (lambda: Bernoulli.from_statistic(Totals.of([3, 2])), "X must be zeros and ones"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_bad_input_is_one_error_that_names_it(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_other_families_are_not_compared():
    with pytest.raises(TypeError, match="other must be a Poisson"):
        Poisson(rate=1.0).kl_divergence(Bernoulli(probability=0.5))
    with pytest.raises(ValueError, match="other must have 2 categories"):
        Categorical(probabilities=[0.5, 0.5]).kl_divergence(Categorical(probabilities=[0.2, 0.3, 0.5]))


def test_shares_are_made_to_add_up():
    p = np.array([1 / 3, 1 / 3, 1 / 3]) * (1 + 1e-9)
    np.testing.assert_allclose(Categorical(probabilities=p).probabilities.sum(), 1.0, rtol=1e-15)
    assert np.all(Categorical(probabilities=[0.25, 0.75]).probabilities == [0.25, 0.75])


def test_saved_and_loaded():
    for d in (
        Bernoulli(logit=[1.0, -1000.0]),
        Categorical(probabilities=[0.1] * 10),
        DirichletMultinomial(n_trials=3, concentration=[1.0, 2.0]),
        Empirical(values=[1.0, 2.0]),
        Empirical(values=[[1.0, 2.0]], weights=[3.0]),
        Counts.of([0, 1, 1]),
    ):
        check_persistence(d)


@pytest.mark.slow
def test_many_of_few_numbers_are_looked_up(backend):
    """A table of the numbers that occur gives what each would give by itself."""
    d = Binomial(n_trials=12, probability=backend.asarray(np.array(0.3)))
    x = Binomial(n_trials=12, probability=0.3).sample(2000, rng=0)
    for name in ("log_prob", "cdf", "survival"):
        together = to_numpy(getattr(d, name)(backend.asarray(x)))
        alone = np.array([float(getattr(d, name)(float(k))) for k in range(13)])
        np.testing.assert_allclose(together, alone[x.astype(int)], rtol=1e-13)
