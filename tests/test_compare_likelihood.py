"""Which distribution explains the data best: totals, errors of paired differences, ranking."""

import numpy as np
import pytest

from tractable.distributions import Laplace, MultivariateNormal, Normal, Uniform, compare_likelihood

ROWS = np.random.default_rng(0).normal(1.0, 2.0, 400)


@pytest.mark.spec("PROB-25")
def test_the_larger_likelihood_is_chosen():
    models = {
        "far": Normal(mean=9.0, stddev=2.0),
        "near": Normal(mean=1.1, stddev=2.0),
        "Laplace": Laplace(location=1.0, scale=1.5),
    }
    found = compare_likelihood(models, ROWS)
    totals = {name: d.log_prob(ROWS).sum() for name, d in models.items()}
    np.testing.assert_allclose(found.log_likelihoods, list(totals.values()), rtol=1e-12)
    assert found.best == max(totals, key=totals.get) == "near"
    assert found.ranking == tuple(sorted(totals, key=totals.get, reverse=True))
    assert found.n_rows == 400.0
    each = np.stack([d.log_prob(ROWS) for d in models.values()])
    np.testing.assert_allclose(found.means, each.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(found.standard_errors, each.std(axis=1, ddof=1) / 20.0, rtol=1e-10)
    paired = each - each[1]
    np.testing.assert_allclose(found.differences, paired.sum(axis=1), rtol=1e-10)
    np.testing.assert_allclose(found.difference_errors, paired.std(axis=1, ddof=1) * 20.0, rtol=1e-10)
    # What rows have in common cancels: the difference is known better than either total.
    assert found.difference_errors[2] < found.standard_errors[2] * 400


@pytest.mark.spec("PROB-25")
def test_weights_are_repetitions():
    times = np.arange(len(ROWS)) % 3
    models = [Normal(mean=0.0, variance=4.0), Normal(mean=1.0, variance=4.0)]
    weighted = compare_likelihood(models, ROWS, times.astype(float))
    repeated = compare_likelihood(models, np.repeat(ROWS, times))
    for name in ("log_likelihoods", "means", "standard_errors", "differences", "difference_errors"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-10)


def test_impossible_rows_rank_last_without_warnings():
    box = Uniform(low=-1.0, high=1.0)
    found = compare_likelihood({"box": box, "normal": Normal(mean=0.0, variance=4.0)}, ROWS)
    assert found.ranking == ("normal", "box")
    assert found.log_likelihoods[0] == found.differences[0] == -np.inf
    assert np.isnan(found.difference_errors[0])
    assert "-inf" in str(found)
    only = compare_likelihood({"box": box}, ROWS)
    assert only.differences[0] == 0.0


def test_names_and_rows_of_vectors():
    models = [
        MultivariateNormal(mean=[0.0, 0.0], covariance=np.eye(2)),
        MultivariateNormal(mean=[1.0, 0.0], covariance=np.eye(2)),
    ]
    X = models[1].sample(300, rng=1)
    X[0, 1] = np.nan  # integrated out
    found = compare_likelihood(models, X)
    assert found.best == "MultivariateNormal 2"
    lines = str(found).splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("MultivariateNormal 2")
    mixed = compare_likelihood([Normal(mean=0.0, variance=1.0), Laplace(location=0.0, scale=1.0)], ROWS)
    assert set(mixed.names) == {"Normal", "Laplace"}
    one = compare_likelihood([Normal(mean=0.0, variance=1.0)], ROWS[:1])
    assert np.isnan(one.standard_errors[0])


@pytest.mark.parametrize(
    ("distributions", "data", "named"),
    [
        ([], ROWS, "distributions"),
        ([3.0], ROWS, "distributions"),
        ([Normal(mean=[0.0, 1.0], variance=1.0)], ROWS, "distributions"),
        ([Normal(mean=0.0, variance=1.0)], 3.0, "data"),
        ([Normal(mean=0.0, variance=1.0)], [], "data"),
        ([Normal(mean=0.0, variance=1.0)], [np.nan, 1.0], "data"),
    ],
)
def test_refusals(distributions, data, named):
    with pytest.raises(ValueError, match=named):
        compare_likelihood(distributions, data)
    with pytest.raises(ValueError, match="sample_weight"):
        compare_likelihood([Normal(mean=0.0, variance=1.0)], ROWS, np.ones(3))
