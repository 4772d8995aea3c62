"""Tables of all sorts are read, and what cannot be read is refused in one sentence."""

import datetime as dt
import gzip
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from tractable import datasets
from tractable.data.names import clean_names
from tractable.data.text_table import open_text
from tractable.report import TableError, read_table, table_of
from tractable.report.reading import RowSample


@pytest.fixture
def read(tmp_path):
    """Write a file and read it as a table."""

    def written(content, name="table.csv", encoding="utf-8", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return read_table(path, **options)

    return written


def kinds(table):
    return {column.name: column.kind for column in table.columns}


def test_a_real_table():
    table = table_of(datasets.load("penguins").frame)
    assert table.n_rows == len(table.frame) == 344
    assert table.names("number") == ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    assert table.names("category") == ["species", "island", "sex", "year"]
    assert table.column("sex").n_missing == 11
    assert table.column("body_mass_g").low == 2700
    assert dict(table.column("species").counts) == {"Adelie": 152, "Gentoo": 124, "Chinstrap": 68}
    assert table.notes == ()
    assert not table.is_sample


def test_files_and_frames_give_one_table(tmp_path):
    frame = datasets.load("penguins").frame
    frame.to_csv(tmp_path / "p.csv", index=False)
    frame.to_parquet(tmp_path / "p.parquet")
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress((tmp_path / "p.csv").read_bytes()))
    one = table_of(frame)
    others = [read_table(tmp_path / name) for name in ("p.csv", "p.parquet", "p.csv.gz")]
    for other in (*others, table_of(pl.from_pandas(frame)), table_of(pa.Table.from_pandas(frame))):
        assert kinds(other) == kinds(one)
        assert [c.counts for c in other.columns] == [c.counts for c in one.columns]
        pd.testing.assert_frame_equal(other.frame, one.frame)


def test_every_kind(read):
    rng = np.random.default_rng(0)
    rows = [
        {
            "number": rng.normal(),
            "category": "abc"[i % 3],
            "boolean": ["yes", "no"][i % 2],
            "date": dt.date(2024, 1, 1) + dt.timedelta(days=i),
            "german": f"{i % 28 + 1}.12.2023",
            "text": f"it was said on day {i % 90} that the weather would be much as on the day before",
            "constant": "x",
            "empty": "",
            "row_id": 7 * i + i % 3,
            "counter": i + 1,
            "code": i % 4,
        }
        for i in range(100)
    ]
    table = read(pd.DataFrame(rows).to_csv(index=False))
    expected = ["number", "category", "boolean", "date", "date", "text", "constant", "empty"]
    assert list(kinds(table).values()) == [*expected, "identifier", "identifier", "category"]
    assert str(table.frame["date"].dtype).startswith("datetime64")
    assert table.frame["german"].dt.day.max() == 28
    assert table.frame["number"].dtype == float
    assert table.column("code").counts[0] == ("0", 25)


def test_numbers_as_people_write_them(read):
    table = read("a;b\n" + "1,5;+2\n-2,25e1; 3 \n;nan\n" * 10 + "oops;-inf\n")
    a, b = table.column("a"), table.column("b")
    assert (a.low, a.high, a.n_missing) == (-22.5, 1.5, 11)
    assert "'oops'" in a.note
    assert (b.low, b.high, b.n_missing) == (2, 3, 11)
    assert table.frame["a"].dropna().unique().tolist() == [1.5, -22.5]
    assert any("comma" in note for note in table.notes)


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_delimiters_are_found(read, sign):
    table = read(f"x{sign}name\n" + f'1.5{sign}"a{sign}b"\n2.5{sign}c\n' * 3)
    assert table.names() == ["x", "name"]
    assert set(table.frame["name"]) == {f"a{sign}b", "c"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "latin-1"])
