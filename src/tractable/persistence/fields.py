"""The declared types of the fields of values, checked of values that come from a file."""

import typing
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union

import numpy as np

#: What a field may hold besides its declared type: numbers of NumPy and Python stand for each other.
_NUMBERS: dict[Any, tuple[type, ...]] = {
    np.ndarray: (np.ndarray, np.generic, int, float),
    float: (float, int, np.floating, np.integer),
    int: (int, np.integer),
    bool: (bool, np.bool_),
    str: (str,),
}


def check_fields(record: Any) -> None:
    """Refuse a value of this library if a field has another type than its class declares.

    Examples
    --------
    >>> from tractable.report import TableColumn
    >>> check_fields(TableColumn(name="mass", kind="number", source="mass"))
    >>> check_fields(TableColumn(name="mass", kind="number", source=3))
    Traceback (most recent call last):
    ...
    ValueError: TableColumn.source must be str, got 3
    """
    cls: Any = type(record)
    for name, declared in _declared(cls).items():
        held = getattr(record, name)
        if not _is_of(held, declared):
            kind = getattr(declared, "__name__", None) if isinstance(declared, type) else None
            shown = (
                str(held)[:60] if isinstance(held, str | int | float | type(None)) else type(held).__name__
            )
            raise ValueError(f"{type(record).__name__}.{name} must be {kind or declared}, got {shown}")


@cache
def _declared(cls: Any) -> dict[str, Any]:
    """Return the types of the fields; of a class of somebody else none, whose annotations promise nothing."""
    if cls.__module__.partition(".")[0] != "tractable":
        return {}
    try:
        hints = typing.get_type_hints(cls)
    except NameError:  # a class is named for readers and type checkers alone
        return {}
    return {field.name: hints[field.name] for field in fields(cls) if hints[field.name] is not Any}


def _is_of(x: Any, declared: Any) -> bool:
    """Whether an object is of a declared type; a form of declaration that is not known admits all."""
    origin, inner = typing.get_origin(declared), typing.get_args(declared)
    if origin in _FORMS:
        return _FORMS[origin](x, inner)
    kind = NoneType if declared is None else origin or declared
    if kind is Any or not isinstance(kind, type):
        return True  # anything, or a variable that stands for a type
    return isinstance(x, _NUMBERS.get(kind, kind)) and not (
        isinstance(x, bool) and kind in _NUMBERS.keys() - {bool}
    )


def _is_tuple(x: Any, inner: Any) -> bool:
    if isinstance(x, tuple) and inner[-1:] == (...,):
        return all(_is_of(part, inner[0]) for part in x)
    return isinstance(x, tuple) and len(x) == len(inner) and all(map(_is_of, x, inner))


def _is_mapping(x: Any, inner: Any) -> bool:
    return isinstance(x, Mapping) and all(_is_of(k, inner[0]) and _is_of(v, inner[1]) for k, v in x.items())


def _is_any_of(x: Any, inner: Any) -> bool:
    return any(_is_of(x, one) for one in inner)


_FORMS: dict[Any, Callable[[Any, Any], bool]] = {
    Union: _is_any_of,
    UnionType: _is_any_of,
    Literal: lambda x, inner: any(type(x) is type(one) and x == one for one in inner),
    tuple: _is_tuple,
    list: lambda x, inner: isinstance(x, list) and all(_is_of(part, inner[0]) for part in x),
    frozenset: lambda x, inner: isinstance(x, frozenset) and all(_is_of(part, inner[0]) for part in x),
    dict: _is_mapping,
    Mapping: _is_mapping,
    Callable: lambda x, _: callable(x),
}
