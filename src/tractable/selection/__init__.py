"""Choosing models: where errors come from, and rows kept apart to see them."""

from tractable.selection.bias_variance import bias_variance
from tractable.selection.split import train_val_test_split

__all__ = ["bias_variance", "train_val_test_split"]
