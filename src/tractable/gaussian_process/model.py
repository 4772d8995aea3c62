"""A Gaussian process given its hyper-parameters: evidence of rows, and the posterior at others."""

from math import inf, log
from typing import Any

import numpy as np

from tractable.arrays.batched import diagonal_matrix, positions
from tractable.arrays.linalg import jittered_cholesky
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import standard_gamma, standard_normal
from tractable.data.blocks import map_matrix_rows
from tractable.gaussian_process.mean import MeanFunction
from tractable.gaussian_process.posteriors.exact import (
    EPSILON,
    DualPosterior,
    Evidence,
    Observations,
    PrimalPosterior,
    factorized,
    log_evidence,
    primal_log_evidence,
    signal_diagonal,
)
from tractable.gaussian_process.rows import TrainingRows, all_differ
from tractable.kernels import Kernel, White
from tractable.primitives.threads import blas_for_rows
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.standardizer import Standardizer
from tractable.value import replace, value

#: Entries of the matrix between a block of new rows and the rows of the fit.
BLOCK_ENTRIES = 2**20


@value
class Prior:
    """The hyper-parameters: of the kernel, and the noise where it is learned.

    Parameters
    ----------
    kernel : Kernel
        The covariance function of the targets, without the noise.
    noise : White or float
        The noise of every row, learned or known.
    noise_is_term : bool
        Whether the noise was a term of the kernel that was given.
    """

    kernel: Kernel
    noise: White | float
    noise_is_term: bool = False

    @classmethod
    def learned(cls, kernel: Kernel, white: White | None, known: float | None, variance: float) -> "Prior":
        """Return a kernel with the noise that is known, that is a term of it, or that is added.

        Parameters
        ----------
        kernel : Kernel
            The covariance function without its term of noise.
        white : White or None
            This term.
        known : float or None
            σ² where it is known.
        variance : float
            That of the targets, by which noise that is added starts.
        """
        if known is not None and white is not None:
            raise ValueError(
                "noise_variance must be None where the kernel has white noise: it is one or the other"
            )
        if known is not None:
            return cls(kernel=kernel, noise=float(known))
        if white is not None:
            return cls(kernel=kernel, noise=white, noise_is_term=True)
        if kernel.has_noise:
            return cls(kernel=kernel, noise=0.0)
        added = White(0.1 * variance, noise_level_bounds=(1e-8 * variance, 1e2 * variance))
        return cls(kernel=kernel, noise=added)

    @property
    def given_kernel(self) -> Kernel:
        """The kernel, with noise where it was given with it."""
        if self.noise_is_term and isinstance(self.noise, White):
            return self.kernel + self.noise
        return self.kernel

    @property
    def noise_variance(self) -> float:
        """σ²."""
        return self.noise.noise_level if isinstance(self.noise, White) else float(self.noise)

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that have hyper-parameters."""
        return (self.kernel, self.noise) if isinstance(self.noise, White) else (self.kernel,)

    @property
    def theta(self) -> np.ndarray:
        """Logarithms of the free hyper-parameters, σ² last."""
        return np.concatenate([part.theta for part in self.parts])

    @property
    def bounds(self) -> np.ndarray:
        """Their bounds, (p, 2)."""
        return np.concatenate([part.bounds for part in self.parts])

    def with_theta(self, theta: np.ndarray) -> "Prior":
        """Return the prior with other hyper-parameters."""
        if not isinstance(self.noise, White):
            return replace(self, kernel=self.kernel.with_theta(theta))
        p = len(self.kernel.theta)
        return replace(self, kernel=self.kernel.with_theta(theta[:p]), noise=self.noise.with_theta(theta[p:]))

    @property
    def n_learned(self) -> float:
        """Number of free hyper-parameters; one with a prior, of which it is learned too, is a half."""
        return float(sum(np.sum(np.where(part.has_prior, 0.5, 1.0)) for part in self.parts))

    def log_density(self) -> tuple[float, np.ndarray]:
        """Return the log density of the hyper-parameters that have a prior, and its gradient in theta."""
        gradient = np.concatenate([part.log_prior_gradient() for part in self.parts])
        return sum(part.log_prior() for part in self.parts), gradient

    def log_evidence(self, rows: Observations, *, gradient: bool = True) -> Evidence:
        """Return the log evidence of rows, in the space of features where they are fewer than rows."""
        noise = self.noise_variance
        find = primal_log_evidence if self.is_primal(rows) else log_evidence
        return find(self.kernel, noise, rows, gradient=gradient)

    def gradient_of(self, found: Evidence) -> np.ndarray:
        """Return the gradient of the evidence in theta."""
        return self.with_noise_gradient(found.kernel_gradient, found.noise_gradient)

    def with_noise_gradient(self, by_kernel: np.ndarray, by_noise: float) -> np.ndarray:
        """Return derivatives by theta, of those of the kernel and by log σ² where the noise is free."""
        free = isinstance(self.noise, White) and len(self.noise.theta)
        return np.append(by_kernel, [by_noise] if free else [])

    def posterior(self, rows: Observations) -> DualPosterior | PrimalPosterior:
        """Return the posterior of rows."""
        noise = self.noise_variance
        if self.is_primal(rows):
            return PrimalPosterior.from_features(rows, self.kernel.features(rows.x), noise)
        found = factorized(self.kernel, noise, rows)
        if found is None:
            raise ValueError(
                f"kernel must be positive semi-definite and finite at the rows of X, and {self.kernel!r} is "
                "not: their covariance has no Cholesky factor even with a jitter of its diagonal"
            )
        return found

    def is_primal(self, rows: Observations) -> bool:
        """Whether the kernel has a feature map of fewer features than there are rows."""
        n, d = (int(size) for size in rows.x.shape)
        return self.noise_variance > 0.0 and self.kernel.has_fewer_features(d, n)


@value
class FittedTargets:
    """The posterior of the targets that the same rows have.

    Parameters
    ----------
    targets : tuple of int
        Which targets.
    rows : array of int or None
        Which of the rows of the fit have them, None where all have.
    posterior : DualPosterior or PrimalPosterior
        Of these rows.
    """

    targets: tuple[int, ...]
    rows: np.ndarray | None
    posterior: Any


@value
class GaussianProcess:
    """The posterior of functions given rows: y = shift + scale (f(x) + h(x)ᵀβ + ε), one function a target.

    Parameters
    ----------
    prior : Prior
        The kernel and the noise.
    mean : MeanFunction
        h.
    parts : tuple of FittedTargets
        Posteriors, one for each set of rows that targets have.
    shift, scale : array (t,)
        What targets were standardized by; 0 and 1 where they were not.
    join : bool
        Whether equal rows are one.
    n_learned : float
        Number of hyper-parameters that were learned from the rows; one with a prior is a half.
    """

    prior: Prior
    mean: MeanFunction
    parts: tuple[FittedTargets, ...]
    shift: Array
    scale: Array
    join: bool = True
    n_learned: float = 0.0

    @property
    def dof(self) -> float:
        """Degrees of freedom of predictions: targets less coefficients and learned hyper-parameters.

        Infinite where the hyper-parameters are known. No fewer than three, so that there is a variance.
        """
        return max(self.n_residuals - self.n_learned, 3.0) if self.n_learned else inf

    @property
    def widening(self) -> float:
        """What variances are multiplied by, since hyper-parameters were fitted to the same targets."""
        return max(self.n_residuals / self.dof, 1.0) if self.n_learned else 1.0

    @property
    def n_residuals(self) -> float:
        """Number of targets less that of the coefficients of their means."""
        parts = ((part.posterior.rows, len(part.targets)) for part in self.parts)
        return sum(t * (rows.dof + rows.n_repeats) for rows, t in parts)

    @property
    def log_evidence(self) -> float:
        """The log of p(y), in the units of y, with coefficients of the mean in the units of X and y."""
        total = 0.0
        for part in self.parts:
            rows = part.posterior.rows
            total += part.posterior.log_evidence(self.prior.noise_variance)
            logs = sum(log(float(self.scale[j])) for j in part.targets)
            total += len(part.targets) * self.mean.log_scale - (rows.dof + rows.n_repeats) * logs
        return total

    @property
    def jitter(self) -> float:
        """The largest jitter of the posteriors."""
        return max(float(part.posterior.jitter) for part in self.parts)

    @property
    def noise_variances(self) -> Array:
        """Variance of the noise of each target, in the units of y, (t,)."""
        return self.prior.noise_variance * self.scale**2

    def extended(self, rows: TrainingRows, n_before: int) -> "GaussianProcess":
        """Return the posterior of all rows, of which the first are known.

        Parameters
        ----------
        rows : TrainingRows
            All rows, targets standardized.
        n_before : int
            How many of them are known.
        """
        known, found = {part.targets: part for part in self.parts}, []
        by_target = list(rows.by_target())
        if self.mean.kept is not None:
            # Functions that were dependent at the first rows may be independent now.
            moments = DiagonalMoments.of(rows.x, rows.weights)
            mean = self.mean.of_varying(Standardizer.from_moments(moments))
            for _, _, own in by_target:
                mean = mean.independent(mean(own.x))
            if mean.kept != self.mean.kept:
                return replace(self, mean=mean).refitted(by_target)
        for targets, which, own in by_target:
            before = known.get(targets)
            if before is None:
                found.append(self._refitted(targets, which, own))
                continue
            if self.join and self.prior.noise_variance == 0.0 and not all_differ(own.x):
                found.append(self._refitted(targets, which, own))  # equal rows without noise are one
                continue
            old = n_before if before.rows is None else before.rows.shape[0]
            later = np.arange(old, own.x.shape[0])
            more = own.only(later).observations(self.mean, join=False, noise=self.prior.noise_variance)
            if not more.x.shape[0]:
                found.append(replace(before, rows=which))
                continue
            posterior = before.posterior.extended(
                self.prior.kernel,
                self.prior.noise_variance,
                _both(before.posterior.rows, more),
            )
            if posterior is None:
                found.append(self._refitted(targets, which, own))
            else:
                found.append(FittedTargets(targets=targets, rows=which, posterior=posterior))
        return replace(self, parts=tuple(found))

    def refitted(self, by_target: Any) -> "GaussianProcess":
        """Return the posterior of rows, given as `TrainingRows.by_target` gives them."""
        return replace(self, parts=tuple(self._refitted(*part) for part in by_target))

    def _refitted(self, targets: tuple[int, ...], which: Any, rows: TrainingRows) -> FittedTargets:
        posterior = self.prior.posterior(
            rows.observations(self.mean, join=self.join, noise=self.prior.noise_variance)
        )
        return FittedTargets(targets=targets, rows=which, posterior=posterior)

    def predict_mean(self, x: Array) -> Array:
        """Return the posterior mean of each target at rows, (q, t)."""
        return self._by_blocks(x, self._means)

    def moments(self, x: Array, *, include_noise: bool) -> tuple[Array, Array]:
        """Return the locations and squared scales of predictions at rows, (q, t) each."""
        found = self._by_blocks(x, lambda rows: self._moments(rows, include_noise))
        t = self.shift.shape[0]
        return found[:, :t], self.widening * found[:, t:]

    def covariances(self, x: Array, *, include_noise: bool) -> Array:
        """Return the squared scale matrix of predictions of each target at rows, (t, q, q)."""
        xp, basis, kernel = namespace_of(x), self.mean(x), self.prior.kernel
        added = self.noise_diagonal(x) if include_noise else xp.zeros_like(x[:, 0])
        found: dict[int, Array] = {}
        for part in self.parts:
            cross = part.posterior.cross(kernel, x)
            covariance = part.posterior.covariance(kernel, x, cross, basis) + diagonal_matrix(added)
            found |= {j: self.widening * self.scale[j] ** 2 * covariance for j in part.targets}
        return xp.stack([found[j] for j in range(len(found))])

    def sample(self, x: Array, n_samples: int, rng: Any, *, include_noise: bool) -> Array:
        """Draw functions from the posterior, at rows: (n_samples, q, t).

        Parameters
        ----------
        x : array (q, d)
            Rows.
        n_samples : int
            Number of functions.
        rng : Generator
            Where randomness comes from.
        include_noise : bool
            Whether noise is added.
        """
        xp = namespace_of(x)
        means, covariances = self.predict_mean(x), self.covariances(x, include_noise=include_noise)
        t = self.shift.shape[0]
        draws = xp.stack([normal_draws(covariances[j, ...], n_samples, rng) for j in range(t)], axis=-1)
        if self.n_learned:
            half = xp.asarray(0.5 * self.dof, dtype=draws.dtype, device=device(draws))
            draws = draws * xp.sqrt(half / standard_gamma(rng, half, n_samples))[:, None, None]
        return means + draws

    def leave_one_out(self, rows: TrainingRows) -> tuple[Array, Array]:
        """Return means and variances of each target given all other rows, (n, t).

        Where a target is missing it is the prediction of it. Of equal rows that are joined, f given the other
        rows is updated by the targets of the others of them. The variance is infinite, and the mean anything,
        where a row alone determines a coefficient of the mean.

        Parameters
        ----------
        rows : TrainingRows
            The rows of the fit, targets standardized.
        """
        xp, noise = namespace_of(rows.x), self.prior.noise_variance
        found: dict[int, tuple[Any, Any]] = {}
        for part in self.parts:
            own = rows if part.rows is None else rows.only(part.rows)
            joined: Observations = part.posterior.rows
            at = joined.positions
            left = xp.take(part.posterior.precisions(), at)
            mean_noise = xp.take(joined.noise_scale, at)
            precision = own.weights / own.noise_scale
            others = 1.0 / mean_noise - precision
            others = xp.where(others > 1e-12 * precision, others, xp.zeros_like(others))
            # f given other x has the variance v = free / left; targets at the same x are others / noise as
            # precise. In products instead of quotients, since `left` or `noise` may be 0.
            free = 1.0 - noise * mean_noise * left
            free = xp.where(free > 0.0, free, xp.zeros_like(free))
            alone = others == 0.0
            total = xp.where(alone, left, noise * left + others * free)
            known = total > 0.0
            total = xp.where(known, total, xp.ones_like(total))
            function = free * xp.where(alone, xp.ones_like(free), noise * xp.ones_like(free)) / total
            spread = function + noise * own.noise_scale
            floor = EPSILON * signal_diagonal(self.prior.kernel, own.x)  # as of predictions
            spread = xp.where(spread > 0.0, spread, floor)
            spread = xp.where(known, spread, xp.full_like(spread, inf))
            for k, j in enumerate(part.targets):
                y, dual = (xp.take(of[:, k], at) for of in (joined.y, part.posterior.dual))
                sum_of_others = y / mean_noise - precision * own.y[:, j]
                change = xp.where(alone, -dual, free * sum_of_others + noise * (left * y - dual))
                centre = xp.where(alone, y, xp.zeros_like(y)) + change / total
                found[j] = self._everywhere(j, centre, spread, rows, part)
        columns = [found[j] for j in range(len(found))]
        return xp.stack([c[0] for c in columns], axis=1), xp.stack([c[1] for c in columns], axis=1)

    def _everywhere(
        self, j: int, mean: Array, variance: Array, rows: TrainingRows, part: FittedTargets
    ) -> Any:
        """Return moments in the units of y, with predictions at the rows that lack the target."""
        xp = namespace_of(mean)
        mean, variance = self.shift[j] + self.scale[j] * mean, self.scale[j] ** 2 * variance
        if part.rows is None:
            return mean, variance
        predicted = self._by_blocks(rows.x, lambda x: self._moments(x, include_noise=False))
        own_noise = self.prior.noise_variance * (rows.noise_scale - 1.0)
        t, noise = self.shift.shape[0], self.scale[j] ** 2 * (self.noise_diagonal(rows.x) + own_noise)
        n, m = rows.x.shape[0], mean.shape[0]
        slots = np.arange(n)
        slots[part.rows] = n + np.arange(m)
        at = positions(slots, rows.x)
        means = xp.take(xp.concat([predicted[:, j], mean]), at)
        return means, xp.take(xp.concat([predicted[:, t + j] + noise, variance]), at)

    def _by_blocks(self, x: Array, function: Any) -> Array:
        xp = namespace_of(x)
        n = max(part.posterior.rows.x.shape[0] for part in self.parts)
        with blas_for_rows(n):
            blocks = map_matrix_rows(lambda rows: function(x[rows, :]), x.shape[0], n, x, BLOCK_ENTRIES)
        return blocks[0] if len(blocks) == 1 else xp.concat(blocks)

    def _means(self, x: Array) -> Array:
        xp, basis = namespace_of(x), self.mean(x)
        found: dict[int, Array] = {}
        for part in self.parts:
            mean = part.posterior.mean(part.posterior.cross(self.prior.kernel, x), basis)
            found |= {j: mean[:, k] for k, j in enumerate(part.targets)}
        return self.shift + self.scale * xp.stack([found[j] for j in range(len(found))], axis=1)

    def _moments(self, x: Array, include_noise: bool) -> Array:
        xp, basis, kernel = namespace_of(x), self.mean(x), self.prior.kernel
        added = self.noise_diagonal(x) if include_noise else 0.0
        means, variances = {}, {}
        for part in self.parts:
            cross = part.posterior.cross(kernel, x)
            mean = part.posterior.mean(cross, basis)
            variance = part.posterior.variance(kernel, x, cross, basis)
            for k, j in enumerate(part.targets):
                means[j] = self.shift[j] + self.scale[j] * mean[:, k]
                variances[j] = self.scale[j] ** 2 * (variance + added)
        order = range(len(means))
        return xp.stack([*(means[j] for j in order), *(variances[j] for j in order)], axis=1)

    def noise_diagonal(self, x: Array) -> Array:
        """Return the variance of the noise of each row, (q,): σ², and what noise within the kernel adds."""
        kernel = self.prior.kernel
        xp = namespace_of(x)
        noise = xp.full_like(x[:, 0], self.prior.noise_variance)
        return noise + (kernel.diagonal(x) - signal_diagonal(kernel, x)) if kernel.has_noise else noise


def normal_draws(covariance: Array, n_samples: int, rng: Any) -> Array:
    """Draw from N(0, covariance), which may be singular, (n_samples, q)."""
    lower = jittered_cholesky(covariance, max_jitter=1e-6, name="the covariance of the function at X").lower
    return standard_normal(rng, (n_samples, lower.shape[0]), like=lower) @ lower.T


def _both(first: Observations, second: Observations) -> Observations:
    """Return two sets of observations, one after the other."""
    xp = namespace_of(first.x)
    joined = {
        name: xp.concat([getattr(first, name), getattr(second, name)])
        for name in ("x", "y", "basis", "noise_scale")
    }
    sums = {
        name: getattr(first, name) + getattr(second, name) for name in ("n_repeats", "log_repeats", "within")
    }
    n = first.x.shape[0]
    positions = xp.concat([first.positions, n + second.positions])
    return Observations(**joined, **sums, joined=positions)
