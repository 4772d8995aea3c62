"""The smallest estimators on the shared vocabulary: they put the mixins themselves under the laws."""

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import column_or_1d

from tractable.arrays.namespace import check_held
from tractable.base import (
    Estimator,
    ModelTags,
    OnePassEstimator,
    RegressorMixin,
    all_or_nothing,
    check_columns,
    check_fitted,
    check_rows,
)
from tractable.base.by_blocks import by_blocks, keeps_float32, of_held_rows
from tractable.distributions import Normal
from tractable.statistics import DiagonalMoments


class Average(RegressorMixin, Estimator):
    """Predicts the mean of the targets, with the spread of a new one or of the mean itself."""

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="no")

    def __sklearn_tags__(self):
        found = super().__sklearn_tags__()
        found.regressor_tags.poor_score = True  # it does not look at X
        return found

    @all_or_nothing(afresh=True)
    def fit(self, X, y, sample_weight=None):
        check_held("X", X)
        rows = check_rows(self, X, y, sample_weight, reset=True, supervised=True)
        held = rows.source.collect()  # whose columns may be named
        y, w = column_or_1d(held.y, warn=True), held.row_weights
        self.mean_ = np.average(y, weights=w)
        self.variance_ = np.average((y - self.mean_) ** 2, weights=w) + 1e-12
        self.weight_ = w.sum()
        return self

    @of_held_rows
    def predict_dist(self, X, *, include_noise=True):
        check_fitted(self)
        n = len(check_columns(self, X))
        spread = self.variance_ / self.weight_ + (self.variance_ if include_noise else 0.0)
        return Normal(mean=np.full(n, self.mean_), variance=spread)


class Standardiser(TransformerMixin, OnePassEstimator):
    """Moves and scales every column to mean zero and variance one."""

    model_tags = ModelTags(kind="mapping", parametric=True, streaming="exact in one pass")

    def _statistic(self):
        return DiagonalMoments.of

    def _learn(self, statistic):
        self.statistic_ = statistic
        variances = statistic.scatter / statistic.weight
        self.scale_ = np.sqrt(np.where(variances > 0, variances, 1.0))

    @by_blocks
    @keeps_float32
    def transform(self, X):
        check_fitted(self)
        return (check_columns(self, X) - self.statistic_.mean) / self.scale_

    def get_feature_names_out(self, input_features=None):
        return np.asarray(getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)]))
