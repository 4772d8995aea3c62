"""Tables of many files with a log that says which files count: Delta Lake and Apache Iceberg."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

#: Features of Delta tables that leave live files as they are, or that are checked by themselves.
READABLE = frozenset(
    {
        "columnMapping",
        "deletionVectors",
        "timestampNtz",
        "typeWidening",
        "vacuumProtocolCheck",
        "v2Checkpoint",
    }
)

#: The actions of a Delta log that say which files there are.
KINDS = ("add", "remove", "metaData", "protocol", "sidecar")

#: The types of Delta that are read as numbers, by their names in Arrow; values of others stay text.
NUMBERS = dict.fromkeys(("byte", "short", "integer", "long"), "int64")
NUMBERS |= {"float": "double", "double": "double", "boolean": "bool"}


#: The files of the last version of a table, and of each column of its partitions the values of the files.
Live = tuple[tuple[Path, ...], dict[str, Any]]


class DeltaLog:
    """The log of a Delta table: commits in JSON, and checkpoints that sum up the commits before."""

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Whether a folder holds a Delta table."""
        return (folder / "_delta_log").is_dir()

    @staticmethod
    def files(folder: Path) -> Live:
        """Return the files of the last version: those that were added and not removed since."""
        import pyarrow as pa

        damage = (
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
            json.JSONDecodeError,
            pa.ArrowException,
        )
        try:
            return _live_of_delta(folder)
        except damage as error:
            raise ValueError(f"path: the log of the Delta table {folder} is damaged: {error!r}") from error


def _live_of_delta(folder: Path) -> Live:
    added: dict[tuple[str, str], Any] = {}
    last: dict[str, Any] = {}  # metadata and protocol
    for kind, entry in _actions(folder):
        if kind == "add":
            added[_key(entry)] = entry
        elif kind == "remove":
            added.pop(_key(entry), None)
        else:
            last[kind] = entry
    if "sidecar" in last:
        raise _unreadable("Delta", folder, "a checkpoint with sidecars")
    if not {"metaData", "protocol"} <= last.keys():
        raise ValueError(f"path: the log of the Delta table {folder} is incomplete: it has no metadata")
    entries = sorted(added.values(), key=lambda entry: str(entry["path"]))
    _check_delta(folder, last["metaData"], last["protocol"], entries)
    paths = tuple(_file_of(entry["path"], folder, "Delta") for entry in entries)
    return paths, _delta_partitions(last["metaData"], entries)


def _key(entry: Any) -> tuple[str, str]:
    """Return what a file is known by in a log: its path, and which of its rows are deleted."""
    vector = entry.get("deletionVector") or {}
    return entry["path"], f"{vector.get('storageType')}{vector.get('pathOrInlineDv')}{vector.get('offset')}"


