"""Tables in files: schemas checked before any work, bounded memory, and errors that name the file."""

import subprocess
import sys
import threading
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import tractable
from tractable.data import MAX_BATCH_ROWS, as_source, scan
from tractable.data.files import prefetched


def gathered(source):
    return np.concatenate([batch.X for batch in source.batches()])


@pytest.fixture
def trips(tmp_path, rng):
    """A file of 1000 rows in ten row groups."""
    columns = {name: rng.normal(size=1000) for name in ("km", "minutes", "fare")}
    path = tmp_path / "trips.parquet"
    pq.write_table(
        pa.table({**columns, "w": np.ones(1000), "city": ["Ulm"] * 1000}), path, row_group_size=100
    )
    return path


def test_columns_come_in_the_order_asked_for(trips):
    table = pq.read_table(trips)
    source = tractable.scan(trips, features=["fare", "km"])
    assert source.feature_names == ("fare", "km")
    np.testing.assert_array_equal(gathered(source), np.column_stack([table["fare"], table["km"]]))


def test_every_number_becomes_a_float(tmp_path):
    table = pa.table(
        {
            "int": pa.array([1, None, 3], pa.int16()),
            "big": pa.array([2**60, 1, None], pa.uint64()),
            "bool": pa.array([True, None, False]),
            "decimal": pa.array([Decimal("1.25"), None, Decimal("-2.50")]),
            "half": pa.array(np.array([0.5, 1.5, 2.5], np.float16)),
            "nothing": pa.nulls(3),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    expected = [
        [1, 2.0**60, 1, 1.25, 0.5, np.nan],
        [np.nan, 1, np.nan, np.nan, 1.5, np.nan],
        [3, np.nan, 0, -2.5, 2.5, np.nan],
    ]
    np.testing.assert_array_equal(gathered(scan(tmp_path / "t.parquet")), expected)
    np.testing.assert_array_equal(gathered(as_source(table)), expected)


def test_float32_files_stay_float32(tmp_path):
    pq.write_table(pa.table({"a": np.ones(3, np.float32)}), tmp_path / "1.parquet")
    assert gathered(scan(tmp_path / "1.parquet")).dtype == np.float32
    pq.write_table(pa.table({"a": np.ones(3)}), tmp_path / "2.parquet")
    assert gathered(scan(tmp_path)).dtype == np.float64


def test_nulls_in_one_file_may_change_its_type(tmp_path):
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [0.5, None]}), tmp_path / "2.parquet")
    pq.write_table(pa.table({"a": pa.nulls(1)}), tmp_path / "3.parquet")
    np.testing.assert_array_equal(gathered(scan(tmp_path))[:, 0], [1, 2, 0.5, np.nan, np.nan])


def test_names_may_be_any_text(tmp_path):
    names = ["a.b", "größe", "a", " x", "list.element", "[0]"]
    pq.write_table(pa.table({name: [float(k)] for k, name in enumerate(names)}), tmp_path / "t.parquet")
    source = scan(tmp_path / "t.parquet", features=names[::-1])
    assert gathered(source).tolist() == [[5.0, 4.0, 3.0, 2.0, 1.0, 0.0]]
    pa.csv.write_csv(pa.table({name: [float(k)] for k, name in enumerate(names)}), tmp_path / "t.csv")
    assert gathered(scan(tmp_path / "t.csv", names[::-1])).tolist() == [[5.0, 4.0, 3.0, 2.0, 1.0, 0.0]]


def test_infinities_and_nan_pass_through(tmp_path):
    X = np.array([[np.inf], [np.nan], [-np.inf]])
    pq.write_table(pa.table({"a": X[:, 0]}), tmp_path / "t.parquet")
    np.testing.assert_array_equal(gathered(scan(tmp_path / "t.parquet")), X)


def test_text_and_whole_numbers_may_be_targets(trips, tmp_path):
    assert next(scan(trips, ["km"], target="city").batches()).y[:2].tolist() == ["Ulm", "Ulm"]
    coded = pa.array(["u", "v", "u"]).dictionary_encode()
    pq.write_table(pa.table({"x": [0.5, 1.5, 2.5], "label": coded, "k": [1, 2, 3]}), tmp_path / "c.parquet")
    assert next(scan(tmp_path / "c.parquet", ["x"], "label").batches()).y.tolist() == ["u", "v", "u"]
    assert next(scan(tmp_path / "c.parquet", ["x"], "k").batches()).y.dtype == np.int64
    assert next(scan(tmp_path / "c.parquet", ["x"], ["k"]).batches()).y.shape == (3, 1)


