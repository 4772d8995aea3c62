"""Latent trees over tables: one step of EM against sums over all states, cells, answers, choices, files."""

from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tractable
from rows.discrete_mixtures import expected, frame, table
from rows.latent_tree import tree_steps
from tractable import LatentTreeDensity
from tractable.density.latent_tree.cells import NumberCells, packed, recorded_step


def slow_counts(steps, params, x, weights):
    """Expected counts of cells and of links, and the log likelihood, by a sum over all states of each row."""
    H, parents = steps.n_states, steps.parents
    each = [own.codes(column) for own, column in zip(steps.encoding.cells, x.T, strict=True)]
    leaves = [np.zeros_like(p) for p in params.leaves]
    links, total = np.zeros_like(params.links), 0.0
    for n, w in enumerate(weights):
        if np.isnan(x[n]).all():
            continue
        states, terms = list(product(range(H), repeat=len(parents))), []
        for z in states:
            p = np.prod([params.links[j][z[i] if i >= 0 else 0, z[j]] for j, i in enumerate(parents)])
            p *= np.prod([params.leaves[j][z[j], c[n]] for j, (c, _) in enumerate(each) if c[n] >= 0])
            terms.append(p)
        total += w * (np.log(sum(terms)) + sum(log_p[n] for _, log_p in each))
        for z, r in zip(states, w * np.array(terms) / sum(terms), strict=True):
            for j, (c, _) in enumerate(each):
                if c[n] >= 0:
                    leaves[j][z[j], c[n]] += r
                links[j][z[parents[j]] if parents[j] >= 0 else 0, z[j]] += r
    return leaves, links, total


