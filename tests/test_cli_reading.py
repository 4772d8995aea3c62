"""One reader: what `tractable report` says of a text file is what `fit` and `predict` make of it."""

import json
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import tractable
from tractable.cli import app
from tractable.cli.tables import open_table
from tractable.data import text_table as text_blocks
from tractable.report import read_table

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"x": RNG.normal(size=60), "y": RNG.normal(size=60)}).assign(
    y=lambda d: 2.0 * d["x"] + 0.1 * d["y"]
)


@pytest.fixture(params=["held", "streamed"])
def walk(request, monkeypatch):
    """Small tables are held in memory, large ones streamed: here small ones are both, in small blocks."""
    if request.param == "streamed":
        monkeypatch.setattr("tractable.cli.fit.HELD_BYTES", 0)
        monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1024)


def done(*words):
    found = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert found.exit_code == 0, found.stderr
    return json.loads(found.stdout)


def refused(*words):
    found = CliRunner().invoke(app, [*map(str, words)])
    assert found.exit_code == 2, found.output
    return found.stderr.splitlines()[-1]


def wanted(frame=FRAME):
    return tractable.LinearRegression().fit(frame[["x"]].to_numpy(), frame["y"].to_numpy()).coef_


def test_a_file_without_names_loses_no_row(tmp_path, walk):
    rows = tmp_path / "rows.csv"
    FRAME.to_csv(rows, index=False, header=False)
    said = done("fit", "LinearRegression", rows, "-t", "column 2", "-s", tmp_path / "m")
    assert (said["rows"], said["features"]) == (60, ["column 1"])
    assert said["notes"][0] == "The first line holds numbers only, so the columns have no names."
    assert read_table(rows).names() == ["column 1", "column 2"]
    np.testing.assert_allclose(tractable.load(tmp_path / "m").coef_, wanted(), rtol=1e-9)
    assert done("predict", tmp_path / "m", rows, "-o", tmp_path / "o.csv")["rows"] == 60


@pytest.mark.parametrize("sign", ["?", "-", " NA ", "missing", "n/a"])
def test_signs_for_nothing_are_missing(sign, tmp_path, walk):
    texts = FRAME.astype(str)
    texts.loc[[3, 40], "x"] = sign
    texts.to_csv(tmp_path / "rows.csv", index=False)
    words = ("fit", "LinearRegression", tmp_path / "rows.csv", "-t", "y", "-s", tmp_path / "m")
    assert "'x' has missing entries" in refused(*words)
    said = done(*words, "--drop-missing")
    assert (said["rows"], said["rows_left_out"]) == (58, 2)
    column = read_table(tmp_path / "rows.csv").column("x")
    assert (column.kind, column.n_missing) == ("number", 2)
    np.testing.assert_allclose(tractable.load(tmp_path / "m").coef_, wanted(FRAME.drop([3, 40])), rtol=1e-9)


def test_blanks_about_names_and_words_are_none(tmp_path, walk):
    lines = [f"{x}, {y} , {'red ' if x > 0 else 'blue'}" for x, y in FRAME.to_numpy()]
    (tmp_path / "rows.csv").write_text("x, y , colour\n" + "\n".join(lines) + "\n")
    said = done(
        *("fit", "LinearRegression", tmp_path / "rows.csv", "-t", "y", "-f", "x"), "-s", tmp_path / "m"
    )
    assert (said["target"], said["rows"]) == ("y", 60)
    np.testing.assert_allclose(tractable.load(tmp_path / "m").coef_, wanted(), rtol=1e-9)
    said = done("fit", "NaiveBayes", tmp_path / "rows.csv", "-t", "colour", "-s", tmp_path / "n")
    assert said["classes"] == ["blue", "red"]
    assert read_table(tmp_path / "rows.csv").names() == ["x", "y", "colour"]


