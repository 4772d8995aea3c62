"""Gibbs sampling: each variable in turn from its distribution given the others."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tractable.arrays.linalg import cholesky, solve_cholesky
from tractable.distributions import MultivariateNormal
from tractable.sampling.driver import State
from tractable.value import value


@value
class Gibbs:
    """A sweep of Gibbs sampling over all variables; see `gibbs`.

    Parameters
    ----------
    conditionals : mapping of str to callable
        The conditional distribution of each variable.
    vectorized : bool
        Whether they take all chains at once.
    """

    conditionals: Mapping[str, Callable[..., Any]]
    vectorized: bool = True

    def begin(self, rng: np.random.Generator, position: Any) -> tuple["Gibbs", State]:
        """Return the step and the first state, checked."""
        given = set(position) if isinstance(position, Mapping) else None
        if given is None or not set(self.conditionals) <= given:
            raise ValueError(
                f"start must be a mapping with the variables {[*self.conditionals]}, an array with a row a "
                "chain each"
            )
        return self, State(position=dict(position))

    def __call__(self, rng: np.random.Generator, state: State) -> tuple[State, dict[str, np.ndarray]]:
        """Draw every variable given the latest values of the others; such a move is always accepted."""
        position = dict(state.position)
        for name, conditional in self.conditionals.items():
            old = position[name]
            if self.vectorized:
                drawn = conditional(rng, position)
                if hasattr(drawn, "log_prob"):
                    drawn = drawn.sample(1, rng=rng)[0]
            else:
                rows = [{k: x[c] for k, x in position.items()} for c in range(len(old))]
                made = [conditional(rng, row) for row in rows]
                drawn = [one.sample(1, rng=rng)[0] if hasattr(one, "log_prob") else one for one in made]
            drawn = np.asarray(drawn)
            if drawn.shape != old.shape:
                raise ValueError(
                    f"conditionals[{name!r}] must draw what start has, {old.shape}, got {drawn.shape}"
                )
            if not np.isfinite(drawn.sum()):
                raise ValueError(f"conditionals[{name!r}] has drawn {drawn}, which is not finite")
            position[name] = drawn
        return State(position), {"acceptance": np.ones(len(drawn))}


def gibbs(conditionals: Mapping[str, Callable[..., Any]], *, vectorized: bool = True) -> Gibbs:
    """Return the step of Gibbs sampling from the full conditional distributions.

    A move drawn from p(x_d | all others) is one of Metropolis and Hastings that is accepted with probability
    one. Run it with `sample`, from a mapping of the variables to arrays with a row a chain.

    Parameters
    ----------
    conditionals : mapping of str to callable
        ``conditional(rng, variables)`` of each variable, in the order of a sweep: its distribution given the
        others, or a draw from it. Arrays of variables have a row a chain.
    vectorized : bool
        Whether conditionals take all chains at once; if not, they are called for one chain after the other.

    Examples
    --------
    Mean and precision of a normal sample, with independent priors:

    >>> import tractable
    >>> y = np.array([4.2, 5.1, 3.9, 4.8, 5.5])
    >>> def mean(rng, v):
    ...     precision = 0.01 + len(y) * v["precision"]
    ...     return tractable.Normal(mean=v["precision"] * y.sum() / precision, variance=1 / precision)
    >>> def precision(rng, v):
    ...     rate = 0.1 + 0.5 * ((y - v["mean"][:, None]) ** 2).sum(axis=1)
    ...     return tractable.Gamma(shape=0.1 + 0.5 * len(y), rate=rate)
    >>> step = gibbs({"mean": mean, "precision": precision})
    >>> start = {"mean": np.zeros(4), "precision": np.ones(4)}
    >>> chains = tractable.sampling.sample(step, start, 1000, n_warm_up=100, rng=0)
    >>> round(float(chains["mean"].mean()), 1)
    4.7
    """
    if not (isinstance(conditionals, Mapping) and conditionals and all(map(callable, conditionals.values()))):
        raise ValueError("conditionals must be a mapping from names of variables to functions")
    return Gibbs(conditionals=dict(conditionals), vectorized=bool(vectorized))


@value
class GaussianGibbs:
    """A sweep over the coordinates of a normal distribution; see `gaussian_gibbs`.

    Parameters
    ----------
    mean : array (d,)
        μ.
    coef : array (d, d)
        -Λ_dj / Λ_dd, zero on the diagonal.
    stddev : array (d,)
        1 / √Λ_dd.
    """

    mean: np.ndarray
    coef: np.ndarray
    stddev: np.ndarray

    def begin(self, rng: np.random.Generator, position: np.ndarray) -> tuple["GaussianGibbs", State]:
        """Return the step and the first state, checked."""
        if np.shape(position)[1:] != self.mean.shape:
            raise ValueError(
                f"start must have {len(self.mean)} columns and a row a chain, got {position.shape}"
            )
        return self, State(position=np.asarray(position, dtype=np.float64))

    def __call__(self, rng: np.random.Generator, state: State) -> tuple[State, dict[str, np.ndarray]]:
        """Draw x_d ~ N(μ_d - Σ_j≠d Λ_dj (x_j - μ_j) / Λ_dd, 1 / Λ_dd) in turn."""
        z = state.position - self.mean
        noise = self.stddev * rng.standard_normal(z.shape)
        for d, row in enumerate(self.coef):
            z[:, d] = z @ row + noise[:, d]
        return State(z + self.mean), {"acceptance": np.ones(len(z))}


def gaussian_gibbs(distribution: MultivariateNormal) -> GaussianGibbs:
    """Return the step of Gibbs sampling of a normal distribution, one coordinate after the other.

    The conditional of a coordinate is normal, N(μ_d - Σ_j≠d Λ_dj (x_j - μ_j) / Λ_dd, 1 / Λ_dd) with Λ the
    precision matrix. Other distributions have other conditionals, in general not normal.

    Parameters
    ----------
    distribution : MultivariateNormal
        One distribution, no batch.

    Examples
    --------
    >>> import tractable
    >>> target = tractable.MultivariateNormal(mean=[1.0, 2.0], covariance=[[1.0, 0.8], [0.8, 1.0]])
    >>> chains = tractable.sampling.sample(gaussian_gibbs(target), np.zeros((4, 2)), 4000, rng=0)
    >>> np.corrcoef(chains.flat().T)[0, 1].round(1)
    np.float64(0.8)
    """
    if not isinstance(distribution, MultivariateNormal) or distribution.batch_shape:
        raise ValueError("distribution must be one MultivariateNormal")
    lower = cholesky(np.asarray(distribution.covariance, dtype=np.float64), name="covariance")
    precision = solve_cholesky(lower, np.eye(len(lower)))
    diagonal = np.diag(precision)
    coef = -precision / diagonal[:, None]
    np.fill_diagonal(coef, 0.0)
    return GaussianGibbs(
        mean=np.asarray(distribution.mean, dtype=np.float64), coef=coef, stddev=1.0 / np.sqrt(diagonal)
    )
