"""What estimators ask of their parameters: one ValueError that names the parameter."""

from numbers import Integral, Real
from typing import Any

__all__ = ["check_choice", "check_number"]


def check_number(
    name: str, given: Any, *, least: float = -float("inf"), above: float | None = None, whole: bool = False
) -> None:
    """Refuse what is not a finite number of at least `least` (or above `above`).

    Examples
    --------
    >>> check_number("tol", 0.1, above=0.0)
    """
    kind = Integral if whole else Real
    wanted = f"{'a whole' if whole else 'a'} number " + (
        f"above {above:g}" if above is not None else f"from {least:g}"
    )
    good = isinstance(given, kind) and not isinstance(given, bool)
    if not (good and (given > above if above is not None else given >= least) and given < float("inf")):
        raise ValueError(f"{name} must be {wanted}, got {given!r}")


def check_choice(name: str, given: Any, choices: Any) -> None:
    """Refuse what is not one of the names.

    Examples
    --------
    >>> check_choice("solver", "qr", ["qr", "svd"])
    """
    if not (isinstance(given, str) and given in choices):
        raise ValueError(f"{name} must be one of {[*choices]}, got {given!r}")
