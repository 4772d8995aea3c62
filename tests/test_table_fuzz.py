"""Tables changed at random, by cell and by byte, are refused by a ValueError, read, or equal to before."""

import datetime as dt
import io
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import tractable
from tractable.cli import app
from tractable.cli.tables import held_copies, open_table
from tractable.data.table_columns import as_pandas
from tractable.report import read_table

#: What stands in the place of a cell: what other programs write, and what nobody should.
CELLS = (
    *(
        "",
        " ",
        "NA",
        "?",
        "-",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "-0",
        "+7",
        "007",
        "1.50",
        "1,5",
        "0x1f",
        "1_000",
    ),
    *("123456789012345671", "9" * 40, "-" + "9" * 25, "1e-320", "$1,234.50", "(12)", "12 %", "1/2"),
    *("31/12/2020", "2020-02-30", "2020-12-31T10:00:00Z", "24:61", "true", "FALSE", "yes", "None"),
    *('"', '""', '"a', 'a"b', "a,b", "a;b", "a\tb", "a|b", "a\nb", "a\r\nb", "#", "'", "=1+1", "\\", "\\n"),
    *("\x00", "\x1b[31m", "\ufeff", "\u202eabc", "é", "日本", "🐧", "x" * 3000, "[1, 2]", "{}", "<b>"),
)


def table(rng, n=30):
    """A table with columns of every kind."""
    return pd.DataFrame(
        {
            "x": rng.normal(size=n).round(3),
            "n": rng.integers(-5, 5, n),
            "id": 123456789012345671 + np.arange(n),
            "word": np.array(["red", "green", "blue"])[rng.integers(0, 3, n)],
            "zip": [f"{i:05d}" for i in rng.integers(0, 9999, n)],
            "day": (pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n), "D")).strftime("%d.%m.%Y"),
            "flag": rng.random(n) < 0.5,
            "y": rng.normal(size=n).round(2),
        }
    )


def by_cell(rng):
    """Return a text file in which a few cells hold something else."""
    frame = table(rng).astype(str)
    for _ in range(rng.integers(1, 5)):
        frame.iloc[rng.integers(len(frame)), rng.integers(frame.shape[1])] = CELLS[rng.integers(len(CELLS))]
    if rng.random() < 0.2:
        frame.columns = [*frame.columns[:-1], CELLS[rng.integers(len(CELLS))]]
    text = io.StringIO()
    if rng.random() < 0.5:
        frame.to_csv(text, index=False, sep=",;\t|"[rng.integers(4)], header=bool(rng.random() < 0.9))
    else:  # as a program writes it that knows no quotation marks
        text.write("\n".join(",".join(map(str, row)) for row in [frame.columns, *frame.to_numpy()]))
    return text.getvalue().encode(
        ["utf-8", "utf-8-sig", "utf-16", "cp1252"][rng.choice(4, p=[0.7, 0.1, 0.1, 0.1])], "replace"
    )


def by_byte(content, rng):
    """Return a file with bytes changed, taken out, put in, repeated or cut off."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at, how = int(rng.integers(max(1, len(content)))), rng.integers(6)
        span = int(rng.integers(1, 40))
        if how == 0 and content:
            content[at] ^= 1 << int(rng.integers(8))
        elif how == 1:
            content[at : at + span] = b""
        elif how == 2:
            content[at:at] = rng.integers(0, 256, span, dtype=np.uint8).tobytes()
        elif how == 3:
            content[at:at] = content[at : at + span]
        elif how == 4:
            del content[at:]
        else:
            content[at : at + span] = bytes(span)
    return bytes(content)


def parquet_table(rng):
    """The bytes of a Parquet file with columns of every type, whole and nested."""
    n = 40
    whole = pa.Table.from_pandas(table(rng, n))
    more = {
        "nullable": pa.array([None if i % 5 == 0 else 2**60 + i for i in range(n)], pa.int64()),
        "unsigned": pa.array(rng.integers(0, 200, n), pa.uint8()),
        "code": pa.array(["a", "b"] * (n // 2)).dictionary_encode(),
        "when": pa.array([dt.datetime(2020, 1, 1 + i % 28) for i in range(n)]),
        "list": pa.array([[1, 2], None] * (n // 2)),
        "struct": pa.array([{"a": 1}, None] * (n // 2)),
    }
    for name, column in more.items():
        whole = whole.append_column(name, column)
    file = io.BytesIO()
    pq.write_table(whole, file, row_group_size=15)
    return file.getvalue()


def contents(path):
    """Return what is read of a file by the command, by `scan` and by the report; or that these refuse it."""
    frame, copies = held_copies(open_table(str(path)))
    found = [frame.astype(str).to_csv(), repr(copies.to_pydict())]
    for reader in (scanned, reported):
        try:
            found.append(reader(path))
        except ValueError as error:
            found.append(f"refused: {type(error).__name__}")
    return found


def scanned(path):
    source = tractable.scan(path, features=["x", "n", "id", "word", "flag", "y"])
    rows = [as_pandas(part)[0] for part in source.tables()]
    copies = [part.to_pydict() for part in source.copies(source.feature_names)]
    return repr(rows) + repr(copies)


def reported(path):
    found = read_table(path)
    return repr(found.frame.astype(str).to_dict()) + repr([column.kind for column in found.columns])


def outcome(path, before):
    """Read a file: anything but a ValueError or a table is an error of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = contents(path)
        except ValueError:
            return "refused"
    return "equal" if found == before else "accepted"


