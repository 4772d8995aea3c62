"""Gaussian process classification by Laplace's approximation."""

from functools import partial
from typing import Any, Self

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.linalg import jittered_cholesky
from tractable.arrays.log_space import log_softmax
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base import (
    ClassifierMixin,
    ModelTags,
    all_or_nothing,
    check_choice,
    check_labels,
    check_number,
)
from tractable.base.options import SklearnOptions
from tractable.engines.glm.integrals import log_expected_probit, log_expected_sigmoid, log_expected_softmax
from tractable.engines.glm.losses import LINKS, Logistic, Loss, Probit, helmert_contrasts
from tractable.engines.mode_search import golden_section
from tractable.gaussian_process.comparison import WeighedLatent
from tractable.gaussian_process.latent import Approximation, LatentGaussianProcess, LatentModel, with_nu
from tractable.gaussian_process.posteriors.latent import LikelihoodExpansion, latent_process, softmax_process
from tractable.kernels import Kernel

#: How several classes may be modelled.
MULTI_CLASS = ("softmax", "one_vs_rest")
#: The variance of the latent function that the default kernel begins with.
LATENT_VARIANCE = 4.0
#: Logarithms of the exponents between which that of coupled probabilities is looked for.
COUPLING = (-2.0, 2.0)


class GaussianProcessClassifier(ClassifierMixin, LatentGaussianProcess):
    """Gaussian process classification: p(C₂ | x) = σ(f(x)), f ~ GP(0, k), by Laplace's approximation.

    The posterior of the latent function at the rows is approximated by a normal distribution at its mode,
    which Newton's method finds (Rasmussen and Williams, sections 3.4 and 3.5; Bishop 6.4.6). Probabilities
    are averages of σ over the latent function, by quadrature: less certain far from the rows than at the
    mode. The hyper-parameters of the kernel maximise the approximate evidence, with their priors where they
    have any.

    Of several classes each has a latent function. "softmax" approximates the joint posterior of all, with one
    kernel. "one_vs_rest" fits a classifier of each class against the others, with a kernel of its own; their
    probabilities are raised to one power, which is learned from leave-one-out probabilities, and divided by
    their sum.

    A frame may have columns of words and categories: kernels see them as codes 0, 1, …, and each category
    that was not in the fit as one that equals no other.

    It is approximate: the true posterior is skew, which the approximation is not, and its mode lies between
    zero and the mean; `compare_to_exact` measures it. Probabilities are too near ½ rather than too certain,
    the more so the larger the variance of f is; of classes that are separated its evidence rises with that
    variance nevertheless, so give it a prior or an upper bound where you give a kernel. A fit takes O(n³)
    time and the memory of a few matrices of rows × rows, of "softmax" for each class.

    Parameters
    ----------
    kernel : Kernel, optional
        The covariance function k of the latent function, with starting values of its hyper-parameters. By
        default a squared exponential with a length scale for each column, in units of X, times one of
        equality for each column of categories, and weak priors: of the variance, Gamma(2) with mean 4.
    link : {"logit", "probit"}
        σ: the logistic function, or the normal cdf Φ, which is of two classes or "one_vs_rest".
    multi_class : {"softmax", "one_vs_rest"}
        How more than two classes are modelled.
    nu : float
        ν of the covariance k(x, x') + νδ of the latent values: noise of each row's own, not learned. A term
        `White` of the kernel is the same, and learned.
    optimizer : {"fmin_l_bfgs_b"} or None
        The search for hyper-parameters; None keeps those of the kernel.
    n_restarts_optimizer : int
        Number of further searches, from starting values drawn within the bounds; the best is kept.
    tol : float
        Relative change of the objective at which a search stops.
    max_iter : int
        Maximum number of iterations of a search.
    random_state : None, int, RandomState or Generator
        Where starting values of restarts come from.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    kernel_ : Kernel or tuple of Kernel
        The kernel at its hyper-parameters, with ν as `White`; of "one_vs_rest" one a class.
    log_evidence_ : float
        log p(y | X) by Laplace's approximation; of "one_vs_rest" the sum over classifiers.
    theta_ : array of shape (p,)
        Logarithms of the free hyper-parameters; of "one_vs_rest" one classifier's after the other's.
    latent_mode_ : array of shape (n_samples,) or (n_samples, n_classes)
        The mode of the latent function at the rows, of the second of two classes or of each.
    coupling_ : float
        The power of the probabilities of "one_vs_rest".
    converged_ : bool
        Whether the searches for hyper-parameters and for modes ended by their tolerances.
    n_iter_ : int
        Improvements of the objective in the longest search, one at least.
    X_train_ : array of shape (n_samples, n_features)
        The rows of the fit, those of positive weight.
    sample_weight_ : array of shape (n_samples,) or None
        How often each counts; None where none were given.
    categories_ : dict
        The categories of each column of words that has any, in the order of their codes.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    BayesianLogisticRegression : the same with a linear latent function.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> from tractable.kernels import RBF
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), ["no", "no", "yes", "yes"]
    >>> model = tractable.GaussianProcessClassifier(RBF(), nu=0.01, optimizer=None).fit(X, y)
    >>> model.predict_proba([[0.5]]).round(4), round(model.log_evidence_, 4)
    (array([[0.4354, 0.5646]]), -2.6223)
    >>> [x.round(4) for x in model.latent_mean_and_variance([[0.5]])]
    [array([0.3065]), array([0.8365])]
    """

    model_tags = ModelTags(kind="discriminative", parametric=False, streaming="no")
    _of_each_row = ("_codes_",)
    _stores_tensors = True

    _sklearn_options = SklearnOptions(ignored=("max_iter_predict", "warm_start"))

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        link: str = "logit",
        multi_class: str = "softmax",
        nu: float = 0.0,
        optimizer: str | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        tol: float = 1e-8,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernel,
            optimizer=optimizer,
            n_restarts_optimizer=n_restarts_optimizer,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
        )
        self.link, self.multi_class, self.nu = link, multi_class, nu

    @all_or_nothing(afresh=True, square=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn hyper-parameters and the posterior of the latent function from rows, read into memory.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,) or column name
            Labels.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        self._check_parameters()
        rows = self._stored(X, y, sample_weight)
        classes, codes = check_labels(rows.y)
        n_classes = len(classes)
        if n_classes < 2:
            raise ValueError(f"y must have two classes at least, got one class: {classes.tolist()[0]!r}")
        if self.link == "probit" and n_classes > 2 and self.multi_class == "softmax":
            raise ValueError(
                'link must be "logit" for more than two classes, unless multi_class is "one_vs_rest"; '
                f"y has {n_classes}"
            )
        self.X_train_, self.sample_weight_ = rows.data, rows.weights
        self.classes_, codes = beside((classes, codes), rows.data)
        kernel = with_nu(self._kernel(LATENT_VARIANCE), float(self.nu))
        each = self._one_row_for_each(kernel)
        xp = namespace_of(rows.data)
        self._codes_ = xp.take(xp.astype(codes, xp.int64), each)
        self._learn(kernel)
        self._set_fitted()
        self._warn_of_searches()
        return self

    def latent_mean_and_variance(self, X: Any) -> tuple[Array, Array]:
        """Return the mean and the variance of the latent function at rows.

        Of two classes (n_samples,) each, of the second; of several, (n_samples, n_classes). The mean is
        kᵀ∇log p(y | f) at the mode f and the variance c - kᵀ(W⁻¹ + C)⁻¹k, with ν in c = k(x, x).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        """
        rows = self._query(X)
        xp, found = namespace_of(rows), [model.moments(rows) for model in self._models_]
        if len(self._models_) > 1:
            means, variances = zip(*found, strict=True)
            return xp.stack(means, axis=1), xp.stack(variances, axis=1)
        mean, spread = found[0]
        return mean, xp.linalg.diagonal(spread) if spread.ndim == 3 else spread

    def _class_scores(self, X: Any) -> Array:
        """Return log p(C_k | x), (n_samples, n_classes)."""
        return self._log_probabilities(self._query(X))

    def _log_probabilities(self, x: Array) -> Array:
        if len(self._models_) > 1:
            return log_softmax(self.coupling_ * self._log_each(x))
        mean, spread = self._models_[0].moments(x)
        if mean.ndim == 1:
            return namespace_of(mean).stack(self._log_odds_pair(mean, spread), axis=1)
        contrasts = beside(helmert_contrasts(mean.shape[1]), mean)
        covariance = contrasts.T @ spread @ contrasts
        root = jittered_cholesky(covariance, max_jitter=1e-6).lower
        return log_expected_softmax(mean @ contrasts, root, contrasts)

    def _log_each(self, x: Array) -> Array:
        """Return the log probability of each class against the others, (n, n_classes)."""
        xp = namespace_of(x)
        return xp.stack([self._log_odds_pair(*model.moments(x))[1] for model in self._models_], axis=1)

    def _log_odds_pair(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return the log probabilities of not being and of being of the class, (n,) each."""
        expected = log_expected_probit if self.link == "probit" else log_expected_sigmoid
        stddev = namespace_of(variance).sqrt(variance)
        return expected(-mean, stddev), expected(mean, stddev)

    def _approximations(self) -> list[Approximation]:
        """Return Laplace's approximation of each latent function, or of all together."""
        weights = self._weights()
        if self.classes_.shape[0] > 2 and self.multi_class == "softmax":
            return [partial(_several_classes, targets=self._indicators(), weights=weights)]
        return [
            partial(_two_classes, y=y, weights=weights, loss=self._loss()) for y in self._against_the_rest()
        ]

    def _log_likelihoods(self) -> list[Any]:
        weights = self._weights()
        if len(self.classes_) > 2 and self.multi_class == "softmax":
            rows = np.arange(len(weights))
            return [lambda f: log_softmax(f)[:, rows, self._codes_] @ weights]
        terms = self._loss().terms
        return [lambda f, y=y: -(terms(f[..., 0], y).value @ weights) for y in self._against_the_rest()]

    def _predicted_and_exact(
        self, x: np.ndarray, weighed: list[WeighedLatent]
    ) -> tuple[np.ndarray, np.ndarray]:
        predicted = np.exp(self._log_probabilities(x))
        if len(self.classes_) > 2 and self.multi_class == "softmax":
            return predicted, predicted + weighed[0].shift(np.exp(log_softmax(weighed[0].draws)))
        one = np.ones(1)
        certain = [np.exp(-self._loss().terms(each.draws[..., 0], one).value) for each in weighed]
        moved = np.stack([each.shift(p) for each, p in zip(weighed, certain, strict=True)], axis=1)
        if len(weighed) == 1:
            return predicted, predicted + np.concatenate([-moved, moved], axis=1)
        each_class = np.maximum(np.exp(self._log_each(x)) + moved, np.finfo(np.float64).tiny)
        return predicted, np.exp(log_softmax(self.coupling_ * np.log(each_class)))

    def _loss(self) -> Loss:
        return Probit() if self.link == "probit" else Logistic()

    def _against_the_rest(self) -> list[Array]:
        """Return 1 for rows of a class and 0 for others: of the second of two classes, or of each."""
        own, k = self._indicators(), self.classes_.shape[0]
        return [own[:, c] for c in ([1] if k == 2 else range(k))]

    def _indicators(self) -> Array:
        """Return 1 in the column of the class of each row, and 0 in the others, (n, n_classes)."""
        xp = namespace_of(self._codes_)
        every = xp.arange(self.classes_.shape[0], device=device(self._codes_))
        return xp.astype(self._codes_[:, None] == every, xp.float64)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("link", self.link, LINKS)
        check_choice("multi_class", self.multi_class, MULTI_CLASS)
        check_number("nu", self.nu, least=0.0)

    def _set_fitted(self) -> None:
        models: tuple[LatentModel, ...] = self._models_
        one = len(models) == 1
        self.kernel_ = models[0].kernel if one else tuple(model.kernel for model in models)
        modes = [model.process.mode for model in models]
        self.latent_mode_ = modes[0] if one else namespace_of(modes[0]).stack(modes, axis=1)
        self.coupling_ = 1.0 if one else self._coupled()

    def _coupled(self) -> float:
        """Return the power of highest leave-one-out probability of the classes of the rows."""
        left, weights = [], self._weights()
        for model in self._models_:
            moments = model.process.leave_one_out(model.kernel.diagonal(self.X_train_), weights)
            left.append(self._log_odds_pair(*moments)[1])
        xp, own = namespace_of(self._codes_), self._indicators()
        each = xp.stack(left, axis=1)

        def probability(log_power: np.ndarray) -> np.ndarray:
            logs = log_softmax(float(np.exp(log_power[0])) * each)
            return np.array([float(weights @ xp.sum(xp.where(own > 0.0, logs, 0.0), axis=1))])

        low, high = (np.array([end]) for end in COUPLING)
        power = float(np.exp(golden_section(probability, low, high, 40))[0])
        # The maximum of values has half of their digits; the root of the derivative, a Newton step on, all.
        p = xp.exp(log_softmax(power * each))
        finite = xp.where(xp.isfinite(each), each, 0.0)
        mean = xp.sum(p * finite, axis=1)
        slope = float(weights @ (xp.sum(own * finite, axis=1) - mean))
        curvature = float(weights @ xp.sum(p * (finite - mean[:, None]) ** 2, axis=1))
        near = curvature > 0.0 and abs(slope) < 1e-4 * curvature * power
        return power + slope / curvature if near else power


def _two_classes(matrix: Array, start: Array | None, *, y: Array, weights: Array, loss: Loss) -> Any:
    return latent_process(matrix, lambda f: LikelihoodExpansion.of(loss.terms(f, y), weights), start=start)


def _several_classes(matrix: Array, start: Array | None, *, targets: Array, weights: Array) -> Any:
    return softmax_process(matrix, targets, weights, start=start)
