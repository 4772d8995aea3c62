"""Models are compared on rows they have not seen; what was planted in a table wins, and is named."""

import warnings

import numpy as np
import pandas as pd
import pytest

import tractable
from section_code import run_code
from tractable.report import table_of
from tractable.report.candidates import Candidate, classifiers, regressors
from tractable.report.fitted import encoder
from tractable.report.held_out import compared, folds, held_out, importances
from tractable.report.models import section


def linear(rng, n=150):
    x = rng.normal(size=(n, 3))
    side = rng.choice(["left", "right"], n)
    y = 3.0 * x[:, 0] - x[:, 1] + 2.0 * (side == "left") + 0.5 * rng.normal(size=n)
    return pd.DataFrame({"strong": x[:, 0], "weak": x[:, 1], "idle": x[:, 2], "side": side, "y": y})


@pytest.mark.slow
def test_a_planted_relation_is_found_and_its_columns_named(rng):
    frame = linear(rng)
    found = section(table_of(frame), target="y", rng=rng)
    assert found.findings["best"] in ("linear regression", "Bayesian ridge regression")
    importance = found.findings["what_matters"]
    assert list(importance)[:3] == ["strong", "side", "weak"] or list(importance)[:3] == [
        "strong",
        "weak",
        "side",
    ]
    for added, error in importance["idle"].values():
        assert abs(added) < 5.0 * error
    assert "predicts y as well as any" in found.meaning
    assert len(found.pictures) == 4
    scope = run_code(found, frame)
    scores = {one.name: one.mean for one in scope["found"]}
    assert scores == pytest.approx(found.findings["scores"], rel=1e-9)
    assert scope["predicted"].batch_shape == (3,)
    assert "tractable.report." not in found.code  # what a page tells people to run is public
    held = np.mean((scope["low"] <= frame["y"]) & (frame["y"] <= scope["high"]))
    assert f"intervals of 90% hold {held:.0%} of the rows" in found.meaning
    assert {one.column for one in scope["importance"][:3]} == {"strong", "side", "weak"}


@pytest.mark.slow
def test_planted_classes_are_found(rng):
    n = 150
    kind = np.array(["ant", "bee", "cat"])[np.arange(n) % 3]
    x = np.array([0.0, 4.0, 8.0])[np.arange(n) % 3] + rng.normal(size=n)
    frame = pd.DataFrame({"size": x, "noise": rng.normal(size=n), "kind": kind})
    found = section(table_of(frame), target="kind", rng=rng)
    assert found.findings["best"] != "the base rate"
    assert next(iter(found.findings["what_matters"])) == "size"
    assert found.findings["scores"]["the base rate"] == pytest.approx(-np.log(3.0), abs=1e-9)
    scope = run_code(found, frame)
    assert {one.name: one.mean for one in scope["found"]} == pytest.approx(found.findings["scores"], rel=1e-9)
    assert "tractable.report." not in found.code  # what a page tells people to run is public
    right = np.mean(scope["taken"] == kind)
    assert f"finds the class of {right:.1%} of rows" in found.meaning


@pytest.mark.slow
def test_without_a_relation_the_mean_wins(rng):
    frame = pd.DataFrame(rng.normal(size=(200, 6)), columns=list("abcdey"))
    found = section(table_of(frame), target="y", rng=rng)
    assert "clearly better than the mean alone" in found.meaning
    assert found.findings["what_matters"] == {}
    assert len(found.pictures) == 3


def test_paired_errors_are_those_of_the_differences(rng):
    frame = linear(rng)
    X, y = frame.drop(columns="y"), frame["y"].to_numpy()
    splits = folds(y, classes=False)
    found = [held_out(one, X, y, splits) for one in regressors()[:3]]
    ranked = compared(found)
    assert [less for _, less, _ in ranked] == sorted((less for _, less, _ in ranked), reverse=True)
    best, (other, less, error) = ranked[0][0], ranked[1]
    difference = other.log_p - best.log_p
    assert less == pytest.approx(difference.mean())
    assert error == pytest.approx(np.std(difference, ddof=1) / np.sqrt(len(y)))
    assert error < other.standard_error  # what rows have in common cancels


def test_held_out_rows_are_not_learned_from(rng):
    frame = pd.DataFrame({"x": rng.normal(size=60)})
    y = rng.normal(size=60)
    seen = []

    def learn(X, targets):
        seen.append(set(X.index))
        assert len(targets) == len(X)
        return lambda new: tractable.Normal(mean=np.zeros(len(new)), stddev=1.0)

    found = held_out(Candidate(name="zero", learn=learn), frame, y, folds(y, classes=False))
    for learned, (rows, _, _) in zip(seen, found.parts, strict=True):
        assert learned.isdisjoint(rows)
    np.testing.assert_allclose(found.log_p, tractable.Normal(mean=0.0, stddev=1.0).log_prob(y))


def test_importance_is_the_density_lost(rng):
    x = rng.normal(size=4000)
    frame = pd.DataFrame({"x": x, "idle": rng.normal(size=4000)})
    y = x + rng.normal(size=4000)

    def learn(X, targets):
        return lambda new: tractable.Normal(mean=new["x"].to_numpy(), stddev=1.0)

    found = held_out(Candidate(name="known", learn=learn), frame, y, folds(y, classes=False))
    first, second = importances(found, frame, y, ["idle", "x"], rng)
    assert (first.column, second.column) == ("x", "idle")
    assert abs(first.loss - 1.0) < 5.0 * first.standard_error  # E[(x - x')²] / 2
    assert (second.loss, second.standard_error) == (0.0, 0.0)
    by_shuffling = np.sqrt(2.0 / np.pi) * (np.sqrt(3.0) - 1.0)  # E|y - x'| - E|y - x|
    assert abs(first.added_error - by_shuffling) < 5.0 * first.added_error_standard_error
    assert second.added_error == 0.0


