"""Classes that planes part: without a penalty their likelihood has no maximum."""

from itertools import combinations
from typing import Any

import numpy as np

from tractable.classification.links import features
from tractable.classification.logistic_search import MOST_PARAMETERS, LogisticProblem, solver
from tractable.value import value

__all__ = ["SeparableClassesWarning", "leading_planes", "parting_planes"]

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
