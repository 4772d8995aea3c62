"""Bayesian ridge regression: precisions of prior and noise that maximise the evidence."""

from tractable.arrays.namespace import Array, namespace_of
from tractable.base import check_fitted
from tractable.base.parameters import check_choice, check_number
from tractable.linear_model.bayes.evidence import (
    METHODS,
    EvidenceFit,
    EvidenceModel,
    HyperPriors,
    Precisions,
    StandardizedFactor,
    best_precisions,
    maximize_evidence,
    root_fractions,
    spectrum_of,
)


class BayesianRidge(EvidenceModel):
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
    alpha_init, lambda_init : float, optional
        Where the iterations begin; they end at the maximum near it, which need not be the highest. By default
        they begin at the highest maximum of all, which a search of the ratio λ/α finds. Where one of the two
        is given, the other is 1 / Var(y), or the variance of the columns / Var(y), which are scikit-learn's
        on standardized data.
    compute_score : bool
        Whether to store the objective of every iteration in `scores_`.
    fit_intercept : bool
        Whether there is an intercept, with a flat prior.
    method : {"mackay", "em"}
        The iterations: MacKay's fixed point, fast, as in scikit-learn; or expectation-maximisation, slower,
        whose evidence never falls. Both have the same fixed points, so that they differ in the way from a
        given start.
    standardize : bool
        Whether λ is the precision of the coefficients of columns of variance one (mean square one without an
        intercept), so that the unit of each column does not matter. Without, all columns share one prior in
        their own units, and a column in small numbers, which needs a large coefficient, is shrunk the most.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Posterior mean of the coefficients.
    intercept_ : float
        The intercept; zero with ``fit_intercept=False``.
    alpha_ : float
        Precision of the noise, α.
    lambda_ : float
        Precision of the coefficients, λ; with `standardize`, of those of the standardized columns.
    sigma_ : array of shape (n_features, n_features)
        Posterior covariance of the coefficients.
    gamma_ : float
        Effective number of parameters, Σ l/(l + λ) over the eigenvalues l of α XᵀX.
    shrinkage_factors_ : array
        Its terms, one a principal direction of the columns, the widest first: 1 where the rows determine the
        coefficient, 0 where the prior does.
    log_evidence_ : float
        log N(y | 0, I/α + XXᵀ/λ); the intercept is integrated out under a flat prior of density one, as in
        :class:`BayesianLinearRegression` with the same precisions.
    objective_trace_ : array of shape (n_iter_ + 1,)
        Log evidence with the log density of the Gamma priors, before the first iteration and after each. It
        never falls with ``method="em"``.
    scores_ : array of shape (n_iter_ + 1,)
        The same under scikit-learn's name, where `compute_score`.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the search converged within `max_iter` iterations.
    posterior_ : MultivariateNormal
        Of the intercept, where there is one, and the coefficients.
    noise_variance_ : float
        1/α.
    noise_vanished_ : bool
        Whether the targets are fitted without error; see the notes.
    statistic_ : LinearFactor
        The sufficient statistic of the rows.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    Notes
    -----
    On targets that are exactly linear, or of too few rows, α would grow without bound: a
    `NoiseVanishedWarning` says that the noise vanished, and α stops where the noise is 1e-16 of the
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

    @property
    def _common_scale(self) -> bool:  # type: ignore[override]
        return not self.standardize

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
        standardize: bool = False,
    ) -> None:
        self.max_iter, self.tol, self.method = max_iter, tol, method
        self.alpha_1, self.alpha_2, self.alpha_init = alpha_1, alpha_2, alpha_init
        self.lambda_1, self.lambda_2, self.lambda_init = lambda_1, lambda_2, lambda_init
        self.compute_score, self.fit_intercept, self.standardize = compute_score, fit_intercept, standardize

    @property
    def sigma_(self) -> Array:
        """Posterior covariance of the coefficients."""
        check_fitted(self)
        return self._coef_covariance()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("alpha_init", "lambda_init"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), above=0.0)
        check_choice("method", self.method, METHODS)

    def _search(self, scaled: StandardizedFactor) -> tuple[EvidenceFit, HyperPriors]:
        spectrum = spectrum_of(scaled.statistic, fit_intercept=bool(self.fit_intercept))
        hyper = self._hyper_priors(scaled, float(spectrum.rest[0]), spectrum.rank)
        if self.lambda_init is None and self.alpha_init is None:
            start = best_precisions(spectrum, self._dof(), hyper)
        else:
            start = Precisions(
                prior=1.0
                if self.lambda_init is None
                else self.lambda_init / self._data_precision(scaled, 1.0),
                noise=1.0 if self.alpha_init is None else self.alpha_init / scaled.noise_precision(1.0),
            )
        found = maximize_evidence(
            spectrum,
            self._dof(),
            start,
            hyper,
            method=self.method,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.lambda_ = self._data_precision(scaled, found.prior)
        factors = root_fractions(spectrum, found.prior, found.noise)[0] ** 2
        self.shrinkage_factors_ = -namespace_of(factors).sort(-factors)
        return found, hyper

    def _data_precision(self, scaled: StandardizedFactor, prior: float) -> float:
        """Return the precision of the prior in the units of y and of the columns that have it."""
        if self.standardize:
            return scaled.noise_precision(prior)
        return float(scaled.prior_precision(prior)[0])
