"""Bad input is one ValueError that names the argument."""

from collections.abc import Callable
from typing import Any

__all__ = ["refused"]


def refused(call: Callable[[], Any], named: str) -> None:
    """Raise AssertionError unless the call raises a ValueError that names the argument."""
    try:
        call()
    except ValueError as error:
        assert named in str(error), f"the error does not name {named!r}: {error}"
    else:
        raise AssertionError(f"bad {named} was accepted")
