"""Moments of classes, and scores of normal columns and of categories: compiled, and in the array API."""

from functools import reduce
from operator import add

import mpmath
import numpy as np
import pytest
from scipy.sparse import csr_array

from tractable.arrays import to_numpy
from tractable.primitives.linear import class_moments as full_moments
from tractable.primitives.naive_bayes import (
    category_counts,
    category_scores,
    class_moments,
    class_sums,
    diagonal_scores,
    softmax_rows,
    sparse_class_sums,
)
from tractable.primitives.naive_bayes.agnostic import class_moments as agnostic_moments
from tractable.primitives.naive_bayes.agnostic import diagonal_scores as agnostic_scores
from tractable.primitives.naive_bayes.compiled import category_counts as compiled_counts
from tractable.primitives.naive_bayes.compiled import class_moments as compiled_moments
from tractable.primitives.naive_bayes.compiled import sparse_class_sums as compiled_sums
from tractable.statistics import ByClass, IncompleteMoments
from tractable.statistics.by_class import codes_that_occur
from tractable.statistics.rows import SMALLEST_SQUARES


def rows(rng, shift=0.0, holes=0.0, n=57, d=5, K=4):
    x = rng.standard_normal((n, d)) + shift
    return np.where(rng.random(x.shape) < holes, np.nan, x), rng.integers(0, K - 1, n), K


def by_compiled_code(x, codes, K, w):
    return compiled_moments(x, codes, w, K)


