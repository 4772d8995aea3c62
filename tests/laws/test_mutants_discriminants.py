"""The laws of classifiers reject the classic mistakes of discriminants."""

import numpy as np
import pytest

from tractable.classification import (
    FisherDiscriminant,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LinearDiscriminant,
    QuadraticDiscriminant,
)
from tractable.classification.discriminant.linear import linear_scores
from tractable.density import GaussianDensity, Histogram
from tractable.statistics import ByClass, FourthMoments
from tractable.testing import classifier_laws, estimator_laws, statistic_laws
from tractable.value import replace

SKEWED = {"priors": [0.7, 0.2, 0.1]}


class ForgetsThePriors(LinearDiscriminant):
    """Planes of classes that are all as frequent."""

    def _fit_covariance(self, moments):
        super()._fit_covariance(moments)
        equal = np.full(len(self.classes_), 1.0 / len(self.classes_))
        self._scores_ = linear_scores(self.means_, equal, self.class_distributions_.structure)


class CountsRowsAndNotWeights(QuadraticDiscriminant):
    """Priors by how many rows a class has, whatever they weigh."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.class_prior_ = np.unique(y, return_counts=True)[1] / len(y)
        self.distribution_ = replace(self.distribution_, weights=self.class_prior_)
        return self


class KeepsTheLastPiece(QuadraticDiscriminant):
    """What was known of a class is replaced by its latest rows."""

    def _learn_more(self, X, y, sample_weight):
        before = getattr(self, "statistic_", None)
        if before is not None:
            more = self.summarize(X, y, sample_weight)
            kept = [(label, part) for label, part in before if label not in set(more.labels.tolist())]
            self.statistic_ = ByClass(
                labels=np.array([label for label, _ in kept]),
                parts=tuple(part for _, part in kept),
                dim=before.dim,
            )
        super()._learn_more(X, y, sample_weight)


class ForgetsTheSpreadWithin(FisherDiscriminant):
    """The direction from mean to mean, however the classes are shaped."""

    def _set_directions(self, moments):
        super()._set_directions(moments)
        step = moments.mean[1] - moments.mean[0]
        spread = step @ self.within_scatter_ @ step / moments.weight.sum()
        self.scalings_ = step[:, None] / np.sqrt(spread)


class FitsThroughTheOrigin(LeastSquaresClassifier):
    """Planes without intercepts: outputs are not one in sum."""

    def outputs(self, X):
        return X @ self._solution_.coef.T


class SortsLabelsByCode(LeastSquaresClassifier):
    """Names follow the order of first appearance, planes that of the names."""

    def _learn(self, statistic):
        super()._learn(statistic)
        self.classes_ = self.classes_[::-1]


class ForgetsToNormalise(GenerativeClassifier):
    """Class densities are taken for probabilities."""

    def predict_log_proba(self, X):
        return self._class_scores(X)


class CountsThePriorTwice(GenerativeClassifier):
    """The joint has the prior squared."""

    def predict_joint_log_proba(self, X):
        return super().predict_joint_log_proba(X) + np.log(self.class_prior_)


class DrawsClassByClass(GenerativeClassifier):
    """Rows come sorted by class, labels as they were drawn."""

    def sample(self, n_samples=1, *, random_state=None):
        X, y = super().sample(n_samples, random_state=random_state)
        return X[np.argsort(y, kind="stable")], y


class DrawsClassesAlike(GenerativeClassifier):
    """Whatever the priors are."""

    def sample(self, n_samples=1, *, random_state=None):
        rng = np.random.default_rng(random_state)
        y = rng.integers(0, len(self.classes_), n_samples)
        X = np.stack([self.estimators_[k].sample(1, random_state=rng)[0] for k in y])
        return X, self.classes_[y]


class TakesOddsOfNothing(GenerativeClassifier):
    """Where all densities are 0, their ratio is taken all the same."""

    def _scores_of_all(self, X):
        return self._class_scores(X)


class KeepsLabelsInLists(QuadraticDiscriminant):
    """What comes back is of the type that Python's own numbers and words make."""

    def _learn(self, statistic):
        super()._learn(statistic)
        self.classes_ = np.array(self.classes_.tolist())


class TakesNoneForAName(LinearDiscriminant):
    """A missing label in a batch is a class of its own."""

    def _fold(self, subject, X, y, sample_weight, **options):
        if isinstance(X, list) and len(X[0]) == 2:
            X = [(x, np.array([str(label) for label in labels])) for x, labels in X]
        return super()._fold(subject, X, y, sample_weight, **options)


