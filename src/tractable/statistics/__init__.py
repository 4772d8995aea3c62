"""Sufficient statistics: small immutable values that merge with ``+``."""

from tractable.statistics.bin_counts import BinCounts, Bins, as_edges, even_edges
from tractable.statistics.by_class import ByClass
from tractable.statistics.counts import Counts, Totals
from tractable.statistics.directions import Directions
from tractable.statistics.extremes import Extremes
from tractable.statistics.incomplete_moments import IncompleteMoments
from tractable.statistics.linear_factor import LinearFactor
from tractable.statistics.log_moments import (
    LogExcess,
    LogMoments,
    MomentsOfLogarithms,
    NonnegativeMeans,
    ReciprocalLogMoments,
    UnitLogMoments,
)
from tractable.statistics.moments import DiagonalMoments, FourthMoments, Moments, cross_covariance
from tractable.statistics.rows import Statistic
from tractable.statistics.scatter_factor import ScatterFactor
from tractable.statistics.side_by_side import SideBySide
from tractable.statistics.standardizer import ColumnSummary, Standardizer, column_varies
from tractable.statistics.stored_rows import StoredRows

__all__ = [
    "BinCounts",
    "Bins",
    "ByClass",
    "ColumnSummary",
    "Counts",
    "DiagonalMoments",
    "Directions",
    "Extremes",
    "FourthMoments",
    "IncompleteMoments",
    "LinearFactor",
    "LogExcess",
    "LogMoments",
    "Moments",
    "MomentsOfLogarithms",
    "NonnegativeMeans",
    "ReciprocalLogMoments",
    "ScatterFactor",
    "SideBySide",
    "Standardizer",
    "Statistic",
    "StoredRows",
    "Totals",
    "UnitLogMoments",
    "as_edges",
    "column_varies",
    "cross_covariance",
    "even_edges",
]
