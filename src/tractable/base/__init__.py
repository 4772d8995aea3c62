"""The vocabulary shared by all estimators: mixins, validation, tags. Scikit-learn enters here."""

from tractable.base.density import DensityMixin
from tractable.base.estimator import Estimator, FitInterrupted, all_or_nothing, check_fitted
from tractable.base.one_pass import NotYetDetermined, OnePassMixin
from tractable.base.parameters import check_choice, check_count, check_number, check_numbers
from tractable.base.predictive import PredictiveMixin
from tractable.base.tags import ModelTags, tags
from tractable.base.validation import (
    Rows,
    check_columns,
    check_rows,
    check_table,
    check_targets,
    check_weights,
    refuse_foreign,
)

__all__ = [
    "DensityMixin",
    "Estimator",
    "FitInterrupted",
    "ModelTags",
    "NotYetDetermined",
    "OnePassMixin",
    "PredictiveMixin",
    "Rows",
    "all_or_nothing",
    "check_choice",
    "check_columns",
    "check_count",
    "check_fitted",
    "check_number",
    "check_numbers",
    "check_rows",
    "check_table",
    "check_targets",
    "check_weights",
    "refuse_foreign",
    "tags",
]
