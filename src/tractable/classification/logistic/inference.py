"""Covariance of the parameters of a fit, and whether classes are separable: one more pass over the rows."""

from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.log_space import log_sum_exp
from tractable.arrays.namespace import namespace_of
from tractable.classification.logistic.problem import LogisticProblem
from tractable.engines import LinearEstimate, NewtonResult
from tractable.engines.glm.laplace import determined_rank, inverse_root
from tractable.engines.glm.losses import ClassLoss, Scaling
from tractable.engines.glm.problem import Curvature
from tractable.engines.glm.separation import separating_coef
from tractable.engines.linear_estimate import NotComputedError, standardized_estimate
from tractable.primitives.in_place import add_to_diagonal
from tractable.primitives.threads import blas_for_columns
from tractable.value import replace, value


class SeparableClassesWarning(UserWarning):
    """Hyperplanes separate the classes: without a penalty, coefficients grow without bound."""


@value
class CoefficientCurvature:
    """Curvature of the loss at the coefficients of a logistic regression, and their covariance by it.

    The covariance is computed when it is first asked for.

    Parameters
    ----------
    information : array (c p, c p), or a function that returns it, or None
        Curvature of the loss by the free coefficients of standardized columns, the intercepts first. A
        function is called when the curvature is first asked for, or stored. None where it is not known.
    coef : array (c, p)
        The free coefficients.
    class_map : array (k, c)
        The coefficients that users read, a row a class or one of two classes, by the free ones.
    ridge : array (p,)
        Penalty weights of squares.
    selected : array (p,) of bool
        Whether an L1 penalty may hold a coefficient at zero.
    shift, scale : arrays (d,)
        Of the columns; the scale is 0 for constant ones.
    penalty : float
        Penalty weight of the square of a coefficient in the units of its column.
    variability : array (c p, c p), optional
        The variance of the gradient, where it is not the curvature.

    Examples
    --------
    >>> curvature = CoefficientCurvature(
    ...     information=4.0 * np.eye(1),
    ...     coef=np.ones((1, 1)),
    ...     class_map=np.eye(1),
    ...     ridge=np.zeros(1),
    ...     selected=np.array([False]),
    ...     shift=np.zeros(1),
    ...     scale=np.ones(1),
    ...     penalty=0.0,
    ... )
    >>> curvature.covariance.tolist(), curvature.rank
    ([[0.25]], 1)
    """

    information: Any
    coef: np.ndarray
    class_map: np.ndarray
    ridge: np.ndarray
    selected: np.ndarray
    shift: np.ndarray
    scale: np.ndarray
    penalty: float
    variability: np.ndarray | None = None

    @cached_property
    def loss_curvature(self) -> np.ndarray:
        """Curvature of the loss."""
        if self.information is None:
            raise NotComputedError("standard errors were not asked for before X was changed: fit again")
        return self.information() if callable(self.information) else self.information

    def _parameters(self) -> dict[str, Any]:
        return {**{field.name: getattr(self, field.name) for field in fields(self)}, **self._stored()}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), **self._stored()}

    def _stored(self) -> dict[str, Any]:
        """Return the curvature for a file, without rows; None where these were changed."""
        try:
            return {"information": self.loss_curvature}
        except NotComputedError:
            return {"information": None}

    @cached_property
    def hessian(self) -> np.ndarray:
        """Curvature of the loss and the squared penalty."""
        found = self.loss_curvature.copy()
        add_to_diagonal(found, np.tile(self.ridge, len(self.coef)))
        return found

    @cached_property
    def estimate(self) -> LinearEstimate:
        """The coefficients of the classes in the units of the columns, with a root of their covariance.

        Nothing but the penalty bounds the coefficient of a constant column.
        """
        c, p = self.coef.shape
        known = ((self.coef != 0.0) | ~self.selected).reshape(-1)
        with blas_for_columns(c * p):
            own, open_ = inverse_root(self.hessian[np.ix_(known, known)])
            if self.variability is not None:
                values, axes = np.linalg.eigh(self.variability[np.ix_(known, known)])
                own = own @ (own.T @ (axes * np.sqrt(np.maximum(values, 0.0))))
        root, undetermined = (np.zeros((c * p, part.shape[1])) for part in (own, open_))
        root[known], undetermined[known] = own, open_
        root = np.einsum("kc,cpr->kpr", self.class_map, root.reshape(c, p, -1))
        coef = self.class_map @ self.coef
        part = 1.0 if len(coef) == 1 else 1.0 - 1.0 / len(coef)
        found = standardized_estimate(
            self.shift,
            self.scale,
            coef,
            root,
            undetermined,
            outside=part / self.penalty if self.penalty > 0.0 else np.inf,
        )
        if not self._overparametrised:
            return found
        factor = found.root.factor.copy()  # offsets sum to zero, which overparametrised ones leave open
        factor[:, 0] -= np.mean(factor[:, 0], axis=0)
        return replace(found, root=replace(found.root, factor=factor))

    @property
    def at_origin(self) -> LinearEstimate:
        """The estimate whose intercept is at the origin of all columns but the constant ones."""
        return replace(self.estimate, centre=np.where(self.scale > 0.0, self.shift, 0.0))

    @property
    def _overparametrised(self) -> bool:
        """Whether all intercepts of several classes may move together."""
        return self.coef.shape[1] > len(self.scale) and 1 < len(self.coef) == len(self.class_map)

    @cached_property
    def held(self) -> np.ndarray:
        """Which coefficients of the classes an L1 penalty holds at zero, (k, p)."""
        return (self.class_map @ self.coef == 0.0) & self.selected

    @cached_property
    def covariance(self) -> np.ndarray:
        """Covariance of intercepts and coefficients in the units of the columns, class after class."""
        found, zeros = self.at_origin.unit_covariance, self.held.reshape(-1)
        if self._overparametrised:  # intercepts sum to zero at the origin
            at = np.arange(0, len(found), self.coef.shape[1])
            found[at] -= np.mean(found[at], axis=0)
            found[:, at] -= np.mean(found[:, at], axis=1)[:, None]
        found[zeros], found[:, zeros] = np.nan, np.nan
        return found

    @cached_property
    def rank(self) -> int:
        """How many parameters the rows determine."""
        finite = np.all(self.at_origin.determined) and not np.any(self.held)
        return len(self.hessian) if finite else determined_rank(self.hessian)

    @property
    def own_information(self) -> np.ndarray:
        """The information of the coefficients of each class, those of the others held, (classes, p, p).

        It is XᵀWX with the weights p (1 - p) of the probabilities p of the class.
        """
        c, width = self.coef.shape
        axes = np.linalg.pinv(self.class_map)  # (c, classes)
        across = np.tensordot(axes.T, self.loss_curvature.reshape(c, width, c, width), axes=1)
        return np.einsum("kibj,bk->kij", across, axes)


