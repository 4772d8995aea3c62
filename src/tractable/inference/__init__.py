"""Inference of fitted linear and generalised linear models: tables, tests, robust covariances, influence."""

from tractable.inference.collinearity import (
    CollinearityWarning,
    condition_number,
    of_columns,
    variance_inflation,
    weighted_condition_number,
    weighted_inflation,
)
from tractable.inference.hypotheses import (
    HypothesisTest,
    f_test,
    likelihood_ratio_test,
    wald_interval,
    wald_test,
)
from tractable.inference.influence import Influence
from tractable.inference.nested import NestedComparison, compare_nested
from tractable.inference.sandwich import (
    ROBUST,
    check_covariance_type,
    clustered_products,
    products_of_scores,
    sandwich,
    score_products,
    squared_factor,
)
from tractable.inference.summary import RegressionSummary, coefficient_names

__all__ = [
    "ROBUST",
    "CollinearityWarning",
    "HypothesisTest",
    "Influence",
    "NestedComparison",
    "RegressionSummary",
    "check_covariance_type",
    "clustered_products",
    "coefficient_names",
    "compare_nested",
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
