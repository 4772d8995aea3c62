"""The laws reject the classic bugs of naive Bayes."""

import numpy as np
import pytest

from tractable.classification import CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes
from tractable.testing import classifier_laws, estimator_laws
from tractable.value import replace


class ForgetsPriors(GaussianNB):
    """Scores classes by their likelihoods alone, and says that it knows how often they come."""

    def _joint(self, X, *, relative):
        return super()._joint(X, relative=relative) - np.log(self.class_prior_)


class ForgetsWeights(NaiveBayes):
    """Counts every row once."""

    def _fold(self, subject, X, y, sample_weight, **options):
        return super()._fold(subject, X, y, None, **options)


class SmoothsByTheLastPiece(GaussianNB):
    """Takes variances for smoothing from the rows it saw last: pieces do not make the whole."""

    def _learn_more(self, X, y, sample_weight):
        self.var_smoothing = 0.1 * float(np.var(X))
        super()._learn_more(X, y, sample_weight)


class SmoothsInUnits(NaiveBayes):
    """Adds to variances a number that has units."""

    def _learn(self, statistic):
        super()._learn(statistic)
        fitted = self._fitted_columns_
        self._fitted_columns_ = replace(fitted, variance=fitted.variance + 1e-9)


class MultipliesProbabilities(MultinomialNB):
    """Scores rows by the shares alone: the density is not that of what it draws."""

    def _joint(self, X, *, relative):
        return np.asarray(X, dtype=float) @ self.feature_log_prob_.T + self.class_log_prior_


class PrefersLaterClasses(CategoricalNB):
    """Has an opinion that is in none of its distributions."""

    def _class_scores(self, X):
        return super()._class_scores(X) + 0.1 * np.arange(len(self.classes_))


@pytest.mark.parametrize(
    ("mutant", "good", "law"),
    [
        (ForgetsPriors(), GaussianNB(), estimator_laws.density_questions_agree),
        (ForgetsWeights(), NaiveBayes(), estimator_laws.weights_are_repetitions),
        (SmoothsByTheLastPiece(), GaussianNB(), estimator_laws.pieces_make_the_whole),
        (SmoothsInUnits(), NaiveBayes(), estimator_laws.extreme_scales_change_the_scale_alone),
        (MultipliesProbabilities(), MultinomialNB(), estimator_laws.density_questions_agree),
        (PrefersLaterClasses(), CategoricalNB(), classifier_laws.generative_models_obey_bayes),
    ],
    ids=lambda x: type(x).__name__ if hasattr(x, "fit") else getattr(x, "__name__", None),
)
def test_the_law_rejects(mutant, good, law):
    law(good, np.random.default_rng(0))
    with pytest.raises(AssertionError):
        law(mutant, np.random.default_rng(0))
