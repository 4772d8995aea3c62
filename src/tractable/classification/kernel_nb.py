"""Naive Bayes of smoothed samples."""

from typing import Any

from tractable.base import ModelTags
from tractable.classification.naive_bayes_estimation import Estimation
from tractable.classification.naive_bayes_samples import check_rule
from tractable.classification.naive_bayes_shell import NaiveBayesShell
from tractable.smoothing import WINDOWS, check_window

__all__ = ["KernelNB"]


class KernelNB(NaiveBayesShell):
    """p(C_k | x) ∝ p(C_k) Π_j (1/N_k) Σ_n K_h(x_j - x_nj): columns as a class shows them, smoothed.

    No family is assumed: a column may be skewed, or have several modes. The values are kept: learning is
    exact in one pass and merging lays the values of both side by side, but the model is as large as the data.
    Missing entries (NaN) drop out exactly.

    Parameters
    ----------
    bandwidth : {"silverman", "scott", "isj", "loo", "lscv"} or float
        As of :class:`tractable.KernelDensity`, for each column and class. A class whose values do not vary
        has Silverman's for the deviation of all classes.
    kernel : str or callable
        As of :class:`tractable.KernelDensity`. Windows that end somewhere leave rows that no class explains;
        of such a row nothing is known but p(C_k).
    priors : array of shape (n_classes,), optional
        p(C_k); the shares of the classes by default.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_, class_prior_ : arrays of shape (n_classes,)
    class_distributions_ : Product of batch n_classes
        Of `Stacked` smoothed samples.
    distribution_ : Mixture
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[0.0], [1.0], [9.0], [10.0], [4.0], [5.0], [6.0]]), np.array([0, 0, 0, 0, 1, 1, 1])
    >>> model = tractable.KernelNB(bandwidth=1.0).fit(X, y)
    >>> model.predict_proba([[0.5], [5.0], [9.5]]).round(3)
    array([[0.999, 0.001],
           [0.   , 1.   ],
           [0.999, 0.001]])
    """

    model_tags = ModelTags(
        kind="generative", parametric=False, streaming="exact in one pass", missing_values=True
    )

    def __init__(self, *, bandwidth: Any = "silverman", kernel: Any = "gaussian", priors: Any = None) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.priors = priors

    def _told(self) -> Any:
        return "kernel"

    def _check_parameters(self) -> None:
        window = check_window(self.kernel)
        check_rule(self.bandwidth)
        if self.bandwidth == "lscv" and window is not WINDOWS["gaussian"]:
            raise ValueError('bandwidth="lscv" has a closed form for kernel="gaussian" alone; use "loo"')

    def _estimation(self) -> Estimation:
        return Estimation(bandwidth=self.bandwidth, kernel=self.kernel)
