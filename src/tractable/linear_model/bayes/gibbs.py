"""Gibbs sampling of linear regression: with a normal prior, and with the Laplace prior of the lasso."""

from typing import Any

import numpy as np

from tractable.base import check_rows
from tractable.sampling import PosteriorSampler, State
from tractable.value import value


@value
class LinearGibbs:
    """A sweep over the noise and the coefficients of centred columns, given their products alone.

    Given the precisions D of the coefficients, w ~ N(m, σ² A⁻¹) with A = XᵀX + D and m = A⁻¹(Xᵀy + D w₀).
    With `penalty` zero D is fixed, and the prior is w ~ N(w₀, σ² D⁻¹). Otherwise it is Laplace's,
    Π exp(-λ|w_j|/σ²), whose mode at any σ² is the lasso: a scale mixture of normals with precisions of the
    coefficients that are inverse Gaussian given w and σ² (Park and Casella, 2008, for this scaling with the
    noise). The noise is inverse gamma given w alone, the precisions integrated out.
    """

    products: np.ndarray  # XᵀX, (d, d)
    moment: np.ndarray  # Xᵀy, (d,)
    square: float  # yᵀy
    weight: float  # of the rows, less one where the columns are centred
    prior_precision: np.ndarray  # D / of σ², (d, d), for a normal prior
    prior_mean: np.ndarray  # (d,)
    penalty: float = 0.0  # λ
    noise_shape: float = 0.0
    noise_scale: float = 0.0

    def begin(self, rng: np.random.Generator, position: Any) -> tuple["LinearGibbs", State]:
        """Return the step and the first state."""
        return self, State(position=position)

    def __call__(self, rng: np.random.Generator, state: State) -> tuple[State, dict[str, np.ndarray]]:
        """Draw the noise given the coefficients, and the coefficients given the noise."""
        w = state.position["coef"]
        n, d = w.shape
        rss = self.square - 2.0 * w @ self.moment + np.einsum("ci,ij,cj->c", w, self.products, w)
        rss = np.maximum(rss, 0.0)
        if self.penalty:
            size = np.abs(w).sum(axis=1)
            variance = self._noise(rng, 0.5 * self.weight + d, 0.5 * rss + self.penalty * size, n)
            # 1/τ² ~ InvGauss(λ/(σ²|w|), λ²/σ⁴); in units of σ², as the precisions here are.
            rate = self.penalty / variance[:, None]
            precision = rng.wald(rate / np.maximum(np.abs(w), 1e-300 + 1e-12 * size[:, None]), rate * rate)
            wide = variance[:, None, None] * precision[:, :, None] * np.eye(d)
        else:
            off = w - self.prior_mean
            prior = np.einsum("ci,ij,cj->c", off, self.prior_precision, off)
            proper = np.linalg.matrix_rank(self.prior_precision)
            variance = self._noise(rng, 0.5 * (self.weight + proper), 0.5 * (rss + prior), n)
            wide = np.broadcast_to(self.prior_precision, (n, d, d))
        lower = np.linalg.cholesky(self.products + wide)
        moment = self.moment + np.einsum("cij,j->ci", wide, self.prior_mean)
        half = np.linalg.solve(lower, moment[:, :, None])
        noise = np.sqrt(variance)[:, None, None] * rng.standard_normal((n, d, 1))
        drawn = np.linalg.solve(np.swapaxes(lower, 1, 2), half + noise)[:, :, 0]
        position = {"coef": drawn, "noise_variance": variance}
        return State(position), {"acceptance": np.ones(n)}

    def _noise(self, rng: np.random.Generator, shape: float, scale: np.ndarray, n: int) -> np.ndarray:
        return (self.noise_scale + scale) / rng.standard_gamma(self.noise_shape + shape, n)


def centered_products(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray, *, centered: bool
) -> tuple[dict[str, Any], np.ndarray, float]:
    """Return the products that `LinearGibbs` needs, and the means of the columns and of the targets."""
    total = float(weights.sum())
    means = weights @ X / total if centered else np.zeros(X.shape[1])
    level = float(weights @ y / total) if centered else 0.0
    x, t = X - means, y - level
    found = {
        "products": (weights * x.T) @ x,
        "moment": (weights * x.T) @ t,
        "square": float(weights @ (t * t)),
        "weight": total - float(centered),
    }
    return found, means, level


def linear_sampler(
    model: Any, rows: tuple[Any, Any, Any], prior: dict[str, Any], approximation: dict[str, Any], kind: str
) -> PosteriorSampler:
    """Return how the posterior of a linear model is sampled, with a flat prior of the intercept.

    Parameters
    ----------
    model : estimator
        The fitted model.
    rows : tuple
        X, y and the weights of rows, as they were given.
    prior : dict
        Fields of `LinearGibbs` that are of the prior; `penalty` is a penalty of one row.
    approximation, kind
        As in `PosteriorSampler`.
    """
    checked = check_rows(model, *rows, reset=False, supervised=True)
    held = checked.source.collect()
    X, y = np.asarray(held.X, dtype=np.float64), np.asarray(held.y, dtype=np.float64)
    if y.ndim > 1 and y.shape[1] > 1:
        raise ValueError(f"y must be one target to be sampled, got {y.shape[1]}")
    weights = np.asarray(held.row_weights, dtype=np.float64)
    centered = bool(model.fit_intercept)
    found, means, level = centered_products(X, y.ravel(), weights, centered=centered)
    d = X.shape[1]
    options = {"prior_precision": np.zeros((d, d)), "prior_mean": np.zeros(d), **prior}
    options["penalty"] = float(options.get("penalty", 0.0)) * float(weights.sum())
    step = LinearGibbs(**found, **options)
    if not found["weight"] > 0.0:
        raise ValueError("X has too few rows to sample the noise: two at least are needed")
    size = found["square"] / found["weight"] or 1.0

    def start(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        spread = np.sqrt(size / np.maximum(np.diag(found["products"]), 1e-300))
        return {
            "coef": model.coef_ + spread * rng.standard_normal((n, d)) / np.sqrt(d),
            "noise_variance": np.full(n, size),
        }

    def variables(draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        coef, variance = draws["coef"], draws["noise_variance"]
        if not centered:
            return {"coef": coef, "noise_variance": variance}
        # Given the rest the intercept is normal about the mean; the same noise every time it is asked for.
        noise = np.random.default_rng(0).standard_normal(variance.shape)
        intercept = level - coef @ means + np.sqrt(variance / weights.sum()) * noise
        return {"intercept": intercept, "coef": coef, "noise_variance": variance}

    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(d)])]
    return PosteriorSampler(
        step=step,
        start=start,
        variables=variables,
        approximation=approximation,
        names={"coef": tuple(names)},
        kind=kind,
    )
