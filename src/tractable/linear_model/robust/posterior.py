"""What the rows leave uncertain of coefficients and scale: draws, by Gibbs sampling over precisions of rows.

With the prior 1/σ of the scale and a flat one of the coefficients, the posterior of a linear model with noise
of a known family is its conditional distribution given the configuration of the residuals (Fraser, 1979):
intervals of predictions from it cover with the stated probability, whatever the number of rows.
"""

from typing import Any

import numpy as np

from tractable.data import Batch, Source
from tractable.engines import LeastSquares
from tractable.linear_model.robust.steps import RobustEStep
from tractable.sampling import PosteriorSampler, nuts
from tractable.value import value

#: Chains, each of which gives one draw; sweeps of each before the first that counts, and from then on.
N_CHAINS, N_BURN_IN, N_SWEEPS = 64, 20, 30
#: Rows a parameter from which on the large-sample distribution serves, and operations a chain that chains are
#: worth.
MANY_ROWS, MOST_OPERATIONS = 20.0, 2e5


@value
class RobustPosterior:
    """Draws of θ and of the scale, where the linear predictor at a row of columns φ is ŷ + φᵀθ.

    Of standardized targets; the columns are `LinearEstimate.predictor_root` of least squares.
    """

    theta: np.ndarray  # (S, p), about the likeliest
    scale: np.ndarray  # (S,)
    # (p, p), K: φᵀθ is Student's t of scale |Kᵀφ| and of so many degrees of freedom, approximately
    root: np.ndarray
    dof: float

    def linear_predictor(self, columns: np.ndarray) -> np.ndarray:
        """Return draws of φᵀθ with either sign, (n, 2S).

        The signs of all residuals are as likely as their opposites, so an interval about ŷ keeps its
        probability, and the mean is ŷ.
        """
        found = columns @ self.theta.T
        return np.concatenate([found, -found], axis=1)


def robust_posterior(data: Source, whole: LeastSquares, step: RobustEStep) -> RobustPosterior:
    """Return the posterior about the likeliest parameters, those of the E-step, in standardized targets.

    `whole` is least squares of all rows. Few rows are looked at one by one; of many, wherever they are, the
    statistics suffice.
    """
    rng = np.random.default_rng(0)  # the same draws for the same rows
    p, total = whole.rank + whole.has_intercept, float(whole.weight)
    if total >= MANY_ROWS * p or data.reduce(n_counted) * p * p > MOST_OPERATIONS:
        return _large_sample(p, total, step.params.noise, rng)
    held = data.collect()
    some = held.row_weights > 0
    columns = whole.predictor_root(held.X[some])
    return _gibbs(columns, step.residuals(held)[some], held.row_weights[some], step.params.noise, rng)


def n_counted(block: Batch) -> int:
    """Return how many rows of a block have a positive weight."""
    return int(np.count_nonzero(block.row_weights > 0))


def _large_sample(p: int, total: float, noise: Any, rng: np.random.Generator) -> RobustPosterior:
    """Return draws by the Fisher information of the noise."""
    dof = total - p
    unbiased = noise.scale * np.sqrt(total / dof)
    # Of m degrees of freedom, log σ has the variance 1 / 2m; the information of n rows is n I.
    m = 0.5 * total * noise.log_scale_information
    scale = unbiased * np.sqrt(m / rng.chisquare(m, N_CHAINS))
    spread = np.sqrt(noise.location_variance) / noise.scale
    theta = (spread * scale)[:, None] * rng.standard_normal((N_CHAINS, p))
    return RobustPosterior(theta=theta, scale=scale, root=unbiased * spread * np.eye(p), dof=dof)


