"""`tractable models`: the estimators of the library by name, their properties and their parameters."""

import ast
import inspect
from collections.abc import Iterable
from itertools import groupby
from shutil import get_terminal_size
from textwrap import shorten, wrap
from typing import Annotated, Any

import typer

from tractable import PUBLIC
from tractable.cli.console import Console, with_console

#: What users call scikit-learn's types of estimators, in the order of the list.
KINDS = {
    "regressor": "regression",
    "classifier": "classification",
    "density_estimator": "density",
    "clusterer": "clustering",
    "transformer": "features",
    None: "search",
}

#: Spellings of truth values.
FLAGS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


@with_console
def models(
    console: Console,
    name: Annotated[
        str | None, typer.Argument(metavar="MODEL", help="A model to describe, with its parameters.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", "-k", help="Only regression, classification, density, clustering, features or search."
        ),
    ] = None,
) -> None:
    """List the models: what each is for, whether it streams, whether it takes missing values and words.

    Some examples:

      tractable models

      tractable models --kind classification

      tractable models GaussianMixture

      tractable models --json
    """
    if name is not None:
        one = describe(model_class(name))
        parameters = inspect.signature(model_class(name)).parameters.values()
        defaults = {p.name: None if p.default is p.empty else repr(p.default) for p in parameters}
        console.result(one | {"defaults": defaults}, _lines(one, defaults))
        return
    found = _of_kind([describe(each) for each in model_classes().values()], kind)
    console.result({"models": found}, _grouped(found, _width()))


def _of_kind(found: list[dict[str, Any]], kind: str | None) -> list[dict[str, Any]]:
    order = list(KINDS.values())
    if kind is not None and kind not in order:
        raise _unknown("kind", kind, order)
    kept = [one for one in found if kind in (None, one["kind"])]
    return sorted(kept, key=lambda one: order.index(one["kind"]))


def _grouped(found: list[dict[str, Any]], width: int) -> list[str]:
    """Return the models by kind, a line each that fits into a terminal."""
    longest = max((len(one["name"]) for one in found), default=0)
    lines = []
    for kind, ones in groupby(found, key=lambda one: one["kind"]):
        lines += ["", kind]
        for one in ones:
            marks = "".join(
                sign if there or there is None else "-"
                for sign, there in (
                    ("s", one["streaming"] != "no"),
                    ("m", one["missing_values"]),
                    ("w", one["text"]),
                )
            )
            text, room = one["description"], width - longest - 9
            text = text if len(text) <= room else text.partition(": ")[0].rstrip(".")
            lines.append(f"  {one['name']:{longest}s}  {marks}  {shorten(text, room, placeholder=' …')}")
    legend = "s: learns from tables larger than memory; m: takes missing entries; w: reads words"
    return [*lines[1:], "", *wrap(legend, width), "`tractable models NAME` shows one, with its parameters."]


def _width() -> int:
    """Return the columns of the terminal, 80 where there is none."""
    return max(60, get_terminal_size().columns)


