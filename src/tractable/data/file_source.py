"""What every kind of file has in common: paths, columns by role, reading ahead."""

from abc import abstractmethod
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from tractable.data.columns import Roles, check_numeric
from tractable.data.source import Batch, Source
from tractable.value import value

__all__ = ["FileSource", "prefetched"]


@value
class FileSource(Source):
    """The rows of files of one kind, in the order of their paths, never held at once."""

    paths: tuple[Path, ...]
    roles: Roles
    dtype: type  # of X
    rows: int | None
    text: tuple[str, ...] = ()  # features that are text, as errors name them

    @classmethod
    @abstractmethod
    def open(cls, paths: tuple[Path, ...], features: Any, target: Any, weight: Any) -> "FileSource":
        """Check every file's columns, and read none of the rows."""

    @abstractmethod
    def read(self, path: Path) -> Generator[Batch]:
        """Walk one file."""

    def tables(self) -> Iterator[Any]:
        """Walk the columns as Arrow tables, a few megabytes at a time, text among them."""
        raise ValueError(f"{type(self).__name__} holds numbers alone")

    @property
    def n_rows(self) -> int | None:
        return self.rows

    @property
    def n_features(self) -> int:
        return len(self.roles.features)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.roles.feature_names

    def batches(self) -> Iterator[Batch]:
        self.check_numbers()
        return prefetched(batch for path in self.paths for batch in self.read(path))

    def check_numbers(self) -> None:
        """Refuse features that are text, which only models of tables take."""
        check_numeric(self.text, str(self.paths[0]))

    def assign(self, y: Any = None, weights: Any = None) -> "FileSource":
        found = self.with_roles(y, weights)
        found.check_numbers()
        return found

    def with_roles(self, y: Any = None, weights: Any = None) -> "FileSource":
        """Return these files with other columns as target and weights; features may be text."""
        for name, given in (("y", y), ("weights", weights)):
            if hasattr(given, "__array__"):
                raise ValueError(f"{name}: an array cannot stand beside files; name one of their columns")
        if y is None and weights is None:
            return self
        target = self.roles.target if y is None else y
        weight = self.roles.weight if weights is None else weights
        taken = Roles(
            features=(), target=tuple(target) if isinstance(target, list) else target, weight=weight
        )
        features = [name for name in self.roles.features if name not in taken.columns]
        return self.open(self.paths, features, target, weight)


T = TypeVar("T")


def prefetched(items: Generator[T, Any, Any]) -> Iterator[T]:
    """Yield what a generator yields, one item ahead on a thread of its own.

    An error appears where its item would have; leaving early, or forgetting the iterator, ends the thread and
    closes the generator.

    Examples
    --------
    >>> list(prefetched(n * n for n in range(4)))
    [0, 1, 4, 9]
    """
    end: Any = object()
    with closing(items), ThreadPoolExecutor(1, thread_name_prefix="tractable-read-ahead") as reader:
        ahead = reader.submit(next, items, end)
        while (item := ahead.result()) is not end:
            ahead = reader.submit(next, items, end)
            yield item
            del item  # two batches are alive, not three
