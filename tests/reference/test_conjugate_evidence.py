"""Log evidence against its textbook formula in eighty digits, from vague priors to sure ones."""

import mpmath as mp
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
)
from tractable.distributions import Beta, Dirichlet, Gamma, Normal, NormalGamma, NormalWishart, Wishart
from tractable.statistics import Counts, Totals

STRENGTHS = [1e-8, 1e-3, 0.7, 20.0, 1e4, 1e8, 1e12]


@pytest.fixture(autouse=True)
def eighty_digits():
    with mp.workdps(80):
        yield


def close(found, exact):
    assert abs(float(mp.mpf(found) - exact)) <= 1e-12 * max(1.0, abs(float(exact)))


def log_beta(*alpha):
    return sum(map(mp.loggamma, alpha)) - mp.loggamma(sum(alpha))


@pytest.mark.spec("DIST-05")
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize(("n", "s"), [(1, 1), (3, 3), (50, 20), (10**6, 7)])
def test_bernoulli(strength, n, s):
    a, b = 0.3 * strength, 0.7 * strength
    model = BernoulliModel(prior=Beta(alpha=a, beta=b))
    exact = log_beta(mp.mpf(a) + s, mp.mpf(b) + n - s) - log_beta(mp.mpf(a), mp.mpf(b))
    close(model.log_evidence(Totals(weight=float(n), total=np.array(float(s)))), exact)


@pytest.mark.spec("DIST-14")
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("counts", [[1.0, 0.0, 0.0], [4.0, 0.0, 9.0], [3e5, 7.0, 1e3]])
def test_categorical(strength, counts):
    alpha = strength * np.array([0.2, 0.5, 0.3])
    model = CategoricalModel(prior=Dirichlet(concentration=alpha))
    before = [mp.mpf(a) for a in alpha]
    after = [a + int(n) for a, n in zip(before, counts, strict=True)]
    close(model.log_evidence(Counts(counts=np.array(counts))), log_beta(*after) - log_beta(*before))


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("rows", [[0], [3, 5, 1], [120, 90, 101, 110]])
def test_poisson(strength, rows):
    a, b = 4.0 * strength, strength
    model = PoissonModel(prior=Gamma(shape=a, rate=b))
    after, rate = mp.mpf(a) + sum(rows), mp.mpf(b) + len(rows)
    exact = mp.loggamma(after) - mp.loggamma(mp.mpf(a)) + mp.mpf(a) * mp.log(b) - after * mp.log(rate)
    close(model.log_evidence(model.summarize(rows)), exact - sum(mp.log(mp.factorial(x)) for x in rows))


SIZES = [1, 40, 10**6, 10**9, 10**12]


