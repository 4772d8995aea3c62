"""The tables there are."""

import tomllib
from difflib import get_close_matches
from importlib.resources import files
from typing import Any

from tractable.datasets.table import Table

__all__ = ["load", "names"]


def names() -> tuple[str, ...]:
    """Return the names of the tables in the wheel.

    Examples
    --------
    >>> "old_faithful" in names()
    True
    """
    return tuple(_cards())


def load(name: str) -> Table:
    """Return a small real table by its name.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    Table
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
    return Table(name=name, feature_names=tuple(card["features"]), target_name=card.get("target"), **prose)


def _cards() -> dict[str, Any]:
    return tomllib.loads((files("tractable.datasets") / "tables" / "tables.toml").read_text(encoding="utf-8"))
