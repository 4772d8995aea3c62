"""The families of the columns of a table: sums of rows by class, estimates from them, scores of rows."""

from tractable.columns.categorical import BernoulliColumns, CategoricalColumns, CategoryPrior
from tractable.columns.counts import (
    CountColumns,
    MultinomialColumns,
    MultinomialPrior,
    PoissonColumns,
    RatePrior,
    log_average_counts,
    multinomial_probabilities,
)
from tractable.columns.family import ColumnFamily, Estimation
from tractable.columns.fitted import FittedColumn, FittedPrior
from tractable.columns.independent import independent_columns
from tractable.columns.joint_normal import JointNormalScores, factors, joint_estimate, joint_moments
from tractable.columns.likelihoods import ColumnLikelihoods, learn_likelihoods
from tractable.columns.membership import ClassCodes, Responsibilities, indicators
from tractable.columns.normal import NormalColumns, NormalPrior, column_variance, pooled
from tractable.columns.scores import ColumnScores, relative_scores
from tractable.columns.table import (
    ClassStatistics,
    counted_entries,
    families_of,
    fitted_columns,
    log_evidence,
)

__all__ = [
    "BernoulliColumns",
    "CategoricalColumns",
    "CategoryPrior",
    "ClassCodes",
    "ClassStatistics",
    "ColumnFamily",
    "ColumnLikelihoods",
    "ColumnScores",
    "CountColumns",
    "Estimation",
    "FittedColumn",
    "FittedPrior",
    "JointNormalScores",
    "MultinomialColumns",
    "MultinomialPrior",
    "NormalColumns",
    "NormalPrior",
    "PoissonColumns",
    "RatePrior",
    "Responsibilities",
    "column_variance",
    "counted_entries",
    "factors",
    "families_of",
    "fitted_columns",
    "independent_columns",
    "indicators",
    "joint_estimate",
    "joint_moments",
    "learn_likelihoods",
    "log_average_counts",
    "log_evidence",
    "multinomial_probabilities",
    "pooled",
    "relative_scores",
]
