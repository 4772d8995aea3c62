"""The base of linear and quadratic discriminant analysis: parameters, statistic, posteriors, warnings."""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.base import (
    ClassifierMixin,
    DegenerateCovarianceWarning,
    FitInterrupted,
    ModelTags,
    OnePassEstimator,
    check_choice,
    check_number,
)
from tractable.base.validation import check_query
from tractable.classification.class_priors import check_seen, class_priors, class_weights, known_classes
from tractable.classification.discriminant.moments import class_moments
from tractable.classification.discriminant.posterior import ClassPosteriors, check_prior, default_prior
from tractable.distributions import Mixture
from tractable.statistics import ByClass, FourthMoments, IncompleteMoments, Moments

#: Tags of models that learn from missing values, or do not.
_TAGS = {
    missing: ModelTags(
        kind="generative",
        parametric=True,
        streaming="exact in one pass",
        missing_values=missing,
        missing_in_predictions=True,
    )
    for missing in (True, False)
}


class GaussianDiscriminant(ClassifierMixin, OnePassEstimator):
    """Gaussian classes, p(x | C_k) = N(x | μ_k, Σ_k).

    A model supplies `_shared`, whether the classes have one covariance, `_fit_covariance(moments)`, which
    sets `class_distributions_` by maximum likelihood, and `_posteriors(prior, moments)`.
    """

    _supervised = _by_class = True
    _shared: bool
    jitter_: np.ndarray
    converged_: bool

    def __init__(
        self, shrinkage: Any, priors: Any, estimate: str, prior: Any, ddof: float, tol: float, max_iter: int
    ) -> None:
        self.shrinkage, self.priors, self.ddof = shrinkage, priors, ddof
        self.estimate, self.prior = estimate, prior
        self.tol, self.max_iter = tol, max_iter

    @property
    def model_tags(self) -> ModelTags:  # type: ignore[override]
        """See `tractable.tags`: missing values are marginalised in learning by maximum likelihood.

        Predictions for rows with missing entries are exact whatever the estimate.
        """
        return _TAGS[self.estimate != "bayes" and not isinstance(self.shrinkage, str)]

    @abstractmethod
    def _fit_covariance(self, moments: Moments) -> None:
        """Set `class_distributions_` by maximum likelihood."""

    @abstractmethod
    def _posteriors(self, prior: Any, moments: Moments) -> ClassPosteriors:
        """Return the posteriors of the means and covariances of the classes."""

    def _check_parameters(self) -> None:
        if isinstance(self.shrinkage, str):
            if self.shrinkage != "auto":
                raise ValueError(
                    f"shrinkage must be None, 'auto' or a number from 0 to 1, got {self.shrinkage!r}"
                )
        elif self.shrinkage is not None:
            check_number("shrinkage", self.shrinkage, least=0.0, most=1.0)
        check_choice("estimate", self.estimate, ("ml", "bayes"))
        check_number("ddof", self.ddof, least=0.0)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        if self.estimate == "ml" and self.prior is not None:
            raise ValueError("prior is for estimate='bayes'; estimate is 'ml'")
        if self.estimate == "bayes" and (self.shrinkage is not None or self.ddof):
            raise ValueError("shrinkage and ddof are for estimate='ml'; the prior of 'bayes' does their work")

    def _statistic(self) -> Callable[..., Any]:
        return FourthMoments.of if isinstance(self.shrinkage, str) else IncompleteMoments.of

    def _why_complete(self) -> str:
        if self.estimate == "bayes":
            return (
                "the posterior of means and covariances has no closed form after rows with missing entries: "
                "estimate='ml' marginalises them"
            )
        return "shrinkage='auto' needs products of squares, which rows with missing entries do not have"

    def _fold(self, subject: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> ByClass:
        try:
            return super()._fold(subject, X, y, sample_weight, **options)
        except ValueError as error:
            if self.model_tags.missing_values or "X contains NaN" not in str(error):
                raise
            raise ValueError(f"X contains NaN; {self._why_complete()}") from None

    def _learn(self, statistic: ByClass) -> None:
        classes = known_classes(self, statistic)
        if self.estimate == "bayes" and any(part.complete is None for part in statistic.parts):
            raise ValueError(f"X contains NaN; {self._why_complete()}")
        found = class_moments(statistic, classes, shared=self._shared, tol=self.tol, max_iter=self.max_iter)
        self.statistic_, self.classes_ = statistic, classes
        self.class_count_ = class_weights(statistic, classes)
        self.class_prior_ = class_priors(self.priors, self.class_count_, classes)
        if self.estimate == "ml":  # a prior needs no rows of a class
            check_seen(self.class_prior_, self.class_count_, classes)
        self.n_unseen_ = float(sum(getattr(part, "unseen", 0.0) for part in statistic.parts))
        self.means_ = found.moments.mean
        self.n_iter_, self.converged_ = max(1, found.n_iter), found.converged
        if self.estimate == "bayes":
            self._fit_posterior(found.moments)
        else:
            self._fit_covariance(found.moments)
        self.distribution_ = Mixture(weights=self.class_prior_, components=self.class_distributions_)
        if found.interrupted:
            raise FitInterrupted

    def _fit_posterior(self, moments: Moments) -> None:
        prior = default_prior(moments) if self.prior is None else self.prior
        check_prior(prior, moments.dim)
        found = self._posteriors(prior, moments)
        self.posterior_, self.log_evidence_ = found.posterior, found.log_evidence
        self.means_ = found.posterior.location
        self.class_distributions_ = found.predictive
        self.jitter_ = np.zeros(moments.dim)

    def _names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names)

    def _class_scores(self, X: Any) -> np.ndarray:
        return self.distribution_.log_joint(check_query(self, X, allow_nan=True))

    def _report(self) -> None:
        if not self.converged_:
            warnings.warn(
                f"EM over missing values did not converge in {self.max_iter} steps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=5,
            )
        if (self.jitter_ > 0).any():
            warnings.warn(
                "a covariance is singular: columns are constant or collinear, or rows are few; a millionth "
                "of the variances was added, and is in jitter_. For few rows there are shrinkage= and "
                "estimate='bayes'",
                DegenerateCovarianceWarning,
                stacklevel=5,
            )
