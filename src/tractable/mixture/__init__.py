"""Mixture models and clustering: rows that come from one of several latent components."""

from tractable.data.table_columns import TableColumns
from tractable.engines.kmeans import Clusters
from tractable.mixture.base import CollapsedComponentWarning
from tractable.mixture.bayesian_gaussian import (
    BayesianGaussianMixture,
    MixturePosterior,
    MixturePrior,
    VariationalParameters,
)
from tractable.mixture.discrete import BernoulliMixture, CategoricalMixture
from tractable.mixture.gaussian import GaussianMixture, GaussianParameters, GaussianSums
from tractable.mixture.kmeans import KMeans
from tractable.mixture.partitions import BestPartition, bell, best_partition, partitions, stirling2
from tractable.mixture.regression import (
    ExpectedRegressions,
    MixtureOfExperts,
    MixtureOfRegressors,
    NoiseCollapsedWarning,
    RegressionMixture,
)
from tractable.mixture.selection import ComponentChoice, NumberOfClusters
from tractable.mixture.student_t import StudentTMixture, StudentTParameters, StudentTSums
from tractable.mixture.table.estimator import TableMixture
from tractable.mixture.table.model import TableEncoding, TableParameters
from tractable.mixture.table.steps import TableSums

__all__ = [
    "BayesianGaussianMixture",
    "BernoulliMixture",
    "BestPartition",
    "CategoricalMixture",
    "Clusters",
    "CollapsedComponentWarning",
    "ComponentChoice",
    "ExpectedRegressions",
    "GaussianMixture",
    "GaussianParameters",
    "GaussianSums",
    "KMeans",
    "MixtureOfExperts",
    "MixtureOfRegressors",
    "MixturePosterior",
    "MixturePrior",
    "NoiseCollapsedWarning",
    "NumberOfClusters",
    "RegressionMixture",
    "StudentTMixture",
    "StudentTParameters",
    "StudentTSums",
    "TableColumns",
    "TableEncoding",
    "TableMixture",
    "TableParameters",
    "TableSums",
    "VariationalParameters",
    "bell",
    "best_partition",
    "partitions",
    "stirling2",
]