def test_large_row_groups_are_split(tmp_path):
    table = pa.table({"a": np.arange(2.5 * MAX_BATCH_ROWS)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=10**9)
    batches = list(scan(tmp_path / "t.parquet").batches())
    assert [batch.n_rows for batch in batches] == [MAX_BATCH_ROWS, MAX_BATCH_ROWS, MAX_BATCH_ROWS // 2]
    assert batches[0].X.flags.f_contiguous


def test_small_row_groups_are_joined(trips):
    assert len(list(scan(trips, ["km"]).batches())) == 1


def test_assigning_columns_re_reads_the_file(trips):
    source = as_source(scan(trips, ["km", "minutes"]), y="fare", weights="w")
    assert source.feature_names == ("km", "minutes")
    np.testing.assert_array_equal(next(source.batches()).y, pq.read_table(trips)["fare"])
    assert as_source(scan(trips, ["km", "minutes"]), y="km").feature_names == ("minutes",)
    with pytest.raises(ValueError, match="y: an array cannot stand beside files"):
        as_source(scan(trips, ["km"]), y=np.ones(1000))


def test_csv_numbers_may_turn_into_fractions_after_the_first_block(tmp_path):
    lines = [f"{k},true,0" for k in range(400_000)] + ["0.5,false,NA", ",true,1"]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *lines]))
    X = gathered(scan(tmp_path / "t.csv"))
    assert len(X) == 400_002
    np.testing.assert_array_equal(X[-3:], [[399_999, 1, 0], [0.5, 0, np.nan], [np.nan, 1, 1]])


def test_csv_that_goes_bad_later_names_the_file(tmp_path):
    lines = [str(k) for k in range(500_000)] + ["oops"]
    (tmp_path / "t.csv").write_text("\n".join(["a", *lines]))
    with pytest.raises(ValueError, match=r"t\.csv cannot be read as CSV.*oops"):
        gathered(scan(tmp_path / "t.csv"))


def test_npy_columns_go_by_number(tmp_path):
    table = np.arange(12).reshape(4, 3)
    np.save(tmp_path / "t.npy", table)
    source = scan(tmp_path / "t.npy", features=[2, 0], target=1)
    np.testing.assert_array_equal(gathered(source), table[:, [2, 0]])
    assert next(source.batches()).y.tolist() == [1, 4, 7, 10]
    assert source.feature_names is None


def test_an_error_crosses_from_the_reading_thread_in_its_place():
    def failing():
        yield 1
        raise KeyError("late")

    before = threading.active_count()
    walk = prefetched(failing())
    assert next(walk) == 1
    with pytest.raises(KeyError, match="late"):
        next(walk)
    assert threading.active_count() == before


def test_reading_ahead_is_one_item_and_ends_with_the_walk():
    made, closed = [], []

    def items():
        try:
            for k in range(100):
                made.append(k)
                yield k
        finally:
            closed.append(True)

    walk = prefetched(items())
    next(walk)
    del walk
    assert made[-1] <= 1
    assert closed == [True]
    assert not [t for t in threading.enumerate() if t.name.startswith("tractable-read-ahead")]


def test_nothing_is_read_before_the_first_batch_is_asked_for(trips):
    source = scan(trips, ["km"])
    before = threading.active_count()
    source.batches()
    assert threading.active_count() == before


IMPORTS = """
import sys
import tractable.data, tractable.datasets
print([name for name in ("pyarrow", "pandas", "polars", "scipy") if name in sys.modules])
"""


def test_importing_data_imports_no_table_library():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


MEMORY = """
import resource, sys
import numpy, pyarrow.parquet, tractable
source = tractable.scan(sys.argv[1])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
rows = sum(batch.n_rows for batch in source.batches())
print(rows, peak() - before)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    n_rows, n_columns = 1_600_000, 16  # 205 MB in memory, in one row group
    values = np.random.default_rng(0).permutation(n_rows).astype(float)
    path = tmp_path / "t.parquet"
    columns = {f"x{j}": values for j in range(n_columns)}
    pq.write_table(pa.table(columns), path, row_group_size=n_rows, use_dictionary=False, compression="none")
    assert path.stat().st_size > 200e6
    command = [sys.executable, "-c", MEMORY, str(path)]
    rows, extra = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(rows) == n_rows
    assert int(extra) < 120