@value
class FitInference:
    """Curvature at the estimate, log-likelihood, and whether the classes are separable."""

    curvature: CoefficientCurvature | None  # None where there are many parameters
    log_likelihood: float
    separating: np.ndarray | None  # free coefficients that separate the classes, where looked for and found
    separable: bool | None  # None where it is not known


def infer(problem: LogisticProblem, found: NewtonResult, *, unpenalised: bool) -> FitInference:
    """Return the curvature over all rows, and, without a penalty, test for separability."""
    coef = found.x
    penalty = 0.5 * float(np.sum(problem.ridge * coef**2)) + float(np.sum(problem.lasso * np.abs(coef)))
    curvature = separating = None
    if problem.few_parameters:
        weighted = problem.class_factors is not None
        information: Any = None
        if found.curvature is not None:  # of the last step of the search
            information = np.asarray(found.curvature.information)
        elif not (unpenalised or weighted):
            information = problem.deferred_information(found)
        curvature = CoefficientCurvature(
            information=problem.information(coef) if information is None else information,
            coef=coef,
            class_map=problem.loss.class_coef(np.eye(len(coef))),
            ridge=problem.ridge,
            selected=problem.lasso > 0.0,
            shift=problem.standardizer.shift,
            scale=problem.standardizer.scale,
            penalty=problem.penalty.squares / problem.mean_factor,
            variability=_variability(problem, coef) if weighted else None,
        )
    if unpenalised:
        # Where the search stopped and, where the curvature is known, the direction it was going.
        candidates = [coef]
        if curvature is not None:
            candidates += [-Curvature(hessian=curvature.hessian).unbounded_step(found.gradient)]
        separating = separating_coef(problem, [each for each in candidates if np.any(each)])
    # Of many parameters only complete separation is found; a search cut short may not lead to any.
    known = unpenalised and problem.few_parameters and found.converged
    return FitInference(
        curvature=curvature,
        log_likelihood=penalty - found.value * problem.weight,
        separating=separating,
        separable=True if separating is not None else False if known else None,
    )


def _variability(problem: LogisticProblem, coef: np.ndarray) -> np.ndarray:
    """Return B of the sandwich A⁻¹ B A⁻¹ of a loss with class weights f: the variance of its gradient.

    Class weights are no frequencies. They change the loss, so that its curvature A is no longer the variance
    of its gradient, which is Σ_n w_n Σ_k p_k f_k² r_k r_kᵀ, r_k the derivative of the loss of a row of class
    k. The weighted fit estimates q_k ∝ f_k p_k, so p_k ∝ q_k / f_k. With the same weight f for all classes
    A⁻¹ B A⁻¹ is the inverse information of a fit without weights and with C f in place of C.
    """
    factors = np.asarray(problem.class_factors)
    ridge = np.diag(np.tile(problem.ridge, len(coef)))
    if np.all(factors == factors[0]):
        return problem.information(coef) * factors[0] + problem.mean_factor * ridge
    found: np.ndarray = problem.reduce(_gradient_variance, loss=problem.loss, coef=coef, factors=factors)
    return found + problem.mean_factor * ridge


def _gradient_variance(
    x: Any,
    codes: Any,
    weights: Any,
    *,
    loss: ClassLoss,
    coef: np.ndarray,
    scaling: Scaling,
    factors: np.ndarray,
) -> np.ndarray:
    """Return Σ_n w_n Σ_k p_k f_k² (r_k ⊗ z)(r_k ⊗ z)ᵀ of a block whose weights are w_n f of its class."""
    z, _ = loss.residuals(x, codes, scaling, coef)
    xp = namespace_of(z)
    log_q = loss.log_proba(z @ coef.T)
    log_p = log_q - xp.log(factors)
    p = xp.exp(log_p - log_sum_exp(log_p)[:, None])
    frequency, found = weights / xp.take(factors, codes), []
    for k in range(factors.shape[0]):
        _, r = loss.residuals(x, xp.full_like(codes, k), scaling, coef)
        terms = xp.reshape(r[:, :, None] * z[:, None, :], (z.shape[0], -1))
        found.append((terms * (frequency * p[:, k] * factors[k] ** 2)[:, None]).T @ terms)
    return sum(found)
