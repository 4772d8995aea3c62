"""One table for people, one JSON file for machines."""

import json
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine, machine_line

RESULTS = Path(__file__).parent / "results"
COLUMNS = (
    "row",
    "against",
    "times faster",
    "target",
    "wall s",
    "CPU s",
    "CPU ratio",
    "first call s",
    "peak MB",
    "pairs",
)
MARKS = {True: "[green]met[/]", False: "[red]missed[/]", None: ""}


def show(outcomes, *, console=None):
    """Print the table, and what each row shows."""
    console = console or Console()
    if not console.is_terminal:
        console = Console(file=console.file, width=160)
    table = Table(*COLUMNS, title="ours and the peers (ours / peer)", title_justify="left")
    for outcome in outcomes:
        for cells in rows_of(outcome):
            table.add_row(*cells)
        table.add_section()
    console.print(table)
    for outcome in outcomes:
        console.print(f"[bold]{outcome.row.name}[/]: {outcome.row.shows} Bounded by: {outcome.row.limit}")
        for words in (
            outcome.note,
            *(f"{peer} is not installed: make bench installs it" for peer in outcome.row.absent),
        ):
            if words:
                console.print(f"    {words}")
    console.print(machine_line(machine()), style="dim")


def rows_of(outcome):
    """The cells of one outcome, a line for each peer."""
    if outcome.problem:
        return [(outcome.row.name, "", f"[red]{outcome.problem}[/]", *[""] * (len(COLUMNS) - 3))]
    return [_cells(outcome, duel) for duel in outcome.duels]


def _cells(outcome, duel):
    name, first = outcome.row.name, outcome.first_call
    first_cell = f"{first['ours']:.2f} / {first[duel.peer]:.2f}"
    if not duel.pairs:
        return (
            name,
            duel.peer,
            "too noisy",
            "",
            "",
            "",
            "",
            first_cell,
            _memory(outcome, duel),
            _count(outcome, duel),
        )
    ratios = duel.ratios
    return (
        name,
        duel.peer,
        f"[bold]{median(ratios):.2f}[/] ({ratios[0]:.2f} to {ratios[-1]:.2f})",
        _target(outcome, duel),
        f"{duel.middle('ours', 'wall'):.3g} / {duel.middle('peer', 'wall'):.3g}",
        f"{duel.middle('ours', 'cpu'):.3g} / {duel.middle('peer', 'cpu'):.3g}",
        f"{duel.cpu_ratio:.2f}",
        first_cell,
        _memory(outcome, duel),
        _count(outcome, duel),
    )


def _target(outcome, duel):
    target = outcome.row.targets.get(duel.peer)
    return "" if target is None else f"{target.words} {MARKS[outcome.met(duel)]}"


def _memory(outcome, duel):
    if not outcome.memory:
        return ""
    figures = [_megabytes(outcome.memory.get(name)) for name in ("ours", duel.peer)]
    limit = outcome.row.memory_limit_mb
    return " / ".join(figures) + (
        "" if limit is None else f" (at most {limit:g} {MARKS[outcome.memory_met]})"
    )


def _megabytes(size):
    return "–" if size is None else f"{size / 1e6:.0f}"


def _count(outcome, duel):
    noisy = " [red]too noisy[/]" if len(duel.pairs) < outcome.wanted else ""
    return f"{len(duel.pairs)} kept, {duel.discarded} discarded{noisy}"


def named_after_now():
    """Return a path in `benchmarks/results/` for a run that begins."""
    return RESULTS / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"


def write(outcomes, path):
    """Write the JSON file, whole or not at all: a run writes it again after every row."""
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"machine": machine(), "rows": [as_json(outcome) for outcome in outcomes]}
    part = path.with_suffix(".part")
    part.write_text(json.dumps(document, indent=1) + "\n")
    part.replace(path)


def as_json(outcome):
    """Everything that was measured in one row."""
    row = outcome.row
    return {
        "name": row.name,
        "measured": outcome.measured,
        "seconds": outcome.seconds,
        "shows": row.shows,
        "size": repr(row.size),
        "limit": row.limit,
        "absent": list(row.absent),
        "problem": outcome.problem,
        "note": outcome.note,
        "first_call_seconds": outcome.first_call,
        "peak_bytes_above_baseline": outcome.memory,
        "memory_limit_mb": row.memory_limit_mb,
        "memory_met": outcome.memory_met,
        "duels": [_duel_json(outcome, duel) for duel in outcome.duels],
    }


def _duel_json(outcome, duel):
    target = outcome.row.targets.get(duel.peer)
    return {
        "peer": duel.peer,
        "ratio": median(duel.ratios) if duel.pairs else None,
        "cpu_ratio": duel.cpu_ratio if duel.pairs else None,
        "target": target and target.words,
        "met": outcome.met(duel),
        "discarded": duel.discarded,
        "pairs": [{"ours": vars(pair.ours), "peer": vars(pair.peer)} for pair in duel.pairs],
    }
