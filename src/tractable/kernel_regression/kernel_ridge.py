"""Kernel ridge regression."""

from typing import Any, Self

import numpy as np

from tractable.arrays.limits import check_squarable, power_of_two
from tractable.arrays.namespace import Array, namespace_of
from tractable.base import (
    Estimator,
    ModelTags,
    RegressorMixin,
    all_or_nothing,
    check_fitted,
    check_number,
    check_targets,
)
from tractable.base.by_blocks import by_blocks, of_held_rows
from tractable.base.options import SklearnOptions
from tractable.base.stored_rows import check_held_columns, check_stored_rows
from tractable.kernel_regression.spectrum import (
    KernelSolution,
    KernelSpectrum,
    WeightedRows,
    equivalent_weights,
    solution_of_matrix,
    solution_of_spectrum,
)
from tractable.kernels import Kernel
from tractable.kernels.named import check_kernel, kernel_of_rows
from tractable.metrics.penalties import check_penalties
from tractable.primitives.threads import blas_for_columns
from tractable.statistics.rows import counts

#: How a penalty may be chosen.
METHODS = ("loo", "gcv")

#: Penalties that are tried where none are given, in units of the mean of k(x, x).
DEFAULT_ALPHAS = np.logspace(-8, 2, 30)


class KernelRidge(RegressorMixin, Estimator):
    """Kernel ridge regression: f(x) = b + Σ_n a_n k(x, x_n), with |y - f|² + α|f|² minimal.

    The dual coefficients are a = (K + αI)⁻¹(y - b), Bishop (6.8), and |f|² = aᵀKa. Predictions are the means
    of a Gaussian process with the kernel k and noise of variance α; with a kernel k = σ²φᵀφ' that includes
    the prior variance σ² of weights, those of ridge regression on φ with the penalty α/σ². The intercept b
    is not penalised, and is that of a Gaussian process with a constant mean.

    The penalty may be chosen by leave-one-out or generalised cross-validation: one decomposition of the
    kernel's matrix gives the errors of all rows, left out in turn, for all penalties. A kernel with fewer
    features than there are rows is solved in the space of its features.

    The rows of the fit are stored. There is no predictive distribution (`predict_dist`): a penalty is not the
    variance of noise that was measured.

    Parameters
    ----------
    kernel : Kernel or {"linear", "poly", "rbf", "sigmoid"}, optional
        k, without noise. By default the squared exponential, with the length scale √d times the standard
        deviation of each of d columns.
    alpha : float, "loo" or "gcv"
        The penalty α, positive, or how it is chosen.
    alphas : array of shape (n_alphas,), optional
        The penalties to choose from; by default 30 from 1e-8 to 100 times the mean of k(x, x).
    fit_intercept : bool
        Whether there is an intercept; scikit-learn's has none.
    gamma : float, optional
        γ of a kernel by name, as scikit-learn's: exp(-γ |x - x'|²), (γ xᵀx' + c)^degree and tanh(γ xᵀx' + c);
        one over the number of columns when not given.
    degree : int
        The degree of ``"poly"``.
    coef0 : float
        c of ``"poly"`` and ``"sigmoid"``.

    Attributes
    ----------
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_targets)
        a.
    feature_coef_ : array of shape (n_kernel_features,) or (n_kernel_features, n_targets)
        The weights w = Φᵀa of the kernel's features, where these are fewer than the rows.
    intercept_ : float or array of shape (n_targets,)
        b; zero with ``fit_intercept=False``.
    alpha_ : float
        The penalty.
    kernel_ : Kernel
        The kernel, with columns by position.
    X_fit_ : array of shape (n_samples, n_features)
        The rows of the fit, those of positive weight.
    targets_ : array of shape (n_samples,) or (n_samples, n_targets)
        Their targets.
    sample_weight_ : array of shape (n_samples,) or None
        How often each counts; None where none were given.
    cv_curve_ : CVCurve
        The score of every penalty, where one was chosen; `tractable.plot` draws it.
    effective_dof_ : float
        The trace of the smoother, where the penalty was chosen.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    Ridge : the same with the columns themselves as features.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> from tractable.kernels import RBF
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0], [4.5]]), np.array([3.0, 5.0, 7.0, 9.0, 10.0])
    >>> model = tractable.KernelRidge(RBF(), alpha=0.1, fit_intercept=False).fit(X, y)
    >>> model.predict([[3.5]]).round(4)  # the mean of a Gaussian process with noise of variance 0.1
    array([7.9642])
    """

    model_tags = ModelTags(kind="discriminative", parametric=False, streaming="no")
    _several_targets = True
    _stores_tensors = True

    _sklearn_options = SklearnOptions(limited={"kernel_params": (None,)})

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        *,
        alpha: Any = 1.0,
        alphas: Any = None,
        fit_intercept: bool = True,
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Solve for the dual coefficients, at a given penalty or at the best of several.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows, which are read into memory.
        y : array of shape (n_samples,) or (n_samples, n_targets), or column name
            Targets.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        self._check_parameters()
        rows = check_stored_rows(self, X, y, sample_weight, supervised=True)
        x = rows.data
        targets = check_targets(self, rows.y, x)
        if isinstance(self.alpha, str):  # squared errors are compared
            check_squarable("y", targets, nonzero=True)
        self.kernel_ = kernel_of_rows(self, x, rows.weights)
        if self.kernel_.has_noise:
            raise ValueError("kernel must have no white noise: alpha is its variance")
        xp, n = namespace_of(x), x.shape[0]
        scale = float(power_of_two(float(xp.max(xp.abs(targets)))))
        weighted = WeightedRows(
            y=xp.reshape(targets, (n, -1)) / scale,
            root=xp.sqrt(rows.row_weights),
            intercept=bool(self.fit_intercept),
        )
        with blas_for_columns(n):
            found = self._solved(x, weighted, scale)
        shape = tuple(targets.shape[1:])
        self.X_fit_, self.targets_, self.sample_weight_ = x, targets, rows.weights
        self.dual_coef_ = scale * xp.reshape(found.dual, (n, *shape))
        self.intercept_ = float(scale * found.intercept[0]) if not shape else scale * found.intercept
        if found.coef is not None:
            self.feature_coef_ = scale * xp.reshape(found.coef, (found.coef.shape[0], *shape))
        return self

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Return f(x) of each row, (n_samples,) or (n_samples, n_targets)."""
        check_fitted(self)
        rows = check_held_columns(self, X)
        if hasattr(self, "feature_coef_"):
            return self.kernel_.features(rows) @ self.feature_coef_ + self.intercept_
        xp, (n, *shape) = namespace_of(rows), self.dual_coef_.shape
        found = self.kernel_.multiply(rows, self.X_fit_, xp.reshape(self.dual_coef_, (n, -1)))
        return xp.reshape(found, (rows.shape[0], *shape)) + self.intercept_

    @of_held_rows
    def equivalent_kernel(self, X: Any) -> Array:
        """Return the weight that the target of each row of the fit has in each prediction, (m, n_samples).

        ``equivalent_kernel(X) @ y`` is ``predict(X)``: a linear smoother. With an intercept the weights of a
        prediction have the sum one.

        Parameters
        ----------
        X : array or frame of shape (m, n_features)
            Rows.
        """
        check_fitted(self)
        rows = check_held_columns(self, X)
        weights = counts(self.sample_weight_, self.X_fit_)
        weighted = WeightedRows(
            y=self.X_fit_[:, :0],
            root=namespace_of(weights).sqrt(weights),
            intercept=bool(self.fit_intercept),
        )
        return equivalent_weights(self.kernel_, rows, self.X_fit_, weighted, self.alpha_)

    def _check_parameters(self) -> None:
        check_kernel(self.kernel, self.gamma)
        if isinstance(self.alpha, str):
            if self.alpha not in METHODS:
                raise ValueError(
                    f"alpha must be a positive number or one of {[*METHODS]}, got {self.alpha!r}"
                )
        else:
            check_number("alpha", self.alpha, above=0.0)
        if self.alphas is not None and not np.all(check_penalties("alphas", self.alphas) > 0.0):
            raise ValueError(f"alphas must be positive, got {self.alphas!r}")

    def _solved(self, x: Array, rows: WeightedRows, scale: float) -> KernelSolution:
        """Return the solution at the penalty, which is chosen first where it is not given."""
        primal, chosen = self.kernel_.has_fewer_features(x.shape[1], x.shape[0]), isinstance(self.alpha, str)
        if not chosen:
            self.alpha_ = float(self.alpha)
            if not primal:
                return solution_of_matrix(self.kernel_(x), rows, self.alpha_)
        elif x.shape[0] < 2:
            raise ValueError("alpha cannot be chosen from one row of X (n_samples = 1): give a number")
        if primal:
            spectrum = KernelSpectrum.of_features(self.kernel_.features(x), rows)
        else:
            spectrum = KernelSpectrum.of_matrix(self.kernel_(x), rows)
        if chosen:
            self.cv_curve_ = spectrum.curve(self._alphas(x, rows.root**2), self.alpha, rows, scale)
            self.alpha_ = self.cv_curve_.best_alpha
            self.effective_dof_ = spectrum.effective_dof(self.alpha_) + rows.intercept
        return solution_of_spectrum(spectrum, rows, self.alpha_, self.kernel_, x)

    def _alphas(self, x: Array, weights: Array) -> np.ndarray:
        if self.alphas is not None:
            return check_penalties("alphas", self.alphas)
        mean = float(weights @ self.kernel_.diagonal(x)) / float(namespace_of(x).sum(weights))
        least = np.finfo(np.float64).tiny / DEFAULT_ALPHAS.min()
        if mean < least and bool(namespace_of(x).any(x != 0.0)):
            raise ValueError(
                f"X has values so small that the kernel of a row with itself is {mean:.3g} on average, which "
                "loses its digits; rescale X, or give alphas"
            )
        return DEFAULT_ALPHAS * (mean or 1.0)
