"""Inference of fitted linear and generalised linear models: tables, tests, robust covariances, influence."""

from tractable.regression_tables.collinearity import (
    CollinearityWarning,
    condition_number,
    of_columns,
    variance_inflation,
    weighted_condition_number,
    weighted_inflation,
)
from tractable.regression_tables.hypotheses import (
    HypothesisTest,
    f_test,
    likelihood_ratio_test,
    wald_interval,
    wald_test,
)
from tractable.regression_tables.influence import Influence
from tractable.regression_tables.sandwich import (
    ROBUST,
    RowScores,
    check_covariance_type,
    clustered_products,
    products_of_scores,
    sandwich,
    score_products,
    squared_factor,
)
from tractable.regression_tables.summary import RegressionSummary, coefficient_names

__all__ = [
    "ROBUST",
    "CollinearityWarning",
    "HypothesisTest",
    "Influence",
    "RegressionSummary",
    "RowScores",
    "check_covariance_type",
    "clustered_products",
    "coefficient_names",
    "condition_number",
    "f_test",
    "likelihood_ratio_test",
    "of_columns",
    "products_of_scores",
    "sandwich",
    "score_products",
    "squared_factor",
    "variance_inflation",
    "wald_interval",
    "wald_test",
    "weighted_condition_number",
    "weighted_inflation",
]
