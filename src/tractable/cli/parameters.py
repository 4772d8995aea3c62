"""`--set name=value`: parameters of models as text."""

import ast
import inspect
from collections.abc import Iterable
from typing import Any

from tractable.cli.known_models import model_class, model_classes
from tractable.data.names import nearest

__all__ = ["made", "parsed"]

#: How people say that something is, or is not.
FLAGS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


def parsed(settings: Iterable[str]) -> dict[str, Any]:
    """Return what ``name=value`` texts say: values are Python literals, or else words.

    A word that names a model is that model, with its own defaults.

    Examples
    --------
    >>> parsed(["n_components=5", "covariance_type=diag", "tol=1e-6", "kinds={'year': 'poisson'}"])
    {'n_components': 5, 'covariance_type': 'diag', 'tol': 1e-06, 'kinds': {'year': 'poisson'}}
    """
    found: dict[str, Any] = {}
    for text in settings:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise ValueError(f"--set takes name=value, such as --set n_components=5; got {text!r}")
        if name in found:
            raise ValueError(f"--set gives {name} twice")
        found[name] = _value(name, value)
    return found


def made(name: str, settings: Iterable[str]) -> Any:
    """Return a model with its parameters set; one error names a parameter that it does not have.

    Examples
    --------
    >>> made("Ridge", ["alpha=0.5"])
    Ridge(alpha=0.5)
    """
    kind, given = model_class(name), parsed(settings)
    own = inspect.signature(kind).parameters
    for setting, value in given.items():
        if "__" not in setting:
            _check(setting, own, name)
            given[setting] = _as_flag(setting, value, own[setting].default)
    missing = [p.name for p in own.values() if p.default is p.empty and p.name not in given]
    if missing:
        raise ValueError(f"{name} needs --set {missing[0]}=…{_example(missing[0])}")
    model = kind(**{setting: value for setting, value in given.items() if "__" not in setting})
    for setting, value in given.items():
        if "__" in setting:
            _check(setting, model.get_params(), name)
            model.set_params(**{setting: _as_flag(setting, value, model.get_params()[setting])})
    return model


def _value(name: str, text: str) -> Any:
    if not text:
        raise ValueError(f"--set {name}= has no value")
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    if text[0] in "([{'\"":
        raise ValueError(f"--set {name}: not a Python literal: {text}")
    if text[:1].isupper() and text in model_classes():
        return made(text, ())
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)


def _as_flag(setting: str, value: Any, default: Any) -> Any:
    """Return yes or no as true or false where a parameter is one of them: to Python every word is true."""
    if not isinstance(default, bool) or isinstance(value, bool):
        return value
    if str(value).lower() not in FLAGS:
        raise ValueError(f"--set {setting} is yes or no; got {value!r}")
    return FLAGS[str(value).lower()]


def _check(setting: str, known: Iterable[str], model: str) -> None:
    """Refuse a parameter that the model does not have, with all that it has."""
    known = list(known)
    if setting not in known:
        near = nearest(setting, known)
        hint = f"did you mean {near!r}? " if near else ""
        raise ValueError(f"{model} has no parameter {setting!r}; {hint}it has {', '.join(known)}")


def _example(name: str) -> str:
    return ", such as --set density=KernelDensity" if name == "density" else ""
