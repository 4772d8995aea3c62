"""Small real tables in the wheel, with their sources and licences."""

import csv
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """A named table. Its rows are read when asked for, and belong to the caller.

    Parameters
    ----------
    name, description, source, licence : str
        What the table is called, what its rows are, where it comes from and how it may be used.
    feature_names : tuple of str
        Names of the columns of `X`.
    target_name : str, optional
        The column `y`, where there is one.

    Examples
    --------
    >>> from tractable.datasets import load
    >>> geyser = load("old_faithful")
    >>> geyser.X.shape, geyser.feature_names
    ((272, 2), ('eruptions', 'waiting'))
    >>> load("iris").y[:2].tolist()
    ['setosa', 'setosa']
    """

    name: str
    description: str
    source: str
    licence: str
    feature_names: tuple[str, ...]
    target_name: str | None = None

    @property
    def X(self) -> np.ndarray:  # noqa: N802
        """The numeric features, float64, with NaN where an entry is missing."""
        columns = self._columns()
        numbers = [[float(text or "nan") for text in columns[name]] for name in self.feature_names]
        return np.array(numbers).T.copy()

    @property
    def y(self) -> np.ndarray | None:
        """The target, whole numbers, numbers or text as the table has them, or None where it has none."""
        if self.target_name is None:
            return None
        texts = np.array(self._columns()[self.target_name])
        for kind in (np.int64, np.float64):
            with suppress(ValueError):
                return texts.astype(kind)
        return texts

    @property
    def frame(self) -> Any:
        """Every column, the ones that are neither feature nor target included, as a pandas DataFrame."""
        import pandas as pd

        with self._file().open(encoding="utf-8") as file:
            return pd.read_csv(file)

    def _file(self) -> Any:
        return files("tractable.datasets") / "tables" / f"{self.name}.csv"

    def _columns(self) -> dict[str, list[str]]:
        with self._file().open(encoding="utf-8", newline="") as file:
            names, *rows = csv.reader(file)
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def names() -> tuple[str, ...]:
    """Return the names of the tables in the wheel.

    Examples
    --------
    >>> "old_faithful" in names()
    True
    """
    return tuple(_cards())


def load(name: str) -> Dataset:
    """Return a small real table by its name.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    Dataset
        With ``frame``, ``X``, ``y``, ``feature_names``, ``target_name``, and the table's ``description``,
        ``source`` and ``licence``.

    Examples
    --------
    >>> load("penguins").frame.shape
    (344, 8)
    >>> load("penguins").licence
    'CC0 1.0'
    """
    cards = _cards()
    if name not in cards:
        near = get_close_matches(str(name), cards, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(cards)}"
        raise ValueError(f"name: no table {name!r}; {hint}")
    card = cards[name]
    prose = {part: " ".join(card[part].split()) for part in ("description", "source", "licence")}
    return Dataset(name=name, feature_names=tuple(card["features"]), target_name=card.get("target"), **prose)


def _cards() -> dict[str, Any]:
    return tomllib.loads((files("tractable.datasets") / "tables" / "tables.toml").read_text(encoding="utf-8"))
