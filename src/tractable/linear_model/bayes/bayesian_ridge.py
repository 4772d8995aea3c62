"""Bayesian ridge regression: precisions of prior and noise that maximise the evidence."""

import warnings
from math import inf, log
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.namespace import Array, namespace_of
from tractable.base import FitInterrupted, check_fitted
from tractable.base.parameters import check_choice, check_number
from tractable.engines.spectrum import ColumnSpectrum
from tractable.linear_model.bayes.evidence import (
    METHODS,
    EvidenceSearch,
    HyperPriors,
    Precisions,
    StandardizedFactor,
    check_evidence_parameters,
    maximize_evidence,
    posterior_root,
    shrinkage,
    spectrum_of,
)
from tractable.linear_model.bayes.posterior import BayesianLinearModel, CoefficientPosterior
from tractable.linear_model.noise_floor import noise_vanished, smallest_noise, warn_noise_vanished
from tractable.linear_model.rows import without_constant_columns

__all__ = ["BayesianRidge"]


class BayesianRidge(BayesianLinearModel):
    """Linear regression with coefficients ~ N(0, 1/λ) and noise of precision α, both maximising the evidence.

    The evidence p(y | λ, α) has the coefficients integrated out; its maximum takes the place of an integral
    over the precisions (type-II maximum likelihood, the evidence approximation). Parameters and attributes
    are scikit-learn's: α is the precision of the noise and λ that of the coefficients; the α of the textbooks
    is λ here, and their β is α.

    Exact in one pass: the rows are folded into a triangular factor, whose one decomposition serves all
    iterations.

    Parameters
    ----------
    max_iter : int
        Most iterations.
    tol : float
        "mackay" stops when the coefficients of standardized columns and target change by less than this, all
        together; "em" when α and λ change by less than this, relative to themselves.
    alpha_1, alpha_2 : float
        Shape and rate of a Gamma prior of α; zero for a flat one. The rate is in units of Var(y).
    lambda_1, lambda_2 : float
        Shape and rate of a Gamma prior of λ. The rate is in units of Var(y) over the variance of the columns,
        so that units do not matter: on standardized data these are scikit-learn's, which elsewhere are in
        units of the data and, where these are large or small, outweigh them.
    alpha_init : float, optional
        Initial α, 1 / Var(y) by default.
    lambda_init : float, optional
        Initial λ; the variance of the columns / Var(y) by default, which is scikit-learn's 1 on standardized
        data.
    compute_score : bool
        Whether to store the objective of every iteration in `scores_`.
    fit_intercept : bool
        Whether there is an intercept, with a flat prior.
    method : {"mackay", "em"}
        MacKay's fixed point, fast, as in scikit-learn; or expectation-maximisation, slower, whose evidence
        never falls. Both have the same fixed points.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Posterior mean of the coefficients.
    intercept_ : float
    alpha_ : float
        Precision of the noise, α.
    lambda_ : float
        Precision of the coefficients, λ.
    sigma_ : array of shape (n_features, n_features)
        Posterior covariance of the coefficients.
    gamma_ : float
        Effective number of parameters, Σ l/(l + λ) over the eigenvalues l of α XᵀX.
    shrinkage_ : array
        Its terms, one a principal direction of the columns, the widest first: 1 where the rows determine the
        coefficient, 0 where the prior does.
    log_evidence_ : float
        log N(y | 0, I/α + XXᵀ/λ), of centred rows and targets where there is an intercept.
    scores_ : array of shape (n_iter_ + 1,)
        Log evidence with the log density of the Gamma priors, before the first iteration and after each,
        where `compute_score`. It never falls with ``method="em"``.
    n_iter_ : int
    converged_ : bool
    posterior_ : MultivariateNormal
        Of the intercept, where there is one, and the coefficients.
    noise_variance_ : float
        1/α.
    noise_vanished_ : bool
        Whether the targets are fitted without error; see the notes.
    statistic_ : LinearFactor
        The sufficient statistic of the rows.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Notes
    -----
    On targets that are exactly linear, or of too few rows, α would grow without bound: a
    :class:`NoiseVanishedWarning` says that the noise vanished, and α stops where the noise is 1e-16 of the
    mean square of y, or where `alpha_2` stops it.
    Predictive variances include that of the intercept, 1/nα, which scikit-learn's leave out.

    See Also
    --------
    RidgeCV : chooses the penalty λ/α by cross-validation.
    BayesianLinearRegression : with a known prior.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 3))
    >>> y = X @ [1.0, 2.0, 0.0] + 0.5 * rng.standard_normal(50)
    >>> model = tractable.BayesianRidge().fit(X, y)
    >>> model.coef_.round(2), round(model.gamma_, 2), round(1 / model.alpha_, 2)
    (array([1.08, 1.92, 0.03]), 2.99, 0.23)
    """

    scores_: Any

    def __init__(
        self,
        *,
        max_iter: int = 300,
        tol: float = 1e-3,
        alpha_1: float = 1e-6,
        alpha_2: float = 1e-6,
        lambda_1: float = 1e-6,
        lambda_2: float = 1e-6,
        alpha_init: float | None = None,
        lambda_init: float | None = None,
        compute_score: bool = False,
        fit_intercept: bool = True,
        method: str = "mackay",
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.alpha_1 = alpha_1
        self.alpha_2 = alpha_2
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.alpha_init = alpha_init
        self.lambda_init = lambda_init
        self.compute_score = compute_score
        self.fit_intercept = fit_intercept
        self.method = method

    @property
    def sigma_(self) -> Array:
        """Posterior covariance of the coefficients."""
        check_fitted(self)
        return self._coef_covariance()

    def _check_parameters(self) -> None:
        check_evidence_parameters(self)
        for name in ("alpha_init", "lambda_init"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), above=0.0)
        check_choice("method", self.method, METHODS)

    def _learn(self, statistic: Any) -> None:
        self._check_parameters()
        self.statistic_ = statistic = self._check_factor(statistic, some=True)
        has_intercept = bool(self.fit_intercept)
        scaled = StandardizedFactor.of(
            without_constant_columns(statistic) if has_intercept else statistic,
            fit_intercept=has_intercept,
            common=True,
        )
        spectrum = spectrum_of(scaled.statistic, fit_intercept=has_intercept)
        rank = spectrum.rank
        floor, exact = smallest_noise(scaled.statistic, float(spectrum.rest[0]), rank, has_intercept)
        found = maximize_evidence(
            spectrum,
            float(statistic.weight),
            self._initial(scaled),
            HyperPriors(
                prior_shape=self.lambda_1,
                prior_rate=self.lambda_2,
                noise_shape=self.alpha_1,
                noise_rate=self.alpha_2,
                noise_floor=floor,
            ),
            method=self.method,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        lost = noise_vanished(scaled.statistic, found.point.rss, rank, has_intercept, self.alpha_2)
        self.noise_vanished_ = exact or lost or found.point.noise >= 1.0 / floor
        self._set_fitted(spectrum, found, scaled)
        if found.interrupted:
            raise FitInterrupted

    def _initial(self, scaled: StandardizedFactor) -> Precisions:
        """Return the initial precisions, of standardized columns and target."""
        prior, noise = scaled.prior_precision(1.0)[0], scaled.noise_precision(1.0)
        return Precisions(
            prior=1.0 if self.lambda_init is None else float(self.lambda_init / prior),
            noise=1.0 if self.alpha_init is None else self.alpha_init / noise,
        )

    def _set_fitted(
        self, spectrum: ColumnSpectrum, found: EvidenceSearch, scaled: StandardizedFactor
    ) -> None:
        point, xp = found.point, namespace_of(self.statistic_.mean)
        self.alpha_, self.lambda_ = (
            scaled.noise_precision(point.noise),
            float(scaled.prior_precision(point.prior)[0]),
        )
        self.noise_variance_, self._predictive_dof_, self.gamma_ = 1.0 / self.alpha_, inf, point.gamma
        log_jacobian = float(self.statistic_.weight) * log(scaled.target)
        self.log_evidence_ = point.log_evidence - log_jacobian
        if self.compute_score:
            self.scores_ = xp.asarray(found.trace, dtype=xp.float64) - log_jacobian
        self.n_iter_, self.converged_ = len(found.trace) - 1, found.converged
        self.shrinkage_ = shrinkage(spectrum, point.prior, point.noise)
        scale = scaled.columns[0]
        root = posterior_root(spectrum, point.prior, point.noise) / scale
        coef = scaled.target / scale * (spectrum.basis @ point.coef)
        self._set_posterior(
            CoefficientPosterior.with_free_intercept(
                self.statistic_, coef, root, fit_intercept=bool(self.fit_intercept)
            )
        )

    def _report(self) -> None:
        if self.noise_vanished_:
            warn_noise_vanished("alpha_", "alpha_2")
        elif not self.converged_:
            warnings.warn(
                f"the evidence did not converge in max_iter={self.max_iter} iterations",
                ConvergenceWarning,
                stacklevel=4,
            )
