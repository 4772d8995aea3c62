"""Bayes' optimal classifier of known class distributions, and its error."""

from functools import cached_property, partial
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.log_space import log_softmax
from tractable.arrays.namespace import freeze
from tractable.arrays.random import either_seed_name
from tractable.base.classifier import decided, impossible
from tractable.classification.class_priors import log_priors
from tractable.distributions import Categorical, Distribution, Mixture, Stacked, expectation
from tractable.distributions.expectation import Estimate
from tractable.metrics.classification import check_class_loss, expected_loss, least_loss
from tractable.value import value


@value
class BayesClassifier:
    """Bayes' optimal classifier, f*(x) = argmax_k p(C_k | x), of known class-conditional distributions.

    p(C_k | x) ∝ p(C_k) p(x | C_k). No classifier has a smaller probability of error than its own,
    `bayes_error`. It is a value, and there is nothing to fit; `GenerativeClassifier` learns one.

    Parameters
    ----------
    class_distributions : Distribution of batch (K,), or sequence of K distributions
        p(x | C_k): of any families, mixtures among them, over events of one shape.
    priors : array (K,), optional
        p(C_k); equal when not given.
    classes : array (K,), optional
        Labels; 0, 1, … when not given.

    Examples
    --------
    >>> from tractable import Normal
    >>> best = BayesClassifier(
    ...     class_distributions=Normal(mean=[-1.0, 1.0], variance=1.0), classes=["low", "high"]
    ... )
    >>> best.predict([-3.0, 0.5]).tolist(), best.predict_proba([0.5]).round(4)
    (['low', 'high'], array([[0.2689, 0.7311]]))
    >>> round(float(bayes_error(best)), 10)  # Φ(-1)
    0.1586552539
    """

    class_distributions: Distribution
    priors: np.ndarray | None = None
    classes: np.ndarray | None = None

    def __post_init__(self) -> None:
        given: Any = self.class_distributions
        if not isinstance(given, Distribution):
            try:
                given = Stacked(members=given)
            except (TypeError, ValueError) as error:
                raise ValueError(f"class_distributions must be distributions: {error}") from None
        if len(given.batch_shape) != 1 or given.batch_shape[0] < 1:
            raise ValueError(
                f"class_distributions must be a batch of shape (n_classes,), got {given.batch_shape}"
            )
        k = given.batch_shape[0]
        priors = np.full(k, 1.0 / k) if self.priors is None else np.array(as_reals("priors", self.priors))
        if priors.shape != (k,) or not np.all(priors >= 0.0) or not np.isclose(priors.sum(), 1.0, atol=1e-8):
            raise ValueError(f"priors must be {k} probabilities that sum to one, got {self.priors!r}")
        classes = np.arange(k) if self.classes is None else np.array(self.classes)
        if classes.shape != (k,) or len(set(classes.tolist())) < k:
            raise ValueError(f"classes must be {k} different labels, got {self.classes!r}")
        object.__setattr__(self, "class_distributions", given)
        object.__setattr__(self, "priors", freeze(priors / priors.sum()))
        object.__setattr__(self, "classes", freeze(classes))

    @cached_property
    def distribution(self) -> Mixture:
        """p(x), the mixture of the classes."""
        return Mixture(weights=self.priors, components=self.class_distributions)

    def predict_joint_log_proba(self, x: Any) -> np.ndarray:
        """Return log p(x, C_k) of events (n, *event), (n, K)."""
        return np.asarray(self.distribution.log_joint(x))

    def predict_log_proba(self, x: Any) -> np.ndarray:
        """Return log p(C_k | x) of events (n, *event), (n, K); where all densities are 0, the log priors."""
        joint = self.predict_joint_log_proba(x)
        rows = impossible(joint)
        found = joint if rows is None else np.where(rows[:, None], log_priors(np.asarray(self.priors)), joint)
        return log_softmax(found)

    def predict_proba(self, x: Any) -> np.ndarray:
        """Return p(C_k | x) of events (n, *event), (n, K); where all densities are 0, the priors."""
        return np.asarray(self.distribution.responsibilities(x))

    def predict_dist(self, x: Any) -> Categorical:
        """Return p(C | x) as a distribution; events are positions in `classes`."""
        return Categorical(probabilities=self.predict_proba(x))

    def predict(self, x: Any) -> np.ndarray:
        """Return the most probable class of each event; of tied ones the first."""
        return np.asarray(self.classes)[np.argmax(self.predict_proba(x), axis=-1)]

    def decide(self, x: Any, *, loss: Any = None, reject_loss: float | None = None) -> np.ndarray:
        """Return the decision of least expected loss; see `tractable.GenerativeClassifier.decide`.

        Parameters
        ----------
        x : array (n, *event)
            Events to decide on.
        loss, reject_loss
            As in `GenerativeClassifier.decide`.
        """
        return decided(np.asarray(self.classes), self.predict_proba(x), loss=loss, reject_loss=reject_loss)

    def score_samples(self, x: Any) -> np.ndarray:
        """Return log p(x), the log density of each event whatever its class."""
        return np.asarray(self.distribution.log_prob(x))

    @either_seed_name
    def sample(self, n_samples: int = 1, *, rng: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw events and their classes, (n, *event) and (n,)."""
        x, codes = self.distribution.sample_labelled(n_samples, rng=rng)
        return np.asarray(x), np.asarray(self.classes)[np.asarray(codes)]


@either_seed_name
def bayes_error(
    classifier: BayesClassifier,
    *,
    loss: Any = None,
    reject_loss: float | None = None,
    n_samples: int | None = None,
    rng: Any = 0,
) -> Estimate:
    """Return the least error that a classifier can have, Σ_k p(C_k) E[min_j R_j(x) | C_k].

    With the 0-1 loss that is E[1 - max_k p(C_k | x)], the probability that the most probable class is not the
    true one; with another, the least expected loss (Bayes risk).

    Parameters
    ----------
    classifier : BayesClassifier
        The class densities and priors.
    loss : array (K, K), optional
        L_kj, the loss of deciding for class j where k is true; the 0-1 loss by default.
    reject_loss : float, optional
        Loss of the reject option; by default no case is rejected.
    n_samples : int, optional
        Draws from each class. When not given, numbers are integrated or summed, and 100,000 of other events
        drawn.
    rng : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

    Returns
    -------
    Estimate
        With `value` and `standard_error`: that of the draws, or the error of the quadrature.

    Examples
    --------
    >>> from tractable import MultivariateNormal
    >>> pair = MultivariateNormal(mean=[[0.0, 0.0], [2.0, 0.0]], covariance=[[1.0, 0.0], [0.0, 1.0]])
    >>> found = bayes_error(BayesClassifier(class_distributions=pair))
    >>> bool(abs(found.value - 0.15865525) < 4 * found.standard_error), bool(found.standard_error < 5e-4)
    (True, True)
    """
    if not isinstance(classifier, BayesClassifier):
        raise ValueError(f"classifier must be a BayesClassifier, got {type(classifier).__name__}")
    priors = np.asarray(classifier.priors)
    check_class_loss(loss, len(priors))
    classes = classifier.class_distributions
    drawn = n_samples is not None or bool(classes.event_shape)
    most = (100_000 if n_samples is None else n_samples) if drawn else None
    cost = partial(_least_risk, classifier, loss=loss, reject_loss=reject_loss)
    generators = np.random.default_rng(rng).spawn(len(priors)) if drawn else [None] * len(priors)
    each = classes.members if isinstance(classes, Stacked) else tuple(classes)
    parts = [expectation(cost, each[k], n_samples=most, rng=generators[k]) for k in np.flatnonzero(priors)]
    weights = priors[priors > 0.0]
    errors = weights * np.array([float(part.standard_error) for part in parts])
    return Estimate(
        value=np.asarray(weights @ np.array([float(part.value) for part in parts])),
        standard_error=np.asarray(np.linalg.norm(errors) if drawn else errors.sum()),
    )


def _least_risk(classifier: BayesClassifier, x: Any, *, loss: Any, reject_loss: float | None) -> np.ndarray:
    """Return the least expected loss of each event."""
    p = classifier.predict_proba(x)
    # The sum of the others and not 1 - max, which cancels where it is small.
    rest = np.sort(p, axis=-1)[:, :-1].sum(axis=-1)
    risk = rest if loss is None else expected_loss(p, loss).min(axis=-1)
    if reject_loss is None:
        return risk
    least_loss(p[:1], reject_loss=reject_loss)  # checks it
    return np.minimum(risk, reject_loss)
