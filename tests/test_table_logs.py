"""Folders of Delta tables: the log says which files count, whatever was written, removed and summed up."""

import json
import shutil
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tractable
from quick import some
from tractable.data import scan

SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": name, "type": kind, "nullable": True, "metadata": {}}
            for name, kind in {"x": "double", "year": "integer", "city": "string"}.items()
        ],
    }
)
CITIES = ("Ulm", "a b", "ü=%/", None)


class Delta:
    """A slow writer of Delta tables, which knows the rows of the last version."""

    def __init__(self, root, rng, **settings):
        self.root, self.rng, self.version, self.written = root, rng, -1, 0
        self.live, self.dead = {}, []
        (root / "_delta_log").mkdir(parents=True)
        self.protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
        self.metadata = {
            "id": "1",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": SCHEMA,
            "partitionColumns": ["year", "city"],
            "configuration": {},
            **settings,
        }
        self.commit([{"protocol": self.protocol}, {"metaData": self.metadata}])

    def commit(self, actions):
        self.version += 1
        lines = [json.dumps({"commitInfo": {"timestamp": 1}}), *map(json.dumps, actions)]
        (self.root / "_delta_log" / f"{self.version:020}.json").write_text("\n".join(lines) + "\n")

    def new_file(self):
        year, city = self.rng.choice([2023, 2024]), CITIES[self.rng.integers(len(CITIES))]
        folder = f"year={year}/city={'__HIVE_DEFAULT_PARTITION__' if city is None else quote(city, safe='')}"
        path, self.written = f"{folder}/part-{self.written:05}.parquet", self.written + 1
        (self.root / folder).mkdir(parents=True, exist_ok=True)
        x = self.rng.standard_normal(self.rng.integers(1, 5))
        pq.write_table(pa.table({"x": x}), self.root / path)
        address = quote(path, safe="/=")
        self.live[address] = [(float(entry), int(year), city) for entry in x]
        return {"add": {"path": address, "partitionValues": {"year": str(year), "city": city}, "size": 1}}

    def removal(self, address):
        self.dead.append(address)
        del self.live[address]
        return {"remove": {"path": address, "deletionTimestamp": 1, "dataChange": True}}

    def append(self):
        self.commit([self.new_file() for _ in range(self.rng.integers(1, 4))])

    def overwrite(self):
        removed = [self.removal(address) for address in list(self.live)]
        self.commit([*removed, self.new_file()])

    def delete(self):
        if self.live:
            self.commit([self.removal(sorted(self.live)[self.rng.integers(len(self.live))])])

    def checkpoint(self, parts=0):
        adds = [
            {"path": path, "partitionValues": [("year", str(rows[0][1])), ("city", rows[0][2])]}
            for path, rows in self.live.items()
        ]
        entries = [{"protocol": self.protocol}, {"metaData": {**self.metadata, "configuration": []}}]
        entries += [{"add": add} for add in adds] + [{"remove": {"path": path}} for path in self.dead]
        schema = pa.schema(
            {
                "protocol": pa.struct({"minReaderVersion": pa.int32(), "minWriterVersion": pa.int32()}),
                "metaData": pa.struct(
                    {
                        "id": pa.string(),
                        "schemaString": pa.string(),
                        "partitionColumns": pa.list_(pa.string()),
                        "configuration": pa.map_(pa.string(), pa.string()),
                    }
                ),
                "add": pa.struct({"path": pa.string(), "partitionValues": pa.map_(pa.string(), pa.string())}),
                "remove": pa.struct({"path": pa.string()}),
            }
        )
        stem = f"{self.version:020}.checkpoint"
        names = [f"{stem}.{i:010}.{parts:010}" for i in range(1, parts + 1)] or [stem]
        for i, name in enumerate(names):
            table = pa.Table.from_pylist(entries[i :: len(names)], schema)
            pq.write_table(table, self.root / "_delta_log" / f"{name}.parquet")

    def checkpoint_of_parts(self):
        self.checkpoint(parts=int(self.rng.integers(1, 4)))

    def forget(self):
        """Delete the commits before the last checkpoint, as the clean-up of logs does."""
        log = self.root / "_delta_log"
        last = max((int(file.name[:20]) for file in log.glob("*.checkpoint*")), default=-1)
        for file in log.glob("*.json"):
            if int(file.name[:20]) <= last:
                file.unlink()

    def half_a_checkpoint(self):
        stem = f"{self.version:020}.checkpoint.{1:010}.{9:010}.parquet"
        pq.write_table(pa.table({"protocol": pa.nulls(1)}), self.root / "_delta_log" / stem)

    OPERATIONS = (append, overwrite, delete, checkpoint, checkpoint_of_parts, forget)