def test_encodings_are_found(read, encoding):
    table = read("größe,naïve\n" + "1.5,é\n2.5,à\n" * 4, encoding=encoding)
    assert table.names() == ["größe", "naïve"]
    assert set(table.frame["naïve"]) == {"é", "à"}
    assert any("not UTF-8" in note for note in table.notes) == (not encoding.startswith("utf-8"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_letters_without_a_mark(read, encoding):
    table = read("größe,naïve\n" + "1.5,é\n2.5,à\n" * 4, encoding=encoding)
    assert table.names() == ["größe", "naïve"]
    assert set(table.frame["naïve"]) == {"é", "à"}


def test_a_foreign_letter_far_down(read):
    table = read(b"x,y\n" + b"a,1.5\n" * 200_000 + "é,2.5\n".encode("latin-1"), max_rows=100)
    assert table.n_rows == 200_001
    assert dict(table.column("x").counts) == {"a": 200_000, "é": 1}


def test_names_are_unique_printable_and_otherwise_as_they_are(read):
    table = read("a,a,,<script>alert(1)</script>,a (2),b\x07\n" + "1,2,3,4,5,6\n" * 3)
    assert table.names() == ["a", "a (3)", "column 3", "<script>alert(1)</script>", "a (2)", "b"]
    assert len(table.notes) == 2
    assert clean_names([None, 3, "x" * 1000])[0] == ["column 1", "3", "x" * 119 + "…"]


def test_a_table_without_names(read):
    table = read("1,2.5\n4,3.5\n7,1\n")
    assert table.names() == ["column 1", "column 2"]
    assert table.n_rows == 3
    assert "no names" in table.notes[0]


def test_lines_that_do_not_fit_are_counted(read):
    table = read("a,b\n1,2\n1,2,3\n4,5\n6\n7,8\n")
    assert table.n_rows == 3
    assert any(note.startswith("2 lines left out") for note in table.notes)


def test_texts_with_line_breaks(read):
    table = read('a,"b\nc"\n1,"x\ny"\n2,"z, z"\n')
    assert table.names() == ["a", "b c"]
    assert table.frame["b c"].tolist() == ["x\ny", "z, z"]


@pytest.mark.slow
def test_quotation_marks_that_do_not_close(read):
    table = read('a,b\n1,"2\n3,4\n5,6\n')
    assert table.frame["b"].tolist() == ['"2', "4", "6"]
    assert any("never closed" in note for note in table.notes)
    far = read('a,b\n1,"x\n' + "2,y\n" * 1_200_000, max_rows=10)  # further than a block
    assert far.n_rows == 1_200_001
    assert read('a,b\n1,5" wide\n2,6" wide\n').frame["b"].tolist() == ['5" wide', '6" wide']


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings(read, ending):
    assert read(ending.join(["a,b", "1,2.5", "", "3,4.5", ""])).frame["b"].tolist() == [2.5, 4.5]


def test_long_tables_are_sampled_and_say_so(read):
    n = 50_000
    text = "i,x,k\n" + "".join(f"{i},{i / n},{'ab'[i % 2]}\n" for i in range(n))
    table = read(text, max_rows=1000)
    assert table.n_rows == n
    assert table.is_sample
    assert len(table.frame) == 1000
    assert any("50,000 rows" in note for note in table.notes)
    assert dict(table.column("k").counts) == {"a": n // 2, "b": n // 2}  # counted over all
    assert table.column("x").high == (n - 1) / n
    assert table.column("i").kind == "identifier"
    x = table.frame["x"]
    assert x.is_monotonic_increasing  # in the order of the file
    assert abs(x.mean() - 0.5) < 5 / np.sqrt(12 * 1000)
    again = read(text, max_rows=1000)
    pd.testing.assert_frame_equal(again.frame, table.frame)


@pytest.mark.slow
def test_every_row_is_kept_as_often_as_any_other():
    kept = np.zeros(40)
    rng = np.random.default_rng(3)
    for _ in range(2000):
        sample = RowSample(4, rng)
        for start in range(0, 40, 5):
            sample.add(pa.record_batch({"i": np.arange(start, start + 5)}))
        kept[sample.table()["i"].to_numpy()] += 1
    assert kept.sum() == 8000
    assert np.abs(kept - 200).max() < 5 * np.sqrt(2000 * 0.1 * 0.9)


@pytest.mark.slow
def test_wide_tables_are_cut_and_say_so(read):
    names = [f"c{i}" for i in range(2_000)]
    rng = np.random.default_rng(0)
    body = "\n".join(",".join(f"{v:.2f}" for v in rng.normal(size=2_000)) for _ in range(8))
    table = read(",".join(names) + "\n" + body, target="c1999")
    assert len(table.columns) == 100
    assert table.names()[-2:] == ["c98", "c1999"]
    assert "2,000 columns; 100 of them are looked at: the first ones and the target." in table.notes[0]


def test_frames_of_odd_values():
    frame = pd.DataFrame(
        {
            "mixed": [1, "a", None] * 10,
            "lists": [[1], [2], [3]] * 10,
            "hours": pd.to_timedelta(np.arange(30), unit="h"),
            "endless": np.r_[np.nan, np.inf, np.arange(28.0) / 3],
            "zones": pd.date_range("2020-01-01", periods=30, tz="Europe/Oslo"),
            3: pd.Categorical(["u", "v", None] * 10),
        }
    )
    table = table_of(frame)
    assert list(kinds(table).values()) == ["category", "category", "number", "number", "date", "category"]
    assert table.column("hours").high == 29 * 3600
    assert table.column("endless").n_missing == 2
    assert "1 infinite entry" in table.column("endless").note
    assert table.column("3").n_missing == 10


def test_types_of_frames():
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 30, 47] * 10, dtype="Int64"),
            "keys": np.arange(40, dtype="uint64") + 2**63,
            "fractions": [Decimal(i) / 3 for i in range(40)],
            "months": pd.period_range("2020-01", periods=40, freq="M"),
            "ranges": pd.cut(np.arange(40.0), 2),
            "levels": pd.Categorical([5, 6] * 20, categories=[5, 6, 7]),
            "bytes": [b"a", b"\xff"] * 20,
            "halves": pd.Series(["a\ud800", "b"] * 20, dtype=object),
            "sets": [{1}, {2}] * 20,
            "clocks": [dt.time(i % 4) for i in range(40)],
            "arrow": pd.array(["x", None] * 20, dtype=pd.ArrowDtype(pa.string())),
        }
        | {"huge": np.r_[np.full(39, 1e308), -1e308] / 3.0}
    )
    table = table_of(frame)
    assert kinds(table) == {
        "whole": "category", "keys": "number", "fractions": "number", "months": "date", "ranges": "category",
        "levels": "category", "bytes": "category", "halves": "category", "sets": "category",
        "clocks": "category", "arrow": "constant", "huge": "category",
    }  # fmt: skip
    assert table.column("keys").n_distinct == 40
    assert table.column("ranges").counts[0][0] in ("(-0.039, 19.5]", "(19.5, 39.0]")
    assert table.column("months").note == "2020-01-01 to 2023-04-01"


