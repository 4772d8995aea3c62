"""Where peers are better: slower rows, targets missed, CPU, memory, the first call."""

from statistics import median

from benchmarks.figures import factor, megabytes, seconds
from benchmarks.peers import rival
from benchmarks.targets import counted, unjudged

NOTICED = 10.0  # MB more than a rival that are worth a word
ELSEWHERE = """\
- In no row at all: faiss also runs on graphics cards, celer also takes sparse matrices, and
  scikit-learn has many models that we do not.
"""


def behind(known, today):
    """Return the section, in Markdown."""
    rows = known["rows"]
    wrong = [f"`{name}`: {row['problem']}" for name, row in rows.items() if row["problem"]]
    return "\n".join(
        [
            "## Where the peers are better\n",
            f"{counted(known, today)}\n",
            item("Slower than a rival", slower(rows)),
            item("Targets missed", missed(rows)),
            item("Targets not measured, or not assessed", [f"`{name}`" for name in unjudged(known, today)]),
            item("More CPU than a rival", busier(rows)),
            item(f"More memory than a rival, by over {NOTICED:g} MB", hungry(rows)),
            item("Rows without a figure, as something was wrong", wrong),
            first_calls(rows),
            ELSEWHERE,
        ]
    )


def item(what, found):
    return f"- {what}: {'; '.join(found) or 'none'}."


def duels(rows):
    """Return name, row and duel wherever there is a figure."""
    return [(name, row, duel) for name, row in rows.items() for duel in row["duels"] if duel["ratio"]]


def rivals(rows):
    """Return the same where the peer is another library, not a yardstick of our own."""
    return [found for found in duels(rows) if rival(found[2]["peer"])]


def slower(rows):
    return [
        f"`{name}` ({factor(duel['ratio'])} times as fast as {duel['peer']})"
        for name, _, duel in rivals(rows)
        if duel["ratio"] < 1.0
    ]


def busier(rows):
    """Name the rows that use more processor time, be they faster or not."""
    return [
        f"`{name}` ({factor(1.0 / duel['cpu_ratio'])} times the CPU of {duel['peer']}, "
        f"{factor(duel['ratio'])} times as fast)"
        for name, _, duel in rivals(rows)
        if duel["cpu_ratio"] < 1.0
    ]


def missed(rows):
    """Name targets of time, then those of memory."""
    late = [
        f"`{name}` ({factor(duel['ratio'])} times faster than {duel['peer']}, target {duel['target']})"
        for name, _, duel in duels(rows)
        if duel["met"] is False
    ]
    large = [
        f"`{name}` ({megabytes(row['peak_mb']['ours'])}, target {megabytes(row['memory_limit_mb'])})"
        for name, row in rows.items()
        if row["memory_met"] is False
    ]
    return late + large


def hungry(rows):
    """Name the rows that hold more than the most modest rival does."""
    found = []
    for name, row in rows.items():
        peaks = {who: size for who, size in row["peak_mb"].items() if rival(who)}
        ours = row["peak_mb"].get("ours", 0.0)
        if peaks and ours > NOTICED + min(peaks.values()):
            least = min(peaks, key=peaks.get)
            found.append(f"`{name}` ({megabytes(ours)} against {megabytes(peaks[least])} of {least})")
    return found


def first_calls(rows):
    """Say what the first call costs."""
    ours = [row["first_call_seconds"]["ours"] for row in rows.values() if row["first_call_seconds"]]
    theirs = [s for row in rows.values() for who, s in row["first_call_seconds"].items() if rival(who)]
    if not ours or not theirs:
        return "- The first call in a process: not measured."
    return (
        "- The first call in a process, where compiled code is loaded from its cache or made: ours takes "
        f"{seconds(median(ours))} on the median row and {seconds(max(ours))} on the worst, peers "
        f"{seconds(median(theirs))} and {seconds(max(theirs))}. It is in no other figure."
    )
