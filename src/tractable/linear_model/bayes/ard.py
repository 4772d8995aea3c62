"""Linear regression that finds out which columns matter."""

import warnings
from collections.abc import Callable
from math import inf, log, pi
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.linalg import solve_triangular
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.base import Estimator, FitInterrupted, ModelTags, check_fitted
from tractable.base.parameters import check_number
from tractable.engines.least_squares import reduced_rows
from tractable.linear_model.bayes.evidence import (
    HyperPriors,
    Units,
    bounded_ratio,
    check_evidence_parameters,
    fixed_point,
)
from tractable.linear_model.bayes.posterior import PlaneAnswers, PlaneBelief, of_root
from tractable.linear_model.noise_floor import least_noise, lost_noise, warn_of_no_noise
from tractable.linear_model.rows import OneTargetMixin, steadied
from tractable.primitives.linear import triangle
from tractable.primitives.threads import single_threaded_blas
from tractable.statistics import LinearFactor
from tractable.value import value

__all__ = ["ARDRegression", "ArdColumns", "ArdFit", "ard", "placed"]


#: A column of which less than this is left by those before it needs the digits of a QR.
CLEAR = 1e-6
#: The greatest precision that is written down: that of a coefficient of nothing.
NEVER = 1e60


@value
class ArdColumns:
    """The columns in play: rows (m, k), Gram matrix (k, k), products with the targets (k,), places (k,)."""

    rows: Array
    gram: Array
    pull: Array
    index: Array

    def only(self, slots: Array) -> "ArdColumns":
        """Return some of the columns."""
        xp = namespace_of(self.rows)
        return ArdColumns(
            rows=xp.take(self.rows, slots, axis=1),
            gram=xp.take(xp.take(self.gram, slots, axis=0), slots, axis=1),
            pull=xp.take(self.pull, slots),
            index=xp.take(self.index, slots),
        )


@value
class ArdFit:
    """Where the search ended.

    Parameters
    ----------
    coef : array (d,)
        Zero for pruned columns.
    prior : array (d,)
        Precision of every coefficient; of a pruned column the one that it was pruned for, infinite where it
        is nothing but zeros.
    kept : array (k,)
        Places of the columns that were kept.
    root : array (k, k)
        G: the covariance of their coefficients is G Gᵀ / noise.
    gamma : float
        Effective number of parameters.
    noise : float
        Precision of the noise.
    residual : float
        Sum of squared residuals.
    log_evidence : float
    scores : tuple of float
    converged : bool
    interrupted : bool
        By Ctrl-C.
    """

    coef: Array
    prior: Array
    kept: Array
    root: Array
    gamma: float
    noise: float
    residual: float
    log_evidence: float
    scores: tuple[float, ...]
    converged: bool
    interrupted: bool


@value
class _Step:
    """Columns in play, their precisions, that of the noise, all precisions, and coefficients before."""

    columns: ArdColumns
    prior: Array
    noise: float
    everywhere: Array
    coef: Any = None


@value
class _Posterior:
    """Of the columns in play: coefficients, how far the rows decide each, squared residuals, log |M|."""

    coef: Array
    gamma: Array
    residual: float
    log_det: float


