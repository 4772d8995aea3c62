"""The vocabulary shared by all estimators: mixins, validation, tags. Scikit-learn enters here."""

from tractable.base.density import DensityMixin
from tractable.base.estimator import Estimator, all_or_nothing, check_fitted
from tractable.base.one_pass import OnePassMixin
from tractable.base.predictive import PredictiveMixin
from tractable.base.tags import ModelTags, tags
from tractable.base.validation import Rows, check_columns, check_rows, check_targets, check_weights

__all__ = [
    "DensityMixin",
    "Estimator",
    "ModelTags",
    "OnePassMixin",
    "PredictiveMixin",
    "Rows",
    "all_or_nothing",
    "check_columns",
    "check_fitted",
    "check_rows",
    "check_targets",
    "check_weights",
    "tags",
]
