"""Ridge regression, with a given penalty or with one chosen by cross-validation."""

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.base import RegressorMixin as SklearnRegressor

from tractable.arrays.namespace import is_sparse
from tractable.base import (
    Estimator,
    ModelTags,
    RegressorMixin,
    Rows,
    all_or_nothing,
    check_fitted,
    check_rows,
    refuse_foreign,
)
from tractable.base.linear_inference import LinearInference
from tractable.base.options import SklearnOptions
from tractable.base.parameters import check_choice, check_number
from tractable.base.penalty_search import PenaltySearch, check_scorer
from tractable.data import SparseSource
from tractable.engines import LeastSquares
from tractable.engines.least_squares import PointSolution
from tractable.engines.nonnegative import nonnegative_least_squares
from tractable.linear_model.least_squares import (
    LinearRegression,
    check_target,
    set_solution,
    warn_of_light_weights,
)
from tractable.linear_model.ridge.leave_one_out import METHODS, left_out_errors, search
from tractable.linear_model.ridge.solution import ridge
from tractable.linear_model.rows import (
    LinearFit,
    as_floats,
    check_factor,
    check_penalized_intercept,
    linear_factor,
    refuse_positive,
)
from tractable.linear_model.sparse_rows import solve_sparse
from tractable.metrics.penalties import CVCurve, check_penalties
from tractable.primitives.sparse_rows import GRAM_COLUMNS
from tractable.regression_tables import RegressionSummary, of_columns
from tractable.statistics import LinearFactor
from tractable.value import value


def _intercept(model: Any) -> dict[str, bool]:
    """Return how the intercept of a model is fitted, as arguments of `ridge`."""
    return {
        "fit_intercept": bool(model.fit_intercept),
        "penalize_intercept": bool(model.penalize_intercept),
    }


