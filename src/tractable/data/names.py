"""Names: unique column names, the nearest known name, numbers of things in messages."""

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

#: Longer names are cut.
LONGEST = 120


def clean_names(names: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Return names that are unique, not blank and printable, and sentences about the changes.

    Examples
    --------
    >>> clean_names(["age", "", "age", " size "])[0]
    ['age', 'column 2', 'age (2)', 'size']
    """
    found = [_printable(name) for name in names]
    blank = [j for j, name in enumerate(found) if not name]
    found = [name or f"column {j + 1}" for j, name in enumerate(found)]
    given, unique, doubled = set(found), [], []
    seen: set[str] = set()
    for name in found:
        free, k = name, 2
        while free in seen or (free != name and free in given):
            free, k = f"{name} ({k})", k + 1
        if free != name:
            doubled.append(name)
        seen.add(free)
        unique.append(free)
    notes = []
    if blank:
        notes.append(
            f"{number_of(len(blank), 'column')} had no name and got one, such as {found[blank[0]]!r}."
        )
    if doubled:
        listed = ", ".join(repr(name) for name in dict.fromkeys(doubled[:5]))
        notes.append(
            f"{number_of(len(doubled), 'column')} had the name of another and got a number: {listed}."
        )
    return unique, notes


def _printable(name: Any) -> str:
    text = "" if name is None else ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
    text = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text[: 4 * LONGEST])
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def number_of(n: int, thing: str, things: str | None = None) -> str:
    """Return a number with its noun, in the plural unless it is one.

    Examples
    --------
    >>> number_of(1, "row"), number_of(2000, "entry", "entries")
    ('1 row', '2,000 entries')
    """
    return f"{n:,} {thing if n == 1 else things or f'{thing}s'}"


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the most similar known name, ignoring case, or None if none is similar.

    Examples
    --------
    >>> nearest("gausianmixture", ["GaussianMixture", "KMeans"])
    'GaussianMixture'
    """
    plain = {other.casefold(): other for other in known}
    near = get_close_matches(name.casefold(), plain, n=1, cutoff=cutoff)
    return plain[near[0]] if near else None


def nearest_file(path: Path) -> Path | None:
    """Return the file in the folder of a path with the most similar name, or None."""
    try:
        there = [file.name for file in path.parent.iterdir() if file.is_file()]
    except OSError:
        return None
    near = nearest(path.name, there, cutoff=0.75)
    return path.parent / near if near else None
