"""Every kind of source gives the rows of the array it came from, as often as it is asked."""

import itertools
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tractable.data import MAX_BATCH_ROWS, Batch, Source, as_source, is_streamed, scan

NAMES = ("a", "b", "c")


@pytest.fixture
def rows(rng):
    """Rows, targets and weights that fill no whole number of anything."""
    return Batch(X=rng.normal(size=(1003, 3)), y=rng.normal(size=1003), weights=rng.uniform(size=1003))


def columns(rows):
    return {**dict(zip(NAMES, rows.X.T, strict=True)), "y": rows.y, "w": rows.weights}


def cut(rows, edges=(0, 1, 400, 1003)):
    return [(rows.X[a:b], rows.y[a:b], rows.weights[a:b]) for a, b in itertools.pairwise(edges)]


def read_only(rows, _folder):
    X = rows.X.copy()
    X.setflags(write=False)
    return as_source(X, rows.y, rows.weights)


def strided(rows, _folder):
    wide = np.repeat(np.repeat(rows.X, 2, axis=0), 2, axis=1)
    return as_source(wide[::2, ::2], np.repeat(rows.y, 2)[::2], rows.weights)


def reversed_rows(rows, _folder):
    return as_source(rows.X[::-1][::-1], list(rows.y), list(rows.weights))


def memory_map(rows, folder):
    np.save(folder / "x.npy", rows.X)
    return as_source(np.load(folder / "x.npy", mmap_mode="r"), rows.y, rows.weights)


def pandas_columns(rows, _folder):
    return as_source(pd.DataFrame(columns(rows)), "y", "w")


def pandas_beside(rows, _folder):
    frame = pd.DataFrame(rows.X, columns=list(NAMES))
    return as_source(frame, pd.Series(rows.y), pd.Series(rows.weights))


def pandas_arrow_types(rows, _folder):
    return as_source(pd.DataFrame(columns(rows)).convert_dtypes(dtype_backend="pyarrow"), "y", "w")


def polars_columns(rows, _folder):
    return as_source(pl.DataFrame(columns(rows)), "y", "w")


def polars_beside(rows, _folder):
    return as_source(pl.DataFrame(columns(rows)).select(NAMES), pl.Series(rows.y), pl.Series(rows.weights))


def arrow_chunks(rows, _folder):
    table = pa.table(columns(rows))
    return as_source(pa.concat_tables([table[:10], table[10:]]), "y", "w")


def batch_list(rows, _folder):
    return as_source(cut(rows))


def batch_values(rows, _folder):
    return as_source([Batch(X=X, y=y, weights=w) for X, y, w in cut(rows)])


def batch_frames(rows, _folder):
    frame = pd.DataFrame(columns(rows))
    return as_source([frame[:7], frame[7:]], "y", "w")


def batch_function(rows, _folder):
    return as_source(lambda: iter(cut(rows)))


def batch_class(rows, _folder):
    class Passes:
        def __iter__(self):
            yield from cut(rows)

    return as_source(Passes())


def sources_of_sources(rows, _folder):
    return as_source([as_source(*part) for part in cut(rows)])


def parquet_file(rows, folder):
    pa.parquet.write_table(pa.table(columns(rows)), folder / "t.parquet", row_group_size=100)
    return scan(folder / "t.parquet", target="y", weight="w")


def parquet_folder(rows, folder):
    table = pa.table(columns(rows))
    (folder / "part=1").mkdir()
    (folder / "_SUCCESS").touch()
    pa.parquet.write_table(table[:300], folder / "part=1" / "a.parquet")
    pa.parquet.write_table(table[300:].select(["w", *NAMES, "y"]), folder / "part=1" / "b.parquet")
    return scan(folder, features=NAMES, target="y", weight="w")


def parquet_pattern_assigned(rows, folder):
    table = pa.table(columns(rows))
    pa.parquet.write_table(table[:300], folder / "1.parquet")
    pa.parquet.write_table(table[300:], folder / "2.parquet")
    return as_source(scan(str(folder / "*.parquet")), "y", "w")


def csv_file(rows, folder):
    pa.csv.write_csv(pa.table(columns(rows)), folder / "t.csv")
    return scan(folder / "t.csv", target="y", weight="w")


def tsv_compressed(rows, folder):
    pd.DataFrame(columns(rows)).to_csv(folder / "t.tsv.gz", sep="\t", index=False)
    return scan(folder / "t.tsv.gz", list(NAMES), "y", "w")


def npy_files(rows, folder):
    table = np.column_stack([rows.X, rows.y, rows.weights])
    np.save(folder / "1.npy", table[:500])
    np.save(folder / "2.npy", np.asfortranarray(table[500:]))
    return scan([folder / "1.npy", folder / "2.npy"], target=3, weight=4)


UNNAMED = [
    read_only,
    strided,
    reversed_rows,
    memory_map,
    batch_list,
    batch_values,
    batch_function,
    batch_class,
]
UNNAMED += [sources_of_sources, npy_files]
NAMED = [pandas_columns, pandas_beside, pandas_arrow_types, polars_columns, polars_beside, arrow_chunks]
NAMED += [batch_frames, parquet_file, parquet_folder, parquet_pattern_assigned, csv_file, tsv_compressed]


