"""Standard input and output as files: ``-`` for a table, a model or a page."""

import atexit
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import typer

#: The name of standard input and standard output.
STREAM = "-"

#: The file that standard input was copied to; it can be read once only.
_copied: list[Path] = []


def open_closed_streams() -> None:
    """Occupy the descriptors of closed standard streams, and let messages for a closed one vanish.

    A file that is opened later would get the free descriptor, and so what is printed by a library.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            if name == "stderr":
                sys.stderr = open(number, "w", closefd=False)  # noqa: SIM115  (as long as the process)


def binary_stream(name: str) -> BinaryIO:
    """Return standard input or output as bytes; a stream that the caller has closed is refused."""
    if getattr(sys, name) is None:
        raise ValueError(f"standard {name.removeprefix('std')}put is closed")
    return typer.get_binary_stream(name)  # type: ignore[arg-type]  # of a literal


def check_outputs(outputs: Mapping[str, Any], inputs: Iterable[Any] = ()) -> None:
    """Refuse outputs, by their options, that are no files to write, an input, or another output.

    An option may have one path, several, or none; ``-`` is a standard stream, wherever it leads.
    """
    from tractable.data.output import check_outputs as check
    from tractable.data.output import check_writable

    pairs = []
    for option, paths in outputs.items():
        for path in paths if isinstance(paths, list) else [paths]:
            if str(path) == STREAM:
                pairs += [(option, number) for number in _descriptor("stdout")]
            elif path is not None:
                check_writable(path, option)
                pairs.append((option, path))
    read: list[Any] = []
    for name in inputs:
        read += _descriptor("stdin") if Path(name) in (Path(STREAM), *_copied) else [name]
    check(pairs, read)


def _descriptor(name: str) -> list[int]:
    """Return the number of a standard stream, if it is one of the system."""
    stream = getattr(sys, name)
    try:
        return [] if stream is None else [stream.fileno()]
    except (io.UnsupportedOperation, ValueError):
        return []


def input_path(name: str) -> str:
    """Return the path of an input: of a copy of standard input for ``-``, which lasts as long as the command.

    A table is read more than once, and a model is read from its end on, so that both need a file.
    """
    if name != STREAM:
        return name
    if _copied:
        raise ValueError("standard input is named twice, and can be read once only")
    folder = Path(tempfile.mkdtemp(prefix="tractable-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "standard input"
    stream = binary_stream("stdin")
    with path.open("wb") as file:
        shutil.copyfileobj(stream, file)
    _copied.append(path)
    return str(path)


def without_copies(text: str) -> str:
    """Return a message in which the copy of standard input is called by that name."""
    for path in _copied:
        text = text.replace(str(path), path.name)
    return text


def forget_input() -> None:
    """Forget the copy of standard input: the next command reads its own."""
    _copied.clear()


@contextmanager
def output_path(path: Path, ending: str = "") -> Iterator[Path]:
    """Yield where to write: the path, or for ``-`` a file that is copied to standard output at the end."""
    if str(path) != STREAM:
        yield path
        return
    out = binary_stream("stdout")
    with tempfile.TemporaryDirectory(prefix="tractable-") as folder:
        file = Path(folder) / f"output{ending}"
        yield file
        with file.open("rb") as written:
            shutil.copyfileobj(written, out)
        out.flush()
