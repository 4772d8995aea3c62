"""What naive Bayes takes each column of a table for."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np

from tractable import distributions
from tractable.conjugate import ConjugateModel
from tractable.data import TableColumns, is_frame
from tractable.data.table_columns import column_names, columns_of, learn_columns, told_of
from tractable.distributions.distribution import Univariate
from tractable.statistics import Counts, SideBySide
from tractable.value import replace, value

__all__ = ["LIKELIHOODS", "NaiveColumns", "family_of", "learn_naive_columns", "some_columns"]

#: Likelihoods by name, and what kind of column each is read as.
LIKELIHOODS = {
    "normal": "normal",
    "categorical": "categorical",
    "bernoulli": "bernoulli",
    "poisson": "poisson",
    "multinomial": "poisson",
    "kernel": "normal",
}


@value
class NaiveColumns:
    """The columns of a table, and the likelihood of each.

    Parameters
    ----------
    columns : TableColumns
    likelihoods : tuple
        One of `LIKELIHOODS`, a family of `tractable.distributions` by name, a family or a conjugate model.
    preparation : str, optional
        What was done to entries before they were counted.
    """

    columns: TableColumns
    likelihoods: tuple[Any, ...]
    preparation: str | None = None

    def __add__(self, other: "NaiveColumns") -> "NaiveColumns":
        """Return the columns of both, the same but for categories: those of the other come after."""
        if not isinstance(other, NaiveColumns):
            return NotImplemented
        mine, theirs = self.columns, other.columns
        if (mine.names, mine.kinds) != (theirs.names, theirs.kinds) or not _alike(self, other):
            raise ValueError("statistics must be of the same columns, with the same likelihoods")
        if self.preparation != other.preparation:
            raise ValueError(
                f"statistics of entries with {self.preparation} and with {other.preparation} do not add up"
            )
        tables = []
        for j, (a, b) in enumerate(zip(mine.categories, theirs.categories, strict=True)):
            if (a is None) != (b is None):
                raise ValueError(
                    f"the column {mine.label(j)!r} holds codes in one statistic, values in the other"
                )
            known = set(a or ())
            tables.append(None if a is None or b is None else (*a, *(v for v in b if v not in known)))
        if tuple(tables) == mine.categories:
            return self
        return replace(self, columns=replace(mine, categories=tuple(tables)))

    def recoded(self, statistic: SideBySide) -> SideBySide:
        """Return a statistic whose categories have the codes that they have here."""
        where, before = self.where("categorical", "bernoulli"), statistic.about.columns.categories
        at = int(len(self.where("normal")) > 0)  # after the normal columns, if there are any
        counts = None if not len(where) else statistic.parts[at]
        if counts is None or before == self.columns.categories:
            return replace(statistic, about=self)
        tables = [(before[j], self.columns.categories[j]) for j in where]
        most = max([counts.n_classes, *(len(new) for _, new in tables if new is not None)])
        found = np.array(counts.padded(most).counts)
        for i, (old, new) in enumerate(tables):
            if old is not None and new is not None:
                found[i], code = 0.0, {v: k for k, v in enumerate(new)}
                places = [code[v] for v in old][: counts.n_classes]
                found[i, places] = counts.counts[i, : len(places)]
        parts = (*statistic.parts[:at], Counts(counts=found), *statistic.parts[at + 1 :])
        return replace(statistic, parts=parts, about=self)

    def where(self, *kinds: str) -> np.ndarray:
        """Return the positions of the columns of some likelihoods."""
        found = [self._places[kind] for kind in kinds if kind in self._places]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)

    @cached_property
    def _places(self) -> dict[str, np.ndarray]:
        found: dict[str, list[int]] = {}
        for j, kind in enumerate(self.likelihoods):
            if isinstance(kind, str):
                found.setdefault(kind, []).append(j)
        return {kind: np.array(places, dtype=np.int64) for kind, places in found.items()}

    def of_families(self) -> list[int]:
        """Return the positions of the columns whose likelihood is a family or a model of the user's."""
        return [j for j, kind in enumerate(self.likelihoods) if not _is_kind(kind)]


def learn_naive_columns(
    likelihoods: Any, default: str, *, frame: Any = None, leave: Any = (), names: Any = None, width: int = 0
) -> NaiveColumns:
    """Return what the columns of a frame, or of rows of numbers, are: as told, or else by their types."""
    if is_frame(frame):
        names = column_names(frame, leave)
        width = len(names)
    names = None if names is None else tuple(names)
    told = _told(likelihoods, names, width)
    kinds = {j: LIKELIHOODS[kind] if _is_kind(kind) else "normal" for j, kind in enumerate(told) if kind}
    if is_frame(frame):
        columns = learn_columns(frame, kinds, leave, codes=default == "categorical", argument="likelihoods")
    else:
        columns = columns_of(names, width, kinds, default)
    whole = tuple(kind or columns.kinds[j] for j, kind in enumerate(told))
    return NaiveColumns(columns=columns, likelihoods=whole)


def _alike(a: NaiveColumns, b: NaiveColumns) -> bool:
    """Whether likelihoods are the same, the priors of conjugate models among them."""
    return all(_equal(x, y) for x, y in zip(a.likelihoods, b.likelihoods, strict=True))


def _equal(x: Any, y: Any) -> bool:
    """Whether two values are the same, field by field."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if is_dataclass(x):
        return all(_equal(getattr(x, f.name), getattr(y, f.name)) for f in fields(x))
    return bool(np.array_equal(x, y))


def some_columns(x: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return columns by their positions; of all of them no copy is made."""
    return x if len(where) == x.shape[1] else x[:, where]


def family_of(kind: Any) -> Any:
    """Return the family that a name stands for, or what was given."""
    return getattr(distributions, kind) if isinstance(kind, str) else kind


def _told(likelihoods: Any, names: Any, width: int) -> list[Any]:
    several = isinstance(likelihoods, (Mapping, Sequence)) and not isinstance(likelihoods, str)
    one = not (likelihoods is None or several)
    told = [likelihoods] * width if one else told_of(likelihoods, names, width, "likelihoods")
    return [None if kind is None else _checked(kind) for kind in told]


def _checked(kind: Any) -> Any:
    if _is_kind(kind) or isinstance(kind, ConjugateModel):
        return kind
    named = isinstance(kind, str) and kind in distributions.__all__
    family: Any = family_of(kind) if named else kind
    if isinstance(family, type) and hasattr(family, "fit"):
        _check_family(family)
        # A name is saved where a class is not.
        name = str(family.__name__)
        return name if getattr(distributions, name, None) is family else family
    raise ValueError(
        f"likelihoods must be of {list(LIKELIHOODS)}, families with `fit` or conjugate models, got {kind!r}"
    )


def _check_family(family: Any) -> None:
    """Refuse a family that a column alone does not determine."""
    if not issubclass(family, Univariate):
        raise ValueError(f"likelihoods must be of single columns, and {family.__name__} is of vectors")
    asked = signature(family.fit).parameters.values()
    needed = [p.name for p in asked if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if needed:
        raise ValueError(
            f"likelihoods must be fitted to a column alone, and {family.__name__} must be told {needed[0]}"
        )


def _is_kind(kind: Any) -> bool:
    return isinstance(kind, str) and kind in LIKELIHOODS
