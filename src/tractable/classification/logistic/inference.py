"""Planes between the units of a search and those of the columns, and how sure the search is of them."""

from itertools import combinations
from typing import Any

import numpy as np

from tractable.classification.logistic.errors import covariance_of
from tractable.classification.logistic.problem import MOST_PARAMETERS, Found, LogisticProblem, solver
from tractable.engines.glm.losses import features
from tractable.primitives.threads import single_threaded_blas
from tractable.value import value

__all__ = [
    "Certainty",
    "SeparableClassesWarning",
    "certainty",
    "in_columns",
    "in_units",
    "leading_planes",
    "parting_planes",
    "prices",
]

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


_EPS = float(np.finfo(np.float64).eps)
#: Rows so near to a boundary, relative to their sizes, may be meant to lie on it.
NEAR = (1e-2, 1e-4, 1e-6, 1e-8)
#: Planes that lose all but this share when rows near a boundary are put on it led nowhere.
KEPT = 1e-3


#: So many times what rounding may do is off a boundary.
CLEAR = 1e3


class SeparableClassesWarning(UserWarning):
    """Planes part the classes: without a penalty, coefficients grow without end."""


def leading_planes(free: np.ndarray, gradient: np.ndarray, hessian: np.ndarray | None) -> list[np.ndarray]:
    """Return where a search stopped and, where the curvature is known, where it was going."""
    found = [free]
    if hessian is not None:
        found = [free, -solver(hessian)(gradient.reshape(-1, 1)).reshape(free.shape)]
    return [planes for planes in found if np.any(planes)]


def parting_planes(problem: LogisticProblem, candidates: list[np.ndarray]) -> np.ndarray | None:
    """Return free planes that part the classes, or None where none of the candidates leads to any.

    No row's own class is below another there, and some are above (Albert and Anderson, 1984). A search that
    never ends moves along such planes, up to what it has still to lose. So rows that lie near a boundary are
    put on it, exactly, and every row is then tried: to within the rounding of its own terms, what is found
    is certain.
    """
    rounding = 8.0 * _EPS * (8 + problem.shape[1])
    mix = problem.link.mix
    for planes in candidates:
        unit = planes / np.max(np.abs(mix @ planes))
        low = _margins(problem, unit).low
        if low > rounding:
            return unit
        for near in NEAR if planes.size <= MOST_PARAMETERS else ():
            if low < -near:
                break
            edges: _Edges = problem.rows.walk(_Looking(problem=problem, planes=unit, near=near).edges)
            cleaned = edges.off(unit, mix)
            size = float(np.max(np.abs(mix @ cleaned)))
            if size < KEPT:
                continue
            seen = _margins(problem, cleaned / size)
            if seen.low >= -rounding and seen.high > CLEAR * rounding:
                return cleaned / size
    return None


def _margins(problem: LogisticProblem, planes: np.ndarray) -> "_Margins":
    return problem.rows.walk(_Looking(problem=problem, planes=planes, near=0.0).margins)


@value
class _Margins:
    """The least and the largest margin, relative to the sizes of the rows."""

    low: float
    high: float

    def __add__(self, other: "_Margins") -> "_Margins":
        return _Margins(low=min(self.low, other.low), high=max(self.high, other.high))


@value
class _Edges:
    """Rows on the boundary of each pair of classes, as triangular factors; they add."""

    factors: dict[tuple[int, int], np.ndarray]

    def __add__(self, other: "_Edges") -> "_Edges":
        both = {pair: np.concatenate([r, other.factors[pair]]) for pair, r in self.factors.items()}
        return _Edges(factors={pair: _triangular(r) for pair, r in both.items()})

    def off(self, free: np.ndarray, mix: np.ndarray) -> np.ndarray:
        """Return planes without what moves these rows off their boundaries."""
        rows = [np.kron((mix[a] - mix[b])[None, :], r) for (a, b), r in self.factors.items()]
        _, sizes, axes = np.linalg.svd(np.concatenate(rows), full_matrices=False)
        axes = axes[sizes > 64.0 * _EPS * free.size * np.max(sizes, initial=0.0)]
        flat = free.reshape(-1)
        for _ in range(2):  # the second time for rounding
            flat = flat - axes.T @ (axes @ flat)
        return flat.reshape(free.shape)


@value
class _Looking:
    """Looks at the rows of a problem from planes."""

    problem: LogisticProblem
    planes: np.ndarray
    near: float

    def margins(self, x: Any, codes: Any, weights: Any) -> _Margins:
        _, _, relative, _ = self._relative(x, codes, weights)
        return _Margins(
            low=float(np.min(relative, initial=np.inf)), high=float(np.max(relative, initial=-np.inf))
        )

    def edges(self, x: Any, codes: Any, weights: Any) -> _Edges:
        z, codes, relative, others = self._relative(x, codes, weights)
        near = np.abs(relative) <= self.near

        def factor(a: int, b: int) -> np.ndarray:
            one, other = (codes == a)[:, None] & (others == b), (codes == b)[:, None] & (others == a)
            return _triangular(z[np.any(near & (one | other), axis=1)])

        return _Edges(
            factors={pair: factor(*pair) for pair in combinations(range(len(self.problem.link.mix)), 2)}
        )

    def _relative(self, x: Any, codes: Any, weights: Any) -> tuple[np.ndarray, ...]:
        """Return rows, their classes, and how far these are above each of the others, in units of rows."""
        x, codes = (x, codes) if weights is None else (x[weights > 0], codes[weights > 0])
        z = features(x, self.problem.units, self.planes.shape[1])
        size = np.sum(np.abs(z), axis=1, keepdims=True)
        z = z / np.where(size > 0.0, size, 1.0)
        scores = z @ (self.problem.link.mix @ self.planes).T
        others = (codes[:, None] + np.arange(1, scores.shape[1])) % scores.shape[1]
        own = np.take_along_axis(scores, codes[:, None], axis=1)
        return z, codes, own - np.take_along_axis(scores, others, axis=1), others


def _triangular(rows: np.ndarray) -> np.ndarray:
    """Return R of rows = QR: all that sums of their squares depend on."""
    found: Any = np.linalg.qr(rows, mode="r")
    return found
