"""Laws, shipped: a user's own distribution, statistic or estimator gets the same examination as ours.

A law is a function ``law(instance, rng)`` that raises ``AssertionError`` when the instance breaks it. Each
kind of object has a tuple of its laws, and ``check_*`` runs them all.
"""

from tractable.testing.array_laws import check_array_function
from tractable.testing.column_laws import check_columns_family
from tractable.testing.conjugate_laws import check_conjugate_model
from tractable.testing.covariance_laws import check_covariance
from tractable.testing.distribution_laws import check_distribution
from tractable.testing.em_laws import check_em
from tractable.testing.estimator_laws import check_estimator
from tractable.testing.finite_chain import FiniteChain, transition_matrix
from tractable.testing.joint_laws import check_gaussian, check_joint, check_product
from tractable.testing.kernel_laws import check_kernel
from tractable.testing.linear_estimate_laws import check_linear_estimate
from tractable.testing.loss_laws import check_loss
from tractable.testing.map_laws import check_map
from tractable.testing.mixture_laws import check_mixture
from tractable.testing.network_laws import check_network
from tractable.testing.persistence_laws import check_persistence
from tractable.testing.picture_laws import check_picture
from tractable.testing.process_laws import check_process
from tractable.testing.reference_posteriors import (
    REFERENCE_POSTERIORS,
    ReferencePosterior,
    check_reference,
)
from tractable.testing.regression_table_laws import check_regression_table
from tractable.testing.sampler_laws import (
    Calibration,
    SampledTarget,
    check_sampler,
    geweke_joint_test,
    simulation_based_calibration,
)
from tractable.testing.score_laws import check_cluster_score
from tractable.testing.statistic_laws import check_statistic
from tractable.testing.table_laws import check_table

__all__ = [
    "REFERENCE_POSTERIORS",
    "Calibration",
    "FiniteChain",
    "ReferencePosterior",
    "SampledTarget",
    "check_array_function",
    "check_cluster_score",
    "check_columns_family",
    "check_conjugate_model",
    "check_covariance",
    "check_distribution",
    "check_em",
    "check_estimator",
    "check_gaussian",
    "check_joint",
    "check_kernel",
    "check_linear_estimate",
    "check_loss",
    "check_map",
    "check_mixture",
    "check_network",
    "check_persistence",
    "check_picture",
    "check_process",
    "check_product",
    "check_reference",
    "check_regression_table",
    "check_sampler",
    "check_statistic",
    "check_table",
    "geweke_joint_test",
    "simulation_based_calibration",
    "transition_matrix",
]
