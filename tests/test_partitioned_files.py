"""Folders ``name=value`` are columns of the files in them: for fits, predictions and commands."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import tractable
from quick import some
from tractable.cli import app
from tractable.cli.tables import open_table
from tractable.data import scan

YEARS = (2023, 2024, 2025)


def write(rows, path):
    """Write a frame in the format that the ending of a path says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npy":
        np.save(path, rows.to_numpy(dtype=float))
    elif path.suffix == ".csv":
        pa.csv.write_csv(pa.table(rows), path)
    else:
        pq.write_table(pa.table(rows), path)


@pytest.fixture(params=[".parquet", ".csv"])
def trips(request, tmp_path, rng):
    """A folder of trips by year, and the same rows as a frame."""
    table = pd.DataFrame(
        {"km": rng.normal(size=90), "fare": rng.normal(size=90), "year": np.repeat(YEARS, 30)}
    )
    for year in YEARS:
        part = table[table["year"] == year].drop(columns="year")
        write(part, tmp_path / "trips" / f"year={year}" / f"part{request.param}")
    return tmp_path / "trips", table


def test_a_partition_is_a_feature_a_target_or_a_weight(trips):
    folder, table = trips
    source = scan(folder, target="fare")
    assert source.feature_names == ("km", "year")
    np.testing.assert_array_equal(source.collect().X, table[["km", "year"]])
    want = tractable.LinearRegression().fit(table, "fare")
    np.testing.assert_allclose(tractable.LinearRegression().fit(source).coef_, want.coef_, rtol=1e-9)
    year = scan(folder, features=["km"], target="year").collect()
    np.testing.assert_array_equal(year.y, table["year"])
    assert year.y.dtype == np.int64
    np.testing.assert_array_equal(scan(folder, ["km"], weight="year").collect().weights, table["year"])
    assigned = tractable.GaussianNB().fit(scan(folder), "year")
    assert list(assigned.classes_) == list(YEARS)
    np.testing.assert_array_equal(scan(folder, features="year").collect().X[:, 0], table["year"])


def test_predictions_have_the_columns_of_partitions(trips, tmp_path):
    folder, table = trips
    model = tractable.LinearRegression().fit(scan(folder, target="fare"))
    out = tractable.predict_to(model, scan(folder), tmp_path / "out.parquet", columns=["year", "km"])
    found = pd.read_parquet(out)
    np.testing.assert_array_equal(found[["year", "km"]], table[["year", "km"]])
    np.testing.assert_allclose(found["prediction"], model.predict(table[["km", "year"]]))


def test_a_folder_a_pattern_and_a_list_name_the_same_columns(trips):
    folder, _ = trips
    want = scan(folder).collect().X
    files = sorted(folder.rglob("part.*"))
    for path in (
        str(folder / "year=*" / "part.*"),
        str(folder / "*" / "*"),
        files,
        [str(f.parent) for f in files],
    ):
        source = scan(path)
        assert source.feature_names == ("km", "fare", "year")
        np.testing.assert_array_equal(source.collect().X, want)
    for path in (files[0], files[0].parent, [files[0]], str(files[0].parent / "part*")):
        assert scan(path).feature_names == ("km", "fare")


@pytest.mark.parametrize("seed", some(range(6), 2))
def test_columns_are_those_that_pyarrow_reads(tmp_path, seed):
    rng = np.random.default_rng(seed)
    kinds = {
        "whole": rng.integers(-3, 3, 60),
        "real": rng.integers(-3, 3, 60) / 4,
        "text": rng.choice(["a b", "ü=/", "1a", "x%20y"], 60),
        "gaps": rng.choice(np.array(["u", "v", None], dtype=object), 60),
        "zeros": rng.choice(["01", "02"], 60),
    }
    names = list(rng.permutation(list(kinds))[: rng.integers(1, 4)])
    table = pa.table({"x": rng.normal(size=60), **{name: pa.array(kinds[name]) for name in names}})
    pq.write_to_dataset(table, tmp_path, partition_cols=names)
    source = scan(tmp_path, features=["x", *names])
    found = pa.concat_tables(
        [
            pa.Table.from_batches([part]) if isinstance(part, pa.RecordBatch) else part
            for part in source.tables()
        ]
    )
    want = {row["x"]: row for row in table.to_pylist()}
    assert found.num_rows == 60
    for row in found.to_pylist():
        expected = dict(want[row["x"]])
        if "zeros" in expected:  # digits alone are a number
            expected["zeros"] = int(expected["zeros"])
        assert row == expected


def test_files_that_hold_the_column_themselves_are_read(tmp_path):
    for year in YEARS:
        write(pd.DataFrame({"year": [year + 0.5], "km": [1.0]}), tmp_path / f"year={year}" / "a.parquet")
    assert scan(tmp_path, ["year"]).collect().X[:, 0].tolist() == [2023.5, 2024.5, 2025.5]


