"""Automatic relevance determination: a precision for every coefficient, and columns that lose theirs."""

from math import inf, log, pi
from typing import Any

import numpy as np

from tractable.arrays.linalg import solve_triangular
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.linear_model.evidence_search import HyperPriors
from tractable.linear_model.fixed_point import bounded_ratio, fixed_point
from tractable.primitives.linear import triangle
from tractable.value import value

__all__ = ["ArdColumns", "ArdFit", "ard", "placed"]

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


def placed(part: Array, index: Array, others: Array) -> Array:
    """Return `others` with the part in its places along the first axis."""
    xp = namespace_of(others)
    n = others.shape[0]
    slots = np.arange(n)
    slots[to_numpy(index)] = n + np.arange(part.shape[0])
    return xp.take(xp.concat([others, part]), xp.asarray(slots, device=device(others)), axis=0)
