"""Tasks on the workers of Dask: sent, summed by a tree, waited for, with one clear error where they fail."""

import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dask
from dask.base import get_scheduler
from dask.delayed import Delayed, delayed
from dask.threaded import get as threaded_get

from tractable.data.blocks import tree_sum

#: Partial sums that one task adds: a tree over a thousand partitions has four levels.
FAN_IN = 8

#: Partitions are held in the memory of workers where they take at most this part of what is free.
SHARE = 0.5


def current_client() -> Any | None:
    """Return the client of the cluster that computes, or None where a scheduler of this process does."""
    owner = getattr(get_scheduler(cls=_Threaded), "__self__", None)
    return owner if hasattr(owner, "scheduler_info") else None


class _Threaded:
    """What Dask asks for its default scheduler where there is no client."""

    __dask_scheduler__ = staticmethod(threaded_get)


def sent(x: Any) -> Delayed:
    """Return parameters as one task: they go out once, and workers hand them on to each other.

    The task holds them pickled, so that they are made anew where the worker that had them is lost.
    """
    if current_client() is None:
        return delayed(_Opaque(x).get)()
    from cloudpickle import dumps

    return delayed(pickle.loads)(dumps(x))


class _Opaque:
    """Something that Dask is not to look into for collections."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def get(self) -> Any:
        return self.x


def tree(parts: Sequence[Delayed]) -> Delayed:
    """Return the sum of tasks in order, added on the workers in groups of `FAN_IN`."""
    parts = list(parts)
    add = delayed(tree_sum)
    while len(parts) > 1:
        parts = [add(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return parts[0]


def computed(*tasks: Delayed) -> tuple[Any, ...]:
    """Return the results of tasks; Ctrl-C, a lost scheduler and lost workers end the wait for them."""
    client = current_client()
    if client is None:
        return dask.compute(*tasks)
    futures: list[Any] = []
    with clear_errors(client):
        try:
            futures = client.compute(list(tasks))
            with _place_for_other_tasks():
                return tuple(client.gather(futures))
        except KeyboardInterrupt:
            client.cancel(futures)
            raise


@contextmanager
def _place_for_other_tasks() -> Iterator[None]:
    """Leave the threads of the worker while waiting, where this is itself a task: others need its place."""
    from distributed import rejoin, secede

    try:
        secede()
    except (ValueError, KeyError, AttributeError):  # this is no task, or has left already
        yield
        return
    try:
        yield
    finally:
        rejoin()


@contextmanager
def clear_errors(client: Any) -> Iterator[None]:
    """Raise one clear error where the scheduler has gone, or where tasks have ended their workers."""
    from asyncio import CancelledError
    from concurrent.futures import CancelledError as FutureCancelled

    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    lost = (CommClosedError, CancelledError, FutureCancelled, TimeoutError)
    where = getattr(client.scheduler, "address", "its address")
    try:
        yield
    except KilledWorker as error:
        raise RuntimeError(
            f"{error.task}: the workers that computed it died, again and again: a partition is probably too "
            "large for their memory; make smaller ones with X.repartition or X.rechunk"
        ) from error
    except (*lost, OSError, RuntimeError) as error:
        if isinstance(error, lost) or not _is_connected(client):
            raise _gone(where) from error
        raise
    except Exception as error:
        if type(error).__module__.startswith("distributed") and not _is_connected(client):
            raise _gone(where) from error
        raise


def _is_connected(client: Any) -> bool:
    return client.status == "running"


def _gone(where: str) -> ConnectionError:
    return ConnectionError(
        f"the scheduler of Dask at {where} has gone away, and the computation with it: connect a new Client "
        "and run the same code again; a fit within tractable.checkpoint goes on from where it was"
    )


def fit_in_memory(client: Any, n_bytes: float) -> bool:
    """Return whether so many bytes fit into the memory that the workers of a cluster have free."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    free = sum(
        max(0.0, (w.get("memory_limit") or sys.maxsize) - w.get("metrics", {}).get("memory", 0))
        for w in workers
    )
    return n_bytes <= SHARE * free


def chain(step: Callable[..., Any], state: Any, parts: Sequence[Any], *args: Any) -> Any:
    """Return ``step(state, part, *args)`` of part after part: the state goes from worker to worker."""
    after, state = delayed(step), sent(state)
    for part in parts:
        state = after(state, part, *args)
    return computed(state)[0]
