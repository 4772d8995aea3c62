"""The page of results, section by section."""

from benchmarks import threads
from benchmarks.behind import behind
from benchmarks.figures import factor, joined, judged, megabytes, seconds, times
from benchmarks.machine import machine_line
from benchmarks.peers import package_of
from benchmarks.sections import by_section
from benchmarks.shapes import cells
from benchmarks.targets import missed

INTRODUCTION = """\
# How fast

Every row below runs this library and others on the same data, for the same result. This page is written by
`make bench-page` from the measurements of `make bench`; rows in which others are faster are listed too.

## How it is measured

- **Same result.** Before any time counts, results are compared to the tolerance that the row states. A
  row whose results differ gets no figure.
- **Interleaved.** Ours and the peers run one after the other, and each round begins with another of them, so
  that disturbances affect all alike. *Times faster* is the median, over pairs, of the peer's time over ours,
  with its range: above one ours is faster, below one slower.
- **CPU** is the same ratio in processor seconds of all threads. A row that is good in time and poor in CPU
  uses more cores.
- **Peak memory** is what a call holds at once above the data and the imports, each contender in a fresh
  process.
- **Disturbed pairs are discarded** and repeated: those in which other processes used more than a tenth of
  the machine. Where too few are left, the row says so and no target is assessed.
- **Peers** run their fastest public call, on data in their preferred layout, to the same accuracy.
- **Targets** are those of the project. *At least 2×* is a speed-up, *within 2×* an allowed slow-down, often
  relative to another computation of ours: forty bandwidths beside *one evaluation*, for example.

The machine has two shared cores. Ratios within a tenth of one are ties, and the range matters as much as the
median. Other processors, more cores or another BLAS give other ratios; the
last section shows how to measure yours.
"""
AGAIN = """\
## How to repeat it

```sh
make bench                      # every row; it takes long, and saves row by row
make bench ONLY='kmeans_*'      # some of them
make bench SKIP='lasso_*' PAIRS=3 MINUTES=20
make bench-page                 # this page, from the results
```

{doc}`developer/benchmarks` says how to read the printed table and how to add a row.
"""
HEAD = "| row | against | times faster | times less CPU | target |\n|---|---|---|---|---|"


def page(known, today):
    """Return the page, in Markdown: figures as they were measured, words as the rows have them today."""
    rows = known["rows"]
    parts = [INTRODUCTION, machines(known), behind(known, today)]
    for section, there in by_section(today).items():
        parts.append(f"## {section}\n")
        parts.append(
            "\n".join([HEAD, *(line for name in there for line in lines(today[name], rows.get(name)))]) + "\n"
        )
        parts.append("\n".join(item(today[name], rows.get(name), known) for name in there) + "\n")
    return "\n".join([*parts, threads.section(), cells.heat_map(cells.read()), AGAIN])


def machines(known):
    """Say where and when."""
    dates = sorted(row["measured"][:10] for row in known["rows"].values())
    if not dates:
        return "Nothing has been measured yet.\n"
    when = f"on {dates[0]}" if dates[0] == dates[-1] else f"between {dates[0]} and {dates[-1]}"
    where = "\n".join(f"- {machine_line(machine)}" for machine in joined_machines(known["machines"]))
    return f"Measured {when} on\n\n{where}\n"


def joined_machines(machines):
    """Join machines that differ in nothing but which packages, and so which copies of BLAS, were there."""
    found = []
    for machine in machines:
        same = next((each for each in found if _alike(each, machine)), None)
        if same is None:
            found.append(dict(machine))
        else:
            same["packages"] = {**same["packages"], **machine["packages"]}
            same["blas"] = ", ".join(sorted({*same["blas"].split(", "), *machine["blas"].split(", ")}))
    return found


def _alike(a, b):
    """Whether two machines have the same processor and Python, and no package in two versions."""
    facts = ("cpu", "usable_cores", "cores", "python", "sees_other_processes")
    shared = a["packages"].keys() & b["packages"].keys()
    return all(a[fact] == b[fact] for fact in facts) and all(
        a["packages"][name] == b["packages"][name] for name in shared
    )


def lines(told, row):
    """Return the table's lines of one row, one for each peer; what was not measured is there too."""
    if row is None:
        # In an order that does not depend on what is installed: those with a target first, as they are given.
        peers = dict.fromkeys((*told.targets, *sorted((*told.peers, *told.absent))))
        return [line(told, number, peer) for number, peer in enumerate(peers)]
    if row["problem"]:
        return [f"| `{told.name}` | | no figure | | |"]
    return [
        f"| {'' if number else f'`{told.name}`'} | {duel['peer']} | {times(duel)} "
        f"| {factor(duel['cpu_ratio']) if duel['cpu_ratio'] else ''} | {judged(duel)} |"
        for number, duel in enumerate(row["duels"])
    ]


def line(told, number, peer):
    """Return the line of a peer that was not measured."""
    target = told.targets.get(peer)
    goal = f"{target.words}: not measured" if target else ""
    return f"| {'' if number else f'`{told.name}`'} | {peer} | not measured | | {goal} |"


def item(told, row, known):
    """Say all there is to say of a row."""
    said = [f"- `{told.name}`: {told.shows}"]
    if row is None:
        return f"{said[0]} **Not measured.**"
    if row["problem"]:
        return f"{said[0]} **{row['problem']}**."
    packages = known["machines"][row["machine"]]["packages"]
    said += [duration(row, packages), memory(row), ended(row["note"] or ""), f"What bounds it: {told.limit}"]
    if missed(row):
        said.append(f"Why a target is missed: {told.reason or 'the row does not say.'}")
    if row["absent"]:
        said.append(f"Not installed then: {joined(row['absent'])}.")
    return " ".join(part for part in said if part)


def ended(words):
    """Give words a full stop, if they are some and have none."""
    return words if not words or words.endswith(".") else f"{words}."


def duration(row, packages):
    """Seconds of everyone, with versions, and how many pairs."""
    told = [duel for duel in row["duels"] if duel["ratio"]]
    if not told:
        return ""
    peers = joined(
        f"{seconds(duel['peer_wall'])} of {duel['peer']}{version(duel['peer'], packages)}" for duel in told
    )
    pairs, gone = min(duel["pairs"] for duel in told), max(duel["discarded"] for duel in told)
    counted = f"{pairs} pair{'s' * (pairs > 1)}" + (f", {gone} discarded" if gone else "")
    return f"{seconds(told[0]['ours_wall'])}, against {peers} ({counted})."


def version(peer, packages):
    """The version of a peer, in brackets after a blank."""
    package = package_of(peer)
    if package is None:
        return ""
    number = packages.get(package, "version not recorded")
    return f" ({number})" if package.lower() in peer.lower() else f" ({package} {number})"


def memory(row):
    """Peak memory of everyone, and whether its target is met."""
    if "ours" not in row["peak_mb"]:
        return ""
    peers = [f"{megabytes(size)} of {who}" for who, size in row["peak_mb"].items() if who != "ours"]
    limit = row["memory_limit_mb"]
    kept = {True: "met", False: "**missed**", None: "not assessed"}[row["memory_met"]]
    goal = f" (target: at most {limit:.0f} MB: {kept})" if limit else ""
    against = f", against {joined(peers)}" if peers else ""
    return f"Peak memory {megabytes(row['peak_mb']['ours'])}{goal}{against}."
