"""Columns that no model needs pass through every command and `predict_to` as they are."""

import csv
import datetime as dt
import decimal
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import tractable
from tractable.cli import app
from tractable.data import text_table

#: Entries of columns that are easily changed by reading them as numbers, dates or truth values.
TEXTS = {
    "id": ["123456789012345671", "123456789012345672", "9007199254740993", "-9223372036854775808"],
    "long": ["12345678901234567890123", "1", "22", "333"],
    "zip": ["01067", "00501", "80331", "007"],
    "decimals": ["1.50", "2.00", "-0.10", "3"],
    "exponents": ["1e3", "1E-05", "+7", "1.0e10"],
    "amounts": ["$1,234.50", "($12.00)", "12 $", "$7"],
    "day": ["31/12/2020", "01/02/2021", "15/08/2022", "03/03/2023"],
    "iso": ["2020-12-31", "2021-02-01", "2022-08-15", "2023-03-03"],
    "moment": [
        "2020-12-31T10:00:00Z",
        "2021-02-01T00:00:00Z",
        "2022-08-15T23:59:59Z",
        "2023-03-03T01:02:03Z",
    ],
    "truth": ["TRUE", "False", "true", "FALSE"],
    "word": ["Müller", 'said "no"', "a, b", "two\nlines"],
    "blanks": [" 7", "8 ", " 9 ", "10"],
    "signs": ["NA", "?", "-", "n/a"],
}
#: Columns of numbers in which entries are missing, by the signs of several programs.
GAPS = {"gaps": ["123456789012345671", "NA", "123456789012345673", ""], "half": ["1.10", "", "?", "2.20"]}


def table(n=4):
    """The texts, repeated to n rows, beside columns that a model needs."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: np.resize(texts, n) for name, texts in (TEXTS | GAPS).items()}, dtype=object)
    return frame.assign(x=rng.normal(size=n).round(3).astype(str), y=rng.normal(size=n).round(3).astype(str))


def read(text):
    """The fields of a CSV file as they stand, by column."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    return {name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}


def run(*words):
    found = CliRunner().invoke(app, [str(word) for word in words])
    assert found.exit_code == 0, found.output
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(size=(30, 2)), columns=["x", "y"])
    tractable.save(tractable.LinearRegression().fit(rows[["x"]], rows["y"]), "m")
    return tmp_path


@pytest.fixture(params=["whole", "in blocks"])
def blocks(request, monkeypatch):
    if request.param == "in blocks":
        monkeypatch.setattr(text_table, "BLOCK_BYTES", 2048)


@pytest.mark.parametrize("keep", [*TEXTS, *GAPS, "x", "all"])
def test_predict_copies_text_letter_by_letter(folder, keep, blocks):
    table(60).to_csv("t.csv", index=False)
    run("predict", "m", "t.csv", "-o", "o.csv", "--keep", keep)
    found, given = read(Path("o.csv").read_text()), read(Path("t.csv").read_text())
    assert found.pop("prediction")
    assert found == (given if keep == "all" else {keep: given[keep]})
    piped = run("predict", "m", "t.csv", "--keep", keep).stdout
    assert piped == Path("o.csv").read_text()


