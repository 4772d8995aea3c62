"""Folders of Iceberg tables: pyiceberg reads their metadata, and files that were overwritten are not read."""

import shutil

import numpy as np
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

import tractable
from quick import some
from tractable.data import scan

pytestmark = pytest.mark.filterwarnings("ignore:Delete operation did not match:UserWarning")


@pytest.fixture
def warehouse(tmp_path):
    catalog = SqlCatalog("local", uri="sqlite:///:memory:", warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("n")
    yield catalog, tmp_path / "warehouse" / "n" / "t"
    catalog.close()


def some_rows(rng):
    n = int(rng.integers(1, 6))
    return pa.table({"x": rng.normal(size=n), "k": rng.integers(0, 3, n)})


@pytest.mark.parametrize("seed", some(range(6)))
def test_the_rows_are_those_of_the_current_snapshot(warehouse, seed):
    catalog, folder = warehouse
    rng = np.random.default_rng(seed)
    rows = some_rows(rng)
    table = catalog.create_table("n.t", schema=rows.schema)
    table.append(rows)
    for _ in range(6):
        operation = rng.choice(["append", "overwrite", "delete"])
        if operation == "delete":
            table.delete(f"k = {rng.integers(0, 3)}")
        else:
            getattr(table, operation)(some_rows(rng))
        want = sorted(table.scan().to_arrow()["x"].to_pylist())
        if want:
            source = scan(folder, features=["x"])
            assert sorted(source.collect().X[:, 0]) == want
            assert source.n_rows == len(want)
            np.testing.assert_allclose(tractable.fold(tractable.Moments.of, source).mean, [np.mean(want)])
        else:
            with pytest.raises(ValueError, match="no rows"):
                scan(folder)


def test_a_file_that_was_overwritten_is_refused(warehouse, rng):
    catalog, folder = warehouse
    rows = some_rows(rng)
    table = catalog.create_table("n.t", schema=rows.schema)
    table.append(rows)
    (dead,) = (folder / "data").iterdir()
    table.overwrite(rows)
    with pytest.raises(ValueError, match=r"is no part of the table in .*t, by its log; scan the folder"):
        scan(dead)
    (live,) = set((folder / "data").iterdir()) - {dead}
    assert scan(live).n_rows == len(rows)


def test_what_the_files_alone_do_not_say_is_refused(warehouse, rng):
    catalog, folder = warehouse
    rows = some_rows(rng)
    table = catalog.create_table("n.t", schema=rows.schema)
    table.append(rows)
    with table.update_schema() as update:
        update.rename_column("x", "y")
    with table.update_schema() as update:
        update.rename_column("k", "x")
    with pytest.raises(ValueError, match=r"a column 'x' that is another one in .*pyiceberg"):
        scan(folder)
    (last,) = folder.glob("metadata/00003-*")
    shutil.copy(last, last.with_name("00003-0.metadata.json"))
    with pytest.raises(ValueError, match="2 files of metadata that may be the last"):
        scan(folder)
