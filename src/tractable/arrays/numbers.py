"""Checks of numbers: one ValueError that names the argument."""

from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["check_count", "check_number"]


def check_number(
    name: str,
    given: Any,
    *,
    least: float = -float("inf"),
    above: float | None = None,
    most: float | None = None,
    below: float = float("inf"),
    whole: bool = False,
) -> None:
    """Refuse what is not a finite number of at least `least` (or above `above`), to `most` or below `below`.

    Examples
    --------
    >>> check_number("tol", 0.1, above=0.0)
    """
    good = type(given) is int or (type(given) is float and not whole)  # asked first: the others take longer
    if not good:
        good = isinstance(given, Integral if whole else Real) and not isinstance(given, (bool, np.bool_))
    good = good and (given > above if above is not None else given >= least)
    if good and given < below and (most is None or given <= most):
        return
    wanted = f"{'a whole' if whole else 'a'} number " + (
        f"above {above:g}" if above is not None else f"from {least:g}"
    )
    if most is not None:
        wanted += f" to {most:g}"
    elif below < float("inf"):
        wanted += f" and below {below:g}"
    raise ValueError(f"{name} must be {wanted}, got {given!r}")


def check_count(name: str, given: Any, *, least: int = 0) -> int:
    """Return a whole number of at least `least`; refuse others.

    Examples
    --------
    >>> check_count("n_init", 3, least=1)
    3
    """
    check_number(name, given, least=least, whole=True)
    return int(given)