def ard(
    rows: Array,
    targets: Array,
    beyond: float,
    weight: float,
    *,
    hyper: HyperPriors,
    threshold: float,
    tol: float,
    max_iter: int,
) -> ArdFit:
    """Maximise the evidence over the precisions of all coefficients and of the noise: MacKay's fixed point.

    Columns and targets are in units of their sizes, and all precisions begin at one.

    Parameters
    ----------
    rows : array (m, d)
        Any rows with the same Gram matrix as all rows: their triangular factor, or few rows themselves.
    targets : array (m,)
    beyond : float
        Squares of the targets beyond those.
    weight : float
        How many rows there were.
    hyper : HyperPriors
    threshold : float
        Columns with a greater precision are pruned.
    tol : float
        It stops when the coefficients move by less, all together.
    max_iter : int
    """
    xp = namespace_of(rows)
    d = int(rows.shape[1])
    columns = ArdColumns(
        rows=rows, gram=rows.T @ rows, pull=rows.T @ targets, index=xp.arange(d, device=device(rows))
    )

    def step(at: _Step) -> tuple[_Step, float, bool]:
        found = _posterior(at.columns, targets, beyond, at.prior, at.noise)
        score = _log_evidence(found, at.prior, at.noise, weight) + _log_density(hyper, at.prior, at.noise)
        shape, rate = found.gamma + 2.0 * hyper.prior_shape, found.coef**2 + 2.0 * hyper.prior_rate
        prior = bounded_ratio(shape, rate, xp.full_like(at.prior, NEVER), at.prior)
        told = max(weight - float(xp.sum(found.gamma)), 0.0) + 2.0 * hyper.noise_shape
        left = found.residual + 2.0 * hyper.noise_rate
        noise = float(bounded_ratio(told, left, 1.0 / hyper.noise_floor, at.noise))
        stays = prior < threshold
        coef = xp.where(stays, found.coef, 0.0)
        still = at.coef is not None and float(xp.sum(xp.abs(coef - at.coef))) < tol
        slots = xp.nonzero(stays)[0]
        columns, everywhere = at.columns, at.everywhere
        if slots.shape[0] < prior.shape[0]:
            everywhere = placed(prior, columns.index, everywhere)
            columns = columns.only(slots)
            prior, coef = (xp.take(part, slots) for part in (prior, coef))
        following = _Step(columns=columns, prior=prior, noise=noise, everywhere=everywhere, coef=coef)
        return following, score, still or not slots.shape[0]

    # A column of zeros says nothing of its coefficient, whatever the precision: it is not in play.
    there = xp.linalg.diagonal(columns.gram) > 0
    everywhere = xp.where(there, xp.ones_like(columns.pull), inf)
    if not bool(xp.all(there)):
        columns = columns.only(xp.nonzero(there)[0])
    start = _Step(columns=columns, prior=xp.ones_like(columns.pull), noise=1.0, everywhere=everywhere)
    found = fixed_point(step, start, max_iter=max_iter)
    at: _Step = found.state
    columns, prior, noise, everywhere = at.columns, at.prior, at.noise, at.everywhere
    last = _posterior(columns, targets, beyond, prior, noise)
    score = _log_evidence(last, prior, noise, weight)
    return ArdFit(
        coef=placed(last.coef, columns.index, xp.zeros_like(everywhere)),
        prior=placed(prior, columns.index, everywhere),
        kept=columns.index,
        root=_root(columns, prior, noise),
        gamma=float(xp.sum(last.gamma)),
        noise=noise,
        residual=last.residual,
        log_evidence=score,
        scores=(*found.scores, score + _log_density(hyper, prior, noise)),
        converged=found.converged,
        interrupted=found.interrupted,
    )


def placed(part: Array, index: Array, others: Array) -> Array:
    """Return `others` with the part in its places along the first axis."""
    xp = namespace_of(others)
    n = others.shape[0]
    slots = np.arange(n)
    slots[to_numpy(index)] = n + np.arange(part.shape[0])
    return xp.take(xp.concat([others, part]), xp.asarray(slots, device=device(others)), axis=0)


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


