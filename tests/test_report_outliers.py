"""Rows that were made strange are found, and the entries that make them so are blamed."""

import numpy as np
import pandas as pd
import pytest

import tractable
from section_code import run_code
from tractable.report import table_of
from tractable.report.outliers import N_DRAWS, outlier_scores, section, unexpected_entries


def related(rng, n=200):
    z = rng.normal(size=n)
    return pd.DataFrame(
        {
            "height": 170.0 + 10.0 * z,
            "reach": 170.0 + 10.0 * z + rng.normal(size=n),
            "other": rng.normal(size=n),
        }
    )


@pytest.mark.slow
def test_a_row_that_breaks_a_relation_is_found_and_blamed(rng):
    frame = related(rng)
    frame.loc[17, ["height", "reach"]] = [185.0, 155.0]  # each of them usual
    found = section(table_of(frame), rng=rng)
    assert found.findings["positions"][0] == 17
    assert found.findings["columns"][0][0] in ("height", "reach")
    assert found.tables[0].rows[0][0] == "18"
    scope = run_code(found, frame)
    assert int(np.argmin(scope["log_density"])) == 17


@pytest.mark.slow
def test_a_far_entry_throws_no_suspicion_on_the_others(rng):
    frame = related(rng)
    frame.loc[17, "reach"] = 400.0
    found = section(table_of(frame), rng=rng)
    assert found.findings["positions"][0] == 17
    assert found.findings["columns"][0] == ["reach"]
    assert "reach is 400" in found.meaning


@pytest.mark.slow
def test_outliers_do_not_hide_each_other(rng):
    frame = related(rng)
    rows = [3, 50, 99, 140, 180]
    frame.loc[rows, "other"] = [60.0, 61.0, 59.0, 60.5, 59.5]
    found = section(table_of(frame), rng=rng)
    assert sorted(found.findings["positions"][:5]) == rows
    assert all(columns == ["other"] for columns in found.findings["columns"][:5])


@pytest.mark.slow
def test_a_category_is_blamed_too(rng):
    n = 200
    kind = np.where(np.arange(n) % 2, "cat", "dog")
    frame = pd.DataFrame({"kind": kind, "weight": np.where(kind == "cat", 4.0, 30.0) + rng.normal(size=n)})
    frame["claws"] = np.where(kind == "cat", "sharp", "blunt")
    frame.loc[11, "kind"] = "dog"  # with the weight and the claws of a cat
    found = section(table_of(frame), rng=rng)
    strangest = found.tables[0].rows[0]
    assert strangest[0] == "12"
    assert strangest[-1].startswith("kind dog (expected cat")


def test_rows_of_the_model_are_as_strange_as_expected(rng):
    frame = pd.DataFrame(rng.normal(size=(4000, 2)), columns=["a", "b"])
    model = tractable.GaussianMixture(1).fit(frame)
    tails = outlier_scores(model, frame, rng).tails
    for level in (0.01, 0.1, 0.5):
        error = np.sqrt(level * (1.0 - level) * (1.0 / len(frame) + 1.0 / N_DRAWS))
        assert abs(np.mean(tails <= level) - level) < 5.0 * error


def test_rows_with_holes_are_compared_with_their_like(rng):
    x = rng.normal(size=(4000, 2)) * [1.0, 1e-3]  # a narrow column: densities with and without it differ much
    x[2000:, 1] = np.nan
    frame = pd.DataFrame(x, columns=["a", "b"])
    model = tractable.GaussianMixture(1).fit(frame)
    tails = outlier_scores(model, frame, rng).tails
    for half in (tails[:2000], tails[2000:]):
        error = np.sqrt(0.25 * (1.0 / 2000 + 1.0 / N_DRAWS))
        assert abs(np.mean(half <= 0.5) - 0.5) < 5.0 * error


