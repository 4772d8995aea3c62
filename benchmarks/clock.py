"""Wall seconds, CPU seconds of all our threads and children, and the share of the machine others used."""

import gc
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

try:
    import resource
except ImportError:  # Windows
    resource = None

STAT = Path("/proc/stat")
TICKS_PER_SECOND = 100  # the unit of /proc/stat on every Linux in use
SEES_OTHERS = STAT.exists()


@dataclass(frozen=True)
class Sample:
    """One measurement, per call; `foreign` is the share of the machine's capacity that others used."""

    wall: float
    cpu: float
    foreign: float = 0.0


def measure(contender, data, repeats=1):
    """Time `repeats` calls in a row."""
    gc.collect()
    busy, cpu, wall = busy_seconds(), cpu_seconds(), time.perf_counter()
    for _ in range(repeats):
        contender(data)
    wall = time.perf_counter() - wall
    cpu = cpu_seconds() - cpu
    foreign = foreign_share(busy_seconds() - busy, cpu, wall)
    return Sample(wall=wall / repeats, cpu=cpu / repeats, foreign=foreign)


def foreign_share(busy, own, wall):
    """Share of the cores' time that was neither idle nor ours; the counter's grain is two ticks a core."""
    grain = 2 * n_cores() / TICKS_PER_SECOND
    return max(0.0, busy - own - grain) / (wall * n_cores())


def cpu_seconds():
    """CPU time of this process, all threads, and of its children, ended or running."""
    if resource is None:
        return time.process_time()
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) + running_children_seconds()


def running_children_seconds():
    """CPU time of the processes that this one started and that still run, workers of Dask for example."""
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            times = child.cpu_times()
            total += times.user + times.system
    return total


def busy_seconds():
    """Time that all cores together have spent on anything, stolen time included; 0 where no one counts it."""
    if not SEES_OTHERS:
        return 0.0
    user, nice, system, _idle, _wait, irq, softirq, steal = _stat_lines()[0][:8]
    return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND


def n_cores():
    """Cores that `busy_seconds` counts."""
    return len(_stat_lines()) - 1 if SEES_OTHERS else 1


def _stat_lines():
    lines = [line.split() for line in STAT.read_text().splitlines() if line.startswith("cpu")]
    return [[int(field) for field in line[1:]] for line in lines]
