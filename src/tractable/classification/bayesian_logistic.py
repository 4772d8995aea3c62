"""Bayesian logistic regression: a Gaussian prior, the Laplace approximation, predictive integrals."""

import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.batched import as_reals
from tractable.arrays.devices import beside
from tractable.arrays.error_function import log_ndtr
from tractable.arrays.log_space import sigmoid, softmax
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.random import as_generator, either_seed_name
from tractable.arrays.svd import orientation
from tractable.base import (
    ClassifierMixin,
    Estimator,
    ModelTags,
    all_or_nothing,
    check_choice,
    check_columns,
    check_fitted,
    check_number,
    refuse_foreign,
)
from tractable.base.by_blocks import by_blocks
from tractable.classification.labelled_rows import labelled_rows
from tractable.covariance import Full
from tractable.data import Source
from tractable.data.blocks import map_rows
from tractable.distributions import MultivariateNormal
from tractable.engines import fold
from tractable.engines.glm.integrals import (
    limit_rows,
    log_expected_probit,
    log_expected_sigmoid,
    log_expected_softmax,
)
from tractable.engines.glm.laplace import LaplaceApproximation, laplace, laplace_evidence
from tractable.engines.glm.losses import LINKS, ClassLoss, Logistic, LossExpansion, Probit, class_loss
from tractable.primitives import as_double
from tractable.primitives.linear import triangle
from tractable.primitives.threads import blas_for_products
from tractable.regression_tables import wald_interval
from tractable.sampling import PosteriorSampler, nuts
from tractable.statistics import DiagonalMoments, Standardizer
from tractable.value import replace, value

#: Most bytes that a fit takes, and how many matrices of the size of the covariance it holds.
MOST_BYTES, MATRICES = 2**31, 8
#: Entries of the largest array in the prediction of a block of rows.
BLOCK_ENTRIES = 2**22


