"""Rows of which every block passes through a function on the way."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tractable.data.source import Batch, PassedOn, Source
from tractable.value import replace, value

__all__ = ["mapped"]


def mapped(data: Any, of: Callable[[np.ndarray], np.ndarray]) -> Any:
    """Return rows, or a source of rows, as a function makes them."""
    return _Mapped(source=data, of=of) if isinstance(data, Source) else of(data)


@value
class _Mapped(PassedOn):
    source: Source
    of: Callable[[np.ndarray], np.ndarray]

    def batches(self) -> Iterator[Batch]:
        for batch in self.source.batches():
            yield replace(batch, X=self.of(batch.X))