@pytest.mark.parametrize("start", ["row", "near"])
def test_expected_counts_are_sums_over_all_states(start, rng):
    x, weights = table(40, holes=0.2), rng.uniform(0.5, 2.0, 40)
    x[3] = np.nan
    steps = tree_steps(x, n_states=2, weights=weights, most_cells=4)
    params = steps.started(start, rng)
    for _ in range(2):
        sums = expected(steps, params)
        leaves, links, total = slow_counts(steps, params, x, weights)
        for mine, theirs in zip(sums.leaves, leaves, strict=True):
            np.testing.assert_allclose(mine.counts, theirs, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(sums.links, links, rtol=1e-9, atol=1e-12)
        assert sums.log_likelihood == pytest.approx(total, rel=1e-10)
        params = steps.maximize(sums)


def test_the_objective_is_the_log_density_of_the_distribution():
    x = table(200)
    model = LatentTreeDensity(3, random_state=0, start="row").fit(x)
    density = model.summarize(x).log_likelihood / len(x)
    assert density == pytest.approx(model.score(x), rel=1e-12)


# Cells


@pytest.mark.parametrize(
    ("x", "step"),
    [
        ([1.0, 4.0, 5.0], 1.0),
        ([0.25, 0.5, 1.75], 0.25),
        ([1000.0, 3000.0], 2000.0),
        ([0.0, 1e-7], 1e-7),
        ([-3.0, 1.0, 9.0], 4.0),
    ],
)
def test_recorded_steps(x, step):
    assert recorded_step(np.array(x)) == pytest.approx(step)


@pytest.mark.parametrize("n", [3, 67, 5000])
@pytest.mark.parametrize("kind", ["normal", "counts", "heap", "constant", "negative"])
def test_cells_of_numbers_keep_the_shape_of_the_column(kind, n, rng):
    x = {
        "normal": rng.normal(5.0, 2.0, n),
        "counts": rng.poisson(2.0, n).astype(float),
        "heap": np.where(rng.random(n) < 0.6, 0.0, rng.gamma(2.0, 3.0, n)),
        "constant": np.full(n, 7.0),
        "negative": -rng.gamma(2.0, 3.0, n),
    }[kind]
    own = NumberCells.of(x, None, 64, float(x.min()), float(x.max()))
    codes, log_p = own.codes(x)
    counts = np.bincount(codes, minlength=own.n_cells)
    assert own.n_cells <= 64
    np.testing.assert_allclose(np.bincount(own.cell, own.share), 1.0)  # in each cell
    assert np.all(np.diff(own.edges) > 0)
    leaf = own.leaf(counts[None] / n)
    np.testing.assert_allclose(leaf.log_prob(x[:, None])[:, 0], np.log(counts[codes] / n) + log_p, rtol=1e-9)
    assert float(leaf.cdf(own.edges[-1])[0]) == pytest.approx(1.0)
    if kind in {"counts", "heap"}:
        assert leaf.log_prob(-1.0)[0] == -np.inf
    if kind == "negative":
        assert leaf.log_prob(1.0)[0] == -np.inf
    if n == 5000:
        np.testing.assert_allclose(leaf.mean[0], x.mean(), atol=0.1)
        np.testing.assert_allclose(leaf.stddev[0], x.std(), rtol=0.05, atol=0.5)
        if kind == "heap":  # the heap has its weight, within the step to which the column is recorded
            inside = leaf.cdf(own.step / 2.0) - leaf.cdf(-own.step / 2.0)
            np.testing.assert_allclose(inside, np.mean(x == 0.0), rtol=1e-3)


def test_weights_are_repetitions_of_cells(rng):
    x, w = rng.normal(size=50), rng.integers(1, 5, 50)
    ends = (float(x.min()), float(x.max()))
    weighted = NumberCells.of(x, w.astype(float), 16, *ends)
    repeated = NumberCells.of(np.repeat(x, w), None, 16, *ends)
    np.testing.assert_allclose(weighted.edges, repeated.edges)
    np.testing.assert_allclose(weighted.share, repeated.share)


def test_groups_have_about_the_weight_asked_for():
    counts = np.ones(100)
    assert np.bincount(packed(counts, 10.0)).tolist() == [10] * 10


# Answers


def chained(n, rng):
    """A route determines its carrier; delays depend on the carrier, and a fifth of them are zero."""
    route = rng.integers(0, 40, n)
    carrier = route % 5
    delay = np.where(rng.random(n) < 0.2, 0.0, rng.gamma(1.0 + carrier, 10.0))
    return pd.DataFrame({
        "route": np.char.add("r", route.astype(str)).astype(object),
        "carrier": np.array(list("abcde"))[carrier],
        "delay": np.round(delay),
        "late": delay > 30.0,
    })  # fmt: skip


def test_answers_agree_with_the_counts_of_the_table(rng):
    x = chained(6000, rng)
    model = LatentTreeDensity(16, start="row", random_state=0).fit(x)
    names = model.categories_["carrier"]
    for route in ("r0", "r7", "r23"):
        found = model.condition({"route": route}).marginal(["carrier"]).prob(np.arange(5.0)[:, None])
        count = x.carrier[x.route == route].value_counts(normalize=True).reindex(names, fill_value=0.0)
        np.testing.assert_allclose(found, count, atol=0.02)
    for carrier in "ae":
        own, given = x.delay[x.carrier == carrier], model.condition({"carrier": carrier}).marginal(["delay"])
        np.testing.assert_allclose(given.mean[0], own.mean(), rtol=0.1)
        zero = np.exp(given.log_prob([0.0]))  # recorded to 1
        np.testing.assert_allclose(zero, np.mean(own == 0.0), atol=0.05)
        assert given.log_prob([-5.0]) == -np.inf


def test_independent_columns_have_one_state(rng):
    x = pd.DataFrame(
        {"a": rng.integers(0, 4, 67).astype(str), "b": rng.normal(size=67), "c": rng.poisson(3.0, 67)}
    )
    model = LatentTreeDensity(random_state=0).fit(x)
    assert model.n_states_ == 1
    assert set(model.held_out_) >= {(1, "row"), (16, "row"), (16, "near")}


def test_more_states_are_taken_if_held_out_rows_show_them(rng):
    model = LatentTreeDensity((1, 4), random_state=0).fit(chained(800, rng))
    assert model.n_states_ == 4
    assert model.held_out_[4, model.start_] > model.held_out_[1, "row"]


def test_one_row_has_nothing_to_choose_the_states_by(rng):
    row = np.array([[1.0, 2.0, 3.0]])
    model = LatentTreeDensity((1, 3), random_state=0).fit(row)
    assert model.n_states_ == 1
    assert model.held_out_ == {}
    assert np.isfinite(model.score_samples(row)).all()


def test_draws_are_like_the_table(rng):
    x = frame()
    drawn = LatentTreeDensity(3, random_state=0).fit(x).sample(200, random_state=1)
    assert list(drawn.columns) == list(x.columns)
    assert set(drawn["class"]) <= {"low", "mid", "high"}
    assert np.all(drawn["visits"] == np.round(drawn["visits"]))
    assert drawn["visits"].min() >= 0.0


def test_missing_entries_drop_out():
    x = frame()
    model = LatentTreeDensity(3, random_state=0).fit(x)
    part = x.assign(price=None, member=None)
    scores = model.marginal(["size", "visits", "class"]).log_prob(model._events(x)[:, :3])
    np.testing.assert_allclose(model.score_samples(part), scores)


# Sources


def test_streams_and_files_are_the_rows(tmp_path, rng):
    x = chained(700, rng)
    options = {"n_states": 4, "start": "row", "random_state": 0}
    whole = LatentTreeDensity(**options).fit(x)
    stream = LatentTreeDensity(**options).fit([x[:300], x[300:]])
    pq.write_table(pa.Table.from_pandas(x), tmp_path / "x.parquet")
    file = LatentTreeDensity(**options).fit(tractable.scan(tmp_path / "x.parquet"))
    for model in (stream, file):
        np.testing.assert_allclose(model.score_samples(x[:50]), whole.score_samples(x[:50]), rtol=1e-6)
    tractable.save(whole, tmp_path / "tree")
    loaded = tractable.load(tmp_path / "tree")
    np.testing.assert_array_equal(loaded.score_samples(x[:50]), whole.score_samples(x[:50]))
    assert loaded.parents_ == whole.parents_


def test_statistics_of_pieces_add_up(rng):
    x = table(300)
    model = LatentTreeDensity(3, random_state=0).fit(x)
    whole, pieces = model.summarize(x), model.summarize(x[:100]) + model.summarize(x[100:])
    assert pieces.objective == pytest.approx(whole.objective, rel=1e-12)
    one, other = (LatentTreeDensity(3, random_state=0).fit(x).from_statistic(s) for s in (whole, pieces))
    np.testing.assert_allclose(one.score_samples(x), other.score_samples(x), rtol=1e-10)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_states": 0}, "n_states"),
        ({"n_states": ()}, "n_states"),
        ({"n_states": "many"}, "n_states"),
        ({"n_states": (2, 1.5)}, "n_states"),
        ({"start": "here"}, "start"),
        ({"max_cells": 1}, "max_cells"),
        ({"unseen": "smooth"}, "unseen"),
        ({"tol": -1.0}, "tol"),
    ],
)
def test_parameters_are_checked_first(options, said):
    with pytest.raises(ValueError, match=said):
        LatentTreeDensity(**options).fit(np.full((2, 2), np.inf))


def test_unknown_categories_are_refused_or_missing():
    x = pd.DataFrame({"a": list("uvuvuv") * 5, "b": np.arange(30.0)})
    with pytest.raises(ValueError, match="w"):
        LatentTreeDensity(1).fit(x).score_samples(x.assign(a="w"))
    lenient = LatentTreeDensity(1, unseen="missing").fit(x)
    with pytest.warns(UserWarning, match="w"):
        found = lenient.score_samples(x.assign(a="w"))
    np.testing.assert_allclose(found, lenient.score_samples(x.assign(a=None)))
