"""Variational Bayes for Gaussian mixtures: the same pass over rows, and conjugate updates of its sums."""

import numpy as np

from tractable.arrays.linalg import solve_triangular
from tractable.arrays.special import digamma
from tractable.base import Rows
from tractable.covariance import Covariance, Diagonal, Full, Isotropic
from tractable.covariance.shapes import Shape
from tractable.distributions import Beta, Dirichlet
from tractable.distributions.wishart import multidigamma, wishart_divergence
from tractable.mixture.gaussian.model import GaussianParameters, GaussianSums
from tractable.mixture.gaussian.steps import CovariancePrior, GaussianSteps, precision_diagonals
from tractable.mixture.units import Units
from tractable.value import value

__all__ = [
    "BayesianGaussianSteps",
    "GaussianBeliefs",
    "MixturePrior",
    "belief_about_weights",
    "expected_weights",
]


@value
class MixturePrior:
    """What is believed of every component before rows are seen, in standardised units."""

    sticks: bool  # whether weights break a stick (Dirichlet process) or are a Dirichlet's
    concentration: float  # α₀
    strength: float  # β₀, rows behind the mean
    mean: np.ndarray  # m₀, (d,)
    dof: float  # ν₀, rows behind the precision
    scatter: np.ndarray  # W₀⁻¹, (d, d)


@value
class GaussianBeliefs(GaussianParameters):
    """q(π) Π_k N(μ_k | m_k, (β_k Λ_k)⁻¹) W(Λ_k | ν_k, W_k), in standardised units.

    `weights` are E π_k, `means` m_k, and `structure` the inverses of E Λ_k = ν_k W_k.
    """

    concentration: np.ndarray  # of the Dirichlet, (K,); or of the sticks' Betas, (2, K)
    strength: np.ndarray  # β, (K,)
    dof: np.ndarray  # ν, (K,); (1,) where components share their precision


class BayesianGaussianSteps(GaussianSteps):
    """Coordinate ascent on the evidence lower bound (Bishop, section 10.2).

    With responsibilities at their best, the bound is Σ_n log Σ_k exp E log p(x_n, k | π, μ, Λ) less the
    divergence of the beliefs from their prior. E log p is quadratic in x: that of a normal of precision E Λ_k
    times a constant. Missing entries are latent too, q(z, x_missing) q(π, μ, Λ): given k, theirs is the
    conditional of this normal, so the pass that marginalises them gives the bound.
    """

    def __init__(
        self, rows: Rows, units: Units, *, shape: Shape, reg: np.ndarray, belief: MixturePrior
    ) -> None:
        d = len(units.scale)
        none = CovariancePrior(scatter=np.zeros((d, d)), weight=0.0)
        super().__init__(rows, units, shape=shape, reg=reg, prior=none)
        self.belief = belief

    def maximize(self, sums: GaussianSums) -> GaussianBeliefs:
        """Update the prior by the sums: Bishop (10.58) and (10.60) to (10.63).

        Components that break a stick do so in the order of their size. No other order has a higher bound: to
        exchange neighbours of a and b rows, with T after them, divides its exponential by (α₀ + a + T) /
        (α₀ + b + T).
        """
        prior, d = self.belief, sums.first.shape[1]
        order = np.argsort(-sums.weight, kind="stable") if prior.sticks else slice(None)
        n, step = sums.weight[order], sums.means[order] - prior.mean
        within = sums.scatter() if self.shape.shared else sums.scatter()[order]
        strength = prior.strength + n
        between = (prior.strength * n / strength)[:, None, None] * step[:, :, None] * step[:, None, :]
        counts = n.sum(keepdims=True) if self.shape.shared else n
        clouds = _beside(counts, sums.second) * self.shape.kept(np.diag(self.reg)[None])
        scatter = self._prior_scatter() + within + clouds + self.shape.kept(between)
        dof = prior.dof + counts
        concentration = _concentration(prior, n)
        return GaussianBeliefs(
            weights=expected_weights(concentration),
            means=prior.mean + (n / strength)[:, None] * step,
            structure=self.shape.fit(scatter / _beside(dof, scatter), d, None),
            concentration=concentration,
            strength=strength,
            dof=dof,
        )

    def divergence(self, params: GaussianBeliefs) -> float:
        """Return KL(q(π, μ, Λ) | prior)."""
        prior = self.belief
        shrunk = prior.strength / params.strength - 1.0
        away = params.structure.mahalanobis(params.means - prior.mean)
        means = 0.5 * (params.means.shape[1] * (shrunk - np.log1p(shrunk)) + prior.strength * away)
        return float(
            _weights_divergence(prior, params.concentration)
            + np.sum(means)
            + np.sum(self._precisions_divergence(params))
        )

    def _log_weights(self, params: GaussianParameters) -> np.ndarray:
        """Return c_k with E log p(z, k) = c_k + log N(z | m_k, (E Λ_k)⁻¹)."""
        assert isinstance(params, GaussianBeliefs)
        d = params.means.shape[1]
        bent = _mean_log_det(params) - d / params.strength
        clouds = precision_diagonals(params.structure) @ self.reg
        return _mean_log_weights(params.concentration) + 0.5 * (bent - clouds)

    def _log_prior(self, params: GaussianParameters) -> float:
        assert isinstance(params, GaussianBeliefs)
        return -self.divergence(params)

    def _prior_scatter(self) -> np.ndarray:
        return self.shape.kept(self.belief.scatter[None])

    def _precisions_divergence(self, params: GaussianBeliefs) -> np.ndarray:
        """Return the divergences of Wisharts: of matrices, or of numbers, where they are Gammas."""
        prior, dof, after = self.belief, params.dof, params.structure
        before = self.shape.fit(self._prior_scatter() / prior.dof, len(prior.mean), None)
        dim, rows = _wishart(after)
        if isinstance(after, Full) and isinstance(before, Full):
            root = solve_triangular(after.cholesky, np.broadcast_to(before.cholesky, after.cholesky.shape))
            share, log_share = np.sum(root * root, axis=(-2, -1)), after.log_det - before.log_det
        else:
            kept = slice(None) if isinstance(after, Diagonal) else slice(1)
            share = before.diagonal[:, kept] / after.diagonal[:, kept]
            log_share, dof = -np.log(share), dof[:, None]
        grown = dof / prior.dof
        rate, log_rate = share / grown, log_share + dim * np.log(grown)
        return wishart_divergence(rows * dof, np.full_like(dof, rows * prior.dof), rate, log_rate, dim)


