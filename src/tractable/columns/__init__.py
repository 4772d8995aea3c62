"""The families of the columns of a table: sums of rows by class, estimates from them, scores of rows."""

from tractable.columns.categorical import BernoulliColumns, CategoricalColumns, CategoryPrior
from tractable.columns.counts import CountColumns, MultinomialColumns, PoissonColumns, RatePrior
from tractable.columns.family import ColumnFamily, Estimation
from tractable.columns.fitted import FittedColumn
from tractable.columns.independent import independent_columns
from tractable.columns.likelihoods import ColumnLikelihoods, learn_likelihoods
from tractable.columns.membership import ClassCodes, Responsibilities, indicators
from tractable.columns.normal import NormalColumns, NormalPrior
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
    "MultinomialColumns",
    "NormalColumns",
    "NormalPrior",
    "PoissonColumns",
    "RatePrior",
    "Responsibilities",
    "counted_entries",
    "families_of",
    "fitted_columns",
    "independent_columns",
    "indicators",
    "learn_likelihoods",
    "log_evidence",
    "relative_scores",
]
