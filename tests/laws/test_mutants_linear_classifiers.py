"""The laws of classifiers reject the classic mistakes of linear classifiers and posteriors of them."""

import numpy as np
import pytest
from scipy.special import expit

from tractable.classification import BayesianLogisticRegression, Perceptron
from tractable.data import Source
from tractable.testing import classifier_laws, estimator_laws


class IndependentSigmoids(BayesianLogisticRegression):
    """A sigmoid for every class: of three they do not add up to one."""

    def predict_proba(self, X):
        return expit(self._design(X) @ (self._contrasts_ @ self._mode_).T)


class DecidesByTheFirstPlane(BayesianLogisticRegression):
    """Positive where the first class is."""

    def predict(self, X):
        return self.classes_[(self.decision_function(X) < 0).astype(int)]


class TiesCostNothing(BayesianLogisticRegression):
    """Takes the most probable class whatever a mistake costs."""

    def decide(self, X, *, loss=None, reject_loss=None):
        return super().decide(X)


class ForgetsWeights(BayesianLogisticRegression):
    """Every row counts once."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y)


class WalksOneBatch(Perceptron):
    """Stops after two rows of the first batch."""

    def _pass(self, rows, rng):
        super()._pass(next(iter(rows.batches()))[:2] if isinstance(rows, Source) else rows, rng)


class CodesForLabels(Perceptron):
    """Answers in places, and not in labels."""

    def predict(self, X):
        return np.searchsorted(self.classes_, super().predict(X))


MUTANTS = [
    (classifier_laws.probabilities_sum_to_one, IndependentSigmoids),
    (classifier_laws.the_most_probable_class_is_predicted, DecidesByTheFirstPlane),
    pytest.param(classifier_laws.decisions_follow_their_losses, TiesCostNothing, marks=pytest.mark.slow),
    (estimator_laws.weights_are_repetitions, ForgetsWeights),
    (estimator_laws.batches_are_rows, WalksOneBatch),
    pytest.param(classifier_laws.labels_are_names, CodesForLabels, marks=pytest.mark.slow),
]


@pytest.mark.spec("E004-21")
@pytest.mark.parametrize(("law", "mutant"), MUTANTS, ids=lambda part: part.__name__)
def test_laws_reject(law, mutant, rng):
    law(next(base for base in mutant.__mro__ if base in (BayesianLogisticRegression, Perceptron))(), rng)
    with pytest.raises(AssertionError):
        law(mutant(), rng)