def test_one_column_by_itself_and_names_of_several_parts():
    assert table_of(pd.Series([1.5, 2.5, 4.0], name="x")).names() == ["x"]
    two = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    assert table_of(pd.DataFrame([[1.5, 2.5]] * 3, columns=two)).names() == ["a, b", "a, c"]


def test_all_missing(read):
    table = read("a,b\n" + "NA,\n" * 10)
    assert set(kinds(table).values()) == {"empty"}
    assert table.numbers().shape == (10, 0)


def test_one_column(read):
    table = read("x\n" + "\n".join(str(v) for v in np.random.default_rng(0).normal(size=30)))
    assert kinds(table) == {"x": "number"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b", "no rows"),
        (b"\x1f\x8b\x08 not packed", "compressed"),
        (bytes(range(256)), "no text"),
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"PK\x03\x04rest", "spreadsheet"),
        (b'{"a": 1}', "JSON"),
        (b"<!DOCTYPE html><table>", "web page"),
        (b"Dear sir, hello, there.\nI am\nwriting, to you, so, that,\nyes\nno\nfine", "not as many fields"),
        (b"PAR1 and no more", "Parquet"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(read, content, words):
    with pytest.raises(TableError, match=words) as caught:
        read(content)
    assert "\n" not in str(caught.value)


def test_broken_archives_are_refused(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 1000)[:-20])
    with pytest.raises(TableError, match="cannot be read"):
        read_table(tmp_path / "t.csv.gz")


