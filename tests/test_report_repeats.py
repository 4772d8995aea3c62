"""Rows that are there more than once: counted, told from rows alike by chance, and each taken once."""

import numpy as np
import pandas as pd
import pytest

from section_code import run_code
from tractable import datasets
from tractable.report import (
    clusters,
    dependence,
    outliers,
    overview,
    pairwise_dependence,
    read_table,
    table_of,
)
from tractable.report import map as row_map
from tractable.report.mutual_information import pairs_of
from tractable.report.rows import copied_rows, deduplicated, duplicate_mask, equal_rows


def normals(rng, n=150, times=3, digits=15):
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd")).round(digits)
    return pd.concat([frame] * times, ignore_index=True)


@pytest.mark.parametrize("digits", [15, 2, 1])
@pytest.mark.parametrize("times", [2, 3, 10])
def test_copies_are_found_in_fine_and_in_rounded_numbers(digits, times, rng):
    copies = duplicate_mask(normals(rng, times=times, digits=digits))
    assert not copies[:150].any()
    assert copies[150:].all()


def test_one_copy_is_found(rng):
    frame = normals(rng, times=1)
    assert duplicate_mask(pd.concat([frame, frame[:1]])).sum() == 1


def doses(rng):
    dose = rng.choice([0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 5.0, 10.0, 30.0, 50.0, 100.0, 300.0], 500)
    return {"dose": dose, "ill": np.where(rng.random(500) < dose / (1.0 + dose), "yes", "no")}


def heights(rng):
    height = np.rint(170 + 10 * rng.normal(size=2000))
    return {"height": height, "weight": np.rint(70 + 0.8 * (height - 170) + 5 * rng.normal(size=2000))}


def counts(rng):
    rate = np.exp(2.0 * rng.normal(size=(600, 1)) - 2.0)
    return {f"n{j}": rng.poisson(rate).astype(float).ravel() for j in range(12)}


def answers(rng):
    mood = rng.normal(size=600)
    return {f"q{j}": np.where(mood + rng.normal(size=600) > 0, "yes", "no") for j in range(8)}


def unmeasured(rng):
    x = np.r_[rng.normal(size=100), np.full(100, np.nan)]
    return {"x": x, "y": x**2, "k": rng.choice(["a", "b"], 200)}


@pytest.mark.parametrize("made", [doses, heights, counts, answers, unmeasured])
def test_rows_that_are_alike_by_chance_are_no_copies(made, rng):
    """Few doses, rounded heights, many zeros, yes and no, rows without numbers."""
    frame = pd.DataFrame(made(rng))
    assert frame.duplicated().sum() > 50
    assert not duplicate_mask(frame).any()


@pytest.mark.parametrize("name", datasets.names())
def test_no_bundled_table_has_copies(name):
    assert not copied_rows(table_of(datasets.load(name).frame)).any()


def test_columns_that_name_rows_and_empty_rows_are_left_aside(rng):
    frame = normals(rng).assign(id=np.arange(450))
    assert equal_rows(table_of(frame)).sum() == copied_rows(table_of(frame)).sum() == 300
    empty = table_of(pd.DataFrame({"a": [1.5, np.nan, np.nan, 2.5], "b": ["x", None, None, "y"]}))
    assert not equal_rows(empty).any()
    nothing = table_of(pd.DataFrame({"a": [None] * 4, "id": [f"r{i}" for i in range(4)]}))
    assert not equal_rows(nothing).any()
    assert deduplicated(nothing) is nothing


def test_dependence_is_tested_on_distinct_rows(rng):
    frame = normals(rng)
    once, thrice = table_of(frame[:150]), table_of(frame)
    found = dependence.section(thrice, rng=rng)
    assert found.findings["more_than_chance"] == 0
    assert any("300 copies of other rows left out" in note for note in found.notes)
    assert not any("copies" in note for note in dependence.section(once, rng=rng).notes)
    pd.testing.assert_frame_equal(pairwise_dependence(thrice), pairwise_dependence(once))


@pytest.mark.slow
def test_copies_do_not_make_dependence(rng):
    """Of tables of independent columns, each row there three times, about one in ten has p below a tenth."""
    p_values = [pairs_of(table_of(normals(rng, n=60)[["a", "b"]]))[0].p_value for _ in range(200)]
    assert abs(np.mean(np.array(p_values) < 0.1) - 0.1) < 5 * np.sqrt(0.09 / 200)


@pytest.mark.slow
def test_the_overview_counts_and_warns(rng):
    found = overview.section(table_of(normals(rng)), rng=rng)
    assert "Beware of copies. 300 of 450 rows have the same entries as an earlier row" in found.meaning
    assert (found.findings["equal_rows"], found.findings["copies"]) == (300, 300)
    chance = overview.section(table_of(datasets.load("iris").frame), rng=rng)
    assert "1 of 150 rows has the same entries as an earlier row, as may be by chance" in chance.meaning
    assert (chance.findings["equal_rows"], chance.findings["copies"]) == (1, 0)
    assert "same entries" not in overview.section(table_of(datasets.load("wine").frame), rng=rng).meaning


@pytest.mark.slow
def test_densities_are_of_different_rows(rng):
    """Copies would look like sharp peaks: the picture is that of the rows without them."""
    frame = normals(rng, n=200)
    thrice, once = (overview.section(table_of(part), rng=rng) for part in (frame, frame[:200]))
    assert [drawn.svg for drawn in thrice.pictures] == [drawn.svg for drawn in once.pictures]
    assert "Numbers (of the 200 different rows) are smoothed" in thrice.done


def test_of_a_sample_it_is_said(tmp_path, rng):
    normals(rng, n=1000).to_csv(tmp_path / "t.csv", index=False)
    said = overview.section(read_table(tmp_path / "t.csv", max_rows=2000), rng=rng).meaning
    assert "of the 2,000 rows that are kept have the same entries" in said
    assert "In the whole table there will be more." in said


@pytest.mark.slow
def test_models_of_the_rows_take_each_once(rng):
    frame = normals(rng)
    table = table_of(frame)
    for section in (clusters, row_map, outliers):
        found = section.section(table, rng=rng)
        assert "300 copies of other rows left out: each row counts once." in found.notes
        assert len(run_code(found, frame)["rows"]) == 150
    assert clusters.section(table, rng=rng).findings["by_bic"] == 1


@pytest.mark.slow
def test_the_code_of_the_dependence_section_runs(rng):
    """It prints the pairs of the section, and the correlations that turn round within groups."""
    frame = datasets.load("penguins").frame
    found = dependence.section(table_of(frame), rng=rng)
    scope = run_code(found, frame)
    assert "groupby('species')" in found.code
    strongest = scope["pairwise_dependence"](scope["table"]).iloc[0]
    assert [strongest["a"], strongest["b"]] == found.findings["strongest"][0]["columns"]
    assert round(strongest["strength"], 4) == found.findings["strongest"][0]["strength"]
