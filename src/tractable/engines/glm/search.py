"""The search for the least objective of a problem of linear predictors."""

from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.limits import reciprocals
from tractable.arrays.namespace import is_numpy_array
from tractable.data.arrays import ArraySource, SparseSource
from tractable.engines.glm.problem import MOST_PARAMETERS, LinearPredictorProblem
from tractable.engines.lbfgs import lbfgs
from tractable.engines.newton import NewtonResult, newton
from tractable.engines.sparse.proximal_newton import proximal_newton
from tractable.primitives.in_place import add_to_diagonal
from tractable.primitives.sparse_rows import StandardizedSparse
from tractable.statistics import Standardizer
from tractable.value import replace, value

#: Steps of L-BFGS begin by the sizes of the columns, which do for nearly independent columns; before these
#: steps they go on by the curvature of a sample.
REFRESH = (12, 24, 48)
#: Where steps after convergence end: at a power of the tolerance; of L-BFGS without a penalty at rounding.
FINAL_POWER, ROUNDING = 1.75, 2e-20
#: Tolerance and most steps of the search over a sample alone.
ROUGH, FEW = 1e-3, 10
#: Coordinate descent holds a square matrix of this many parameters, at most.
MOST_SPARSE = 5000
#: Its steps by the curvature of a sample, at most: one that lacks the rows that count leads on too slowly.
MOST_SAMPLED_STEPS = 10
#: Rows for each linear predictor, up to which those of far more columns are met by their products with each
#: other; of these, the most over the penalty weight, and what is added to them.
MOST_ROWS_A_PREDICTOR, MOST_GRAM, GRAM_JITTER = 100, 1e7, 1e-13


def minimize(
    problem: LinearPredictorProblem, start: np.ndarray, *, tol: float, max_iter: int
) -> NewtonResult:
    """Return the coefficients of the least objective; of many rows, beginning at the minimum of a sample.

    Parameters
    ----------
    problem : LinearPredictorProblem
        What is minimised.
    start : array (c, p)
        Where the search begins.
    tol : float
        Relative decrease, predicted for the next step, at which it ends.
    max_iter : int
        Maximum number of steps over all rows.
    """
    if np.any(problem.lasso > 0.0):
        return _sparse_search(problem, start, tol=tol, max_iter=max_iter)
    narrow = RowSpace.of(problem)
    if narrow is not None:
        return narrow.minimize(start, tol=tol, max_iter=max_iter)
    if problem.begins_with_sample and not np.any(start[:, int(problem.has_intercept) :]):
        rough = minimize(problem.sample, start, tol=ROUGH, max_iter=FEW)
        if rough.interrupted:
            return rough
        start = problem.feasible(rough.x, start)
    options: Any = {"tol": tol, "max_iter": max_iter, "settled": partial(problem.settled, tol=tol)}
    if problem.by_newton:
        found = newton(
            problem.expanded,
            start,
            vanishing=True,
            final_tol=min(tol, 1.0) ** FINAL_POWER,
            interruptible=True,
            **options,
        )
    else:
        sizes, few = problem.diagonal, problem.few_parameters
        refresh: tuple[int, ...] = REFRESH
        if not (problem.loss.self_concordant and few):
            refresh = REFRESH[:1] * (problem.loss.self_concordant and problem.shape[1] <= MOST_PARAMETERS)
        found = lbfgs(
            problem.objective,
            start,
            initial=lambda g: g / sizes,
            curvature=problem.curvature if few else lambda _: problem.block,
            refresh=(0, *refresh) if few and problem.begins_with_sample else refresh,
            final_tol=tol**FINAL_POWER if problem.penalty.squares > 0.0 else ROUNDING,
            **options,
        )
    return replace(found, violation=float(np.max(np.abs(found.gradient), initial=0.0)))


