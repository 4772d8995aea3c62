"""E-steps over rows with missing entries, grouped by which are missing."""

from tractable.base import Rows
from tractable.mixture.units import Units

__all__ = ["IncompleteRows"]


class IncompleteRows:
    """Rows grouped by pattern once, and the passes over them."""

    def __init__(self, rows: Rows, units: Units) -> None:
        self.rows, self.units = rows, units
