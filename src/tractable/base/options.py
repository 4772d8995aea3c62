"""Options of scikit-learn's constructors that are no parameters here.

Each class declares them as its `_sklearn_options`; the constructor of every :class:`Estimator` accepts them.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import wraps
from inspect import Parameter, signature
from typing import Any

from tractable.value import value

#: Without effect wherever they are no parameters: fits use all cores, inputs are never modified.
ANYWHERE = frozenset({"n_jobs", "verbose", "verbose_interval", "copy_X", "copy_x", "copy", "copy_X_train"})

Rewrite = Callable[[Any, dict[str, Any]], dict[str, Any]]


@value
class SklearnOptions:
    """The options of scikit-learn's class that the constructor of ours accepts too.

    Parameters
    ----------
    ignored : tuple of str
        Options without effect, because they choose an algorithm or a display and not the model.
    limited : dict
        Options and the values that mean what is done here; other values are refused.
    rewritten : dict
        Options and the functions of their value and all options that return parameters of ours.
    values : dict
        Parameters and the values that have another name here.
    """

    ignored: tuple[str, ...] = ()
    limited: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    rewritten: Mapping[str, Rewrite] = field(default_factory=dict)
    values: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)


def take_options(init: Callable[..., None]) -> Callable[..., None]:
    """Let a constructor accept the options of scikit-learn's that are no parameters of it."""
    own = signature(init).parameters
    if any(p.kind is Parameter.VAR_KEYWORD for p in own.values()):
        return init

    @wraps(init)
    def constructed(self: Any, *args: Any, **given: Any) -> None:
        if not given.keys() <= own.keys():
            given = translated(type(self), by_seed_name(given, own), own)
        for options in _declared(type(self)):
            for name in options.values.keys() & given.keys():
                if isinstance(given[name], str | int | float | None):
                    given[name] = options.values[name].get(given[name], given[name])
        init(self, *args, **given)

    return constructed


def by_seed_name(given: dict[str, Any], own: Any) -> dict[str, Any]:
    """Return options with a seed that was given as `rng` under the name of scikit-learn."""
    if "rng" not in given or "rng" in own:
        return given
    if "random_state" in given:
        raise ValueError("rng and random_state name the same thing: give one of them")
    return {**{name: x for name, x in given.items() if name != "rng"}, "random_state": given["rng"]}


def translated(cls: type, given: dict[str, Any], own: Any) -> dict[str, Any]:
    """Return the given options as parameters of a class; what it does not know stays, to be refused."""
    found = {name: x for name, x in given.items() if name in own}
    for name in given.keys() - own.keys():
        if is_inert(cls, name):
            continue
        declared = _declared(cls)
        rewrite = next((options.rewritten[name] for options in declared if name in options.rewritten), None)
        allowed = next((options.limited[name] for options in declared if name in options.limited), None)
        if rewrite is not None:
            found.update(rewrite(given[name], given))
        elif allowed is None:
            found[name] = given[name]
        elif not any(given[name] is x or given[name] == x for x in allowed):
            values = " or ".join(map(repr, allowed))
            raise ValueError(f"{name} of {cls.__name__} must be {values} here, got {given[name]!r}")
    return found


def is_inert(cls: type, name: str) -> bool:
    """Whether an option of a class is accepted without effect."""
    return name in ANYWHERE or any(name in options.ignored for options in _declared(cls))


def _declared(cls: type) -> list[SklearnOptions]:
    """Return the options that a class and its parents declare, nearest first."""
    return [vars(parent)["_sklearn_options"] for parent in cls.__mro__ if "_sklearn_options" in vars(parent)]
