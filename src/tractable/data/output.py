"""Output: which files may be written, files that are replaced atomically, and values as JSON."""

import errno
import math
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO
from unicodedata import normalize
from weakref import WeakKeyDictionary

_MINUTE, _DAY = 60.0, 86400.0

#: The files of the sources that are in use; those of a source leave with it.
_being_read: WeakKeyDictionary[Any, tuple[Path, ...]] = WeakKeyDictionary()

#: Errors of writing that name no file: of a full disk, and of limits of files and users.
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)

#: Kinds of files that are written to, and not replaced: pipes, terminals and devices such as /dev/null.
_STREAMS = (stat.S_ISFIFO, stat.S_ISCHR)


def check_writable(path: Path, argument: str) -> None:
    """Refuse a path at which no file can be written, before any work."""
    try:
        target = destination(path)
        mode = target.stat().st_mode if target.exists() else stat.S_IFREG
    except NotADirectoryError:
        raise ValueError(f"{argument}: no such folder: {path.parent}") from None
    except OSError as error:
        raise ValueError(f"{argument}: {path} cannot be written to: {str(error.strerror).lower()}") from None
    if stat.S_ISDIR(mode):
        raise ValueError(f"{argument}: {path} is a folder")
    if is_stream(target):
        return
    if not stat.S_ISREG(mode):
        raise ValueError(f"{argument}: {path} is no file but a disk or a socket")
    if not target.parent.is_dir():
        raise ValueError(f"{argument}: no such folder: {_as_written(path, target)}")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise ValueError(f"{argument}: no file can be written in the folder {_as_written(path, target)}")


def _as_written(path: Path, target: Path) -> Path:
    """Return the folder of a target, as the path names it unless a link leads elsewhere."""
    return target.parent if path.is_symlink() else path.parent


def check_outputs(outputs: Iterable[tuple[str, Any]], inputs: Iterable[Any] = ()) -> None:
    """Refuse an output that is an input or another output, before any work.

    Two names are of one file if they lead to the same path, in any letter case, or to the same file on the
    disk: links and hard links count. Pipes and files may be named by descriptors. Whatever is written to
    /dev/null or to a terminal replaces nothing.

    Parameters
    ----------
    outputs : pairs of str and path or int
        The argument that names each output, and its path or descriptor.
    inputs : paths or int
        Paths and descriptors that are read. The files of every source of `tractable.scan` that is still in
        use count too.

    Examples
    --------
    >>> check_outputs([("output", "a.csv"), ("save", "model")], ["b.csv"])
    >>> check_outputs([("output", "a.csv"), ("save", "./A.csv")])
    Traceback (most recent call last):
        ...
    ValueError: save: ./A.csv is the file of output too; name another
    """
    read = set().union(*map(_identities, inputs))
    for paths in list(_being_read.values()):
        read = read.union(*map(_identities, paths))
    written: dict[Any, str] = {}
    for argument, path in outputs:
        mine = _identities(path)
        name = "standard output" if isinstance(path, int) else path
        if mine & read:
            raise ValueError(f"{argument}: {name} is a file that is being read; name another")
        other = next((written[one] for one in mine if one in written), None)
        if other is not None:
            raise ValueError(f"{argument}: {name} is the file of {other} too; name another")
        written |= dict.fromkeys(mine, argument)


def mark_as_read(source: Any, paths: tuple[Path, ...]) -> None:
    """Let no output be one of the files of a source, as long as the source is in use."""
    _being_read[source] = paths


def _identities(file: Any) -> set[Any]:
    """Return what a file is known by: its path, without links and letter case, and its place on the disk."""
    found: set[Any] = set()
    if not isinstance(file, int):
        found.add(normalize("NFC", os.path.realpath(file)).casefold())
    try:
        status = os.stat(file)  # noqa: PTH116  (of a path or a descriptor)
    except OSError:
        return found
    if stat.S_ISCHR(status.st_mode):
        return set()
    return found | {(status.st_dev, status.st_ino)}


def destination(path: Any) -> Path:
    """Return the file that is written at a path: the target of a link; pipes and devices are as named."""
    path = Path(path)
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        is_file = True
    return Path(os.path.realpath(path)) if is_file else path


def is_stream(path: Path) -> bool:
    """Whether a path leads to a pipe or a device, which is written to and not replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return any(kind(mode) for kind in _STREAMS)


@contextmanager
def replacing(path: Any) -> Iterator[BinaryIO]:
    """Yield a temporary file that replaces a file when the block succeeds, and is removed otherwise.

    If the path is a link, the file that it leads to is replaced. A pipe or a device is written to, after the
    block has succeeded. Who may read the target may read what replaces it, and nobody else. What killed
    processes left of earlier drafts of the target is removed.
    """
    target = destination(path)
    if is_stream(target):
        with _named(path), tempfile.TemporaryFile() as whole:
            yield whole
            whole.seek(0)
            # Neither created nor truncated: only what is there is written to.
            with open(os.open(target, os.O_WRONLY), "wb") as stream:  # noqa: PTH123
                shutil.copyfileobj(whole, stream)
        return
    _remove_abandoned(target)
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        with _named(path, draft):
            with draft.open("xb") as file:
                with suppress(OSError):  # a file system without locks
                    _lock(file)
                with suppress(FileNotFoundError):  # a new file has the mode that the system gives
                    draft.chmod(stat.S_IMODE(target.stat().st_mode))
                yield file
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)
    except BaseException:
        _removed(draft)
        raise
    _sync_folder(target.parent)


@contextmanager
def _named(path: Any, draft: Path | None = None) -> Iterator[None]:
    """Name the file that was asked for in errors of its draft, and of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename == str(draft) or (error.filename is None and error.errno in _FULL):
            error.filename = str(path)
        raise


def _remove_abandoned(target: Path) -> None:
    """Remove the drafts of a target that no process is writing any more."""
    name = re.compile(rf"\.{re.escape(target.name[:100])}\.[0-9a-f]{{16}}\.part")
    with suppress(OSError):  # a folder that cannot be listed
        for draft in [path for path in target.parent.iterdir() if name.fullmatch(path.name)]:
            if _is_abandoned(draft):
                _removed(draft)


def _is_abandoned(draft: Path) -> bool:
    """Whether a draft has no writer: nobody holds its lock, and it is older than the moment before a lock."""
    with suppress(OSError):  # gone, held by another, or not ours
        age = time.time() - draft.stat().st_mtime
        with draft.open("rb") as file:
            return age > (_MINUTE if _lock(file) else _DAY)
    return False


def _lock(file: BinaryIO) -> bool:
    """Lock an open file until it is closed; return whether locks are known here."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:  # Windows: age alone decides
        return False
    flock(file, LOCK_EX | LOCK_NB)
    return True


def _removed(draft: Path) -> None:
    with suppress(OSError):  # the first error is reported
        draft.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    # The rename itself survives a power cut where a folder can be synced (not on Windows).
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def as_json(x: Any) -> Any:
    """Return a value as JSON has it: NaN and infinity are null, other types are text.

    Examples
    --------
    >>> import numpy as np
    >>> as_json({"scores": np.array([0.5, np.nan]), 3: ("a", None)})
    {'scores': [0.5, None], '3': ['a', None]}
    """
    if isinstance(x, dict):
        return {str(name): as_json(part) for name, part in x.items()}
    if hasattr(x, "tolist"):
        return as_json(x.tolist())
    if isinstance(x, list | tuple):
        return [as_json(part) for part in x]
    if isinstance(x, float):
        return x if math.isfinite(x) else None  # which JSON cannot represent
    return x if isinstance(x, str | int | None) else str(x)
