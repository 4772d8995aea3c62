"""Logistic regression with its penalty chosen by cross-validation."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.namespace import is_sparse
from tractable.base import (
    ClassifierMixin,
    Estimator,
    FitInterrupted,
    ModelTags,
    Rows,
    all_or_nothing,
)
from tractable.base.options import SklearnOptions
from tractable.base.parameters import check_choice, check_number
from tractable.base.penalty_search import PenaltySearch, check_scorer
from tractable.classification.labelled_rows import labelled_rows, labelled_source
from tractable.classification.logistic.estimator import (
    LogisticRegression,
    linear_predictors,
    loss_of,
    penalty_named,
)
from tractable.classification.logistic.problem import LogisticProblem, penalty_of
from tractable.engines.glm.search import minimize
from tractable.metrics.penalties import RULES, best_curve, check_penalties, check_ratios
from tractable.value import replace

#: The score that needs no scorer: the mean log probability of the classes.
LOG_LOSS = "neg_log_loss"
#: Tolerance and most steps of a search with an absolute penalty in a fold.
SPARSE_TOL, SPARSE_STEPS = 1e-4, 50


def penalties_named(penalty: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return the shares of absolute penalties that a name of a penalty means."""
    found = penalty_named(penalty, {**given, "l1_ratio": given.get("l1_ratios")})
    if "C" in found:
        raise ValueError("penalty of LogisticRegressionCV must be 'l1', 'l2' or 'elasticnet', got None")
    return {"l1_ratios": [1.0]} if found else {}


