"""Mixtures and clusters: rows that come from one of several sources, unseen."""

from tractable.data.table_columns import TableColumns
from tractable.mixture.bayesian_gaussian import BayesianGaussianMixture
from tractable.mixture.bayesian_gaussian_posterior import MixturePosterior
from tractable.mixture.bayesian_gaussian_prior import BayesianUnits
from tractable.mixture.bayesian_gaussian_steps import GaussianBeliefs, MixturePrior
from tractable.mixture.bernoulli import BernoulliMixture
from tractable.mixture.categorical import CategoricalMixture
from tractable.mixture.component_choice import ComponentChoice
from tractable.mixture.experts import MixtureOfExperts
from tractable.mixture.gaussian import CollapsedComponentWarning, GaussianMixture
from tractable.mixture.gaussian_sums import GaussianParameters, GaussianSums
from tractable.mixture.kmeans import KMeans
from tractable.mixture.kmeans_steps import Clusters
from tractable.mixture.number_of_clusters import NumberOfClusters
from tractable.mixture.partitions import BestPartition, bell, best_partition, partitions, stirling2
from tractable.mixture.regression_model import RegressionMixture
from tractable.mixture.regression_shell import NoiseCollapsedWarning
from tractable.mixture.regression_steps import ExpectedPlanes
from tractable.mixture.regression_units import RegressionUnits
from tractable.mixture.regressors import MixtureOfRegressors
from tractable.mixture.student_t import StudentTMixture
from tractable.mixture.student_t_steps import StudentTParameters, StudentTSums
from tractable.mixture.table.estimator import TableMixture
from tractable.mixture.table.model import TableUnits
from tractable.mixture.table.steps import TableParameters, TableSums
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
    "TableMixture",
    "TableParameters",
    "TableSums",
    "TableUnits",
    "Units",
    "bell",
    "best_partition",
    "partitions",
    "stirling2",
]
