"""What the discriminants of Gaussian classes share: parameters, the statistic, beliefs, warnings."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.base import (
    DegenerateCovarianceWarning,
    FitInterrupted,
    GenerativeClassifierMixin,
    ModelTags,
    check_choice,
    check_columns,
    check_number,
    refuse_foreign,
)
from tractable.classification.discriminant.moments import ClassMoments, check_shrinkage, class_moments
from tractable.classification.discriminant.posterior import ClassBeliefs, check_prior, default_prior
from tractable.classification.one_pass import OnePassClassifier, check_seen, class_priors, log_priors
from tractable.distributions import Mixture, MultivariateNormal
from tractable.statistics import ByClass, IncompleteMoments, Moments
from tractable.statistics.moments import FourthMoments

__all__ = ["GaussianDiscriminant", "far_scores"]


def far_scores(x: np.ndarray, classes: MultivariateNormal, priors: np.ndarray) -> np.ndarray:
    """Return log p(C_k | x) up to a number that all classes of a row share, (n, K): 0 of the nearest class.

    Distances are taken in units of the largest difference in a row, so that nothing overflows; classes that
    are as near as each other are told apart by their priors.

    Parameters
    ----------
    x : array (n, d)
        NaN where an entry is missing.
    classes : MultivariateNormal of batch K
    priors : array (K,)

    Examples
    --------
    >>> narrow_and_wide = MultivariateNormal(mean=[[0.0], [0.0]], covariance=[[[1.0]], [[4.0]]])
    >>> far_scores(np.array([[1e200]]), narrow_and_wide, np.array([0.5, 0.5])).argmax(axis=1)
    array([1])
    """
    step = 0.5 * x[:, None, :] - 0.5 * np.asarray(classes.mean)
    size = np.nanmax(np.abs(step), axis=(1, 2))[:, None]
    about = MultivariateNormal(mean=np.zeros_like(classes.mean), covariance=classes.structure)
    squared = np.asarray(about.mahalanobis(step / size[:, :, None], squared=True))
    log_prior = log_priors(priors)
    least = np.where(log_prior > -np.inf, squared, np.inf).min(axis=1, keepdims=True)
    beyond = np.where(squared > least, squared - np.where(np.isfinite(least), least, 0.0), 0.0)
    with np.errstate(over="ignore"):
        return log_prior - 2.0 * beyond * size * size


class GaussianDiscriminant(GenerativeClassifierMixin, OnePassClassifier):
    """Classes whose rows are Gaussian.

    A model supplies `_shared`, whether the classes have one covariance, `_adopt(moments)`, which sets
    `class_distributions_` by maximum likelihood, and `_believe(prior, moments)`.
    """

    _shared: bool
    shrinkage: Any
    priors: Any
    estimate: str
    prior: Any
    ddof: float
    tol: float
    max_iter: int

    jitter_: np.ndarray
    converged_: bool

    @property
    def model_tags(self) -> ModelTags:  # type: ignore[override]
        """See `tractable.tags`: missing values are marginalised in learning by maximum likelihood.

        Answers about rows with missing entries are exact whatever the estimate.
        """
        return ModelTags(
            kind="generative",
            parametric=True,
            streaming="exact in one pass",
            missing_values=self.estimate != "bayes" and not isinstance(self.shrinkage, str),
        )

    def _adopt(self, moments: Moments) -> None:
        raise NotImplementedError(f"{type(self).__name__} must say what it learns from moments")

    def _believe(self, prior: Any, moments: Moments) -> ClassBeliefs:
        raise NotImplementedError(f"{type(self).__name__} must say what it believes after moments")

    def _check_parameters(self) -> None:
        check_shrinkage(self.shrinkage)
        check_choice("estimate", self.estimate, ("ml", "bayes"))
        check_number("ddof", self.ddof, least=0.0)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        if self.estimate == "ml" and self.prior is not None:
            raise ValueError("prior is a belief, which estimate='bayes' starts from; estimate is 'ml'")
        if self.estimate == "bayes" and (self.shrinkage is not None or self.ddof):
            raise ValueError("shrinkage and ddof are for estimate='ml'; the prior of 'bayes' does their work")

    def _class_statistic(self) -> Callable[..., Any]:
        self._check_parameters()
        return FourthMoments.of if isinstance(self.shrinkage, str) else IncompleteMoments.of

    def _why_complete(self) -> str:
        if self.estimate == "bayes":
            return (
                "a belief about means and covariances has no closed form after rows in which entries are "
                "missing: estimate='ml' marginalises them"
            )
        return "shrinkage='auto' counts products of squares, which rows with missing entries do not have"

    def _fold(self, subject: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> ByClass:
        try:
            return super()._fold(subject, X, y, sample_weight, **options)
        except ValueError as error:
            if self.model_tags.missing_values or "X contains NaN" not in str(error):
                raise
            raise ValueError(f"X contains NaN; {self._why_complete()}") from None

    def _learn(self, statistic: ByClass) -> None:
        self._check_parameters()
        classes = self._known_classes(statistic)
        if self.estimate == "bayes" and any(part.complete is None for part in statistic.parts):
            raise ValueError(f"X contains NaN; {self._why_complete()}")
        found = class_moments(statistic, classes, shared=self._shared, tol=self.tol, max_iter=self.max_iter)
        self.statistic_, self.classes_ = statistic, classes
        self.class_count_ = self._class_weights(statistic, classes)
        self.class_prior_ = class_priors(self.priors, self.class_count_, classes)
        if self.estimate == "ml":  # a belief says what a class is like before any of its rows are seen
            check_seen(self.class_prior_, self.class_count_, classes)
        self.n_unseen_ = float(sum(getattr(part, "unseen", 0.0) for part in statistic.parts))
        self._settle(found)

    def _settle(self, found: ClassMoments) -> None:
        moments = found.moments
        self.means_ = moments.mean
        self.n_iter_, self.converged_ = max(1, found.n_iter), found.converged
        if self.estimate == "bayes":
            self._update(moments)
        else:
            self._adopt(moments)
        self.distribution_ = Mixture(weights=self.class_prior_, components=self.class_distributions_)
        if found.interrupted:
            raise FitInterrupted

    def _update(self, moments: Moments) -> None:
        prior = self.prior
        if prior is None:
            prior = default_prior(moments)
        check_prior(prior, moments.dim)
        beliefs = self._believe(prior, moments)
        self.posterior_, self.log_evidence_ = beliefs.posterior, beliefs.log_evidence
        self.means_ = beliefs.posterior.location
        self.class_distributions_ = beliefs.predictive
        self.jitter_ = np.zeros(moments.dim)

    def _names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names)

    def _rows(self, X: Any) -> np.ndarray:
        """Return checked rows in double precision; what is missing is integrated out of every answer."""
        refuse_foreign(X)
        rows = np.asarray(check_columns(self, X, finite=False), dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            whole = bool(np.isfinite(rows.sum()))
        if not whole and np.isinf(rows).any():
            raise ValueError("X contains infinity")
        return rows

    def _log_scores(self, X: Any) -> np.ndarray:
        return self.distribution_.log_joint(self._rows(X))

    def _without_evidence(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Return scores of rows so far away that all densities are 0: the nearest class wins."""
        if self.estimate == "bayes":
            return super()._without_evidence(X, rows)
        return self._far_scores(self._rows(X)[rows])

    def _far_scores(self, rows: np.ndarray) -> np.ndarray:
        return far_scores(rows, self.class_distributions_, self.class_prior_)

    def _report(self) -> None:
        if not self.converged_:
            warnings.warn(
                f"EM over missing values did not settle in {self.max_iter} iterations; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=5,
            )
        if np.any(self.jitter_ > 0):
            warnings.warn(
                "a covariance is singular: columns are constant or follow from others, or rows are few; a "
                "millionth of the variances was added, and is in jitter_. shrinkage= or estimate='bayes' "
                "make up for few rows",
                DegenerateCovarianceWarning,
                stacklevel=5,
            )
