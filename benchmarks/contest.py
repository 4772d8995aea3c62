"""One row's contest: same answers first, then interleaved rounds until enough pairs are undisturbed."""

import math
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median

from benchmarks.clock import measure
from benchmarks.row import Pair

MAX_FOREIGN = 0.10  # share of the machine
LEAST_SECONDS = 0.5  # a measurement repeats short calls until it is as long as this
MOST_ROUNDS = 3  # for each pair that is wanted; a machine that needs more is too noisy


@dataclass
class Duel:
    """Ours against one peer."""

    peer: str
    pairs: list = field(default_factory=list)  # undisturbed
    discarded: int = 0

    def take(self, pair, max_foreign):
        if pair.foreign > max_foreign:
            self.discarded += 1
        else:
            self.pairs.append(pair)

    @property
    def ratios(self):
        return sorted(pair.ratio for pair in self.pairs)

    @property
    def cpu_ratio(self):
        return median(pair.cpu_ratio for pair in self.pairs)

    def middle(self, who, what):
        """Median seconds: who is 'ours' or 'peer', what is 'wall' or 'cpu'."""
        return median(self._seconds(who, what))

    def least(self, who, what):
        """Least seconds, of the turn that others disturbed least; as `middle`."""
        return min(self._seconds(who, what))

    def _seconds(self, who, what):
        return [getattr(getattr(pair, who), what) for pair in self.pairs]


@dataclass
class Outcome:
    """What one row gave."""

    row: object
    first_call: dict = field(default_factory=dict)  # seconds of each first call, on the small data
    duels: list = field(default_factory=list)
    wanted: int = 0  # pairs
    dry: bool = False
    memory: dict = field(default_factory=dict)  # bytes above the baseline, by contender
    problem: str = ""
    note: str = ""
    seconds: float = 0.0  # that the row took, everything included
    measured: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")  # when it began

    def met(self, duel):
        """Whether the duel reached its target; None without a target, or where the pairs cannot say."""
        target = self.row.targets.get(duel.peer)
        silent = self.dry or target is None or len(duel.pairs) < self.wanted
        return None if silent else target.judge(duel.pairs)

    @property
    def memory_met(self):
        limit = self.row.memory_limit_mb
        silent = self.dry or limit is None or "ours" not in self.memory
        return None if silent else self.memory["ours"] <= limit * 1e6


def contest(row, folder, *, pairs=7, dry=False, clock=measure):
    """Run one row; a dry run is one small round in which nothing is discarded."""
    outcome = Outcome(row=row, wanted=1 if dry else pairs, dry=dry)
    outcome.first_call = first_calls(row, row.setup(row.dry_size, folder))
    data = row.setup(row.dry_size if dry else row.size, folder)
    try:
        answers = same_answers(row, data)
    except AssertionError as error:
        outcome.problem = f"the answers differ: {str(error).strip() or 'check failed'}"
        return outcome
    outcome.note = row.note(answers) if row.note else ""
    repeats = dict.fromkeys(row.contenders, 1) if dry else calibrated(row, data)
    outcome.duels = [Duel(peer=peer) for peer in row.peers]
    max_foreign = math.inf if dry else MAX_FOREIGN
    for turn in range(1 if dry else MOST_ROUNDS * pairs):
        play_round(row, data, repeats, outcome.duels, turn, clock=clock, max_foreign=max_foreign)
        if all(len(duel.pairs) >= outcome.wanted for duel in outcome.duels):
            break
    return outcome


def first_calls(row, data):
    """Seconds of the first call of each contender: imports and compilation, on data too small to matter."""
    return {name: _seconds(contender, data) for name, contender in row.contenders.items()}


def same_answers(row, data):
    """Compare every peer's answer with ours before any time counts, and return them all."""
    answers = {name: contender(data) for name, contender in row.contenders.items()}
    for peer in row.peers:
        row.check(answers["ours"], answers[peer])
    return answers


def calibrated(row, data):
    """How often each contender is called in one measurement."""
    return {
        name: max(1, math.ceil(LEAST_SECONDS / _seconds(contender, data)))
        for name, contender in row.contenders.items()
    }


def play_round(row, data, repeats, duels, turn, *, clock, max_foreign):
    """Measure everyone once, starting with another contender each turn, and pair ours with each peer."""
    names = list(row.contenders)
    start = turn % len(names)
    samples = {
        name: clock(row.contenders[name], data, repeats[name]) for name in names[start:] + names[:start]
    }
    for duel in duels:
        duel.take(Pair(samples["ours"], samples[duel.peer]), max_foreign)


def _seconds(contender, data):
    start = time.perf_counter()
    contender(data)
    return time.perf_counter() - start
