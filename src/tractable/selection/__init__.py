"""Model choice: comparison, leave-one-out, curves, parameters, numbers of clusters and components."""

from tractable.selection.compare import compare
from tractable.selection.components import select_components
from tractable.selection.curves import choose_parameters, learning_curve, validation_curve
from tractable.selection.leave_one_out import LeftOut, leave_one_out
from tractable.selection.n_clusters import select_n_clusters
from tractable.selection.n_components import select_n_components
from tractable.selection.nested import NestedComparison, compare_nested
from tractable.selection.resampling import bias_variance, train_val_test_split
from tractable.selection.scores import DependentRowsWarning, dependence_of_rows, log_score, log_scores

__all__ = [
    "DependentRowsWarning",
    "LeftOut",
    "NestedComparison",
    "bias_variance",
    "choose_parameters",
    "compare",
    "compare_nested",
    "dependence_of_rows",
    "learning_curve",
    "leave_one_out",
    "log_score",
    "log_scores",
    "select_components",
    "select_n_clusters",
    "select_n_components",
    "train_val_test_split",
    "validation_curve",
]