def rows_of(folder):
    found = []
    for table in scan(folder, features=["x", "year", "city"]).tables():
        found += zip(*(table.column(name).to_pylist() for name in ("x", "year", "city")), strict=True)
    return sorted(found, key=str)


@pytest.mark.parametrize("seed", some(range(12), 3))
def test_the_rows_are_those_of_the_last_version(tmp_path, seed):
    rng = np.random.default_rng(seed)
    table = Delta(tmp_path / "t", rng)
    table.append()
    for _ in range(25):
        rng.choice(Delta.OPERATIONS)(table)
        want = sorted((row for rows in table.live.values() for row in rows), key=str)
        if want:
            assert rows_of(tmp_path / "t") == want
        else:
            with pytest.raises(ValueError, match="no rows"):
                scan(tmp_path / "t")


@pytest.mark.parametrize("seed", some(range(10)))
def test_damaged_logs_are_refused_or_read(tmp_path, seed):
    """Fields and bytes of the log are changed: one ValueError, or a table of files that exist."""
    rng = np.random.default_rng(seed)
    table = Delta(tmp_path / "t", rng)
    for operation in (table.append, table.checkpoint, table.append, table.delete):
        operation()
    outcomes = {"refused": 0, "accepted": 0}
    for _ in range(40):
        broken = tmp_path / "broken"
        shutil.copytree(tmp_path / "t", broken)
        file = rng.choice(sorted((broken / "_delta_log").iterdir()))
        content = bytearray(file.read_bytes())
        at = rng.integers(len(content))
        if rng.random() < 0.5:
            content[at] = rng.integers(256)
        else:
            del content[at : at + rng.integers(1, 40)]
        file.write_bytes(content)
        try:
            assert rows_of(broken)
        except ValueError:
            outcomes["refused"] += 1
        else:
            outcomes["accepted"] += 1
        shutil.rmtree(broken)
    assert outcomes["refused"] >= 5, outcomes


@pytest.fixture
def table(tmp_path, rng):
    """A Delta table of which a file has been removed."""
    made = Delta(tmp_path / "t", rng)
    made.append()
    made.overwrite()
    made.append()
    return made


def test_a_removed_file_is_refused_however_it_is_named(table, tmp_path):
    dead, live = table.root / unquote(table.dead[0]), unquote(next(iter(table.live)))
    assert scan(table.root / live, ["x"]).n_rows == len(next(iter(table.live.values())))
    for path in (dead, [dead], str(table.root / "**" / "*.parquet"), dead.parent, tmp_path):
        with pytest.raises(ValueError, match=r"is no part of the table in .*; scan the folder .*t itself"):
            scan(path)
    (table.root / live).unlink()
    with pytest.raises(ValueError, match=r"is part of the table in .*, but does not exist"):
        scan(table.root)