class BayesianLogisticRegression(ClassifierMixin, Estimator):
    """Logistic regression with the prior coef ~ N(0, 1/alpha) and a Gaussian posterior.

    p(C_2 | x) = σ(intercept + xᵀ coef) for two classes, the softmax of K linear predictors for more. The
    posterior is approximated by N(mode, H⁻¹), H the Hessian of its negative logarithm at the mode (Laplace
    approximation, Bishop 4.5). Predictions are averages over it, p(C_2 | x, data) = ∫ σ(a) N(a | m, s²) da
    with m and s² the posterior mean and variance of the linear predictor, by quadrature. Far from the rows
    they are less certain than those of the mode; separable classes are no difficulty. The average of two
    classes has 12 digits and that of three 10, however small it is; of more it is by a fixed rule to 1e-4.

    The covariance of all coefficients is held: with K classes and d columns, ((K - 1)(d + 1))² entries. A fit
    that would take more than 2 GiB, 300 classes of 20 columns say, is refused before any work.

    Exact over several passes: every Newton step is a fold over the rows. Columns are standardized internally;
    parameters and predictions are in the units of X.

    Parameters
    ----------
    alpha : float, array (d,) or "evidence"
        Precision of the prior, of every coefficient or of each: scikit-learn's 1/C. "evidence" (default)
        learns one for all standardized columns at MacKay's fixed point of the evidence, α = γ/|w|², which
        does not depend on units. For K > 2 it is the precision of the coefficients of all classes, which sum
        to zero. The prior of intercepts is flat.
    fit_intercept : bool
        Whether linear predictors have an intercept.
    link : {"logit", "probit"}
        "probit": p(C_2 | x) = Φ(intercept + xᵀ coef), two classes only; its predictions are in closed form.
    max_iter : int
        Maximum number of Newton steps.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    posterior_ : MultivariateNormal
        Of the intercept, where there is one, and the coefficients of the log odds of the second class; of K
        classes, of the log odds of each but the first against the first.
    coef_ : array of shape (1, n_features) for two classes, or (n_classes, n_features)
        The mode of the posterior; of K classes coefficients sum to zero.
    intercept_ : array of shape (1,) or (n_classes,)
        The mode of the intercepts; 0 where there are none.
    coef_std_errors_, intercept_std_error_ : arrays like `coef_` and `intercept_`
        Standard deviations of the posterior at `alpha_`.
    alpha_ : array of shape (n_features,)
        Precision of the prior of each coefficient.
    gamma_ : float
        Effective number of coefficients that the rows determine.
    log_evidence_ : float
        log p(y | X), by Laplace's approximation; the flat prior of intercepts has density one.
    n_iter_ : int
        Newton steps; of the searches at every precision, with ``alpha="evidence"``.
    n_features_in_, feature_names_in_ : int, array of str
        Number of columns, and their names where they had any.

    Notes
    -----
    Laplace's approximation is good where there are many rows for each coefficient; the error of its evidence
    is then about 1/n. Where hyperplanes separate the classes the posterior is skew, the more so the smaller
    alpha is: predictions there are too uncertain, and an alpha that is learned is the better choice.

    MacKay's fixed point is not exactly where `log_evidence_` is largest: it neglects that the curvature at
    the mode changes with alpha.

    Examples
    --------
    Separable classes: the mode is bounded by the prior, and the prediction is less certain than that of the
    mode.

    >>> import numpy as np, tractable
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), ["no", "no", "yes", "yes"]
    >>> model = tractable.BayesianLogisticRegression(alpha=1.0).fit(X, y)
    >>> model.coef_.round(4), model.coef_std_errors_.round(4)
    (array([[1.0066]]), array([[0.6706]]))
    >>> model.predict_proba([[4.0]]).round(4), (1 / (1 + np.exp(-4 * model.coef_))).round(4)
    (array([[0.1227, 0.8773]]), array([[0.9825]]))
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact over several passes")
    _learns_on_host = True

    def __init__(
        self,
        *,
        alpha: Any = "evidence",
        fit_intercept: bool = True,
        link: str = "logit",
        max_iter: int = 100,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.link = link
        self.max_iter = max_iter

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the mode of the posterior, and the curvature there.

        Parameters
        ----------
        X, y, sample_weight
            Rows in memory, in files or in a stream that can be repeated, their labels, and how often each
            counts.
        """
        check_choice("link", self.link, LINKS)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        data, self.classes_ = labelled_rows(self, X, y, sample_weight)
        alpha = self._given_alpha()
        if self.link == "probit" and len(self.classes_) > 2:
            raise ValueError(f'link must be "logit" for more than two classes, y has {len(self.classes_)}')
        self._check_size()
        self._standardizer_ = self._standardize(data)
        self._contrasts_ = class_loss(len(self.classes_)).contrasts
        found = self._laplace(data, alpha)
        if not found.converged:
            warnings.warn(
                f"BayesianLogisticRegression has not converged in {self.max_iter} steps; raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._set_fitted(found)
        return self

    def coef_interval(self, coverage: float = 0.95) -> np.ndarray:
        """Return the interval (..., 2) that holds each coefficient with probability `coverage`, given alpha.

        A precision that is learned from the same rows is uncertain, which the posterior at `alpha_` does not
        allow for: where few rows say little of the coefficients, its intervals would be far too narrow. So
        there is none with ``alpha="evidence"``.
        """
        check_fitted(self)
        check_number("coverage", coverage, above=0.0, below=1.0)
        if isinstance(self.alpha, str):
            raise ValueError(
                'alpha="evidence": intervals at a precision learned from the same rows would cover less '
                "than their nominal coverage; give alpha as a number or one a column, such as alpha_"
            )
        return wald_interval(self.coef_, self.coef_std_errors_, coverage)

    @either_seed_name
    def sample_functions(self, X: Any, n_samples: int = 1, *, random_state: Any = None) -> np.ndarray:
        """Draw coefficients from the posterior, and return the class probabilities of all rows by each.

        They have the shape (n_samples, number of rows, n_classes).

        Parameters
        ----------
        X : array or frame of shape (number of rows, n_features)
            Rows.
        n_samples : int
            Number of draws of the coefficients.
        random_state : None, int, RandomState or Generator
            Where randomness comes from; a seed gives the same draws every time.
        """
        check_fitted(self)
        check_number("n_samples", n_samples, least=1, whole=True)
        z = self._design(X)
        noise = as_generator(random_state).standard_normal((int(n_samples), len(self._root_)))
        drawn = self._mode_ + (noise @ self._root_.T).reshape(int(n_samples), *self._mode_.shape)
        xp, (drawn, contrasts) = namespace_of(z), beside((drawn, self._contrasts_), z)
        eta = xp.matrix_transpose(drawn @ z.T)
        if contrasts.shape[0] > 2:
            return softmax(eta @ contrasts.T)
        both = xp.concat([-eta, eta], axis=-1)
        return sigmoid(both) if self.link == "logit" else xp.exp(log_ndtr(both))

    @by_blocks
    def predict_activation(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation of the linear predictor of two classes, (n_samples,)."""
        check_fitted(self)
        if len(self._contrasts_) > 2:
            raise ValueError(
                f"there is one activation for two classes, and there are {len(self._contrasts_)}"
            )
        return self._activation(self._design(X))

    def _class_scores(self, X: Any) -> np.ndarray:
        """Return log p(C_k | x, data)."""
        z = limit_rows(self._design(X))
        if len(self._contrasts_) > 2:
            of = partial(_log_expected, activations=self._activations, contrasts=beside(self._contrasts_, z))
            return map_rows(of, z, rows=max(1, BLOCK_ENTRIES // (self._mode_.size * len(self._mode_))))
        mean, stddev = self._activation(z)
        expected = log_expected_sigmoid if self.link == "logit" else log_expected_probit
        return namespace_of(z).stack([expected(-mean, stddev), expected(mean, stddev)], axis=1)

    def _activation(self, z: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation of the linear predictor of two classes."""
        mode, root = beside((self._mode_[0], self._root_), z)
        with blas_for_products(z.shape[0] * root.shape[0] * root.shape[1]):
            return z @ mode, namespace_of(z).linalg.vector_norm(z @ root, axis=1)

    def _activations(self, z: Array) -> tuple[Array, Array]:
        """Return the means (n, c) of the linear predictors and roots (n, c, c) of their covariances."""
        xp, (c, p) = namespace_of(z), self._mode_.shape
        mode, root = beside((self._mode_, self._root_.reshape(c, p, c * p)), z)
        spread = xp.permute_dims(z @ root, (1, 0, 2))
        sizes, axes = xp.linalg.eigh(spread @ xp.matrix_transpose(spread))
        # The widest axis first: the first coordinates of a Halton sequence are its most even ones.
        axes = axes * orientation(axes) * xp.sqrt(xp.clip(sizes, min=0.0))[:, None, :]
        return z @ mode.T, xp.flip(axes, axis=2)

    def _design(self, X: Any) -> Array:
        return self._with_intercept(as_double(check_columns(self, X)))

    def _with_intercept(self, X: Array) -> Array:
        """Return the standardized columns of rows that are checked, after a column of ones."""
        z, xp = beside(self._standardizer_, X).transform(X), namespace_of(X)
        return xp.concat([xp.ones_like(z[:, :1]), z], axis=1) if self.fit_intercept else z

    def _check_size(self) -> None:
        """Refuse more coefficients than a covariance of all of them, and its factors, leave memory for."""
        n = (len(self.classes_) - 1) * (self.n_features_in_ + int(self.fit_intercept))
        needed = MATRICES * 8 * n * n
        if needed > MOST_BYTES:
            raise ValueError(
                f"y has {len(self.classes_)} classes and X {self.n_features_in_} columns: the covariance of "
                f"their {n} coefficients would take about {needed / 2**30:.1f} GiB, more than "
                f"{MOST_BYTES / 2**30:g} GiB; use LogisticRegression, which needs no covariance, or fewer "
                "columns or classes"
            )

    def _given_alpha(self) -> np.ndarray | None:
        if isinstance(self.alpha, str):
            check_choice("alpha", self.alpha, ("evidence",))
            return None
        alpha = np.asarray(as_reals("alpha", self.alpha), dtype=np.float64)
        if alpha.shape not in ((), (self.n_features_in_,)) or not np.all((alpha > 0) & (alpha < np.inf)):
            raise ValueError(
                f'alpha must be "evidence", a number above 0 or {self.n_features_in_} of them, '
                f"got {self.alpha!r}"
            )
        return np.broadcast_to(alpha, (self.n_features_in_,))

    def _standardize(self, data: Source) -> Standardizer:
        moments = fold(_moments, data)
        found = Standardizer.from_moments(moments, centered=self.fit_intercept)
        # The rounding errors of a constant column stay small.
        size = np.where(np.abs(moments.mean) < np.finfo(float).tiny, 1.0, np.abs(moments.mean))
        return replace(found, scale=np.where(found.varies, found.scale, 1.0 / size))

    def _laplace(self, data: Source, alpha: np.ndarray | None) -> LaplaceApproximation:
        """Return the Laplace approximation for standardized columns; every loss is one pass over the rows."""
        scaling = self._standardizer_.shift, self._standardizer_.scale
        own: ClassLoss = Probit() if self.link == "probit" else class_loss(len(self.classes_))

        def loss(coef: np.ndarray) -> LossExpansion:
            return fold(partial(LossExpansion.of, loss=own, coef=coef, scaling=scaling), data)

        flat, c = np.zeros(int(self.fit_intercept)), self._contrasts_.shape[1]
        if alpha is None:
            proper = np.append(flat > 0.0, np.ones(self.n_features_in_, dtype=bool))
            return laplace_evidence(loss, np.tile(proper, (c, 1)), max_iter=self.max_iter)
        precision = np.tile(np.append(flat, alpha * scaling[1] * scaling[1]), (c, 1))
        return laplace(loss, precision, np.zeros(precision.shape), max_iter=self.max_iter)

    def _set_fitted(self, found: LaplaceApproximation) -> None:
        """Set the attributes, in the units of X."""
        scale = self._standardizer_.scale
        self._mode_, self._root_ = found.mode, found.root
        self.log_evidence_, self.gamma_, self.n_iter_ = found.log_evidence, found.effective_dof, found.n_iter
        first, (c, p) = int(self.fit_intercept), found.mode.shape
        self.alpha_ = found.precision[0, first:] / scale / scale
        columns = np.diag(np.append(np.ones(first), scale))
        if first:
            columns[0, 1:] = -self._standardizer_.shift * scale
        classes = self._contrasts_[1:] if c == 1 else self._contrasts_
        mean = classes @ (found.mode @ columns.T)
        root = np.einsum("km,mqr->kqr", classes, columns @ found.root.reshape(c, p, c * p))
        errors = np.linalg.norm(root, axis=-1)
        self.coef_, self.coef_std_errors_ = mean[:, first:], errors[:, first:]
        none = np.zeros(len(classes))
        self.intercept_ = mean[:, 0] if first else none
        self.intercept_std_error_ = errors[:, 0] if first else none
        self.posterior_ = self._posterior(mean, root)

    def _posterior_sampler(self, X: Any, y: Any, sample_weight: Any) -> PosteriorSampler:
        """Return how the posterior at `alpha_` is sampled: see `tractable.sample_posterior`."""
        refuse_foreign(X)
        data, _ = labelled_rows(self, X, y, sample_weight)
        held = data.collect()
        c, p = self._mode_.shape
        first, scale = int(self.fit_intercept), self._standardizer_.scale
        precision = np.append(np.zeros(first), self.alpha_ * scale * scale)
        target = LogisticPosterior(
            rows=self._with_intercept(np.asarray(held.X, dtype=np.float64)),
            codes=np.asarray(held.y, dtype=np.int64).ravel(),
            weights=np.asarray(held.row_weights, dtype=np.float64),
            mode=self._mode_,
            root=self._root_,
            precision=np.tile(precision, (c, 1)),
            contrasts=self._contrasts_,
            link=self.link,
        )
        columns = np.diag(np.append(np.ones(first), scale))
        if first:
            columns[0, 1:] = -self._standardizer_.shift * scale
        classes = self._contrasts_[1:] if c == 1 else self._contrasts_

        def variables(draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            found = np.einsum("km,...mp->...kp", classes, target.coefficients(draws["x"]) @ columns.T)
            found = found if c == 1 else found[..., 1:, :] - found[..., :1, :]
            return {"coef": found.reshape(*found.shape[:-2], -1)}

        laplace = self.posterior_
        return PosteriorSampler(
            step=nuts(target, True, vectorized=True),
            start=lambda rng, n: rng.standard_normal((n, c * p)),
            variables=variables,
            approximation={"coef": (laplace.mean, laplace.stddev)},
            names={"coef": laplace.names},
        )

    def _posterior(self, mean: np.ndarray, root: np.ndarray) -> MultivariateNormal:
        if len(mean) > 1:  # against the first class: the coefficients of all are one too many
            mean, root = mean[1:] - mean[0], root[1:] - root[0]
        columns = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        own = ["intercept"] * int(self.fit_intercept) + [str(name) for name in columns]
        names = own if len(mean) == 1 else [f"{label}: {name}" for label in self.classes_[1:] for name in own]
        structure = Full.from_cholesky(triangle(root.reshape(len(names), -1).T).T)
        return MultivariateNormal(mean=mean.ravel(), covariance=structure, names=tuple(names))


@value
class LogisticPosterior:
    """The log posterior of standardized coefficients, in units of the Laplace approximation.

    Coefficients (c, p) are mode + root u, so that u is about standard normal.
    """

    rows: np.ndarray  # (n, p), the design
    codes: np.ndarray  # (n,), the class of each row
    weights: np.ndarray  # (n,)
    mode: np.ndarray  # (c, p)
    root: np.ndarray  # (c p, c p)
    precision: np.ndarray  # (c, p), of the prior
    contrasts: np.ndarray  # (K, c)
    link: str = "logit"

    def coefficients(self, u: np.ndarray) -> np.ndarray:
        """Return coefficients (..., c, p)."""
        return self.mode + (u @ self.root.T).reshape(*u.shape[:-1], *self.mode.shape)

    def __call__(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log density of each u, a row a chain, and its gradient."""
        coef = self.coefficients(u)
        log_likelihood, slope = self._of_two(coef) if coef.shape[-2] == 1 else self._of_many(coef)
        pull = self.precision * coef
        value = log_likelihood - 0.5 * np.sum(pull * coef, axis=(-1, -2))
        return value, (slope - pull).reshape(*u.shape[:-1], -1) @ self.root

    def _of_two(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Σ w log p(±η) of two classes, and its gradient by the coefficients (..., 1, p)."""
        loss = Probit() if self.link == "probit" else Logistic()
        found = loss.terms(coef[..., 0, :] @ self.rows.T, self.codes)
        return -(found.value @ self.weights), -((self.weights * found.slope) @ self.rows)[..., None, :]

    def _of_many(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Σ w log p of the classes of the rows, and its gradient by the coefficients (..., c, p)."""
        eta = (coef @ self.rows.T).swapaxes(-1, -2) @ self.contrasts.T  # (..., n, K)
        eta -= eta.max(axis=-1, keepdims=True)
        total = np.log(np.exp(eta).sum(axis=-1, keepdims=True))
        own = np.take_along_axis(eta, np.broadcast_to(self.codes[:, None], (*eta.shape[:-1], 1)), axis=-1)
        residual = -np.exp(eta - total)
        residual += np.arange(eta.shape[-1]) == self.codes[:, None]
        slope = ((self.weights[:, None] * residual) @ self.contrasts).swapaxes(-1, -2) @ self.rows
        return (own - total)[..., 0] @ self.weights, slope


def _log_expected(z: np.ndarray, *, activations: Any, contrasts: np.ndarray) -> np.ndarray:
    mean, root = activations(z)
    return log_expected_softmax(mean, root, contrasts)


def _moments(x: Any, codes: Any, weights: Any = None) -> DiagonalMoments:  # noqa: ARG001
    return DiagonalMoments.of(x, weights)
