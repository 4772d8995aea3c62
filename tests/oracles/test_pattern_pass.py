"""Rows grouped by what is missing give the sums of EM that rows taken one by one give."""

from functools import partial

import numpy as np
import pytest

import tractable.primitives
from longdouble_mixture import pattern_sums
from quick import some
from tractable.arrays.namespace import to_numpy
from tractable.primitives.em import (
    PRODUCTS,
    SQUARES,
    group_by_pattern,
    n_features,
    pattern_pass,
    whitened_pass,
)
from tractable.primitives.em.agnostic import pattern_pass as obvious
from tractable.primitives.threads import ordered_map


@pytest.fixture(autouse=True, params=[0.0, np.inf], ids=["compiled", "stacked"])
def _form(request, monkeypatch, _always_compiled):
    monkeypatch.setattr(tractable.primitives, "COMPILED_WORK", request.param)


def covariances_of(rng, k, d):
    a = rng.standard_normal((k, d, d))
    return a @ a.transpose(0, 2, 1) + 0.3 * np.eye(d)


def problem(rng, n, d, k, missing=0.3):
    """Rows with gaps, log weights, means and covariances."""
    x = 2.0 * rng.standard_normal((n, d))
    x[rng.random((n, d)) < missing] = np.nan
    return x, np.log(rng.dirichlet(np.ones(k))), rng.standard_normal((k, d)), covariances_of(rng, k, d)


def diagonal_columns(d):
    first, second = np.triu_indices(d)
    return [*range(1 + d), *(1 + d + np.flatnonzero(first == second))]


def close(found, expected, tol=1e-12):
    (sums, evidence), (total, log_p) = found, expected
    np.testing.assert_allclose(
        sums, np.asarray(total, float), rtol=tol, atol=10.0 * tol * max(1.0, np.abs(total).max(initial=0.0))
    )
    np.testing.assert_allclose(evidence, float(log_p), rtol=tol, atol=tol)


SIZES = some([(1, 1, 1), (40, 1, 3), (63, 3, 1), (60, 12, 2), (300, 4, 3), (900, 6, 5)], 4, several=True)


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_equals_obvious_equals_rows_one_by_one(n, d, k, weighted, rng):
    x, *rest = problem(rng, n, d, k)
    w = rng.integers(0, 3, n).astype(float) if weighted else None
    rows = group_by_pattern(x, w)
    found = pattern_pass(rows, rows.weights, *rest)
    assert found[0].shape == (k, n_features(d, PRODUCTS))
    close(found, obvious(rows, rows.weights, *rest, 0, n))
    close(found, pattern_sums(x, np.ones(n) if w is None else w, *rest))


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_independent_columns(n, d, k, weighted, rng):
    x, log_weights, means, _ = problem(rng, n, d, k)
    w = rng.integers(0, 3, n).astype(float) if weighted else None
    variances, rows = rng.uniform(0.3, 3.0, (k, d)), group_by_pattern(x, w)
    found = pattern_pass(rows, rows.weights, log_weights, means, variances)
    assert found[0].shape == (k, n_features(d, SQUARES))
    close(found, obvious(rows, rows.weights, log_weights, means, variances, 0, n))
    full, log_p = pattern_sums(
        x, np.ones(n) if w is None else w, log_weights, means, variances[:, :, None] * np.eye(d)
    )
    close(found, (full[:, diagonal_columns(d)], log_p))


def test_complete_rows_are_an_ordinary_pass(rng):
    x, log_weights, means, covariances = problem(rng, 700, 5, 3, missing=0.0)
    lower = np.linalg.cholesky(covariances)
    whiteners = np.linalg.inv(lower) * np.tri(5)
    constants = log_weights + np.log(np.diagonal(whiteners, axis1=1, axis2=2)).sum(axis=1)
    constants -= 2.5 * np.log(2.0 * np.pi)
    shift, scale = rng.standard_normal(5), rng.uniform(0.5, 2.0, 5)
    rows = group_by_pattern(x, shift=shift, scale=scale)
    close(
        pattern_pass(rows, None, log_weights, means, covariances),
        whitened_pass(x, None, shift, scale, means, whiteners, constants),
    )


def clusters(rng, separation=10.0, condition=1.0, shift=0.0, n=300, d=4, k=3):
    """Rows with gaps of several clusters, two of which overlap, their means and covariances, standardised."""
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    spread = turn * np.logspace(0.0, -0.5 * np.log10(condition), d)
    centres = separation * rng.standard_normal((k, d)) + shift
    centres[1] = centres[0] + spread @ np.r_[3.0, np.zeros(d - 1)]
    x = centres[rng.integers(k, size=n)] + rng.standard_normal((n, d)) @ spread.T
    x[rng.random((n, d)) < 0.25] = np.nan
    middle, scale = np.nanmean(x, axis=0), 1.0 / np.nanstd(x, axis=0)
    covariance = spread @ spread.T * np.outer(scale, scale)
    return (
        (x - middle) * scale,
        (centres - middle) * scale,
        np.tile(0.5 * (covariance + covariance.T), (k, 1, 1)),
    )