def test_models_and_commands_read_the_last_version(table, tmp_path):
    want = np.mean([row[0] for rows in table.live.values() for row in rows])
    model = tractable.GaussianDensity().fit(scan(table.root, features=["x"]))
    np.testing.assert_allclose(model.location_, [want])
    out = tractable.predict_to(
        model,
        scan(table.root, features=["x", "year"]),
        tmp_path / "o.parquet",
        method="score_samples",
        columns=["year"],
    )
    years = sorted(row[1] for rows in table.live.values() for row in rows)
    assert sorted(pq.read_table(out)["year"].to_pylist()) == years
    from tractable.cli.tables import open_table

    opened = open_table(str(table.root))
    assert list(opened.types) == ["x", "year", "city"]
    blocks = list(opened.blocks(["city", "x"]))
    found = sorted(
        (row for block in blocks for row in zip(*block.to_pydict().values(), strict=True)), key=str
    )
    assert found == sorted(((row[2], row[0]) for rows in table.live.values() for row in rows), key=str)


def asked(**protocol):
    def change(table):
        table.protocol = {"minReaderVersion": 3, "minWriterVersion": 7, **protocol}
        table.commit([{"protocol": table.protocol}])

    return change


def mapped(table):
    table.metadata = {**table.metadata, "configuration": {"delta.columnMapping.mode": "name"}}
    table.commit([{"metaData": table.metadata}])


def with_deleted_rows(table):
    table.append()
    commit = table.root / "_delta_log" / f"{table.version:020}.json"
    lines = [json.loads(line) for line in commit.read_text().splitlines()]
    lines[-1]["add"]["deletionVector"] = {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^"}
    commit.write_text("\n".join(map(json.dumps, lines)))


def without_a_commit(table):
    table.append()
    (table.root / "_delta_log" / f"{table.version - 1:020}.json").unlink()


def elsewhere(table):
    table.commit([{"add": {"path": "s3://bucket/part.parquet", "partitionValues": {}}}])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (asked(readerFeatures=["deletionVectors", "icebergCompatV9"]), "asks readers for icebergCompatV9"),
        (asked(minReaderVersion=4), "version 4 of the protocol"),
        (mapped, "column mapping"),
        (with_deleted_rows, "deletion vectors"),
        (without_a_commit, "without all commits"),
        (elsewhere, "files elsewhere"),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_what_the_files_alone_do_not_say_is_refused(table, change, said):
    change(table)
    with pytest.raises(ValueError, match=rf"{said}.*deltalake") as error:
        scan(table.root)
    assert "give `fit` the batches" in str(error.value)


@pytest.mark.parametrize(
    "commit",
    [
        "[" * 200_000,
        json.dumps({"add": {"nothing": 1}}),
        json.dumps({"metaData": {"schemaString": "no JSON"}}),
        json.dumps(
            {"metaData": {"schemaString": '{"fields": []}', "partitionColumns": ["x"], "configuration": 1}}
        ),
        json.dumps({"add": {"path": "part.parquet", "partitionValues": {"year": "no number"}}}),
    ],
    ids=["nested", "no path", "no schema", "no configuration", "no number"],
)
def test_a_damaged_log_is_named(table, commit):
    table.commit([])
    (table.root / "_delta_log" / f"{table.version:020}.json").write_text(commit)
    with pytest.raises(ValueError, match=r"the log of the Delta table .* is damaged") as error:
        scan(table.root)
    assert str(table.root) in str(error.value)


def test_features_that_change_nothing_are_read(table):
    asked(readerFeatures=["deletionVectors", "timestampNtz"])(table)
    assert scan(table.root, ["x"]).n_rows


def test_half_a_checkpoint_is_not_read(table):
    table.half_a_checkpoint()
    assert rows_of(table.root)


def test_tables_of_hudi_are_refused(tmp_path):
    (tmp_path / ".hoodie").mkdir()
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"Hudi table .* has a timeline"):
        scan(tmp_path)


def test_without_pyiceberg_a_table_of_iceberg_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyiceberg.table", None)
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "00000-1f.metadata.json").write_text("{}")
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "data" / "a.parquet")
    for path in (tmp_path, tmp_path / "data", tmp_path / "data" / "a.parquet"):
        with pytest.raises(ValueError, match=r"Iceberg table.*pip install 'tractable\[iceberg\]'"):
            scan(path)
