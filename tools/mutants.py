"""Change the library at random, one place at a time, and say which changes no test notices: `make mutants`.

Functions are drawn by their length, and one node of the syntax tree of each is changed. The tests that reach
the function run in a copy of the tree, the shortest first, until one fails or their time is over. Which tests
reach which functions is recorded by one run of the quick tests (`tools/mutants_reach.py`), again when asked
for by MAP=1. Changes that no test can notice are named, with the reason, in `tools/equivalent_mutants.txt`.
"""

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/tractable")
REACH = ROOT / ".mutants" / "reach.json"
EQUIVALENT = ROOT / "tools" / "equivalent_mutants.txt"
#: Of the copy that tests run in.
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", ".mutants", "demo", "_build", "generated", "auto_examples", "__pycache__", ".*_cache"
)
OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True)
class Mutant:
    """One change: a function, and the text of one of its nodes before and after."""

    path: str
    function: str
    line: int
    before: str
    after: str
    text: str  # of the whole changed file

    @property
    def package(self) -> str:
        """The package of the library that is changed."""
        parts = Path(self.path).relative_to(SOURCE).parts
        return parts[0] if len(parts) > 1 else "tractable"

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.function}: {self.before} -> {self.after}"


def functions(root: Path) -> Iterator[tuple[Path, str, ast.FunctionDef]]:
    """Yield the functions of the library: path, qualified name, node."""
    for path in sorted((root / SOURCE).rglob("*.py")):
        yield from (
            (path.relative_to(root), *found) for found in _inside(ast.parse(path.read_text("utf-8")), "")
        )