def belief_about_weights(concentration: np.ndarray) -> Dirichlet | Beta | None:
    """Return q(π), or that of the shares of the stick that each takes; of one component alone, nothing."""
    if concentration.ndim == 2:
        return Beta(alpha=concentration[0], beta=concentration[1])
    return Dirichlet(concentration=concentration) if len(concentration) > 1 else None


def expected_weights(concentration: np.ndarray) -> np.ndarray:
    """Return E π_k; of a stick, without what is left of it."""
    if concentration.ndim == 1:
        return concentration / concentration.sum()
    share, left = concentration / concentration.sum(axis=0)
    weights = share * np.concatenate([[1.0], np.cumprod(left[:-1])])
    return weights / weights.sum()


def _concentration(prior: MixturePrior, n: np.ndarray) -> np.ndarray:
    if not prior.sticks:
        return prior.concentration + n
    later = np.concatenate([np.cumsum(n[:0:-1])[::-1], [0.0]])
    return np.stack([1.0 + n, prior.concentration + later])


def _mean_log_weights(concentration: np.ndarray) -> np.ndarray:
    """Return E log π_k."""
    if concentration.ndim == 1:
        return digamma(concentration) - digamma(concentration.sum())
    share, left = digamma(concentration) - digamma(concentration.sum(axis=0))
    return share + np.concatenate([[0.0], np.cumsum(left[:-1])])


def _weights_divergence(prior: MixturePrior, concentration: np.ndarray) -> float:
    found = belief_about_weights(concentration)
    if found is None:
        return 0.0
    if isinstance(found, Beta):
        return float(np.sum(found.kl_divergence(Beta(alpha=1.0, beta=prior.concentration))))
    same = np.full_like(concentration, prior.concentration)
    return float(found.kl_divergence(Dirichlet(concentration=same)))


def _wishart(structure: Covariance) -> tuple[int, int]:
    """Return the order of the Wishart that is believed of a precision, and the entries a row has for it."""
    if isinstance(structure, Full):
        return structure.dim, 1
    return 1, structure.dim if isinstance(structure, Isotropic) else 1


def _mean_log_det(params: GaussianBeliefs) -> np.ndarray:
    """Return E log |Λ_k| - log |E Λ_k|, which is below zero."""
    dim, rows = _wishart(params.structure)
    half = 0.5 * rows * params.dof
    return params.means.shape[1] / dim * (multidigamma(half, dim) - dim * np.log(half))


def _beside(numbers: np.ndarray, like: np.ndarray) -> np.ndarray:
    return numbers.reshape(-1, *(1,) * (like.ndim - 1))
