"""Mixtures that EM fitted: the density with its components, or the climb of the likelihood."""

from typing import Any

from tractable.base import check_fitted
from tractable.mixture.shell import EMMixture
from tractable.plotting.climb import SHOWN, draw_climb
from tractable.plotting.plot import draw, picture

__all__: list[str] = []


@picture.register
def _mixture(x: EMMixture, ax: Any, *, show: str = "density", **options: Any) -> Any:
    """Draw the density; with ``show="climb"`` what EM reached at each of its steps."""
    check_fitted(x)
    if show not in SHOWN:
        raise ValueError(f"show must be one of {', '.join(SHOWN)}, got {show!r}")
    if show == "climb":
        return draw_climb(ax, x.lower_bounds_, x.converged_, **options)
    return draw(x.distribution_, ax, **options)
