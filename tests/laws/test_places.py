"""One seed gives one answer: wherever the rows are, in any order, and on both sides of every limit."""

from importlib import import_module

import numpy as np
import pytest
from scipy.sparse import csr_array

import tractable
from catalogue import ESTIMATORS, cross
from tractable.arrays.random import row_hashes
from tractable.data import as_source, dispatch, row_sample, sample_rows
from tractable.data.row_sample import draw_rows, lexicographic_order
from tractable.distributed.source import DaskSource
from tractable.engines import kmeans
from tractable.testing.distributed_laws import (
    one_seed_gives_one_answer,
    one_seed_gives_one_answer_in_any_order,
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

#: Every limit above which a model looks at a sample of the rows.
LIMITS = {
    "engines.kmeans": ("SEEDING_ROWS", "INITIAL_ROWS"),
    "mixture.gaussian.starts": ("INITIAL_ROWS",),
    "mixture.student_t.steps": ("INITIAL_ROWS",),
    "mixture.table.steps": ("INITIAL_ROWS",),
    "engines.glm.problem": ("LEAST_SAMPLE", "MOST_SAMPLE"),
    "density.latent_tree.estimator": ("SAMPLE_ROWS",),
    "gaussian_process.nystrom": ("MOST_HELD",),
}
LAWS = (one_seed_gives_one_answer, one_seed_gives_one_answer_in_any_order)


@pytest.fixture
def low_limits(monkeypatch):
    for module, names in LIMITS.items():
        for name in names:
            monkeypatch.setattr(import_module(f"tractable.{module}"), name, 40)
    monkeypatch.setattr(kmeans, "SEEDING_ROWS_A_CLUSTER", 1)


# Below the limits, the laws of `test_distributed.py` judge the same.


@pytest.mark.parametrize(("law", "make"), cross(LAWS, ESTIMATORS, most=1))
def test_above_the_limits(law, make, low_limits):
    law(make(), np.random.default_rng(3), 90)


#: Models whose searches begin at rows that are drawn.
DRAWN = {
    "KMeans": lambda: tractable.KMeans(3),
    "KMeans-random": lambda: tractable.KMeans(3, init="random"),
    "KMeans-parallel": lambda: tractable.KMeans(3, init="k-means||"),
    "GaussianMixture": lambda: tractable.GaussianMixture(3),
    "GaussianMixture-means": lambda: tractable.GaussianMixture(3, means_init=np.diag([3.0, 4.0, 5.0])),
    "GaussianMixture-random": lambda: tractable.GaussianMixture(3, init_params="random"),
    "StudentTMixture": lambda: tractable.StudentTMixture(2),
    "TableMixture": lambda: tractable.TableMixture(2),
    "LogisticRegression": tractable.LogisticRegression,
    "PoissonRegression": tractable.PoissonRegression,
}


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [4_096, 4_097, 16_384, 16_385, 20_000, 20_001, 60_000])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", DRAWN)
def test_at_the_limits_themselves(name, law, n_rows):
    law(DRAWN[name](), np.random.default_rng(3), n_rows)


