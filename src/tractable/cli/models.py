"""`tractable models`: what there is to fit."""

from typing import Annotated, Any

import typer

from tractable.cli.talk import AsJson, Debug, Quiet, talking

__all__ = ["models"]


def models(
    name: Annotated[
        str | None, typer.Argument(metavar="MODEL", help="One model: what it is and its parameters.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", "-k", help="Only regression, classification, density, clustering, features or search."
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """List the models: what each is for, whether it streams, whether it takes missing values and words.

    Some examples:

      tractable models

      tractable models --kind classification

      tractable models GaussianMixture

      tractable models --json
    """
    with talking(as_json=as_json, quiet=quiet, debug=debug) as say:
        from tractable.cli.known_models import described, model_class, model_classes

        if name is not None:
            one = described(model_class(name))
            say.answer(one | {"defaults": _defaults(model_class(name))}, _card(model_class(name), one))
            return
        found = _of_kind([described(each) for each in model_classes().values()], kind)
        say.answer({"models": found})
        say.table(
            ("model", "kind", "streaming", "missing", "words", "what it is"),
            [
                (
                    one["name"],
                    one["kind"],
                    _short(one["streaming"]),
                    _yes(one["missing_values"]),
                    _yes(one["text"]),
                    one["description"],
                )
                for one in found
            ],
        )


def _of_kind(found: list[dict[str, Any]], kind: str | None) -> list[dict[str, Any]]:
    from tractable.cli.known_models import KINDS
    from tractable.cli.nearest import unknown

    order = list(KINDS.values())
    if kind is not None and kind not in order:
        raise unknown("kind", kind, order)
    kept = [one for one in found if kind in (None, one["kind"])]
    return sorted(kept, key=lambda one: order.index(one["kind"]))


def _short(streaming: str | None) -> str:
    """Return what a table has room for."""
    return (
        "as given" if streaming is None else streaming.removeprefix("exact in ").removeprefix("exact over ")
    )


def _yes(fact: bool | None) -> str:
    return {None: "as given", True: "yes", False: "no"}[fact]


def _defaults(model: Any) -> dict[str, Any]:
    import inspect

    given = inspect.signature(model).parameters.values()
    return {p.name: None if p.default is p.empty else repr(p.default) for p in given}


def _card(model: Any, one: dict[str, Any]) -> list[str]:
    defaults = _defaults(model)
    return [
        f"{one['name']}: {one['description']}",
        "",
        f"kind            {one['kind']}",
        f"streaming       {one['streaming'] or 'as given'}",
        f"missing values  {_yes(one['missing_values'])}",
        f"words           {_yes(one['text'])}",
        "parameters      " + ("" if defaults else "none"),
        *(f"  {name} = {'(needed)' if default is None else default}" for name, default in defaults.items()),
        "",
        f"In Python: help(tractable.{one['name']})",
    ]
