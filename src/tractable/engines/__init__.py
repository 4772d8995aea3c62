"""Loops that know no model: the fold, expectation-maximisation, Newton's method."""

from tractable.engines.em import EMResult, em
from tractable.engines.fold import fold
from tractable.engines.newton import NewtonResult, newton

__all__ = ["EMResult", "NewtonResult", "em", "fold", "newton"]
