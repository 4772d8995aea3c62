"""What is wrong with a table."""

__all__ = ["TableError"]


class TableError(ValueError):
    """What is wrong with a table, in one sentence."""
