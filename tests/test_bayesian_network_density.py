"""Bayesian networks fitted to tables: counts, EM with missing entries, trees, and answers for rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import tractable
from rows.networks import DIAMOND, random_network
from tractable import BayesianNetworkDensity
from tractable.graph import chow_liu_tree, fit_network
from tractable.graph.estimator import EventCodes
from tractable.graph.families import coded_rows, expected_counts, log_probabilities
from tractable.graph.network import families_of


def holes(frame, rng, share=0.2):
    return frame.mask(rng.random(frame.shape) < share)


@pytest.fixture
def truth(rng):
    return random_network(DIAMOND, rng, sizes={"b": 3, "e": 4}, labels=True)


@pytest.fixture
def rows(truth, rng):
    return pd.DataFrame(truth.decode(truth.sample(400, rng=rng)), columns=truth.names)


def test_complete_rows_give_smoothed_frequencies(rows, rng):
    weights = rng.integers(0, 3, len(rows))
    for alpha in (0.0, 1.0):
        model = BayesianNetworkDensity(DIAMOND, alpha=alpha).fit(rows, sample_weight=weights)
        other = fit_network(DIAMOND, rows, weights, pseudocounts=alpha)
        for ours, theirs in zip(model.distribution_.tables, other.tables, strict=True):
            np.testing.assert_allclose(ours.probabilities, theirs.probabilities, rtol=1e-12)
        assert model.n_iter_ == 1
        np.testing.assert_allclose(model.score_samples(rows), other.log_prob(rows), rtol=1e-12)


def test_the_tree_is_the_one_of_greatest_information(rows):
    model = BayesianNetworkDensity(root="d").fit(rows)
    assert str(model.graph_) == str(chow_liu_tree(rows, root="d"))
    assert model.graph_.parents("d") == ()
    assert len(model.graph_.edges) == 4


def test_expected_counts_are_those_of_the_joint(rng):
    network = random_network("a -> b -> d <- c <- a; d -> e; c -> f <- g", rng, sizes={"b": 3})
    families, cells = families_of(network.tables)
    x = network.sample(60, rng=rng)
    codes = np.where(rng.random(x.shape) < 0.5, -1, x).astype(int)
    weights = rng.uniform(0.5, 2.0, len(codes))
    counts, total = expected_counts(families, cells, coded_rows(families, codes, weights, prune=False))
    p = network.joint().probabilities
    atoms = np.indices(p.shape).reshape(p.ndim, -1).T
    where, wanted, log_likelihood = families.bases(atoms), np.zeros(families.n_cells), 0.0
    for row, weight in zip(codes, weights, strict=True):
        mass = p.ravel() * np.all((row < 0) | (atoms == row), axis=1)
        log_likelihood += weight * np.log(mass.sum())
        for j in range(codes.shape[1]):
            wanted += np.bincount(where[:, j], weight * mass / mass.sum(), minlength=families.n_cells)
    np.testing.assert_allclose(counts, wanted, atol=1e-10)
    np.testing.assert_allclose(total, log_likelihood)
    _, pruned = expected_counts(families, cells, coded_rows(families, codes, weights))
    np.testing.assert_allclose(pruned, log_likelihood)


def test_em_finds_the_most_likely_tables_of_incomplete_rows(rng):
    truth = random_network("a -> b -> c", rng, sizes={"b": 3})
    frame = pd.DataFrame(truth.sample(60, rng=rng), columns=truth.names)
    x = holes(frame, rng, 0.3).to_numpy()
    model = BayesianNetworkDensity("x0 -> x1 -> x2", alpha=0.0, tol=1e-11, max_iter=5000).fit(x)
    assert model.converged_
    assert np.all(np.diff(model.objective_trace_) > -1e-12)
    families, _ = families_of(model.distribution_.tables)
    codes = EventCodes(axes=model.distribution_.axes).codes(x)
    start = 0.3 * rng.standard_normal(families.n_cells)
    best = minimize(
        lambda z: -np.mean(log_probabilities(families, families.normalized(np.exp(z)), codes)), start
    )
    np.testing.assert_allclose(model.score(x), -best.fun, atol=1e-7)


def test_missing_entries_of_a_leaf_change_nothing(rows, rng):
    """A leaf that is missing says nothing of the others: its table is of the rows that have it."""
    frame = rows[["a", "b"]].copy()
    gone = rng.random(len(frame)) < 0.4
    frame.loc[gone, "b"] = None
    model = BayesianNetworkDensity("a -> b", alpha=0.0).fit(frame)
    kept = fit_network("a -> b", frame[~gone])
    everything = fit_network("a", frame)
    a, b = model.distribution_.tables
    np.testing.assert_allclose(b.probabilities, kept.tables[1].probabilities, rtol=1e-12)
    np.testing.assert_allclose(a.probabilities, everything.tables[0].probabilities, rtol=1e-12)


def test_answers_for_rows_are_those_of_the_network(rows, rng):
    model = BayesianNetworkDensity(DIAMOND).fit(holes(rows, rng))
    some = holes(rows[:30], rng, 0.4)
    p = model.conditional_probabilities(some, "d")
    assert p.shape == (30, 2)
    for i in range(30):
        seen = {name: v for name, v in some.iloc[i].items() if isinstance(v, str) and name != "d"}
        given = model.condition(seen) if seen else model.distribution_
        np.testing.assert_allclose(p[i], given.marginal("d").probabilities, rtol=1e-9)
    done = model.impute(some)
    assert not done.isna().any().any()
    assert done.where(some.notna()).equals(some.where(some.notna()))
    levels = np.array(model.categories_["d"])
    np.testing.assert_array_equal(
        done["d"][some["d"].isna()], levels[p.argmax(axis=1)][some["d"].isna().to_numpy()]
    )


def test_draws_of_missing_entries_are_joint(rng):
    network = random_network("a -> b -> c", rng)
    x = network.sample(500, rng=rng)
    model = BayesianNetworkDensity("x0 -> x1 -> x2", alpha=0.5).fit(x)
    row = np.tile([np.nan, np.nan, 1.0], (4000, 1))
    (drawn,) = model.impute(row, 1, random_state=0)
    wanted = model.condition({"x2": 1}).marginal(["x0", "x1"]).probabilities
    found = np.array([[np.mean((drawn[:, 0] == i) & (drawn[:, 1] == j)) for j in (0, 1)] for i in (0, 1)])
    assert np.all(np.abs(found - wanted) < 5.0 * np.sqrt(wanted * (1.0 - wanted) / 4000))


def test_numbers_text_and_categories_of_frames(tmp_path):
    frame = pd.DataFrame({
        "pclass": [1, 2, 3, 3, 1, 3],
        "sex": ["f", "m", "m", None, "f", "m"],
        "size": pd.Categorical([10, 30, 10, 30, 10, 30], categories=[10, 20, 30]),
        "alive": [True, False, False, True, True, False],
    })  # fmt: skip
    model = BayesianNetworkDensity("pclass -> alive <- sex; alive -> size").fit(frame)
    assert model.categories_ == {
        "pclass": (1, 2, 3), "sex": ("f", "m"), "size": (10, 20, 30), "alive": (0, 1)
    }  # fmt: skip
    assert model.condition({"pclass": 3, "sex": "m"}).marginal("alive").probabilities[0] > 0.5
    drawn = model.sample(5, random_state=0)
    assert drawn.dtypes.equals(frame.dtypes)
    np.testing.assert_allclose(model.score(frame), model.score_samples(frame).mean())
    statistic = model.summarize(frame)  # one step of EM from the fit changes little
    tractable.save(model, tmp_path / "network")
    loaded = tractable.load(tmp_path / "network")
    np.testing.assert_array_equal(loaded.score_samples(frame), model.score_samples(frame))
    before = model.score(frame)
    assert abs(model.from_statistic(statistic).score(frame) - before) < 1e-3
    assert model.bic(frame) == pytest.approx(model.n_parameters_ * np.log(6) - 12 * model.score(frame))


def test_streams_give_what_memory_gives(rows, rng, tmp_path):
    codes = rows.apply(lambda column: column.astype("category").cat.codes)
    x = codes.to_numpy(dtype=float, copy=True)
    x[rng.random(x.shape) < 0.1] = np.nan
    whole = BayesianNetworkDensity().fit(x)
    stream = BayesianNetworkDensity().fit([x[:150], x[150:]])
    assert str(stream.graph_) == str(whole.graph_)
    np.testing.assert_allclose(stream.score_samples(x), whole.score_samples(x), rtol=1e-10)
    pd.DataFrame(x, columns=list("abcde")).to_parquet(tmp_path / "x.parquet")
    file = BayesianNetworkDensity().fit(tractable.scan(tmp_path / "x.parquet"))
    np.testing.assert_allclose(file.score(tractable.scan(tmp_path / "x.parquet")), whole.score(x))


def test_many_observations_of_one_cause_do_not_underflow(rng):
    """Nine hundred observed children: the product of their probabilities is smaller than any number."""
    names = [f"y{i}" for i in range(900)]
    network = random_network({"z": [], **{name: ["z"] for name in names}}, rng)
    row = network.sample(1, rng=rng)
    seen = dict(zip(names, row[0, 1:].astype(int).tolist(), strict=True))
    logs = np.array([
        sum(np.log(table.probabilities[z, seen[table.names[0]]]) for table in network.tables[1:])
        + np.log(network.tables[0].probabilities[z])
        for z in (0, 1)
    ])  # fmt: skip
    wanted = np.logaddexp(*logs)
    given = network.condition(seen)
    np.testing.assert_allclose(given.log_evidence, wanted, rtol=1e-10)
    np.testing.assert_allclose(given.marginal("z").probabilities, np.exp(logs - wanted), atol=1e-10)
    row[0, 0] = np.nan
    np.testing.assert_allclose(network.log_prob(row), wanted, rtol=1e-10)


@pytest.mark.parametrize(("options", "X", "match"), [
    ({"graph": "a -> z"}, {"a": [0, 1], "b": [0, 1]}, "graph must name columns of X, got 'z'"),
    ({"graph": "a"}, {"a": [0, 1], "b": [0, 1]}, "'b' is none"),
    ({"graph": "a -> b -> a"}, {"a": [0, 1], "b": [0, 1]}, "no cycle"),
    ({"graph": "a -> b", "root": "a"}, {"a": [0, 1], "b": [0, 1]}, "root must not be given with a graph"),
    ({"root": "z"}, {"a": [0, 1], "b": [0, 1]}, "root must name columns of X"),
    ({"alpha": -1.0}, {"a": [0, 1]}, "alpha"),
    ({"unseen": "guess"}, {"a": [0, 1]}, "unseen"),
    ({}, {"a": [0.5, 1.0]}, "whole numbers in the column 'a'"),
    ({}, {"a": [-1, 1]}, "Negative values"),
    ({}, {"a": [None, None], "b": [1, 2]}, "a"),
    ({}, {"a": [0, 10**6], "b": [1, 2]}, "more than 65536"),
    ({"graph": {"z": [f"y{i}" for i in range(30)]}}, {**{f"y{i}": [0, 1] for i in range(30)}, "z": [0, 1]},
     "cells: use fewer edges"),
])  # fmt: skip
def test_bad_tables_and_graphs_are_refused(options, X, match):
    with pytest.raises(ValueError, match=match):
        BayesianNetworkDensity(**options).fit(pd.DataFrame(X))


def test_unseen_levels(rows):
    model = BayesianNetworkDensity().fit(rows)
    other = rows[:3].copy()
    other.loc[0, "a"] = "new"
    with pytest.raises(ValueError, match="no category 'new'"):
        model.score_samples(other)
    with pytest.raises(ValueError, match="column must name columns of X, got 'z'"):
        model.conditional_probabilities(rows, "z")
    lenient = BayesianNetworkDensity(unseen="missing").fit(np.array([[0, 1], [1, 2]]))
    with pytest.warns(UserWarning, match="taken as missing"):
        assert np.isfinite(lenient.score_samples([[7, 1]])).all()