def gathered(source):
    batches = list(source.batches())
    return tuple(np.concatenate([getattr(b, name) for b in batches]) for name in ("X", "y", "weights"))


@pytest.mark.parametrize("make", UNNAMED + NAMED)
def test_gives_the_rows_it_came_from_in_every_pass(make, rows, tmp_path):
    source = make(rows, tmp_path)
    assert isinstance(source, Source)
    for _ in range(2):
        X, y, weights = gathered(source)
        np.testing.assert_array_equal(X, rows.X)
        np.testing.assert_array_equal(y, rows.y)
        np.testing.assert_array_equal(weights, rows.weights)


@pytest.mark.parametrize("make", UNNAMED + NAMED)
def test_says_how_wide_and_how_long_it_is(make, rows, tmp_path):
    source = make(rows, tmp_path)
    assert source.n_features == 3
    assert source.n_rows in (1003, None)
    assert source.feature_names == (NAMES if make in NAMED else None)
    for batch in source.batches():
        assert batch.X.shape == (batch.n_rows, 3)
        assert batch.X.dtype == np.float64
        assert batch.y.shape == batch.weights.shape == (batch.n_rows,)


@pytest.mark.parametrize("make", UNNAMED + NAMED)
def test_two_passes_at_once_do_not_disturb_each_other(make, rows, tmp_path):
    source = make(rows, tmp_path)
    for one, other in zip(source.batches(), source.batches(), strict=True):
        np.testing.assert_array_equal(one.X, other.X)


@pytest.mark.parametrize("make", UNNAMED + NAMED)
def test_an_abandoned_pass_leaves_no_thread(make, rows, tmp_path):
    source = make(rows, tmp_path)
    before = threading.active_count()
    walk = source.batches()
    next(walk)
    walk.close()
    assert threading.active_count() == before


@given(edges=st.lists(st.integers(0, 50), max_size=6))
def test_any_cut_into_batches_is_the_same_table(edges):
    X = np.arange(100.0).reshape(50, 2)
    bounds = [0, *sorted(edges), 50]
    parts = [X[a:b] for a, b in itertools.pairwise(bounds)]
    source = as_source(parts)
    assert source.n_rows == 50
    np.testing.assert_array_equal(np.concatenate([b.X for b in source.batches()]), X)


def test_several_targets_are_columns(rows):
    source = as_source(pd.DataFrame(columns(rows)), ["y", "w"])
    np.testing.assert_array_equal(
        next(source.batches()).y, np.column_stack([rows.y, rows.weights])[: next(source.batches()).n_rows]
    )
    assert source.feature_names == NAMES


def test_a_single_block_pandas_frame_is_not_copied():
    X = np.zeros((10, 3))
    assert np.shares_memory(next(as_source(pd.DataFrame(X, copy=False)).batches()).X, X)


def test_arrays_are_not_copied_and_cut_to_the_largest_batch():
    X = np.zeros((MAX_BATCH_ROWS + 1, 1))
    one, two = as_source(X).batches()
    assert (one.n_rows, two.n_rows) == (MAX_BATCH_ROWS, 1)
    assert np.shares_memory(one.X, X)


def test_wide_tables_come_in_fewer_rows():
    assert next(as_source(np.broadcast_to(0.0, (100_000, 1000))).batches()).X.nbytes <= 2**23


def test_no_rows_are_one_empty_batch():
    (batch,) = as_source(np.empty((0, 4))).batches()
    assert batch.X.shape == (0, 4)


def test_masked_entries_are_missing():
    X = np.ma.MaskedArray([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(next(as_source(X).batches()).X, [[1, np.nan], [3, 4]])


def test_a_source_of_ones_own_is_a_source():
    class Ones(Source):
        n_rows, n_features, feature_names = 2, 1, None

        def batches(self):
            yield Batch(X=np.ones((2, 1)))

    assert as_source(Ones()).n_rows == 2
    with pytest.raises(ValueError, match="carries its own targets"):
        as_source(Ones(), y="a")


def test_targets_and_weights_can_be_given_later(rows):
    frame = pd.DataFrame(rows.X, columns=list(NAMES))
    for source in (as_source(rows.X), as_source(frame)):
        X, y, weights = gathered(as_source(source, rows.y, rows.weights))
        np.testing.assert_array_equal(X, rows.X)
        np.testing.assert_array_equal(y, rows.y)
        np.testing.assert_array_equal(weights, rows.weights)


def test_streams_are_told_from_tables():
    X = np.ones((2, 2))
    assert is_streamed([X, X])
    assert is_streamed(lambda: iter([X]))
    assert is_streamed(as_source(X))
    assert not is_streamed(X)
    assert not is_streamed(X.tolist())
    assert not is_streamed(pd.DataFrame(X))
    assert not is_streamed(list(X))
