"""Files that change between two passes of a fit are one error, and never a model of half of the rows."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tractable
from tractable.cli import app
from tractable.data import files, text_table

ROWS = pd.DataFrame(np.random.default_rng(0).normal(size=(6000, 3)), columns=list("abc"))


def written(kind, frame=ROWS):
    path = Path(f"rows.{kind}")
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "npy":
        np.save(path, frame.to_numpy())
    else:
        frame.to_parquet(path, index=False, row_group_size=500)
    return path


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def cut_at_a_line(path):
    """As a program leaves it that begins to write the file anew; damage that no reader notices."""
    text = path.read_bytes()
    path.write_bytes(text[: text.rfind(b"\n", 0, len(text) // 2) + 1])


def extend(path):
    with path.open("ab") as file:
        file.write(b"1.0,2.0,3.0\n")


def other_schema(path):
    written(path.suffix[1:], ROWS.rename(columns={"b": "z"}))


def other_types(path):
    written(path.suffix[1:], ROWS.astype({"b": str}))


def gone(path):
    path.unlink()


CASES = [
    *(("csv", change) for change in (cut, cut_at_a_line, extend, other_schema, other_types, gone)),
    *(("parquet", change) for change in (cut, other_schema, other_types, gone)),
    *(("npy", change) for change in (cut, gone)),
]


@pytest.fixture(autouse=True)
def small_blocks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "CSV_BYTES", 4096)
    monkeypatch.setattr(text_table, "BLOCK_BYTES", 4096)


@pytest.mark.parametrize(("kind", "change"), CASES)
def test_a_file_that_changes_before_a_fit_or_in_it_is_refused(kind, change):
    """Before the first pass, and between two batches of a later one."""
    path = written(kind)
    source = tractable.scan(path)
    change(path)
    with pytest.raises(ValueError, match=r"has changed since it was opened|is gone since it was opened"):
        tractable.GaussianDensity().fit(source)
    source = tractable.scan(written(kind))
    passes = []

    class Watched(tractable.data.Source):
        n_features, feature_names, n_rows = source.n_features, source.feature_names, source.n_rows

        def batches(self):
            passes.append(1)
            for number, batch in enumerate(source.batches()):
                if len(passes) == 2 and number == 0:
                    change(path)
                yield batch

    with pytest.raises(ValueError, match=r"has changed since it was opened|is gone since it was opened"):
        tractable.GaussianMixture(2, random_state=0, max_iter=30).fit(Watched())
    assert len(passes) in (2, 3)  # a small file may have been read ahead


def test_files_that_stay_are_read_in_every_pass():
    path = written("csv")
    source = tractable.scan(path)
    streamed = tractable.GaussianMixture(2, random_state=0).fit(source)
    extend(Path(written("npy")))  # another file
    assert streamed.n_iter_ > 1
    assert sum(batch.n_rows for batch in source.batches()) == len(ROWS)
    extend(path)
    assert sum(batch.n_rows for batch in tractable.scan(path).batches()) == len(ROWS) + 1  # opened again


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_command_refuses_a_table_that_is_cut_short_while_it_reads(kind, monkeypatch):
    monkeypatch.setattr("tractable.cli.fit.HELD_BYTES", 0)
    path = written(kind)
    from tractable.cli import tables

    opened = tables.open_table

    def opened_and_cut(data):
        found = opened(data)
        cut_at_a_line(path) if kind == "csv" else cut(path)
        return found

    monkeypatch.setattr(tables, "open_table", opened_and_cut)
    found = CliRunner().invoke(app, ["fit", "GaussianMixture", str(path), "-s", "m"])
    assert found.exit_code == 2, found.output
    assert "has changed since it was opened" in found.stderr or "cannot be read as Parquet" in found.stderr
    assert not Path("m").exists()
