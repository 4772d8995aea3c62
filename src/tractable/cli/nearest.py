"""The name that was meant."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["unknown"]


def unknown(what: str, name: str, known: Iterable[str], *, otherwise: str = "") -> ValueError:
    """Return what to raise for a name that does not exist: with the nearest that does, or all of them.

    Examples
    --------
    >>> print(unknown("model", "gausianmixture", ["GaussianMixture", "KMeans"]))
    no model 'gausianmixture'; did you mean 'GaussianMixture'?
    """
    plain = {other.lower(): other for other in known}
    near = get_close_matches(name.lower(), plain, n=1, cutoff=0.7)
    hint = (
        f"did you mean {plain[near[0]]!r}?" if near else otherwise or f"there are {', '.join(plain.values())}"
    )
    return ValueError(f"no {what} {name!r}; {hint}")
