"""Scores of predictions and of predictive distributions."""

from tractable.metrics.agreement import ClusterAgreement, cluster_agreement
from tractable.metrics.bias_variance import BiasVariance, ErrorParts, decompose
from tractable.metrics.calibration import BrierParts, ClassCalibration, brier_decomposition, class_calibration
from tractable.metrics.classification import (
    ConfusionMatrix,
    accuracy_score,
    brier_score,
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
from tractable.metrics.ranking import ThresholdCurve, precision_recall_curve, roc_curve
from tractable.metrics.regression import (
    mean_absolute_error,
    mean_squared_error,
    normalized_rmse,
    r2_score,
    root_mean_squared_error,
)

__all__ = [
    "BiasVariance",
    "BrierParts",
    "CVCurve",
    "CalibrationCurve",
    "ClassCalibration",
    "ClusterAgreement",
    "ClusterReport",
    "ConfusionMatrix",
    "Coverage",
    "ErrorParts",
    "ModelComparison",
    "NeighborhoodReport",
    "ParameterChoice",
    "ScoreCurve",
    "ThresholdCurve",
    "accuracy_score",
    "brier_decomposition",
    "brier_score",
    "calibration_curve",
    "calinski_harabasz_score",
    "class_calibration",
    "cluster_agreement",
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
    "precision_recall_curve",
    "r2_score",
    "roc_curve",
    "root_mean_squared_error",
    "silhouette_samples",
    "silhouette_score",
    "trustworthiness",
]
