"""Options of pictures: one that there is not is refused by naming those that there are."""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

__all__ = ["UnknownOptionError", "check_options", "with_options"]


class UnknownOptionError(TypeError):
    """An option that a picture does not take."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name, self.known = name, tuple(dict.fromkeys(known))
        super().__init__(f"unknown option {name!r}: this picture takes {', '.join(['ax', *self.known])}")


def with_options(drawing: Callable[..., Any], x: Any, ax: Any, options: Mapping[str, Any]) -> Any:
    """Draw x with the options, unless there is one that the drawing does not take."""
    own = check_options(drawing, options)
    try:
        return drawing(x, ax, **options)
    except UnknownOptionError as error:
        if error.name in own:
            raise
        # What this one takes and what it hands on to are both there to be chosen from.
        raise UnknownOptionError(error.name, [*own, *error.known]) from None


def check_options(drawing: Callable[..., Any], options: Mapping[str, Any]) -> list[str]:
    """Return the options that a drawing names; refuse others, unless it hands them on."""
    found = signature(drawing).parameters.values()
    own = [one.name for one in found if one.kind is Parameter.KEYWORD_ONLY]
    wrong = [name for name in options if name not in own]
    if wrong and not any(one.kind is Parameter.VAR_KEYWORD for one in found):
        raise UnknownOptionError(wrong[0], own)
    return own
