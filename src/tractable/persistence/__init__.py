"""Save and load: arrays and JSON in one file, in which nothing can run code."""

from tractable.persistence.verbs import checkpoint, load, save

__all__ = ["checkpoint", "load", "save"]