class LogisticRegressionCV(ClassifierMixin, Estimator):
    """Logistic regression, with `C` and `l1_ratio` of the best cross-validated score.

    Each fold fits its training rows for all values of C, from the strongest penalty on, each search from the
    solution before it (a warm start), for each share of the absolute penalty. The scores on the rows left
    out choose `C_` and `l1_ratio_`, with which all rows are fitted. See :class:`tractable.LogisticRegression`
    for the objective. There are no standard errors: those that ignore the choice of the penalty are too
    small.

    Parameters
    ----------
    Cs : int or array
        How many inverse penalty weights, evenly spaced in their logarithm from 1e-4 to 1e4; or these.
    l1_ratios : array, optional
        Shares of the absolute penalty to try; 0, a squared penalty, when not given.
    fit_intercept, link, class_weight, tol, max_iter
        As in :class:`tractable.LogisticRegression`.
    cv : int, splitter or iterable of (train, test), optional
        As in scikit-learn; five folds with the classes in equal proportions when not given.
    scoring : str or callable
        A scorer of scikit-learn's, the larger the better: by default the mean log probability of the classes
        ("neg_log_loss"), which unlike accuracy tells probabilities apart.
    rule : {"least", "one_standard_error"}
        Which C is taken: that of the best score, or `C_1se_`, the smallest whose score is within one standard
        error of the best.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    coef_, intercept_ : arrays of shape (1, n_features) and (1,), or (n_classes, n_features) and (n_classes,)
        Of the fit to all rows.
    C_, l1_ratio_ : float
        What was chosen.
    C_1se_ : float
        The smallest C, of the chosen share, whose score is within one standard error of the best.
    Cs_, l1_ratios_ : arrays of shape (n_Cs,), increasing, and (n_l1_ratios,)
        What was tried.
    scores_ : array of shape (n_folds, n_l1_ratios, n_Cs)
        Scores on the rows left out.
    coefs_paths_ : array of shape (n_folds, n_l1_ratios, n_Cs, n_rows_of_coef, n_features + 1)
        Coefficients of the training rows, the intercept last where there is one.
    cv_curve_ : CVCurve
        Minus the mean scores of the chosen share, for alpha = 1/C, with standard errors.
    log_likelihood_ : float
        Of the rows of the fit.
    n_iter_, converged_ : int, bool
        Steps of the fit to all rows, and whether it ended by `tol`.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    tractable.LogisticRegression : with a given penalty.

    Notes
    -----
    With weights, scores are weighted, and so are the folds. A row that counts twice is still one row to the
    splitter.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((90, 4))
    >>> y = X[:, 0] + 0.5 * rng.standard_normal(90) > 0
    >>> model = tractable.LogisticRegressionCV(Cs=[0.001, 1.0, 1000.0]).fit(X, y)
    >>> model.C_, model.scores_.shape, int(np.abs(model.coef_).argmax())
    (1000.0, (5, 1, 3), 0)
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="no")
    _takes_sparse = True

    _sklearn_options = SklearnOptions(
        ignored=(
            "solver",
            "dual",
            "random_state",
            "intercept_scaling",
            "multi_class",
            "refit",
            "use_legacy_attributes",
        ),
        rewritten={"penalty": penalties_named},
        values={"l1_ratios": {"warn": None}, "scoring": {"warn": "neg_log_loss"}},
    )

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = None,
        fit_intercept: bool = True,
        link: str = "logit",
        cv: Any = None,
        scoring: Any = LOG_LOSS,
        rule: str = "least",
        class_weight: Any = None,
        tol: float = 1e-8,
        max_iter: int = 500,
    ) -> None:
        self.Cs, self.l1_ratios, self.cv, self.scoring, self.rule = Cs, l1_ratios, cv, scoring, rule
        self.fit_intercept, self.link, self.class_weight = fit_intercept, link, class_weight
        self.tol, self.max_iter = tol, max_iter

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.classifier_tags.multi_class = self.link != "probit"
        return found

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the penalty and fit all rows with it.

        Parameters
        ----------
        X, y, sample_weight
            Rows in memory (n_samples, n_features), their labels, and how often each row counts.
        """
        self.Cs_, self.l1_ratios_ = self._check_parameters()
        data, self.classes_ = labelled_rows(self, X, y, sample_weight)
        if not data.in_memory:
            raise ValueError(
                f"X must be rows in memory, which folds are taken of; got {type(X).__name__}. "
                "LogisticRegression reads files and streams"
            )
        held = data.collect()
        x = held.X if is_sparse(held.X) else np.asarray(held.X, dtype=np.float64)
        rows = Rows(data=x, y=np.asarray(held.y), weights=held.weights)
        name = self.scoring if isinstance(self.scoring, str) else getattr(self.scoring, "__name__", "score")
        options = {"labels": self.classes_[rows.y], "score": f"minus {name}"}
        grids = [1.0 / self.Cs_] * len(self.l1_ratios_)
        found = PenaltySearch.over(self._judge, rows, self.cv, grids, **options)
        self.scores_, self.coefs_paths_ = -np.moveaxis(found.losses, 2, 0), np.stack(found.fits)
        chosen = best_curve(found.curves)
        self.cv_curve_ = curve = found.curves[chosen]
        self.C_, self.C_1se_ = (float(self.Cs_[at]) for at in (curve.chosen(self.rule), curve.simplest))
        self.l1_ratio_ = float(self.l1_ratios_[chosen])
        self._fit_all(rows)
        return self

    def _check_parameters(self) -> tuple[np.ndarray, np.ndarray]:
        self._model()._check_parameters()  # noqa: SLF001
        check_choice("rule", self.rule, RULES)
        ratios = check_ratios("l1_ratios", [0.0] if self.l1_ratios is None else self.l1_ratios)
        if np.ndim(self.Cs) == 0:
            check_number("Cs", self.Cs, least=1, whole=True)
            return np.logspace(-4.0, 4.0, int(self.Cs)), np.array(ratios)
        Cs = np.sort(check_penalties("Cs", self.Cs))
        if Cs[0] == 0.0:
            raise ValueError(f"Cs must be positive numbers, got {self.Cs!r}")
        return Cs, np.array(ratios)

    def _model(self, C: float = 1.0, l1_ratio: float = 0.0) -> LogisticRegression:
        return LogisticRegression(
            C=C,
            l1_ratio=l1_ratio,
            fit_intercept=self.fit_intercept,
            link=self.link,
            class_weight=self.class_weight,
            tol=self.tol,
            max_iter=self.max_iter,
        )

    def _judge(self, train: Rows, test: Rows) -> tuple[Any, np.ndarray]:
        """Return minus the scores on test rows, (n_ratios, n_Cs), and coefficients, the intercept last."""
        seen = train.y if train.weights is None else train.y[train.weights > 0.0]
        lacking = np.setdiff1d(np.arange(len(self.classes_)), seen)
        if len(lacking):
            raise ValueError(
                f"cv leaves the class {self.classes_[lacking[0]].item()!r} of y out of the training rows of "
                "a fold: it has too few rows; use fewer folds"
            )
        paths = [self._path(train, float(ratio)) for ratio in self.l1_ratios_]
        losses = [[-self._score(coef, intercept, test) for coef, intercept in path] for path in paths]
        last = [
            [np.column_stack([c, b]) if self.fit_intercept else c for c, b in path]  # as scikit-learn has it
            for path in paths
        ]
        return losses, np.array(last)

    def _problem(self, rows: Rows, C: float, l1_ratio: float) -> LogisticProblem:
        model = self._model(C, l1_ratio)
        model.classes_ = self.classes_
        return model._problem(labelled_source(rows.data, rows.y, rows.weights))  # noqa: SLF001

    def _path(self, rows: Rows, ratio: float) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return coefficients and intercepts for every C, each search from the solution before it."""
        problem = self._problem(rows, float(self.Cs_[0]), ratio)
        coef, found = np.zeros(problem.shape), []
        tol, max_iter = float(self.tol), int(self.max_iter)
        if ratio > 0.0:  # of classes that are nearly separable, the last digits take most of the time
            tol, max_iter = max(tol, SPARSE_TOL), min(max_iter, SPARSE_STEPS)
        for C in self.Cs_:
            problem = replace(problem, penalty=penalty_of(float(C), ratio))
            result = minimize(problem, coef, tol=tol, max_iter=max_iter)
            if result.interrupted:
                raise KeyboardInterrupt
            coef = result.x
            found.append(problem.to_columns(coef))
        return found

    def _score(self, coef: np.ndarray, intercept: np.ndarray, rows: Rows) -> float:
        model = self._model()
        model.classes_, model.coef_, model.intercept_ = self.classes_, coef, intercept
        model.n_features_in_ = coef.shape[1]
        if self.scoring == LOG_LOSS:
            log_p = model.predict_log_proba(rows.data)
            return float(np.average(log_p[np.arange(len(log_p)), rows.y], weights=rows.weights))
        score = check_scorer(self.scoring, model)
        return score(model, rows.data, self.classes_[rows.y], rows.weights)

    def _fit_all(self, rows: Rows) -> None:
        """Fit all rows with what was chosen."""
        problem = self._problem(rows, self.C_, self.l1_ratio_)
        found = minimize(problem, np.zeros(problem.shape), tol=float(self.tol), max_iter=int(self.max_iter))
        self.coef_, self.intercept_ = problem.to_columns(found.x)
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        penalty = 0.5 * float(np.sum(problem.ridge * found.x**2))
        penalty += float(np.sum(problem.lasso * np.abs(found.x)))
        self.log_likelihood_ = penalty - found.value * problem.weight
        if found.interrupted:
            raise FitInterrupted
        if not found.converged:
            warnings.warn(
                f"LogisticRegressionCV did not converge in {found.n_iter} steps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _class_scores(self, X: Any) -> np.ndarray:
        return loss_of(self.link, len(self.classes_)).log_scores(linear_predictors(self, X))
