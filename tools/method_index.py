"""Keep docs/method_index.md honest: `python tools/method_index.py` rewrites it, `--check` only looks.

The rows and their sentences are written by hand. Made by this tool: the counts, the word "planned" (it stands
before a name exactly as long as the name cannot be imported) and the column of tests, read from the
`pytest.mark.spec("ROW", …)` markers under tests/.
"""

import argparse
import ast
import importlib
import inspect
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INDEX = ROOT / "docs" / "method_index.md"
ROW = re.compile(r"\|\s*((?:[A-Z]{1,7}|E00\d)-\d{2})\s*\|")
COUNTS = re.compile(r"(<!-- counts -->\n).*?(\n<!-- end -->)", re.DOTALL)
PLANNED = "planned: "
UNCOUNTED = "\n## Smaller corrections\n"

#: How many rows each group has; losing one is an error. Smaller corrections are free to grow.
GROUPS = {
    "PROB": 27, "DIST": 55, "EST": 16, "SEQ": 13, "LIN": 43, "BLR": 23, "ASSESS": 16, "CLS": 37, "CLU": 19,
    "GMM": 23, "DENS": 26, "TREE": 7, "KER": 24, "KREG": 11, "GP": 19, "GPC": 16, "MIX": 9, "SAMP": 18,
    "DR": 42, "GRAPH": 10, "MATH": 13, "PRACT": 6, "W": 29, "E000": 16, "E001": 10, "E003": 6, "E004": 4,
}  # fmt: skip


def markers(tests: Path) -> dict[str, list[str]]:
    """The files whose `mark.spec` names each row."""
    shown = defaultdict(set)
    for path in tests.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for call in ast.walk(ast.parse(text)) if "mark.spec" in text else ():
            if not (isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "spec"):
                continue
            if ast.unparse(call.func).endswith("mark.spec"):
                for argument in call.args:
                    shown[row_of(argument, path)].add(path.relative_to(tests.parent).as_posix())
    return {row: sorted(files) for row, files in shown.items()}


def row_of(argument: ast.expr, path: Path) -> str:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    raise SystemExit(f"{path}:{argument.lineno}: mark.spec takes rows as string literals only")


def exists(api: str) -> bool:
    """Whether what stands between backticks is there: a file, or a public name that takes these keywords."""
    if "/" in api:
        return (ROOT / api).is_file()
    call = ast.parse(api, mode="eval").body
    keywords = [k.arg for k in call.keywords] if isinstance(call, ast.Call) else []
    found = find(ast.unparse(call.func if isinstance(call, ast.Call) else call))
    return found is not None and (not keywords or set(keywords) <= set(inspect.signature(found).parameters))


def find(name: str):
    """The object that `tractable.name` is, or None."""
    found = importlib.import_module("tractable")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def table_rows(text: str) -> list[list[str]]:
    return [cells(line) for line in text.split("\n") if ROW.match(line)]


def renewed(line: str, shown: dict[str, list[str]]) -> str:
    """A row with its API and test cells as they are today."""
    if not ROW.match(line):
        return line
    row, what, api, _ = cells(line)
    names = api.removeprefix(PLANNED)
    api = names if all(exists(name) for name in re.findall(r"`([^`]+)`", names)) else PLANNED + names
    tests = ", ".join(f"`{file}`" for file in shown.get(row, [])) or "–"
    return f"| {row} | {what} | {api} | {tests} |"


def renewed_index(text: str, shown: dict[str, list[str]]) -> str:
    text = "\n".join(renewed(line, shown) for line in text.split("\n"))
    rows = table_rows(text.partition(UNCOUNTED)[0])
    offered = sum(not api.startswith(PLANNED) for _, _, api, _ in rows)
    tested = sum(tests != "–" for *_, tests in rows)
    counts = f"**{len(rows)}** rows; **{offered}** have a name today, **{tested}** are shown by a test."
    return COUNTS.sub(rf"\g<1>{counts}\g<2>", text)


def problems(text: str, shown: dict[str, list[str]]) -> list[str]:
    """What is wrong with an index that has just been renewed."""
    rows = {row: api for row, _, api, _ in table_rows(text)}
    ids = [row for row, *_ in table_rows(text)]
    counted = [row.split("-")[0] for row, *_ in table_rows(text.partition(UNCOUNTED)[0])]
    sizes = {group: counted.count(group) for group in GROUPS}
    return [
        *(f"{group}: {sizes[group]} rows, expected {n}" for group, n in GROUPS.items() if sizes[group] != n),
        *(f"{row}: more than one row" for row in sorted(set(ids)) if ids.count(row) > 1),
        *(f"{row}: marked in {files}, not a row" for row, files in sorted(shown.items()) if row not in rows),
        *(
            f"{row}: shown by {shown[row]}, and its API says {api!r}"
            for row, api in rows.items()
            if row in shown and api.startswith(PLANNED)
        ),
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something is off")
    check = parser.parse_args(arguments).check
    shown = markers(ROOT / "tests")
    before = INDEX.read_text(encoding="utf-8")
    after = renewed_index(before, shown)
    found = problems(after, shown)
    if check and before != after:
        found.append(f"{INDEX.relative_to(ROOT)} is out of date; run: python tools/method_index.py")
    if not check:
        INDEX.write_text(after, encoding="utf-8")
    print("\n".join(found) or "method index: in order")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
