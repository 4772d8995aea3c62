"""How many there are of a thing, in words."""

from tractable.data.names import number_of

__all__ = ["number_of"]
