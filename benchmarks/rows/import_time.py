"""The price of `import tractable`."""

from benchmarks.fresh import both_ended_well, nothing, statement
from benchmarks.row import Row, under

ROW = Row(
    name="import_time",
    shows="A fresh process that imports the package, interpreter start included.",
    setup=nothing,
    size=None,
    dry_size=None,
    ours=statement("import tractable"),
    peers={"python -c pass": statement("pass")},
    check=both_ended_well,
    targets={"python -c pass": under(0.2)},
    memory=False,
    limit="the interpreter's own start.",
)
