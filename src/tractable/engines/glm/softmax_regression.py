"""Softmax regression, p(k | x) ∝ exp(intercept_k + x·coef_k): Newton's method over folds of rows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.log_space import log_softmax
from tractable.arrays.namespace import Array, as_float_array, device, namespace_of
from tractable.engines.glm.losses import LossExpansion, Softmax, helmert_contrasts
from tractable.engines.newton import newton
from tractable.value import value


@value
class SoftmaxRegression:
    """The fitted log p(k | x) = intercept_k + x·coef_k - log Σ_j; coefficients sum to zero over k.

    Parameters
    ----------
    coef : array (K, d)
        Coefficients of each class.
    intercept : array (K,)
        Intercepts, zeros where there are none.
    loss : float
        -Σ w t log p, with the penalty.
    gradient_norm : float
        The Euclidean norm of the gradient of the loss.
    n_iter : int
        Number of Newton steps.
    converged : bool
        Whether the search ended by its tolerance.
    """

    coef: Array
    intercept: Array
    loss: float
    gradient_norm: float
    n_iter: int
    converged: bool

    def log_prob(self, x: Array) -> Array:
        """Return log p(k | x) of each row, (n, K)."""
        return log_softmax(self.intercept + x @ self.coef.T)


def softmax_regression(
    walk: Callable[[Callable[..., LossExpansion]], LossExpansion],
    n_classes: int,
    n_columns: int,
    *,
    penalty: Any = 0.0,
    fit_intercept: bool = True,
    start: Array | None = None,
    tol: float = 1e-12,
    max_iter: int = 100,
) -> SoftmaxRegression:
    """Minimise -Σ_n w_n Σ_k t_nk log p(k | x_n) + ½ Σ_j penalty_j Σ_k coef_kj² by Newton's method (IRLS).

    Targets t are classes (one-hot) or probabilities such as responsibilities. Intercepts are not penalised.
    A vector added to the coefficients of all classes changes nothing, so the search runs over contrasts, in
    which coefficients and intercepts sum to zero over the classes, as they do at the penalised minimum. The
    loss falls with every step: as an M-step, a search cut short makes a generalised EM. scikit-learn's C is
    1/penalty.

    Parameters
    ----------
    walk : callable
        ``walk(of)`` returns the sum of ``of(x, targets, weights=w)`` over all rows, for instance
        ``lambda of: fold(of, X, targets, weights=w)``; `of` pickles and holds coefficients only. Every step
        is one such pass, and one more for each halving of it.
    n_classes, n_columns : int
        Numbers K of classes and d of columns of the rows.
    penalty : float or array (d,)
        Weight of the squared coefficients, one for all columns or one a column.
    fit_intercept : bool
        Whether each class has an intercept.
    start : array (K, d), or (K, 1 + d) with the intercepts first, optional
        Zeros when not given; needed where the rows are not NumPy's, and of their library.
    tol : float
        The search ends when the predicted relative decrease of the loss is smaller.
    max_iter : int
        Maximum number of steps.

    Examples
    --------
    >>> from tractable.engines import fold
    >>> X, targets = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    >>> fit = softmax_regression(lambda of: fold(of, X, targets), 2, 1)
    >>> fit.coef.round(4).tolist(), np.exp(fit.log_prob(X))[:, 1].round(2)
    ([[-0.4541], [0.4541]], array([0.2 , 0.39, 0.61, 0.8 ]))
    """
    has_intercept = int(fit_intercept)
    width = has_intercept + n_columns
    first = np.zeros((n_classes, width)) if start is None else as_float_array(start)
    xp = namespace_of(first)
    like: dict[str, Any] = {"dtype": xp.float64, "device": device(first)}
    contrasts = xp.asarray(helmert_contrasts(n_classes), **like)
    softmax = Softmax(contrasts=contrasts)
    ridge = xp.asarray(np.append(np.zeros(has_intercept), np.ones(n_columns)), **like)
    ridge[has_intercept:] = xp.asarray(penalty, **like)
    diagonal = xp.eye((n_classes - 1) * width, **like) * xp.tile(ridge, (n_classes - 1,))

    def objective(b: Array) -> tuple[Any, Array, Array]:
        found = walk(partial(LossExpansion.of, loss=softmax, coef=b))
        loss = found.value + 0.5 * xp.sum(ridge * b * b)
        return loss, found.gradient + ridge * b, found.curvature + diagonal

    result = newton(objective, contrasts.T @ first, tol=tol, max_iter=max_iter, vanishing=True)
    coef = contrasts @ result.x
    return SoftmaxRegression(
        coef=coef[:, has_intercept:],
        intercept=coef[:, 0] if has_intercept else xp.zeros(n_classes, **like),
        loss=result.value,
        gradient_norm=result.gradient_norm,
        n_iter=result.n_iter,
        converged=result.converged,
    )
