"""Text for terminals: signs that steer one instead of showing something are taken out."""

import re

__all__ = ["printable", "spelled"]

#: Control signs, escape codes among them, and those that turn the direction of what follows.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Return text in which signs that steer a terminal are replaced: names come from files of others.

    Examples
    --------
    >>> print(printable("a name \x1b[31min red"))
    a name �[31min red
    """
    return STEERING.sub("\ufffd", text)


def spelled(text: str) -> str:
    r"""Return JSON in which such signs are spelled out, so that programs get them as they are.

    Examples
    --------
    >>> print(spelled('"\x9b31m"'))
    "\u009b31m"
    """
    return STEERING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)