@pytest.mark.parametrize("twin", [by_compiled_code, agnostic_moments])
@pytest.mark.parametrize(("shift", "holes"), [(0.0, 0.0), (1e7, 0.0), (1e7, 0.3), (-1e12, 0.2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_keep_their_digits_far_from_the_origin(twin, shift, holes, weighted, rng):
    x, codes, K = rows(rng, shift, holes)
    w = rng.uniform(0.5, 2.0, len(x)) if weighted else None
    weight, mean, scatter, total = twin(x, codes, K, w)
    one = np.ones(len(x)) if w is None else w
    size = np.nanmax(np.abs(x))
    for k in range(K):  # the last class has no rows
        np.testing.assert_allclose(total[k], one[codes == k].sum(), rtol=1e-14)
        for j in range(x.shape[1]):
            own = (codes == k) & ~np.isnan(x[:, j])
            n, centre, spread = exactly(x[own, j], one[own])
            np.testing.assert_allclose(np.broadcast_to(weight, mean.shape)[k, j], n, rtol=1e-14)
            np.testing.assert_allclose(mean[k, j], centre, rtol=0.0, atol=2.5e-16 * size)
            np.testing.assert_allclose(scatter[k, j], spread, rtol=1e-13)


def exactly(values, weights):
    """Weight, mean and scatter in fifty digits."""
    with mpmath.workdps(50):
        pairs = [(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(values, weights, strict=True)]
        n = mpmath.fsum(b for _, b in pairs)
        centre = mpmath.fsum(a * b for a, b in pairs) / (n or 1)
        return float(n), float(centre), float(mpmath.fsum(b * (a - centre) ** 2 for a, b in pairs))


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_twins_agree_in_every_library(backend, holes, rng):
    x, codes, K = rows(rng, 3.0, holes)
    w = rng.uniform(0.0, 2.0, len(x))
    found = class_moments(*map(backend.asarray, (x, codes)), K, backend.asarray(w))
    assert all(backend.owns(part) for part in found)
    for ours, theirs in zip(found, class_moments(x, codes, K, w), strict=True):
        np.testing.assert_allclose(to_numpy(ours), theirs, rtol=1e-12, atol=1e-13)
    point = rng.standard_normal((K, 5)), rng.uniform(0.5, 2.0, (K, 5)), rng.standard_normal((K, 5))
    scores = diagonal_scores(backend.asarray(x), *map(backend.asarray, point))
    np.testing.assert_allclose(to_numpy(scores), diagonal_scores(x, *point), rtol=1e-12, atol=1e-12)
    shares = softmax_rows(scores)
    assert backend.owns(shares)
    np.testing.assert_allclose(to_numpy(shares), softmax_rows(to_numpy(scores)), rtol=1e-12, atol=1e-15)


def test_categories_are_looked_up_in_every_library(backend, rng):
    sizes = np.array([3, 5, 2])
    starts, tables = np.cumsum([0, *sizes])[:-1], rng.standard_normal((10, 4))
    x = np.column_stack([rng.integers(0, size, 30) for size in sizes]).astype(float)
    x[rng.random(x.shape) < 0.2] = np.nan
    expected = [
        sum((tables[starts[j] + int(v)] for j, v in enumerate(row) if v == v), np.zeros(4))  # noqa: PLR0124
        for row in x
    ]
    np.testing.assert_allclose(category_scores(x, tables, starts), expected, rtol=1e-14)
    np.testing.assert_array_equal(
        category_scores(np.asfortranarray(x), tables, starts), category_scores(x, tables, starts)
    )
    found = category_scores(*map(backend.asarray, (x, tables, starts)))
    assert backend.owns(found)
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-13, atol=1e-14)


def test_any_storage_and_type_is_read(rng):
    x, codes, K = rows(rng)
    frozen = x.copy()
    frozen.setflags(write=False)
    whole = class_moments(x, codes, K)
    point = whole[1], np.ones((K, 5)), np.zeros((K, 5))
    scores = diagonal_scores(x, *point)
    for same in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], frozen):
        np.testing.assert_array_equal(class_moments(same, codes, K)[2], whole[2])
        np.testing.assert_array_equal(diagonal_scores(same, *point), scores)
    np.testing.assert_array_equal(class_moments(x, codes.astype(np.uint8), K)[1], whole[1])
    single = x.astype(np.float32)
    np.testing.assert_allclose(class_moments(single, codes, K)[2], class_moments(single + 0.0, codes, K)[2])
    doubled = class_moments(single.astype(float), codes, K)
    np.testing.assert_allclose(class_moments(single, codes, K)[1], doubled[1], rtol=1e-14)
    assert all(np.all(part == 0) for part in class_moments(x[:0], codes[:0], K))


def test_scores_do_not_cancel_far_from_the_origin(rng):
    means, away = 1e9 + rng.standard_normal((3, 2)), rng.standard_normal((6, 2))
    x = 1e9 + away
    found = diagonal_scores(x, means, np.full((3, 2), 10.0), np.zeros((3, 2)))
    direct = -50.0 * ((x[:, None] - means) ** 2).sum(axis=-1)
    np.testing.assert_allclose(found, direct, rtol=1e-14)
    np.testing.assert_array_equal(agnostic_scores(x, means, np.ones((3, 2)), np.zeros((3, 2))).shape, (6, 3))


def test_shares_of_extreme_scores(rng):
    scores = np.array([[1e4, 1e4 - 1.0], [-1e308, -1e308], [-np.inf, 0.0], [np.inf, 5.0], [-700.0, 0.0]])
    before = scores.copy()
    p = softmax_rows(scores)
    np.testing.assert_array_equal(scores, before)
    expected = [[1 / (1 + np.exp(-1)), 1 / (1 + np.e)], [0.5, 0.5], [0, 1], [1, 0], [np.exp(-700.0), 1]]
    np.testing.assert_allclose(p, expected, rtol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_stored_entries(weighted, rng):
    x = np.where(rng.random((40, 6)) < 0.4, rng.standard_normal((40, 6)), 0.0)
    X, codes = csr_array(x), rng.integers(0, 2, 40)  # the last class has no rows
    w = rng.uniform(0.0, 2.0, 40) if weighted else None
    one = (codes == np.arange(3)[:, None]) * (1.0 if w is None else w)
    out = np.zeros((3, 6))
    compiled_sums(X.data, X.indices.astype(np.uint32), X.indptr, codes, w, out)
    for sums in (sparse_class_sums(X, codes, 3, w), out, class_sums(x, codes, 3, w)):
        np.testing.assert_allclose(sums, one @ x, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_counts_of_categories(weighted, missing, rng):
    x, codes = rng.integers(0, 4, (60, 5)).astype(float), rng.integers(0, 3, 60)
    x[rng.random(x.shape) < missing] = np.nan
    w = rng.uniform(0.0, 2.0, 60) if weighted else None
    one = (codes == np.arange(3)[:, None]) * (1.0 if w is None else w)
    expected = np.stack([one @ (x == c) for c in range(4)], axis=-1)
    out = np.zeros((3, 5, 4))
    compiled_counts(x, codes, w, out)
    for counts in (category_counts(x, codes, 3, w, 4), out):
        np.testing.assert_allclose(counts, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("n_classes", [3, 40])
def test_sums_of_many_rows_are_those_of_few(n_classes, rng):
    x, codes = rng.standard_normal((9000, 8)), rng.integers(0, n_classes, 9000)
    w = rng.uniform(0.5, 2.0, 9000)
    blocks = [slice(i, i + 1000) for i in range(0, 9000, 1000)]
    for weights in (None, w):
        few = sum(
            class_sums(x[at], codes[at], n_classes, None if weights is None else w[at]) for at in blocks
        )
        np.testing.assert_allclose(class_sums(x, codes, n_classes, weights), few, rtol=1e-11, atol=1e-11)


def drawn(case, rng):
    """Rows of four classes, the third without any and the last of one row, that begin far from their mean."""
    x, codes = rng.standard_normal((700, 5)) @ rng.standard_normal((5, 5)), rng.integers(0, 2, 700)
    codes[350] = 3
    if case == "far":
        x += 1e7
    elif case == "drift":  # the first rows of a class are no measure of the others
        x[:100] += 1e6
    elif case == "constant":
        x[:, 1], x[:, 2] = 0.1, np.where(codes == 1, 1e7 + 0.3, x[:, 2])
    elif case == "float32":
        x = x.astype(np.float32)
    return {"columns": np.asfortranarray(x), "strided": np.repeat(x, 2, axis=0)[::2]}.get(case, x), codes


CASES = ["plain", "far", "drift", "constant", "float32", "columns", "strided"]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_classes_are_those_of_their_rows(case, weighted, rng):
    x, codes = drawn(case, rng)
    w = np.where(rng.random(len(x)) < 0.2, 0.0, rng.uniform(0.5, 2.0, len(x))) if weighted else None
    if weighted:
        w[350] = 1.0
    weight, mean, scatter = full_moments(x, codes, 4, w, SMALLEST_SQUARES)
    columns = compiled_moments(x, codes, w, 4)
    for k in (0, 1, 2, 3):
        own = codes == k
        total, centre, expected = direct_moments(x[own], None if w is None else w[own])
        size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        assert np.all(np.abs(scatter[k] - expected) <= 1e-13 * size + 1e-300)
        assert np.all(np.abs(columns[2][k] - np.diag(expected)) <= 1e-13 * np.diag(expected) + 1e-300)
        for found in (mean[k], columns[1][k]):
            np.testing.assert_allclose(found, centre, rtol=1e-14, atol=1e-14 * np.abs(x).max())
        np.testing.assert_allclose([weight[k], columns[3][k]], total, rtol=1e-14)
        np.testing.assert_array_equal(scatter[k], scatter[k].T)


def direct_moments(x, w):
    """Weight, mean and scatter, in extended precision."""
    x = x.astype(np.longdouble)
    w = np.ones(len(x), np.longdouble) if w is None else w.astype(np.longdouble)
    first = x[:1].sum(axis=0)  # about it, a constant column has no rounding either
    mean = first + w @ (x - first) / (w.sum() or 1.0)
    return float(w.sum()), mean.astype(float), ((x - mean).T * w @ (x - mean)).astype(float)


@pytest.mark.parametrize("entry", [np.nan, np.inf, 1e200])
def test_moments_of_classes_are_refused_where_an_entry_is_no_number_to_square(entry, rng):
    x, codes = drawn("plain", rng)
    x[500, 3] = entry
    with np.errstate(all="ignore"):
        assert full_moments(x, codes, 4, None, SMALLEST_SQUARES) is None


def test_moments_of_classes_are_refused_where_squares_underflow(rng):
    x, codes = drawn("plain", rng)
    x[:, 3] *= 1e-160
    assert full_moments(x, codes, 4, None, SMALLEST_SQUARES) is None


@pytest.mark.parametrize("labels", [np.array(["a", "b", "c"]), np.array([3, 9, 11])])
@pytest.mark.parametrize("missing", [False, True])
def test_classes_of_many_rows_are_those_of_few(labels, missing, rng):
    x, codes = rng.standard_normal((120_000, 4)) + 10.0, rng.integers(0, 3, 120_000)
    if missing:
        x[77, 2] = np.nan
    w = rng.integers(0, 3, len(x)).astype(float)
    many, few = (folded(x, labels[codes], w, n) for n in (60_000, 3000))
    np.testing.assert_array_equal(many.labels, labels)
    np.testing.assert_array_equal(many.weight, few.weight)
    for one, other in zip(many.parts, few.parts, strict=True):
        assert one.parts.keys() == other.parts.keys()
        for pattern, found in one.parts.items():
            expected = other.parts[pattern]
            np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-14)
            size = np.abs(expected.scatter).max()
            np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-12, atol=1e-13 * size)


def folded(x, labels, w, n):
    blocks = [slice(a, a + n) for a in range(0, len(x), n)]
    each = [ByClass.of(x[b], labels[b], w[b], of=IncompleteMoments.of) for b in blocks]
    return reduce(add, each)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_codes_that_occur_once_are_found(kind):
    codes = np.zeros(50_000, kind)
    codes[1], codes[-2] = 3, 1
    np.testing.assert_array_equal(codes_that_occur(codes), [0, 1, 3])
    np.testing.assert_array_equal(codes_that_occur(np.arange(250, dtype=kind).repeat(200)), np.arange(250))
    assert len(codes_that_occur(codes[:0])) == 0
