"""The search for the least objective of a logistic regression."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.limits import reciprocals
from tractable.arrays.namespace import is_numpy_array
from tractable.classification.logistic.problem import LogisticProblem
from tractable.data.arrays import ArraySource, SparseSource
from tractable.engines.lbfgs import lbfgs
from tractable.engines.newton import FORCING, NewtonResult, newton_cg
from tractable.engines.sparse.proximal_newton import proximal_newton
from tractable.primitives.in_place import add_to_diagonal
from tractable.primitives.sparse_rows import StandardizedSparse
from tractable.statistics import Standardizer
from tractable.value import replace, value

#: With more parameters than `problem.MOST_NEWTON`, and a penalty, the curvature is computed before these
#: steps alone, and corrected by differences of gradients: each takes as long as that many gradients.
REFRESH, MEMORY = (0, 4, *range(12, 500, 8)), 10
#: Of more than `problem.MOST_PARAMETERS` the one block is computed before these.
REFRESH_MANY = (0, 4, 20)
#: Where steps after convergence end: at a power of the tolerance, as Newton steps that began there would. It
#: is that of Newton's method, that of an estimate of the curvature, and that of many parameters.
EXACT_POWER, FINAL_POWER, POWER_OF_MANY = 2.5, 1.75, 1.5
#: The rounding of an objective near its minimum, a part of its size.
ROUNDING = 2e-20
#: Tolerance and most steps of the search over the sample alone.
ROUGH, FEW = 1e-3, 10
#: Least tolerance that steps of L-BFGS in single precision reach, most of them, and most after a step that
#: predicts little; for a smaller one they lead as near to the minimum as the last, from where Newton steps
#: are sooner there.
SINGLE, SINGLE_STEPS, SINGLE_LOOKS, NEAR = 1e-6, 30, 8, 1e-3
#: Newton steps after it begin with a system solved to this part of the gradient.
NEAR_FORCING = 1e-2
#: Products with the curvature of a Newton step, at most; and for each parameter, where there are few: factors
#: take less time than more of them.
MOST_PRODUCTS, PRODUCTS_A_PARAMETER = 200, 0.6
#: Part of the bound of the objective's distance from its minimum that the last system is solved to.
WITHIN_BOUND = 0.3
#: Coordinate descent holds a square matrix of this many parameters, at most.
MOST_SPARSE = 5000
#: Rows for each linear predictor, up to which those of far more columns are met by their products with each
#: other; of these, the most over the penalty weight, and what is added to them.
MOST_ROWS_A_PREDICTOR, MOST_GRAM, GRAM_JITTER = 100, 1e7, 1e-13


def search(problem: LogisticProblem, start: np.ndarray, *, tol: float, max_iter: int) -> NewtonResult:
    """Return the coefficients of the least objective; of many rows, starting from those of a sample."""
    if np.any(problem.lasso > 0.0):
        return _sparse_search(problem, start, tol=tol, max_iter=max_iter)
    narrow = RowSpace.of(problem)
    if narrow is not None:
        return narrow.search(start, tol=tol, max_iter=max_iter)
    if problem.rows is None:
        return _factor_search(problem, start, tol=tol, max_iter=max_iter)
    # First by steps in single precision; where the penalty does not show that this led to the minimum, as the
    # columns are far from orthogonal or have outliers, by Newton steps alone, and by factors after these. Of
    # not so many parameters factors come first, which outliers may stop.
    found = _product_search(problem, start, tol=tol, max_iter=max_iter)
    sooner = [_factor_search] if _most_products(problem) < MOST_PRODUCTS else []
    for again in (*sooner, _newton_cg_search, _factor_search):
        if found.converged or found.interrupted or found.n_iter >= max_iter:
            break
        then = again(problem, start, tol=tol, max_iter=max_iter - found.n_iter)
        later, start = _joined(found, then), then.x
        if later.converged or later.value <= found.value:
            found = later
        else:  # begun anew, and cut short
            trace = np.append(later.trace[:-1], found.value)
            found = replace(found, n_iter=later.n_iter, trace=trace, interrupted=later.interrupted)
    return found


def _product_search(
    problem: LogisticProblem, start: np.ndarray, *, tol: float, max_iter: int
) -> NewtonResult:
    """Search by steps of L-BFGS in single precision, which lead near the minimum, and Newton steps to it."""
    assert problem.rows is not None
    link, ridge, weight, p = problem.link, problem.ridge, problem.weight, problem.shape[1]
    bound = _Bound.of(problem, tol)
    # The largest eigenvalue of the products of independent columns (Marchenko and Pastur 1967).
    largest = (1.0 + (p / len(problem.rows.x)) ** 0.5) ** 2
    diagonal = (weight * largest * link.curvature_at_zero * problem.squares + ridge) / weight
    diagonal = np.where(diagonal > 0.0, diagonal, 1.0)
    rough, looks = tol >= SINGLE, iter(range(SINGLE_LOOKS))

    def near_enough(_: np.ndarray, gradient: np.ndarray) -> bool:
        return bound.holds(gradient) or next(looks, None) is None

    first = lbfgs(
        partial(problem.expansion, rough=True),
        link.class_coef(start),
        curvature=lambda *_: lambda gradient: gradient / diagonal,
        refresh=(),
        rescaled=True,
        memory=MEMORY,
        tol=tol if rough else NEAR,
        max_iter=min(max_iter, SINGLE_STEPS),
        settled=near_enough if rough else None,
    )
    if rough or first.interrupted:  # Newton steps begin with the same expansion
        value, gradient = problem.expansion(first.x)[:2]
        converged = rough and first.converged and bound.holds(gradient)
        if converged or first.interrupted:
            found = replace(
                first, value=value, gradient=gradient, trace=np.array([value]), converged=converged
            )
            return _joined(first, _of_free_coefficients(problem, found))
    options: Any = {"tol": tol, "max_iter": max_iter - first.n_iter, "forcing": NEAR_FORCING}
    options["most_products"] = _most_products(problem)
    return _joined(first, _newton_cg_search(problem, link.free_coef(first.x), **options))


def _newton_cg_search(
    problem: LogisticProblem,
    start: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    forcing: float = FORCING,
    most_products: int = MOST_PRODUCTS,
) -> NewtonResult:
    """Search by Newton steps of conjugate gradients, over coefficients of the classes, for a bound."""
    bound, tries = _Bound.of(problem, tol), iter(range(1))

    def settled(_: np.ndarray, gradient: np.ndarray) -> bool:
        return bound.holds(gradient) or next(tries, None) is None  # one more step, and then factors

    found = newton_cg(
        problem.expansion,
        problem.link.class_coef(start),
        tol=tol,
        final_tol=min(tol ** (FINAL_POWER if problem.few_parameters else POWER_OF_MANY), bound.part),
        forcing=forcing,
        max_iter=max_iter,
        most_products=most_products,
        settled=settled,
    )
    return _of_free_coefficients(
        problem, replace(found, converged=found.converged and bound.holds(found.gradient))
    )


def _most_products(problem: LogisticProblem) -> int:
    """Return the number of products after which a first Newton step is better found by factors."""
    return min(MOST_PRODUCTS, int(PRODUCTS_A_PARAMETER * math.prod(problem.shape)))


@value
class _Bound:
    """Bounds how far the objective is above its minimum, by ½ |∇f|² over the curvature of the penalty alone.

    Other estimates do not see directions in which the rows hardly vary. For intercepts, which are not
    penalised, it is an estimate.

    Parameters
    ----------
    least : array (p,)
        The least curvature.
    most : float
        How far the objective may be above its minimum.
    part : float
        A part of the size of the objective: where a system is solved to it, the bound will hold.
    """

    least: np.ndarray
    most: float
    part: float

    @classmethod
    def of(cls, problem: LogisticProblem, tol: float) -> "_Bound":
        """Return the bound of a problem, tol · log K for K classes."""
        ridge, weight = problem.ridge, problem.weight
        least = np.where(ridge > 0.0, ridge, problem.least_total) / weight
        most = tol * float(np.log(len(problem.link.contrasts)))
        curvature = problem.link.curvature_at_zero * problem.squares + ridge / weight
        part = WITHIN_BOUND * most * float(np.min(least / np.where(curvature > 0.0, curvature, 1.0)))
        return cls(least=least, most=most, part=part)

    def holds(self, gradient: np.ndarray) -> bool:
        """Return whether a point with this gradient is near enough."""
        return bool(0.5 * float(np.sum(gradient * gradient / self.least)) <= self.most)


def _of_free_coefficients(problem: LogisticProblem, found: NewtonResult) -> NewtonResult:
    """Return a result over coefficients of the classes as one over free coefficients."""
    gradient = problem.link.free_coef(found.gradient)
    violation = float(np.max(np.abs(gradient), initial=0.0))
    return replace(found, x=problem.link.free_coef(found.x), gradient=gradient, violation=violation)


def _joined(first: NewtonResult, then: NewtonResult) -> NewtonResult:
    """Return the result of a search that followed another, with the steps of both."""
    trace = np.append(first.trace[:-1], then.trace)
    # Values of single precision may be a little too low, and the second search may begin anew.
    trace = np.maximum.accumulate(trace[::-1])[::-1]
    return replace(then, trace=trace, n_iter=len(trace) - 1)


def _factor_search(problem: LogisticProblem, start: np.ndarray, *, tol: float, max_iter: int) -> NewtonResult:
    """Search by factors of the curvature, or of a block of it."""
    known: Any = None  # the information of the sample at the start, where the search over it gave it
    if not (problem.exact or np.any(start)):
        for rows in problem.growing_samples:
            part = replace(problem, data=rows)
            rough = _smooth_search(part, start, exact=part.expands, sampled=True, tol=ROUGH, max_iter=FEW)
            if rough.interrupted:
                return rough
            start, known = rough.x, rough.curvature
    settled = partial(problem.settled, tol=tol)
    options: Any = {"tol": tol, "max_iter": max_iter, "settled": settled, "sample_information": known}
    options["final_tol"] = tol ** (FINAL_POWER if problem.few_parameters else POWER_OF_MANY)
    return _smooth_search(problem, start, exact=problem.exact, **options)


def _smooth_search(
    problem: LogisticProblem,
    start: np.ndarray,
    *,
    exact: bool,
    sampled: bool = False,
    sample_information: Callable[[], np.ndarray] | None = None,
    **options: Any,
) -> NewtonResult:
    exact = exact and problem.few_parameters and not problem.many_parameters
    refresh = REFRESH if problem.few_parameters else REFRESH_MANY
    options = {"refresh": refresh, "memory": MEMORY, **options}
    rough = exact and options["tol"] >= SINGLE  # a Newton step leaves far less than it is predicted to gain
    to_rounding = problem.few_rows or not problem.alpha > 0.0
    if "final_tol" in options and (exact or (problem.few_parameters and to_rounding)):
        options["final_tol"] = None if rough else max(options["tol"] ** EXACT_POWER, ROUNDING)
    if problem.expands and (rough or not exact or problem.held is None):
        options["expand"] = partial(problem.objective, expanded=True)

    def curvature(x: np.ndarray, *known: Any) -> Callable[[np.ndarray], np.ndarray]:
        if known or sample_information is None:
            return problem.curvature(x, *known, sampled=sampled, single=rough)
        return problem.curvature(x, sample_information, sampled=True)

    found = lbfgs(problem.objective, start, curvature=curvature, exact=exact, **options)
    return replace(found, violation=float(np.max(np.abs(found.gradient), initial=0.0)))


def _sparse_search(problem: LogisticProblem, start: np.ndarray, *, tol: float, max_iter: int) -> NewtonResult:
    c, p = problem.shape
    if c * p > MOST_SPARSE:
        raise ValueError(
            f"X has too many columns for l1_ratio > 0: {c * p} coefficients, at most {MOST_SPARSE}"
        )

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = problem.objective(flat.reshape(c, p))[:2]
        return value, gradient.reshape(-1)

    def hessian(flat: np.ndarray) -> np.ndarray:
        coef = flat.reshape(c, p)
        found = problem.hessian(coef, partial(problem.information, coef) if problem.few_rows else None)
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
    whole, problem : LogisticProblem
        The regression on the columns, and that on the rows of L.
    x, lower : arrays (n, d), or `StandardizedSparse`, and (n, n)
        Centred rows, and L.
    """

    whole: LogisticProblem
    problem: LogisticProblem
    x: Any
    lower: np.ndarray

    @classmethod
    def of(cls, whole: LogisticProblem) -> "RowSpace | None":
        """Return the smaller problem; None where there are not far more columns than rows."""
        data, (shift, scale), n = whole.data, whole.scaling, whole.data.n_rows or 0
        within = 0 < 2 * n <= len(scale) and n <= MOST_ROWS_A_PREDICTOR * whole.shape[0]
        if not (within and whole.alpha > 0.0 and isinstance(data, ArraySource | SparseSource)):
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
        if not 0.0 < largest * most < MOST_GRAM * whole.alpha:  # rounding of products would count
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

    def search(self, start: np.ndarray, **options: Any) -> NewtonResult:
        """Return the coefficients of the columns, from those of L at the minimum."""
        from scipy.linalg import solve_triangular

        first, scale, lower = int(self.whole.has_intercept), self.whole.standardizer.scale, self.lower
        begin = np.zeros(self.problem.shape)
        if np.any(start):
            eta = self.x @ (start[:, first:] * scale).T
            begin = np.column_stack([start[:, :first], solve_triangular(lower, eta, lower=True).T])
        found = search(self.problem, begin, **options)
        combined = solve_triangular(lower, found.x[:, first:].T, lower=True, trans="T").T @ self.x
        slopes = combined * np.where(scale > 0.0, reciprocals(np.where(scale > 0.0, scale, 1.0)), 0.0)
        coef = np.column_stack([found.x[:, :first], slopes])
        gradient = self.whole.objective(coef)[1]
        violation = float(np.max(np.abs(gradient)))
        return replace(found, x=coef, gradient=gradient, violation=violation, curvature=None)
