"""Gibbs sampling of Gaussian mixtures: labels given the components, components given the labels."""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.mixture.bayesian_gaussian.model import MixturePrior, posterior_concentration
from tractable.sampling import PosteriorSampler, State
from tractable.value import value


@value
class MixtureGibbs:
    """A sweep over labels, weights, means and precisions of a Gaussian mixture, of standardized rows.

    z_n ~ π_k N(x_n | μ_k, Λ_k⁻¹); π ~ Dir(α₀ + N_k), or by sticks v_k ~ Beta(1 + N_k, α₀ + Σ_{j>k} N_j) of
    which the last takes all that is left; (μ_k, Λ_k) from their conjugate distribution given the rows of
    component k. Labels are drawn afresh in every sweep and are no part of the state.
    """

    rows: np.ndarray  # (n, d)
    prior: MixturePrior
    n_components: int
    covariance_type: str = "full"

    def begin(self, rng: np.random.Generator, position: Any) -> tuple["MixtureGibbs", State]:
        """Return the step and the first state."""
        return self, State(position=position)

    @cached_property
    def columns(self) -> np.ndarray:
        """The rows, a column after the other."""
        return np.ascontiguousarray(self.rows.T)

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
        k, p = self.n_components, self.prior
        mass = np.bincount(labels, minlength=k).astype(np.float64)
        if p.sticks and k > 1:
            labels, mass = self._exchanged(rng, weights, labels, mass)
        center, scatter = self._moments(labels, mass)
        strength, ahead = p.strength + mass, center - p.mean
        between = (p.strength * mass / strength)[:, None, None] * ahead[:, :, None] * ahead[:, None, :]
        factor = self._covariance_factors(rng, mass, scatter + between)
        noise = np.einsum("kij,kj->ki", factor, rng.standard_normal(means.shape))
        drawn = p.mean + (mass / strength)[:, None] * ahead + noise / np.sqrt(strength)[:, None]
        covariance = factor @ np.swapaxes(factor, 1, 2)
        return self._weights(rng, mass), drawn, covariance, log_likelihood

    def _labels(
        self, rng: np.random.Generator, weights: np.ndarray, means: np.ndarray, covariances: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Draw labels by inverting the cdf of the responsibilities, and return the log-likelihood too."""
        k, (d, n) = self.n_components, self.columns.shape
        inverse = np.linalg.inv(np.linalg.cholesky(covariances))
        log_p = np.empty((k, n))
        for c in range(k):
            z = inverse[c] @ (self.columns - means[c][:, None])
            level = np.log(max(weights[c], 1e-300)) + np.log(np.diagonal(inverse[c])).sum()
            log_p[c] = level - 0.5 * (z * z).sum(axis=0)
        top = log_p.max(axis=0)
        cumulative = np.exp(log_p - top)
        for c in range(1, k):
            cumulative[c] += cumulative[c - 1]
        labels = np.sum(cumulative < rng.random(n) * cumulative[-1], axis=0)
        value = top + np.log(cumulative[-1]) - 0.5 * d * np.log(2.0 * np.pi)
        return np.minimum(labels, k - 1), float(value.sum())

    def _exchanged(
        self, rng: np.random.Generator, weights: np.ndarray, labels: np.ndarray, mass: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Exchange the names of two components, accepted with (π_i / π_j)^(N_j - N_i).

        Sticks have an order, which draws of labels hardly ever change (Papaspiliopoulos and Roberts, 2008).
        """
        i, j = rng.choice(self.n_components, 2, replace=False)
        log_weights = np.log(np.maximum(weights, 1e-300))
        if -rng.standard_exponential() < (mass[j] - mass[i]) * (log_weights[i] - log_weights[j]):
            named = np.arange(self.n_components)
            named[[i, j]] = j, i
            return named[labels], mass[named]
        return labels, mass

    def _moments(self, labels: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean of the rows of each component, and their scatter about it."""
        k, d = self.n_components, len(self.columns)
        total = np.stack([np.bincount(labels, column, k) for column in self.columns], axis=1)
        center = total / np.maximum(mass, 1e-300)[:, None]
        off = self.columns - center.T[:, labels]
        scatter = np.empty((k, d, d))
        for i in range(d):
            for j in range(i, d):
                scatter[:, i, j] = scatter[:, j, i] = np.bincount(labels, off[i] * off[j], k)
        return center, scatter

    def _weights(self, rng: np.random.Generator, mass: np.ndarray) -> np.ndarray:
        found = posterior_concentration(self.prior, mass)
        if found.ndim == 1:
            drawn = rng.standard_gamma(found)
            return drawn / drawn.sum()
        stick = np.append(rng.beta(*found[:, :-1]), 1.0)
        return stick * np.append(1.0, np.cumprod(1.0 - stick[:-1]))

    def _covariance_factors(
        self, rng: np.random.Generator, mass: np.ndarray, scatter: np.ndarray
    ) -> np.ndarray:
        """Draw covariances given scatters about the means, which are integrated out; return factors of them.

        Λ ~ W(ν₀ + N_k, (W₀⁻¹ + S_k)⁻¹) of each component, or of all together where they are tied (Bishop
        10.60 to 10.63); of diagonal ones every column is a Gamma, of spherical ones they share it.
        """
        p, (k, d) = self.prior, (self.n_components, len(self.columns))
        if self.covariance_type in ("diag", "spherical"):
            rate = 0.5 * np.diagonal(p.scatter + scatter, axis1=1, axis2=2)
            shape = np.repeat(0.5 * (p.dof + mass)[:, None], d, axis=1)
            if self.covariance_type == "spherical":
                rate, shape = rate.sum(axis=1, keepdims=True), shape.sum(axis=1, keepdims=True)
            return np.sqrt(rate / rng.standard_gamma(shape))[:, :, None] * np.eye(d)
        if self.covariance_type == "tied":
            mass, scatter = mass.sum(keepdims=True), scatter.sum(axis=0, keepdims=True)
        # Λ = R⁻ᵀ B Bᵀ R⁻¹ with W⁻¹ = R Rᵀ and B Bartlett's factor; the covariance is (R B⁻ᵀ)(R B⁻ᵀ)ᵀ.
        root = np.linalg.cholesky(p.scatter + scatter)
        bartlett = np.tril(rng.standard_normal(root.shape), -1)
        freedom = 0.5 * (p.dof + mass[:, None] - np.arange(d))
        bartlett[:, np.arange(d), np.arange(d)] = np.sqrt(2.0 * rng.standard_gamma(freedom))
        factor = np.swapaxes(np.linalg.solve(bartlett, np.swapaxes(root, 1, 2)), 1, 2)
        return np.broadcast_to(factor, (k, d, d))


#: Variables of the state, in the order of a sweep.
NAMES = ("weights", "means", "covariances")


def mixture_sampler(model: Any, rows: np.ndarray, counts: np.ndarray) -> PosteriorSampler:
    """Return how the posterior of a mixture is sampled, from standardized rows and how often they count.

    Components are in the order of their weights in every draw, since they have no names of their own.
    """
    if np.any(counts != np.round(counts)):
        raise ValueError("sample_weight must be whole numbers for a mixture to be sampled: rows have labels")
    rows = np.repeat(rows, counts.astype(np.int64), axis=0)
    k, d = model.n_components, rows.shape[1]
    shift, scale = model._standardizer_.shift, model._standardizer_.scale
    step = MixtureGibbs(rows=rows, prior=model._prior_, n_components=k, covariance_type=model.covariance_type)

    def start(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        means = (model.means_ - shift) * scale
        covariances = matrices(model, d) * scale[:, None] * scale
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
        jacobian = len(rows) * float(np.sum(np.log(scale)))
        return {
            "weights": weights,
            "means": means,
            "covariances": covariances / scale[:, None] / scale,
            "log_likelihood": draws["log_likelihood"] + jacobian,
        }

    order = np.argsort(-model.weights_)
    mean, sd = weights_moments(np.asarray(model.weight_concentration_))
    return PosteriorSampler(
        step=step,
        start=start,
        variables=variables,
        approximation={"weights": (mean[order], sd[order])},
        kind="variational approximation",
    )


def matrices(model: Any, d: int) -> np.ndarray:
    """Return the covariances of a fitted mixture as matrices (k, d, d), whatever their shape."""
    found, k = np.asarray(model.covariances_), model.n_components
    if model.covariance_type == "full":
        return found
    if model.covariance_type == "tied":
        return np.broadcast_to(found, (k, d, d))
    return found.reshape(k, -1)[:, :, None] * np.eye(d)


def weights_moments(concentration: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of the weights under q: a Dirichlet, or sticks' Betas (2, k)."""
    if concentration.ndim == 1:
        total = concentration.sum()
        mean = concentration / total
        return mean, np.sqrt(mean * (1.0 - mean) / (total + 1.0))
    # E π and E π² of π_k = v_k Π_{j<k} (1 - v_j), v independent; the last stick takes what is left.
    (a, b), total = concentration, concentration.sum(axis=0)
    first = np.append(a[:-1] / total[:-1], 1.0) * np.append(1.0, np.cumprod(b[:-1] / total[:-1]))
    pairs = total * (total + 1.0)
    taken, left = a * (a + 1.0) / pairs, b * (b + 1.0) / pairs
    second = np.append(taken[:-1], 1.0) * np.append(1.0, np.cumprod(left[:-1]))
    return first, np.sqrt(np.maximum(second - first**2, 0.0))