def test_commas_before_fractions_are_points_and_nothing_else_changes(folder):
    Path("t.csv").write_text(
        "x;id;amount;zip\n1,5;12345678901234567890;1,50;01067\n2,5;7;22,00;80331\n0,5;8;3;00501\n"
    )
    run("predict", "m", "t.csv", "-o", "o.csv", "--keep", "id,amount,zip,x")
    found = read(Path("o.csv").read_text())
    assert found["id"] == ["12345678901234567890", "7", "8"]
    assert found["amount"] == ["1.50", "22.00", "3"]
    assert found["zip"] == ["01067", "80331", "00501"]
    assert found["x"] == ["1.5", "2.5", "0.5"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_letters_of_other_encodings_stay_letters(folder, encoding):
    frame = table(8)
    frame.to_csv("t.csv", index=False, encoding=encoding)
    run("predict", "m", "t.csv", "-o", "o.csv", "--keep", "word,id")
    found = read(Path("o.csv").read_text(encoding="utf-8"))
    assert (found["word"], found["id"]) == (frame["word"].tolist(), frame["id"].tolist())


def test_parquet_gets_types_that_hold_the_text(folder, blocks):
    table(60).to_csv("t.csv", index=False)
    run("predict", "m", "t.csv", "-o", "o.parquet", "--keep", "all")
    found = pq.read_table("o.parquet").drop(["prediction"])
    kinds = {name: str(found.schema.field(name).type) for name in found.column_names}
    assert kinds == {
        **dict.fromkeys(TEXTS, "string"),
        **dict.fromkeys(["id", "gaps", "blanks"], "int64"),
        **dict.fromkeys(["decimals", "half", "signs", "x", "y"], "double"),
        "iso": "date32[day]",
        "truth": "bool",
    }
    given = table(60)
    assert found["id"].to_pylist() == [int(text) for text in given["id"]]
    assert found["gaps"].to_pylist()[:4] == [123456789012345671, None, 123456789012345673, None]
    for name, kind in kinds.items():
        if kind == "string":
            assert found[name].to_pylist() == given[name].tolist()


def test_a_number_that_comes_late_changes_the_type_of_its_column(folder, monkeypatch):
    monkeypatch.setattr(text_table, "BLOCK_BYTES", 1024)
    lines = [f"{i},{i},{i}" for i in range(2000)] + ["1,007,99999999999999999999", "2,2.5,1"]
    Path("t.csv").write_text("x,a,b\n" + "\n".join(lines) + "\n")
    run("predict", "m", "t.csv", "-o", "o.parquet", "--keep", "a,b")
    found = pq.read_table("o.parquet")
    assert found["a"].to_pylist()[-3:] == ["1999", "007", "2.5"]
    assert found["b"].to_pylist()[-2:] == ["99999999999999999999", "1"]


MONEY = [decimal.Decimal("1.10"), decimal.Decimal("99.99")]
ARROW = {
    "id": pa.array([123456789012345671, None, 9007199254740993, 4] * 5, pa.int64()),
    "large": pa.array([2**64 - 1, 2**63, None, 0] * 5, pa.uint64()),
    "small": pa.array([1, None, 3, 200] * 5, pa.uint8()),
    "single": pa.array([1.5, 0.1, None, 3.0] * 5, pa.float32()),
    "money": pa.array([*MONEY, None, None] * 5, pa.decimal128(18, 2)),
    "narrow": pa.array([*MONEY, None, None] * 5, pa.decimal128(4, 2)),
    "when": pa.array([dt.datetime(2020, 1, 1, 12), None] * 10, pa.timestamp("us", "UTC")),
    "code": pa.array(["a", None, "b", "a"] * 5).dictionary_encode(),
    "raw": pa.array([b"ab", None] * 10),
    "list": pa.array([[1, 2], None, [], [3]] * 5),
    "struct": pa.array([{"a": 1, "b": "x"}, None] * 10),
    "map": pa.array([[("k", 1)], None] * 10, pa.map_(pa.string(), pa.int64())),
}


@pytest.fixture
def typed(folder):
    rng = np.random.default_rng(0)
    found = pa.table({**ARROW, "x": rng.normal(size=20), "y": rng.normal(size=20)})
    pq.write_table(found, "t.parquet")
    return found


@pytest.mark.parametrize("name", ARROW)
def test_columns_of_parquet_keep_their_types(typed, name):
    run("predict", "m", "t.parquet", "-o", "o.parquet", "--keep", name)
    assert pq.read_table("o.parquet").column(name).combine_chunks() == typed.column(name).combine_chunks()
    if not pa.types.is_nested(typed.schema.field(name).type):
        run("predict", "m", "t.parquet", "-o", "o.csv", "--keep", name)
        found = read(Path("o.csv").read_text())[name]
        wanted = typed.column(name).cast(pa.string()).to_pylist()
        assert found == ["" if text is None else text for text in wanted]


@pytest.mark.parametrize("name", ["list", "struct", "map"])
def test_csv_refuses_lists_structs_and_maps_before_any_work(typed, name):
    for words in (
        ["predict", "m", "t.parquet", "-o", "o.csv", "--keep", name],
        ["complete", "t.parquet", "-o", "o.csv"],
    ):
        pq.write_table(typed.select([name, "x", "y"]), "t.parquet")
        found = CliRunner().invoke(app, words)
        assert found.exit_code == 2
        assert f"{name!r} holds " in found.stderr
        assert "which CSV cannot hold; write .parquet, or leave it out" in found.stderr
        assert not Path("o.csv").exists()


@pytest.mark.parametrize("draws", [1, 2, 3])
def test_complete_changes_nothing_but_missing_entries(folder, draws):
    """Every entry of a text file that is there stays as it is written; the requested draws are returned."""
    given = table(24).drop(columns=["exponents", "amounts", "blanks", "long"])
    given.loc[[3, 9], "x"] = ""
    given.to_csv("t.csv", index=False)
    run("complete", "t.csv", "-n", draws, "-o", "o.csv")
    found, given = read(Path("o.csv").read_text()), read(Path("t.csv").read_text())
    assert found.pop("draw") == [str(k + 1) for k in range(draws) for _ in range(24)]
    assert found.pop("row") == [str(k + 1) for k in range(24)] * draws
    assert list(found) == list(given)
    for name, texts in given.items():
        was = np.array(texts * draws)
        gone = np.isin(was, ["", "NA", "?", "-", "n/a"])
        np.testing.assert_array_equal(np.array(found[name])[~gone], was[~gone])
    for name in ("x", "half"):
        [float(text) for text in found[name]]  # drawn
    for name in ("day", "iso", "moment", "word", "zip"):
        assert found[name] == given[name] * draws
    run("complete", "t.csv", "-n", draws, "-o", "o_{draw}.csv")
    assert len(list(Path().glob("o_*.csv"))) == draws


def test_complete_keeps_the_types_of_parquet(typed):
    run("complete", "t.parquet", "-n", 2, "-o", "o_{draw}.parquet")
    found = pq.read_table("o_2.parquet")
    assert found.column_names == typed.column_names
    for name in typed.column_names:
        column, was = found.column(name).combine_chunks(), typed.column(name).combine_chunks()
        plain = was.dictionary_decode() if pa.types.is_dictionary(was.type) else was
        there = plain.is_valid()
        kept = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        if name != "narrow":  # the entries that are drawn may need more digits
            assert kept.type == plain.type
        assert kept.filter(there).to_pylist() == plain.filter(there).to_pylist()


def test_two_ids_stay_two(folder):
    """They were one as floats, and the note said that the column has one value alone."""
    ids = [123456789012345671, 123456789012345672] * 10
    rows = pd.DataFrame({"id": ids, "v": [1.5, None, 3.25, 4.0] * 5, "w": range(20)})
    rows.to_csv("t.csv", index=False)
    rows.assign(id=pd.array([None, *ids[1:]], "Int64")).to_parquet("t.parquet", index=False)
    for name in ("t.csv", "t.parquet"):
        found = run("complete", name, "-n", 1, "-o", f"o.{name[2:]}")
        assert "of one value alone" not in found.output
        assert "of numbers with more digits than a float has: id" in found.output
    assert read(Path("o.csv").read_text())["id"] == [str(n) for n in ids]
    assert pq.read_table("o.parquet")["id"].to_pylist() == [None, *ids[1:]]


# predict_to


def sources(folder):
    ids = np.array([123456789012345671, 9007199254740993, 5, -7] * 500)
    frame = pd.DataFrame({"x": np.arange(2000.0), "id": ids})
    frame.to_parquet("rows.parquet", index=False, row_group_size=300)
    frame.to_csv("rows.csv", index=False)
    yield "parquet", tractable.scan("rows.parquet"), ids.tolist()
    yield "csv", tractable.scan("rows.csv"), ids.tolist()
    yield "pandas", frame, ids.tolist()
    yield "pyarrow", pa.Table.from_pandas(frame), ids.tolist()
    nullable = frame.assign(id=pd.array([None, *ids[1:]], "Int64"))
    nullable.to_parquet("null.parquet", index=False)
    yield "nullable", nullable, [None, *ids[1:].tolist()]
    yield (
        "nullable parquet",
        tractable.scan("null.parquet", features=["x"], target="id"),
        [None, *ids[1:].tolist()],
    )
    Path("zip.csv").write_text("x,id\n" + "".join(f"{i},{i:05d}\n" for i in range(2000)))
    yield "codes", tractable.scan("zip.csv"), [f"{i:05d}" for i in range(2000)]


def test_predict_to_copies_columns_as_they_are(folder, monkeypatch):
    monkeypatch.setattr("tractable.data.files.CSV_BYTES", 4096)
    model = tractable.load("m")
    for name, source, ids in sources(folder):
        tractable.predict_to(model, source, "o.parquet", columns=["id", "x"])
        found = pq.read_table("o.parquet")
        assert found["id"].to_pylist() == ids, name
        assert found["x"].to_pylist() == list(range(2000))
        np.testing.assert_allclose(
            found["prediction"], model.predict(pd.DataFrame({"x": np.arange(2000.0)})), rtol=1e-12
        )