HARD = [
    *[pytest.param({"separation": s}, 1e-13, id=f"separation {s:g}") for s in (1e2, 1e4, 1e6, 1e8)],
    *[pytest.param({"shift": s}, 1e-13, id=f"shift {s:g}") for s in (1e4, 1e8)],
    # A covariance is known to eps, and its inverse to eps times its condition.
    *[pytest.param({"condition": c}, 1e-15 * c + 1e-13, id=f"condition {c:g}") for c in (1e4, 1e8, 1e12)],
]


@pytest.mark.parametrize(("hard", "tol"), HARD)
def test_digits_against_extended_precision(hard, tol, rng):
    z, means, covariances = clusters(rng, **hard)
    log_weights, w = np.log([0.2, 0.5, 0.3]), rng.integers(1, 4, len(z)).astype(float)
    rows = group_by_pattern(z, w)
    sums, evidence = pattern_pass(rows, rows.weights, log_weights, means, covariances)
    exact, log_p = pattern_sums(z, w, log_weights, means, covariances)
    # Each second moment beside the variances of its two columns, which separated clusters make tiny.
    sd = np.sqrt(covariances[0].diagonal())
    first, second = np.triu_indices(5)
    unit = np.r_[1.0, sd][first] * np.r_[1.0, sd][second] * w.sum()
    assert np.max(np.abs(sums - exact) / unit) < tol
    assert abs(evidence / log_p - 1.0) < tol


@pytest.mark.slow
def test_every_row_may_have_a_pattern_of_its_own(rng):
    patterns = (np.arange(1024)[:, None] >> np.arange(10)) % 2 == 1
    x = np.where(patterns, rng.standard_normal((1024, 10)), np.nan)[rng.permutation(1024)]
    _, *rest = problem(rng, 1, 10, 2)
    rows = group_by_pattern(x)
    assert len(rows.masks) == 1024
    assert rows.n_empty == 1
    found = pattern_pass(rows, None, *rest)
    close(found, obvious(rows, None, *rest, 0, 1024))
    close(found, pattern_sums(x, np.ones(1024), *rest))


def test_more_columns_than_a_machine_word_has_bits(rng):
    x, *rest = problem(rng, 50, 70, 2, missing=0.1)
    rows = group_by_pattern(x)
    close(pattern_pass(rows, None, *rest), obvious(rows, None, *rest, 0, 50), tol=1e-10)


def test_rows_of_nothing_count_for_nothing(rng):
    x, *rest = problem(rng, 80, 3, 2)
    x[[0, 7, 8, 79]] = np.nan
    rows, some = group_by_pattern(x), group_by_pattern(x[~np.isnan(x).all(axis=1)])
    assert rows.n_empty == int(np.isnan(x).all(axis=1).sum())
    assert some.n_empty == 0
    close(pattern_pass(rows, None, *rest), pattern_pass(some, None, *rest))
    nothing = group_by_pattern(np.full((5, 3), np.nan))
    for covariances in (rest[2], np.ones((2, 3))):
        for apply in (pattern_pass, partial(_all, obvious)):
            sums, evidence = apply(nothing, None, rest[0], rest[1], covariances)
            assert np.all(sums == 0.0)
            assert evidence == 0.0


def _all(apply, rows, *rest):
    return apply(rows, *rest, 0, rows.n_rows)


def test_no_rows(rng):
    _, *rest = problem(rng, 1, 3, 2)
    rows = group_by_pattern(np.empty((0, 3)))
    assert (rows.n_rows, rows.n_empty, rows.parts()) == (0, 0, [])
    sums, evidence = pattern_pass(rows, None, *rest)
    assert np.all(sums == 0.0)
    assert evidence == 0.0


def test_weights_are_repetitions(rng):
    x, log_weights, means, full = problem(rng, 200, 4, 3)
    w = rng.integers(0, 4, 200)
    weighted, repeated = group_by_pattern(x, w.astype(float)), group_by_pattern(np.repeat(x, w, axis=0))
    for covariances in (full, np.ones((3, 4))):
        close(
            pattern_pass(weighted, weighted.weights, log_weights, means, covariances),
            pattern_pass(repeated, None, log_weights, means, covariances),
        )


