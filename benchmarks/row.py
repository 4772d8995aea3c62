"""What a row of the table is: one question, our answer, the peers' answers, and the figure to reach."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.clock import Sample

Data = Any
Contender = Callable[[Data], Any]


@dataclass(frozen=True)
class Pair:
    """Ours and one peer, measured one after the other."""

    ours: Sample
    peer: Sample

    @property
    def ratio(self):
        """How many times faster ours is."""
        return self.peer.wall / self.ours.wall

    @property
    def cpu_ratio(self):
        """How many times less work ours is."""
        return self.peer.cpu / max(self.ours.cpu, 1e-9)  # some clocks tick slowly

    @property
    def foreign(self):
        return max(self.ours.foreign, self.peer.foreign)


@dataclass(frozen=True)
class Target:
    """A figure to reach, judged on the valid pairs."""

    words: str
    judge: Callable[[Sequence[Pair]], bool]


def at_least(times):
    """Ours is at least so many times faster than the peer."""
    return Target(f"at least {times:g}×", lambda pairs: median(p.ratio for p in pairs) >= times)


def no_slower():
    """Ours keeps up with the peer; between two runs on a noisy machine a tenth is nothing."""
    return Target("no slower", lambda pairs: median(p.ratio for p in pairs) >= 0.9)


def within(times):
    """Ours takes at most so many times the peer's time."""
    return Target(f"within {times:g}×", lambda pairs: median(p.ratio for p in pairs) >= 1 / times)


def under(seconds):
    """Ours takes less than so many seconds."""
    return Target(f"ours under {seconds:g} s", lambda pairs: median(p.ours.wall for p in pairs) < seconds)


def at_most_slower(seconds):
    """Ours takes at most so many seconds more than the peer."""
    return Target(
        f"at most {seconds:g} s slower",
        lambda pairs: median(p.ours.wall - p.peer.wall for p in pairs) <= seconds,
    )


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row; each lives in its own file, `benchmarks/rows/<name>.py`, as `ROW`.

    `setup(size, folder)` makes the data, the same for every contender and every call with one size; files go
    into the folder and are made once. `check(ours_result, peer_result)` raises AssertionError unless both
    give the same answer to the tolerance it states. Where answers are to be compared in more than time,
    `note(results by contender)` says how, in words below the table.
    """

    name: str
    shows: str
    setup: Callable[[Any, Path], Data]
    size: Any
    dry_size: Any
    ours: Contender
    peers: Mapping[str, Contender]
    check: Callable[[Any, Any], None]
    limit: str  # what bounds the figure
    targets: Mapping[str, Target] = field(default_factory=dict)  # by peer, installed or not
    note: Callable[[Mapping[str, Any]], str] | None = None
    memory: bool = True  # whether peak memory means something here
    memory_limit_mb: float | None = None  # of ours, above the baseline
    absent: Sequence[str] = ()  # peers that are not installed here
    reason: str = ""  # why a target is missed, where that is known

    @property
    def contenders(self):
        return {"ours": self.ours, **self.peers}
