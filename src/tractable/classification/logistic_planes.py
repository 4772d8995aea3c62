"""Planes between the units of a search and those of the columns, and how sure the search is of them."""

from typing import Any

import numpy as np

from tractable.classification.logistic_errors import covariance_of
from tractable.classification.logistic_search import MOST_PARAMETERS, Found, LogisticProblem
from tractable.classification.separable import leading_planes, parting_planes
from tractable.primitives.threads import single_threaded_blas
from tractable.value import value

__all__ = ["Certainty", "certainty", "in_columns", "in_units", "prices"]

#: Prices are no larger than this.
MOST = 1e300


def prices(scale: np.ndarray, C: float, l1_ratio: float, *, located: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the prices of squares and of absolute values of scaled columns' coefficients, in Σ loss."""
    free = np.zeros(int(located))
    with np.errstate(over="ignore", under="ignore"):
        squares = np.minimum((1.0 - l1_ratio) / C * scale * scale, MOST)
        sizes = np.minimum(l1_ratio / C * scale, MOST)
    return np.concatenate([free, squares]), np.concatenate([free, sizes])


def in_columns(problem: LogisticProblem, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients and intercepts in the units of the columns."""
    planes = problem.link.planes(free)
    located = int(problem.located)
    coef = planes[:, located:] * problem.rows.scale
    intercept = planes[:, 0] - coef @ problem.rows.shift if located else np.zeros(len(planes))
    return coef, intercept - np.mean(intercept) if located and len(planes) > 1 else intercept


def in_units(coef: np.ndarray, intercept: np.ndarray, problem: LogisticProblem) -> np.ndarray:
    """Return planes in the units of a search, the inverse of `in_columns`."""
    rows = problem.rows
    varies = rows.scale > 0.0
    scaled = np.where(varies, coef / np.where(varies, rows.scale, 1.0), 0.0)
    if not problem.located:
        return scaled
    return np.column_stack([intercept + coef @ rows.shift, scaled])


@value
class Certainty:
    """What one more pass tells where a search stopped."""

    covariance: np.ndarray | None
    centered: np.ndarray | None  # the same with intercepts where the rows are, and 0 where one is held
    log_likelihood: float
    parting: np.ndarray | None  # planes that part the classes, where they were looked for and met
    separable: bool | None  # whether there are any, as far as that is known


def certainty(problem: LogisticProblem, found: Found, *, unpenalised: bool) -> Certainty:
    """Look at the curvature of all rows, and, without a penalty, at whether planes part the classes."""
    free = found.free
    paid = 0.5 * float(np.sum(problem.ridge * free * free)) + float(np.sum(problem.lasso * np.abs(free)))
    log_likelihood = paid - found.loss * problem.rows.weight
    few = free.size <= MOST_PARAMETERS
    covariance = centered = parting = hessian = None
    with single_threaded_blas():
        if few:
            hessian = problem.information(free) + np.diag(np.tile(problem.ridge, problem.n_planes))
            covariance = _covariance(problem, free, hessian, problem.rows.shift, held=np.nan)
            centered = _covariance(problem, free, hessian, np.zeros_like(problem.rows.shift), held=0.0)
        if unpenalised:
            parting = parting_planes(problem, leading_planes(free, found.gradient, hessian))
    # Of many parameters only planes that part all rows are found; a search cut short may not lead to any.
    known = unpenalised and few and found.converged
    return Certainty(
        covariance=covariance,
        centered=centered,
        log_likelihood=log_likelihood,
        parting=parting,
        separable=True if parting is not None else False if known else None,
    )


def _covariance(
    problem: LogisticProblem, free: np.ndarray, hessian: np.ndarray, shift: np.ndarray, *, held: float
) -> np.ndarray:
    """Return the covariance of planes in the units of the columns, `shift` away from their centre."""
    known = (free != 0.0) | (problem.lasso == 0.0)
    found = covariance_of(hessian, _mapping(problem, free.shape, shift), known.reshape(-1))
    planes = problem.link.planes(free)
    places = np.arange(planes.size).reshape(planes.shape)
    located = int(problem.located)
    # Rows say nothing of a column that never varies: only the penalty bounds its coefficient.
    dead = places[:, located:][:, problem.rows.scale == 0.0].reshape(-1)
    share = 1.0 if len(planes) == 1 else 1.0 - 1.0 / len(planes)
    found[dead, dead] = share / problem.price if problem.price > 0.0 else np.inf
    zeros = places[(planes == 0.0) & (problem.lasso > 0.0)]
    found[zeros], found[:, zeros] = held, held
    return found


def _mapping(problem: LogisticProblem, shape: tuple[int, int], shift: np.ndarray) -> Any:
    """Return the matrix that takes free planes to those of the columns, both flattened."""
    c, p = shape
    rows, located = problem.rows, int(problem.located)
    units = np.diag(np.concatenate([np.ones(located), rows.scale]))
    if located:
        units[0, 1:] = -shift * rows.scale
    mix = problem.link.planes(np.eye(c))
    if located and len(mix) > 1 and c == len(mix):
        # Intercepts sum to zero; free planes leave that open.
        whole = np.kron(mix, units)
        first = np.arange(c) * p
        whole[first] -= np.mean(whole[first], axis=0)
        return whole
    return np.kron(mix, units)
