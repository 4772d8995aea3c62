"""Which classes a file may name: the public ones of this package, and those the caller gives."""

from collections.abc import Iterable
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any

import tractable

#: Packages whose classes are no part of a model: they read files, draw pictures, run commands, or are
#: what others are made of.
_OUTSIDE = frozenset({"base", "cli", "data", "datasets", "persistence", "plotting", "primitives", "testing"})

#: Names of an estimator's state besides those that end in an underscore: scikit-learn's `set_output`, and the
#: number of output columns of its transformers.
SKLEARN_STATE = frozenset({"_sklearn_output_config", "_n_features_out"})


def is_value(cls: type) -> bool:
    """Whether the class is an immutable record, rebuilt by its constructor."""
    return is_dataclass(cls) and bool(cls.__dataclass_params__.frozen)  # type: ignore[attr-defined]


def is_estimator(cls: type) -> bool:
    """Whether the class follows scikit-learn: parameters by `get_params`, learned names in the instance."""
    return callable(getattr(cls, "get_params", None))


def is_fitted_name(name: str) -> bool:
    """Whether an estimator's attribute of this name is saved and restored.

    Learned attributes end in an underscore; one that users are not meant to read begins with one too.

    Examples
    --------
    >>> [is_fitted_name(name) for name in ("coef_", "_params_", "_cache", "__class__", "predict")]
    [True, True, False, False, False]
    """
    learned = name.isidentifier() and name.endswith("_") and not name.startswith("__") and name.strip("_")
    return name in SKLEARN_STATE or bool(learned)


def name_of(cls: type) -> str:
    """Return the name that a file gives a class: ``package:Class``."""
    name = cls.__name__
    if _public("tractable", name) is cls:
        return f"tractable:{name}"
    package = ".".join(cls.__module__.split(".")[:2])
    return f"{package if _public(package, name) is cls else cls.__module__}:{name}"


def _public(package: str, name: str) -> Any:
    """Return the object of that public name, or None; imports nothing that the tables do not list."""
    if package == "tractable" and name in tractable.PUBLIC:
        return getattr(import_module(tractable.PUBLIC[name]), name)
    top, _, inner = package.partition(".")
    if top == "tractable" and inner in tractable.PACKAGES and inner not in _OUTSIDE:
        module = import_module(package)
        return getattr(module, name) if name in getattr(module, "__all__", ()) else None
    return None


class Registry:
    """From names in a file to classes: the public tables, then the classes the caller has given."""

    def __init__(self, types: Iterable[type] = ()) -> None:
        self._types = tuple(types)
        for cls in self._types:
            if not isinstance(cls, type):
                raise ValueError(f"types must be classes, got {cls!r}")

    def value(self, name: Any) -> type:
        """Return the value class of that name."""
        return self._find(name, is_value, "value")

    def estimator(self, name: Any) -> type:
        """Return the estimator class of that name."""
        return self._find(name, is_estimator, "estimator")

    def _find(self, name: Any, admits: Any, kind: str) -> type:
        if not isinstance(name, str):
            raise ValueError(f"a class has the name {name!r}")
        package, _, short = name.partition(":")
        found = _public(package, short)
        if not isinstance(found, type):
            found = self._given(package, short)
        if not admits(found):
            raise ValueError(f"{name} is not a class of {kind}s")
        return found

    def _given(self, package: str, short: str) -> type:
        found = [cls for cls in self._types if cls.__name__ == short]
        if len(found) > 1:
            found = [cls for cls in found if cls.__module__ == package]
        if len(found) != 1:
            raise ValueError(
                f"it holds the class {short} of {package}, which is not known here; pass types=[{short}]"
            )
        return found[0]
