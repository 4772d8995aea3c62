"""How columns depend on each other, two at a time: all pairs in one table, the strongest pictured."""

from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.report.mutual_information import LEAST_ROWS, Pair, pairs_of
from tractable.report.pair_pictures import picture_of_pair, picture_of_strengths
from tractable.report.repeats import without_repeats
from tractable.report.rows import listed
from tractable.report.section import Grid, Section
from tractable.report.table import Table
from tractable.report.within_groups import Reversal, reversals

__all__ = ["section"]

#: Pairs in the table, pairs that are pictured, and columns in the map of all pairs.
MOST_ROWS = 15
MOST_PICTURES = 6
MOST_COLUMNS = 30

#: Pairs that are looked at within groups.
MOST_TURNED = 200

CODE = """
from tractable.report import pairwise_dependence

print(pairwise_dependence(table).head(15))
"""


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section | None:
    """Compare all pairs of columns; None where there are not two to compare."""
    once = without_repeats(table)
    pairs = pairs_of(once)
    if not pairs:
        return None
    of_target = [pair for pair in pairs if target in (pair.a, pair.b)]
    certain = _more_than_chance(pairs)
    pictured = _pictured([pair for pair in pairs if pair in certain], of_target)
    turned = reversals(once, [pair for pair in pairs if pair in certain][:MOST_TURNED])
    groups = {one.pair: one.by for one in turned}
    return Section(
        key="dependence",
        title="What depends on what",
        done=(
            f"All {len(pairs):,} pairs of columns were compared on one scale: numbers and dates in bins of "
            "as many rows each, categories as they are, and the mutual information I of each pair, less "
            "what chance gives, as strength √(1 − exp(−2 I)). For two normal numbers that is the size of "
            "their correlation. Pairs of numbers have their correlation too, with an interval of 95%. Of "
            "the pairs said to be more than chance one in a hundred is expected to be chance all the same "
            "(Benjamini and Hochberg)."
        ),
        meaning=_meaning(pairs, certain, of_target, target) + _turned(turned),
        assumptions=(
            "Rows are independent draws. Strength does not care about the shape of a dependence; "
            "correlation is of straight lines, and its interval supposes numbers that are about normal. "
            "Neither says which column is the cause, and two columns may depend on each other through a "
            "third only."
        ),
        code=f"{table.code}{CODE}{_code(turned)}",
        pictures=(
            *picture_of_strengths(once, pairs, MOST_COLUMNS),
            *(picture_of_pair(once, pair, rng, target, groups.get(pair)) for pair in pictured),
        ),
        tables=(_grid("The strongest pairs", pairs[:MOST_ROWS]), *_of_target(of_target, target)),
        notes=(*_notes(table), *_copies(table, once)),
        findings=_findings(pairs, certain, of_target, turned),
    )


def why_not(table: Table, target: str | None) -> str:
    """Say why no pairs of columns are compared."""
    del target
    names = table.names("number", "category", "boolean", "date")
    if len(names) < 2:
        there = "is 1" if names else "is none"
        return f"No columns are compared: it takes two that hold numbers, dates or categories; there {there}."
    return f"No columns are compared: a pair needs {LEAST_ROWS} different rows that have both entries."


def _more_than_chance(pairs: list[Pair], rate: float = 0.01) -> set[Pair]:
    """Return pairs of which at most `rate` are expected to be chance (Benjamini and Hochberg 1995)."""
    ordered = sorted(pairs, key=lambda pair: pair.p_value)
    passed = [i for i, pair in enumerate(ordered, 1) if pair.p_value <= rate * i / len(ordered)]
    return set(ordered[: max(passed, default=0)])


