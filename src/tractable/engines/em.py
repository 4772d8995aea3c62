"""Expectation-maximisation over pure steps; state lives in the arguments."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from tractable.engines.progress import progress
from tractable.value import value

__all__ = ["EMResult", "em"]

P = TypeVar("P")


class Expected(Protocol):
    """What an E-step returns: expected statistics, and the objective at the parameters that made them."""

    @property
    def objective(self) -> float: ...


@value
class EMResult:
    """Where expectation-maximisation stopped."""

    params: Any
    trace: tuple[float, ...]  # the objective, before the first step and after each
    converged: bool

    @property
    def n_iter(self) -> int:
        """Number of M-steps taken."""
        return len(self.trace) - 1


def em(
    expect: Callable[[P], Any],
    maximize: Callable[[Any], P],
    params: P,
    *,
    tol: float = 1e-8,
    max_iter: int = 200,
    label: str = "EM",
) -> EMResult:
    """Alternate E- and M-steps until the objective grows by less than `tol` of itself.

    Parameters
    ----------
    expect : callable
        ``params -> expected statistics``, with an attribute `objective`.
    maximize : callable
        ``expected statistics -> params``.
    params
        Where to begin.
    tol : float
        Relative growth of the objective below which the search stops.
    max_iter : int
        Most M-steps taken.

    Returns
    -------
    EMResult
        With the objective before the first step and after each.
    """
    expected = expect(params)
    trace = [float(expected.objective)]
    with progress(label, max_iter) as line:
        while len(trace) <= max_iter:
            params = maximize(expected)
            expected = expect(params)
            trace.append(float(expected.objective))
            line.advance(note=f"objective {trace[-1]:.6g}")
            if trace[-1] - trace[-2] <= tol * abs(trace[-2]):
                return EMResult(params=params, trace=tuple(trace), converged=True)
    return EMResult(params=params, trace=tuple(trace), converged=False)
