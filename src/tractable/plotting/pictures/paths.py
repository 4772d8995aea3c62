"""Paths of sparse models: how coefficients come in, and leave, as the penalty falls."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from tractable.base import check_fitted
from tractable.linear_model import LarsPath, LassoCV, LassoLars, LassoPath
from tractable.plotting.labels import legend_name
from tractable.plotting.plot import draw, draw_as, picture
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []

#: Columns that get a colour and a name; the others are drawn in grey.
NAMED = 7


@picture.register
def _lasso_path(x: LassoPath, ax: Any, *, against: str = "alpha", named: int = NAMED) -> Any:
    """Draw the coefficients at every penalty, the largest by name."""
    return _lines(x, ax, against=against, named=named)


@picture.register
def _lars_path(x: LarsPath, ax: Any, *, against: str = "norm", named: int = NAMED) -> Any:
    """Draw the coefficients between knots, straight lines, with a tick mark at every knot."""
    _lines(x, ax, against=against, named=named)
    for at in _across(x, against):
        ax.axvline(at, color="0.9", lw=0.8, zorder=0)
    return ax


@picture.register
def _lasso_cv(
    x: LassoCV, ax: Any, *, data: Any = None, X: Any = None, y: Any = None, named: int = NAMED
) -> Any:
    """Draw the path of all rows, and the two penalties that cross-validation offers.

    Over rows, predictions.
    """
    check_fitted(x)
    if data is not None or X is not None:
        return draw_as(RegressorMixin, x, ax, data=data, X=X, y=y)
    _lines(x.path_, ax, against="alpha", named=named)
    for alpha, style, what in ((x.alpha_, "-", "least error"), (x.alpha_1se_, "--", "one standard error")):
        ax.axvline(alpha, color="0.4", lw=1.0, ls=style, label=what)
    legend(ax, beside=True)  # within the picture there is no room
    return ax


@picture.register
def _lasso_lars(
    x: LassoLars, ax: Any, *, data: Any = None, X: Any = None, y: Any = None, **options: Any
) -> Any:
    """Draw the path; over rows, predictions."""
    check_fitted(x)
    if data is not None or X is not None:
        return draw_as(RegressorMixin, x, ax, data=data, X=X, y=y, **options)
    if isinstance(x.path_, list):
        raise ValueError("x must have one target to be drawn; plot one of its path_")
    return draw(x.path_, ax, **options)


def _across(x: Any, against: str) -> np.ndarray:
    """Where each set of coefficients stands on the horizontal axis."""
    if against == "alpha":
        return np.asarray(x.alphas)
    if against == "norm":
        return np.abs(x.coefs).sum(axis=0)
    raise ValueError(f"against must be 'alpha' or 'norm', got {against!r}")


def _lines(x: Any, ax: Any, *, against: str, named: int) -> Any:
    across, largest = _across(x, against), np.argsort(-np.abs(x.coefs).max(axis=1), kind="stable")
    used = [j for j in largest if x.coefs[j].any()]
    names = x.names or [f"x{j}" for j in range(len(x.coefs))]
    for j in used[named:][::-1]:
        ax.plot(across, x.coefs[j], color="0.75", lw=0.8)
    for colour, j in zip(COLOURS * (1 + named // len(COLOURS)), sorted(used[:named]), strict=False):
        ax.plot(across, x.coefs[j], color=colour, label=legend_name(names[j]))
    ax.axhline(0.0, color="0.5", lw=0.8)
    label = "Σ |coefficient|"
    if against == "alpha":
        label = "alpha"
        positive = across[across > 0]
        if len(positive) > 1 and positive[0] > 20 * positive[-1]:
            ax.set_xscale("log") if len(positive) == len(across) else ax.set_xscale(
                "symlog", linthresh=positive[-1]
            )
        if not ax.xaxis_inverted():
            ax.invert_xaxis()
    ax.set(xlabel=label, ylabel="coefficient")
    quiet(ax)
    legend(ax, beside=True)  # within the picture there is no room
    return ax
