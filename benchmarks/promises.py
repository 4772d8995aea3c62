"""How many promises of time and memory there are, and what became of them."""

from collections import Counter


def verdicts(row, found):
    """Yield of each promise of a row whether it is kept; None where nothing was measured, or judged."""
    duels = found["duels"] if found else ()
    judged = {(duel["peer"], duel["target"]): duel["met"] for duel in duels}
    yield from (judged.get((peer, target.words)) for peer, target in row.targets.items())
    if row.memory_limit_mb is not None:
        yield found["memory_met"] if found else None


def counted(known, today):
    """Say of how many promises how many are kept; those that nobody measured count among them."""
    told = Counter(kept for name, row in today.items() for kept in verdicts(row, known["rows"].get(name)))
    open_ones = f", {told[None]} not measured or not judged" if told[None] else ""
    return (
        f"Of {told.total()} promises about time and memory: {told[True]} kept, {told[False]} not{open_ones}."
    )


def unjudged(known, today):
    """Return the names of rows with a promise that is neither kept nor broken."""
    return [name for name, row in today.items() if None in verdicts(row, known["rows"].get(name))]


def unexplained(known, today):
    """Return the names of rows that miss a promise and do not say why."""
    rows = known["rows"].items()
    return [name for name, row in rows if missed(row) and not today[name].reason]


def missed(found):
    """Whether a row, as it was measured, misses a promise."""
    return found["memory_met"] is False or any(duel["met"] is False for duel in found["duels"])
