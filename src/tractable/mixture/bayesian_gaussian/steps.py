"""Variational Bayes for Gaussian mixtures: the E-step of a Gaussian mixture, and conjugate updates."""

from functools import cached_property

import numpy as np

from tractable.arrays.linalg import times_triangle
from tractable.covariance import Covariance, Diagonal, Full, Isotropic
from tractable.covariance.shapes import precision_diagonals, whiteners
from tractable.distributions.dirichlet import dirichlet_divergence
from tractable.distributions.wishart import multidigamma, wishart_divergence
from tractable.engines.kmeans import initial_responsibilities, initial_rows
from tractable.mixture.bayesian_gaussian.model import (
    MixturePrior,
    VariationalParameters,
    expected_log_weights,
    expected_weights,
    posterior_concentration,
)
from tractable.mixture.gaussian.model import GaussianParameters, GaussianSums
from tractable.mixture.gaussian.steps import GaussianProblem
from tractable.statistics.rows import counts
from tractable.value import value


@value
class BayesianGaussianProblem(GaussianProblem):
    """Coordinate ascent on the evidence lower bound (Bishop, section 10.2).

    With responsibilities at their optimum, the bound is Σ_n log Σ_k exp E log p(x_n, k | π, μ, Λ) less the
    divergence of q(π, μ, Λ) from the prior. E log p is quadratic in x: the log density of a normal of
    precision E Λ_k plus a constant, so the E-step is that of a Gaussian mixture. Missing entries are latent
    too, q(z, x_missing) q(π, μ, Λ): given k, theirs is the conditional of this normal, so marginalising them
    gives the bound.
    """

    mixture_prior: MixturePrior

    def initial(self, rng: np.random.Generator) -> GaussianParameters:
        """Return the posterior of rows with initial responsibilities, as many rows as there are."""
        z, weights = initial_rows(self.source, self.standardizer, self.n_components, rng)
        r = initial_responsibilities(self.init_params, z, weights, self.n_components, rng)
        weights = counts(weights, z)
        return self.from_responsibilities(z, weights * (self.total / weights.sum()), r)

    def maximize(self, sums: GaussianSums) -> VariationalParameters:
        """Update the prior by the sums: Bishop (10.58) and (10.60) to (10.63).

        Components of a stick-breaking process are ordered by their size. No other order has a higher bound:
        to exchange neighbours of a and b rows, with T after them, divides its exponential by (α₀ + a + T) /
        (α₀ + b + T).
        """
        prior, shape = self.mixture_prior, self.shape
        order = np.argsort(-sums.weight, kind="stable") if prior.sticks else slice(None)
        n, step = sums.weight[order], sums.means[order] - prior.mean
        scatter = sums.scatter() if shape.shared else sums.scatter()[order]
        strength = prior.strength + n
        root = np.sqrt(prior.strength * n / strength)[:, None] * step
        counts = n.sum(keepdims=True) if shape.shared else n
        scatter += self._prior_scatter()
        scatter += shape.compress(root[:, :, None] * root[:, None, :])
        shape.add_variances(scatter, counts[:, None] * self.floor)
        dof = prior.dof + counts
        scatter /= _beside(dof, scatter)
        concentration = posterior_concentration(prior, n)
        return VariationalParameters(
            weights=expected_weights(concentration),
            means=prior.mean + (n / strength)[:, None] * step,
            structure=shape.fit(scatter, len(prior.mean)),
            concentration=concentration,
            strength=strength,
            dof=dof,
        )

    def log_weights(self, params: GaussianParameters) -> np.ndarray:
        """Return c_k with E log p(z, k) = c_k + log N(z | m_k, (E Λ_k)⁻¹)."""
        assert isinstance(params, VariationalParameters)
        curvature = expected_log_det(params) - params.means.shape[1] / params.strength
        floor = precision_diagonals(params.structure) @ self.floor
        return expected_log_weights(params.concentration) + 0.5 * (curvature - floor)

    def log_prior(self, params: GaussianParameters) -> float:
        """Return -KL(q(π, μ, Λ) | prior), the term of the bound that is no sum over rows."""
        assert isinstance(params, VariationalParameters)
        return -self.divergence(params)

    def divergence(self, params: VariationalParameters) -> float:
        """Return KL(q(π, μ, Λ) | prior)."""
        prior = self.mixture_prior
        shrunk = prior.strength / params.strength - 1.0
        away = _squared_lengths(whiteners(params.structure), params.means - prior.mean)
        means = 0.5 * (params.means.shape[1] * (shrunk - np.log1p(shrunk)) + prior.strength * away)
        return float(
            _weights_divergence(prior, params.concentration)
            + np.sum(means)
            + np.sum(self._precisions_divergence(params))
        )

    def _prior_scatter(self) -> np.ndarray:
        return self.shape.compress(self.mixture_prior.scatter[None])

    @cached_property
    def _prior_structure(self) -> Covariance:
        """The covariance structure of the prior's expected precision."""
        prior = self.mixture_prior
        return self.shape.fit(self._prior_scatter() / prior.dof, len(prior.mean))

    def _precisions_divergence(self, params: VariationalParameters) -> np.ndarray:
        """Return the divergences of Wisharts: of matrices, or of numbers, where they are Gammas."""
        prior, dof, after = self.mixture_prior, params.dof, params.structure
        before = self._prior_structure
        dim, rows = _wishart(after)
        if isinstance(after, Full) and isinstance(before, Full):
            lower = before.cholesky.reshape(dim, dim)
            root = times_triangle(after.inverse_factor.reshape(-1, dim).copy(), lower).reshape(-1, dim * dim)
            ratio, log_ratio = np.einsum("ki,ki->k", root, root), after.log_det - before.log_det
        else:
            columns = slice(None) if isinstance(after, Diagonal) else slice(1)
            ratio = before.diagonal[:, columns] / after.diagonal[:, columns]
            log_ratio, dof = -np.log(ratio), dof[:, None]
        grown = dof / prior.dof
        rate, log_rate = ratio / grown, log_ratio + dim * np.log(grown)
        return wishart_divergence(rows * dof, np.full_like(dof, rows * prior.dof), rate, log_rate, dim)


def expected_log_det(params: VariationalParameters) -> np.ndarray:
    """Return E log |Λ_k| - log |E Λ_k|, which is below zero."""
    dim, rows = _wishart(params.structure)
    half = 0.5 * rows * params.dof
    return params.means.shape[1] / dim * (multidigamma(half, dim) - dim * np.log(half))


def _weights_divergence(prior: MixturePrior, concentration: np.ndarray) -> float:
    """Return KL(Dir(α), Dir(α₀)), or the sum of those of the sticks' Betas, which have two entries."""
    before = np.full_like(concentration, prior.concentration)
    if prior.sticks:
        before[0] = 1.0
    return float(np.sum(dirichlet_divergence(concentration.T, before.T)))


def _squared_lengths(whitening: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return |W_k z_k|² of matrices W_k, (K, d, d) or one for all, or of diagonals (K, d)."""
    white = whitening * z if whitening.ndim == 2 else (whitening @ z[:, :, None])[..., 0]
    return np.sum(white * white, axis=-1)


def _wishart(structure: Covariance) -> tuple[int, int]:
    """Return the order of the Wishart posterior of a precision, and the entries a row contributes to it."""
    if isinstance(structure, Full):
        return structure.dim, 1
    return 1, structure.dim if isinstance(structure, Isotropic) else 1


def _beside(numbers: np.ndarray, like: np.ndarray) -> np.ndarray:
    return numbers.reshape(-1, *(1,) * (like.ndim - 1))