def judge(path, changed, original, fuzzed, fuzzer):
    path.write_bytes(original)
    before = contents(path)
    for content in changed:
        path.write_bytes(content)
        try:
            found = outcome(path, before)
        except BaseException as error:
            raise AssertionError(f"{type(error).__name__}: {error}; the file is kept: {path}") from error
        fuzzed[(fuzzer, found)] += 1


PARTS = [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 12))]


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("part", PARTS)
def test_text_changed_by_cell(part, tmp_path, fuzzed):
    rng = np.random.default_rng([1, part])
    original = table(np.random.default_rng(0)).to_csv(index=False).encode()
    judge(tmp_path / "t.csv", (by_cell(rng) for _ in range(80)), original, fuzzed, "text tables by cell")


@pytest.mark.parametrize("part", PARTS)
def test_text_changed_by_byte(part, tmp_path, fuzzed):
    rng = np.random.default_rng([2, part])
    original = table(np.random.default_rng(0)).to_csv(index=False).encode()
    changed = (by_byte(original, rng) for _ in range(150))
    judge(tmp_path / "t.csv", changed, original, fuzzed, "text tables by byte")


@pytest.mark.parametrize("part", PARTS)
def test_parquet_changed_by_byte(part, tmp_path, fuzzed):
    rng = np.random.default_rng([3, part])
    original = parquet_table(np.random.default_rng(0))
    changed = (by_byte(original, rng) for _ in range(250))
    judge(tmp_path / "t.parquet", changed, original, fuzzed, "Parquet tables by byte")
    # the description of a file is at its end, and is what changes types
    tail = (original[:-2500] + by_byte(original[-2500:-8], rng) + original[-8:] for _ in range(250))
    judge(tmp_path / "t.parquet", tail, original, fuzzed, "Parquet tables by byte")


@pytest.mark.parametrize("part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 8))])
def test_commands_on_changed_tables(part, tmp_path, fuzzed, monkeypatch):
    """Each command ends with a result or with one line, and leaves no half of a file."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng([4, part])
    rows = table(np.random.default_rng(0))
    tractable.save(tractable.LinearRegression().fit(rows[["x", "n"]], rows["y"]), "m")
    for _ in range(8):
        Path("t.csv").write_bytes(by_cell(rng))
        for words in (
            "predict m t.csv -o o.csv --keep all",
            "fit NaiveBayes t.csv -t word -s o.csv",
            "complete t.csv -n 1 -o o.csv",
        ):
            Path("o.csv").unlink(missing_ok=True)
            found = CliRunner().invoke(app, words.split())
            errors = [line for line in found.stderr.splitlines() if line.startswith("error: ")]
            assert (found.exit_code, len(errors)) in ((0, 0), (2, 1)), found.output
            assert not any("--debug" in line for line in errors), errors
            assert Path("o.csv").exists() == (found.exit_code == 0)
            assert not list(tmp_path.glob(".*"))
            fuzzed[("commands on changed tables", "refused" if errors else "accepted")] += 1


@pytest.mark.parametrize(
    "said", [b"{", b"[]", b'{"columns": [{}], "index_columns": []}', b'{"index_columns": ["nowhere"]}']
)
def test_what_pandas_wrote_beside_a_table_may_be_damaged(said, tmp_path):
    rows = pa.table({"x": [1.0, 2.0, 4.0], "word": ["a", "b", "a"]}).replace_schema_metadata({"pandas": said})
    pq.write_table(rows, tmp_path / "t.parquet")
    model = tractable.NaiveBayes().fit(tractable.scan(tmp_path / "t.parquet", target="word"))
    assert model.classes_.tolist() == ["a", "b"]
    assert as_pandas(rows)[0].to_dict("list") == {"x": [1.0, 2.0, 4.0], "word": ["a", "b", "a"]}
