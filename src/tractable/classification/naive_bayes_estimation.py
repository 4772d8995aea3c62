"""How the likelihoods of naive Bayes are estimated."""

from typing import Any

from tractable.value import value

__all__ = ["Estimation"]


@value
class Estimation:
    """What turns statistics into distributions.

    Parameters
    ----------
    bayes : bool
        Whether parameters are integrated out rather than estimated.
    pseudocounts : float
        Observations that the priors are worth.
    var_smoothing : float
        What is added to variances, as a share of the variance of the column, or `of_largest` of them.
    shared_variance : bool
        Whether a column has one variance in all classes.
    variance : float or array (d,), optional
        Variances that are known.
    bandwidth, kernel
        Of smoothed samples.
    min_categories : int or array (d,), optional
        Categories that a column has at least.
    """

    bayes: bool = False
    pseudocounts: float = 1.0
    var_smoothing: float = 1e-9
    of_largest: bool = False
    shared_variance: bool = False
    variance: Any = None
    bandwidth: Any = "silverman"
    kernel: Any = "gaussian"
    min_categories: Any = None
