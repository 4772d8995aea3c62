"""Automatic relevance determination: a precision for every coefficient, chosen by the evidence."""

from functools import cached_property, partial
from math import inf, log, pi
from typing import Any

import numpy as np

from tractable.arrays.linalg import column_lengths, solve_triangular
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of, to_numpy
from tractable.base import check_fitted
from tractable.base.parameters import check_number
from tractable.data import Whole
from tractable.engines import em
from tractable.engines.least_squares import reduced_rows
from tractable.linear_model.bayes.evidence import (
    EvidenceFit,
    EvidenceModel,
    HyperPriors,
    StandardizedFactor,
    bounded_ratio,
)
from tractable.linear_model.bayes.posterior import covariance_from_root
from tractable.primitives.linear import triangle
from tractable.value import value

#: A column of which less than this is independent of those before it needs the digits of a QR.
INDEPENDENT = 1e-6
#: The greatest precision: that of a coefficient of exactly zero.
LARGEST_PRECISION = 1e60


@value
class _Columns:
    """Rows (m, k) with their Gram matrix (k, k), targets (m,), and products with the targets (k,)."""

    rows: Array
    targets: Array
    rest: float  # squares of the targets beyond these rows
    gram: Array
    products: Array

    def only(self, active: Array) -> "_Columns":
        """Return some of the columns."""
        if active.shape[0] == self.products.shape[0]:
            return self
        xp = namespace_of(self.rows)
        return _Columns(
            rows=xp.take(self.rows, active, axis=1),
            targets=self.targets,
            rest=self.rest,
            gram=xp.take(xp.take(self.gram, active, axis=0), active, axis=1),
            products=xp.take(self.products, active),
        )


@value
class _Rows:
    """Rows (m, d) with the Gram matrix of all rows, their targets (m,), and squares beyond theirs."""

    rows: Array
    targets: Array
    rest: float

    @cached_property  # in the first step of EM, which holds BLAS to one thread
    def columns(self) -> _Columns:
        rows, targets = self.rows, self.targets
        return _Columns(
            rows=rows, targets=targets, rest=self.rest, gram=rows.T @ rows, products=rows.T @ targets
        )


@value
class _Params:
    """Precisions of the active coefficients and of the noise."""

    active: Array  # (k,), indices
    prior: Array  # (k,)
    noise: float
    pruned_prior: Array  # (d,), of pruned columns the precision they were pruned for
    coef: Any = None  # (k,), the posterior mean that these precisions were computed from
    change: float = inf  # sum of the changes of the coefficients in the last step


@value
class _Posterior:
    """Posterior of the active coefficients at given precisions."""

    coef: Array  # (k,)
    gamma: Array  # (k,), 1 - prior_i S_ii: how far the rows determine each
    rss: float
    log_det: float  # of M = I + noise / prior XᵀX
    inverse: Any = None  # (k, k), of the factor U of M, where it was needed


@value
class _Expected:
    """The posterior at some parameters, and its objective."""

    params: _Params
    posterior: _Posterior
    objective: float


@value
class _EStep:
    """The posterior of the coefficients at some precisions."""

    params: _Params
    hyper: HyperPriors
    dof: float

    def __call__(self, block: _Rows) -> _Expected:
        at = self.params
        found = _posterior(block.columns.only(at.active), at.prior, at.noise)
        objective = _log_evidence(found, at.prior, at.noise, self.dof)
        objective += self.hyper.log_density(at.prior, at.noise)
        return _Expected(params=at, posterior=found, objective=objective)


