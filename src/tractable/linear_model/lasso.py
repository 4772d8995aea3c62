"""The lasso: linear regression with a penalty on absolute coefficients."""

from typing import Any, Self

from tractable.base.parameters import check_number
from tractable.linear_model.elastic_net import ElasticNet

__all__ = ["Lasso"]


class Lasso(ElasticNet):
    """Linear regression that leaves columns out: a penalty on the absolute coefficients.

    Minimises (1/2n) Σ (y - b - xᵀw)² + alpha Σ|w_j|, scikit-learn's objective; n is the total weight of the
    rows, and the intercept b is not penalised. The textbook's |y - Xw|² + λ Σ|w_j| is the same with
    alpha = λ / (2n). For orthonormal columns the answer is least squares, moved towards zero by λ/2 and cut
    off there; in general there is no closed form, but the minimum is found exactly: see
    :class:`tractable.ElasticNet` for how, and `dual_gap_` for the proof.

    It is the mode of the posterior for Gaussian noise of variance σ² and a Laplace prior of scale b on each
    coefficient: λ = 2σ²/b, see `from_prior`.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, from 0. No penalty gives the shortest solution of least squares.
    fit_intercept : bool
    precompute : {"auto", True, False}
        Whether rows in memory are folded into a statistic; by default up to 200 columns.
    positive : bool
        Whether negative coefficients are forbidden.
    tol : float
        Largest duality gap, relative to the mean squared target (about its mean where there is an intercept):
        scikit-learn's meaning.
    max_iter : int
        Most Newton steps.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    support_ : array of int
        The columns in use.
    sparse_coef_ : sparse matrix
    dual_gap_ : float or array of shape (n_targets,)
        No coefficients whatever have an objective lower by more.
    n_iter_ : int or array of shape (n_targets,)
    solver_ : {"statistic", "rows"}
        What the fit was computed from.
    statistic_ : LinearFactor, where `solver_` is "statistic"
        Everything the model knows about the rows.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    See Also
    --------
    tractable.LassoCV : chooses the penalty by cross-validation.
    tractable.LassoLars : the same coefficients, read off the exact path.
    tractable.lasso_path : all penalties at once.

    Notes
    -----
    Of equal columns one is used: any division between them has the same objective.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> model = tractable.Lasso(alpha=1.0).fit(X, X @ [3.0, 1.0])
    >>> model.coef_, model.support_
    (array([1., 0.]), array([0]))
    """

    l1_ratio = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        positive: bool = False,
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.positive = positive
        self.tol = tol
        self.max_iter = max_iter

    @classmethod
    def from_prior(cls, *, scale: float, noise_variance: float, n_samples: float, **options: Any) -> Self:
        """Return the lasso whose answer is the mode of the posterior under a Laplace prior.

        Parameters
        ----------
        scale : float
            Of the Laplace distribution of each coefficient, b in exp(-|w|/b) / 2b.
        noise_variance : float
            σ² of the Gaussian noise.
        n_samples : float
            Number of rows it will be fitted to: alpha = σ²/(n b).
        **options
            Other parameters of the estimator.

        Returns
        -------
        Lasso
        """
        for name, given in (("scale", scale), ("noise_variance", noise_variance), ("n_samples", n_samples)):
            check_number(name, given, above=0.0)
        return cls(alpha=noise_variance / (n_samples * scale), **options)
