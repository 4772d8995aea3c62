"""Choosing models: where errors come from, how many clusters there are, and rows kept apart to see them."""

from tractable.selection.components import select_components
from tractable.selection.n_clusters import select_n_clusters
from tractable.selection.resampling import bias_variance, train_val_test_split

__all__ = ["bias_variance", "select_components", "select_n_clusters", "train_val_test_split"]
