"""Sufficient statistics: small immutable values that merge with ``+``."""

from tractable.statistics.diagonal_moments import DiagonalMoments
from tractable.statistics.incomplete_moments import IncompleteMoments
from tractable.statistics.linear_factor import LinearFactor
from tractable.statistics.moments import Moments

__all__ = ["DiagonalMoments", "IncompleteMoments", "LinearFactor", "Moments"]
