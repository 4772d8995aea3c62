"""Rows so far from all Gaussian classes that the squares of their distances are no numbers."""

import numpy as np

from tractable.classification.priors import log_priors
from tractable.distributions import MultivariateNormal

__all__ = ["far_scores"]


def far_scores(x: np.ndarray, classes: MultivariateNormal, priors: np.ndarray) -> np.ndarray:
    """Return log p(C_k | x) up to a number that all classes of a row share, (n, K): 0 of the nearest class.

    Distances are taken in units of the largest difference in a row, so that nothing overflows; classes that
    are as near as each other are told apart by their priors.

    Parameters
    ----------
    x : array (n, d)
        NaN where an entry is missing.
    classes : MultivariateNormal of batch K
    priors : array (K,)

    Examples
    --------
    >>> narrow_and_wide = MultivariateNormal(mean=[[0.0], [0.0]], covariance=[[[1.0]], [[4.0]]])
    >>> far_scores(np.array([[1e200]]), narrow_and_wide, np.array([0.5, 0.5])).argmax(axis=1)
    array([1])
    """
    step = 0.5 * x[:, None, :] - 0.5 * np.asarray(classes.mean)
    size = np.nanmax(np.abs(step), axis=(1, 2))[:, None]
    about = MultivariateNormal(mean=np.zeros_like(classes.mean), covariance=classes.structure)
    squared = np.asarray(about.mahalanobis(step / size[:, :, None], squared=True))
    log_prior = log_priors(priors)
    least = np.where(log_prior > -np.inf, squared, np.inf).min(axis=1, keepdims=True)
    beyond = np.where(squared > least, squared - np.where(np.isfinite(least), least, 0.0), 0.0)
    with np.errstate(over="ignore"):
        return log_prior - 2.0 * beyond * size * size
