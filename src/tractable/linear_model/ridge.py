"""Ridge regression: least squares with short coefficients."""

from collections.abc import Callable
from typing import Any, Self

from sklearn.base import RegressorMixin

from tractable.base import Estimator, ModelTags, OnePassMixin, all_or_nothing, check_rows
from tractable.base.parameters import check_number
from tractable.linear_model.linear_rows import check_factor, factor_of
from tractable.linear_model.ridge_answers import RidgeAnswers
from tractable.linear_model.ridge_primal import ridge
from tractable.statistics import LinearFactor

__all__ = ["Ridge"]


class Ridge(OnePassMixin, RidgeAnswers, RegressorMixin, Estimator):
    """Least squares with a penalty: |y - Xw|² + α|w|² is least, y = intercept + xᵀw + noise.

    The mode (and mean) of the coefficients under Gaussian noise of variance σ² and a prior coef ~ N(0, τ²),
    with α = σ²/τ²; `Ridge.from_prior` says it so. The penalty is scikit-learn's `alpha`; objectives with ½
    on both terms have the same. The intercept is not penalised unless asked, so that moving the targets
    moves the plane.

    Exact in one pass, in the digits of a QR of all rows and of √α I below them. With fewer rows than
    columns, rows in memory are solved in the space of the rows.

    Parameters
    ----------
    alpha : float
        α, not negative; 0 is :class:`LinearRegression`.
    fit_intercept : bool
        Whether the plane may miss the origin.
    penalize_intercept : bool
        Whether the intercept is penalised like the other coefficients: the textbooks' (XᵀX + αI)⁻¹ Xᵀy with a
        column of ones in X.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    effective_dof_ : float
        Trace of the hat matrix, Σ λ/(λ + α), and 1 for a free intercept: the parameters that are left.
    dof_ : float
        Rows that are left after them, n - effective_dof_.
    sigma2_ : float or array of shape (n_targets,)
        Variance of the noise, Σ r² / dof_; NaN where `dof_` is not positive. Zero where residuals cannot be
        told from the rounding of the targets: asking such a fit for distributions is an error.
    statistic_ : LinearFactor
        Everything the model knows about the rows.
    solution_ : RidgeSolution
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    See Also
    --------
    RidgeCV : chooses the penalty.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 3.1, 4.9, 7.0])
    >>> model = tractable.Ridge(alpha=5.0).fit(X, y)
    >>> model.coef_, round(float(model.intercept_), 3), model.effective_dof_
    (array([0.99]), 2.515, 1.5)
    >>> tractable.Ridge.from_prior(noise_variance=0.5, prior_variance=0.1).alpha
    5.0
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact in one pass")
    _supervised = True

    def __init__(
        self, alpha: float = 1.0, *, fit_intercept: bool = True, penalize_intercept: bool = False
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept

    @classmethod
    def from_prior(cls, *, noise_variance: float, prior_variance: float, **options: Any) -> Self:
        """Return the ridge regression that is the posterior mode under coef ~ N(0, prior_variance).

        Parameters
        ----------
        noise_variance : float
            σ², of the targets about the plane.
        prior_variance : float
            τ², of every coefficient.
        **options
            Other parameters of the estimator.

        Returns
        -------
        Ridge
            With alpha = σ²/τ².
        """
        for name, x in (("noise_variance", noise_variance), ("prior_variance", prior_variance)):
            check_number(name, x, above=0.0)
        alpha = float(noise_variance) / float(prior_variance)
        if alpha == float("inf"):
            raise ValueError(
                f"prior_variance must be larger: noise_variance is {noise_variance!r}, and as many times "
                f"{prior_variance!r} that no number is as large"
            )
        return cls(alpha=alpha, **options)

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows held in memory, in a file, or in a stream.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets), or column name
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        self._statistic()
        self._learn(factor_of(check_rows(self, X, y, sample_weight, reset=True, supervised=True)))
        return self

    def _statistic(self) -> Callable[..., Any]:
        check_number("alpha", self.alpha, least=0.0)
        return LinearFactor.of

    def _learn(self, statistic: Any) -> None:
        self._statistic()
        self.statistic_ = check_factor(statistic)
        found = ridge(
            statistic,
            float(self.alpha),
            fit_intercept=bool(self.fit_intercept),
            penalize_intercept=bool(self.penalize_intercept),
        )
        self._name(found, flat=statistic.flat)
