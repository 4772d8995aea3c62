"""Mixins of classifiers: predictions from class scores, and from class densities."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from tractable.arrays.log_space import log_softmax, log_sum_exp
from tractable.base.estimator import check_answerable
from tractable.base.scores import ClassifierMixin
from tractable.data.blocks import map_rows
from tractable.distributions import Categorical
from tractable.metrics.classification import check_class_loss, least_loss
from tractable.primitives.naive_bayes import softmax_rows


def impossible(scores: np.ndarray) -> np.ndarray | None:
    """Return which rows have probability 0 under every class, all scores -inf; None where there are none."""
    if np.isfinite(scores[:, 0]).all():
        return None
    found = scores.max(axis=1) == -np.inf
    return found if found.any() else None


def decided(
    classes: np.ndarray, probabilities: np.ndarray, *, loss: Any = None, reject_loss: float | None = None
) -> np.ndarray:
    """Return the label of least expected loss of each row; None where to leave it undecided costs less."""
    check_class_loss(loss, len(classes))
    chosen = least_loss(probabilities, loss=loss, reject_loss=reject_loss)
    if reject_loss is None:
        return classes[chosen]
    found = classes.astype(object)[chosen]
    found[chosen < 0] = None
    return found


def _has_scores(classifier: Any) -> bool:
    return hasattr(classifier, "_log_scores")


class ProbabilisticClassifierMixin(ClassifierMixin):
    """`predict`, `predict_proba`, `decision_function`, `predict_dist` and `decide` of a classifier.

    A model supplies `_log_scores(X)`, log p(C_k | x) up to a constant of each row; where every score of a row
    is -inf, `_without_evidence` supplies them. Or it defines `predict` and `predict_proba` itself.
    """

    classes_: np.ndarray
    _log_scores: Callable[[Any], np.ndarray]

    def predict_dist(self, X: Any) -> Categorical:
        """Return p(C | x) as a `Categorical`, one batch entry a row; events are positions in `classes_`."""
        return Categorical(probabilities=self.predict_proba(X))

    def decide(self, X: Any, *, loss: Any = None, reject_loss: float | None = None) -> np.ndarray:
        """Return the decision of least expected loss for each row, argmin_j Σ_k L_kj p(C_k | x).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        loss : array of shape (n_classes, n_classes), optional
            L_kj, what deciding for class j costs where k is true; 1 for every mistake when not given.
        reject_loss : float, optional
            What it costs to leave a row undecided: it is (None, in an array of objects) where every decision
            is expected to cost more.
        """
        check_answerable(self)
        return decided(self.classes_, self.predict_proba(X), loss=loss, reject_loss=reject_loss)

    def _without_evidence(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Return the scores of those rows of X that have probability 0 under every class: all equal."""
        return np.zeros((int(np.count_nonzero(rows)), len(self.classes_)))

    def _scores_of_all(self, X: Any) -> np.ndarray:
        """Return scores of which at least one in every row is above -inf."""
        check_answerable(self)
        scores = self._log_scores(X)
        rows = impossible(scores)
        if rows is None:
            return scores
        scores = np.array(scores)
        scores[rows] = self._without_evidence(X, rows)
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row, (n_samples,); of tied ones the first."""
        best = np.argmax(self._scores_of_all(X), axis=1)
        return self.classes_[best]

    @available_if(_has_scores)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return log p(C_k | x) of each row, (n_samples, n_classes), in the order of `classes_`."""
        return log_softmax(self._scores_of_all(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return p(C_k | x) of each row, (n_samples, n_classes), in the order of `classes_`."""
        return map_rows(softmax_rows, self._scores_of_all(X))

    @available_if(_has_scores)
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the classes; of two, the log odds of the second against the first."""
        scores = self._scores_of_all(X)
        if len(self.classes_) != 2:
            return scores
        with np.errstate(invalid="ignore"):  # two infinite densities are equal
            return np.where(scores[:, 1] == scores[:, 0], 0.0, scores[:, 1] - scores[:, 0])


class GenerativeClassifierMixin(ProbabilisticClassifierMixin):
    """Bayes' rule, p(C_k | x) ∝ p(C_k) p(x | C_k), and the joint density of rows and classes.

    Where every class has density 0, the posterior is the prior.

    A model supplies `_log_scores(X)` as log p(x, C_k), `class_prior_`, `class_distributions_` and
    `distribution_`, their mixture.
    """

    class_prior_: np.ndarray
    class_distributions_: Any
    distribution_: Any

    def _without_evidence(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Return log p(C_k) for those rows of X that have density 0 under every class."""
        with np.errstate(divide="ignore"):
            prior = np.log(self.class_prior_)
        return np.broadcast_to(prior, (int(np.count_nonzero(rows)), len(prior)))

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Return log p(x, C_k) = log p(C_k) + log p(x | C_k) of each row, (n_samples, n_classes)."""
        check_answerable(self)
        return self._log_scores(X)

    def score_samples(self, X: Any) -> np.ndarray:
        """Return log p(x), the log density of each row whatever its class, (n_samples,)."""
        return log_sum_exp(self.predict_joint_log_proba(X), axis=1)

    def outlier_scores(self, X: Any) -> np.ndarray:
        """Return -log p(x), how unusual each row is whatever its class, (n_samples,)."""
        return -self.score_samples(X)

    def marginal(self, dims: Any) -> Any:
        """Return the distribution of some columns (names or indices): a mixture over the classes."""
        check_answerable(self)
        return self.distribution_.marginal(dims)

    def condition(self, dims: Any, values: Any = None) -> Any:
        """Return the distribution of the other columns, given the values of some: a mixture over the classes.

        `dims` and `values` are as in :meth:`tractable.base.DensityMixin.condition`.
        """
        check_answerable(self)
        return self.distribution_.condition(dims, values)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw `n_samples` new rows (n_samples, n_features), and their classes (n_samples,)."""
        check_answerable(self)
        X, codes = self.distribution_.sample_labelled(n_samples, rng=random_state)
        return X, self.classes_[codes]