def _actions(folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the actions of the last checkpoint and of all commits after it, in order, by their kinds."""
    names = sorted(file.name for file in (folder / "_delta_log").iterdir())
    start, checkpoint = _last_checkpoint(names)
    for name in checkpoint:
        yield from _of_checkpoint(folder / "_delta_log" / name)
    commits = {int(name[:20]): name for name in names if re.fullmatch(r"\d{20}\.json", name)}
    after = sorted(version for version in commits if version > start)
    if after != list(range(start + 1, start + 1 + len(after))) or (start < 0 and not after):
        raise _unreadable("Delta", folder, "a log without all commits since a checkpoint that can be read")
    for version in after:
        yield from _of_commit(folder / "_delta_log" / commits[version])


def _last_checkpoint(names: Iterable[str]) -> tuple[int, list[str]]:
    """Return the version and the files of the last checkpoint that is whole; -1 and none if there is none."""
    parts: dict[tuple[int, int], list[str]] = {}  # by version and number of parts
    for name in names:
        found = re.fullmatch(r"(\d{20})\.checkpoint(?:\.\d{10}\.(\d{10}))?\.parquet", name)
        if found is not None:
            parts.setdefault((int(found[1]), int(found[2] or 1)), []).append(name)
    whole = {version: files for (version, n_parts), files in parts.items() if len(files) >= n_parts}
    return max(whole.items(), default=(-1, []))


def _of_checkpoint(path: Path) -> Iterator[tuple[str, Any]]:
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            kinds = [kind for kind in KINDS if kind in file.schema_arrow.names]
            for batch in file.iter_batches(columns=kinds):
                for row in batch.to_pylist():
                    yield from ((kind, entry) for kind, entry in row.items() if entry is not None)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as a checkpoint of a Delta table: {error}") from error


def _of_commit(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        for line in path.read_text("utf-8").splitlines():
            if line.strip():
                yield from ((kind, entry) for kind, entry in json.loads(line).items() if kind in KINDS)
    except (ValueError, AttributeError) as error:
        raise ValueError(f"{path} cannot be read as a commit of a Delta table: {error}") from error


def _check_delta(folder: Path, metadata: Any, protocol: Any, entries: Iterable[Any]) -> None:
    """Refuse a table whose files are not its rows: rows are deleted in place, or columns have other names."""
    features = set(protocol.get("readerFeatures") or ()) - READABLE
    if features or protocol.get("minReaderVersion", 1) > 3:
        asked = ", ".join(sorted(features)) or f"version {protocol['minReaderVersion']} of the protocol"
        raise _unreadable("Delta", folder, f"a log that asks readers for {asked}")
    if dict(metadata.get("configuration") or ()).get("delta.columnMapping.mode", "none") != "none":
        raise _unreadable("Delta", folder, "columns with other names in its files (column mapping)")
    if any(entry.get("deletionVector") for entry in entries):
        raise _unreadable("Delta", folder, "rows that are deleted within files (deletion vectors)")


def _delta_partitions(metadata: Any, entries: list[Any]) -> dict[str, Any]:
    """Return the columns of partitions with the types that the table declares."""
    import pyarrow as pa

    declared = {field["name"]: field["type"] for field in json.loads(metadata["schemaString"])["fields"]}
    found = {}
    for name in metadata.get("partitionColumns") or ():
        texts = [dict(entry.get("partitionValues") or ()).get(name) or None for entry in entries]
        kind = NUMBERS.get(
            str(declared.get(name)), "double" if "decimal" in str(declared.get(name)) else None
        )
        found[name] = pa.array(texts, pa.string()).cast(pa.type_for_alias(kind or "string"))
    return found


def _file_of(uri: str, folder: Path, name: str) -> Path:
    """Return the file of a path below the folder of a table, or of an address of the file system."""
    address = urlparse(uri)
    if address.scheme == "file":
        return Path(unquote(address.path))
    if len(address.scheme) > 1:
        raise _unreadable(name, folder, f"files elsewhere ({uri})")
    return folder / unquote(uri)


def _unreadable(kind: str, folder: Path, what: str) -> ValueError:
    library = {"Delta": "deltalake", "Iceberg": "pyiceberg"}.get(kind, "the library that wrote it")
    return ValueError(
        f"path: the {kind} table {folder} has {what}, and its files alone are not its rows; read it with "
        f"{library}, and give `fit` the batches"
    )


#: The names of files of metadata of Iceberg, with the number of their version.
_METADATA = re.compile(r"(?:v(\d+)|(\d+)-[\da-f-]+)(?:\.gz)?\.metadata\.json")


class IcebergLog:
    """The metadata of an Iceberg table, which pyiceberg reads."""

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Whether a folder holds an Iceberg table."""
        return any(_METADATA.fullmatch(file.name) for file in (folder / "metadata").glob("*.metadata.json"))

    @staticmethod
    def files(folder: Path) -> Live:
        """Return the files of the current snapshot."""
        try:
            from pyiceberg.table import StaticTable
        except ImportError:
            raise ValueError(
                f"path: {folder} is an Iceberg table, and pyiceberg finds its files: "
                "pip install 'tractable[iceberg]'"
            ) from None
        table = StaticTable.from_metadata(str(_last_metadata(folder)))
        tasks = list(table.scan().plan_files())
        if any(task.delete_files for task in tasks):
            raise _unreadable("Iceberg", folder, "rows that are deleted within files (delete files)")
        files = {_file_of(task.file.file_path, folder, "Iceberg") for task in tasks}
        fields = {field.name: field.field_id for field in table.schema().fields}
        for file in sorted(files):
            _check_fields(folder, file, fields)
        return tuple(sorted(files)), {}


def _last_metadata(folder: Path) -> Path:
    """Return the file of the last version of a table's metadata; refuse two of the same number."""
    numbered: dict[int, list[Path]] = {}
    for file in (folder / "metadata").glob("*.metadata.json"):
        number = _METADATA.fullmatch(file.name)
        if number is not None:
            numbered.setdefault(int(number[1] or number[2]), []).append(file)
    last = numbered[max(numbered)] if numbered else []
    if len(last) != 1:
        raise _unreadable("Iceberg", folder, f"{len(last)} files of metadata that may be the last")
    return last[0]


def _check_fields(folder: Path, file: Path, fields: dict[str, int]) -> None:
    """Refuse a file in which a name belongs to another column, which was renamed or dropped since."""
    from pyarrow import parquet

    if not file.is_file():
        return
    for field in parquet.read_schema(file):
        number = (field.metadata or {}).get(b"PARQUET:field_id")
        if number is not None and fields.get(field.name, int(number)) != int(number):
            raise _unreadable(
                "Iceberg", folder, f"a column {field.name!r} that is another one in {file.name}"
            )


class HudiLog:
    """A table of Apache Hudi, which is refused."""

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Whether a folder holds a Hudi table."""
        return (folder / ".hoodie").is_dir()

    @staticmethod
    def files(folder: Path) -> Live:
        """Refuse the table."""
        raise _unreadable("Hudi", folder, "a timeline that says which files count")


#: The kinds of tables that have a log.
LOGS: tuple[Any, ...] = (DeltaLog, IcebergLog, HudiLog)


def removed_by_log(files: Iterable[Path]) -> tuple[Path, Path] | None:
    """Return the first file that the log of its table does not name, and the folder of the table."""
    by_folder: dict[Path, list[Path]] = {}
    for file in files:
        if file.suffix.lower() not in {".parquet", ".pq"}:
            continue
        by_folder.setdefault(file.absolute().parent, []).append(file)
    live: dict[Path, frozenset[Path] | None] = {}
    for parent, inside in by_folder.items():
        for folder in (parent, *parent.parents):
            if folder not in live:
                log = next((log for log in LOGS if log.is_in(folder)), None)
                live[folder] = None if log is None else frozenset(p.resolve() for p in log.files(folder)[0])
            named = live[folder]
            dead = [] if named is None else [file for file in inside if file.resolve() not in named]
            if dead:
                return dead[0], folder
    return None
