"""Sums of kernels over points: all pairs, sorted points of a line, k-d trees, windows of different shapes."""

from tractable.primitives.kernel_sums.line import (
    LineSums,
    NearSums,
    TailSums,
    line_sums,
    near_sums,
    tail_sums,
)
from tractable.primitives.kernel_sums.local_windows import WindowBlocks, log_local_windows, window_blocks
from tractable.primitives.kernel_sums.pairs import (
    KINDS,
    NONE,
    kernel_spreads,
    left_out_scales,
    log_kernel_sums,
)
from tractable.primitives.kernel_sums.tree import TreeSums, tree_sums

__all__ = [
    "KINDS",
    "NONE",
    "LineSums",
    "NearSums",
    "TailSums",
    "TreeSums",
    "WindowBlocks",
    "kernel_spreads",
    "left_out_scales",
    "line_sums",
    "log_kernel_sums",
    "log_local_windows",
    "near_sums",
    "tail_sums",
    "tree_sums",
    "window_blocks",
]
