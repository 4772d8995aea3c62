"""The vocabulary shared by all estimators: mixins, validation, tags. Scikit-learn enters here."""

from tractable.base.classifier import ClassifierMixin
from tractable.base.density import CriteriaMixin, DegenerateCovarianceWarning, DensityMixin
from tractable.base.em import EMEstimator
from tractable.base.estimator import (
    Estimator,
    FitInterrupted,
    ModelTags,
    all_or_nothing,
    check_answerable,
    check_fitted,
    tags,
)
from tractable.base.labels import check_class_rows, check_labels, classes_of
from tractable.base.one_pass import OnePassEstimator
from tractable.base.parameters import check_choice, check_count, check_number, check_numbers, check_values
from tractable.base.regressor import RegressorMixin
from tractable.base.sample_posterior import sample_posterior
from tractable.base.validation import (
    Rows,
    check_columns,
    check_rows,
    check_table,
    check_targets,
    check_weights,
    refuse_foreign,
)
from tractable.statistics.rows import NotYetDetermined

__all__ = [
    "ClassifierMixin",
    "CriteriaMixin",
    "DegenerateCovarianceWarning",
    "DensityMixin",
    "EMEstimator",
    "Estimator",
    "FitInterrupted",
    "ModelTags",
    "NotYetDetermined",
    "OnePassEstimator",
    "RegressorMixin",
    "Rows",
    "all_or_nothing",
    "check_answerable",
    "check_choice",
    "check_class_rows",
    "check_columns",
    "check_count",
    "check_fitted",
    "check_labels",
    "check_number",
    "check_numbers",
    "check_rows",
    "check_table",
    "check_targets",
    "check_values",
    "check_weights",
    "classes_of",
    "refuse_foreign",
    "sample_posterior",
    "tags",
]
