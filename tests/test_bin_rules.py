"""How bins are chosen: Scott, Freedman and Diaconis, Bayesian blocks, leave-one-out."""

from itertools import pairwise

import numpy as np
import pytest

from tractable.density import Histogram


@pytest.mark.parametrize("rule", ["scott", "fd"])
@pytest.mark.parametrize("n", [1, 2, 10, 777])
def test_rules_are_those_of_numpy_in_one_column(rule, n, rng):
    x = rng.gamma(2.0, size=n) + 5.0
    if n > 1:
        np.testing.assert_allclose(
            Histogram(rule).fit(x[:, None]).edges_[0], np.histogram_bin_edges(x, rule), rtol=1e-14
        )
    doubled = Histogram(rule).fit(x[:, None], sample_weight=np.full(n, 2.0))
    np.testing.assert_array_equal(doubled.edges_[0], Histogram(rule).fit(np.repeat(x, 2)[:, None]).edges_[0])


def test_equal_quartiles_fall_back_on_scott(rng):
    x = np.concatenate([np.zeros(80), rng.standard_normal(20)])[:, None]
    np.testing.assert_array_equal(Histogram("fd").fit(x).edges_[0], Histogram("scott").fit(x).edges_[0])


def test_several_columns_want_wider_bins(rng):
    X = rng.standard_normal((4000, 3))
    width = np.diff(Histogram("scott").fit(X).edges_[0])[0]
    full = 3.4908 * X[:, 0].std() * 4000 ** (-1 / 5)
    assert 0.7 * full < width <= full


@pytest.mark.spec("DENS-02")
def test_leave_one_out_is_the_likelihood_of_each_row_given_the_others(rng):
    x = rng.standard_normal((40, 1))
    search = Histogram("loo").fit(x).search_
    for m, score in list(zip(search.n_bins[:, 0], search.scores, strict=True))[::9]:
        edges = np.linspace(x.min(), x.max(), m + 1)
        total = 0.0
        for i in range(40):
            counts = np.histogram(np.delete(x, i), edges)[0] + 0.5
            place = min(np.searchsorted(edges, x[i, 0], side="right") - 1, m - 1)
            total += np.log(counts[place] / counts.sum() / np.diff(edges)[place])
        np.testing.assert_allclose(score - np.log(np.ptp(x)), total / 40, rtol=1e-10)


@pytest.mark.spec("DENS-02")
def test_leave_one_out_avoids_both_too_few_and_too_many_bins(rng):
    """Rows not seen are likelier under the bins chosen than under far fewer or far more."""
    x = np.concatenate([rng.normal(0.0, 1.0, 2000), rng.normal(6.0, 0.5, 2000)])
    rng.shuffle(x)
    train, test = x[:2000, None], x[2000:, None]
    chosen = len(Histogram("loo").fit(train).counts_)

    def held_out(m):
        d = Histogram(m, bounds=(x.min(), x.max())).fit(train).distribution_
        return np.log((d.counts + 0.5) / (d.counts + 0.5).sum() * m) @ np.histogram(test, d.edges[0])[0]

    assert held_out(chosen) > max(held_out(max(chosen // 8, 1)), held_out(8 * chosen))


def divisions(m):
    """All divisions of m cells into blocks, as lists of ends."""
    for mask in range(2 ** (m - 1)):
        yield [0, *(k for k in range(1, m) if mask >> (k - 1) & 1), m]


def test_blocks_are_the_best_of_all_divisions(rng):
    from tractable.primitives.bins import best_blocks
    from tractable.primitives.bins.agnostic import best_blocks as oracle

    def fitness(ends, mass, places, penalty):
        weight = np.array([mass[a:b].sum() for a, b in pairwise(ends)])
        return (weight * np.log(weight / np.diff(places[ends]))).sum() - penalty * len(weight)

    for _ in range(20):
        mass, penalty = rng.integers(1, 9, 10).astype(float), rng.uniform(0.0, 4.0)
        places = np.concatenate([[0.0], np.cumsum(rng.gamma(1.0, size=10))])
        best = max(fitness(ends, mass, places, penalty) for ends in divisions(10))
        found = best_blocks(mass, places, penalty)
        np.testing.assert_allclose(fitness(found.tolist(), mass, places, penalty), best, rtol=1e-12)
        np.testing.assert_array_equal(found, oracle(mass, places, penalty))
    mass, places = np.ones(600), np.sort(rng.random(601)) ** 3
    np.testing.assert_array_equal(best_blocks(mass, places, 5.0), oracle(mass, places, 5.0))


def test_blocks_find_a_jump_and_leave_noise_alone(rng):
    x = np.concatenate([rng.uniform(0.0, 1.0, 500), rng.uniform(1.0, 1.25, 500)])[:, None]
    edges = Histogram("blocks").fit(x).edges_[0]
    assert len(edges) == 3
    assert abs(edges[1] - 1.0) < 0.01
    assert len(Histogram("blocks").fit(rng.random((3000, 1))).counts_) == 1
    many = Histogram("blocks").fit(np.concatenate([rng.random(30_000), rng.uniform(1, 3, 10_000)])[:, None])
    assert len(many.counts_) == 2
    assert abs(many.edges_[0][1] - 1.0) < 0.01


@pytest.mark.parametrize("bins", ["scott", "fd", "blocks", "loo", 4])
@pytest.mark.parametrize("bounds", [None, (-1.0, 1.5)])
def test_streams_give_the_bins_of_arrays(bins, bounds, rng):
    X = rng.standard_normal((500, 1))
    whole, streamed = (
        Histogram(bins, bounds=bounds).fit(X),
        Histogram(bins, bounds=bounds).fit([X[:90], X[90:]]),
    )
    np.testing.assert_allclose(streamed.edges_[0], whole.edges_[0], rtol=1e-12)
    np.testing.assert_array_equal(streamed.counts_, whole.counts_)
    if bounds is not None:
        assert (whole.edges_[0][0], whole.edges_[0][-1]) == bounds
        assert whole.n_outside_ == np.sum((X < -1.0) | (X > 1.5))


@pytest.mark.parametrize("x", [0.0, -7.0, 1e100, 1e-100])
def test_a_constant_column_has_one_narrow_bin(x):
    for bins in ("scott", "fd", "blocks", "loo", 10):
        model = Histogram(bins).fit(np.full((5, 1), x))
        (low, high), span = model.edges_[0], 8.0 * np.spacing(max(abs(x), 2.0**-960))
        assert low < x < high
        np.testing.assert_allclose(high - low, span, rtol=0.5)
        assert np.isfinite(model.score_samples([[x]])).all()
