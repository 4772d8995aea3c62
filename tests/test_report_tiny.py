"""Tables of a few rows or of one column: numbers stay numbers, and what is not there is accounted for."""

import numpy as np
import pandas as pd
import pytest

from tractable.report import clusters, make_report, outliers, overview, table_of
from tractable.report import map as row_map
from tractable.report.rows import unused_note


def prices(n):
    return pd.DataFrame({"price": [3.5, 1.25, 9.0, 4.75, 8.5][:n], "size": [2.1, 1.2, 7.7, 4.4, 1.2][:n]})


@pytest.mark.parametrize("n", [3, 5])
def test_few_numbers_are_points_not_categories(n, rng):
    found = overview.section(table_of(prices(n)), rng=rng)
    price, size = found.pictures
    assert price.caption == f"{n} values"
    assert size.caption == (f"{n} values" if n == 3 else "5 values, 4 of them different")
    assert price.alt.startswith("points of price: 3.5, 1.25, 9")
    assert "kernel" not in found.done
    assert "Numbers of few values are shown as they are." in found.done


def test_many_numbers_of_few_values_are_bars(rng):
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5] * 20, "y": rng.normal(size=60)})
    found = overview.section(table_of(frame), rng=rng)
    assert found.pictures[0].caption == "3 different values, n = 60"
    assert "kernel" in found.done
    assert "Numbers of few values" in found.done


def notes_of(frame, tmp_path, **options):
    return make_report(frame, path=tmp_path / "r.html", **options)


def test_sections_that_few_rows_do_not_make_are_accounted_for(tmp_path):
    summary = notes_of(prices(5), tmp_path)
    assert summary.sections == ("overview", "map")
    assert summary.notes == (
        "No columns are compared: a pair needs 10 different rows that have both entries.",
        "No clusters are looked for: a mixture needs 10 different rows with an entry, and there are 5.",
        "No outliers are looked for: a mixture needs 10 different rows with an entry, and there are 5.",
    )
    assert all(note in (tmp_path / "r.html").read_text(encoding="utf-8") for note in summary.notes)


@pytest.mark.slow
def test_sections_that_one_column_does_not_make(tmp_path, rng):
    summary = notes_of(pd.DataFrame({"x": rng.normal(size=60)}), tmp_path)
    assert summary.sections == ("overview", "clusters", "outliers", "what_if")
    assert summary.notes == (
        "No columns are compared: it takes two that hold numbers, dates or categories; there is 1.",
        "No map of the rows: it takes two columns of numbers that vary, and there is 1.",
    )


def test_a_table_of_names(tmp_path):
    summary = notes_of(pd.DataFrame({"who": [f"person {i}" for i in range(30)]}), tmp_path)
    assert summary.sections == ("overview",)
    assert "there is none" in summary.notes[0]
    assert "no column of numbers, or of few categories" in summary.notes[1]
    assert len(summary.notes) == 4


def test_two_rows_make_no_map(tmp_path):
    assert "No map of the rows: it takes three different rows with a number." in (
        notes_of(prices(2), tmp_path).notes
    )


@pytest.mark.slow
def test_a_usual_table_has_no_such_notes(tmp_path, rng):
    assert notes_of(pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]), tmp_path).notes == ()


def test_what_is_not_used_is_said_alike_in_all_sections(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]).assign(
        when=pd.date_range("2024-01-01", periods=60), id=np.arange(60), k=["u", "v"] * 30
    )
    table = table_of(frame)
    said = "Not used: when (a date) and id (names the rows)."
    assert unused_note(table) == (said,)
    assert said in clusters.section(table, rng=rng).notes
    assert said in outliers.section(table, rng=rng).notes
    drawn = row_map.section(table, target="k", rng=rng)
    assert said in drawn.notes
    assert any("k (categories)" in note for note in row_map.section(table, rng=rng).notes)
    assert unused_note(table, leave=["when", "id"]) == ()


@pytest.mark.slow
def test_one_and_many_in_words(rng):
    x = rng.normal(size=(60, 2))
    x[7, 0] = np.nan
    drawn = row_map.section(table_of(pd.DataFrame(x, columns=["a", "b"])), rng=rng)
    assert "1 missing entry was filled" in drawn.done
    far = np.r_[rng.normal(size=199), 1e6]
    for values, words in ((far, "1 far value is beyond"), (np.r_[far, 2e6], "2 far values are beyond")):
        assert words in overview.section(table_of(pd.DataFrame({"x": values})), rng=rng).pictures[0].caption
