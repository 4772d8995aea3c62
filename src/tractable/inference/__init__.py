"""The former name of :mod:`tractable.regression_tables`, kept so that imports of it work."""

from tractable.regression_tables import *  # noqa: F403
from tractable.regression_tables import __all__ as _tables
from tractable.selection import NestedComparison, compare_nested

__all__ = [*_tables, "NestedComparison", "compare_nested"]  # noqa: PLE0604