def test_blame_is_the_tail_of_the_conditional(rng):
    covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
    x = pd.DataFrame(rng.multivariate_normal([0.0, 0.0], covariance, 500), columns=["a", "b"])
    model = tractable.GaussianMixture(1).fit(x)
    found = unexpected_entries(model, {"a": 0.1, "b": 3.0}, ())
    given = model.distribution_.components[0].condition([0], [0.1])
    line = tractable.Normal(mean=given.mean[0], stddev=np.sqrt(given.covariance[0, 0]))
    assert found[0].column == "b"
    assert found[0].tail == pytest.approx(2.0 * float(line.survival(3.0)), rel=1e-9)


@pytest.mark.slow
def test_the_target_may_make_a_row_strange(rng):
    frame = related(rng)
    frame.loc[17, "reach"] = 100.0
    found = section(table_of(frame), target="reach", rng=rng)
    assert found.findings["positions"][0] == 17


@pytest.mark.slow
def test_named_rows_are_told_by_name(rng):
    frame = related(rng)
    frame.insert(0, "name", [f"person {i}" for i in range(len(frame))])
    frame.loc[17, "reach"] = 400.0
    found = section(table_of(frame), rng=rng)
    assert found.tables[0].head[:2] == ("row", "name")
    assert found.tables[0].rows[0][1] == "person 17"


@pytest.mark.parametrize(
    "frame",
    [{"x": [1.5]}, {"x": [np.nan] * 30}, {"x": [2.0] * 30, "y": ["a"] * 30}],
    ids=["one row", "all missing", "constants"],
)
def test_nothing_to_judge(frame, rng):
    assert section(table_of(pd.DataFrame(frame)), rng=rng) is None


@pytest.mark.parametrize("shape", [(12, 3), (30, 80)], ids=["few rows", "more columns than rows"])
def test_small_tables_are_judged(shape, rng):
    frame = pd.DataFrame(rng.normal(size=shape), columns=[f"c{j}" for j in range(shape[1])])
    found = section(table_of(frame), rng=rng)
    assert len(found.tables[0].rows) == 8


@pytest.mark.slow
def test_bundled_table(rng):
    found = section(table_of(tractable.datasets.load("penguins").frame), rng=rng)
    assert found.findings["positions"][0] == 185  # the bill of 59.6 mm
    assert found.findings["columns"][0] == ["bill_length_mm"]


@pytest.mark.slow
def test_rows_are_judged_though_holes_are_everywhere(rng):
    x = rng.normal(size=(300, 6))
    x[rng.uniform(size=x.shape) < 0.2] = np.nan
    x[17] = [0.0, 9.0, np.nan, 0.0, 0.0, np.nan]
    found = section(table_of(pd.DataFrame(x, columns=list("abcdef"))), rng=rng)
    assert found.findings["positions"][0] == 17
    assert found.findings["columns"][0] == ["b"]
    assert not any("not judged" in note for note in found.notes)


def test_the_ends_of_the_whole_table_are_judged_where_a_sample_is_held(rng):
    frame = pd.DataFrame(rng.normal(size=(6000, 3)), columns=["a", "b", "c"])
    plain = section(table_of(frame, max_rows=400, random_state=1), rng=rng)
    assert plain.findings["ends"] == []
    assert "of the whole table is farther out than chance allows" in plain.headline
    frame.loc[4321, "b"] = 12.0
    table = table_of(frame, max_rows=400, random_state=1)
    assert 4321 not in table.positions
    found = section(table, rng=rng)
    assert found.findings["ends"] == [["b", 4321]]
    assert "In the whole table b reaches 12, in row 4,322, where nine in ten rows have -1." in found.meaning


def test_a_number_that_follows_from_another_is_expected(rng):
    n = 300
    size = rng.normal(50.0, 10.0, n)
    group = rng.choice(["red", "blue"], n)
    frame = pd.DataFrame({"size": size, "weight": 2.0 * size + rng.normal(size=n), "group": group})
    frame.loc[7, ["size", "weight"]] = 80.0, 160.0  # far, but as the others
    frame.loc[9, ["size", "weight"]] = 50.0, 130.0  # usual one by one
    found = section(table_of(frame), rng=rng)
    assert found.findings["positions"] == [9]
    assert "row 10: weight is 130, where 9" in found.headline or "row 10: size is 50" in found.headline
