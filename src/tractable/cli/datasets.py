"""`tractable datasets`: the bundled tables."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tractable.cli.console import Console, with_console
from tractable.cli.streams import check_outputs


@with_console
def datasets(
    console: Console,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A table to describe.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it as .csv or .parquet, or -."),
    ] = None,
) -> None:
    """List the bundled tables, describe one, or write one to a file.

    Some examples:

      tractable datasets

      tractable datasets penguins

      tractable datasets penguins -o penguins.csv
    """
    from tractable.datasets import load, names

    if name is None:
        if output is not None:
            raise ValueError(f"--output: which table? There are {', '.join(names())}")
        found = [_describe(load(each)) for each in names()]
        console.result({"datasets": found})
        rows = [
            (t["name"], str(t["rows"]), str(len(t["columns"])), t["target"] or "-", t["description"])
            for t in found
        ]
        console.table(("table", "rows", "columns", "target", "what it is"), rows)
        return
    console.leave_stdout_to("--output", output)
    table = load(name)
    card = _describe(table)
    if output is None:
        console.result(card, _lines(card))
        return
    _write(table.frame, output)
    line = f"{card['rows']} rows, {len(card['columns'])} columns: {output}"
    console.result(card | {"saved": str(output)}, [line])


def _describe(table: Any) -> dict[str, Any]:
    return {
        "name": table.name,
        "rows": len(table.frame),
        "columns": list(table.frame.columns),
        "target": table.target_name,
        "description": table.description,
        "source": table.source,
        "licence": table.licence,
    }


def _lines(card: dict[str, Any]) -> list[str]:
    return [
        card["description"],
        "",
        f"rows     {card['rows']}",
        f"columns  {', '.join(card['columns'])}",
        f"target   {card['target'] or '-'}",
        f"source   {card['source']}",
        f"licence  {card['licence']}",
        "",
        f"Write it: tractable datasets {card['name']} -o {card['name']}.csv",
    ]


def _write(frame: Any, output: Path) -> None:
    from tractable.cli.tables import check_output, opened_output

    ending = check_output(output)
    check_outputs({"--output": output})
    with opened_output(output) as file:
        if ending == ".csv":
            frame.convert_dtypes().to_csv(file, index=False)  # integers stay integers beside missing entries
        else:
            frame.to_parquet(file, index=False)