@value
class _Steps:
    """MacKay's fixed point, which maximises the evidence over the precisions of columns and noise."""

    hyper: HyperPriors
    dof: float  # weight of the rows, less one where an intercept is integrated out
    threshold: float  # precision above which columns are pruned
    tol: float  # change of the coefficients, all together, below which the search stops

    def expect(self, params: _Params) -> _EStep:
        """Return the E-step at these precisions."""
        return _EStep(params=params, hyper=self.hyper, dof=self.dof)

    def maximize(self, expected: _Expected) -> _Params:
        """Return prior_i = γ_i / m_i² and noise = (n - Σ γ) / rss, without columns above the threshold."""
        at, found, hyper = expected.params, expected.posterior, self.hyper
        xp = namespace_of(at.prior)
        shape, rate = found.gamma + 2.0 * hyper.prior_shape, found.coef**2 + 2.0 * hyper.prior_rate
        prior = bounded_ratio(shape, rate, LARGEST_PRECISION, at.prior)
        n_rows = max(self.dof - float(xp.sum(found.gamma)), 0.0) + 2.0 * hyper.noise_shape
        rss = found.rss + 2.0 * hyper.noise_rate
        noise = bounded_ratio(n_rows, rss, 1.0 / hyper.noise_floor, at.noise)
        relevant, coef = prior < self.threshold, found.coef
        active, pruned_prior, change = at.active, at.pruned_prior, inf
        every = bool(xp.all(relevant))
        if not every:
            coef = xp.where(relevant, coef, 0.0)
        if at.coef is not None:
            change = float(xp.sum(xp.abs(coef - at.coef)))
        if not every:
            slots = xp.nonzero(relevant)[0]
            pruned_prior = _scattered(prior, active, pruned_prior)
            active, prior, coef = (xp.take(part, slots) for part in (active, prior, coef))
        return _Params(
            active=active, prior=prior, noise=noise, pruned_prior=pruned_prior, coef=coef, change=change
        )

    def settled(self, before: _Params, after: _Params) -> bool:
        """Whether the coefficients have ceased to change, or none is left."""
        return after.change < self.tol or not after.active.shape[0]


def ard(
    rows: Array,
    targets: Array,
    rest: float,
    dof: float,
    *,
    hyper: HyperPriors,
    threshold: float,
    tol: float,
    max_iter: int,
) -> tuple[EvidenceFit, Array]:
    """Maximise the evidence over the precisions of all coefficients and of the noise: MacKay's fixed point.

    Columns and targets are standardized, and all precisions begin at one. A column of zeros determines
    nothing of its coefficient and is pruned from the start. Returns the fit, and the indices of the columns
    that were not pruned; `prior` is the precision of every coefficient, of a pruned column the one that it
    was pruned for, infinite where the column is zero.

    `rows` (m, d) are any with the same Gram matrix as all rows, `rest` squares of the targets beyond theirs,
    and `dof` is the total weight, less one where an intercept is integrated out. Columns with a precision
    above the threshold are pruned; the search stops when the coefficients change by less than `tol`, all
    together.
    """
    xp = namespace_of(rows)
    lengths = column_lengths(rows)
    nonzero, ones = lengths > 0, xp.ones_like(lengths)
    active = xp.nonzero(nonzero)[0]
    steps = _Steps(hyper=hyper, dof=dof, threshold=threshold, tol=tol)
    data = Whole(value=_Rows(rows=rows, targets=targets, rest=rest))
    start = _Params(
        active=active, prior=xp.take(ones, active), noise=1.0, pruned_prior=xp.where(nonzero, ones, inf)
    )
    found = em(
        steps.expect,
        steps.maximize,
        start,
        data,
        max_iter=max_iter,
        label="evidence",
        settled=steps.settled,
    )
    at: _Params = found.params
    last, root = data.reduce(partial(_posterior_and_root, params=at))
    none = xp.zeros_like(at.pruned_prior)
    outside = xp.zeros((none.shape[0], at.active.shape[0]), dtype=none.dtype, device=device(none))
    return EvidenceFit(
        coef=_scattered(last.coef, at.active, none),
        root=_scattered(root, at.active, outside),
        prior=_scattered(at.prior, at.active, at.pruned_prior),
        noise=at.noise,
        gamma=float(xp.sum(last.gamma)),
        rss=last.rss,
        rank=min(*rows.shape, at.active.shape[0]),
        log_evidence=_log_evidence(last, at.prior, at.noise, dof),
        search=found,
    ), at.active


