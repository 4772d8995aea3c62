"""Posteriors of models, sampled, beside the approximation that the fit has."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tractable.sampling.chains import Chains
from tractable.value import value


@value
class PosteriorSampler:
    """How the posterior of a fitted model is sampled; what a model returns from ``_posterior_sampler``.

    Parameters
    ----------
    step : callable
        The step of a Markov chain.
    start : callable
        ``start(rng, n_chains)`` returns starting points, spread about the fit.
    variables : callable, optional
        From the draws of the step, a mapping of arrays (n_chains, n_draws, ...), to the variables of the
        model in its units; the draws as they are when not given.
    approximation : mapping of str to pair of arrays
        Mean and standard deviation of variables by the approximation of the fit.
    names : mapping of str to tuple of str
        Names of the entries of variables.
    kind : str
        What the approximation is.
    """

    step: Any
    start: Callable[[np.random.Generator, int], Any]
    variables: Callable[[dict[str, np.ndarray]], Mapping[str, Any]] | None = None
    approximation: Mapping[str, Any] | None = None
    names: Mapping[str, Any] | None = None
    kind: str = "Laplace approximation"


@value
class PosteriorSample:
    """Draws from the posterior of a model, and the approximation of its fit.

    Parameters
    ----------
    chains : Chains
        The draws.
    approximation : mapping of str to pair of arrays
        Mean and standard deviation of variables by the approximation.
    kind : str
        What the approximation is.
    """

    chains: Chains
    approximation: Mapping[str, Any]
    kind: str

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the draws of a variable, (n_chains, n_draws, ...)."""
        return self.chains[name]

    def comparison(self) -> Any:
        """Return a pandas frame: means and deviations sampled and approximated, and how far they are apart.

        `shift` is the difference of the means in standard deviations, `shift_error` its Monte Carlo standard
        error, and `sd_ratio` the approximated standard deviation over the sampled one.
        """
        import pandas as pd

        parts = []
        for name, (mean, sd) in self.approximation.items():
            found = self.chains.diagnoses[name]
            columns = {
                "mean": found.mean, "sd": found.sd, "approximate_mean": mean, "approximate_sd": sd,
                "shift": (np.asarray(mean) - found.mean) / found.sd,
                "shift_error": found.mcse_mean / found.sd, "sd_ratio": np.asarray(sd) / found.sd,
            }  # fmt: skip
            parts.append(
                pd.DataFrame({k: np.ravel(x) for k, x in columns.items()}, index=self.chains.entries(name))
            )
        return pd.concat(parts) if parts else pd.DataFrame()