def test_components_without_weight_are_not_looked_at(rng):
    x, log_weights, means, full = problem(rng, 90, 3, 3)
    rows, keep = group_by_pattern(x), [0, 2]
    log_weights[1], means[1], full[1] = -np.inf, np.nan, np.nan
    variances = np.array([[1.0, 2.0, 3.0], [np.nan] * 3, [0.5, 0.5, 0.5]])
    for covariances in (full, variances):
        for apply in (pattern_pass, partial(_all, obvious)):
            sums, evidence = apply(rows, None, log_weights, means, covariances)
            assert np.all(sums[1] == 0.0)
            expected = apply(rows, None, log_weights[keep], means[keep], covariances[keep])
            close((sums[keep], evidence), expected)


def test_rows_that_no_component_explains_count_for_nothing(rng):
    x, log_weights, means, full = problem(rng, 60, 3, 2)
    far = x.copy()
    far[5] = [1e200, np.nan, 1.0]
    without = group_by_pattern(np.delete(x, 5, axis=0))
    for covariances in (full, np.ones((2, 3))):
        for apply in (pattern_pass, partial(_all, obvious)):
            with np.errstate(over="ignore", invalid="ignore"):
                sums, evidence = apply(group_by_pattern(far), None, log_weights, means, covariances)
            assert evidence == -np.inf
            expected = apply(without, None, log_weights, means, covariances)[0]
            np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-11)


def test_a_covariance_without_a_factor_is_an_error(rng):
    x, log_weights, means, full = problem(rng, 60, 2, 2)
    rows = group_by_pattern(x)
    full[1] = [[1.0, 2.0], [2.0, 1.0]]
    for covariances in (full, np.array([[1.0, 1.0], [1.0, -1.0]])):
        for apply in (pattern_pass, partial(_all, obvious)):
            with pytest.raises(ValueError, match="covariances"):
                apply(rows, None, log_weights, means, covariances)


@pytest.mark.parametrize("budget", [1, 20, 150, 10_000])
def test_parts_cover_all_rows_and_add_up(budget, rng):
    x, *rest = problem(rng, 500, 4, 3)
    w = rng.random(500)
    rows = group_by_pattern(x, w)
    parts = rows.parts(budget)
    assert [a for a, _ in parts] == [0, *(b for _, b in parts[:-1])]
    assert parts[-1][1] == 500
    found = [pattern_pass(rows, rows.weights, *rest, part) for part in parts]
    expected = pattern_pass(rows, rows.weights, *rest)
    close((sum(s for s, _ in found), sum(e for _, e in found)), expected)
    sums, evidence = obvious(rows, rows.weights, *rest, *parts[-1])
    close((sums, evidence), found[-1])


def test_parts_are_of_about_equal_work(rng):
    x, *_ = problem(rng, 5000, 4, 1, missing=0.2)
    parts = group_by_pattern(x).parts(500)
    assert 10 <= len(parts) <= 12
    assert max(b - a for a, b in parts) <= 500


def test_same_bits_whatever_the_number_of_threads(rng):
    x, *rest = problem(rng, 3000, 5, 4)
    rows = group_by_pattern(x)

    def total(n_threads):
        parts = ordered_map(lambda part: pattern_pass(rows, None, *rest, part), rows.parts(200), n_threads)
        sums, evidence = 0.0, 0.0
        for more, log_p in parts:
            sums, evidence = sums + more, evidence + log_p
        return sums, evidence

    one, three = total(1), total(3)
    assert np.array_equal(one[0], three[0])
    assert one[1] == three[1]


def test_grouping_keeps_the_entries_and_their_order(rng):
    x, *_ = problem(rng, 100, 3, 1)
    w = rng.random(100)
    for same in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
        rows = group_by_pattern(same, w)
        entries = x[rows.order]
        np.testing.assert_array_equal(rows.flat, entries[~np.isnan(entries)])
        np.testing.assert_array_equal(rows.weights, w[rows.order])
        assert np.array_equal(np.repeat(rows.masks, np.diff(rows.begins), axis=0), ~np.isnan(entries))


def test_other_array_libraries(backend, rng):
    x, log_weights, means, full = problem(rng, 60, 3, 2)
    w = rng.random(60)
    expected = group_by_pattern(x, w)
    rows = group_by_pattern(backend.asarray(x), backend.asarray(w))
    for covariances in (full, np.ones((2, 3))):
        given = [backend.asarray(a) for a in (log_weights, means, covariances)]
        sums, evidence = pattern_pass(rows, rows.weights, *given)
        assert backend.owns(sums)
        close(
            (to_numpy(sums), float(evidence)),
            obvious(expected, expected.weights, log_weights, means, covariances, 0, 60),
        )
