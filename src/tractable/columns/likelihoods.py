"""The likelihood of each column of a table, as declared or by the column's type."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np

from tractable import distributions
from tractable.conjugate import ConjugateModel
from tractable.data import TableColumns, is_frame
from tractable.data.table_columns import (
    binarized,
    column_names,
    columns_of,
    declared_of,
    learn_columns,
)
from tractable.distributions.distribution import Univariate
from tractable.distributions.independent_columns import some_columns
from tractable.statistics import Counts, SideBySide
from tractable.value import replace, value

#: Likelihoods by name, and the kind of column that each reads.
LIKELIHOODS = {
    "normal": "normal",
    "categorical": "categorical",
    "bernoulli": "bernoulli",
    "poisson": "poisson",
    "multinomial": "poisson",
    "kernel": "normal",
}


@value
class ColumnLikelihoods:
    """The columns of a table and the likelihood of each.

    Parameters
    ----------
    columns : TableColumns
        Names, kinds and categories of the columns.
    likelihoods : tuple
        One of `LIKELIHOODS`, a family of `tractable.distributions` by name, a family or a conjugate model.
    binarize : float, optional
        Entries above are ones and others zeros; as they are when not given.
    """

    columns: TableColumns
    likelihoods: tuple[Any, ...]
    binarize: float | None = None

    def __add__(self, other: "ColumnLikelihoods") -> "ColumnLikelihoods":
        """Return the columns of both, the same but for categories: those of the other come after."""
        if not isinstance(other, ColumnLikelihoods):
            return NotImplemented
        if (self.columns.names, self.columns.kinds) != (other.columns.names, other.columns.kinds) or not all(
            _equal(a, b) for a, b in zip(self.likelihoods, other.likelihoods, strict=True)
        ):
            raise ValueError("statistics must be of the same columns, with the same likelihoods")
        if self.binarize != other.binarize:
            raise ValueError(
                f"statistics of entries with binarize={self.binarize} and with binarize={other.binarize} "
                "do not add up"
            )
        columns = self.columns.with_categories_of(other.columns)
        return self if columns is self.columns else replace(self, columns=columns)

    def recoded(self, statistic: SideBySide) -> SideBySide:
        """Return a statistic with its category counts at the codes that the categories have here."""
        where, before = self.where("categorical", "bernoulli"), statistic.about.columns.categories
        at = int(len(self.where("normal")) > 0)  # the counts come after the moments of normal columns
        counts = None if not len(where) else statistic.parts[at]
        if counts is None or before == self.columns.categories:
            return replace(statistic, about=self)
        tables = [(before[j], self.columns.categories[j]) for j in where]
        most = max([counts.n_classes, *(len(new) for _, new in tables if new is not None)])
        found = np.array(counts.padded(most).counts)
        for i, (old, new) in enumerate(tables):
            if old is not None and new is not None:
                found[..., i, :], code = 0.0, {v: k for k, v in enumerate(new)}
                codes = [code[v] for v in old][: counts.n_classes]
                found[..., i, codes] = counts.counts[..., i, : len(codes)]
        parts = (*statistic.parts[:at], Counts(counts=found), *statistic.parts[at + 1 :])
        return replace(statistic, parts=parts, about=self)

    def where(self, *kinds: str) -> np.ndarray:
        """Return the positions of the columns of some likelihoods, in order."""
        found = [self._positions[kind] for kind in kinds if kind in self._positions]
        if len(found) == 1:
            return found[0]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)

    @cached_property
    def one_kind(self) -> str | None:
        """The likelihood of all columns, which may be thousands, where it is one of `LIKELIHOODS`."""
        first = self.likelihoods[0] if self.likelihoods else None
        alike = _is_kind(first) and self.likelihoods.count(first) == len(self.likelihoods)
        return first if alike else None

    @cached_property
    def _positions(self) -> dict[str, np.ndarray]:
        if self.one_kind is not None:
            return {self.one_kind: np.arange(len(self.likelihoods))}
        found: dict[str, list[int]] = {}
        for j, kind in enumerate(self.likelihoods):
            if isinstance(kind, str):
                found.setdefault(kind, []).append(j)
        return {kind: np.array(positions, dtype=np.int64) for kind, positions in found.items()}

    def among(self, where: np.ndarray, kind: str) -> np.ndarray:
        """Return which of some columns, by position, have a likelihood."""
        found = np.zeros(len(self.likelihoods), dtype=bool)
        found[self.where(kind)] = True
        return found[where]

    @cached_property
    def of_families(self) -> list[int]:
        """The positions of the columns whose likelihood is a family or a conjugate model."""
        if self.one_kind is not None:
            return []
        return [j for j, kind in enumerate(self.likelihoods) if not _is_kind(kind)]

    def prepare(self, x: np.ndarray) -> np.ndarray:
        """Return entries as they are counted: zeros and ones where there is a threshold."""
        return binarized(x, self.binarize)

    def check(self, where: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Refuse discrete columns with entries that their likelihood excludes; return the largest of each.

        Counts of multinomial columns may be fractions. The largest entry of an empty column is NaN.
        """
        return self.columns.check_entries(where, x, [self.likelihoods[j] for j in where])

    def check_events(self, x: np.ndarray) -> None:
        """Refuse rows with counts, or zeros and ones, that the likelihoods exclude."""
        if len(self._events) and not self._admits(x):
            self.check(self._events, some_columns(x, self._events))

    def _admits(self, x: np.ndarray) -> bool:
        """Whether a look at all entries together shows that none is refused, where columns are alike."""
        if self.one_kind == "bernoulli":
            return self.binarize is not None or bool(np.all((x == 0.0) | (x == 1.0)))
        return self.one_kind == "multinomial" and bool(x.min(initial=0.0) >= 0.0)

    @cached_property
    def _events(self) -> np.ndarray:
        """Positions of the columns of counts, or of zeros and ones."""
        return self.where("bernoulli", "poisson", "multinomial")


