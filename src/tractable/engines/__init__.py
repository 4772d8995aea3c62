"""Loops that know no model: the fold, expectation-maximisation, Newton's method."""

from tractable.engines.em import EMResult, em
from tractable.engines.fold import fold

__all__ = ["EMResult", "em", "fold"]
