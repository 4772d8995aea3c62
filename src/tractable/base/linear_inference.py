"""What a `LinearEstimate` gives its model: errors, intervals, predictions, tables, sandwiches, influence."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from tractable.arrays.namespace import Array, as_float_array, is_sparse, namespace_of, to_numpy
from tractable.arrays.weights import check_weights
from tractable.base.by_blocks import by_blocks, of_held_rows
from tractable.base.estimator import check_answerable
from tractable.base.parameters import check_choice
from tractable.base.regressor import check_levels, spread
from tractable.base.scores import held_with_weights
from tractable.base.validation import check_columns
from tractable.data.frames import split_frame
from tractable.distributions import Normal, StudentT
from tractable.engines import LinearEstimate
from tractable.regression_tables import (
    ROBUST,
    RegressionSummary,
    check_covariance_type,
    coefficient_names,
    products_of_scores,
    sandwich,
    wald_interval,
)
from tractable.value import replace


def _is_gaussian(model: Any) -> bool:
    return model._gaussian  # noqa: SLF001


def _has_scores(model: Any) -> bool:
    return hasattr(model, "_row_scores")


class LinearInference:
    """What a model with a `LinearEstimate` says of its coefficients and of new rows.

    A model has `coef_`, `intercept_` and `_estimate`, which is `_solution_` where it sets that. Standard
    errors and intervals follow; where a model has no intervals, `_check_intervals` refuses them. Of a model
    with Gaussian noise (`_gaussian`) so do predictions, their distributions, and leverages; others put
    `RegressorMixin` before this class. A model that supplies `_row_scores`, the gradients of its
    log-likelihood, and `_rows_of_fit`, has robust covariances; one that supplies `_regression_table` beside
    has their tables.
    """

    coef_: Any
    intercept_: Any
    _solution_: Any
    #: Whether the noise is Gaussian, of a variance that the estimate has.
    _gaussian: ClassVar[bool] = False
    #: The robust covariance that is meant where none is named.
    _default_covariance: ClassVar[str] = "HC0"
    #: What the rows of the fit have beside weights, and which target: arguments of covariances and tables.
    _of_fit: ClassVar[tuple[str, ...]] = ()
    _regression_table: Any
    _row_scores: Any
    _rows_of_fit: Any

    @property
    def _estimate(self) -> LinearEstimate:
        found: LinearEstimate = self._solution_
        return found

    @property
    def _at_origin(self) -> LinearEstimate:
        """The estimate that carries covariances from the centre to the origin."""
        return self._estimate

    @property
    def coef_std_errors_(self) -> Any:
        """Standard errors of the coefficients; infinite where the rows do not determine them."""
        check_answerable(self)
        return self._flat(self._estimate.coef_std_errors, axis=0)

    @property
    def intercept_std_error_(self) -> Any:
        """Standard error of the intercept; 0 where there is none."""
        check_answerable(self)
        return self._flat(self._estimate.intercept_std_errors)

    def coef_interval(self, coverage: float = 0.95) -> Any:
        """Return the interval of each coefficient with confidence `coverage`, of shape (*coef_.shape, 2).

        By Student's t, or by the normal distribution where no scale is estimated (Wald's). With a penalty it
        is that of the posterior.
        """
        self._check_intervals()
        return wald_interval(self.coef_, self.coef_std_errors_, coverage, self._estimate.dof)

    def intercept_interval(self, coverage: float = 0.95) -> Any:
        """Return the interval (..., 2) of the intercept with confidence `coverage`, as `coef_interval`."""
        self._check_intervals()
        return wald_interval(self.intercept_, self.intercept_std_error_, coverage, self._estimate.dof)

    def _check_intervals(self) -> None:
        """Refuse intervals that would not have their coverage."""
        check_answerable(self)
        if self._gaussian:
            self._with_noise()

    def _with_noise(self) -> LinearEstimate:
        """Return the estimate of predictions, if it has an estimate of the noise."""
        fit: Any = self._estimate
        xp = namespace_of(fit.scale)
        if bool(xp.any(xp.isnan(fit.scale))):
            raise ValueError(
                f"X has too few rows to estimate the noise: a weight of {fit.n_rows:g} for "
                f"{fit.n_parameters:g} parameters; more rows, a larger penalty or a model with a prior are "
                "needed"
            )
        if not bool(xp.all(fit.scale > 0)):
            raise ValueError(
                "y is fitted without error, so there is no noise to predict: noise_variance_ is 0"
            )
        return fit

    def _flat(self, x: Array, *, axis: int = -1) -> Array:
        """Drop the axis of the targets where there is one target, given as a vector."""
        if self.coef_.ndim > 1:
            return x
        if x.ndim == 1:
            return x[0]
        return x[0, ...] if axis == 0 else x[..., 0]

    def _table(self, *, target: int = 0, **parts: Any) -> RegressionSummary:
        """Return the table of one target.

        By default it has the covariance and the degrees of freedom of the estimate.
        """
        fit = self._estimate
        own = fit.intercept[target : target + 1] if fit.has_intercept else []
        dof = parts.pop("t_dof", fit.dof)
        parts = {
            "model": type(self).__name__,
            "names": coefficient_names(self, intercept=fit.has_intercept),
            "coefficients": np.append(to_numpy(own), to_numpy(fit.coef)[target]),
            "has_intercept": fit.has_intercept,
            **parts,
        }
        if "covariance" not in parts:
            parts["covariance"] = to_numpy(fit.covariance(target))
        return RegressionSummary(t_dof=None if np.isinf(dof) else float(dof), **parts)

    @available_if(_has_scores)
    def robust_covariance(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        covariance: str | None = None,
        clusters: Any = None,
        **of_fit: Any,
    ) -> np.ndarray:
        """Return a covariance of the parameters, the intercept first, that holds of another noise too.

        By a pass over the rows of the fit: A⁻¹ (Σ f s sᵀ) A⁻¹ with the curvature A of minus the
        log-likelihood, the gradients s of the rows, and the factor f of the kind: 1 (HC0), n / (n - p) (HC1),
        1 / (1 - h) (HC2) or 1 / (1 - h)² (HC3) with the leverage h; HC2 and HC3 are not of several classes
        and not of probits. Of clusters, whose rows may depend on each other, the products are of sums over
        each cluster, times G / (G - 1) · (n - 1) / (n - p) for G clusters. A dispersion that maximises the
        likelihood is one of the parameters.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, as in `fit`. Clusters need rows in memory, or a source that is read into it.
        covariance : {"HC0", "HC1", "HC2", "HC3", "clustered"}, optional
            Which; when not given, "HC3" of least squares and "HC0" of other models, and "clustered" where
            there are clusters.
        clusters : array of shape (n_samples,) or column name, optional
            The cluster of each row.
        **of_fit
            What `fit` was given beside the rows: `noise_variance` of least squares, `exposure` of counts and
            amounts; and which `target`, of several.
        """
        self._check_estimate()
        kind = covariance or (self._default_covariance if clusters is None else "clustered")
        check_choice("covariance", kind, (*ROBUST, "clustered"))
        return self._sandwich(X, y, sample_weight, covariance=kind, clusters=clusters, **of_fit)[0]

    def summary(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        covariance: str | None = None,
        clusters: Any = None,
        coverage: float = 0.95,
        **of_fit: Any,
    ) -> RegressionSummary:
        """Return the regression table: coefficients, standard errors, tests, intervals and criteria.

        It follows from the fit, whether that was of rows in memory, of a file or of a stream. Robust
        covariances need the rows again, in one more pass. With a penalty the covariance is that of the
        posterior, and there are no tests. A `CollinearityWarning` says where columns are so nearly dependent
        that standard errors are more than ten times as large.

        Parameters
        ----------
        X, y, sample_weight, covariance, clusters
            As in `robust_covariance`, for a covariance that is not "nonrobust"; t tests then keep the degrees
            of freedom of the residuals, those of clusters have one fewer than there are clusters.
        coverage : float
            Of the intervals.
        **of_fit
            As in `robust_covariance`.
        """
        self._check_estimate()
        self._check_options(of_fit)
        kind = check_covariance_type(covariance, clusters)
        parts: dict[str, Any] = {"coverage": coverage, "covariance_type": kind}
        if kind != "nonrobust":
            options: dict[str, Any] = {"covariance": kind, "clusters": clusters, **of_fit}
            parts["covariance"], n_clusters = self._sandwich(X, y, sample_weight, **options)
            if n_clusters is not None and np.isfinite(self._estimate.dof):
                parts["t_dof"] = n_clusters - 1.0
        target = {name: x for name, x in of_fit.items() if name == "target"}
        table = self._regression_table(parts, **target)
        table.warn_of_collinearity()
        return table

    def _check_covariance(self, kind: str) -> None:
        """Refuse kinds of robust covariances that the model has not."""

    def _check_options(self, given: dict[str, Any]) -> None:
        for name in given:
            if name not in self._of_fit:
                raise TypeError(f"{type(self).__name__} got an unexpected keyword argument {name!r}")

    def _check_estimate(self) -> None:
        """Refuse tables and covariances of a fit that has none."""
        check_answerable(self)

    def _sandwich(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        covariance: str,
        clusters: Any,
        target: int | None = None,
        **of_fit: Any,
    ) -> tuple[np.ndarray, int | None]:
        """Return the robust covariance of intercept and coefficients, and the number of clusters."""
        self._check_options(of_fit)
        if isinstance(clusters, str):
            X, clusters, _ = split_frame(X, clusters, None)
        data = self._rows_of_fit(X, y, sample_weight, what="a robust covariance", **of_fit)
        self._check_covariance(covariance)
        scores = self._row_scores(data, **({} if target is None else {"target": target}))
        n, p = scores.n_rows, scores.n_parameters
        if not n > p:
            raise ValueError(f"X must have more rows than the {p:g} parameters for a robust covariance")
        products, n_clusters = products_of_scores(replace(scores, kind=covariance), data, clusters)
        sizes: Any = {"n_rows": n, "n_parameters": p, "n_clusters": n_clusters}
        found = sandwich(scores.inverse, products, kind=covariance, **sizes)
        size = self._estimate.coef.size + self._estimate.has_intercept * len(self._estimate.coef)
        return self._at_origin.from_centre(found[:size, :size]), n_clusters

    @available_if(_is_gaussian)
    @by_blocks
    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Return intercept + xᵀ coef for each row, and on request the predictive standard deviation.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        return_std : bool
            Whether to return the standard deviation as well.
        include_noise : bool
            Whether that is the deviation of a new target (default) or of the linear predictor.
        """
        check_answerable(self)
        fit = self._solution_
        if is_sparse(X):
            found = self._flat(np.asarray(X @ fit.coef.T) + fit.intercept)
        else:
            found = self._flat(fit.predict(self._rows(X)))
        if not return_std:
            return found
        return found, namespace_of(found).sqrt(self.predict_var(X, include_noise=include_noise))

    @available_if(lambda self: self._gaussian and not getattr(self, "positive", False))
    @of_held_rows
    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Any:
        """Return the predictive distribution of each row's target about the linear predictor.

        Its scale is σ √(1 + h) with the leverage h of the row, or σ √h for the linear predictor alone. It is
        Student's t where the noise variance was estimated or has a posterior, so that intervals cover of few
        rows, too, and Gaussian where the noise is known. Where linearly dependent columns leave the linear
        predictor of a row undetermined, its scale is infinite. A penalty α is read as the prior
        coef ~ N(0, σ²/α); that precisions or penalties were chosen from the data is not accounted for.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether it is the distribution of a new target (default) or of the linear predictor.
        """
        dist, undetermined = self._predictive(X, include_noise=include_noise)
        xp = namespace_of(undetermined)
        if bool(xp.any(undetermined)):
            first = int(xp.argmax(xp.astype(undetermined, xp.int64)))
            raise ValueError(
                f"X has rows, the first is row {first}, outside of the span of the rows of the fit, whose "
                "columns are linearly dependent: their linear predictor is not determined, and its "
                "distribution has no finite scale. predict_interval and predict_var are infinite there"
            )
        return dist

    @available_if(_is_gaussian)
    @by_blocks
    def predict_var(self, X: Any, *, include_noise: bool = True) -> Array:
        """Return the variance of the predictive distribution of each row, (n_samples,).

        Infinite where the linear predictor is not determined, or the tails are too heavy; `include_noise` is
        as in `predict_dist`.
        """
        dist, undetermined = self._predictive(X, include_noise=include_noise)
        return _infinite(spread(dist.variance), undetermined)

    @available_if(_is_gaussian)
    @by_blocks
    def predict_quantiles(
        self, X: Any, alpha: Any = (0.05, 0.95), *, include_noise: bool = True
    ) -> np.ndarray:
        """Return quantiles of the predictive distribution at probabilities `alpha`, (n_samples, len(alpha)).

        With one more axis before the last for several targets. Infinite, but for medians, where the linear
        predictor is not determined.

        Parameters
        ----------
        X, include_noise
            As in `predict_dist`.
        alpha : array of probabilities
            Levels of the quantiles, between 0 and 1.
        """
        levels = check_levels(alpha)
        dist, undetermined = self._predictive(X, include_noise=include_noise)
        found = [_infinite(dist.icdf(q), undetermined, (q > 0.5) - float(q < 0.5)) for q in levels]
        return namespace_of(*found).stack(found, axis=-1)

    @available_if(_is_gaussian)
    @by_blocks
    def leverage(self, X: Any) -> Array:
        """Return the leverage of each row, ∂ŷ/∂y: the diagonal of the hat matrix, without the matrix.

        Over the rows of the fit it sums to the (effective) number of parameters; a row of weight w counts w
        times, and this is the leverage of one of its copies.
        """
        check_answerable(self)
        return self._estimate.leverage(self._rows(X))

    @available_if(_is_gaussian)
    def hat_matrix(self, X: Any, sample_weight: Any = None) -> Array:
        """Return the hat (smoothing) matrix H = X (XᵀWX + αI)⁻¹ XᵀW, plus 1/n where the intercept is free.

        X is centred where the intercept is free, and α is 0 without a penalty. W has the weights of the rows
        on its diagonal, one by default. For the rows and the weights of the fit, H y are the fitted values,
        and the trace is the (effective) number of parameters.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows; those of a source are read into memory, with its weights.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        check_answerable(self)
        X, sample_weight = held_with_weights(self, X, sample_weight)
        rows = self._rows(X)
        hat = self._estimate.hat(rows)
        if sample_weight is None:
            return hat
        return hat * check_weights(sample_weight, rows.shape[0], like=rows)[None, :]

    def _rows(self, X: Any) -> Array:
        check_answerable(self)
        return as_floats(check_columns(self, X))

    def _predictive(self, X: Any, *, include_noise: bool) -> tuple[Any, Array]:
        rows = self._rows(X)
        return predictive(self._with_noise(), rows, self._flat, include_noise=include_noise)


def predictive(
    fit: LinearEstimate, rows: Array, flat: Callable[[Array], Array], *, include_noise: bool
) -> tuple[Any, Array]:
    """Return the predictive distribution of rows, and of which its scale should be infinite, not one.

    Gaussian where the scale is known, else Student's t; `flat` drops the axis of the targets of one target.
    """
    xp, factor = namespace_of(rows), fit.leverage(rows) + float(include_noise)
    undetermined = xp.isinf(factor)
    factor = xp.where(undetermined, xp.ones_like(factor), factor)
    location, variance = flat(fit.predict(rows)), flat(factor[:, None] * fit.scale)
    if fit.dof == float("inf"):
        return Normal(mean=location, variance=variance), undetermined
    return StudentT(dof=fit.dof, location=location, scale=xp.sqrt(variance)), undetermined


def as_floats(x: Array) -> Array:
    """Return checked rows as float64."""
    xp = namespace_of(x)
    return xp.astype(as_float_array(x, xp), xp.float64)


def _infinite(x: Array, undetermined: Array, sign: float = 1.0) -> Array:
    """Return x, infinite for the rows whose linear predictor is not determined; medians stay."""
    xp = namespace_of(x)
    if sign == 0.0:
        return x
    undetermined = undetermined if x.ndim == 1 else undetermined[:, None]
    return xp.where(undetermined, xp.full_like(x, sign * xp.inf), x)
