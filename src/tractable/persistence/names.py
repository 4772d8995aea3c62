"""Which classes a file may name: the public ones, those of scikit-learn in pipelines, and those given."""

from collections.abc import Iterable
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any

import tractable
from tractable.persistence import earlier
from tractable.persistence.scikit_learn import class_of, is_splitter, row_of

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


def is_fitted_name(name: str, cls: type = object) -> bool:
    """Whether an attribute of this name, of an estimator of that class, is saved and restored.

    Learned attributes end in an underscore; one that users are not meant to read begins with one too. Classes
    of scikit-learn have names of their own beside them.

    Examples
    --------
    >>> [is_fitted_name(name) for name in ("coef_", "_params_", "_cache", "__class__", "predict")]
    [True, True, False, False, False]
    """
    learned = name.isidentifier() and name.endswith("_") and not name.startswith("__") and name.strip("_")
    row = row_of(cls)
    return name in SKLEARN_STATE or bool(learned) or (row is not None and name in row.state)


def name_of(cls: type) -> str:
    """Return the name that a file gives a class: ``package:Class``."""
    name = cls.__name__
    if _public("tractable", name) is cls:
        return f"tractable:{name}"
    row = row_of(cls)
    package = ".".join(cls.__module__.split(".")[:2]) if row is None else row.module
    return f"{package if _public(package, name) is cls else cls.__module__}:{name}"


def _public(package: str, name: str) -> Any:
    """Return the object of that public name, or None; imports nothing that the tables do not list."""
    if package == "tractable" and name in tractable.PUBLIC:
        return getattr(import_module(tractable.PUBLIC[name]), name)
    top, _, inner = package.partition(".")
    if top == "tractable" and inner in tractable.PACKAGES and inner not in _OUTSIDE:
        module = import_module(package)
        listed = name in getattr(module, "__all__", ()) or name in getattr(module, "MOVED", ())
        return getattr(module, name) if listed else None
    return class_of(package, name)


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

    def splitter(self, name: Any) -> type:
        """Return the class of that name, of what splits rows."""
        return self._find(name, is_splitter, "splitter")

    def check_known(self, names: Iterable[Any]) -> None:
        """Refuse names of classes that are neither public nor given, all of them in one message."""
        unknown = dict.fromkeys(
            name
            for name in names
            if isinstance(name, str)
            and name not in earlier.VALUES
            and not isinstance(_public(*_split(name)), type)
            and not self._given(name)
        )
        if unknown:
            parts = [_split(name) for name in unknown]
            listed = ", ".join(f"{short} of {package}" for package, short in parts)
            types = ", ".join(dict.fromkeys(short for _, short in parts))
            these = "the class" if len(parts) == 1 else "the classes"
            verb = "is" if len(parts) == 1 else "are"
            raise ValueError(f"it holds {these} {listed}, which {verb} not known here; pass types=[{types}]")

    def _find(self, name: Any, admits: Any, kind: str) -> type:
        if not isinstance(name, str):
            raise ValueError(f"a class has the name {name!r}")
        found = _public(*_split(name))
        if not isinstance(found, type):
            self.check_known([name])
            [found] = self._given(name)
        if not (isinstance(found, type) and admits(found)):
            raise ValueError(f"{name} is not a class of {kind}s")
        return found

    def _given(self, name: str) -> list[type]:
        """Return the one class given that has the name; none where several have it, or no one."""
        package, short = _split(name)
        found = [cls for cls in self._types if cls.__name__ == short]
        if len(found) > 1:
            found = [cls for cls in found if cls.__module__ == package]
        return found if len(found) == 1 else []


def _split(name: str) -> tuple[str, str]:
    package, _, short = name.partition(":")
    return package, short