@pytest.mark.parametrize("name", ["rows.txt", "rows.dat", "rows", "rows.tab"])
def test_text_is_read_whatever_its_ending(name, tmp_path, walk):
    FRAME.to_csv(tmp_path / name, index=False, sep="\t")
    said = done("fit", "LinearRegression", tmp_path / name, "-t", "y", "-s", tmp_path / "m")
    assert (said["rows"], said["features"]) == (60, ["x"])
    done("predict", tmp_path / "m", tmp_path / name, "-o", tmp_path / "o.parquet")
    found = pd.read_parquet(tmp_path / "o.parquet")["prediction"]
    np.testing.assert_allclose(found, tractable.load(tmp_path / "m").predict(FRAME[["x"]]), rtol=1e-12)


def late(n_odd, n=3000):
    """Numbers, and words in the last rows, long after the first block."""
    texts = [str(i / 7) for i in range(n - n_odd)] + ["broken"] * n_odd
    return "x,y\n" + "".join(f"{x},{i % 5}\n" for i, x in enumerate(texts))


def test_a_few_words_among_numbers_are_missing(tmp_path, walk):
    """Wherever they stand; as in the report, and it is said."""
    (tmp_path / "rows.csv").write_text(late(3))
    words = ("fit", "LinearRegression", tmp_path / "rows.csv", "-t", "y", "-s", tmp_path / "m")
    assert "'x' has missing entries" in refused(*words)
    said = done(*words, "--drop-missing")
    assert (said["rows"], said["rows_left_out"]) == (2997, 3)
    assert "'x' has entries that are no numbers, such as 'broken': missing" in said["warnings"]
    column = read_table(tmp_path / "rows.csv").column("x")
    assert (column.kind, column.n_missing) == ("number", 3)


def test_many_words_after_numbers_are_an_error_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1024)
    (tmp_path / "rows.csv").write_text(late(1000))
    words = ("fit", "LinearRegression", tmp_path / "rows.csv", "-t", "y", "-s", tmp_path / "m")
    error = refused(*words, "--drop-missing")
    assert error.endswith("'x' holds numbers at first and other things later, such as 'broken'")
    assert "conversion" not in error


def test_truth_values_that_end_are_an_error_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1024)
    (tmp_path / "rows.csv").write_text("x,y\n" + "true,1\nfalse,2\n" * 500 + "maybe,3\n")
    error = refused("fit", "LinearRegression", tmp_path / "rows.csv", "-t", "y", "-s", tmp_path / "m")
    assert "'x' holds truth values at first and other things later" in error


def test_every_row_comes_once_where_the_walk_turns_careful(tmp_path, monkeypatch):
    """The blocks that were read before the odd entry are not read twice."""
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 4096)
    (tmp_path / "rows.csv").write_text(late(3))
    with pytest.warns(UserWarning, match="'x' has entries that are no numbers"):
        blocks = list(open_table(str(tmp_path / "rows.csv")).blocks(["y", "x"]))
    assert len(blocks) > 3
    found = pa.concat_tables(blocks).to_pandas()
    texts = pd.read_csv(tmp_path / "rows.csv", dtype=str)
    np.testing.assert_array_equal(found["y"], texts["y"].astype(float))
    np.testing.assert_array_equal(
        found["x"], [np.nan if text == "broken" else float(text) for text in texts["x"]]
    )


def test_files_of_one_table_may_be_written_in_several_ways(tmp_path):
    FRAME[:20].to_csv(tmp_path / "a.csv", index=False)
    FRAME.loc[20:39, ["y", "x"]].to_csv(tmp_path / "b.csv", index=False, sep=";", decimal=",")
    FRAME[40:].to_csv(tmp_path / "c.csv.gz", index=False)
    (tmp_path / "d.csv").write_text("x,y\n")
    said = done("fit", "LinearRegression", tmp_path, "-t", "y", "-s", tmp_path / "m")
    assert said["rows"] == 60
    np.testing.assert_allclose(tractable.load(tmp_path / "m").coef_, wanted(), rtol=1e-9)
    (tmp_path / "e.csv").write_text("z,y\n1,2\n")
    assert "no column 'x' in " in refused("fit", "Ridge", tmp_path, "-t", "y", "-s", tmp_path / "m")