def _inside(node: ast.AST, outer: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield outer + child.name, child
            yield from _inside(child, f"{outer}{child.name}.<locals>.")
        elif isinstance(child, ast.ClassDef):
            yield from _inside(child, f"{outer}{child.name}.")
        else:
            yield from _inside(child, outer)


def changes(node: ast.AST) -> list[ast.AST]:  # noqa: C901  (a case a kind of node)
    """Return what may stand in the place of a node.

    Examples
    --------
    >>> [ast.unparse(change) for change in changes(ast.parse("a < b", mode="eval").body)]
    ['a <= b']
    >>> [ast.unparse(change) for change in changes(ast.parse("f(a, axis=0)", mode="eval").body)]
    ['f(a)']
    """
    found: list[ast.AST] = []

    def other(change: Callable[[ast.AST], None]) -> None:
        new = copy.deepcopy(node)
        change(new)
        found.append(new)

    match node:
        case ast.Compare(ops=[op]) if type(op) in OTHER:
            other(lambda new: setattr(new, "ops", [OTHER[type(op)]()]))
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in OTHER:
            other(lambda new: setattr(new, "op", OTHER[type(op)]()))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            found.append(operand)
        case ast.Constant(value=bool() as value):
            found.append(ast.Constant(not value))
        case ast.Constant(value=int() as value):
            found.append(ast.Constant(value + 1))
        case ast.Constant(value=float() as value):
            found.append(ast.Constant(value * 2.0 or 1.0))
        case ast.If(test=test) | ast.IfExp(test=test):
            other(lambda new: setattr(new, "test", ast.UnaryOp(ast.Not(), test)))
        case ast.Call(keywords=keywords) if keywords:
            for i, keyword in enumerate(keywords):
                if keyword.arg is not None:
                    other(lambda new, i=i: new.keywords.pop(i))  # type: ignore[misc]
        case ast.Expr(value=ast.Call()) | ast.Raise():
            found.append(ast.Pass())
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            found.append(ast.Return(ast.Constant(None)))
    return found


def draw(
    rng: random.Random, candidates: list[tuple[Path, str, ast.FunctionDef]], root: Path
) -> Mutant | None:
    """Draw a function by its length and change one of its nodes; None if nothing of it can be."""
    lengths = [(node.end_lineno or node.lineno) - node.lineno + 1 for _, _, node in candidates]
    [(path, name, function)] = rng.choices(candidates, lengths)
    body = function.body[1:] if ast.get_docstring(function) else function.body
    places = [(node, new) for part in body for node in _walk(part) for new in changes(node)]
    if not places:
        return None
    node, new = rng.choice(places)
    text = (root / path).read_text("utf-8")
    before = ast.get_source_segment(text, node) or ""
    lines = text.splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + len(
        lines[node.lineno - 1].encode()[: node.col_offset].decode()
    )
    after = ast.unparse(ast.fix_missing_locations(new))
    # An unparsed block begins at the left.
    after = after.replace("\n", "\n" + " " * node.col_offset) if isinstance(new, ast.stmt) else f"({after})"
    changed = text[:start] + after + text[start + len(before) :]
    try:
        ast.parse(changed)
    except SyntaxError:
        return None
    shown = (" ".join(part.split())[:70] for part in (before, after))
    return Mutant(str(path), name, node.lineno, *shown, changed)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and those below, without annotations, format strings and functions inside."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.JoinedStr):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name != "annotation":
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _walk(child)


def judged(mutant: Mutant, root: Path, tests: list[tuple[float, str]], seconds: float) -> str:
    """Return "killed", "survived" or "unreached" after running tests in a copy of the tree."""
    if not tests:
        return "unreached"
    place = root / mutant.path
    before = place.read_text("utf-8")
    place.write_text(mutant.text, "utf-8")
    chosen, left = [], seconds / 3
    for cost, test in sorted(tests):
        left -= cost
        if left < 0.0 and chosen:
            break
        chosen.append(test)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header", *chosen]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root / "tests"), str(root)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    try:
        done = subprocess.run(  # noqa: S603
            command, cwd=root, env=environment, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return "killed"  # what ends without the change does not end with it
    finally:
        place.write_text(before, "utf-8")
    return "survived" if done.returncode == 0 else "killed"


def known_equivalents() -> set[str]:
    """Return the changes that are named as equivalent: what stands before the tab."""
    lines = EQUIVALENT.read_text("utf-8").splitlines() if EQUIVALENT.exists() else []
    return {line.partition("\t")[0] for line in lines if line and not line.startswith("#")}


def reach(again: bool) -> dict[str, list[tuple[float, str]]]:
    """Return the tests that reach each function, with their seconds; run the quick tests for it once."""
    if again or not REACH.exists():
        REACH.parent.mkdir(exist_ok=True)
        print("recording which tests reach which functions: one run of the quick tests …", flush=True)
        command = ["-m", "pytest", "-q", "-p", "tools.mutants_reach", "-m", "not slow", "-n", "auto"]
        subprocess.run(  # noqa: S603
            [sys.executable, *command],
            cwd=ROOT,
            check=False,
            env=os.environ | {"PYTHONPATH": f"{ROOT}/src:{ROOT}"},
        )
    found: dict[str, list[tuple[float, str]]] = {}
    for path in REACH.parent.glob("reach*.json"):
        for function, tests in json.loads(path.read_text("utf-8")).items():
            found.setdefault(function, []).extend((cost, test) for cost, test in tests)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=60, help="of mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the paths to draw from, such as primitives/")
    parser.add_argument("--minutes", type=float, default=60.0, help="after which no more are begun")
    parser.add_argument("--seconds", type=float, default=120.0, help="of the tests of one mutant")
    parser.add_argument("--map", action="store_true", help="record again which tests reach which functions")
    options = parser.parse_args()
    reached, equivalents = reach(options.map), known_equivalents()
    candidates = [found for found in functions(ROOT) if options.only in str(found[0])]
    if not candidates:
        parser.error(f"--only: no path contains {options.only!r}")
    rng, mutants = random.Random(options.seed), []  # noqa: S311  (draws, no secrets)
    while len(mutants) < options.number:
        mutant = draw(rng, candidates, ROOT)
        if mutant is not None:
            mutants.append(mutant)
    end = time.monotonic() + 60.0 * options.minutes
    workers = max(1, (os.cpu_count() or 2) - 1)
    with tempfile.TemporaryDirectory() as folder:
        trees: Queue[Path] = Queue()
        for number in range(workers):
            trees.put(Path(shutil.copytree(ROOT, Path(folder) / str(number), ignore=LEFT_OUT, symlinks=True)))

        def judge(mutant: Mutant) -> str:
            if f"{mutant.path} {mutant.function}: {mutant.before} -> {mutant.after}" in equivalents:
                return "equivalent"
            if time.monotonic() > end:
                return "not begun"
            tree = trees.get()
            try:
                tests = reached.get(f"{mutant.path}:{mutant.function}", [])
                return judged(mutant, tree, tests, options.seconds)
            finally:
                trees.put(tree)

        table: dict[str, Counter[str]] = {}
        with ThreadPoolExecutor(workers) as pool:
            for mutant, outcome in zip(mutants, pool.map(judge, mutants), strict=True):
                table.setdefault(mutant.package, Counter())[outcome] += 1
                if outcome != "killed":
                    print(f"{outcome}: {mutant}", flush=True)
    print(summary(table))


def summary(table: dict[str, Counter[str]]) -> str:
    """Return how many mutants of each package were killed, of those that were judged.

    Examples
    --------
    >>> print(summary({"data": Counter(killed=3, survived=1), "report": Counter(equivalent=1, unreached=1)}))
    data                 3 of 4 killed, 1 survived
    report               0 of 1 killed, 1 equivalent, 1 unreached
    all                  3 of 5 killed, 1 equivalent, 1 survived, 1 unreached
    """
    lines = []
    for package, counts in [*sorted(table.items()), ("all", sum(table.values(), Counter()))]:
        judged_ones = counts["killed"] + counts["survived"] + counts["unreached"]
        others = "".join(f", {n} {name}" for name, n in sorted(counts.items()) if name != "killed")
        lines.append(f"{package:20} {counts['killed']} of {judged_ones} killed{others}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