def test_partitions_of_npy_files_are_numbers(tmp_path, rng):
    table = pd.DataFrame(rng.normal(size=(6, 2)))
    for year in YEARS:
        write(table, tmp_path / f"year={year}" / "a.npy")
    held = scan(tmp_path, features=[1, "year"], target=0).collect()
    np.testing.assert_array_equal(held.X, np.column_stack([np.tile(table[1], 3), np.repeat(YEARS, 6)]))
    np.testing.assert_array_equal(held.y, np.tile(table[0], 3))
    assert scan(tmp_path).n_features == 3
    write(table, tmp_path / "words" / "city=Ulm" / "a.npy")
    assert scan(tmp_path / "words", features=[0]).n_features == 1
    with pytest.raises(ValueError, match="not numeric: city"):
        scan(tmp_path / "words")


def test_folders_of_other_columns_are_one_error(trips, tmp_path):
    folder, table = trips
    write(table, folder / "rest.csv" if list(folder.rglob("*.csv")) else folder / "rest.parquet")
    with pytest.raises(
        ValueError, match=r"name the columns \[.*year.*scan files whose folders name the same"
    ):
        scan(folder)


def test_text_of_folders_is_for_models_of_tables(tmp_path):
    table = pd.DataFrame({"km": [1.0, 4.0, 2.0, 1.0, 3.0, 2.0], "kind": ["u", "v"] * 3})
    for city in ("Bonn", "Ulm"):
        write(table, tmp_path / f"city={city}" / "a.parquet")
    with pytest.raises(ValueError, match="not numeric: 'city'"):
        tractable.GaussianDensity().fit(scan(tmp_path, ["km", "city"]))
    source, whole = scan(tmp_path, ["km", "city"], "kind"), pd.concat([table, table], ignore_index=True)
    whole["city"] = np.repeat(["Bonn", "Ulm"], 6)
    want = tractable.NaiveBayes().fit(whole[["km", "city", "kind"]], "kind")
    found = tractable.NaiveBayes().fit(source)
    np.testing.assert_allclose(found.predict_proba(source), want.predict_proba(whole[["km", "city"]]))


@pytest.mark.parametrize("held", [2**30, 0])
def test_the_commands_read_partitions_of_parquet_files(tmp_path, rng, monkeypatch, held):
    monkeypatch.setattr("tractable.cli.fit.HELD_BYTES", held)
    for year in YEARS:
        rows = pd.DataFrame({"km": rng.normal(size=30)}).assign(fare=year + 0.5)
        write(rows, tmp_path / "t" / f"year={year}" / "a.parquet")
    saved, out = tmp_path / "m.tractable", tmp_path / "out.csv"
    for words in (
        ["fit", "LinearRegression", tmp_path / "t", "--target", "fare", "--save", saved],
        ["predict", saved, tmp_path / "t", "--keep", "year", "-o", out],
    ):
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == 0, done.output
    assert list(tractable.load(saved).feature_names_in_) == ["km", "year"]
    found = pd.read_csv(out)
    assert found["year"].tolist() == np.repeat(YEARS, 30).tolist()
    np.testing.assert_allclose(found["prediction"], found["year"] + 0.5)


def test_the_commands_say_that_they_do_not_read_partitions_of_text(tmp_path):
    write(pd.DataFrame({"km": [1.0, 2.0], "fare": [2.0, 4.0]}), tmp_path / "year=2023" / "a.csv")
    assert open_table(str(tmp_path)).notes == ("Columns that folders name are not read: year.",)


@pytest.mark.parametrize(
    ("folders", "want"),
    [
        (["9223372036854775806", "9223372036854775807"], [2**63 - 2, 2**63 - 1]),
        (["9223372036854775807", "9223372036854775808"], ["9223372036854775807", "9223372036854775808"]),
        (["12345678901234567890", "12345678901234567891"], ["12345678901234567890", "12345678901234567891"]),
        (["0.5", "12"], [0.5, 12.0]),
    ],
)
def test_whole_numbers_of_folders_keep_their_digits(tmp_path, folders, want):
    for text in folders:
        write(pd.DataFrame({"x": [1.0]}), tmp_path / f"id={text}" / "part.parquet")
    assert [row["id"] for part in scan(tmp_path).tables() for row in part.to_pylist()] == want


def test_a_column_that_folders_name_twice_is_one_error(tmp_path):
    write(pd.DataFrame({"x": [1.0]}), tmp_path / "k=1" / "k=2" / "part.parquet")
    with pytest.raises(ValueError, match=r"k=1/k=2/part.parquet name the column 'k' twice"):
        scan(tmp_path)


@pytest.mark.parametrize("path", [5, None, b"rows.parquet", [None], ("rows.parquet", 5)])
def test_what_is_no_path_is_one_error(path):
    with pytest.raises(ValueError, match=r"path: .* is an? .*; give a path, or a list of paths"):
        scan(path)
