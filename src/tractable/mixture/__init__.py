"""Mixtures and clusters: rows that come from one of several sources, unseen."""

from tractable.data.table_columns import TableColumns
from tractable.engines.kmeans import Clusters
from tractable.mixture.bayesian_gaussian import BayesianGaussianMixture
from tractable.mixture.bayesian_gaussian.model import BayesianUnits, MixturePosterior
from tractable.mixture.bayesian_gaussian.steps import GaussianBeliefs, MixturePrior
from tractable.mixture.discrete import BernoulliMixture, CategoricalMixture
from tractable.mixture.gaussian import CollapsedComponentWarning, GaussianMixture
from tractable.mixture.gaussian.model import GaussianParameters, GaussianSums
from tractable.mixture.kmeans import KMeans
from tractable.mixture.partitions import BestPartition, bell, best_partition, partitions, stirling2
from tractable.mixture.regression.estimator import (
    MixtureOfExperts,
    MixtureOfRegressors,
    NoiseCollapsedWarning,
)
from tractable.mixture.regression.model import RegressionMixture
from tractable.mixture.regression.steps import ExpectedPlanes, RegressionUnits
from tractable.mixture.selection import ComponentChoice, NumberOfClusters
from tractable.mixture.student_t import StudentTMixture
from tractable.mixture.student_t.steps import StudentTParameters, StudentTSums
from tractable.mixture.table.estimator import TableMixture
from tractable.mixture.table.model import TableEncoding, TableParameters
from tractable.mixture.table.steps import TableSums
from tractable.mixture.units import Units

__all__ = [
    "BayesianGaussianMixture",
    "BayesianUnits",
    "BernoulliMixture",
    "BestPartition",
    "CategoricalMixture",
    "Clusters",
    "CollapsedComponentWarning",
    "ComponentChoice",
    "ExpectedPlanes",
    "GaussianBeliefs",
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
    "RegressionUnits",
    "StudentTMixture",
    "StudentTParameters",
    "StudentTSums",
    "TableColumns",
    "TableEncoding",
    "TableMixture",
    "TableParameters",
    "TableSums",
    "Units",
    "bell",
    "best_partition",
    "partitions",
    "stirling2",
]
