"""Output: files that are replaced atomically, and values as JSON."""

import math
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

_MINUTE, _DAY = 60.0, 86400.0


def check_writable(path: Path, argument: str) -> None:
    """Refuse a path at which no file can be written, before any work."""
    if not path.parent.is_dir():
        raise ValueError(f"{argument}: no such folder: {path.parent}")
    if path.is_dir():
        raise ValueError(f"{argument}: {path} is a folder")


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file that replaces the target when the block succeeds, and is removed otherwise.

    Who may read the target may read what replaces it, and nobody else. What killed processes left of earlier
    drafts of the target is removed.
    """
    _remove_abandoned(target)
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        with draft.open("xb") as file:
            with suppress(OSError):  # a file system without locks
                _lock(file)
            with suppress(FileNotFoundError):  # a new file has the mode that the system gives
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        _removed(draft)
        if error.filename == str(draft):
            error.filename = str(target)  # the file was not asked for
        raise
    except BaseException:
        _removed(draft)
        raise
    _sync_folder(target.parent)


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