def test_dates_are_dates_however_they_are_written(tmp_path):
    days = pd.date_range("2020-01-25", periods=30)
    frame = pd.DataFrame(
        {"iso": days.strftime("%Y-%m-%d"), "local": days.strftime("%d.%m.%Y"), "x": range(30)}
    )
    frame.to_csv(tmp_path / "rows.csv", index=False)
    table = open_table(str(tmp_path / "rows.csv"))
    assert [str(kind) for kind in table.types.values()] == ["date32[day]", "timestamp[s]", "int64"]
    assert read_table(tmp_path / "rows.csv").names("date") == ["iso", "local"]
    error = refused("fit", "TableMixture", tmp_path / "rows.csv", "-s", tmp_path / "m")
    assert "--features x are those that do" in error
    done("fit", "GaussianDensity", tmp_path / "rows.csv", "-f", "x", "-s", tmp_path / "m")
    done(
        "predict", tmp_path / "m", tmp_path / "rows.csv", "-o", tmp_path / "o.parquet", "--keep", "iso,local"
    )
    found = pd.read_parquet(tmp_path / "o.parquet")
    assert found["iso"].astype(str).tolist() == frame["iso"].tolist()
    assert found["local"].tolist() == frame["local"].tolist()


def test_other_letters_after_the_first_megabyte_are_an_error_in_a_sentence(tmp_path):
    body = b"x,w\n" + b"1.5,plain\n" * 200_000 + b"2.5,\xe9t\xe9\n"
    (tmp_path / "rows.csv").write_bytes(body)
    words = ("fit", "NaiveBayes", tmp_path / "rows.csv", "-t", "w", "-s", tmp_path / "m")
    assert refused(*words).endswith("is not UTF-8, though it begins so; save it as UTF-8")


def test_plain_files_warn_of_nothing(tmp_path, walk):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = done("fit", "LinearRegression", tmp_path / "rows.csv", "-t", "y", "-s", tmp_path / "m")
    assert "notes" not in said
    assert "warnings" not in said


@pytest.mark.parametrize("size", [1_200_000, 3_000_000])
def test_a_long_field_without_quotation_marks_is_no_mark_that_is_never_closed(size, tmp_path):
    """A field of several lines would be; one line is a long field, however long."""
    lines = [f"{i},{i / 7},word" for i in range(50)]
    lines.insert(20, f"1,2,{'x' * size}")
    (tmp_path / "long.csv").write_text("x,y,w\n" + "\n".join(lines) + "\n")
    said = done("fit", "LinearRegression", tmp_path / "long.csv", "-t", "y", "-f", "x", "-s", tmp_path / "m")
    assert said["rows"] == 51
    done("predict", tmp_path / "m", tmp_path / "long.csv", "-o", tmp_path / "o.csv", "--keep", "w")
    kept = (tmp_path / "o.csv").read_text().splitlines()
    assert [len(line.partition(",")[0]) for line in kept[1:]] == [4] * 20 + [size] + [4] * 30
    table = read_table(tmp_path / "long.csv")
    assert table.n_rows == 51
    assert not any("never closed" in note for note in table.notes)


def test_a_mark_that_is_never_closed_is_one_in_files_of_any_size(tmp_path, monkeypatch):
    rows = "".join(f"{i},{i / 7},word\n" for i in range(200_000))
    (tmp_path / "open.csv").write_text('x,y,w\n1,2,"word\n' + rows)
    assert (tmp_path / "open.csv").stat().st_size > 2**22
    error = refused("fit", "Ridge", tmp_path / "open.csv", "-t", "y", "-f", "x", "-s", tmp_path / "m")
    assert error.endswith("a quotation mark is never closed")
    assert any("quotation marks were taken as letters" in n for n in read_table(tmp_path / "open.csv").notes)