@pytest.mark.parametrize("one", regressors(), ids=lambda one: one.name)
def test_regressors_take_holes_and_new_categories(one, rng):
    frame = linear(rng, 80)
    frame.loc[::7, "strong"] = np.nan
    frame.loc[::9, "side"] = None
    X, y = frame.drop(columns="y"), frame["y"].to_numpy()
    predict = one.learn(X, y)
    new = X.head(5).assign(side=["left", "above", None, "right", "below"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # new categories are told of, and taken as the first
        log_p = predict(new).log_prob(y[:5])
    assert log_p.shape == (5,)
    assert np.isfinite(log_p).all()


@pytest.mark.parametrize("one", classifiers(), ids=lambda one: one.name)
def test_classifiers_give_probabilities_to_rows_with_holes(one, rng):
    frame = linear(rng, 80)
    y = (frame["y"] > 1.0).to_numpy().astype(int)
    X = frame.drop(columns="y")
    X.loc[::7, "strong"] = np.nan
    X.loc[::9, "side"] = None
    said = one.learn(X, y)(X)
    np.testing.assert_allclose(said.probabilities.sum(axis=1), 1.0)
    assert (said.probabilities > 0.0).all()
    assert np.mean(said.log_prob(y)) > np.log(0.4)


def test_holes_become_the_mean_and_a_column_that_says_so():
    X = pd.DataFrame({"x": [1.0, 3.0, np.nan], "c": ["a", "b", None]})
    encoded = encoder(X)(X)
    np.testing.assert_allclose(encoded[2, 0], 0.0, atol=1e-15)
    np.testing.assert_allclose(encoded[2, 1], 0.5)
    assert encoded[:, 2:].tolist() == [[0.0], [0.0], [1.0]]  # missing or not, in both columns at once
    X.loc[0, "x"] = np.nan
    assert encoder(X)(X)[:, 2:].tolist() == [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]


@pytest.mark.slow
def test_columns_that_determine_the_target_are_left_out(rng):
    frame = linear(rng)
    frame["y in cents"] = 100.0 * frame["y"]
    found = section(table_of(frame), target="y", rng=rng)
    assert any("determines the target: y in cents" in note for note in found.notes)
    assert "y in cents" not in found.findings["what_matters"]


@pytest.mark.slow
def test_rows_without_a_target_and_rare_classes_are_left_out(rng):
    frame = linear(rng)
    frame["kind"] = np.where(frame["y"] > 0, "high", "low")
    frame.loc[:2, "kind"] = "rare"
    frame.loc[3:6, "kind"] = None
    found = section(table_of(frame), target="kind", rng=rng)
    assert "4 rows without a target left out." in found.notes
    assert "Classes of fewer than 5 rows left out: rare." in found.notes


@pytest.mark.parametrize(
    ("frame", "target"),
    [
        ({"x": np.arange(40) ** 1.5}, "x"),
        ({"x": [1.5], "y": [2.5]}, "x"),
        ({"x": np.arange(40) ** 1.5, "y": [1.0] * 40}, "y"),
        ({"x": np.arange(40) ** 1.5, "y": ["a"] * 38 + ["b"] * 2}, "y"),
        ({"x": np.arange(40) ** 1.5, "y": [np.nan] * 40}, "y"),
        ({"x": np.arange(40) ** 1.5, "y": [f"word {i}" for i in range(40)]}, "y"),
    ],
    ids=["one column", "one row", "one value", "one class of size", "all missing", "names"],
)
def test_targets_that_cannot_be_predicted(frame, target, rng):
    found = section(table_of(pd.DataFrame(frame)), target=target, rng=rng)
    assert found.findings == {"best": None}
    assert found.done == "No models were compared."
    assert target in found.meaning


def test_no_target_no_section(rng):
    assert section(table_of(linear(rng)), rng=rng) is None


@pytest.mark.slow
def test_more_columns_than_rows(rng):
    x = rng.normal(size=(40, 70))
    frame = pd.DataFrame(x, columns=[f"c{j}" for j in range(70)])
    frame["c0"] = frame["c1"] * 5.0 + 0.1 * rng.normal(size=40)
    found = section(table_of(frame), target="c0", rng=rng)
    wide = "Linear regression and mixture of regressions left out: too few rows (40) for 69 columns."
    assert wide in found.notes
    run_code(found, frame)


def test_a_model_that_cannot_predict_shuffled_rows_is_reported_all_the_same(rng, monkeypatch):
    def fails(*_):
        raise ValueError("scale must be positive and finite, got inf")

    monkeypatch.setattr("tractable.report.models.importances", fails)
    x = rng.normal(size=60)
    found = section(table_of(pd.DataFrame({"x": x, "y": x + 0.1 * rng.normal(size=60)})), target="y", rng=rng)
    assert found.findings["what_matters"] == {}
    assert any("What matters is not said" in note for note in found.notes)


@pytest.mark.parametrize("name", ["linear regression", "mixture of regressions"])
def test_columns_that_are_missing_together_may_be_missing_alone_in_new_rows(rng, name):
    """As in permuted rows; equal indicators would leave their coefficients undetermined."""
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    y = X["a"].to_numpy() + np.where(rng.random(200) < 0.5, 3.0, -3.0)
    X.iloc[::5] = np.nan
    (candidate,) = [one for one in regressors() if one.name == name]
    alone = pd.DataFrame({"a": [np.nan, 1.0], "b": [1.0, np.nan]})
    assert np.isfinite(candidate.learn(X, y)(alone).stddev).all()
