"""`sample_posterior`: the posterior of a model by Markov chains, beside the approximation of its fit."""

from typing import Any

from sklearn.base import clone

from tractable.arrays.random import either_seed_name
from tractable.base.estimator import Estimator
from tractable.sampling.driver import sample
from tractable.sampling.posterior import PosteriorSample
from tractable.value import replace


@either_seed_name
def sample_posterior(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    n_samples: int = 1000,
    n_chains: int = 4,
    n_warm_up: int = 500,
    target_ess: float | None = None,
    rng: Any = None,
) -> PosteriorSample:
    """Draw from the posterior of the parameters of a model, given rows.

    The model is fitted first, a copy of it, and its approximation (Laplace's, or a variational one) is
    returned beside the draws, with the difference of the two.

    - `BayesianLogisticRegression`, of either link: coefficients, given `alpha_`, by the no-U-turn sampler.
    - `GaussianProcessRegressor`: the logarithms of the hyper-parameters, by the same.
    - `RobustRegression`: coefficients and scale of the noise, with flat priors of both and of log scale.
    - `Lasso`: coefficients with the Laplace prior whose mode the lasso is, and the noise, by Gibbs sampling.
    - `BayesianLinearRegression` with a conjugate noise: coefficients and noise, by Gibbs sampling.
    - `BayesianGaussianMixture`: weights, means and covariances of every shape, by Gibbs sampling; a Dirichlet
      process is truncated at the number of components.

    Parameters
    ----------
    model : estimator
        One of these; it stays as it is.
    X : array or frame of shape (n_samples, n_features)
        Rows.
    y : array of shape (n_samples,), optional
        Targets.
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.
    n_samples, n_chains, n_warm_up, target_ess, rng
        As in :func:`tractable.sampling.sample`.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), ["no", "no", "yes", "yes"]
    >>> model = tractable.BayesianLogisticRegression(alpha=1.0)
    >>> found = tractable.sample_posterior(model, X, y, n_samples=500, rng=0)
    >>> bool(found["coef"][..., 1].mean() > found.approximation["coef"][0][1])  # skewed: the mean is above
    True
    """
    if not isinstance(model, Estimator) or not hasattr(model, "_posterior_sampler"):
        raise ValueError(
            "model must be one whose posterior can be sampled (BayesianLogisticRegression, "
            "GaussianProcessRegressor, RobustRegression, Lasso, BayesianLinearRegression or "
            f"BayesianGaussianMixture), got {type(model).__name__}"
        )
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    fitted = clone(model).fit(X, **weights) if y is None else clone(model).fit(X, y, **weights)
    how = fitted._posterior_sampler(X, y, sample_weight)  # noqa: SLF001
    chains = sample(
        how.step,
        how.start,
        n_samples,
        n_chains=n_chains,
        n_warm_up=n_warm_up,
        target_ess=target_ess,
        rng=rng,
        label=f"posterior of {type(model).__name__}",
    )
    if how.variables is not None:
        chains = chains.map(how.variables)
    chains = replace(chains, names=dict(how.names or {}))
    return PosteriorSample(chains=chains, approximation=dict(how.approximation or {}), kind=how.kind)
