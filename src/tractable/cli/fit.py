"""`tractable fit`: a model of a table, saved."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tractable.cli.talk import FLAG, INTERRUPTED, AsJson, Debug, Quiet, Talk, talking

__all__ = ["fit"]

#: Facts of a fit that are worth a line.
FACTS = ("n_iter_", "converged_", "log_evidence_", "lower_bound_", "alpha_", "bandwidth_", "inertia_")


def fit(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model; `tractable models` lists them.")],
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="A CSV or Parquet file, a folder, or a quoted pattern.")
    ],
    save: Annotated[
        Path, typer.Option("--save", "-s", metavar="FILE", help="Where to write the fitted model.")
    ],
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option("--weight", metavar="COLUMN", help="The column that says how often each row counts."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            "--features", "-f", metavar="A,B,…", help="Columns to learn from; all others when not given."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the model; may be repeated."),
    ] = None,
    drop_missing: Annotated[
        bool,
        typer.Option(
            "--drop-missing", metavar=FLAG, help="Leave out rows with entries missing that the model needs."
        ),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fit MODEL to DATA and save it.

    A model that streams (see `tractable models`) reads a table larger than memory a few megabytes at a time.

    Some examples:

      tractable fit NaiveBayes penguins.csv -t species -s species.tractable

      tractable fit GaussianMixture rows.csv --set n_components=2 -s m.tractable

      tractable fit BayesianRidge 'trips/*.parquet' -t fare -s fare.tractable
    """
    with talking(as_json=as_json, quiet=quiet, debug=debug) as say:
        from tractable.cli.learning import Question, learn
        from tractable.cli.names import names_in
        from tractable.cli.parameters import made
        from tractable.cli.table import open_table

        _check_folder(save)
        say.progress(f"fitting {model} to {data} …")
        table = open_table(data)
        say.note(table.notes)
        if save.resolve() in [path.resolve() for path in table.paths]:
            raise ValueError(f"--save: {save} is a file that is being read")
        question = Question(
            target=target,
            weight=weight,
            features=None if features is None else names_in(features),
            drop_missing=drop_missing,
        )
        began = time.monotonic()
        found = learn(made(model, settings or ()), table, question, say.progress)
        if target is not None and found.target is None:
            say.warn(f"{model} predicts no column: {target} is left out")
        _report(say, found, save=save, seconds=time.monotonic() - began)
        if found.interrupted:
            raise typer.Exit(INTERRUPTED)


def _check_folder(save: Path) -> None:
    """Refuse a place that cannot be written before any work."""
    if save.is_dir():
        raise ValueError(f"--save: {save} is a folder")
    if not save.parent.is_dir():
        raise ValueError(f"--save: no such folder: {save.parent}")


def _report(say: Talk, found: Any, *, save: Path, seconds: float) -> None:
    from tractable.persistence import save as write

    write(found.model, save)
    if found.interrupted:
        say.warn("interrupted: the best model so far is saved")
    if found.dropped:
        say.warn(f"{found.dropped} rows with missing entries were left out")
    facts = {name.rstrip("_"): _scalar(found.model, name) for name in FACTS}
    facts = {name: fact for name, fact in facts.items() if fact is not None}
    if hasattr(found.model, "classes_"):
        facts["classes"] = list(found.model.classes_)
    say.answer(
        {
            "model": type(found.model).__name__,
            "parameters": {name: repr(x) for name, x in found.model.get_params(deep=False).items()},
            "target": found.target,
            "features": list(found.features),
            "rows": found.rows,
            "rows_left_out": found.dropped,
            "seconds": round(seconds, 3),
            "saved": str(save),
            **facts,
        },
        _lines(found, save, facts),
    )


def _lines(found: Any, save: Path, facts: dict[str, Any]) -> list[str]:
    of = "" if found.target is None else f" to predict {found.target}"
    columns = ", ".join(map(str, found.features[:8])) + (", …" if len(found.features) > 8 else "")
    return [
        f"model       {' '.join(repr(found.model).split())}",
        f"learned     from {found.rows:,} rows{of}",
        f"columns     {len(found.features)}: {columns}",
        *(f"{name:11s} {_shown(fact)}" for name, fact in facts.items()),
        f"saved       {save} ({save.stat().st_size:,} bytes)",
    ]


def _shown(fact: Any) -> str:
    if isinstance(fact, list):
        return ", ".join(map(str, fact[:12])) + (", …" if len(fact) > 12 else "")
    return f"{fact:.6g}" if isinstance(fact, float) else str(fact)


def _scalar(model: Any, name: str) -> Any:
    """Return a fact where it is one number or one truth value."""
    found: Any = getattr(model, name, None)
    found = found.item() if getattr(found, "ndim", None) == 0 else found
    return found if isinstance(found, bool | int | float) else None
