"""The roles of the columns of a table: features, targets and weight."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any

from tractable.data.names import nearest
from tractable.value import value


@value
class Roles:
    """The columns of a table by their roles."""

    features: tuple[Any, ...]
    target: Any = None  # a name, or a tuple of names
    weight: Any = None

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features where every one is text."""
        return self.features if all(isinstance(name, str) for name in self.features) else None

    @property
    def targets(self) -> tuple[Any, ...]:
        if self.target is None:
            return ()
        return self.target if isinstance(self.target, tuple) else (self.target,)

    @property
    def numeric(self) -> tuple[Any, ...]:
        """The columns that must hold numbers; a single target may hold labels."""
        several = self.targets if len(self.targets) > 1 else ()
        return (*self.features, *several, *([] if self.weight is None else [self.weight]))

    @property
    def columns(self) -> tuple[Any, ...]:
        """Every column that has to be read."""
        return tuple(dict.fromkeys((*self.numeric, *self.targets)))


def assign_roles(
    available: Sequence[Hashable],
    features: Any = None,
    target: Any = None,
    weight: Any = None,
    *,
    where: str,
    arguments: tuple[str, str, str] = ("features", "target", "weight"),
    index: Collection[Hashable] = (),
) -> Roles:
    """Return the roles of columns, checked; features are all others, but the row index, when not given."""
    doubled = [str(name) for name, count in Counter(available).items() if count > 1]
    if doubled:
        raise ValueError(f"{where} has several columns named {', '.join(doubled)}")
    target = tuple(target) if isinstance(target, list) else target
    roles = Roles(features=(), target=target, weight=weight)
    for argument, names in zip(
        arguments[1:], (roles.targets, [] if weight is None else [weight]), strict=True
    ):
        check_known(names, available, argument, where)
    taken = {*roles.targets, *([] if weight is None else [weight])}
    if features is None:
        features = [name for name in available if name not in taken and name not in index]
    features = [features] if is_column_name(features) else list(features)
    check_known(features, available, arguments[0], where)
    if len(set(features)) < len(features):
        raise ValueError(f"{arguments[0]} names a column twice: {features}")
    both = [name for name in features if name in taken]
    if both:
        raise ValueError(f"{arguments[0]}: {both[0]!r} is already the {arguments[1]} or the {arguments[2]}")
    if not features:
        raise ValueError(f"{arguments[0]}: no columns are left in {where}")
    return Roles(features=tuple(features), target=target, weight=weight)


def is_column_name(x: Any) -> bool:
    """Whether x is one name and no list of names."""
    return isinstance(x, str | int)


def check_numeric(texts: Iterable[Any], where: str) -> None:
    """Raise an error that names all columns that hold no numbers, if there are any."""
    texts = [str(text) for text in texts]
    if texts:
        raise ValueError(
            f"{where}: not numeric: {', '.join(texts)}; encode them as numbers (ContrastCoding codes words, "
            "fit_formula takes them in a formula) or choose other features"
        )


def check_known(names: Iterable[Any], available: Sequence[Hashable], argument: str, where: str) -> None:
    """Raise an error for a name that no column has, with the nearest one that exists."""
    known = set(available)
    for name in names:
        if name not in known:
            raise ValueError(no_column(name, available, argument, where))


def no_column(name: Any, available: Sequence[Hashable], argument: str, where: str) -> str:
    """Return the message for a name that no column has: the nearest one that exists, or all."""
    near = nearest(str(name), map(str, available))
    hint = f"did you mean {near!r}?" if near else f"there are {_some(available)}"
    return f"{argument}: no column {name!r} in {where}; {hint}"


def _some(names: Sequence[Hashable], limit: int = 12) -> str:
    listed = ", ".join(str(name) for name in names[:limit])
    return listed if len(names) <= limit else f"{listed}, … ({len(names):,} columns)"
