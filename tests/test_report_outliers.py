"""Rows that were made strange are found, and the entries that make them so are blamed."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tractable
from section_code import run_code
from tractable.report import table_of
from tractable.report.outliers import (
    N_DRAWS,
    ColumnFacts,
    OutlierScores,
    long_tails,
    outlier_scores,
    predictive_draws,
    section,
    unexpected_entries,
)


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


def test_one_wrong_number_among_several_that_determine_it_is_the_one_that_is_named(rng):
    """Of the length, width, height and height in percent of a stone, a height of 0 contradicts all others."""
    length = rng.normal(6.0, 0.5, 400)
    depth = rng.normal(62.0, 1.0, 400)
    x = pd.DataFrame({"length": length, "width": length + rng.normal(0.0, 0.05, 400), "depth": depth})
    x["height"] = x["length"] * depth / 100.0 + rng.normal(0.0, 0.005, 400)
    model = tractable.GaussianMixture(1, random_state=0).fit(x)
    row = {"length": 6.0, "width": 6.02, "depth": 62.0, "height": 0.0}
    facts = ColumnFacts(scales={name: float(x[name].std()) for name in x})
    (only,) = unexpected_entries(model, row, (), facts=facts)
    assert only.column == "height"
    # Two wrong numbers: what is expected of each is given the right ones alone.
    found = unexpected_entries(model, {**row, "width": 60.0, "height": 8.0}, (), facts=facts)
    expected = {one.column: [float(end) for end in one.expected.split(" to ")] for one in found}
    assert set(expected) == {"width", "height"}
    assert expected["width"][0] < 6.0 < expected["width"][1]
    assert expected["height"][0] < 3.72 < expected["height"][1]


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 30, 100])
def test_few_normal_rows_are_rarely_called_unusual(n):
    """5 in 100 tables by design; without the uncertainty of the parameters it was more than 20."""
    called = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
        called += section(table_of(frame), rng=rng).findings["n_outliers"] > 0
    assert called <= 6  # 7 or more of 40 at 5 in 100: 0.3 %


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_draws_are_as_uncertain_as_the_parameters(kind, rng):
    """Rows that a model was not fitted to are beyond a quantile of the draws as often as they should be."""
    n, tails = 12, []
    for _ in range(200):
        x = rng.normal(size=(n + 1, 2))
        model = tractable.GaussianMixture(1, covariance_type=kind, reg_covar=0.0).fit(x[:n])
        drawn = predictive_draws(model, *model.sample(400, random_state=rng), n, rng)
        tails.append(np.mean(model.score_samples(drawn) <= model.score_samples(x[n:])))
    assert abs(np.mean(np.array(tails) <= 0.1) - 0.1) < 4.0 * np.sqrt(0.09 / 200)
    assert stats.kstest(tails, "uniform").pvalue > 1e-3


@pytest.mark.slow
def test_what_is_expected_is_within_the_limits_of_a_bounded_column(rng):
    """Grey values from 0 to 16, which many pixels have exactly."""
    grey = np.clip(rng.normal(8.0, 9.0, (400, 2)).round(), 0.0, 16.0)
    frame = pd.DataFrame({"a": grey[:, 0], "b": grey[:, 1], "c": rng.normal(size=400)})
    frame.loc[7, "c"] = 40.0
    for row in section(table_of(frame), rng=rng).tables[0].rows:
        for name, low, high in re.findall(r"([ab]) \S+ \(expected (\S+) to (\S+)\)", row[-1]):
            assert name in frame
            assert 0.0 <= float(low) <= float(high) <= 16.0


def test_blame_is_the_tail_of_the_conditional(rng):
    covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
    x = pd.DataFrame(rng.multivariate_normal([0.0, 0.0], covariance, 500), columns=["a", "b"])
    model = tractable.GaussianMixture(1).fit(x)
    found = unexpected_entries(model, {"a": 0.1, "b": 3.0}, ())
    given = model.distribution_.components[0].condition([0], [0.1])
    line = tractable.Normal(mean=given.mean[0], stddev=np.sqrt(given.covariance[0, 0]))
    assert found[0].column == "b"
    assert found[0].tail == pytest.approx(2.0 * float(line.survival(3.0)), rel=1e-9)


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
    assert 3 <= len(found.tables[0].rows) <= 8


@pytest.mark.slow
def test_bundled_table(rng):
    found = section(table_of(tractable.datasets.load("penguins").frame), rng=rng)
    row, _, _, why = found.tables[0].rows[0]
    assert row == "186"  # once in ten or twenty tables of as many penguins
    assert why.startswith("bill_length_mm 59.6 (expected 4")


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


def test_wrong_numbers_that_agree_with_each_other_are_blamed_and_not_the_right_ones(rng):
    size = rng.uniform(4.0, 9.0, 400)
    frame = pd.DataFrame({name: size + rng.normal(scale=0.05, size=400) for name in ("x", "y", "z")})
    frame["weight"] = 2.0 * size + rng.normal(scale=0.1, size=400)
    frame["price"] = 30.0 * size + rng.normal(scale=10.0, size=400)
    frame.loc[50, ["x", "y", "z"]] = 0.0  # not measured
    found = section(table_of(frame), rng=rng)
    assert found.findings["positions"][0] == 50
    assert set(found.findings["columns"][0]) == {"x", "y", "z"}


@pytest.mark.parametrize(("degrees", "misfit"), [(4.0, True), (np.inf, False)])
def test_long_tails_are_told_from_mistakes(rng, degrees, misfit):
    n = 20_000
    z = np.abs(rng.standard_t(degrees, n) if misfit else rng.normal(size=n))
    z[:300] = 30.0  # mistakes, in either table
    tails = 2.0 * stats.norm.sf(z)
    scores = OutlierScores(tails=tails, below=z**2 / 2.0, usual=rng.normal(size=n) ** 2 / 2.0)
    assert len(scores.beyond(1e-4)) > 300 - 1
    assert long_tails(scores, 1e-4) == misfit


@pytest.mark.slow
def test_the_number_of_improbable_rows_is_no_finding_where_tails_are_long(rng):
    x = np.c_[rng.standard_t(1.5, size=(3000, 2)), rng.normal(size=3000)]
    x[17] = [0.0, 9000.0, 0.0]
    found = section(table_of(pd.DataFrame(x, columns=list("abc"))), rng=rng)
    assert found.findings["n_outliers"] == 0 < found.findings["n_beyond"]
    assert found.headline.startswith("The least probable row is row 18: b is 9,000, where ")
    assert found.meaning.startswith("How many rows are outliers is not known")
    assert found.tables[0].rows[0][0] == "18"
