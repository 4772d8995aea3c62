"""The newest measurement of each row, in one file that git keeps: `benchmarks/measured.json`."""

import json
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

MEASURED = Path(__file__).with_name("measured.json")
KEPT = ("size", "absent", "problem", "note", "memory_limit_mb", "memory_met")


def read(path=MEASURED):
    """Return what is kept: machines, and rows by name."""
    return json.loads(path.read_text()) if path.exists() else {"machines": [], "rows": {}}


def write(known, path=MEASURED):
    path.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


def merged(known, files, today):
    """Return what is kept with the results of some files: the newest of each row, as the rows are today.

    Rows that are gone, or have another size now, are dropped. A row that a busy machine gave no figure does
    not replace one that has figures; a row whose answers differ, or that broke, does.
    """
    rows = {
        name: {**row, "machine": known["machines"][row["machine"]]}
        for name, row in known["rows"].items()
        if fits(row, today.get(name))
    }
    for path in files:
        document = json.loads(path.read_text())
        for raw in document["rows"]:
            found = compact(raw, document["machine"], path)
            if fits(found, today.get(raw["name"])) and replaces(found, rows.get(raw["name"])):
                rows[raw["name"]] = found
    machines = []
    for row in rows.values():
        if row["machine"] not in machines:
            machines.append(row["machine"])
    machines.sort(key=lambda machine: json.dumps(machine, sort_keys=True))
    return {
        "machines": machines,
        "rows": {
            name: {**row, "machine": machines.index(row["machine"])} for name, row in sorted(rows.items())
        },
    }


def fits(found, row):
    """Whether a measurement is of a row as it is today; older files do not say its size."""
    return row is not None and found["size"] in {None, repr(row.size)}


def replaces(found, known):
    """Whether a measurement takes the place of the one that is kept."""
    if known is None:
        return True
    return found["measured"] >= known["measured"] and (tells(found) or not tells(known))


def tells(row):
    return bool(row["problem"]) or any(duel["ratio"] for duel in row["duels"])


def compact(raw, machine, path):
    """Return one row of a file of results without its single measurements."""
    row = {key: raw.get(key) for key in KEPT}
    row["machine"] = machine
    row["measured"] = raw.get("measured") or moment(path)
    row["first_call_seconds"] = {who: short(s) for who, s in raw["first_call_seconds"].items()}
    row["peak_mb"] = {who: short(size / 1e6) for who, size in raw["peak_bytes_above_baseline"].items()}
    row["duels"] = [compact_duel(duel) for duel in raw["duels"]]
    return row


def compact_duel(duel):
    pairs = duel["pairs"]
    kept = {key: duel[key] for key in ("peer", "target", "met", "discarded")}
    figures = dict.fromkeys(("ratio", "low", "high", "cpu_ratio"))
    if pairs:
        ratios = [pair["peer"]["wall"] / pair["ours"]["wall"] for pair in pairs]
        figures = {
            "ratio": duel["ratio"],
            "low": min(ratios),
            "high": max(ratios),
            "cpu_ratio": duel["cpu_ratio"],
        }
        for who, what in (("ours", "wall"), ("ours", "cpu"), ("peer", "wall"), ("peer", "cpu")):
            figures[f"{who}_{what}"] = median(pair[who][what] for pair in pairs)
    return {**kept, "pairs": len(pairs), **{key: short(number) for key, number in figures.items()}}


def short(number):
    """Round to four digits: more are not measured."""
    return None if number is None else float(f"{number:.4g}")


def moment(path):
    """Return when a file of results was begun, from its name."""
    return f"{datetime.strptime(path.stem, '%Y%m%dT%H%M%SZ').replace(tzinfo=UTC):%Y-%m-%dT%H:%M:%SZ}"
