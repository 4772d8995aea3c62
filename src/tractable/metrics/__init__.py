"""Scores of predictions and of predictive distributions."""

from tractable.metrics.bias_variance import BiasVariance, ErrorParts, decompose
from tractable.metrics.classification import (
    ClassCalibration,
    ConfusionMatrix,
    accuracy_score,
    brier_score,
    class_calibration,
    confusion_matrix,
    expected_loss,
    least_loss,
    log_loss,
)
from tractable.metrics.clusters import (
    ClusterReport,
    calinski_harabasz_score,
    cluster_report,
    davies_bouldin_score,
    silhouette_samples,
    silhouette_score,
)
from tractable.metrics.comparison import ModelComparison, ParameterChoice, ScoreCurve
from tractable.metrics.neighborhoods import (
    NeighborhoodReport,
    continuity,
    neighborhood_preservation,
    neighborhood_report,
    trustworthiness,
)
from tractable.metrics.penalties import CVCurve
from tractable.metrics.predictive import (
    CalibrationCurve,
    Coverage,
    calibration_curve,
    crps,
    crps_values,
    interval_coverage,
    log_predictive_density,
    pit_values,
)
from tractable.metrics.regression import (
    mean_absolute_error,
    mean_squared_error,
    normalized_rmse,
    r2_score,
    root_mean_squared_error,
)

__all__ = [
    "BiasVariance",
    "CVCurve",
    "CalibrationCurve",
    "ClassCalibration",
    "ClusterReport",
    "ConfusionMatrix",
    "Coverage",
    "ErrorParts",
    "ModelComparison",
    "NeighborhoodReport",
    "ParameterChoice",
    "ScoreCurve",
    "accuracy_score",
    "brier_score",
    "calibration_curve",
    "calinski_harabasz_score",
    "class_calibration",
    "cluster_report",
    "confusion_matrix",
    "continuity",
    "crps",
    "crps_values",
    "davies_bouldin_score",
    "decompose",
    "expected_loss",
    "interval_coverage",
    "least_loss",
    "log_loss",
    "log_predictive_density",
    "mean_absolute_error",
    "mean_squared_error",
    "neighborhood_preservation",
    "neighborhood_report",
    "normalized_rmse",
    "pit_values",
    "r2_score",
    "root_mean_squared_error",
    "silhouette_samples",
    "silhouette_score",
    "trustworthiness",
]