def _lines(one: dict[str, Any], defaults: dict[str, Any]) -> list[str]:
    return [
        *wrap(f"{one['name']}: {one['description']}", _width()),
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


def _yes(fact: bool | None) -> str:
    return {None: "as given", True: "yes", False: "no"}[fact]


def model_class(name: str) -> Any:
    """Return the class of an estimator; the error suggests the nearest name."""
    import tractable

    found = getattr(tractable, name) if name in PUBLIC else None
    if not _is_estimator(found):
        raise _unknown("model", name, model_classes(), otherwise="`tractable models` lists them")
    return found


def model_classes() -> dict[str, Any]:
    """Return the classes of all estimators in the order of their names."""
    import tractable

    found = {name: getattr(tractable, name) for name in sorted(PUBLIC, key=str.lower)}
    return {name: kind for name, kind in found.items() if _is_estimator(kind)}


def _is_estimator(found: Any) -> bool:
    from tractable.base import Estimator

    return inspect.isclass(found) and issubclass(found, Estimator)


def describe(kind: Any) -> dict[str, Any]:
    """Return the properties of a model; None for those that depend on required parameters.

    Examples
    --------
    >>> import tractable
    >>> describe(tractable.GaussianDensity)["kind"]
    'density'
    """
    needed = [p for p in inspect.signature(kind).parameters.values() if p.default is p.empty]
    model = None if needed else kind()
    tags = None if model is None else model.model_tags
    return {
        "name": kind.__name__,
        "kind": _kind(kind, model),
        "streaming": None if tags is None else tags.streaming,
        "missing_values": None if tags is None else tags.missing_values,
        "text": None if model is None else bool(model.__sklearn_tags__().input_tags.string),
        "description": (inspect.getdoc(kind) or "").splitlines()[0],
        "parameters": list(inspect.signature(kind).parameters),
    }


def _kind(kind: Any, model: Any) -> str:
    if hasattr(kind, "predict_proba") and hasattr(kind, "decide"):
        return KINDS["classifier"]
    found = None if model is None else model.__sklearn_tags__().estimator_type
    return KINDS["transformer" if found is None and hasattr(kind, "transform") else found]


def make_model(name: str, settings: Iterable[str]) -> Any:
    """Return a model with parameters from ``name=value`` texts; the error names an unknown parameter.

    Examples
    --------
    >>> make_model("Ridge", ["alpha=0.5"])
    Ridge(alpha=0.5)
    """
    kind, given = model_class(name), parse_settings(settings)
    own = inspect.signature(kind).parameters
    for setting, value in given.items():
        if "__" not in setting:
            _check_parameter(setting, own, name)
            given[setting] = _as_flag(setting, value, own[setting].default)
    missing = [p.name for p in own.values() if p.default is p.empty and p.name not in given]
    if missing:
        example = ", such as --set density=KernelDensity" if missing[0] == "density" else ""
        raise ValueError(f"{name} needs --set {missing[0]}=…{example}")
    model = kind(**{setting: value for setting, value in given.items() if "__" not in setting})
    for setting, value in given.items():
        if "__" in setting:
            _check_parameter(setting, model.get_params(), name)
            model.set_params(**{setting: _as_flag(setting, value, model.get_params()[setting])})
    return model


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Return the values of ``name=value`` texts: Python literals, names of models, or else words.

    The name of a model becomes that model with its default parameters.

    Examples
    --------
    >>> parse_settings(["n_components=5", "covariance_type=diag", "tol=1e-6", "kinds={'year': 'poisson'}"])
    {'n_components': 5, 'covariance_type': 'diag', 'tol': 1e-06, 'kinds': {'year': 'poisson'}}
    """
    found: dict[str, Any] = {}
    for text in settings:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise ValueError(f"--set takes name=value, such as --set n_components=5; got {text!r}")
        if name in found:
            raise ValueError(f"--set gives {name} twice")
        found[name] = _parse_value(name, value)
    return found


def _parse_value(name: str, text: str) -> Any:
    if not text:
        raise ValueError(f"--set {name}= has no value")
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    if text[0] in "([{'\"":
        raise ValueError(f"--set {name}: not a Python literal: {text}")
    if text[:1].isupper() and text in model_classes():
        return make_model(text, ())
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)


def _as_flag(setting: str, value: Any, default: Any) -> Any:
    """Return a word such as yes or no as a truth value if the parameter is one."""
    if not isinstance(default, bool) or isinstance(value, bool):
        return value
    if str(value).lower() not in FLAGS:
        raise ValueError(f"--set {setting} is yes or no; got {value!r}")
    return FLAGS[str(value).lower()]


def _check_parameter(setting: str, known: Iterable[str], model: str) -> None:
    known = list(known)
    if setting not in known:
        from tractable.data.names import nearest

        near = nearest(setting, known)
        hint = f"did you mean {near!r}? " if near else ""
        raise ValueError(f"{model} has no parameter {setting!r}; {hint}it has {', '.join(known)}")


def _unknown(what: str, name: str, known: Iterable[str], *, otherwise: str = "") -> ValueError:
    """Return the error for an unknown name: with the nearest known one, or with all of them."""
    from tractable.data.names import nearest

    known = list(known)
    near = nearest(name, known, cutoff=0.7)
    hint = f"did you mean {near!r}?" if near else otherwise or f"there are {', '.join(known)}"
    return ValueError(f"no {what} {name!r}; {hint}")
