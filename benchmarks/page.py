"""Write the page of results, docs/benchmarks.md, and the table of README.md: `python -m benchmarks.page`.

    python -m benchmarks.page [--check] [FILE …]

Files of results (without any, all in benchmarks/results/) are merged into benchmarks/measured.json, which has
the newest measurement of each row, and both texts are written from that. With --check nothing
is read or written but measured.json and the two texts: they have to agree.
"""

import argparse
import re
import sys
from pathlib import Path

from benchmarks import measured
from benchmarks.front import front_table
from benchmarks.report import RESULTS
from benchmarks.rows import all_rows
from benchmarks.sentences import page
from benchmarks.targets import unexplained

ROOT = Path(__file__).resolve().parents[1]
PAGE, README = ROOT / "docs" / "benchmarks.md", ROOT / "README.md"
BEGIN, END = "<!-- benchmarks -->", "<!-- end benchmarks -->"


def main(arguments=None):
    """Merge and write; with --check, 1 where a text is not what would be written."""
    options = parse(arguments)
    known = measured.read()
    if not options.check:
        files = options.files or sorted(RESULTS.glob("*.json"))
        known = measured.merged(known, files, all_rows())
        measured.write(known)
    stale = [path for path, text in texts(known) if renewed(path, text, write=not options.check)]
    if options.check:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what measured.json says; run: make bench-page")
        return int(bool(stale))
    counted = len(known["rows"])
    print(
        f"{counted} rows measured, {len(all_rows()) - counted} not: {PAGE.name} and {README.name} are written"
    )
    if silent := unexplained(known, all_rows()):
        print(f"a target is missed without a reason: {', '.join(silent)}; Row.reason is the place")
    return 0


def texts(known):
    """Yield what the page, and then the README, should be."""
    yield PAGE, page(known, all_rows())
    yield README, inserted(README.read_text(encoding="utf-8"), front_table(known, all_rows()))


def renewed(path, text, *, write):
    """Whether a file is not what it should be; it is made so if that is asked."""
    stale = not path.exists() or path.read_text(encoding="utf-8") != text
    if stale and write:
        path.write_text(text, encoding="utf-8")
    return stale


def inserted(text, table):
    """Return a text with a table between its marks."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise SystemExit(
            f"README.md needs a line {BEGIN} and below it a line {END}: the table goes in between"
        )
    between = re.compile(re.escape(BEGIN) + ".*" + re.escape(END), flags=re.DOTALL)
    return between.sub(lambda _: f"{BEGIN}\n\n{table}\n{END}", text)


def parse(arguments):
    summary, _, rest = __doc__.partition("\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=summary, epilog=rest)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="results of python -m benchmarks")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where a text is out of date")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
