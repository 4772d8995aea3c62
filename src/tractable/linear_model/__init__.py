"""Linear models: estimators, thin shells around statistics and engines."""

from tractable.linear_model.linear_regression import LinearRegression

__all__ = ["LinearRegression"]
