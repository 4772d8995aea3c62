"""Classes that planes part: without a penalty their likelihood has no maximum."""

import numpy as np

from tractable.classification.logistic_search import LogisticProblem, solver
from tractable.value import value

__all__ = ["SeparableClassesWarning", "parting_planes"]

#: A row this near to a boundary, relative to the farthest, lies on it.
ON_BOUNDARY = 1e-6


class SeparableClassesWarning(UserWarning):
    """Planes part the classes: without a penalty, coefficients grow without end."""


@value
class _Margins:
    """The least and the largest margins, one for each direction."""

    low: np.ndarray
    high: np.ndarray

    def __add__(self, other: "_Margins") -> "_Margins":
        return _Margins(low=np.minimum(self.low, other.low), high=np.maximum(self.high, other.high))


def parting_planes(
    problem: LogisticProblem, free: np.ndarray, gradient: np.ndarray, hessian: np.ndarray
) -> np.ndarray | None:
    """Return free planes that part the classes, or None where none were met.

    No row lies on the wrong side of them, and some lie off the boundary. A search that never ends moves along
    such planes, so that they are looked for where it stopped and where it was going; each is tried on every
    row, so what is found is certain.
    """
    step = -solver(hessian)(gradient.reshape(-1, 1)).reshape(free.shape)
    candidates = [planes / size for planes in (free, step) if (size := float(np.max(np.abs(planes)))) > 0.0]
    if not candidates:
        return None

    def margins(x: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> _Margins:
        x, codes = (x, codes) if weights is None else (x[weights > 0], codes[weights > 0])
        found = [problem.link.margins(x, codes, problem.units, planes) for planes in candidates]
        return _Margins(
            low=np.array([np.min(m, initial=np.inf) for m in found]),
            high=np.array([np.max(m, initial=-np.inf) for m in found]),
        )

    seen = problem.rows.walk(margins)
    for planes, low, high in zip(candidates, seen.low, seen.high, strict=True):
        if high > ON_BOUNDARY and low >= -ON_BOUNDARY * high:
            return planes
    return None
