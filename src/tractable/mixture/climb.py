"""One climb of expectation-maximisation, from one start."""

from typing import Any

from tractable.engines import EMResult, em
from tractable.primitives.threads import single_threaded_blas

__all__ = ["climb"]


def climb(model: Any, problem: Any, start: Any) -> EMResult:
    """Search from a start, with the patience that the model's parameters give."""
    # Waking the threads of BLAS for small matrices, between two folds, costs more than an iteration.
    with single_threaded_blas():
        return em(
            problem.expect,
            problem.maximize,
            start,
            tol=model.tol,
            max_iter=model.max_iter,
            unit=problem.total,
            label=f"{type(model).__name__}, {model.n_components} components",
        )