def test_starts_of_their_own_are_found_out(monkeypatch, low_limits):
    own = draw_rows
    monkeypatch.setattr(
        dispatch,
        "draw_rows",
        lambda source, n, rng: own(source, n - n // 2 if isinstance(source, DaskSource) else n, rng),
    )
    with pytest.raises(AssertionError, match="in_partitions"):
        one_seed_gives_one_answer(tractable.GaussianMixture(2), np.random.default_rng(3), 90)
    monkeypatch.undo()
    monkeypatch.setattr(row_sample, "lexicographic_order", lambda rows: (np.arange(len(rows)),) * 2)
    monkeypatch.setattr(row_sample, "row_hashes", lambda x, seed: np.arange(len(x), dtype=np.uint64))
    with pytest.raises(AssertionError, match="in_another_order"):
        one_seed_gives_one_answer_in_any_order(tractable.KMeans(3), np.random.default_rng(3))


# Samples


def sample(rows, weights=None, n=100, seed=0):
    return sample_rows(rows, weights, n, np.random.default_rng(seed))


@pytest.mark.parametrize("n", [100, 3_000])
def test_a_sample_depends_on_the_rows_alone(n, rng):
    x = rng.standard_normal((2_000, 3)).astype(np.float32)
    x[x < -1.0] = 0.0
    want, counted = sample(x, n=n)
    assert len(want) == min(n, len(np.unique(x, axis=0)))
    order = rng.permutation(2_000)
    signed = np.where(x == 0.0, -0.0, x)
    for rows in (x.astype(float), x[order], signed, [x[:7], x[7:7], x[7:]], [x[order]]):
        found, weights = sample(rows, n=n)
        np.testing.assert_array_equal(found, want)
        np.testing.assert_array_equal(weights, counted)
    found, _ = sample(np.asfortranarray(x), n=n, seed=1)
    assert n > 2_000 or not np.array_equal(found, want)


def test_hashes_are_of_numbers_and_not_of_their_storage(rng):
    x = rng.integers(-2, 3, (500, 4)).astype(float)
    want = row_hashes(x, 5)
    assert len(np.unique(want)) == len(np.unique(x, axis=0))
    for same in (csr_array(x), x.astype(np.float32), x.astype(int), np.where(x == 0, -0.0, x), x[::-1][::-1]):
        np.testing.assert_array_equal(row_hashes(same, 5), want)
    holes = np.array([[np.nan, 1.0], [-np.nan, 1.0], [1.0, np.nan]])
    found = row_hashes(holes, 5)
    assert found[0] == found[1] != found[2]
    assert not np.any(row_hashes(x, 6) == want)
    bits = np.unpackbits(row_hashes(np.arange(4_000.0)[:, None], 0).view(np.uint8)).reshape(4_000, 64)
    assert abs(bits.mean() - 0.5) < 5 * 0.5 / np.sqrt(bits.size)
    assert np.max(np.abs(bits.mean(axis=0) - 0.5)) < 5 * 0.5 / np.sqrt(4_000)


def test_weights_are_copies_and_copies_are_weights(rng):
    x = rng.integers(0, 30, (400, 2)).astype(float)
    times = rng.integers(0, 4, 400)
    for n in (50, 5_000):
        weighted, weights = sample(x, times.astype(float), n=n)
        repeated, copies = sample(np.repeat(x, times, axis=0), n=n)
        np.testing.assert_array_equal(weighted, repeated)
        np.testing.assert_array_equal(weights, copies)
    assert np.sum(weights) == np.sum(times)


def test_every_row_is_as_likely_as_any_other():
    x = np.arange(400.0)[:, None]
    counts = sum(np.bincount(sample(x, seed=s)[0][:, 0].astype(int), minlength=400) for s in range(400))
    assert counts.sum() == 400 * 100
    assert np.max(np.abs(counts - 100)) < 5 * np.sqrt(400 * 0.25 * 0.75)


def test_a_value_of_half_of_the_rows_is_drawn_with_its_weight(rng):
    x = np.concatenate([np.zeros(20_000), rng.standard_normal(20_000)])[:, None]
    for seed in range(5):
        rows, weights = sample(x, n=500, seed=seed)
        (zero,) = np.flatnonzero(rows[:, 0] == 0.0)
        assert weights[zero] == pytest.approx(20_000)
        rest = np.delete(rows[:, 0], zero), np.delete(weights, zero)
        assert np.sum(rest[1]) == pytest.approx(20_000, rel=5 / np.sqrt(500))
        assert abs(np.average(rest[0], weights=rest[1])) < 5 / np.sqrt(400)
        shuffled, copies = sample([x[::-1][:900], x[::-1][900:]], n=500, seed=seed)
        np.testing.assert_array_equal(shuffled, rows)
        np.testing.assert_allclose(copies, weights, rtol=1e-12)


def test_rows_of_many_copies_pass_the_first_look_again(rng):
    x = rng.integers(0, 20, (5_000, 1)).astype(float)
    rows, weights = sample(x, n=15)
    assert len(rows) == 15
    values, copies = np.unique(x, return_counts=True)
    np.testing.assert_array_equal(weights, copies[np.searchsorted(values, rows[:, 0])])


def test_rows_are_in_lexicographic_order(rng):
    x = rng.integers(0, 4, (300, 5)).astype(float)
    x[rng.random(x.shape) < 0.1] = np.nan
    rows = draw_rows(as_source(x), 1_000, np.random.default_rng(0)).rows
    keys = np.where(np.isnan(rows), np.inf, rows)
    np.testing.assert_array_equal(np.lexsort(keys.T[::-1]), np.arange(len(rows)))
    complete = np.unique(np.nan_to_num(x, nan=9.0), axis=0)[::-1]
    for sparse, dense in zip(
        lexicographic_order(csr_array(complete)), lexicographic_order(complete), strict=True
    ):
        np.testing.assert_array_equal(sparse, dense)


def test_what_is_drawn_later_is_the_same_as_well(rng):
    x, after = rng.standard_normal((50, 2)), []
    for rows in (x, [x[:20], x[20:]]):
        for n in (10, 100):
            generator = np.random.default_rng(0)
            sample_rows(rows, None, n, generator)
            after.append(generator.random())
    assert len(set(after)) == 1


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="no rows that count"):
        sample(np.ones((3, 1)), np.zeros(3))
