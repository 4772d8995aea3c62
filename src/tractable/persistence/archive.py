"""The container: a zip archive of `model.json` and `arrays/0.npy`, `arrays/1.npy`, …

Members are stored, not compressed: float arrays hardly shrink, and a file then cannot grow when it is read.
"""

import json
import math
import os
import zipfile
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

import tractable

FORMAT = "tractable"
FORMAT_VERSION = 1
MODEL = "model.json"
ARRAY_KINDS = "biufcSUmM"  # of NumPy dtypes: every one whose items are plain bytes
_EPOCH = (1980, 1, 1, 0, 0, 0)  # equal objects give equal bytes, whenever they are saved
_CHUNK = 1 << 20
_MOST_OF_NOTHING = (
    1 << 20
)  # the lengths of an empty array, multiplied: sums over its axes have as many entries


def pack(file: BinaryIO, tree: Any, arrays: Sequence[np.ndarray]) -> None:
    """Write the archive."""
    version = tractable.__version__
    document = {"format": FORMAT, "version": FORMAT_VERSION, "tractable": version, "object": tree}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_entry(MODEL), json.dumps(document, allow_nan=False, indent=1))
        for index, array in enumerate(arrays):
            entry = _entry(_member(index))
            entry.file_size = array.nbytes  # lets zipfile choose the 64-bit layout for large arrays
            with archive.open(entry, "w") as member:
                npy.write_array(member, array, version=(1, 0), allow_pickle=False)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry


def _member(index: int) -> str:
    return f"arrays/{index}.npy"


class Archive:
    """An archive to read, checked member by member before anything is used."""

    def __init__(self, file: BinaryIO) -> None:
        if file.read(4) != b"PK\x03\x04":
            raise ValueError("it is not a file written by tractable.save")
        self.size = file.seek(0, os.SEEK_END)
        self._zip = zipfile.ZipFile(file)
        self._sizes = _checked_sizes(self._zip.infolist(), self.size)
        self._unread = set(self._sizes) - {MODEL}

    def tree(self) -> Any:
        """Return the tree of the saved object."""
        document = json.loads(
            self._zip.read(MODEL), object_pairs_hook=_without_duplicates, parse_constant=_no_constant
        )
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError("it is not a file written by tractable.save")
        version = document.get("version")
        if type(version) is not int or version < 1:
            raise ValueError(f"its format version is {version!r}")
        if version > FORMAT_VERSION:
            raise ValueError(
                f"it is of format {version}, written by tractable {document.get('tractable')}; "
                f"this is tractable {tractable.__version__}, which reads formats up to {FORMAT_VERSION}"
            )
        return document["object"]

    def take(self, index: Any) -> np.ndarray:
        """Return one array; each can be taken once, so that a small file cannot ask for much memory."""
        name = _member(index) if type(index) is int else f"array {index!r}"
        if name not in self._unread:
            raise ValueError(f"{name} is missing, or used twice")
        self._unread.remove(name)
        with self._zip.open(name) as member:
            return _read_array(member, name, self._sizes[name])

    def finish(self) -> None:
        """Refuse what nothing refers to."""
        if self._unread:
            raise ValueError(f"{min(self._unread)} belongs to nothing in {MODEL}")


def _checked_sizes(entries: list[zipfile.ZipInfo], size: int) -> dict[str, int]:
    names = [entry.filename for entry in entries]
    expected = [MODEL, *(_member(index) for index in range(len(entries) - 1))]
    if names != expected:
        raise ValueError(f"it holds {_listing(names)} where {_listing(expected)} was expected")
    for entry in entries:
        if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
            raise ValueError(f"{entry.filename} is compressed, and saved files are not")
    if sum(entry.file_size for entry in entries) > size:
        raise ValueError("its members are larger than the file")
    return {entry.filename: entry.file_size for entry in entries}


def _listing(names: list[str]) -> str:
    shown = ", ".join(name[:40] for name in names[:4])
    return f"{shown}, … ({len(names)} members)" if len(names) > 4 else (shown or "nothing")


def _read_array(member: Any, name: str, size: int) -> np.ndarray:
    if npy.read_magic(member) != (1, 0):
        raise ValueError(f"{name} is of an unknown npy version")
    shape, fortran, dtype = npy.read_array_header_1_0(member)
    if dtype.kind not in ARRAY_KINDS or dtype.itemsize == 0:
        raise ValueError(f"{name} has the dtype {dtype}, and saved arrays hold plain data only")
    if any(length < 0 for length in shape) or math.prod(shape) * dtype.itemsize != size - member.tell():
        raise ValueError(f"{name} declares the shape {shape}, which is not what follows")
    if math.prod(filter(None, shape)) > max(size, _MOST_OF_NOTHING):
        raise ValueError(f"{name} has no entries and declares the shape {shape}: it is too long")
    raw = np.empty(size - member.tell(), dtype=np.uint8)
    _fill(member, raw.data)
    return raw.view(dtype).reshape(shape, order="F" if fortran else "C")


def _fill(member: Any, buffer: memoryview) -> None:
    filled = 0
    while filled < len(buffer):
        got = member.readinto(buffer[filled : filled + _CHUNK])
        if not got:
            raise ValueError("it ends too early")
        filled += got
    member.read(1)  # reaching the end is what compares the checksum


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"{MODEL} repeats a name")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{MODEL} holds {name}, which is not JSON")
