"""Naive Bayes of normal columns."""

from typing import Any

import numpy as np

from tractable.base import check_answerable, check_number
from tractable.classification.naive_bayes_estimation import Estimation
from tractable.classification.naive_bayes_normal import column_variance, pooled
from tractable.classification.naive_bayes_shell import NaiveBayesShell
from tractable.classification.one_pass import log_priors
from tractable.covariance.rows import as_reals

__all__ = ["GaussianNB"]


class GaussianNB(NaiveBayesShell):
    """p(C_k | x) ∝ p(C_k) Π_j N(x_j | μ_kj, σ²_kj): independent normal columns.

    Its score is quadratic, ln p(C_k) - Σ_j (ln σ_kj + (x_j - μ_kj)²/2σ²_kj). Where classes share their
    variances, estimated or known, the quadratic terms cancel and the classifier is linear: the same softmax
    as logistic regression, with weights learned another way, see `linear_weights`. Missing entries (NaN) drop
    out exactly. Means and variances are exact in one pass, however far from the origin rows lie. A class of
    one row has `var_smoothing` alone for a variance, as in scikit-learn, which is said: for classes of few
    rows take ``NaiveBayes(estimate="bayes")``.

    Parameters
    ----------
    priors : array of shape (n_classes,), optional
        p(C_k); the shares of the classes by default.
    var_smoothing : float
        Added to all variances, as a share of the largest variance of a column over all classes, as
        scikit-learn does. Where columns have very different units, :class:`tractable.NaiveBayes` takes a
        share of each column's own.
    shared_variance : bool
        Whether a column has one variance in all classes, that about the means of the classes.
    variance : float or array of shape (n_features,), optional
        The variance, where it is known, of all classes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_, class_prior_ : arrays of shape (n_classes,)
        Weight of the rows of each class; p(C_k).
    theta_, var_ : arrays of shape (n_classes, n_features)
        Means and variances, the latter smoothed.
    epsilon_ : float
        What `var_smoothing` adds.
    coef_, intercept_ : arrays of shape (n_classes, n_features) and (n_classes,), or (1, n_features) and (1,)
        Where variances are shared: `linear_weights`, of two classes the second's less the first's.
    class_distributions_, distribution_
        As of :class:`tractable.NaiveBayes`.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[1.0], [2.0], [3.0], [7.0], [9.0]]), np.array(["a", "a", "a", "b", "b"])
    >>> model = tractable.GaussianNB().fit(X, y)
    >>> model.theta_[:, 0], model.var_[:, 0].round(4), model.predict_proba([[5.0]]).round(3)
    (array([2., 8.]), array([0.6667, 1.    ]), array([[0.162, 0.838]]))
    >>> linear = tractable.GaussianNB(shared_variance=True).fit(X, y)
    >>> linear.coef_.round(3), linear.intercept_.round(3)
    (array([[7.5]]), array([-37.905]))
    """

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        shared_variance: bool = False,
        variance: Any = None,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.shared_variance = shared_variance
        self.variance = variance

    @property
    def theta_(self) -> np.ndarray:
        """Means, (n_classes, n_features)."""
        return self.fitted_columns_.mean

    @property
    def var_(self) -> np.ndarray:
        """Variances, (n_classes, n_features)."""
        return self.fitted_columns_.variance

    @property
    def epsilon_(self) -> float:
        """What smoothing adds to variances."""
        whole = pooled([part.parts[0] for part in self.statistic_.parts])
        return float(self.var_smoothing * column_variance(whole)[0].max())

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the linear classifier that shared variances make."""
        weights, _ = self._planes()
        return np.diff(weights, axis=0) if len(weights) == 2 else weights

    @property
    def intercept_(self) -> np.ndarray:
        """Constants of the linear classifier that shared variances make."""
        _, bias = self._planes()
        return np.diff(bias) if len(bias) == 2 else bias

    def linear_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Return w (n_classes, n_features) and w_0 (n_classes,) with p(C_k | x) = softmax(w_k·x + w_k0).

        Where classes share their variances w_kj = μ_kj/σ_j² and w_k0 = ln p(C_k) - Σ_j μ_kj²/2σ_j², less what
        they are for the average m of the class means, which all classes share: (μ_kj - m_j)/σ_j² and
        ln p(C_k) - Σ_j (μ_kj - m_j)(μ_kj + m_j)/2σ_j². Far from the origin these keep their digits.

        Returns
        -------
        weights, bias : arrays
        """
        check_answerable(self)
        return self._planes()

    def _planes(self) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = self._linear()
        middle = mean[0] + np.mean(mean - mean[0], axis=0)
        weights = (mean - middle) / variance
        return weights, log_priors(self.class_prior_) - 0.5 * np.sum(weights * (mean + middle), axis=1)

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.shared_variance and self.variance is None:
            raise AttributeError(
                "the classifier is linear where shared_variance=True, or a variance is given"
            )
        return self.theta_, self.var_[0]

    def _check_parameters(self) -> None:
        check_number("var_smoothing", self.var_smoothing, least=0.0)
        if self.variance is not None:
            v = np.asarray(as_reals("variance", self.variance))
            if v.ndim > 1 or not np.all((v > 0) & np.isfinite(v)):
                raise ValueError(f"variance must be positive numbers, got {self.variance!r}")

    def _told(self) -> Any:
        return "normal"

    def _estimation(self) -> Estimation:
        return Estimation(
            var_smoothing=float(self.var_smoothing),
            of_largest=True,
            shared_variance=bool(self.shared_variance),
            variance=self.variance,
        )