def _gibbs(
    columns: np.ndarray, residuals: np.ndarray, w: np.ndarray, noise: Any, rng: np.random.Generator
) -> RobustPosterior:
    """Draw precisions of rows given θ and σ, then σ and θ given the precisions, in parallel chains.

    `columns` are independent, with Σ w φφᵀ = I; w are the frequencies of the rows, more than the columns.
    Given precisions u the rows are weighted least squares: σ² = rss / χ², and θ is normal about its solution.
    """
    p, dof = columns.shape[1], float(w.sum()) - columns.shape[1]
    theta, scale = np.zeros((N_CHAINS, p)), np.full(N_CHAINS, noise.scale)
    squares, precision = np.zeros((p, p)), 0.0
    for sweep in range(N_BURN_IN + N_SWEEPS):
        u = noise.draw_precisions(residuals - theta @ columns.T, scale[:, None], w, rng)
        weighted = u[:, :, None] * columns
        lower = np.linalg.cholesky(np.swapaxes(weighted, 1, 2) @ columns)
        moment = np.einsum("cnp,n->cp", weighted, residuals)
        mean = np.linalg.solve(np.swapaxes(lower, 1, 2), np.linalg.solve(lower, moment[:, :, None]))[:, :, 0]
        rss = np.sum(u * (residuals - mean @ columns.T) ** 2, axis=1)
        scale = np.sqrt(rss / rng.chisquare(dof, N_CHAINS))
        step = np.linalg.solve(np.swapaxes(lower, 1, 2), rng.standard_normal((N_CHAINS, p, 1)))[:, :, 0]
        theta = mean + scale[:, None] * step
        if sweep >= N_BURN_IN:
            unit = theta / scale[:, None]
            squares += unit.T @ unit / (N_SWEEPS * N_CHAINS)
            precision += float(np.mean(dof / rss)) / N_SWEEPS
    return RobustPosterior(theta=theta, scale=scale, root=np.linalg.cholesky(squares / precision), dof=dof)


@value
class RobustTarget:
    """The log posterior of coefficients and log scale, with flat priors, in units of the large-sample spread.

    Coefficients are mode + root u, and the log scale is that of the fit plus spread times the last entry.
    """

    rows: np.ndarray  # (n, p), with a column of ones where there is an intercept
    y: np.ndarray  # (n,)
    weights: np.ndarray  # (n,)
    mode: np.ndarray  # (p,)
    root: np.ndarray  # (p, p)
    log_scale: float
    spread: float
    noise: Any  # LaplaceNoise, StudentNoise or GaussianNoise

    def parameters(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients (..., p) and scales (...)."""
        return self.mode + u[..., :-1] @ self.root.T, np.exp(self.log_scale + self.spread * u[..., -1])

    def __call__(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log density of each u, a row a chain, and its gradient."""
        coef, scale = self.parameters(u)
        z = (self.y - coef @ self.rows.T) / scale[..., None]
        loss, pull = self.noise.standard_loss(z)
        value = -np.sum(self.weights * loss, axis=-1) - self.weights.sum() * np.log(scale)
        by_coef = (self.weights * pull / scale[..., None]) @ self.rows @ self.root
        by_scale = np.sum(self.weights * pull * z, axis=-1) - self.weights.sum()
        return value, np.concatenate([by_coef, self.spread * by_scale[..., None]], axis=-1)


def robust_sampler(model: Any, held: Batch) -> PosteriorSampler:
    """Return how the posterior of a robust regression is sampled, given rows in memory."""
    X, w = np.asarray(held.X, dtype=np.float64), np.asarray(held.row_weights, dtype=np.float64)
    first = int(bool(model.fit_intercept))
    rows = np.column_stack([np.ones((len(X), first)), X])
    size = np.sqrt(w @ (rows * rows))
    gram = (w * (rows / size).T) @ (rows / size)
    if np.linalg.cond(gram) > 1e12:
        raise ValueError("X must have linearly independent columns for the posterior of their coefficients")
    # The large-sample covariance is that of least squares, with the variance of the location of the noise.
    root = np.sqrt(model.noise_.location_variance) * np.linalg.inv(np.linalg.cholesky(gram)).T / size[:, None]
    spread = 1.0 / np.sqrt(float(w.sum()) * model.noise_.log_scale_information)
    mode = np.append(np.full(first, model.intercept_), model.coef_)
    target = RobustTarget(
        rows=rows, y=np.asarray(held.y, dtype=np.float64).ravel(), weights=w, mode=mode, root=root,
        log_scale=float(np.log(model.scale_)), spread=spread, noise=model.noise_,
    )  # fmt: skip

    def variables(draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        coef, scale = target.parameters(draws["x"])
        return {"coef": coef, "scale": scale}

    columns = getattr(model, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])
    deviations = np.linalg.norm(root, axis=1)
    return PosteriorSampler(
        step=nuts(target, True, vectorized=True),
        start=lambda rng, n: rng.standard_normal((n, len(mode) + 1)),
        variables=variables,
        approximation={"coef": (mode, deviations), "scale": (model.scale_, model.scale_ * spread)},
        names={"coef": ("intercept",) * first + tuple(str(name) for name in columns)},
        kind="large-sample normal approximation",
    )
