"""The name that was meant."""

from collections.abc import Iterable

from tractable.data.names import nearest

__all__ = ["unknown"]


def unknown(what: str, name: str, known: Iterable[str], *, otherwise: str = "") -> ValueError:
    """Return what to raise for a name that does not exist: with the nearest that does, or all of them.

    Examples
    --------
    >>> print(unknown("model", "gausianmixture", ["GaussianMixture", "KMeans"]))
    no model 'gausianmixture'; did you mean 'GaussianMixture'?
    """
    known = list(known)
    near = nearest(name, known, cutoff=0.7)
    hint = f"did you mean {near!r}?" if near else otherwise or f"there are {', '.join(known)}"
    return ValueError(f"no {what} {name!r}; {hint}")
