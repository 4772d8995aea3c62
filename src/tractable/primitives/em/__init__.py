"""One pass of EM over a block of rows: responsibilities, and the sums they weight.

`mixture_pass` and the whitened passes take complete rows; `pattern_pass` and `pattern_scores` take rows that
are grouped by which entries are observed.
"""

from tractable.primitives.em.mixture import (
    LINEAR,
    PRODUCTS,
    SQUARES,
    SUM_OF_SQUARES,
    mixture_pass,
    n_features,
    whitened_diagonal_pass,
    whitened_pass,
)
from tractable.primitives.em.patterns import (
    PatternRows,
    group_by_pattern,
    pattern_pass,
    pattern_scores,
    scores_by_pattern,
)

__all__ = [
    "LINEAR",
    "PRODUCTS",
    "SQUARES",
    "SUM_OF_SQUARES",
    "PatternRows",
    "group_by_pattern",
    "mixture_pass",
    "n_features",
    "pattern_pass",
    "pattern_scores",
    "scores_by_pattern",
    "whitened_diagonal_pass",
    "whitened_pass",
]
