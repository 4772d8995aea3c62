"""Standard input and output as files: ``-`` for a table, a model or a page."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

#: The name of standard input and standard output.
STREAM = "-"

#: The file that standard input was copied to; it can be read once only.
_copied: list[Path] = []


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
    with path.open("wb") as file:
        shutil.copyfileobj(typer.get_binary_stream("stdin"), file)
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
    with tempfile.TemporaryDirectory(prefix="tractable-") as folder:
        file = Path(folder) / f"output{ending}"
        yield file
        out = typer.get_binary_stream("stdout")
        with file.open("rb") as written:
            shutil.copyfileobj(written, out)
        out.flush()
