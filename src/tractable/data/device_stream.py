"""Rows of the host's memory or of files, streamed to a device block by block."""

from collections.abc import Callable, Generator, Iterator
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from tractable.arrays.devices import on_host, tensor_type, torch_and_device
from tractable.arrays.namespace import is_foreign_array, is_numpy_array, library_of
from tractable.data.blocks import in_halves, tree_sum
from tractable.data.dispatch import as_source
from tractable.data.files import prefetched, scan
from tractable.data.progress import progress
from tractable.data.source import Batch, ForwardingSource, Source
from tractable.primitives.threads import even_blocks, ordered_map
from tractable.value import replace, value

S = TypeVar("S")

#: Bytes that a thread copies at a time to memory from which a GPU reads, which is faster than one thread.
COPIED_BYTES = 2**22

#: Bytes of rows that go to a device at a time: enough to fill it, and few beside its memory.
BLOCK_BYTES = 2**28


class Uploader:
    """Copies arrays of NumPy to a device of torch: to a GPU from pinned memory, on a stream of its own.

    The copies of one block run while another is computed with.

    Parameters
    ----------
    place : str or torch.device
        "cuda", "cuda:1", "cpu", …
    """

    def __init__(self, place: Any) -> None:
        self.torch, self.place = torch_and_device(place)
        self.stream = self.torch.cuda.Stream(self.place) if self.place.type == "cuda" else None

    def __call__(self, x: Any) -> Any:
        """Return numbers on the device, perhaps still on their way; words stay on the host."""
        if not is_numpy_array(x) or x.dtype.kind not in "fiub":
            return x
        # A copy: torch shares memory, and the arrays of sources may be read-only, or changed later.
        if self.stream is None:
            return self.torch.from_numpy(np.array(x, dtype=tensor_type(x.dtype))).to(self.place)
        kind = self.torch.from_numpy(np.empty(0, tensor_type(x.dtype))).dtype
        with self.torch.cuda.stream(self.stream):
            found = self.torch.empty(x.shape, dtype=kind, device=self.place)
            for part in _parts(x, BLOCK_BYTES):  # one of a block; all rows at once would pin their memory
                found[part].copy_(self._pinned(x[part], kind), non_blocking=True)
        return found

    def _pinned(self, x: np.ndarray, kind: Any) -> Any:
        """Return a copy in memory that a GPU reads; torch keeps that until copies from it are through."""
        try:
            held = self.torch.empty(x.shape, dtype=kind, device="cpu", pin_memory=True)
        except RuntimeError:  # no more may be pinned: from other memory a copy takes longer
            held = self.torch.empty(x.shape, dtype=kind, device="cpu")
        filled = held.numpy()
        list(ordered_map(lambda part: np.copyto(filled[part], x[part]), _parts(x, COPIED_BYTES)))
        return held

    def sent(self) -> Any:
        """Return a mark after all copies that were begun, for `arrived`."""
        return None if self.stream is None else self.stream.record_event()

    def arrived(self, mark: Any, *tensors: Any) -> None:
        """Let what is computed next wait for the copies before a mark, and not for later ones."""
        if mark is None:
            return
        now = self.torch.cuda.current_stream(self.place)
        now.wait_event(mark)
        for tensor in tensors:
            if is_foreign_array(tensor):
                tensor.record_stream(now)


