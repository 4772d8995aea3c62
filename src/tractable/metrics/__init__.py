"""Scores of predictions and of predictive distributions."""

from tractable.metrics.bias_variance import BiasVariance, ErrorParts, decompose
from tractable.metrics.calibration import CalibrationCurve, calibration_curve, pit_values
from tractable.metrics.calinski_harabasz import calinski_harabasz_score
from tractable.metrics.class_probabilities import (
    ClassCalibration,
    brier_score,
    class_calibration,
    log_loss,
)
from tractable.metrics.cluster_report import ClusterReport, cluster_report
from tractable.metrics.confusion import ConfusionMatrix, accuracy_score, confusion_matrix
from tractable.metrics.coverage import Coverage, interval_coverage
from tractable.metrics.crps import crps, crps_values
from tractable.metrics.davies_bouldin import davies_bouldin_score
from tractable.metrics.decision import expected_loss, least_loss
from tractable.metrics.explained import normalized_rmse, r2_score
from tractable.metrics.log_predictive_density import log_predictive_density
from tractable.metrics.mean_absolute_error import mean_absolute_error
from tractable.metrics.mean_squared_error import mean_squared_error, root_mean_squared_error
from tractable.metrics.silhouette import silhouette_samples, silhouette_score

__all__ = [
    "BiasVariance",
    "CalibrationCurve",
    "ClassCalibration",
    "ClusterReport",
    "ConfusionMatrix",
    "Coverage",
    "ErrorParts",
    "accuracy_score",
    "brier_score",
    "calibration_curve",
    "calinski_harabasz_score",
    "class_calibration",
    "cluster_report",
    "confusion_matrix",
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
    "normalized_rmse",
    "pit_values",
    "r2_score",
    "root_mean_squared_error",
    "silhouette_samples",
    "silhouette_score",
]
