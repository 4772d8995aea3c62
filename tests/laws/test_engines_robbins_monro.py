"""Stochastic approximation: it converges when its conditions hold, and each condition matters."""

import numpy as np
import pytest

from tractable.engines import StepSize, robbins_monro, sequential_mle


@pytest.mark.spec("SEQ-09", "SEQ-01", "W-15")
@pytest.mark.parametrize("start", [123.0, -1e6, 0.0])
def test_the_gaussian_mean_is_the_recursive_mean_exactly(start, rng):
    x = 4.2 + 2.0 * rng.standard_normal(300)
    found = sequential_mle(lambda mean, x: (x - mean) / 4.0, start, x, step=StepSize(scale=4.0))
    np.testing.assert_allclose(found.x, x.mean(), rtol=1e-9)
    running = np.cumsum(x) / np.arange(1, 301)
    np.testing.assert_allclose(found.history[1:], running, rtol=1e-9, atol=1e-9)


@pytest.mark.spec("SEQ-03", "SEQ-04", "E003-07")
def test_noise_is_averaged_away(rng):
    # f(x) = 2 (x - 3): with steps a/N the estimate has asymptotic variance a² σ² / (2 a f' - 1) / N.
    n, a, slope, sigma = 20_000, 1.0, 2.0, 1.0
    found = robbins_monro(
        lambda x: slope * (x - 3.0) + sigma * rng.standard_normal(), 0.0, n_steps=n, step=StepSize(scale=a)
    )
    error = np.sqrt(a**2 * sigma**2 / (2 * a * slope - 1) / n)
    assert abs(found.x - 3.0) < 5 * error
    assert found.n_steps == n


@pytest.mark.spec("E003-07")
def test_the_other_sign_runs_away(rng):
    away = robbins_monro(lambda x: -(x - 3.0), 0.0, n_steps=200, step=StepSize(power=0.6))
    assert abs(away.x - 3.0) > 1e3


@pytest.mark.slow
@pytest.mark.spec("SEQ-05")
def test_each_condition_on_the_steps_matters(rng):
    n = 4_000
    noise = rng.standard_normal((40, n))

    def ends(**options):
        step = StepSize(unchecked=True, **options)
        runs = []
        for row in noise:
            it = iter(row)
            runs.append(robbins_monro(lambda x, it=it: x - 3.0 + next(it), 0.0, n_steps=n, step=step).x)
        return np.array(runs)

    good = ends(power=1.0)
    restless = ends(scale=0.5, power=0.0)  # Σ a² diverges: the noise never dies out
    tired = ends(power=2.0, scale=0.1)  # Σ a converges: the root is out of reach
    assert good.std() < 0.05
    assert restless.std() > 10 * good.std()
    assert abs(tired.mean() - 3.0) > 1.0


@pytest.mark.spec("SEQ-05")
@pytest.mark.parametrize(
    "bad", [{"power": 0.5}, {"power": 1.01}, {"power": np.nan}, {"scale": 0.0}, {"offset": -1.0}]
)
def test_steps_that_do_not_converge_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        StepSize(**bad)


@pytest.mark.spec("SEQ-06")
def test_noise_without_a_variance_is_not_averaged_away(rng):
    def spread(noise):
        ends = []
        for row in noise:
            it = iter(row)
            ends.append(robbins_monro(lambda x, it=it: x + next(it), 0.0, n_steps=len(row)).x)
        return np.median(np.abs(ends))

    shapes = (40, 60), (40, 600)
    normal = [spread(rng.standard_normal(shape)) for shape in shapes]
    cauchy = [spread(rng.standard_cauchy(shape)) for shape in shapes]
    assert normal[1] < normal[0] / 2
    assert cauchy[1] > cauchy[0] / 2  # the mean of Cauchy draws is as wild as one of them


@pytest.mark.spec("SEQ-07", "SEQ-08")
def test_the_score_leads_to_the_maximum_of_the_likelihood(rng):
    # Poisson: ∂ log p / ∂ rate = x / rate - 1; information 1 / rate, so steps rate / N are near optimal.
    x = rng.poisson(5.0, 10_000)
    found = sequential_mle(
        lambda rate, x: x / max(float(rate), 0.1) - 1.0, 2.0, x, step=StepSize(scale=5.0, offset=10.0)
    )
    assert abs(found.x - x.mean()) < 5 * np.sqrt(5.0 / len(x))


def test_what_is_no_longer_finite_is_said():
    with pytest.raises(ValueError, match="no longer finite"):
        robbins_monro(lambda x: -(x**3), 10.0, n_steps=200)
    with pytest.raises(ValueError, match="n_steps"):
        robbins_monro(lambda x: x, 0.0, n_steps=0)
