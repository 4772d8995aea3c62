"""Files that cannot be read, and columns that are not there: one error that names them."""

import threading

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tractable.data import as_source, scan


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


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"features": ["km", "mintues"]}, r"features: no column 'mintues' in .*did you mean 'minutes'\?"),
        ({"features": ["km"], "target": "fair"}, r"target: no column 'fair'.*'fare'"),
        ({"features": ["km"], "weight": "weihgt"}, "weight: no column 'weihgt'"),
        ({"features": ["km"], "weight": "city"}, "not numeric: 'city'"),
        ({"features": ["km", "km"]}, "features names a column twice"),
        ({"features": ["km"], "target": "km"}, "'km' is already the target or the weight"),
        ({"features": []}, "features: no columns are left"),
    ],
)
def test_columns_are_checked_before_any_row_is_read(trips, asked, message):
    with pytest.raises(ValueError, match=message):
        scan(trips, **asked)


@pytest.mark.parametrize("asked", [{}, {"features": ["km", "city"]}])
def test_text_is_refused_by_models_of_numbers_before_any_row_is_read(trips, asked):
    said = r"trips\.parquet: not numeric: 'city' \(string\)"
    source = scan(trips, **asked)
    for walk in (source.batches, source.assign, lambda: as_source(source, weights="km")):
        with pytest.raises(ValueError, match=said):
            walk()
    assert as_source(source, "city").n_features == source.n_features - 1


def test_a_target_of_dates_is_refused(tmp_path):
    table = pa.table({"x": [1.0], "day": pa.array([0], pa.date32())})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="not numeric: 'day'"):
        scan(tmp_path / "t.parquet", target="day")


def test_files_must_agree(tmp_path):
    pq.write_table(pa.table({"a": [1.0], "b": [1.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [1.0], "c": [1.0]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet and .*1\.parquet do not both have b, c"):
        scan(tmp_path)
    with pytest.raises(ValueError, match=r"features: no column 'b' in .*2\.parquet"):
        scan(tmp_path, features=["a", "b"])
    assert scan(tmp_path, features=["a"]).n_rows == 2
    pq.write_table(pa.table({"a": ["text"]}), tmp_path / "3.parquet")
    with pytest.raises(ValueError, match=r"3\.parquet: not numeric: 'a'"):
        scan(tmp_path, features=["a"])


def foreign(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


def test_paths_that_lead_nowhere(tmp_path):
    (tmp_path / "empty").mkdir()
    for path, message in [
        (tmp_path / "missing.parquet", "no such file or folder"),
        (tmp_path / "empty", "no files of a known kind"),
        (str(tmp_path / "*.parquet"), "no files of a known kind"),
        ([], "the list is empty"),
        (foreign(tmp_path, "notes.txt", b"hello"), r"notes\.txt is of no known kind"),
    ]:
        with pytest.raises(ValueError, match=f"path: .*{message}"):
            scan(path)


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.npy"])
def test_empty_files(tmp_path, name):
    with pytest.raises(ValueError, match=f"{name} cannot be read"):
        scan(foreign(tmp_path, name, b""))


def test_files_without_rows(tmp_path):
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "t.parquet")
    np.save(tmp_path / "t.npy", np.empty((0, 3)))
    foreign(tmp_path, "t.csv", b"a,b\n")
    for name in ("t.parquet", "t.npy", "t.csv"):
        with pytest.raises(ValueError, match=f"no rows in .*{name}"):
            scan(tmp_path / name)


def test_foreign_files(tmp_path):
    np.save(tmp_path / "cube.npy", np.ones((2, 2, 2)))
    np.save(tmp_path / "text.npy", np.array([["a"]]))
    np.save(tmp_path / "pickle.npy", np.array([[object]]), allow_pickle=True)
    for path, message in [
        (
            foreign(tmp_path, "fake.parquet", b"not a parquet file at all"),
            r"fake\.parquet cannot be read as Parquet",
        ),
        (foreign(tmp_path, "fake.npy", b"not an array"), r"fake\.npy cannot be read as an \.npy"),
        (tmp_path / "cube.npy", r"cube\.npy must hold a matrix of numbers"),
        (tmp_path / "text.npy", r"text\.npy must hold a matrix of numbers"),
        (tmp_path / "pickle.npy", r"pickle\.npy cannot be read"),
        ([tmp_path / "fake.npy", tmp_path / "fake.parquet"], "files of several kinds"),
    ]:
        with pytest.raises(ValueError, match=message):
            scan(path)
    np.save(tmp_path / "wide.npy", np.ones((2, 3)))
    np.save(tmp_path / "narrow.npy", np.ones((2, 2)))
    with pytest.raises(ValueError, match="differ in width"):
        scan([tmp_path / "wide.npy", tmp_path / "narrow.npy"])


def test_truncated_files(trips, tmp_path):
    np.save(tmp_path / "t.npy", np.ones((1000, 3)))
    for path in (trips, tmp_path / "t.npy"):
        cut = foreign(tmp_path, f"cut{path.suffix}", path.read_bytes()[:-500])
        with pytest.raises(ValueError, match=rf"cut\{path.suffix} cannot be read"):
            scan(cut)


def test_a_bad_row_group_names_its_file_and_number(trips):
    group = pq.ParquetFile(trips).metadata.row_group(7).column(0)
    content = bytearray(trips.read_bytes())
    start = group.dictionary_page_offset or group.data_page_offset
    content[start : start + group.total_compressed_size] = b"\xff" * group.total_compressed_size
    trips.write_bytes(content)
    source = scan(trips, ["km", "fare"])
    threads = threading.active_count()
    with pytest.raises(ValueError, match=r"trips\.parquet: row group 7 of 10 cannot be read"):
        gathered(source)
    assert threading.active_count() == threads
    assert gathered(scan(trips, ["fare"])).shape == (1000, 1)


def test_a_changed_byte_is_found_where_pages_have_checksums(tmp_path):
    """A number that changed on the disk reads as another number; the checksum of its page says so."""
    column = np.arange(1000.0)
    for checked in (False, True):
        path = tmp_path / f"{checked}.parquet"
        options = {"compression": "none", "use_dictionary": False, "write_page_checksum": checked}
        pq.write_table(pa.table({"km": column}), path, row_group_size=500, **options)
        content = bytearray(path.read_bytes())
        content[content.index(np.float64(700.0).tobytes()) + 6] ^= 1
        path.write_bytes(content)
    (wrong,) = np.flatnonzero(gathered(scan(tmp_path / "False.parquet"))[:, 0] != column)
    assert wrong == 700  # without checksums nothing can be known
    with pytest.raises(ValueError, match=r"True\.parquet: row group 1 of 2 cannot be read: .*CRC"):
        gathered(scan(tmp_path / "True.parquet"))


@pytest.mark.parametrize(
    ("bad", "message"), [(np.nan, "must be finite"), (-1.0, "must be finite and not negative")]
)
def test_bad_weights_name_the_column_and_the_file(tmp_path, bad, message):
    pq.write_table(pa.table({"a": [1.0, 2.0], "w": [1.0, bad]}), tmp_path / "t.parquet")
    pa.csv.write_csv(pa.table({"a": [1.0, 2.0], "w": [1.0, bad]}), tmp_path / "t.csv")
    np.save(tmp_path / "t.npy", np.array([[1.0, 1.0], [2.0, bad]]))
    for name, weight in [("t.parquet", "w"), ("t.csv", "w"), ("t.npy", 1)]:
        with pytest.raises(ValueError, match=f"weight.*{weight}.*{name} {message}"):
            gathered(scan(tmp_path / name, weight=weight))
