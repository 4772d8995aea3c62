"""Classification: decisions and probabilities from class scores, and densities of generative classifiers."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import base
from sklearn.utils.metaestimators import available_if

from tractable.arrays.devices import beside
from tractable.arrays.log_space import log_softmax, log_sum_exp
from tractable.arrays.namespace import (
    all_true,
    check_held,
    is_array_api_obj,
    is_foreign_array,
    namespace_of,
    to_numpy,
)
from tractable.arrays.random import either_seed_name
from tractable.base.by_blocks import by_blocks
from tractable.base.estimator import all_or_nothing, check_answerable
from tractable.base.labels import check_labels
from tractable.base.scores import CorrectlyClassified, reduced, rows_in_memory
from tractable.data import is_streamed
from tractable.data.blocks import map_rows
from tractable.distributions import Categorical
from tractable.metrics.classification import check_class_loss, least_loss
from tractable.primitives.naive_bayes import softmax_rows


def impossible(scores: np.ndarray) -> np.ndarray | None:
    """Return which rows have probability 0 under every class, all scores -inf; None where there are none."""
    xp = namespace_of(scores)
    if all_true(xp.isfinite(scores[:, 0])):
        return None
    found = xp.max(scores, axis=1) == -xp.inf
    return found if bool(xp.any(found)) else None


def decided(
    classes: np.ndarray, probabilities: np.ndarray, *, loss: Any = None, reject_loss: float | None = None
) -> np.ndarray:
    """Return the label of least expected loss of each row; None where to reject has a lower one."""
    check_class_loss(loss, classes.shape[0])
    if is_foreign_array(probabilities):
        if reject_loss is not None:
            raise ValueError("reject_loss gives None among labels, which no tensor holds: convert X to NumPy")
        n_classes = classes.shape[0]
        losses = 1.0 - np.eye(n_classes) if loss is None else np.asarray(loss, dtype=np.float64)
        risk = probabilities @ beside(losses, probabilities)
        return label_at(classes, namespace_of(risk).argmin(risk, axis=1))
    chosen = least_loss(probabilities, loss=loss, reject_loss=reject_loss)
    if reject_loss is None:
        return classes[chosen]
    found = classes.astype(object)[chosen]
    found[chosen < 0] = None
    return found


def label_at(classes: np.ndarray, codes: Any) -> Any:
    """Return the label of each code; words, which no tensor holds, as an array of the host."""
    if is_foreign_array(codes) and not is_foreign_array(classes):
        codes = to_numpy(codes)
    return namespace_of(classes).take(classes, codes, axis=0)


def _accuracy(predicted: Any, y: Any, weights: Any) -> float:
    """Return the fraction of rows, by weight, whose label is predicted."""
    xp = namespace_of(predicted)
    hits = xp.astype(predicted == beside(y if is_array_api_obj(y) else np.asarray(y), predicted), xp.float64)
    w = xp.ones_like(hits) if weights is None else beside(weights, hits)
    return float(hits @ w / xp.sum(w))


def _has_scores(classifier: Any) -> bool:
    return hasattr(classifier, "_class_scores")


def _is_probabilistic(classifier: Any) -> bool:
    return bool(classifier.model_tags.kind != "mapping")


def _is_generative(classifier: Any) -> bool:
    return bool(classifier.model_tags.kind == "generative")


def _is_one_pass(classifier: Any) -> bool:
    return hasattr(classifier, "_learn_more")


class ClassifierMixin(base.ClassifierMixin):
    """The methods of a classifier, by the kind of model that it is (:func:`tractable.tags`).

    - Every one: `predict`, `decision_function` and `score`. A model supplies `_class_scores(X)`, a column a
      class, of which the largest wins; or it defines `predict` itself.
    - Of kind "discriminative", p(C_k | x): `predict_proba`, `predict_log_proba`, `predict_dist` and `decide`.
      The scores are log p(C_k | x) up to a constant of each row; where all scores of a row are -inf,
      the classes are equally probable. Or the model defines `predict_proba` itself.
    - Of kind "generative", p(x, C_k), also `predict_joint_log_proba`, `score_samples`, `outlier_scores`,
      `marginal`, `condition` and `sample`. The scores are log p(x, C_k), and where all are -inf the posterior
      is the prior. The model sets `class_prior_`, `class_distributions_` and `distribution_`, their mixture.
    - Of a model exact in one pass (:class:`tractable.base.OnePassEstimator`): `partial_fit` with `classes`.
    """

    _sparse_methods: ClassVar[tuple[str, ...]] = (
        "predict",
        "predict_proba",
        "predict_log_proba",
        "decision_function",
    )
    classes_: np.ndarray
    class_prior_: np.ndarray
    class_distributions_: Any
    distribution_: Any
    _class_scores: Callable[[Any], np.ndarray]

    @by_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the largest score of each row, the most probable; of tied ones the first."""
        scores = self._scores_of_all(X)
        return label_at(self.classes_, namespace_of(scores).argmax(scores, axis=1))

    @available_if(_has_scores)
    @by_blocks
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the classes; of two, the second less the first: of probabilities, log odds."""
        scores = self._scores_of_all(X)
        if self.classes_.shape[0] != 2:
            return scores
        xp = namespace_of(scores)
        with np.errstate(invalid="ignore"):  # two infinite densities are equal
            return xp.where(scores[:, 1] == scores[:, 0], 0.0, scores[:, 1] - scores[:, 0])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy, the fraction of rows whose class is predicted.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,) or column name
            Classes; sources have their own.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        check_answerable(self)
        if is_foreign_array(X):
            return _accuracy(self.predict(X), y, sample_weight)
        if not is_streamed(X):
            return float(super().score(*rows_in_memory(self, X, y, sample_weight)))
        hits, weight = reduced(self, X, y, sample_weight, CorrectlyClassified)
        return float(hits / weight)

    @available_if(_is_probabilistic)
    @by_blocks
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return p(C_k | x) of each row, (n_samples, n_classes), in the order of `classes_`."""
        return map_rows(softmax_rows, self._scores_of_all(X))

    @available_if(lambda self: _has_scores(self) and _is_probabilistic(self))
    @by_blocks
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return log p(C_k | x) of each row, (n_samples, n_classes), in the order of `classes_`."""
        return log_softmax(self._scores_of_all(X))

    @available_if(_is_probabilistic)
    def predict_dist(self, X: Any) -> Categorical:
        """Return p(C | x) as a `Categorical`, one batch entry a row; events are positions in `classes_`."""
        check_held("X", X)
        return Categorical(probabilities=self.predict_proba(X))

    @available_if(_is_probabilistic)
    @by_blocks
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

    @available_if(_is_generative)
    @by_blocks
    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Return log p(x, C_k) = log p(C_k) + log p(x | C_k) of each row, (n_samples, n_classes)."""
        check_answerable(self)
        return self._class_scores(X)

    @available_if(_is_generative)
    @by_blocks
    def score_samples(self, X: Any) -> np.ndarray:
        """Return log p(x), the log density of each row whatever its class, (n_samples,)."""
        return log_sum_exp(self.predict_joint_log_proba(X), axis=1)

    @available_if(_is_generative)
    @by_blocks
    def outlier_scores(self, X: Any) -> np.ndarray:
        """Return -log p(x), how unusual each row is whatever its class, (n_samples,)."""
        return -self.score_samples(X)

    @available_if(_is_generative)
    def marginal(self, dims: Any) -> Any:
        """Return the distribution of some columns (names or indices): a mixture over the classes."""
        check_answerable(self)
        return self.distribution_.marginal(dims)

    @available_if(_is_generative)
    def condition(self, dims: Any, values: Any = None) -> Any:
        """Return the distribution of the other columns, given the values of some: a mixture over the classes.

        `dims` and `values` are as in `GaussianDensity.condition`.
        """
        check_answerable(self)
        return self.distribution_.condition(dims, values)

    @available_if(_is_generative)
    @either_seed_name
    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw `n_samples` new rows (n_samples, n_features), and their classes (n_samples,)."""
        check_answerable(self)
        X, codes = self.distribution_.sample_labelled(n_samples, rng=random_state)
        return X, label_at(self.classes_, codes)

    @available_if(_is_one_pass)
    @all_or_nothing(afresh=False)
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: exactly as if all had been given at once.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array, optional
            All the classes there are, where some may be seen later; those that are seen when not given.
        """
        if classes is not None:
            declared = check_labels(np.asarray(classes))[0]
            known = getattr(self, "_declared_classes_", declared)
            if not np.array_equal(known, declared):
                raise ValueError(f"classes={list(declared)} is not what was given before, {list(known)}")
            self._declared_classes_ = declared
        self._learn_more(X, y, sample_weight)
        return self

    def _scores_of_all(self, X: Any) -> np.ndarray:
        """Return scores of which at least one in every row is above -inf."""
        check_answerable(self)
        scores = self._class_scores(X)
        rows = impossible(scores)
        if rows is None:
            return scores
        xp = namespace_of(scores)
        with np.errstate(divide="ignore"):
            prior = xp.log(self.class_prior_) if _is_generative(self) else xp.zeros_like(scores[:1, :])
        return xp.where(rows[:, None], prior, scores)
