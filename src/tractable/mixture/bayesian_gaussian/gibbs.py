"""Gibbs sampling of Gaussian mixtures: labels given the components, components given the labels."""

from typing import Any

import numpy as np

from tractable.mixture.bayesian_gaussian.model import MixturePrior
from tractable.sampling import PosteriorSampler, State
from tractable.value import value


@value
class MixtureGibbs:
    """A sweep over labels, weights, means and precisions of a Gaussian mixture, of standardized rows.

    z_n ~ π_k N(x_n | μ_k, Λ_k⁻¹); π ~ Dir(α₀ + N_k); (μ_k, Λ_k) from the normal-Wishart distribution of the
    rows of component k. Labels are drawn afresh in every sweep and are no part of the state.
    """

    rows: np.ndarray  # (n, d)
    counts: np.ndarray  # (n,), how often each row counts
    prior: MixturePrior
    n_components: int

    def begin(self, rng: np.random.Generator, position: Any) -> tuple["MixtureGibbs", State]:
        """Return the step and the first state."""
        return self, State(position=position)

    def __call__(self, rng: np.random.Generator, state: State) -> tuple[State, dict[str, np.ndarray]]:
        """Draw the labels of all rows, then the parameters given their statistics."""
        now = state.position
        parts = [self._sweep(rng, *(now[name][c] for name in NAMES)) for c in range(len(now["weights"]))]
        position = {name: np.stack([part[i] for part in parts]) for i, name in enumerate(NAMES)}
        position["log_likelihood"] = np.array([part[3] for part in parts])
        return State(position), {"acceptance": np.ones(len(parts))}

    def _sweep(
        self, rng: np.random.Generator, weights: np.ndarray, means: np.ndarray, covariances: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        labels, log_likelihood = self._labels(rng, weights, means, covariances)
        k, d = self.n_components, self.rows.shape[1]
        mass = np.bincount(labels, self.counts, k)
        total = np.stack([np.bincount(labels, self.counts * self.rows[:, j], k) for j in range(d)], axis=1)
        center = total / np.maximum(mass, 1e-300)[:, None]
        off = self.rows - center[labels]
        scatter = np.empty((k, d, d))
        for i in range(d):
            for j in range(i, d):
                scatter[:, i, j] = scatter[:, j, i] = np.bincount(
                    labels, self.counts * off[:, i] * off[:, j], k
                )
        drawn = rng.standard_gamma(self.prior.concentration + mass)
        new_means, new_covariances = np.empty((k, d)), np.empty((k, d, d))
        for c in range(k):
            new_means[c], new_covariances[c] = self._component(rng, mass[c], center[c], scatter[c])
        return drawn / drawn.sum(), new_means, new_covariances, log_likelihood

    def _labels(
        self, rng: np.random.Generator, weights: np.ndarray, means: np.ndarray, covariances: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Draw labels by inverting the cdf of the responsibilities, and return the log-likelihood too."""
        k, (n, d) = self.n_components, self.rows.shape
        inverse = np.linalg.inv(np.linalg.cholesky(covariances))
        log_p = np.empty((k, n))
        for c in range(k):
            z = (self.rows - means[c]) @ inverse[c].T
            level = np.log(max(weights[c], 1e-300)) + np.log(np.diagonal(inverse[c])).sum()
            log_p[c] = level - 0.5 * np.einsum("ij,ij->i", z, z)
        top = log_p.max(axis=0)
        cumulative = np.cumsum(np.exp(log_p - top), axis=0)
        labels = np.sum(cumulative < rng.random(n) * cumulative[-1], axis=0)
        value = top + np.log(cumulative[-1]) - 0.5 * d * np.log(2.0 * np.pi)
        return np.minimum(labels, k - 1), float(self.counts @ value)

    def _component(
        self, rng: np.random.Generator, mass: float, center: np.ndarray, scatter: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw mean and covariance from their normal-Wishart posterior (Bishop 10.60 to 10.63)."""
        p, d = self.prior, len(center)
        strength, dof = p.strength + mass, p.dof + mass
        ahead = center - p.mean
        inverse = p.scatter + scatter + p.strength * mass / strength * np.outer(ahead, ahead)
        # Λ = R⁻ᵀ B Bᵀ R⁻¹ with W⁻¹ = R Rᵀ and B Bartlett's factor; the covariance is (R B⁻ᵀ)(R B⁻ᵀ)ᵀ.
        root = np.linalg.cholesky(inverse)
        bartlett = np.tril(rng.standard_normal((d, d)), -1)
        np.fill_diagonal(bartlett, np.sqrt(2.0 * rng.standard_gamma(0.5 * (dof - np.arange(d)))))
        factor = np.linalg.solve(bartlett, root.T).T
        mean = (p.strength * p.mean + mass * center) / strength
        return mean + factor @ rng.standard_normal(d) / np.sqrt(strength), factor @ factor.T


#: Variables of the state, in the order of a sweep.
NAMES = ("weights", "means", "covariances")


def mixture_sampler(model: Any, rows: np.ndarray, counts: np.ndarray) -> PosteriorSampler:
    """Return how the posterior of a mixture is sampled, from standardized rows.

    Components are in the order of their weights in every draw, since they have no names of their own.
    """
    k, d = model.n_components, rows.shape[1]
    shift, scale = model._standardizer_.shift, model._standardizer_.scale
    step = MixtureGibbs(rows=rows, counts=counts, prior=model._prior_, n_components=k)

    def start(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        means = (model.means_ - shift) * scale
        covariances = model.covariances_ * scale[:, None] * scale
        return {
            "weights": rng.dirichlet(np.maximum(model.weights_, 1e-3) * 50.0 + 1.0, n),
            "means": means + 0.1 * rng.standard_normal((n, k, d)),
            "covariances": np.broadcast_to(covariances, (n, k, d, d)).copy(),
            "log_likelihood": np.zeros(n),
        }

    def variables(draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        order = np.argsort(-draws["weights"], axis=-1)
        weights = np.take_along_axis(draws["weights"], order, axis=-1)
        means = np.take_along_axis(draws["means"], order[..., None], axis=-2) / scale + shift
        covariances = np.take_along_axis(draws["covariances"], order[..., None, None], axis=-3)
        jacobian = float(counts.sum()) * float(np.sum(np.log(scale)))
        return {
            "weights": weights,
            "means": means,
            "covariances": covariances / scale[:, None] / scale,
            "log_likelihood": draws["log_likelihood"] + jacobian,
        }

    order = np.argsort(-model.weights_)
    concentration = model.weight_concentration_[order]
    mean = concentration / concentration.sum()
    sd = np.sqrt(mean * (1.0 - mean) / (concentration.sum() + 1.0))
    return PosteriorSampler(
        step=step,
        start=start,
        variables=variables,
        approximation={"weights": (mean, sd)},
        kind="variational approximation",
    )
