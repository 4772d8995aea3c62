"""Rows with missing entries: log densities by patterns are those of marginal distributions."""

import numpy as np
import pytest

import tractable.primitives
from tractable.distributions import MultivariateNormal
from tractable.primitives.em import group_by_pattern, pattern_scores
from tractable.primitives.em.agnostic import pattern_scores as obvious


@pytest.fixture(autouse=True, params=[0.0, np.inf], ids=["compiled", "stacked"])
def _form(request, monkeypatch, _always_compiled):
    monkeypatch.setattr(tractable.primitives, "COMPILED_WORK", request.param)


def problem(rng, n=200, d=5, k=3):
    x = rng.standard_normal((n, d))
    x[rng.random((n, d)) < 0.3] = np.nan
    x[:3] = np.nan
    a = rng.standard_normal((k, d, d))
    return x, rng.standard_normal((k, d)), a @ a.transpose(0, 2, 1) + 0.3 * np.eye(d)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("part", [None, (0, 1), (37, 150)])
def test_the_compiled_loop_is_the_obvious_one(rng, shared, part):
    x, means, covariances = problem(rng)
    rows = group_by_pattern(x)
    given = covariances[:1] if shared else covariances
    expected = obvious(rows, means, given, *(part or (0, len(x))))
    np.testing.assert_allclose(pattern_scores(rows, means, given, part), expected, rtol=1e-12, atol=1e-12)


def test_a_covariance_without_a_factor_is_said(rng):
    x, means, covariances = problem(rng)
    bad = np.stack([covariances[0], -np.eye(5), covariances[2]])
    rows = group_by_pattern(x)
    for scores in (pattern_scores(rows, means, bad), obvious(rows, means, bad, 0, len(x))):
        assert np.isnan(scores[10:, 1]).all()
        assert np.isfinite(scores[:, [0, 2]]).all()


@pytest.mark.parametrize("scale", [1.0, np.array([1e-100, 1.0, 1e100, 1.0, 1e-50])])
@pytest.mark.parametrize("shared", [False, True])
def test_many_rows_are_measured_as_few_are(rng, shared, scale):
    x, means, covariances = problem(rng)
    x, means = x * scale, means * scale
    covariances = (covariances * scale) * np.broadcast_to(scale, 5)[:, None]
    batch = MultivariateNormal(mean=means, covariance=covariances[0] if shared else covariances)
    one = MultivariateNormal(mean=means[0], covariance=covariances[0])
    for d, rows, shape in ((one, x, (200,)), (batch, x[:, None], (200, 3))):
        found = d._incomplete(rows, "_log_density")
        by_marginals = super(MultivariateNormal, d)._incomplete(rows, "_log_density")
        assert found.shape == shape
        np.testing.assert_allclose(found, by_marginals, rtol=1e-11, atol=1e-11)
    few = np.concatenate([one.log_prob(x[a : a + 10]) for a in range(0, 200, 10)])
    np.testing.assert_allclose(one.log_prob(x), few, rtol=1e-11, atol=1e-11)
    few = np.concatenate([batch.log_prob(x[a : a + 10, None]) for a in range(0, 200, 10)])
    np.testing.assert_allclose(batch.log_prob(x[:, None]), few, rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(one.log_prob(x)[:3], 0.0)


def test_infinity_is_impossible_and_spoils_nothing(rng):
    x, means, covariances = problem(rng)
    d = MultivariateNormal(mean=means, covariance=covariances)
    x[7, :2] = [np.inf, np.nan]
    found = d.log_prob(x[:, None])
    assert np.all(found[7] == -np.inf)
    assert np.isfinite(np.delete(found, 7, axis=0)).all()
