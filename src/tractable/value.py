"""Immutable records: distributions, statistics, covariance structures and kernels are values."""

from dataclasses import dataclass, fields
from functools import cache
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=False)
def value(cls: type[T]) -> type[T]:
    """Make a class an immutable record with keyword-only construction.

    Equality is identity, because the equality of arrays is not a boolean; NumPy defers to the record's own
    operators instead of absorbing it into an object array. A class may write its own ``__init__`` where its
    fields are not what a user gives; it then says in ``_parameters()`` which keywords rebuild it. A value is
    printed as the call that rebuilds it.

    Examples
    --------
    >>> @value
    ... class Interval:
    ...     low: float
    ...     high: float
    >>> Interval(low=0.0, high=1.0)
    Interval(low=0.0, high=1.0)
    """
    cls.__array_ufunc__ = None  # type: ignore[attr-defined]
    if cls.__repr__ is object.__repr__:
        cls.__repr__ = _call  # type: ignore[method-assign]
    return dataclass(frozen=True, kw_only=True, eq=False, repr=False)(cls)


def parameters(record: Any) -> dict[str, Any]:
    """Return the keyword arguments that rebuild a value: ``type(v)(**parameters(v))`` equals ``v``."""
    names = _field_names(record.__class__)
    return dict(record._parameters()) if names is None else {name: getattr(record, name) for name in names}  # noqa: SLF001


@cache
def _field_names(cls: Any) -> tuple[str, ...] | None:
    """Return the fields that rebuild a value; None where its class says it in ``_parameters()``."""
    return None if hasattr(cls, "_parameters") else tuple(field.name for field in fields(cls) if field.init)


def replace(record: T, **changes: Any) -> T:
    """Return the same value with some parameters changed, checked as at construction."""
    return type(record)(**{**parameters(record), **changes})


def made(cls: type[T], **fields: Any) -> T:
    """Return a value of fields that are checked and immutable already, without doing that again."""
    record = object.__new__(cls)
    record.__dict__.update(fields)
    return record


def set_fields(record: Any, **fields: Any) -> None:
    """Set fields of a value that is being made, as its `__init__` or `__post_init__` may."""
    for name, x in fields.items():
        object.__setattr__(record, name, x)


def _call(record: Any) -> str:
    given = ", ".join(f"{name}={x!r}" for name, x in parameters(record).items())
    return f"{type(record).__qualname__}({given})"