def _posterior_and_root(data: _Rows, params: _Params) -> tuple[_Posterior, Array]:
    """Return the posterior at the parameters, and the root of its covariance, G of the active columns."""
    used = data.columns.only(params.active)
    if not params.prior.shape[0]:
        return _posterior(used, params.prior, params.noise), used.gram
    width = 1.0 / namespace_of(params.prior).sqrt(params.prior)
    found = _posterior(used, params.prior, params.noise)
    inverse = found.inverse
    if inverse is None:
        inverse = _precision_factor(used, width, params.noise)[1]
    return found, params.noise**0.5 * width[:, None] * inverse


def _posterior(columns: _Columns, prior: Array, noise: float) -> _Posterior:
    """Return the posterior for given precisions, in the space of the columns or of fewer rows."""
    xp = namespace_of(prior)
    m, k = columns.rows.shape
    if not k:
        squares = columns.rest + float(xp.sum(columns.targets**2))
        return _Posterior(coef=prior, gamma=prior, rss=squares, log_det=0.0)
    width, inverse = 1.0 / xp.sqrt(prior), None
    if m < k:
        coef, gamma, log_det = _by_rows(columns, width, noise)
    else:
        pivots, inverse, projections = _precision_factor(columns, width, noise)
        coef = width * (inverse @ projections)
        gamma = 1.0 - xp.sum(inverse**2, axis=1)
        log_det = 2.0 * float(xp.sum(xp.log(pivots)))
    residuals = columns.targets - columns.rows @ coef
    rss = columns.rest + float(residuals @ residuals)
    gamma = xp.maximum(gamma, xp.zeros_like(gamma))
    return _Posterior(coef=coef, gamma=gamma, rss=rss, log_det=log_det, inverse=inverse)


def _precision_factor(columns: _Columns, width: Array, noise: float) -> tuple[Array, Array, Array]:
    """Return the diagonal of U, U⁻¹, and U⁻ᵀ Aᵀ √noise z; UᵀU = M = I + AᵀA with A = √noise R width.

    U is upper triangular: by Cholesky where every column is independent enough of those before it, else by
    the QR of A over I.
    """
    found = _by_cholesky(columns, width, noise)
    if found is not None:
        return found
    xp = namespace_of(width)
    k = width.shape[0]
    identity = xp.eye(k, dtype=width.dtype, device=device(width))
    above = noise**0.5 * xp.concat([columns.rows * width, columns.targets[:, None]], axis=1)
    below = xp.concat([identity, xp.zeros_like(identity[:, :1])], axis=1)
    both = triangle(xp.concat([above, below]))
    upper = both[:k, :k]
    inverse = solve_triangular(upper.T, identity, transposed=True)
    return xp.linalg.diagonal(upper), inverse, both[:k, k]


def _by_cholesky(columns: _Columns, width: Array, noise: float) -> tuple[Array, Array, Array] | None:
    xp = namespace_of(width)
    precision = (noise * width)[:, None] * columns.gram * width
    lengths = 1.0 + xp.linalg.diagonal(precision)
    if not float(xp.max(lengths)) < 1.0 / INDEPENDENT**2:
        return None
    if is_numpy_array(precision):
        from scipy.linalg import lapack

        precision.flat[:: len(width) + 1] = lengths
        upper, info = lapack.dpotrf(precision.T, clean=1)  # the transpose is in the order of Fortran
        if info:
            return None
        pivots, inverse = upper.diagonal(), lapack.dtrtri(upper)[0]
    else:
        identity = xp.eye(width.shape[0], dtype=width.dtype, device=device(width))
        lower = xp.linalg.cholesky(precision + identity)
        pivots, inverse = xp.linalg.diagonal(lower), solve_triangular(lower, identity).T
    if not bool(xp.all(pivots**2 > INDEPENDENT * lengths)):
        return None
    return pivots, inverse, inverse.T @ (noise * width * columns.products)


def _by_rows(columns: _Columns, width: Array, noise: float) -> tuple[Array, Array, float]:
    """Return coefficients, γ and log |M| from C = I + A Aᵀ, (m, m)."""
    xp = namespace_of(width)
    a = noise**0.5 * columns.rows * width
    identity = xp.eye(a.shape[0], dtype=a.dtype, device=device(a))
    lower = triangle(xp.concat([a.T, identity])).T
    projections = solve_triangular(lower, a)
    white = solve_triangular(lower, noise**0.5 * columns.targets[:, None])[:, 0]
    log_det = 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(lower))))
    return width * (projections.T @ white), xp.sum(projections**2, axis=0), log_det