def _posterior(columns: ArdColumns, targets: Array, beyond: float, prior: Array, noise: float) -> _Posterior:
    """Return the posterior for given precisions, in the space of the columns or of fewer rows."""
    xp = namespace_of(prior)
    m, k = columns.rows.shape
    if not k:
        squares = beyond + float(xp.sum(targets**2))
        return _Posterior(coef=prior, gamma=prior, residual=squares, log_det=0.0)
    width = 1.0 / xp.sqrt(prior)
    if m < k:
        coef, gamma, log_det = _by_rows(columns, targets, width, noise)
    else:
        upper, told = _upper(columns, targets, width, noise)
        inverse = _inverse(upper)
        coef = width * (inverse @ told)
        # 1 - prior Σ_ii, which is never negative.
        gamma = 1.0 - xp.sum(inverse**2, axis=1)
        log_det = 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(upper))))
    residual = beyond + float(xp.sum((targets - columns.rows @ coef) ** 2))
    gamma = xp.where(gamma > 0, gamma, xp.zeros_like(gamma))
    return _Posterior(coef=coef, gamma=gamma, residual=residual, log_det=log_det)


def _upper(columns: ArdColumns, targets: Array, width: Array, noise: float) -> tuple[Array, Array]:
    """Return U, upper triangular, UᵀU = M = I + AᵀA with A = √noise R width, and U⁻ᵀ Aᵀ √noise z.

    By Cholesky where every column is clear of those before it, else by the QR of A over I.
    """
    xp = namespace_of(width)
    k = width.shape[0]
    identity = xp.eye(k, dtype=width.dtype, device=device(width))
    precision = identity + noise * (width[:, None] * columns.gram * width)
    lengths = xp.linalg.diagonal(precision)
    if float(xp.max(lengths)) < 1.0 / CLEAR**2:
        lower = xp.linalg.cholesky(precision)
        if bool(xp.all(xp.linalg.diagonal(lower) ** 2 > CLEAR * lengths)):
            return lower.T, solve_triangular(lower, (noise * width * columns.pull)[:, None])[:, 0]
    above = noise**0.5 * xp.concat([columns.rows * width, targets[:, None]], axis=1)
    below = xp.concat([identity, xp.zeros_like(identity[:, :1])], axis=1)
    both = triangle(xp.concat([above, below]))
    return both[:k, :k], both[:k, k]


def _by_rows(columns: ArdColumns, targets: Array, width: Array, noise: float) -> tuple[Array, Array, float]:
    """Return coefficients, γ and log |M| from C = I + A Aᵀ, (m, m)."""
    xp = namespace_of(width)
    a = noise**0.5 * columns.rows * width
    identity = xp.eye(a.shape[0], dtype=a.dtype, device=device(a))
    lower = triangle(xp.concat([a.T, identity])).T
    turned = solve_triangular(lower, a)
    white = solve_triangular(lower, noise**0.5 * targets[:, None])[:, 0]
    log_det = 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(lower))))
    return width * (turned.T @ white), xp.sum(turned**2, axis=0), log_det


def _root(columns: ArdColumns, prior: Array, noise: float) -> Array:
    """Return G of the columns in play."""
    xp = namespace_of(prior)
    if not prior.shape[0]:
        return columns.gram
    width = 1.0 / xp.sqrt(prior)
    upper, _ = _upper(columns, xp.zeros_like(columns.rows[:, 0]), width, noise)
    return noise**0.5 * width[:, None] * _inverse(upper)


def _inverse(upper: Array) -> Array:
    xp = namespace_of(upper)
    identity = xp.eye(upper.shape[0], dtype=upper.dtype, device=device(upper))
    return solve_triangular(upper.T, identity, transposed=True)


def _log_evidence(found: _Posterior, prior: Array, noise: float, weight: float) -> float:
    """Return log N(y | 0, I / noise + X diag(1/prior) Xᵀ)."""
    xp = namespace_of(prior)
    length = float(xp.sum(prior * found.coef**2))
    return 0.5 * (weight * log(noise / (2.0 * pi)) - found.log_det - noise * found.residual - length)


def _log_density(hyper: HyperPriors, prior: Array, noise: float) -> float:
    """Return that of the Gamma priors, but for a constant."""
    xp = namespace_of(prior)
    each = hyper.prior_shape * float(xp.sum(xp.log(prior))) - hyper.prior_rate * float(xp.sum(prior))
    return each + hyper.noise_shape * log(noise) - hyper.noise_rate * noise