def _pictured(pairs: list[Pair], of_target: list[Pair]) -> list[Pair]:
    """Return the pairs to draw: half of them with the target where there is one, none twice."""
    shown = [pair for pair in of_target if pair in set(pairs)][: MOST_PICTURES // 2]
    others = [pair for pair in pairs if pair not in set(shown)]
    return (shown + others)[:MOST_PICTURES]


def _meaning(pairs: list[Pair], certain: set[Pair], of_target: list[Pair], target: str | None) -> str:
    if not certain:
        words = f"None of the {len(pairs)} pairs" if len(pairs) > 1 else "The one pair there is"
        return f"{words} depends on each other by more than chance would give."
    best = pairs[0]
    parts = [
        f"{len(certain):,} of {len(pairs):,} pairs depend on each other by more than chance.",
        f"The strongest is {best.a} with {best.b}: strength {best.strength:.2f}{_with_correlation(best)}.",
    ]
    if target is not None and of_target:
        telling = [pair for pair in of_target if pair in certain][:3]
        names = [f"{_other(pair, target)} ({pair.strength:.2f})" for pair in telling]
        told = f"Most about {target} is told by {', '.join(names)}."
        parts.append(told if names else f"No column tells of {target} by itself.")
    copies = [pair for pair in pairs if pair.correlation is not None and abs(pair.correlation) > 0.999]
    if copies:
        listed = ", ".join(f"{pair.a} and {pair.b}" for pair in copies[:3])
        parts.append(f"Nearly the same column twice: {listed}.")
    return " ".join(parts)


def _turned(turned: list[Reversal]) -> str:
    """Say which numbers go together one way over all rows, and the other way within groups."""
    if not turned:
        return ""
    told = [
        f"The correlation of {one.pair.a} and {one.pair.b} is {one.pair.correlation:.2f} over all rows, but "
        f"{one.within:.2f} ({one.low:.2f} to {one.high:.2f}) among rows of the same {one.by}."
        for one in turned[:2]
    ]
    more = f" So it is with {number_of(len(turned) - 2, 'other pair')}." if len(turned) > 2 else ""
    return f"\nBeware of groups. {' '.join(told)}{more}"


def _code(turned: list[Reversal]) -> str:
    if not turned:
        return ""
    one = turned[0]
    return f"print(table.frame.groupby({one.by!r})[[{one.pair.a!r}, {one.pair.b!r}]].corr())\n"


def _with_correlation(pair: Pair) -> str:
    if pair.correlation is None:
        return ""
    return f", correlation {pair.correlation:.2f} ({pair.low:.2f} to {pair.high:.2f})"


def _other(pair: Pair, target: str | None) -> str:
    return pair.b if pair.a == target else pair.a


def _grid(title: str, pairs: list[Pair], target: str | None = None) -> Grid:
    """List pairs; of those with the target only the other column, and correlations where there are any."""
    names = ("column", "and column") if target is None else ("column",)
    numbers = any(pair.correlation is not None for pair in pairs)
    rows = tuple(
        (
            *((pair.a, pair.b) if target is None else (_other(pair, target),)),
            f"{pair.strength:.2f}",
            *(_correlation(pair) if numbers else ()),
            _p(pair.p_value),
            f"{pair.n:,}",
        )
        for pair in pairs
    )
    head = (*names, "strength", *(("correlation", "95% interval") if numbers else ()), "p", "rows")
    note = "p: how often independent columns would tell as much of each other; for each pair by itself."
    return Grid(title=title, head=head, rows=rows, note=note)


def _correlation(pair: Pair) -> tuple[str, str]:
    if pair.correlation is None:
        return "", ""
    return f"{pair.correlation:.2f}", f"{pair.low:.2f} to {pair.high:.2f}"


def _of_target(of_target: list[Pair], target: str | None) -> tuple[Grid, ...]:
    return (_grid(f"What tells of {target}", of_target[:MOST_ROWS], target),) if of_target else ()


def _p(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _notes(table: Table) -> tuple[str, ...]:
    left = [*table.names("text"), *table.names("identifier")]
    return (f"Not compared, for every row is different: {listed(left)}.",) if left else ()


def _copies(table: Table, once: Table) -> tuple[str, ...]:
    copies = number_of(len(table.frame) - len(once.frame), "copy", "copies")
    said = f"{copies} of other rows left out: the tests suppose rows that know nothing of each other."
    return (said,) if once is not table else ()


def _findings(
    pairs: list[Pair], certain: set[Pair], of_target: list[Pair], turned: list[Reversal]
) -> dict[str, Any]:
    def told(pair: Pair) -> dict[str, Any]:
        found = {"columns": [pair.a, pair.b], "strength": round(pair.strength, 4)}
        if pair.correlation is not None:
            found["correlation"] = round(pair.correlation, 4)
        return found

    return {
        "pairs": len(pairs),
        "more_than_chance": len(certain),
        "strongest": [told(pair) for pair in pairs[:5]],
        "of_target": [told(pair) for pair in of_target[:5]],
        "reversed_within_groups": [
            {"columns": [one.pair.a, one.pair.b], "by": one.by, "within": round(one.within, 4)}
            for one in turned
        ],
    }