class MergesWithoutTheStep(FourthMoments):
    """Powers are added as they are, though they are about other means."""

    def __add__(self, other):
        both = super().__add__(other)
        return replace(both, fourth=self.fourth + other.fourth)


MUTANTS = [
    (
        classifier_laws.generative_models_obey_bayes,
        lambda kind: kind(**SKEWED),
        LinearDiscriminant,
        ForgetsThePriors,
    ),
    (
        estimator_laws.weights_are_repetitions,
        lambda kind: kind(),
        QuadraticDiscriminant,
        CountsRowsAndNotWeights,
    ),
    (estimator_laws.pieces_make_the_whole, lambda kind: kind(), QuadraticDiscriminant, KeepsTheLastPiece),
    (classifier_laws.labels_are_names, lambda kind: kind(), LeastSquaresClassifier, SortsLabelsByCode),
    (
        classifier_laws.probabilities_sum_to_one,
        lambda kind: kind(GaussianDensity()),
        GenerativeClassifier,
        ForgetsToNormalise,
    ),
    (
        classifier_laws.generative_models_obey_bayes,
        lambda kind: kind(GaussianDensity(), priors=[0.7, 0.2, 0.1]),
        GenerativeClassifier,
        CountsThePriorTwice,
    ),
    (
        classifier_laws.samples_are_of_their_classes,
        lambda kind: kind(GaussianDensity()),
        GenerativeClassifier,
        DrawsClassByClass,
    ),
    (
        classifier_laws.samples_are_of_their_classes,
        lambda kind: kind(GaussianDensity()),
        GenerativeClassifier,
        DrawsClassesAlike,
    ),
    (
        classifier_laws.every_finite_row_is_answered,
        lambda kind: kind(Histogram()),
        GenerativeClassifier,
        TakesOddsOfNothing,
    ),
    (classifier_laws.labels_are_names, lambda kind: kind(), QuadraticDiscriminant, KeepsLabelsInLists),
    (
        classifier_laws.bad_labels_are_one_clear_error,
        lambda kind: kind(),
        LinearDiscriminant,
        TakesNoneForAName,
    ),
]


@pytest.mark.parametrize(("law", "make", "good", "bad"), MUTANTS)
def test_the_laws_have_power(law, make, good, bad, rng):
    law(make(good), rng)
    with pytest.raises((AssertionError, FloatingPointError)):
        law(make(bad), rng)


def test_powers_about_other_means_are_found_out(rng):
    law = statistic_laws.sum_is_the_statistic_of_both
    law(FourthMoments, rng)
    with pytest.raises(AssertionError):
        law(MergesWithoutTheStep, rng)


def test_directions_that_forget_the_spread_are_found_out(rng):
    """No direction has a larger ratio of the scatters than the one that was found."""
    X = rng.standard_normal((80, 3)) @ np.array([[1.0, 0.9, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, 5.0]])
    y = np.arange(80) % 2
    X[y == 1] += [0.0, 1.0, 2.0]

    def is_the_best(kind):
        model = kind().fit(X, y)
        tried = np.column_stack([model.scalings_, rng.standard_normal((3, 300))])
        between = np.einsum("in,ij,jn->n", tried, model.between_scatter_, tried)
        within = np.einsum("in,ij,jn->n", tried, model.within_scatter_, tried)
        assert np.argmax(between / within) == 0

    is_the_best(FisherDiscriminant)
    with pytest.raises(AssertionError):
        is_the_best(ForgetsTheSpreadWithin)


def test_outputs_that_are_not_one_in_sum_are_found_out(rng):
    X, y = rng.standard_normal((40, 2)) + 3.0, np.arange(40) % 3

    def is_one_in_sum(kind):
        np.testing.assert_allclose(kind().fit(X, y).outputs(X).sum(axis=1), 1.0)

    is_one_in_sum(LeastSquaresClassifier)
    with pytest.raises(AssertionError):
        is_one_in_sum(FitsThroughTheOrigin)


def test_labels_that_do_not_follow_their_rows_are_found_out(rng):
    y = np.arange(60) % 2
    X = rng.standard_normal((60, 2)) + 20.0 * y[:, None]

    def labels_are_of_their_rows(kind):
        drawn, labels = kind(GaussianDensity()).fit(X, y).sample(30, random_state=0)
        np.testing.assert_array_equal(labels, (drawn[:, 0] > 10.0).astype(int))

    labels_are_of_their_rows(GenerativeClassifier)
    with pytest.raises(AssertionError):
        labels_are_of_their_rows(DrawsClassByClass)
