"""Model choice: numbers of clusters and components, splits of rows, bias and variance."""

from tractable.selection.components import select_components
from tractable.selection.n_clusters import select_n_clusters
from tractable.selection.resampling import bias_variance, train_val_test_split

__all__ = ["bias_variance", "select_components", "select_n_clusters", "train_val_test_split"]
