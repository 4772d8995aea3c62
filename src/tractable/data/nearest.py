"""The name that was meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

__all__ = ["nearest", "nearest_file"]


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the name that is most like another, small and capital letters alike; None where none is.

    Examples
    --------
    >>> nearest("gausianmixture", ["GaussianMixture", "KMeans"])
    'GaussianMixture'
    """
    plain = {other.casefold(): other for other in known}
    near = get_close_matches(name.casefold(), plain, n=1, cutoff=cutoff)
    return plain[near[0]] if near else None


def nearest_file(path: Path) -> Path | None:
    """Return the file beside a path that has nearly its name."""
    try:
        there = [file.name for file in path.parent.iterdir() if file.is_file()]
    except OSError:
        return None
    near = nearest(path.name, there, cutoff=0.75)
    return path.parent / near if near else None
