"""Naive Bayes with one likelihood for all columns, under scikit-learn's names."""

from numbers import Real
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.devices import on_host
from tractable.arrays.random import either_seed_name
from tractable.base import ModelTags, check_answerable, check_choice, check_number, check_numbers
from tractable.base.options import SklearnOptions
from tractable.classification.class_priors import class_priors, log_priors
from tractable.classification.naive_bayes.checks import check_rule
from tractable.classification.naive_bayes.estimator import BaseNaiveBayes
from tractable.columns import Estimation
from tractable.columns.normal import column_variance, pooled
from tractable.smoothing import WINDOWS, check_window
from tractable.value import replace


class GaussianNB(BaseNaiveBayes):
    """Naive Bayes with independent normal columns given the class.

    p(C_k | x) ∝ p(C_k) Π_j N(x_j | μ_kj, σ²_kj): the score ln p(C_k) - Σ_j (ln σ_kj + (x_j - μ_kj)²/2σ²_kj)
    is quadratic. Where classes share their variances, estimated or known, the quadratic terms cancel and the
    classifier is linear: the softmax of logistic regression with weights learned another way, see
    `linear_weights`. Missing entries (NaN) drop out exactly. Means and variances are *exact in one pass*,
    however far from the origin rows lie. A class of one row has `var_smoothing` alone as variance, as in
    scikit-learn, with a warning: for classes of few rows use ``NaiveBayes(estimate="bayes")``.

    Parameters
    ----------
    priors : array of shape (n_classes,), optional
        p(C_k); the relative frequencies of the classes by default.
    var_smoothing : float
        Added to all variances, as a fraction of the largest variance of a column over all classes, as
        scikit-learn does. :class:`tractable.NaiveBayes` takes a fraction of each column's own variance, for
        columns on very different scales.
    shared_variance : bool
        Whether a column has one variance in all classes, that about the means of the classes.
    variance : float or array of shape (n_features,), optional
        The variance, where it is known, of all classes.

    Attributes
    ----------
    theta_, var_ : arrays of shape (n_classes, n_features)
        Means and smoothed variances.
    epsilon_ : float
        The number that `var_smoothing` adds.
    coef_, intercept_ : arrays of shape (n_classes, n_features) and (n_classes,), or (1, n_features) and (1,)
        Where variances are shared: `linear_weights`, of two classes the second's less the first's.
    classes_, class_count_, class_prior_, class_distributions_, distribution_, statistic_
        As of :class:`tractable.NaiveBayes`, as are `n_features_in_` and `feature_names_in_`.

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

    _learns_on_host = _finds_infinity = True

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
        return self._with_classes(self._fitted_columns_.mean)

    @property
    def var_(self) -> np.ndarray:
        """Variances, (n_classes, n_features)."""
        return self._with_classes(self._fitted_columns_.variance)

    @property
    def epsilon_(self) -> float:
        """The number that smoothing adds to variances."""
        overall = pooled(self.statistic_.parts.parts[0])
        return float(self.var_smoothing * column_variance(*overall)[0].max())

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the linear classifier of shared variances."""
        weights, _ = self._linear_weights()
        return weights[1:, :] - weights[:1, :] if weights.shape[0] == 2 else weights

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts of the linear classifier of shared variances."""
        _, bias = self._linear_weights()
        return bias[1:] - bias[:1] if bias.shape[0] == 2 else bias

    def linear_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Return w (n_classes, n_features) and w_0 (n_classes,) with p(C_k | x) = softmax(w_k·x + w_k0).

        Where classes share their variances w_kj = μ_kj/σ_j² and w_k0 = ln p(C_k) - Σ_j μ_kj²/2σ_j². From both
        is subtracted what they are for the average m of the class means, which all classes share:
        (μ_kj - m_j)/σ_j² and ln p(C_k) - Σ_j (μ_kj - m_j)(μ_kj + m_j)/2σ_j² keep their digits far from the
        origin.
        """
        check_answerable(self)
        return self._linear_weights()

    def _linear_weights(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.shared_variance and self.variance is None:
            raise AttributeError(
                "the classifier is linear where shared_variance=True, or a variance is given"
            )
        mean, variance = self._fitted_columns_.mean, self._fitted_columns_.variance[0]
        middle = mean[0] + np.mean(mean - mean[0], axis=0)
        weights = (mean - middle) / variance
        bias = on_host(log_priors(self.class_prior_)) - 0.5 * np.sum(weights * (mean + middle), axis=1)
        return self._with_classes((weights, bias))

    def _check_parameters(self) -> None:
        check_number("var_smoothing", self.var_smoothing, least=0.0)
        if self.variance is not None:
            v = np.asarray(as_reals("variance", self.variance))
            if v.ndim > 1 or not np.all((v > 0) & np.isfinite(v)):
                raise ValueError(f"variance must be positive numbers, got {self.variance!r}")

    def _estimation(self) -> Estimation:
        return Estimation(
            var_smoothing=float(self.var_smoothing),
            of_largest=True,
            shared_variance=bool(self.shared_variance),
            variance=self.variance,
        )


class KernelNB(BaseNaiveBayes):
    """Naive Bayes with a kernel density estimate of every column in every class.

    p(C_k | x) ∝ p(C_k) Π_j (1/N_k) Σ_n K_h(x_j - x_nj). No family is assumed: a column may be skewed, or have
    several modes. The values are stored: learning is *exact in one pass* and merging concatenates the values
    of both, but the model is as large as the data. Missing entries (NaN) drop out exactly.

    Parameters
    ----------
    bandwidth : {"silverman", "scott", "isj", "loo", "lscv"} or float
        As of :class:`tractable.KernelDensity`, for each column and class. A class whose values do not vary
        has Silverman's for the standard deviation of all classes.
    kernel : str or callable
        As of :class:`tractable.KernelDensity`. Kernels of bounded support leave rows that no class explains;
        for such a row the prediction is the prior p(C_k).
    priors : array of shape (n_classes,), optional
        p(C_k); the relative frequencies of the classes by default.

    Attributes
    ----------
    class_distributions_ : Product of batch n_classes
        Of `Stacked` kernel density estimates.
    classes_, class_count_, class_prior_, distribution_, statistic_
        As of :class:`tractable.NaiveBayes`.

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
    _default = "kernel"

    def __init__(self, *, bandwidth: Any = "silverman", kernel: Any = "gaussian", priors: Any = None) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.priors = priors

    def _check_parameters(self) -> None:
        window = check_window(self.kernel)
        check_rule(self.bandwidth)
        if self.bandwidth == "lscv" and window is not WINDOWS["gaussian"]:
            raise ValueError('bandwidth="lscv" has a closed form for kernel="gaussian" alone; use "loo"')

    def _estimation(self) -> Estimation:
        return Estimation(bandwidth=self.bandwidth, kernel=self.kernel)


class DiscreteNB(BaseNaiveBayes):
    """Naive Bayes of discrete columns: `alpha`, `fit_prior` and `class_prior` as scikit-learn has them."""

    _finds_infinity = True

    def __init__(self, *, alpha: float = 1.0, fit_prior: bool = True, class_prior: Any = None) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.classifier_tags.poor_score = True  # on the rows of scikit-learn's checks, which are no counts
        return found

    @property
    def class_log_prior_(self) -> np.ndarray:
        """Log p(C_k), (n_classes,)."""
        return log_priors(self.class_prior_)

    @property
    def _class_statistic(self) -> Any:
        """The statistic of the columns, one first entry a class."""
        return self.statistic_.among(self.classes_).parts[0]

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, least=0.0)

    def _estimation(self) -> Estimation:
        return Estimation(pseudocounts=float(self.alpha))

    def _priors(self, counts: np.ndarray, classes: np.ndarray) -> np.ndarray:
        if self.class_prior is None and not self.fit_prior:
            return np.full(len(classes), 1.0 / len(classes))
        return class_priors(self.class_prior, counts, classes, "class_prior")


def smallest_count(force_alpha: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return the pseudo-counts, of which scikit-learn raises those below 1e-10 unless told to keep them."""
    alpha = given.get("alpha", 1.0)
    small = not force_alpha and isinstance(alpha, Real) and 0.0 <= float(alpha) < 1e-10
    return {"alpha": 1e-10} if small else {}


class CategoricalNB(DiscreteNB):
    """Naive Bayes with independent categorical columns given the class.

    p(C_k | x) ∝ p(C_k) Π_j θ_kj(x_j), with θ_kjc = (n_kjc + α) / (n_kj + α C_j): relative frequencies,
    smoothed as if every category had been seen α times more in every class. *Exact in one pass*; missing
    entries drop out exactly.

    Parameters
    ----------
    alpha : float
        Pseudocounts. 0 is maximum likelihood, under which one category that a class has not shown excludes
        the class.
    fit_prior : bool
        Whether p(C_k) are the relative frequencies of the classes; otherwise they are equal.
    class_prior : array of shape (n_classes,), optional
        p(C_k).
    min_categories : int or array of shape (n_features,), optional
        Least number of categories of a column of codes; as many as were seen by default.
    unseen : {"smooth", "error", "missing"}
        Treatment of a category that a column did not have in fitting: probability α / (n_kj + α (C_j + 1)),
        as if it had been declared; an error; or taken as missing, with a warning. Each is scored as if it
        alone had been declared: with it the probabilities of a column add up to more than one.

    Attributes
    ----------
    class_log_prior_ : array of shape (n_classes,)
        log p(C_k).
    category_count_, feature_log_prob_ : lists of arrays of shape (n_classes, n_categories)
        For each column, n_kjc and log θ_kjc.
    n_categories_ : array of shape (n_features,)
        C_j.
    classes_, class_count_, class_prior_, class_distributions_, distribution_, statistic_
        As of :class:`tractable.NaiveBayes`, as are `n_features_in_` and `feature_names_in_`.

    Examples
    --------
    >>> import pandas as pd, tractable
    >>> X = pd.DataFrame({"sky": ["sun", "rain", "rain", "sun"], "wind": ["no", "yes", "yes", "yes"]})
    >>> model = tractable.CategoricalNB().fit(X, ["walk", "stay", "stay", "walk"])
    >>> model.predict_proba(pd.DataFrame({"sky": ["sun", "hail"], "wind": ["no", None]})).round(3)
    array([[0.143, 0.857],
           [0.5  , 0.5  ]])
    """

    _default = "categorical"
    _reads_text = _positive_only = True

    _sklearn_options = SklearnOptions(rewritten={"force_alpha": smallest_count})

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        unseen: str = "smooth",
    ) -> None:
        super().__init__(alpha=alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.min_categories = min_categories
        self.unseen = unseen

    @property
    def category_count_(self) -> list[np.ndarray]:
        """How often each category was seen in each class, one array a column."""
        counts = self._class_statistic.padded(int(self.n_categories_.max())).counts
        return [counts[:, j, :n].copy() for j, n in enumerate(self.n_categories_)]

    @property
    def feature_log_prob_(self) -> list[np.ndarray]:
        """Log probabilities of the categories in each class, one array a column."""
        with np.errstate(divide="ignore"):
            return [np.log(column) for column in self._fitted_columns_.by_column()]

    @property
    def n_categories_(self) -> np.ndarray:
        """The number of categories of each column."""
        return self._fitted_columns_.sizes

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.min_categories is not None:
            check_numbers("min_categories", np.atleast_1d(self.min_categories).tolist())
        check_choice("unseen", self.unseen, ("smooth", "error", "missing"))

    def _estimation(self) -> Estimation:
        return replace(super()._estimation(), min_categories=self.min_categories)


class MultinomialNB(DiscreteNB):
    """Naive Bayes of counts that are multinomial given the total of a row, such as counts of words.

    p(C_k | x) ∝ p(C_k) Π_j θ_kj^x_j, with θ_kj = (Σ x_j + α) / (Σ_i Σ x_i + α D), summed over the rows of a
    class. The total of a row is taken to be Poisson with the same mean λ in all classes, so that the columns
    are independent, Poisson with rates λ θ_kj: rows are drawn from these, and a missing entry drops out
    exactly. Counts may be fractions, such as weighted words, with the densities of the same formula. Where
    entries are missing in fitting, θ_k is the mode of a posterior in which every class has a λ of its own: in
    proportion to the average counts of the rows in which a column was observed, but for α. A column that a
    class never shows has its probability in all classes together. *Exact in one pass*. X may be a sparse
    matrix or array of SciPy, in fitting and in prediction of classes: time and memory are those of the stored
    entries. Where entries are missing, and for joint probabilities, blocks of rows are dense while in use.

    Parameters
    ----------
    alpha : float
        Pseudocounts of each column.
    fit_prior, class_prior
        As of :class:`CategoricalNB`.

    Attributes
    ----------
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        Σ x_j and log θ_kj.
    classes_, class_count_, class_prior_, class_log_prior_, class_distributions_, distribution_, statistic_
        As of :class:`CategoricalNB`, as are `n_features_in_` and `feature_names_in_`.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[3, 0, 1], [2, 1, 0], [0, 4, 1], [1, 3, 2]]), np.array([0, 0, 1, 1])
    >>> model = tractable.MultinomialNB().fit(X, y)
    >>> np.exp(model.feature_log_prob_), model.predict_proba([[1, 1, 0]]).round(3)
    (array([[0.6       , 0.2       , 0.2       ],
           [0.14285714, 0.57142857, 0.28571429]]), array([[0.595, 0.405]]))
    """

    _default = "multinomial"
    _positive_only = _takes_sparse = True

    _sklearn_options = SklearnOptions(rewritten={"force_alpha": smallest_count})

    @property
    def feature_count_(self) -> np.ndarray:
        """Total counts of each column in each class."""
        return self._class_statistic.total

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log probabilities of the columns in each class."""
        rates = self._fitted_columns_.rate
        with np.errstate(divide="ignore"):
            return np.log(rates / rates.sum(axis=1, keepdims=True))


class BernoulliNB(DiscreteNB):
    """Naive Bayes with independent columns of zeros and ones given the class.

    p(C_k | x) ∝ p(C_k) Π_j θ_kj^x_j (1 - θ_kj)^(1 - x_j), with θ_kj = (n_kj + α) / (n_k + 2α): zeros count as
    much as ones. *Exact in one pass*; missing entries (NaN) drop out exactly. X may be sparse, as in
    :class:`MultinomialNB`.

    Parameters
    ----------
    alpha : float
        Pseudocounts of zeros and of ones.
    binarize : float or None
        Entries above are ones, others zeros; None where they are zeros and ones already.
    fit_prior, class_prior
        As of :class:`CategoricalNB`.

    Attributes
    ----------
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        How many ones, and log θ_kj.
    classes_, class_count_, class_prior_, class_log_prior_, class_distributions_, distribution_, statistic_
        As of :class:`CategoricalNB`, of zeros and ones.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[1, 0], [1, 1], [0, 0], [0, 1]]), np.array(["in", "in", "out", "out"])
    >>> model = tractable.BernoulliNB().fit(X, y)
    >>> np.exp(model.feature_log_prob_).round(2).tolist(), model.predict_proba([[1, np.nan]])
    ([[0.75, 0.5], [0.25, 0.5]], array([[0.75, 0.25]]))
    """

    _default = "bernoulli"
    _takes_sparse = True

    _sklearn_options = SklearnOptions(rewritten={"force_alpha": smallest_count})

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        super().__init__(alpha=alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.binarize = binarize

    @property
    def feature_count_(self) -> np.ndarray:
        """The number of ones of each column in each class."""
        return self._class_statistic.padded(2).counts[..., 1]

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log probabilities of ones in each class."""
        with np.errstate(divide="ignore"):
            return np.log(self._fitted_columns_.probability)

    @either_seed_name
    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows and their classes: zeros and ones, or numbers on either side of `binarize`."""
        events, labels = super().sample(n_samples, random_state=random_state)
        if self.binarize is None or 0.0 <= self.binarize < 1.0:
            return events, labels
        low = float(self.binarize)
        return np.where(events > 0.5, max(low + 1.0, np.nextafter(low, np.inf)), low), labels

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.binarize is not None:
            check_number("binarize", self.binarize)