def _sparse_search(
    problem: LinearPredictorProblem, start: np.ndarray, *, tol: float, max_iter: int
) -> NewtonResult:
    c, p = problem.shape
    if c * p > MOST_SPARSE:
        raise ValueError(
            f"X has too many columns for l1_ratio > 0: {c * p} coefficients, at most {MOST_SPARSE}"
        )

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = problem.objective(flat.reshape(c, p))[:2]
        return value, gradient.reshape(-1)

    sampled = iter(range(0 if problem.few_rows else MOST_SAMPLED_STEPS))

    def hessian(flat: np.ndarray) -> np.ndarray:
        coef = flat.reshape(c, p)
        found = np.array(problem.curvature(coef, exact=next(sampled, None) is None).hessian)
        if c > 1 and problem.has_intercept:
            # A shift of all intercepts changes no probability: curvature along it makes the minimum unique.
            first = np.arange(c) * p
            found[np.ix_(first, first)] += float(np.mean(np.diagonal(found)[first])) / c
        return found

    def settled(flat: np.ndarray, violations: np.ndarray) -> bool:
        return problem.settled(flat.reshape(c, p), violations.reshape(c, p), tol)

    penalty = np.tile(problem.lasso, c) / problem.weight
    options: Any = {"tol": tol, "max_iter": max_iter, "settled": settled}
    found = proximal_newton(objective, hessian, start.reshape(-1), penalty, **options)
    return replace(found, x=found.x.reshape(c, p), gradient=found.gradient.reshape(c, p))


@value
class RowSpace:
    """A logistic regression of fewer rows than columns, in as many coordinates as it has rows.

    The coefficients of the minimum are combinations of the rows, β = Xᵀa (Kimeldorf and Wahba 1971). With the
    factor L of XXᵀ, and γ = Lᵀa, linear predictors are Lγ and the penalty |β|² is |γ|²: the same problem, of
    the rows of L. X is centred, in the units of its columns.

    Parameters
    ----------
    whole, problem : LinearPredictorProblem
        The regression on the columns, and that on the rows of L.
    x, lower : arrays (n, d), or `StandardizedSparse`, and (n, n)
        Centred rows, and L.
    """

    whole: LinearPredictorProblem
    problem: LinearPredictorProblem
    x: Any
    lower: np.ndarray

    @classmethod
    def of(cls, whole: LinearPredictorProblem) -> "RowSpace | None":
        """Return the smaller problem; None where there are not far more columns than rows."""
        data, (shift, scale), n = whole.data, whole.scaling, whole.data.n_rows or 0
        within = 0 < 2 * n <= len(scale) and n <= MOST_ROWS_A_PREDICTOR * whole.shape[0]
        if not (within and whole.penalty.squares > 0.0 and isinstance(data, ArraySource | SparseSource)):
            return None
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is too large
            if isinstance(data, SparseSource):
                x: Any = StandardizedSparse(X=data.X.tocsr().astype(np.float64), shift=shift)
                crossed = x.X @ shift
                gram = (x.X @ x.X.T).toarray() - crossed - crossed[:, None] + shift @ shift
            elif is_numpy_array(data.X):
                x = np.subtract(data.X, shift, dtype=np.float64)
                gram = x @ x.T
            else:
                return None
        largest = float(np.max(np.diagonal(gram)))
        most = 1.0 if data.weights is None else float(np.max(data.weights))
        if not 0.0 < largest * most < MOST_GRAM * whole.penalty.squares:  # rounding of products would count
            return None
        add_to_diagonal(gram, np.array(GRAM_JITTER * largest))
        lower = np.linalg.cholesky(gram)
        standardizer = Standardizer(shift=np.zeros(n), scale=np.ones(n), varies=np.ones(n, dtype=bool))
        problem = replace(
            whole,
            data=ArraySource(X=lower, y=np.asarray(data.y), weights=data.weights),
            standardizer=standardizer,
            mean_squares=np.mean(lower * lower, axis=0),
        )
        return cls(whole=whole, problem=problem, x=x, lower=lower)

    def minimize(self, start: np.ndarray, **options: Any) -> NewtonResult:
        """Return the coefficients of the columns, from those of L at the minimum."""
        from scipy.linalg import solve_triangular

        first, scale, lower = int(self.whole.has_intercept), self.whole.standardizer.scale, self.lower
        begin = np.zeros(self.problem.shape)
        begin[:, :first] = start[:, :first]
        if np.any(start):
            eta = self.x @ (start[:, first:] * scale).T
            begin = np.column_stack([start[:, :first], solve_triangular(lower, eta, lower=True).T])
        found = minimize(self.problem, begin, **options)
        combined = solve_triangular(lower, found.x[:, first:].T, lower=True, trans="T").T @ self.x
        slopes = combined * np.where(scale > 0.0, reciprocals(np.where(scale > 0.0, scale, 1.0)), 0.0)
        coef = np.column_stack([found.x[:, :first], slopes])
        gradient = self.whole.objective(coef)[1]
        violation = float(np.max(np.abs(gradient)))
        return replace(found, x=coef, gradient=gradient, violation=violation, curvature=None)
