"""Linear regression that finds out which columns matter."""

import warnings
from collections.abc import Callable
from math import inf, log
from typing import Any

from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base import Estimator, FitInterrupted, ModelTags, check_fitted
from tractable.base.parameters import check_number
from tractable.engines.least_squares import reduced_rows
from tractable.linear_model.ard import ArdFit, ard, placed
from tractable.linear_model.evidence_parameters import check_evidence_parameters
from tractable.linear_model.evidence_search import HyperPriors
from tractable.linear_model.linear_rows import steadied
from tractable.linear_model.noise_floor import least_noise, lost_noise, warn_of_no_noise
from tractable.linear_model.one_target import OneTargetMixin
from tractable.linear_model.plane_answers import PlaneAnswers, of_root
from tractable.linear_model.plane_belief import PlaneBelief
from tractable.linear_model.units import Units
from tractable.primitives.threads import single_threaded_blas
from tractable.statistics import LinearFactor

__all__ = ["ARDRegression"]


class ARDRegression(OneTargetMixin, PlaneAnswers, RegressorMixin, Estimator):
    """A plane whose every coefficient has a precision of its own, wᵢ ~ N(0, 1/λᵢ), chosen by the evidence.

    Automatic relevance determination: columns that the targets do not need get ever greater precisions, and
    are pruned. Parameters and attributes are scikit-learn's; α is the precision of the noise.

    Exact in one pass: iterations see the triangular factor of the rows alone.

    Parameters
    ----------
    max_iter : int
        Most iterations.
    tol : float
        It stops when the coefficients of standardised columns and targets move by less than this, all
        together.
    alpha_1, alpha_2 : float
        Shape and rate of a Gamma prior of α; zero for a flat one. The rate is in units of Var(y).
    lambda_1, lambda_2 : float
        Shape and rate of a Gamma prior of every λᵢ. The rate is in units of Var(y) / Var(xᵢ), so that units
        do not matter: on standardised data these are scikit-learn's, which elsewhere are in units of the
        data and, where these are large or small, outweigh them.
    compute_score : bool
        Whether to keep the objective of every iteration in `scores_`.
    threshold_lambda : float
        Columns with a greater λᵢ are pruned. It is the λᵢ of standardised columns and targets, λᵢ Var(y) /
        Var(xᵢ), so that units do not matter; on standardised data that is scikit-learn's, which elsewhere
        prunes every column of small targets.
    fit_intercept : bool
        Whether the plane may miss the origin; nothing is believed of where.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Zero for pruned columns.
    intercept_ : float
    alpha_ : float
        Precision of the noise.
    lambda_ : array of shape (n_features,)
        Precision of every coefficient; of a pruned column the one that it was pruned for, infinite where the
        column does not vary (without an intercept: is zero) and so has nothing to say.
    pruned_ : array of bool of shape (n_features,)
        Which columns were pruned.
    sigma_ : array of shape (n_kept, n_kept)
        Covariance of the coefficients of the others.
    gamma_ : float
        Effective number of parameters.
    log_evidence_ : float
        log N(y | 0, I/α + X diag(1/λ) Xᵀ) over the columns that were kept; of centred rows and targets where
        there is an intercept.
    scores_ : array of shape (n_iter_ + 1,)
        Evidence with the log density of the Gamma priors over the columns in play, where `compute_score`.
    n_iter_ : int
    converged_ : bool
    posterior_ : MultivariateNormal
        Of the intercept, where there is one, and the coefficients that were kept.
    noise_variance_ : float
        1/α.
    noise_vanished_ : bool
        Whether y is fitted without error; a :class:`NoiseVanishedWarning` says so, and α stops where noise
        is 1e-16 of the mean square of y, or where `alpha_2` holds it.
    statistic_ : LinearFactor
    belief_ : PlaneBelief
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    See Also
    --------
    BayesianRidge : one precision for all coefficients.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 5))
    >>> y = 3.0 * X[:, 1] - X[:, 3] + 0.5 * rng.standard_normal(100)
    >>> model = tractable.ARDRegression(threshold_lambda=1e3).fit(X, y)
    >>> np.flatnonzero(~model.pruned_), model.coef_.round(1) + 0.0
    (array([1, 3]), array([ 0.,  3.,  0., -1.,  0.]))
    """

    scores_: Any
    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact in one pass")

    def __init__(
        self,
        *,
        max_iter: int = 300,
        tol: float = 1e-3,
        alpha_1: float = 1e-6,
        alpha_2: float = 1e-6,
        lambda_1: float = 1e-6,
        lambda_2: float = 1e-6,
        compute_score: bool = False,
        threshold_lambda: float = 10_000.0,
        fit_intercept: bool = True,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.alpha_1 = alpha_1
        self.alpha_2 = alpha_2
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.compute_score = compute_score
        self.threshold_lambda = threshold_lambda
        self.fit_intercept = fit_intercept

    @property
    def sigma_(self) -> Array:
        """Covariance of the coefficients that were kept."""
        check_fitted(self)
        root = self._kept(self.belief_.root[self.belief_.n_located :, :])
        root = root[:, self.belief_.n_located :]
        root = root / self.alpha_**0.5
        return root @ root.T

    @property
    def posterior_(self) -> Any:
        """The posterior of the intercept, where there is one, and the coefficients that were kept."""
        check_fitted(self)
        located = self.belief_.n_located
        mean, root = self.belief_.parameters()
        if not located and bool(namespace_of(mean).all(self.pruned_)):
            raise ValueError("there is no posterior: every column was pruned, so nothing is uncertain")
        xp = namespace_of(mean)
        mean, root = (
            xp.concat([part[:located, ...], self._kept(part[located:, ...])]) for part in (mean, root)
        )
        names = self._names()
        if names is not None:
            pruned = [False] * located + [bool(x) for x in self.pruned_]
            names = [name for name, gone in zip(names, pruned, strict=True) if not gone]
        return self._around(mean, of_root(self._noise() ** 0.5 * root), names=names)

    def _kept(self, part: Array) -> Array:
        xp = namespace_of(part)
        return xp.take(part, xp.nonzero(~self.pruned_)[0], axis=0)

    def _statistic(self) -> Callable[..., Any]:
        check_evidence_parameters(self)
        check_number("threshold_lambda", self.threshold_lambda, above=0.0)
        return LinearFactor.of

    def _learn(self, statistic: Any) -> None:
        self._statistic()
        self.statistic_ = statistic = self._checked(statistic, some=True)
        located = int(bool(self.fit_intercept))
        statistic = steadied(statistic) if located else statistic
        units = Units.of(statistic, fit_intercept=bool(located), common=False)
        plain = units.without(statistic)
        rows, targets, rest = reduced_rows(plain, fit_intercept=bool(located))
        seen = min(rows.shape)
        floor, vanished = least_noise(plain, float(rest[0]), seen, located)
        # Factors this small are slower on several threads, and wait for other processes.
        with single_threaded_blas():
            found = ard(
                rows,
                targets[:, 0],
                float(rest[0]),
                float(statistic.weight),
                hyper=HyperPriors(
                    prior_shape=self.lambda_1,
                    prior_rate=self.lambda_2,
                    noise_shape=self.alpha_1,
                    noise_rate=self.alpha_2,
                    noise_floor=floor,
                ),
                threshold=self.threshold_lambda,
                tol=self.tol,
                max_iter=self.max_iter,
            )
        self.n_iter_, self.converged_ = len(found.scores) - 1, found.converged
        rank = min(seen, int(found.kept.shape[0]))
        lost = lost_noise(plain, found.residual, rank, located, self.alpha_2)
        self.noise_vanished_ = vanished or lost or found.noise >= 1.0 / floor
        self._settle(found, units)
        if found.interrupted:
            raise FitInterrupted

    def _settle(self, found: ArdFit, units: Units) -> None:
        xp = namespace_of(found.coef)
        told = xp.isfinite(found.prior)
        prior = units.prior(xp.where(told, found.prior, xp.ones_like(found.prior)))
        self.alpha_, self.gamma_ = units.noise(found.noise), found.gamma
        self.lambda_ = xp.where(told, prior, inf)
        self.noise_variance_, self.noise_dof_ = 1.0 / self.alpha_, inf
        density = float(self.statistic_.weight) * log(units.target)
        self.log_evidence_ = found.log_evidence - density
        if self.compute_score:
            self.scores_ = xp.asarray(found.scores, dtype=xp.float64) - density
        none, kept = xp.zeros_like(found.coef), found.kept
        self.pruned_ = placed(0.0 * xp.take(found.coef, kept) + 1.0, kept, none) == 0
        nowhere = xp.zeros((none.shape[0], kept.shape[0]), dtype=none.dtype, device=device(none))
        root = placed(found.root, kept, nowhere)
        located = bool(self.fit_intercept)
        coef = found.coef * (units.target / units.columns)
        root = root / units.columns[:, None]
        self._name(PlaneBelief.about_the_mean(self.statistic_, coef, root, fit_intercept=located))

    def _report(self) -> None:
        if bool(namespace_of(self.pruned_).all(self.pruned_)):
            warnings.warn(
                f"every column was pruned, and predictions are constant: no precision is below "
                f"threshold_lambda={self.threshold_lambda}",
                UserWarning,
                stacklevel=4,
            )
        if self.noise_vanished_:
            warn_of_no_noise("alpha_", "alpha_2")
        elif not self.converged_:
            warnings.warn(
                f"the evidence did not settle in max_iter={self.max_iter} iterations",
                ConvergenceWarning,
                stacklevel=4,
            )
