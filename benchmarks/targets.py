"""The targets of time and memory, and whether they are met."""

from collections import Counter


def outcomes(row, found):
    """Yield for each target of a row whether it is met; None where it was not measured or not assessed."""
    duels = found["duels"] if found else ()
    judged = {(duel["peer"], duel["target"]): duel["met"] for duel in duels}
    yield from (judged.get((peer, target.words)) for peer, target in row.targets.items())
    if row.memory_limit_mb is not None:
        yield found["memory_met"] if found else None


def counted(known, today):
    """Return a sentence with the numbers of targets met and missed; unmeasured ones are included."""
    found = Counter(met for name, row in today.items() for met in outcomes(row, known["rows"].get(name)))
    rest = f", {found[None]} not measured or not assessed" if found[None] else ""
    return f"Of {found.total()} targets of time and memory: {found[True]} met, {found[False]} missed{rest}."


def unjudged(known, today):
    """Return the names of rows with a target that is neither met nor missed."""
    return [name for name, row in today.items() if None in outcomes(row, known["rows"].get(name))]


def unexplained(known, today):
    """Return the names of rows that miss a target without a reason."""
    rows = known["rows"].items()
    return [name for name, row in rows if missed(row) and not today[name].reason]


def missed(found):
    """Return whether a row, as it was measured, misses a target."""
    return found["memory_met"] is False or any(duel["met"] is False for duel in found["duels"])