class Ridge(LinearInference, RegressorMixin, LinearFit):
    """Ridge regression: y = intercept + xᵀw + noise, with |y - Xw|² + α|w|² minimal.

    The posterior mode (and mean) of the coefficients under Gaussian noise of variance σ² and the prior
    coef ~ N(0, τ²), with α = σ²/τ²; see `Ridge.from_prior`. The penalty is scikit-learn's `alpha`; objectives
    with ½ on both terms have the same. The intercept is not penalised unless asked, so that shifting the
    targets shifts the predictions.

    Exact in one pass, with the digits of a QR of all rows and of √α I below them. With fewer rows than
    columns, rows in memory are solved in the space of the rows. X may be a sparse matrix or array of SciPy,
    as in :class:`LinearRegression`.

    Parameters
    ----------
    alpha : float
        α, not negative; 0 is :class:`LinearRegression`.
    fit_intercept : bool
        Whether to fit an intercept.
    penalize_intercept : bool
        Whether the intercept is penalised like the other coefficients: the textbooks' (XᵀX + αI)⁻¹ Xᵀy with a
        column of ones in X.
    positive : bool
        Whether no coefficient may be negative, as in :class:`LinearRegression`: there are `coef_`,
        `intercept_` and `predict` then, and no `predict_dist`.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or array of shape (n_targets,)
        The intercept; zero with ``fit_intercept=False``.
    effective_dof_ : float
        Effective number of parameters, the trace of the hat matrix: Σ λ/(λ + α) over the eigenvalues λ of
        XᵀX, and 1 for a free intercept.
    residual_dof_ : float
        Degrees of freedom of the residuals, n - effective_dof_.
    noise_variance_ : float or array of shape (n_targets,)
        Estimate Σ r² / residual_dof_; NaN where `residual_dof_` is not positive. Zero where the residuals
        are no more than the rounding of the targets: asking such a fit for distributions is an error.
    coef_std_errors_, intercept_std_error_ : arrays of the shapes of `coef_` and `intercept_`
        Scales of the posterior of coefficients and intercept, under the prior coef ~ N(0, σ²/α): Student's t
        of `residual_dof_` degrees of freedom, with `noise_variance_` for σ². `coef_interval` covers
        coefficients that are drawn from the prior. Of a constant column the rows tell nothing beside
        the intercept, and the scale is that of the prior, σ/√α (:class:`LinearRegression`, without a prior,
        has infinity there).
    statistic_ : LinearFactor
        The sufficient statistic of the rows.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

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
    _takes_sparse = _gaussian = _several_targets = True
    _sparse_methods = ("predict",)
    noise_variance_ = LinearRegression.noise_variance_
    residual_dof_ = LinearRegression.residual_dof_

    _sklearn_options = SklearnOptions(ignored=("max_iter", "tol", "solver", "random_state"))

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        positive: bool = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.positive = positive

    @classmethod
    def from_prior(cls, *, noise_variance: float, prior_variance: float, **options: Any) -> Self:
        """Return the ridge regression with alpha = σ²/τ², the posterior mode for coef ~ N(0, τ²).

        Parameters
        ----------
        noise_variance, prior_variance : float
            σ² of the noise, and τ² of the coefficients.
        **options
            Other parameters of the estimator.
        """
        for name, x in (("noise_variance", noise_variance), ("prior_variance", prior_variance)):
            check_number(name, x, above=0.0)
        alpha = float(noise_variance) / float(prior_variance)
        if alpha == float("inf"):
            raise ValueError(f"prior_variance must be larger, got {prior_variance!r}: alpha overflows")
        return cls(alpha=alpha, **options)

    @property
    def effective_dof_(self) -> Any:
        """Effective number of parameters, the trace of the hat matrix."""
        check_fitted(self)
        return self._solution_.effective_dof

    def summary(  # type: ignore[override]
        self, *, coverage: float = 0.95, target: int | None = None
    ) -> RegressionSummary:
        """Return the table of the posterior: coefficients, their scales and intervals, R²; no tests.

        Student's t of `residual_dof_` degrees of freedom about the coefficients, under the prior
        coef ~ N(0, σ²/α) with `noise_variance_` for σ²: the intervals are those of `coef_interval`, and a
        coefficient that is shrunk has no p-value. Without a penalty there are the tests of least squares.

        Parameters
        ----------
        coverage : float
            Of the intervals.
        target : int, optional
            Which target, where there are several.
        """
        self._check_intervals()
        fit, statistic = self._solution_, getattr(self, "statistic_", None)
        t, shrunk = check_target(target, int(fit.coef.shape[0])), fit.alpha > 0.0
        columns = {} if statistic is None else of_columns(statistic, intercept=fit.has_intercept)
        if self.penalize_intercept:
            columns["has_intercept"] = False  # squares are about the origin
        return self._table(
            target=t,
            n_rows=fit.n_rows,
            n_parameters=fit.n_parameters,
            residual_dof=fit.residual_dof,
            covariance_type="posterior" if shrunk else "nonrobust",
            residual_squares=float(fit.rss[t]),
            total_squares=float(fit.target_squares[t]),
            statistics={"penalty alpha": float(fit.alpha)},
            tested=not shrunk,
            coverage=coverage,
            **columns,
        )

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, least=0.0)
        check_penalized_intercept(self)
        if self.positive and self.penalize_intercept:
            raise ValueError("positive=True is not taken with penalize_intercept=True")

    def _learn(self, statistic: Any) -> None:
        self.statistic_ = check_factor(statistic)
        if self.positive:
            point = nonnegative_least_squares(
                statistic, float(self.alpha), fit_intercept=bool(self.fit_intercept)
            )
            set_solution(self, point, flat=statistic.flat)
            return
        set_solution(self, ridge(statistic, float(self.alpha), **_intercept(self)), flat=statistic.flat)

    def _iterate(self, rows: Any) -> None:
        refuse_positive(self)
        if self.penalize_intercept:
            raise ValueError(
                f"penalize_intercept=True is not taken with sparse rows of more than {GRAM_COLUMNS} columns"
            )
        found = solve_sparse(rows, float(self.alpha), fit_intercept=bool(self.fit_intercept))
        set_solution(self, found, flat=np.ndim(rows.y) == 1)

    def _report(self) -> None:
        if self.positive:
            return
        warn_of_light_weights(self._solution_)


class RidgeCV(LinearInference, RegressorMixin, Estimator):
    """Ridge regression whose penalty is chosen by leave-one-out or generalised cross-validation.

    Every row is left out in turn, exactly, without fitting again: the error of a row that is left out is
    (y - ŷ) / (1 - h), with the fitted value ŷ and the leverage h of the fit to all rows. Generalised
    cross-validation puts the mean of the leverages, Tr H / n, in place of each:
    (Σ r² / n) / (1 - Tr H / n)². One decomposition serves all penalties and all rows. With several targets,
    scores are averaged over them.

    Rows are read twice by ``method="loo"``, once by ``"gcv"``; both read sources larger than memory. A row
    of weight above one (`sample_weight`) is left out one copy at a time. `scoring`, `cv`,
    `store_cv_results` and `alpha_per_target` read rows into memory. X may be a sparse matrix or array of
    SciPy of at most 2,000 columns, which is read in dense blocks; `scoring` then needs `cv`, and
    `store_cv_results` and `alpha_per_target` are refused.

    A model of no more rows than columns computes standard errors and distributions from the rows when they
    are asked for. It refers to an X of more than a million entries without copying it: where X was changed in
    place since the fit, these answers are refused. `predict` does not need X.

    Parameters
    ----------
    alphas : array of shape (n_alphas,)
        The penalties to try, not negative; as scikit-learn's `alpha`.
    method : {"loo", "gcv"}
        Leave-one-out, or generalised cross-validation.
    fit_intercept : bool
        Whether to fit an intercept.
    penalize_intercept : bool
        Whether the intercept is penalised like the other coefficients.
    scoring : str or callable, optional
        A scorer of scikit-learn, such as "neg_mean_absolute_error", of the predictions of rows left out;
        minus the mean squared error when not given, and R² with `cv`.
    cv : int, splitter or iterable of (train, test), optional
        Folds instead of leaving out one row at a time; the score is the mean over folds.
    store_cv_results : bool
        Whether to store `cv_results_`, of every row, target and penalty.
    alpha_per_target : bool
        Whether each of several targets has a penalty of its own: `alpha_`, `best_score_`, `noise_variance_`
        and the degrees of freedom are then arrays, and there are no standard errors or distributions.

    Attributes
    ----------
    alpha_ : float or array of shape (n_targets,)
        The penalty chosen.
    best_score_ : float or array of shape (n_targets,)
        Its score, as in scikit-learn: greater is better; minus that of `cv_curve_`.
    cv_results_ : array of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        With `store_cv_results`: the squared errors of rows left out; their predictions where there is
        `scoring`.
    cv_curve_ : CVCurve
        The score of every penalty; ``tractable.plot(model.cv_curve_)`` draws it.
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or array of shape (n_targets,)
        The intercept; zero with ``fit_intercept=False``.
    effective_dof_, residual_dof_, noise_variance_
        See :class:`Ridge`.
    coef_std_errors_, intercept_std_error_ : arrays of the shapes of `coef_` and `intercept_`
        Scales of the posterior of coefficients and intercept, under the prior coef ~ N(0, σ²/α): Student's t
        of `residual_dof_` degrees of freedom, with `noise_variance_` for σ². `coef_interval` covers
        coefficients that are drawn from the prior. See :class:`Ridge` for constant columns.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    Ridge : for a penalty that is known.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> x = np.linspace(1, 5, 15)[:, None]
    >>> model = tractable.RidgeCV([0.0, 0.01, 0.1, 1.0], penalize_intercept=True).fit(x, np.exp(x[:, 0]))
    >>> model.alpha_, model.cv_curve_.scores.round(2)
    (0.1, array([579.43, 578.75, 574.75, 620.27]))
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact over several passes")
    _gaussian = _several_targets = True
    _sparse_methods = ("predict",)
    alpha_: Any
    best_score_: Any
    summary = Ridge.summary  # type: ignore[assignment]
    noise_variance_ = LinearRegression.noise_variance_
    residual_dof_ = LinearRegression.residual_dof_
    effective_dof_ = Ridge.effective_dof_

    _sklearn_options = SklearnOptions(ignored=("gcv_mode",))

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        method: str = "loo",
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        scoring: Any = None,
        cv: Any = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ) -> None:
        self.alphas = alphas
        self.method = method
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.scoring = scoring
        self.cv = cv
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the penalty and learn with it, from rows in memory, in a file, or in a stream.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), one target or several, and how often each row counts.
        """
        self._check_parameters()
        alphas = check_penalties("alphas", self.alphas)
        if self._in_memory:
            refuse_foreign(X)
        rows = check_rows(self, X, y, sample_weight, reset=True, min_rows=2, supervised=True)
        if is_sparse(X) and X.shape[1] > GRAM_COLUMNS:
            raise ValueError(
                f"X is sparse and has {X.shape[1]} columns: RidgeCV takes sparse rows of at most "
                f"{GRAM_COLUMNS}; fit Ridge for each alpha, in a GridSearchCV"
            )
        if self._in_memory:
            held = _held(rows)
            self._choose_by_folds(held, alphas) if self.cv is not None else self._choose_by_rows(held, alphas)
            return self
        found = search(rows, alphas, self.method, **_intercept(self))
        self.cv_curve_ = found.curve
        self.alpha_, self.best_score_ = found.curve.best_alpha, -found.curve.best_score
        set_solution(self, found.solution, flat=found.flat)
        return self

    @property
    def _in_memory(self) -> bool:
        """Whether penalties are chosen by all rows at once."""
        by_rows = self.scoring is not None or self.store_cv_results or self.alpha_per_target
        return self.cv is not None or bool(by_rows)

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return self.cv is not None or not self._in_memory

    def _check_parameters(self) -> None:
        check_choice("method", self.method, METHODS)
        check_penalized_intercept(self)
        for name in ("scoring", "cv", "store_cv_results", "alpha_per_target"):
            if self.method == "gcv" and getattr(self, name):
                raise ValueError(f'{name} must not be given with method="gcv", which leaves out no rows')
        for name in ("store_cv_results", "alpha_per_target"):
            if self.cv is not None and getattr(self, name):
                raise ValueError(
                    f"{name}=True is not taken with cv: it is of rows that are left out one by one"
                )

    def _choose_by_folds(self, rows: Rows, alphas: np.ndarray) -> None:
        """Choose the penalty by the mean score of folds."""
        score, penalties = check_scorer(self.scoring, Ridge()), list(map(float, alphas))

        def judge(train: Rows, test: Rows) -> tuple[Any, None]:
            statistic = _factor(train)
            fits = (ridge(statistic, alpha, **_intercept(self)) for alpha in penalties)
            return [
                [-_score_of(score, test.weights, test.y, _predicted(fit, test.data)) for fit in fits]
            ], None

        name = f"minus {'R²' if self.scoring is None else self.scoring}"
        found = PenaltySearch.over(judge, rows, self.cv, [alphas], score=name, weighted=False)
        self.cv_curve_ = found.curves[0]
        self.alpha_, self.best_score_ = self.cv_curve_.best_alpha, -self.cv_curve_.best_score
        self._learn_with(rows, np.atleast_1d(self.alpha_))

    def _choose_by_rows(self, rows: Rows, alphas: np.ndarray) -> None:
        """Choose the penalty, or one for each target, by the predictions of rows that are left out."""
        errors = left_out_errors(rows, alphas, **_intercept(self))
        y = rows.y.reshape(len(rows.y), -1)
        losses, name = errors**2, "mean squared error"
        if self.scoring is not None:
            losses, name = y[:, :, None] - errors, f"minus {self.scoring}"
        if self.store_cv_results:
            self.cv_results_ = losses[:, 0, :] if rows.y.ndim == 1 else losses
        if self.scoring is None:
            scores = np.average(losses, axis=0, weights=rows.weights)  # (t, k)
            joint = scores.mean(axis=0)
        else:
            score = partial(_score_of, check_scorer(self.scoring, Ridge()), rows.weights)
            scores = np.array(
                [[-score(y[:, t], losses[:, t, k]) for k in range(len(alphas))] for t in range(y.shape[1])]
            )
            joint = np.array([-score(y, losses[:, :, k]) for k in range(len(alphas))])
        self.cv_curve_ = CVCurve(alphas=alphas, scores=joint, method="loo", score=name)
        if self.alpha_per_target and rows.y.ndim > 1 and y.shape[1] > 1:
            best = np.argmin(scores, axis=1)
            self.alpha_, self.best_score_ = alphas[best], -scores[np.arange(len(best)), best]
        else:
            self.alpha_, self.best_score_ = self.cv_curve_.best_alpha, -self.cv_curve_.best_score
        self._learn_with(rows, np.atleast_1d(self.alpha_))

    def _learn_with(self, rows: Rows, alphas: np.ndarray) -> None:
        """Learn from all rows with one penalty, or with one for each target."""
        statistic = _factor(rows)
        found = {
            alpha: ridge(statistic, alpha, **_intercept(self)) for alpha in map(float, np.unique(alphas))
        }
        if len(alphas) == 1:
            [solution] = found.values()
            set_solution(self, solution, flat=statistic.flat)
            return
        each = [found[alpha] for alpha in map(float, alphas)]
        set_solution(
            self,
            OwnPenalties(
                coef=np.stack([fit.coef[t] for t, fit in enumerate(each)]),
                intercept=np.array([fit.intercept[t] for t, fit in enumerate(each)]),
                rss=np.array([fit.rss[t] for t, fit in enumerate(each)]),
                reason=OWN_PENALTIES,
                noise_variance=np.array([fit.noise_variance[t] for t, fit in enumerate(each)]),
                residual_dof=np.array([fit.residual_dof for fit in each]),
                effective_dof=np.array([fit.effective_dof for fit in each]),
            ),
            flat=False,
        )


@value
class OwnPenalties(PointSolution):
    """The coefficients of targets that each have a penalty of their own, with arrays (t,) of their noise."""

    noise_variance: np.ndarray
    residual_dof: np.ndarray
    effective_dof: np.ndarray


#: Why a fit with several penalties has no standard errors.
OWN_PENALTIES = (
    "each target has a penalty, and a hat matrix, of its own; alpha_per_target=False has standard errors and "
    "distributions, and so has a model of one target"
)


class _AsPredicted(SklearnRegressor, BaseEstimator):
    """An estimator whose rows are predictions, for scorers."""

    def predict(self, X: Any) -> Any:
        return X


def _score_of(score: Any, weights: Any, y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the score of predictions."""
    y, predicted = (part[:, 0] if part.ndim > 1 and part.shape[1] == 1 else part for part in (y, predicted))
    return float(score(_AsPredicted(), predicted, y, weights))


def _held(rows: Rows) -> Rows:
    """Return rows, which may be sparse, targets and weights in memory."""
    sparse = isinstance(rows.data, SparseSource)
    held = rows.data if sparse else rows.source.collect()
    if held.y is None:
        raise ValueError("y is missing: the rows have no target; give it, or name its column")
    x, y = held.X if sparse else as_floats(np.asarray(held.X)), np.asarray(held.y, dtype=np.float64)
    return Rows(
        data=x, y=y, weights=None if held.weights is None else np.asarray(held.weights, dtype=np.float64)
    )


def _factor(rows: Rows) -> LinearFactor:
    """Return the statistic of rows in memory, which may be sparse."""
    if is_sparse(rows.data):
        rows = Rows(data=SparseSource(X=rows.data, y=rows.y, weights=rows.weights))
    return check_factor(linear_factor(rows))


def _predicted(fit: LeastSquares, x: Any) -> np.ndarray:
    """Return the predictions at rows, which may be sparse, (n, t)."""
    return np.asarray(x @ fit.coef.T) + fit.intercept if is_sparse(x) else fit.predict(x)
