"""The report on the bundled table, as `make demo` asks for it."""

from benchmarks.fresh import both_ended_well, nothing, statement
from benchmarks.row import Row, under

DEMO = """
import pathlib, tempfile
from tractable.report import make_report
with tempfile.TemporaryDirectory() as folder:
    made = make_report(target="species", path=pathlib.Path(folder) / "report.html")
    assert len(made.sections) == 7 and pathlib.Path(made.path).stat().st_size < 5e6
"""

ROW = Row(
    name="report_demo",
    shows="The report on the bundled penguins with a target, all seven sections, in a fresh process.",
    setup=nothing,
    size=None,
    dry_size=None,
    ours=statement(DEMO),
    peers={"python -c pass": statement("pass")},
    check=both_ended_well,
    targets={"python -c pass": under(30)},
    memory=False,
    limit="drawing the pictures, and mixtures of 1 to 8 components.",
)
