"""The E-step on moments of patterns, as stacks of matrices, is that of the rows taken one by one."""

import numpy as np
import pytest

from longdouble_mixture import pattern_sums
from tractable.engines import incomplete_gaussian
from tractable.engines.incomplete_gaussian import CompletionStep, PatternMoments, SharedGaussians
from tractable.primitives.em import unpacked
from tractable.statistics import IncompleteMoments, Standardizer


@pytest.fixture(autouse=True)
def _always_compiled():
    """There is one form of the engine; the moments of single rows are not to compile."""


def problem(rng, n, d, missing=0.3, repeats=True):
    """Rows with gaps, a mean and a covariance; some patterns have many rows, and some one row alone."""
    x = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    gaps = rng.random((n, d)) < missing
    if repeats:
        gaps[: n // 2] = gaps[rng.integers(0, 4, n // 2)]
    a = rng.standard_normal((d, d))
    return np.where(gaps, np.nan, x), rng.standard_normal(d), a @ a.T + 0.3 * np.eye(d)


def completed(statistics, means, covariance):
    """The E-step on statistics of columns that are taken as they are."""
    as_they_are = Standardizer.identity(len(covariance))
    patterns = [PatternMoments.of(statistic, as_they_are) for statistic in statistics]
    return CompletionStep(params=SharedGaussians(means=means, covariance=covariance))(patterns)


def exact_moments(x, w, mean, covariance):
    """Weight, mean, scatter about it, and log-likelihood, from sums in extended precision."""
    (sums,), evidence = pattern_sums(x, w, np.zeros(1), mean[None], covariance[None])
    d = len(mean)
    weight = np.asarray(w, np.longdouble)[np.isfinite(x).any(axis=1)].sum()
    step = sums[1 : 1 + d] / weight
    scatter = unpacked(sums[None, 1 + d :], d)[0] - weight * np.outer(step, step)
    return float(weight), np.asarray(mean + step, float), np.asarray(scatter, float), float(evidence)


def assert_exact(found, expected, tol=1e-12):
    (moments,), (weight, mean, scatter, evidence) = found.moments, expected
    size = np.sqrt(np.outer(scatter.diagonal(), scatter.diagonal()))
    np.testing.assert_allclose(moments.weight, weight, rtol=1e-14)
    assert np.all(np.abs(moments.mean - mean) <= tol * (np.abs(mean) + np.sqrt(scatter.diagonal() / weight)))
    assert np.all(np.abs(moments.scatter - scatter) <= tol * size)
    np.testing.assert_array_equal(moments.scatter, moments.scatter.T)
    assert found.objective == pytest.approx(evidence, rel=tol)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (40, 1), (40, 2), (120, 4), (60, 12), (40, 70)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("entries", [incomplete_gaussian.ENTRIES, 1], ids=["whole", "sliced"])
def test_patterns_in_stacks_are_rows_one_by_one(n, d, weighted, entries, rng, monkeypatch):
    monkeypatch.setattr(incomplete_gaussian, "ENTRIES", entries)
    x, mean, covariance = problem(rng, n, d)
    x[0, 0] = 0.5  # something is observed
    w = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    found = completed([IncompleteMoments.of(x, w)], mean[None], covariance)
    assert_exact(found, exact_moments(x, w, mean, covariance))


@pytest.mark.parametrize("condition", [1e4, 1e8, 1e12])
def test_covariances_near_singular_keep_their_digits(condition, rng):
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    spread = turn * np.logspace(0.0, -0.5 * np.log10(condition), 5)
    x = rng.standard_normal((150, 5)) @ spread.T
    x[rng.random(x.shape) < 0.25] = np.nan
    covariance = spread @ spread.T
    found = completed([IncompleteMoments.of(x)], np.zeros((1, 5)), 0.5 * (covariance + covariance.T))
    expected = exact_moments(x, np.ones(150), np.zeros(5), 0.5 * (covariance + covariance.T))
    # A covariance is known to eps, and its inverse to eps times its condition.
    assert_exact(found, expected, 1e-15 * condition + 1e-13)


def test_rows_of_nothing_count_for_nothing(rng):
    x, mean, covariance = problem(rng, 50, 3)
    more = np.vstack([np.full((4, 3), np.nan), x])
    few, found = (completed([IncompleteMoments.of(a)], mean[None], covariance) for a in (x, more))
    np.testing.assert_array_equal(found.moments[0].scatter, few.moments[0].scatter)
    assert found.moments[0].weight == few.moments[0].weight
    assert found.objective == few.objective


def test_each_gaussian_completes_its_own_rows(rng):
    x, mean, covariance = problem(rng, 90, 4)
    means, parts = np.stack([mean, mean + 1.0, -mean]), np.split(x, [30, 50])
    together = completed([IncompleteMoments.of(part) for part in parts], means, covariance)
    alone = [
        completed([IncompleteMoments.of(part)], m[None], covariance)
        for part, m in zip(parts, means, strict=True)
    ]
    assert together.objective == pytest.approx(sum(a.objective for a in alone))
    for one, other in zip(together.moments, alone, strict=True):
        np.testing.assert_array_equal(one.scatter, other.moments[0].scatter)
        np.testing.assert_array_equal(one.mean, other.moments[0].mean)


def test_a_singular_covariance_has_jitter(rng):
    x, mean, covariance = problem(rng, 60, 4)
    x[:, 0] = rng.standard_normal(60)  # something is observed in every row without the last column too
    x[:, 3] = np.where(np.isnan(x[:, 3]), np.nan, mean[3])
    covariance[3] = covariance[:, 3] = 0.0
    found = completed([IncompleteMoments.of(x)], mean[None], covariance)
    three = completed([IncompleteMoments.of(x[:, :3])], mean[None, :3], covariance[:3, :3])
    np.testing.assert_allclose(found.moments[0].scatter[:3, :3], three.moments[0].scatter, rtol=1e-10)
    np.testing.assert_allclose(found.moments[0].scatter[3], 0.0, atol=1e-12)
    assert found.moments[0].mean[3] == mean[3]


def test_stacks_hold_no_more_than_the_statistic(rng):
    x, *_ = problem(rng, 400, 40, repeats=False)
    x[:200, :30] = np.nan
    statistic = IncompleteMoments.of(x)
    stacks = PatternMoments.of(statistic, Standardizer.identity(40)).stacks
    factors = [stack.columns.shape[0] * stack.columns.shape[1] ** 2 for stack in stacks]
    assert max(factors) <= incomplete_gaussian.ENTRIES
    assert sum(factors) <= 1.5 * sum(len(observed) ** 2 for observed in statistic.parts)


def test_extrapolated_em_is_monotone_and_ends_where_em_does(rng, monkeypatch):
    x, *_ = problem(rng, 200, 5, missing=0.4)
    x[:, 4] = np.where(np.isnan(x[:, 4]), np.nan, 3.0)  # a constant column does not end extrapolation
    statistics = [IncompleteMoments.of(x[:120]), IncompleteMoments.of(x[120:])]
    far, quick = incomplete_gaussian.fit_incomplete(statistics, tol=1e-14, max_iter=2000)
    monkeypatch.setattr(incomplete_gaussian, "extrapolate", lambda *_: None)
    near, slow = incomplete_gaussian.fit_incomplete(statistics, tol=1e-14, max_iter=2000)
    assert quick.converged
    assert slow.converged
    assert quick.n_iter < 0.6 * slow.n_iter
    assert np.all(np.diff(quick.trace) >= -1e-13 * abs(quick.objective))
    assert quick.objective >= slow.objective - 1e-12 * abs(slow.objective)
    for one, other in zip(far, near, strict=True):
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(one.scatter, other.scatter, rtol=1e-6, atol=1e-6 * other.scatter.max())
