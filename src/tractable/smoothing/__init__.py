"""Smoothing kernels, sums of them, and bandwidths."""

from tractable.smoothing.grid import GridDensity, binned_density
from tractable.smoothing.rows import unrolled
from tractable.smoothing.rules import improved_sheather_jones, scott, silverman
from tractable.smoothing.selection import (
    BandwidthSearch,
    UnsettledBandwidthWarning,
    loo_nll,
    lscv,
    select_bandwidth,
)
from tractable.smoothing.sums import WindowSums
from tractable.smoothing.windows import WINDOWS, Window, check_window

__all__ = [
    "WINDOWS",
    "BandwidthSearch",
    "GridDensity",
    "UnsettledBandwidthWarning",
    "Window",
    "WindowSums",
    "binned_density",
    "check_window",
    "improved_sheather_jones",
    "loo_nll",
    "lscv",
    "scott",
    "select_bandwidth",
    "silverman",
    "unrolled",
]
