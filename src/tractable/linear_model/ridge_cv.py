"""Ridge regression whose penalty is chosen by the errors on rows left out."""

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from tractable.base import Estimator, ModelTags, all_or_nothing, check_rows
from tractable.base.parameters import check_choice
from tractable.linear_model.ridge_answers import RidgeAnswers
from tractable.linear_model.ridge_search import METHODS, search

__all__ = ["RidgeCV"]


class RidgeCV(RidgeAnswers, RegressorMixin, Estimator):
    """Ridge regression with the penalty that predicts best the rows it has not seen.

    Every row is left out in turn, exactly, without fitting again: the error of a row that was left out is
    (y - ŷ) / (1 - h), with its residual and leverage when it was not. Generalised cross-validation puts the
    mean of the leverages, Tr H / n, in place of each: (Σ r² / n) / (1 - Tr H / n)². One decomposition
    serves all penalties and all rows. With several targets, scores are averaged over them.

    Rows are read twice by ``method="loo"``, once by ``"gcv"``; both read sources larger than memory. A row
    that counts several times (`sample_weight`) is left out one copy at a time.

    Parameters
    ----------
    alphas : array of shape (n_alphas,)
        The penalties to try, not negative; as scikit-learn's `alpha`.
    method : {"loo", "gcv"}
        Leave-one-out, or generalised cross-validation.
    fit_intercept : bool
        Whether the plane may miss the origin.
    penalize_intercept : bool
        Whether the intercept is penalised like the other coefficients.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen.
    best_score_ : float
        Minus its score, as in scikit-learn: greater is better.
    cv_curve_ : CVCurve
        The score of every penalty; ``tractable.plot(model.cv_curve_)`` draws it.
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    effective_dof_ : float
    dof_ : float
    sigma2_ : float or array of shape (n_targets,)
        See :class:`Ridge`.
    solution_ : RidgeSolution
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

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

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        method: str = "loo",
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
    ) -> None:
        self.alphas = alphas
        self.method = method
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the penalty and learn with it, from rows in memory, in a file, or in a stream.

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
        alphas = self._checked()
        rows = check_rows(self, X, y, sample_weight, reset=True, min_rows=2, supervised=True)
        found = search(
            rows,
            alphas,
            self.method,
            fit_intercept=bool(self.fit_intercept),
            penalize_intercept=bool(self.penalize_intercept),
        )
        self.cv_curve_ = found.curve
        self.alpha_, self.best_score_ = found.curve.best_alpha, -found.curve.best_score
        self._name(found.solution, flat=found.flat)
        return self

    def _checked(self) -> np.ndarray:
        """Check the parameters and return the penalties."""
        check_choice("method", self.method, METHODS)
        try:
            alphas = np.atleast_1d(np.asarray(self.alphas, dtype=float))
        except (TypeError, ValueError):
            alphas = np.empty(0)
        if alphas.ndim != 1 or not alphas.size or not np.all((alphas >= 0) & np.isfinite(alphas)):
            raise ValueError(f"alphas must be numbers from 0, got {self.alphas!r}")
        return alphas
