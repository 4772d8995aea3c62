"""Windows of one width, and volumes of K neighbours, where rows are dense and where they are sparse."""

import numpy as np
import pytest

import tractable

TRUTH = tractable.Mixture(weights=[0.5, 0.5], components=tractable.Normal(mean=[0.0, 6.0], stddev=[0.1, 2.0]))
PLACES = np.array([[0.0], [10.0]])  # the middle of a crowd, and a tail
REPEATS = 200


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return [TRUTH.sample(500, rng=rng)[:, None] for _ in range(REPEATS)]


def relative(model, samples):
    """Mean, its standard error, and spread of estimates at the places, in parts of the truth."""
    found = np.array([np.exp(model.fit(rows).score_samples(PLACES)) for rows in samples])
    found = found / TRUTH.prob(PLACES[:, 0])
    return found.mean(axis=0), found.std(axis=0) / REPEATS**0.5, found.std(axis=0)


@pytest.mark.spec("DENS-21")
def test_one_bandwidth_smooths_crowds_and_follows_single_rows(samples):
    mean, error, spread = relative(tractable.KernelDensity(bandwidth=0.3), samples)
    assert mean[0] + 5 * error[0] < 0.5  # smoothed away
    assert spread[1] > 2.0 * spread[0]  # in the tail every row is a bump


@pytest.mark.spec("DENS-21")
def test_neighbours_are_as_noisy_as_their_number_whatever_the_density(samples):
    _, _, spread = relative(tractable.NearestNeighborDensity(30), samples)
    # The spread of a standard deviation of 200 draws is 5 %; K/V varies by 1/sqrt(K - 2) of itself.
    np.testing.assert_allclose(spread, 1.0 / np.sqrt(28.0), rtol=0.25)
    height = TRUTH.prob(PLACES[:, 0])
    assert (spread * height)[0] > 50 * (spread * height)[1]  # so it is dense regions that look noisy


@pytest.mark.spec("DENS-21")
def test_more_neighbours_are_smoother_and_more_biased(samples):
    few, many = (relative(tractable.NearestNeighborDensity(k), samples) for k in (30, 200))
    assert many[2][0] < 0.5 * few[2][0]
    assert abs(many[0][0] - 1.0) - 5 * many[1][0] > abs(few[0][0] - 1.0) + 5 * few[1][0]