def learn_likelihoods(
    likelihoods: Any, default: str, *, frame: Any = None, leave: Any = (), names: Any = None, width: int = 0
) -> ColumnLikelihoods:
    """Return the likelihoods of the columns of a frame, or of an array: as declared, or by their types."""
    if is_frame(frame):
        names = column_names(frame, leave)
        width = len(names)
    names = None if names is None else tuple(names)
    if not is_frame(frame) and _is_kind(likelihoods):  # one for all columns, of which there may be thousands
        columns = columns_of(names, width, None, LIKELIHOODS[likelihoods])
        return ColumnLikelihoods(columns=columns, likelihoods=(likelihoods,) * width)
    declared = _declared(likelihoods, names, width)
    kinds = {
        j: LIKELIHOODS[kind] if _is_kind(kind) else "normal"
        for j, kind in enumerate(declared)
        if kind is not None
    }
    if is_frame(frame):
        columns = learn_columns(frame, kinds, leave, codes=default == "categorical", argument="likelihoods")
    else:
        columns = columns_of(names, width, kinds, default)
    return ColumnLikelihoods(
        columns=columns,
        likelihoods=tuple(columns.kinds[j] if kind is None else kind for j, kind in enumerate(declared)),
    )


def family_of(kind: Any) -> Any:
    """Return the family of a name; what is no name is returned as it is."""
    return getattr(distributions, kind) if isinstance(kind, str) else kind


def _declared(likelihoods: Any, names: Any, width: int) -> list[Any]:
    """Return the likelihood that the user declares of each column, None where there is none."""
    several = isinstance(likelihoods, (Mapping, Sequence)) and not isinstance(likelihoods, str)
    if likelihoods is None or several:
        declared = declared_of(likelihoods, names, width, "likelihoods")
    else:
        return [_checked(likelihoods)] * width
    return [None if kind is None else _checked(kind) for kind in declared]


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
    """Refuse a family whose parameters one column does not determine."""
    if not issubclass(family, Univariate):
        raise ValueError(f"likelihoods must be of single columns, and {family.__name__} is of vectors")
    asked = signature(family.fit).parameters.values()
    needed = [p.name for p in asked if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if needed:
        raise ValueError(
            f"likelihoods must be fitted to a column alone, and {family.__name__} needs {needed[0]} as well"
        )


def _is_kind(kind: Any) -> bool:
    return isinstance(kind, str) and kind in LIKELIHOODS


def _equal(x: Any, y: Any) -> bool:
    """Whether two likelihoods are the same, priors of conjugate models field by field."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if is_dataclass(x):
        return all(_equal(getattr(x, f.name), getattr(y, f.name)) for f in fields(x))
    return bool(np.array_equal(x, y))