def test_no_file(tmp_path):
    (tmp_path / "penguins.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match=r"no file .*penguin.csv; did you mean .*penguins\.csv"):
        read_table(tmp_path / "penguin.csv")
    with pytest.raises(TableError, match="no file"):
        read_table(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(TableError, match="a folder"):
        read_table(tmp_path)
    with pytest.raises(TableError, match="a path or a frame, got int"):
        table_of(3)
    with pytest.raises(TableError, match="no columns"):
        table_of(pd.DataFrame())


def test_a_column_that_does_not_exist():
    table = table_of(datasets.load("penguins").frame)
    with pytest.raises(TableError, match=r"target: no column 'specis'.*did you mean 'species'"):
        table.column("specis")
    with pytest.raises(TableError, match="did you mean 'species'"):
        table.column("SPECIES")
    with pytest.raises(TableError, match="there are species, island"):
        table.column("zzzzz")


def test_the_code_reads_the_table_again(read, tmp_path):
    table = read("a,b\n" + "1.5,x\n2.5,y\n" * 5)
    names = {}
    exec(table.code, names)
    pd.testing.assert_frame_equal(names["table"].frame, table.frame)


def test_parquet_in_many_row_groups(tmp_path):
    n = 300_000
    columns = {"x": np.arange(n) / n, "k": np.array(["a", "b", "c"])[np.arange(n) % 3]}
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=10_000)
    told = []
    table = read_table(
        tmp_path / "t.parquet", max_rows=500, progress=lambda text, done: told.append((text, done))
    )
    assert table.n_rows == n
    assert len(table.frame) == 500
    assert [count for _, count in table.column("k").counts] == [n // 3] * 3
    assert told[-1] == (f"reading t.parquet: {n:,} rows", 1.0)


AMOUNTS = {
    "price": ["$1,234.50", "$12", "($3.25)", "-$7", None, "$1"] * 5,
    "share": ["12 %", "3.5%", "0%", "100 %", "7 %", "8.25 %"] * 5,
    "people": [f"{1234 * 7**k // 5**k:,}" for k in range(30)],
    "mixed": ["$5", "€5", "$7", "£9", "$1", "€2"] * 5,
}


def test_amounts_and_percentages_are_numbers():
    table = table_of(pd.DataFrame(AMOUNTS))
    kinds = {column.name: (column.kind, column.note) for column in table.columns}
    assert kinds["price"] == ("number", "in $")
    assert kinds["share"] == ("number", "in %")
    assert kinds["people"] == ("number", "")
    assert kinds["mixed"][0] == "category"
    assert "several units ($, £, €)" in kinds["mixed"][1]
    assert table.frame["price"].iloc[:4].tolist() == [1234.5, 12.0, -3.25, -7.0]
    assert table.frame["share"].iloc[:2].tolist() == [12.0, 3.5]
    assert table.frame["people"].iloc[29] == 1234 * 7**29 // 5**29
    assert table.column("price").n_missing == 5


def test_amounts_with_decimal_commas_are_numbers(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_text("ware;preis;anteil\n" + "a;1.234,50 €;12,5 %\nb;7,25 €;3 %\nc;1.000 €;0,5 %\n" * 10)
    table = read_table(path)
    assert table.frame["preis"].iloc[:3].tolist() == [1234.5, 7.25, 1000.0]
    assert table.frame["anteil"].iloc[:3].tolist() == [12.5, 3.0, 0.5]
    assert table.column("preis").note == "in €"


def test_the_tables_of_the_command_have_amounts_too(tmp_path):
    path = tmp_path / "orders.csv"
    pd.DataFrame(AMOUNTS).to_csv(path, index=False)
    types = {name: str(kind) for name, kind in open_text([path], "orders").types.items()}
    assert types == {"price": "double", "share": "double", "people": "int64", "mixed": "string"}


def test_where_the_smallest_and_largest_numbers_are_is_known():
    table = table_of(pd.DataFrame({"x": np.r_[np.arange(1000.0) % 7 + 0.5, -5.0, 99.0, 99.0]}), max_rows=50)
    column = table.column("x")
    assert (column.low, column.low_row, column.high, column.high_row) == (-5.0, 1000, 99.0, 1001)
