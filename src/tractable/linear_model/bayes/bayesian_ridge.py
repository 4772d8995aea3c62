"""Ridge regression whose penalty and noise are those that make the targets most probable."""

import warnings
from collections.abc import Callable
from math import inf, log
from typing import Any

from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.namespace import Array, namespace_of
from tractable.base import Estimator, FitInterrupted, ModelTags, check_fitted
from tractable.base.parameters import check_choice, check_number
from tractable.linear_model.bayes.evidence import (
    METHODS,
    EvidenceSearch,
    EvidenceSpectrum,
    HyperPriors,
    Precisions,
    Units,
    check_evidence_parameters,
)
from tractable.linear_model.bayes.posterior import PlaneAnswers, PlaneBelief
from tractable.linear_model.noise_floor import least_noise, lost_noise, warn_of_no_noise
from tractable.linear_model.rows import OneTargetMixin
from tractable.primitives.threads import single_threaded_blas
from tractable.statistics import LinearFactor

__all__ = ["BayesianRidge"]


class BayesianRidge(OneTargetMixin, PlaneAnswers, RegressorMixin, Estimator):
    """A plane with coefficients ~ N(0, 1/λ) and noise of precision α, both chosen by their evidence.

    The evidence p(y | λ, α) has the coefficients integrated out; its peak takes the place of an integral over
    the precisions (type-II maximum likelihood, the evidence approximation). Parameters and attributes are
    scikit-learn's: α is the precision of the noise and λ that of the coefficients; the α of the textbooks is
    λ here, and their β is α.

    Exact in one pass: the rows are folded into a triangular factor, whose one decomposition serves all
    iterations.

    Parameters
    ----------
    max_iter : int
        Most iterations.
    tol : float
        "mackay" stops when the coefficients move by less than this, all together, in units of the spread of y
        by that of the columns; "em" when α and λ change by less than this, of themselves.
    alpha_1, alpha_2 : float
        Shape and rate of a Gamma prior of α; zero for a flat one. The rate is in units of Var(y).
    lambda_1, lambda_2 : float
        Shape and rate of a Gamma prior of λ. The rate is in units of Var(y) by the variance of the columns,
        so that units do not matter: on standardised data these are scikit-learn's, which elsewhere are in
        units of the data and, where these are large or small, outweigh them.
    alpha_init : float, optional
        Where α begins, 1 / Var(y) by default.
    lambda_init : float, optional
        Where λ begins; the variance of the columns / Var(y) by default, which is scikit-learn's 1 on
        standardised data.
    compute_score : bool
        Whether to keep the objective of every iteration in `scores_`.
    fit_intercept : bool
        Whether the plane may miss the origin; nothing is believed of where, and rows and targets are centred.
    method : {"mackay", "em"}
        MacKay's fixed point, fast, as in scikit-learn; or expectation-maximisation, slower, whose evidence
        never falls. Both have the same fixed points.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    alpha_ : float
        Precision of the noise, α.
    lambda_ : float
        Precision of the coefficients, λ.
    sigma_ : array of shape (n_features, n_features)
        Covariance of the coefficients.
    gamma_ : float
        Effective number of parameters, Σ l/(l + λ) over the eigenvalues l of α XᵀX: what the rows decided.
    shrinkage_ : array
        Its terms, by direction of the columns, the widest first: 1 where the rows decide, 0 where the prior.
    log_evidence_ : float
        log N(y | 0, I/α + XXᵀ/λ), of centred rows and targets where there is an intercept.
    scores_ : array of shape (n_iter_ + 1,)
        Evidence with the log density of the Gamma priors, where `compute_score`.
    n_iter_ : int
    converged_ : bool
    posterior_ : MultivariateNormal
        Of the intercept, where there is one, and the coefficients.
    noise_variance_ : float
        1/α.
    noise_vanished_ : bool
        Whether the targets are fitted without error; see the notes.
    statistic_ : LinearFactor
    belief_ : PlaneBelief
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Notes
    -----
    On targets that are exactly linear, or of too few rows to tell, α would grow without end: a
    :class:`NoiseVanishedWarning` says that the noise vanished, and α stops where the noise is 1e-16 of the
    mean square of y, or where `alpha_2` holds it.
    Predictions know that the intercept is uncertain too, by 1/nα, which scikit-learn's leave out.

    See Also
    --------
    RidgeCV : chooses the penalty λ/α by leaving rows out.
    BayesianLinearRegression : for a prior that is known.

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
        """Covariance of the coefficients."""
        check_fitted(self)
        root = self.belief_.root[self.belief_.n_located :, :]
        root = root / self.alpha_**0.5
        return root @ root.T

    def _statistic(self) -> Callable[..., Any]:
        check_evidence_parameters(self)
        for name in ("alpha_init", "lambda_init"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), above=0.0)
        check_choice("method", self.method, METHODS)
        return LinearFactor.of

    def _learn(self, statistic: Any) -> None:
        self._statistic()
        self.statistic_ = statistic = self._checked(statistic, some=True)
        located = int(bool(self.fit_intercept))
        units = Units.of(statistic, fit_intercept=bool(located), common=True)
        plain = units.without(statistic)
        with single_threaded_blas():  # a small factor is slower on several threads
            spectrum = EvidenceSpectrum.of(plain, fit_intercept=bool(located))
        floor, vanished = least_noise(plain, spectrum.beyond, spectrum.rank, located)
        hyper = HyperPriors(
            prior_shape=self.lambda_1,
            prior_rate=self.lambda_2,
            noise_shape=self.alpha_1,
            noise_rate=self.alpha_2,
            noise_floor=floor,
        )
        found = METHODS[self.method](
            spectrum, self._start(units), hyper, tol=self.tol, max_iter=self.max_iter
        )
        self.n_iter_, self.converged_ = len(found.scores) - 1, found.converged
        lost = lost_noise(plain, found.point.residual, spectrum.rank, located, self.alpha_2)
        self.noise_vanished_ = vanished or lost or found.point.noise >= 1.0 / floor
        self._settle(spectrum, found, units)
        if found.interrupted:
            raise FitInterrupted

    def _start(self, units: Units) -> Precisions:
        """Return where the search begins, in units of the data, so that these do not matter."""
        prior, noise = units.prior(1.0)[0], units.noise(1.0)
        return Precisions(
            prior=1.0 if self.lambda_init is None else float(self.lambda_init / prior),
            noise=1.0 if self.alpha_init is None else self.alpha_init / noise,
        )

    def _settle(self, spectrum: EvidenceSpectrum, found: EvidenceSearch, units: Units) -> None:
        point = found.point
        self.alpha_, self.lambda_ = units.noise(point.noise), float(units.prior(point.prior)[0])
        self.noise_variance_, self.noise_dof_, self.gamma_ = 1.0 / self.alpha_, inf, point.gamma
        density = float(self.statistic_.weight) * log(units.target)
        self.log_evidence_ = point.log_evidence - density
        if self.compute_score:
            xp = namespace_of(self.statistic_.mean)
            self.scores_ = xp.asarray(found.scores, dtype=xp.float64) - density
        self.shrinkage_ = spectrum.shrinkage(point.prior, point.noise)
        root = spectrum.root(point.prior, point.noise) / units.columns[0]
        coef = units.target / units.columns[0] * (spectrum.basis @ point.coef)
        located = bool(self.fit_intercept)
        self._name(PlaneBelief.about_the_mean(self.statistic_, coef, root, fit_intercept=located))

    def _report(self) -> None:
        if self.noise_vanished_:
            warn_of_no_noise("alpha_", "alpha_2")
        elif not self.converged_:
            warnings.warn(
                f"the evidence did not settle in max_iter={self.max_iter} iterations",
                ConvergenceWarning,
                stacklevel=4,
            )