@value
class DeviceStream(ForwardingSource):
    """The rows of another source as tensors on a device, a block at a time.

    While one block is computed with, the next is read and copied, by a thread and a stream of their own. The
    rows live on the host, and so do models that are learned from them: statistics, which are small, return.

    Parameters
    ----------
    source : Source
        The rows.
    place : str
        A device of torch: "cuda", "cuda:1", "cpu", …

    Examples
    --------
    >>> import tractable
    >>> rows = tractable.data.ArraySource(X=np.arange(6.0).reshape(3, 2))
    >>> DeviceStream(source=rows, place="cuda").n_rows
    3
    """

    source: Source
    place: str

    def batches(self) -> Iterator[Batch]:
        return self.blocks()

    def blocks(self, rows: int | None = None) -> Iterator[Batch]:
        """See `Source.blocks`: of as many rows as are worth a copy, however few are asked for."""
        upload = Uploader(self.place)
        for block, mark in prefetched(self._uploaded(upload)):
            upload.arrived(mark, block.X, block.y, block.weights)
            yield block

    def reduce(self, of: Callable[[Batch], Any], *, label: str = "reading", **options: Any) -> Any:
        """See `Source.reduce`: block after block on the device, and what they add up to on the host."""

        def parts() -> Iterator[Any]:
            for block in self.blocks():
                yield from map(on_host, in_halves(of, block, block.n_rows))
                line.advance(block.n_rows)

        with progress(label, self.n_rows) as line:
            return tree_sum(parts())

    def collect(self, check_targets: Callable[[list[Any]], None] | None = None) -> Batch:
        """See `Source.collect`: all rows on the device."""
        upload, held = Uploader(self.place), self.source.collect(check_targets)
        parts = {name: upload(getattr(held, name)) for name in ("X", "y", "weights")}
        upload.arrived(upload.sent(), *parts.values())
        return Batch(**parts)

    def accumulate(self, step: Callable[[S, Batch], S], state: S, *, rows: int | None = None) -> S:
        """See `Source.accumulate`: a few rows at a time are learned from on the host."""
        return self.source.accumulate(step, state, rows=rows)

    def targets(self) -> tuple[np.ndarray, np.ndarray | None]:
        """See `Source.targets`: those of the host."""
        return self.source.targets()

    def map(self, function: Callable[[Batch], Batch], *, n_features: int | None = None) -> Source:
        """See `Source.map`: rows are changed on the host, on their way to the device."""
        return replace(self, source=self.source.map(function, n_features=n_features))

    def filter(self, function: Callable[[Batch], Batch]) -> Source:
        """See `Source.filter`: as `map`."""
        return replace(self, source=self.source.filter(function))

    def beside_model(self, library: str | None) -> Source:
        """See `Source.beside_model`: a model of the host takes rows of the host."""
        return self.source if library is None else self

    def assign(self, y: Any = None, weights: Any = None) -> Source:
        """See `Source.assign`."""
        return replace(self, source=self.source.assign(y, weights))

    def _uploaded(self, upload: Uploader) -> Generator[tuple[Batch, Any]]:
        """Yield blocks on their way to the device, each with its mark, in halves where memory is short."""

        def uploaded(block: Batch) -> tuple[Batch, Any]:
            parts = {name: upload(getattr(block, name)) for name in ("X", "y", "weights")}
            return Batch(**parts), upload.sent()

        most = max(1, BLOCK_BYTES // (8 * max(1, self.n_features)))
        for block in _joined(self.source.blocks(most), most):
            yield from in_halves(uploaded, block, block.n_rows)


def streamed_to(place: Any, rows: Any, features: Any, target: Any, weight: Any) -> DeviceStream:
    """Return rows, in files or in memory, as a stream to a device; see `scan`."""
    Uploader(place)  # which refuses a device that is none
    if isinstance(rows, str | PathLike) or (isinstance(rows, list | tuple) and _are_paths(rows)):
        return DeviceStream(source=scan(rows, features, target, weight), place=str(place))
    if is_foreign_array(rows):
        raise ValueError(f"path is an array of {library_of(rows)}: give it to `fit` as it is, where it is")
    if features is not None:
        raise ValueError("features are those of files: select the columns of rows in memory yourself")
    return DeviceStream(source=as_source(rows, target, weight), place=str(place))


def _are_paths(rows: Any) -> bool:
    return all(isinstance(path, str | PathLike) for path in rows)


def _parts(x: np.ndarray, most: int) -> list[slice]:
    """Return slices that cut an array into parts of so many bytes at most."""
    return even_blocks(len(x), max(1, most * len(x) // max(1, x.nbytes)))


def _joined(batches: Iterator[Batch], most: int) -> Iterator[Batch]:
    """Yield batches, several small ones as one of so many rows at most."""
    held, n = list[Batch](), 0
    for batch in batches:
        if held and (n + batch.n_rows > most or _family(held[0].y) != _family(batch.y)):
            yield _one(held)
            held, n = [], 0
        held.append(batch)
        n += batch.n_rows
    if held:
        yield _one(held)


def _family(y: np.ndarray | None) -> str | None:
    """Return what targets are: words and numbers that are joined would all be words."""
    kind = None if y is None else y.dtype.kind
    return "number" if kind in (*"fiub",) else "word" if kind in ("U", "O") else kind


def _one(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    columns = {name: [getattr(b, name) for b in batches] for name in ("X", "y", "weights")}
    joined: dict[str, Any] = {name: np.concatenate(c) for name, c in columns.items() if c[0] is not None}
    return Batch(**joined)