@pytest.mark.parametrize("strength", [1e-3, 2.0, 1e4, 1e9])
@pytest.mark.parametrize("n", SIZES)
def test_binomial_and_multinomial_of_many_trials(strength, n):
    shares = [[3 * n // 10, 2 * n // 10], [3 * n // 10 + 7 * n // 10**5, 2 * n // 10], [0, n]]
    rows = [[*x, n - sum(x)] for x in shares]
    ways = [mp.loggamma(n + 1) - sum(mp.loggamma(x + 1) for x in row) for row in rows]
    alpha = strength * np.array([0.3, 0.25, 0.45])
    before = [mp.mpf(a) for a in alpha]
    model = MultinomialModel(prior=Dirichlet(concentration=alpha), n_trials=n)
    for upto in (1, 2, 3):
        after = [a + sum(column) for a, column in zip(before, zip(*rows[:upto], strict=True), strict=True)]
        exact = log_beta(*after) - log_beta(*before) + sum(ways[:upto])
        parts = [model.summarize([row]) for row in rows[:upto]]
        close(model.log_evidence(model.summarize(rows[:upto])), exact)
        close(model.log_evidence(sum(parts[1:], parts[0])), exact)
    two = BinomialModel(prior=Beta(alpha=alpha[0], beta=alpha[1]), n_trials=n)
    x = shares[0][0]
    exact = log_beta(before[0] + x, before[1] + n - x) - log_beta(*before[:2])
    exact += mp.loggamma(n + 1) - mp.loggamma(x + 1) - mp.loggamma(n - x + 1)
    close(two.log_evidence(two.summarize([x])), exact)


def test_uniform_belief_makes_all_numbers_of_successes_as_probable():
    model = BinomialModel(prior=Beta(alpha=1.0, beta=1.0), n_trials=10**9)
    for x in (0, 1, 3 * 10**8, 10**9):
        close(model.log_evidence(model.summarize([x])), -mp.log(10**9 + 1))


@pytest.mark.parametrize("strength", [1e-3, 2.0, 1e4, 1e9])
@pytest.mark.parametrize("n", SIZES)
def test_poisson_of_many_events(strength, n):
    rows = [n, n + n // 10**5, 9 * n // 10, 0]
    a, b = mp.mpf(float(n) * strength), mp.mpf(strength)
    model = PoissonModel(prior=Gamma(shape=float(a), rate=strength))
    for upto in (1, 2, 3, 4):
        after, rate = a + sum(rows[:upto]), b + upto
        exact = mp.loggamma(after) - mp.loggamma(a) + a * mp.log(b) - after * mp.log(rate)
        exact -= sum(mp.loggamma(x + 1) for x in rows[:upto])
        parts = [model.summarize([x]) for x in rows[:upto]]
        close(model.log_evidence(model.summarize(rows[:upto])), exact)
        close(model.log_evidence(sum(parts[1:], parts[0])), exact)


@pytest.mark.spec("DIST-40")
@pytest.mark.parametrize("strength", STRENGTHS)
def test_normal_precision(strength):
    rows, a, b = [0.5, -1.25, 3.0], 0.5 * strength, 0.75 * strength
    model = NormalPrecisionModel(prior=Gamma(shape=a, rate=b), known_mean=0.25)
    shape = mp.mpf(a) + mp.mpf(3) / 2
    rate = mp.mpf(b) + sum((mp.mpf(x) - mp.mpf("0.25")) ** 2 for x in rows) / 2
    exact = mp.loggamma(shape) - mp.loggamma(mp.mpf(a)) + mp.mpf(a) * mp.log(b) - shape * mp.log(rate)
    close(model.log_evidence(model.summarize(rows)), exact - mp.mpf(3) / 2 * mp.log(2 * mp.pi))


def test_precision_about_a_known_mean_far_away():
    known, rows = 1e8 + 0.1, [1e8 + 0.3, 1e8 - 0.7, 1e8 + 1.1]
    exact = mp.mpf(2) + sum((mp.mpf(x) - mp.mpf(known)) ** 2 for x in rows) / 2
    model = NormalPrecisionModel(prior=Gamma(shape=1.0, rate=2.0), known_mean=known)
    parts = [model.summarize([x]) for x in rows]
    for statistic in (model.summarize(rows), parts[0] + parts[1] + parts[2]):
        assert abs(float(mp.mpf(float(model.update(statistic).prior.rate)) / exact - 1)) <= 1e-15
    shape = 1 + mp.mpf(3) / 2
    evidence = mp.loggamma(shape) + mp.log(2) - shape * mp.log(exact) - mp.mpf(3) / 2 * mp.log(2 * mp.pi)
    close(model.log_evidence(model.summarize(rows)), evidence)
    matrix = NormalPrecisionModel(prior=Wishart(dof=2.0, scale=[[0.25]]), known_mean=[known])
    scale = float(matrix.update_rows(rows).prior.scale[0, 0])
    assert abs(float(mp.mpf(scale) * 2 * exact - 1)) <= 1e-14


@pytest.mark.spec("DIST-34")
@pytest.mark.parametrize("variance", [1e-12, 1e-4, 1.0, 1e6, 1e14])
def test_normal_mean(variance):
    rows, noise = [5.5, 4.25, 7.0, 4.0], 2.0
    model = NormalMeanModel(prior=Normal(mean=1.0, variance=variance), variance=noise)
    v, s = mp.mpf(variance), mp.mpf(noise)
    gaps = [mp.mpf(x) - 1 for x in rows]
    squares = sum(g**2 for g in gaps) / s - v * sum(gaps) ** 2 / (s * (s + 4 * v))
    log_det = 3 * mp.log(s) + mp.log(s + 4 * v)
    close(model.log_evidence(model.summarize(rows)), -(4 * mp.log(2 * mp.pi) + log_det + squares) / 2)


@pytest.mark.spec("DIST-50")
@pytest.mark.parametrize("strength", STRENGTHS)
def test_normal(strength):
    rows, m, b = [3.0, 5.0, 7.0, 9.0, 10.0], 1.0, strength
    a, r = 0.5 * strength, 1.5 * strength
    model = NormalModel(prior=NormalGamma(mean=m, strength=b, shape=a, rate=r))
    n, mean = 5, mp.fsum(rows) / 5
    scatter = sum((x - mean) ** 2 for x in map(mp.mpf, rows))
    shape, total = mp.mpf(a) + mp.mpf(n) / 2, mp.mpf(b) + n
    rate = mp.mpf(r) + scatter / 2 + mp.mpf(b) * n / total * (mean - m) ** 2 / 2
    exact = (
        mp.loggamma(shape)
        - mp.loggamma(mp.mpf(a))
        + mp.mpf(a) * mp.log(r)
        - shape * mp.log(rate)
        + mp.log(mp.mpf(b) / total) / 2
        - mp.mpf(n) / 2 * mp.log(2 * mp.pi)
    )
    close(model.log_evidence(model.summarize(rows)), exact)


@pytest.mark.spec("DIST-50")
@pytest.mark.parametrize("strength", STRENGTHS[2:])
def test_multivariate_normal(strength):
    rows = mp.matrix([[1, 2], [3, 2], [2, 5], [0, 1]])
    dof, scale = strength + 1.5, np.array([[1.0, 0.25], [0.25, 0.5]]) / (strength + 1.5)
    prior = NormalWishart(mean=[0.5, 1.0], strength=strength, dof=dof, scale=scale)
    model = MultivariateNormalModel(prior=prior)
    n, b, nu = 4, mp.mpf(strength), mp.mpf(dof)
    before = mp.inverse(mp.matrix(scale.tolist()))
    mean = mp.matrix([sum(rows[:, j]) / n for j in range(2)])
    after = before + b * n / (b + n) * (mean - mp.matrix([0.5, 1])) * (mean - mp.matrix([0.5, 1])).T
    for i in range(n):
        after += (rows[i, :].T - mean) * (rows[i, :].T - mean).T
    exact = (nu * mp.log(mp.det(before)) - (nu + n) * mp.log(mp.det(after))) / 2 + mp.log(b / (b + n))
    exact += sum(mp.loggamma((nu + n - i) / 2) - mp.loggamma((nu - i) / 2) for i in range(2))
    close(
        model.log_evidence(model.summarize(np.array(rows.tolist(), dtype=float))), exact - n * mp.log(mp.pi)
    )
