"""The two verbs, `save` and `load`."""

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from tractable.data.output import check_outputs, check_writable, destination, replacing
from tractable.engines.checkpoint import checkpointing
from tractable.persistence.archive import Archive, pack
from tractable.persistence.codec import decode, encode
from tractable.persistence.names import Registry


def save(obj: Any, path: str | os.PathLike[str]) -> None:
    """Write a model, a distribution or any other value to one file.

    The file is a zip archive of ``model.json`` and one ``.npy`` member an array; equal objects give equal
    bytes. It appears under its name only when it is complete: after a failure the old file is still there.
    If the path is a link, the file that it leads to is written; pipes and devices are written to.

    What can be saved: estimators (their parameters and the learned attributes, whose names end in ``_``), the
    pipelines, column transformers, scalers, encoders and searches of scikit-learn around them, values, NumPy
    arrays, scalars and dtypes, None, booleans, numbers, strings, slices, ranges, and lists, tuples and
    dictionaries of these. Models and arrays on a device are saved as NumPy's, and load anywhere. Functions
    are refused, since a file holds data and never code; so are random generators, whose spawned children
    cannot be restored: give ``random_state`` an integer.

    Parameters
    ----------
    obj : estimator, value, or a list, tuple or dictionary of them
        What to save.
    path : str or path
        Where; the folder must exist. A table that a source of `tractable.scan` still reads is refused.

    Raises
    ------
    ValueError
        When something inside cannot be saved; the message says where it is. Nothing has been written then.

    Examples
    --------
    >>> import tempfile, numpy as np, tractable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tractable.save({"mean": np.zeros(2), "names": ("a", "b")}, f"{folder}/model")
    ...     tractable.load(f"{folder}/model")
    {'mean': array([0., 0.]), 'names': ('a', 'b')}
    """
    folder = destination(path).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot save to {path}: there is no folder {folder}")
    check_writable(Path(path), "path")
    check_outputs([("path", path)])
    tree, arrays = encode(obj)
    with replacing(path) as file:
        pack(file, tree, arrays)


def load(path: str | os.PathLike[str], types: Iterable[type] = ()) -> Any:
    """Read what `save` wrote.

    A file is data: the only classes it can name are the public ones of this package, those of scikit-learn
    that stand around a model in a pipeline, and those in `types`; the only calls it can cause are their
    constructors with keywords. Every value is checked again on the way.

    Parameters
    ----------
    path : str or path
        The file.
    types : iterable of classes, default=()
        Your own classes that the file may hold, found by their names.

    Returns
    -------
    estimator, value or container
        An object equal to the saved one, attribute by attribute and bit by bit.

    Raises
    ------
    FileNotFoundError
        When there is no such file.
    ValueError
        When it is not a saved object, is damaged, is of a later format, or holds a class that is not known.

    Examples
    --------
    >>> import tempfile, tractable
    >>> from tractable.value import value
    >>> @value
    ... class Interval:
    ...     low: float
    ...     high: float
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tractable.save(Interval(low=0.0, high=1.0), f"{folder}/interval")
    ...     tractable.load(f"{folder}/interval", types=[Interval])
    Interval(low=0.0, high=1.0)
    """
    registry = Registry(types)
    if Path(path).exists() and not Path(path).is_file():
        raise ValueError(f"cannot load {path}: it is not a file")
    with Path(path).open("rb") as file:
        try:
            archive = Archive(file)
            return decode(archive.tree(), archive, registry)
        except MemoryError:
            raise
        except Exception as error:
            # Whatever a damaged file sets off in zipfile, json, NumPy or a constructor, it is this one error.
            raise ValueError(f"cannot load {path}: {error}") from error


@contextmanager
def checkpoint(path: str | PathLike[str], *, every: float = 30.0) -> Iterator[None]:
    """Save the state of the searches inside to a file, and resume those that an earlier run saved.

    Run the same code again after a kill: finished searches (restarts, say) are read, the one that was under
    way goes on, and the answer is the one that an undisturbed run would have given. The same code means the
    same data, parameters and seed: the file keeps a fingerprint of them, and a search of others is refused.
    When the block ends well, the file is removed. A folder that cannot be written to is an error before the
    fit begins; a state that cannot be written later, to a disk that is full, is warned of once, and the fit
    goes on.

    Parameters
    ----------
    path : path
        The file.
    every : float
        Seconds between two writes.

    Examples
    --------
    >>> import os, tempfile, numpy as np, tractable
    >>> X = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 5.0], [4.0, 6.0]])
    >>> path = os.path.join(tempfile.mkdtemp(), "fit.checkpoint")
    >>> with tractable.checkpoint(path):
    ...     model = tractable.GaussianDensity().fit(X)
    >>> os.path.exists(path)
    False
    """
    if not every >= 0.0:
        raise ValueError(f"every must be a number of seconds, got {every!r}")
    file = Path(path)
    if not file.parent.is_dir():
        raise ValueError(f"path: there is no folder {file.parent}")
    try:
        with TemporaryFile(dir=file.parent):
            pass
    except OSError as error:
        raise ValueError(f"path: a checkpoint cannot be written to {file.parent}: {error}") from error
    with checkpointing(_File(file), every):
        yield
    file.unlink(missing_ok=True)


class _File:
    """States in one file, written whole each time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        found: Any = load(path) if path.exists() else {}
        if not (isinstance(found, dict) and all(isinstance(number, int) for number in found)):
            raise ValueError(f"path: {path} is not a checkpoint; choose another file")
        self.states: dict[int, Any] = found
        self._warned = False

    def load(self, number: int) -> Any | None:
        return self.states.get(number)

    def save(self, number: int, state: Any) -> None:
        self.states[number] = state
        try:
            save(self.states, self.path)
        except OSError as error:
            # A checkpoint that cannot be written must not end a long fit; the next write may succeed.
            if not self._warned:
                warnings.warn(
                    f"the checkpoint could not be written, and the fit goes on: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )
            self._warned = True