def _log_evidence(found: _Posterior, prior: Array, noise: float, dof: float) -> float:
    """Return log N(y | 0, I / noise + X diag(1/prior) Xᵀ)."""
    length = float(prior @ found.coef**2)
    return 0.5 * (dof * log(noise / (2.0 * pi)) - found.log_det - noise * found.rss - length)


def _scattered(part: Array, index: Array, others: Array) -> Array:
    """Return `others` with `part` at the indices along the first axis."""
    xp = namespace_of(others)
    if is_numpy_array(others):
        found = others.copy()
        found[index] = part
        return found
    n = others.shape[0]
    slots = np.arange(n)
    slots[to_numpy(index)] = n + np.arange(part.shape[0])
    return xp.take(xp.concat([others, part]), xp.asarray(slots, device=device(others)), axis=0)


class ARDRegression(EvidenceModel):
    """Linear regression with wᵢ ~ N(0, 1/λᵢ), a precision for each coefficient, maximising the evidence.

    Automatic relevance determination: columns that the targets do not need get ever greater precisions, and
    are pruned. Parameters and attributes are scikit-learn's; α is the precision of the noise.

    Exact in one pass: iterations use the triangular factor of the rows alone.

    Intervals are of new targets alone. `posterior_`, and standard deviations without the noise, are those
    given the precisions, which are estimates: intervals by them would cover 0.8 to 0.88 of a claimed 0.9.

    Parameters
    ----------
    max_iter, tol
        Of MacKay's fixed point, as in :class:`BayesianRidge`.
    alpha_1, alpha_2, lambda_1, lambda_2 : float
        Shape and rate of Gamma priors of α and of every λᵢ; the rates are in units of Var(y) and of
        Var(y) / Var(xᵢ), so that units do not matter.
    compute_score : bool
        Whether to store the objective of every iteration in `scores_`.
    threshold_lambda : float
        Columns with a greater λᵢ are pruned. It is the λᵢ of standardized columns and target, λᵢ Var(y) /
        Var(xᵢ), so that units do not matter; on standardized data that is scikit-learn's, which elsewhere
        prunes every column of small targets.
    fit_intercept : bool
        Whether there is an intercept, with a flat prior.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Posterior mean of the coefficients; zero for pruned columns.
    intercept_ : float
        The intercept; zero with ``fit_intercept=False``.
    alpha_ : float
        Precision of the noise.
    lambda_ : array of shape (n_features,)
        Precision of every coefficient; of a pruned column the one that it was pruned for, infinite where the
        column is constant (zero, without an intercept) and its coefficient undetermined.
    pruned_ : array of bool of shape (n_features,)
        Which columns were pruned.
    sigma_ : array of shape (n_kept, n_kept)
        Posterior covariance of the coefficients that were not pruned.
    gamma_ : float
        Effective number of parameters.
    log_evidence_ : float
        log N(y | 0, I/α + X diag(1/λ) Xᵀ) over the columns that were not pruned; the intercept is integrated
        out under a flat prior of density one, as in :class:`BayesianLinearRegression`.
    posterior_ : MultivariateNormal
        Of the intercept, where there is one, and the coefficients that were not pruned.
    objective_trace_, scores_, n_iter_, converged_, noise_variance_, noise_vanished_, statistic_
        As in :class:`BayesianRidge`.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

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

    _common_scale = False

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        threshold_lambda: float = 10_000.0,
        alpha_1: float = 1e-6,
        alpha_2: float = 1e-6,
        lambda_1: float = 1e-6,
        lambda_2: float = 1e-6,
        max_iter: int = 300,
        tol: float = 1e-3,
        compute_score: bool = False,
    ) -> None:
        self.fit_intercept, self.threshold_lambda = fit_intercept, threshold_lambda
        self.alpha_1, self.alpha_2 = alpha_1, alpha_2
        self.lambda_1, self.lambda_2 = lambda_1, lambda_2
        self.max_iter, self.tol, self.compute_score = max_iter, tol, compute_score

    @property
    def sigma_(self) -> Array:
        """Posterior covariance of the coefficients that were not pruned."""
        check_fitted(self)
        xp = namespace_of(self.coef_)
        active = xp.nonzero(~self.pruned_)[0]
        return xp.take(xp.take(self._coef_covariance(), active, axis=0), active, axis=1)

    def predict_quantiles(
        self, X: Any, alpha: Any = (0.05, 0.95), *, include_noise: bool = True
    ) -> np.ndarray:
        """Return quantiles of each row's target, (n_samples, n_levels).

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        alpha : array of shape (n_levels,)
            Probabilities between 0 and 1.
        include_noise : bool
            True alone. The precisions are estimates, one a coefficient, and which columns are pruned was
            chosen by the same rows: quantiles of the linear predictor given them are too close together.
        """
        if not include_noise:
            raise ValueError(
                "include_noise=False has no interval here: a precision for each coefficient was estimated, "
                "or the column pruned, by the same rows; intervals of the linear predictor that take them "
                "for known cover too little. Ask for intervals of targets, or use BayesianRidge, which "
                "estimates one precision, or LinearRegression"
            )
        return super().predict_quantiles(X, alpha)

    def _plugged_in(self, scaled: Any, found: Any) -> tuple[float, float]:
        """Return the noise by the degrees of freedom that all columns leave, where there are any, and these.

        The rows chose which columns to prune, so pruned columns have cost degrees of freedom, too.
        """
        dof = self._dof() - found.rank
        if self.noise_vanished_ or not dof > 0:
            return super()._plugged_in(scaled, found)
        return found.rss / dof / scaled.noise_precision(1.0), dof

    @property
    def posterior_(self) -> Any:
        """The posterior of the intercept, where there is one, and the coefficients that were not pruned."""
        check_fitted(self)
        n_intercepts = int(self._posterior_.has_intercept)
        mean, root = self._posterior_.parameters()
        xp = namespace_of(mean)
        used = np.concatenate([np.ones(n_intercepts, dtype=bool), ~to_numpy(self.pruned_)])
        if not used.any():
            raise ValueError("there is no posterior: every column was pruned, so nothing is uncertain")
        index = xp.asarray(np.flatnonzero(used), device=device(mean))
        mean, root = (xp.take(part, index, axis=0) for part in (mean, root))
        names = self._names()
        if names is not None:
            names = [name for name, own in zip(names, used, strict=True) if own]
        covariance = covariance_from_root(self._noise() ** 0.5 * root)
        return self._around(mean, covariance, self._predictive_dof_, names=names)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("threshold_lambda", self.threshold_lambda, above=0.0)

    def _search(self, scaled: StandardizedFactor) -> tuple[EvidenceFit, HyperPriors]:
        rows, targets, rest = reduced_rows(scaled.statistic, fit_intercept=bool(self.fit_intercept))
        hyper = self._hyper_priors(scaled, float(rest[0]), min(rows.shape))
        found, active = ard(
            rows,
            targets[:, 0],
            float(rest[0]),
            self._dof(),
            hyper=hyper,
            threshold=self.threshold_lambda,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        xp = namespace_of(found.coef)
        finite = xp.isfinite(found.prior)
        self.lambda_ = xp.where(finite, scaled.prior_precision(xp.where(finite, found.prior, 1.0)), inf)
        none = xp.zeros_like(found.coef)
        self.pruned_ = _scattered(xp.ones_like(xp.take(none, active)), active, none) == 0
        return found, hyper

    def _warnings(self) -> list[tuple[str, type[Warning]]]:
        found = super()._warnings()
        if bool(namespace_of(self.pruned_).all(self.pruned_)):
            message = (
                f"every column was pruned, and predictions are constant: no precision is below "
                f"threshold_lambda={self.threshold_lambda}"
            )
            found = [(message, UserWarning), *found]
        return found
