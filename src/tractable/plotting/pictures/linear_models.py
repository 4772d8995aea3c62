"""Results of linear models: coefficient paths, cross-validation curves, basis functions, diagnostics."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from tractable.base import check_columns, check_fitted
from tractable.covariance import resolve_dims
from tractable.linear_model import CVCurve, Diagnosis, FormulaFit, LarsPath, LassoLars, LassoPath
from tractable.linear_model.basis.base import Basis
from tractable.linear_model.sparse.cross_validation import SparseCV
from tractable.plotting.plot import draw, draw_as, picture
from tractable.plotting.rows import bounding_box, column_names, draw_rows, with_column_names
from tractable.plotting.style import COLOURS, finish, legend, legend_label, title, which_columns
from tractable.regression_tables import Influence, RegressionSummary

#: Columns with a colour and a name; the others are drawn in grey.
NAMED = 7

#: Coefficients of a forest plot, those of the largest.
MAX_COEFFICIENTS = 40

#: Basis functions beyond this many have no legend.
MAX_FUNCTIONS = 8

#: The names of methods of cross-validation.
METHODS = {"loo": "leave-one-out", "gcv": "generalised cross-validation"}


@picture.register
def _lasso_path(x: LassoPath, ax: Any, *, against: str = "alpha", named: int = NAMED) -> Any:
    """Draw the coefficients at every penalty; the `named` largest have a colour."""
    return _lines(x, ax, against=against, named=named)


@picture.register
def _lars_path(x: LarsPath, ax: Any, *, against: str = "norm", named: int = NAMED) -> Any:
    """Draw the piecewise linear coefficients, with a line at every knot."""
    _lines(x, ax, against=against, named=named)
    for at in _across(x, against):
        ax.axvline(at, color="0.9", lw=0.8, zorder=0)
    return ax


@picture.register
def _sparse_cv(
    x: SparseCV, ax: Any, *, data: Any = None, X: Any = None, y: Any = None, named: int = NAMED
) -> Any:
    """Draw the path, and the penalties of least error and of one standard error; over rows, predictions."""
    check_fitted(x)
    if data is not None or X is not None:
        return draw_as(RegressorMixin, x, ax, data=data, X=X, y=y)
    _lines(x.path_, ax, against="alpha", named=named)
    for alpha, style, what in (
        (x.cv_curve_.best_alpha, "-", "least error"),
        (x.alpha_1se_, "--", "one standard error"),
    ):
        ax.axvline(alpha, color="0.4", lw=1.0, ls=style, label=what)
    legend(ax, beside=True)
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
    """Return the position of each set of coefficients on the horizontal axis."""
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
        ax.plot(across, x.coefs[j], color=colour, label=legend_label(names[j]))
    ax.axhline(0.0, color="0.5", lw=0.8)
    label = "Σ |coefficient|"
    if against == "alpha":
        label = "alpha"
        positive = across[across > 0]
        if len(positive) > 1 and positive[0] > 20 * positive[-1]:
            _log_scale(ax, positive[-1], has_zero=len(positive) < len(across))
        if not ax.xaxis_inverted():
            ax.invert_xaxis()
    return finish(ax, xlabel=label, ylabel="coefficient", beside=True)


@picture.register
def _basis(x: Basis, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    """Draw the basis functions that vary along one column, with the other columns at their centre.

    Over the range of `data`, or the range that the fitted functions cover.
    """
    check_fitted(x)
    names = column_names(x)
    wanted = resolve_dims([0] if dims is None else dims, len(names), tuple(names))
    if len(wanted) != 1:
        raise ValueError(f"dims must name one column, got {dims!r}")
    column = int(wanted[0])
    low, high, centre = _range(x, data)
    rows = np.tile(centre, (400, 1))
    rows[:, column] = np.linspace(low[column], high[column], 400)
    columns = np.asarray(x.transform(with_column_names(x, rows)), dtype=float)
    varying = np.flatnonzero(np.ptp(columns, axis=0) > 0.0)
    labels = x.get_feature_names_out()
    for k, j in enumerate(varying):
        label = legend_label(labels[j]) if len(varying) <= MAX_FUNCTIONS else None
        ax.plot(rows[:, column], columns[:, j], color=COLOURS[k % len(COLOURS)], label=label)
    ax.set(xlabel=names[column], ylabel="basis function")
    which = which_columns([names[column]], len(names))
    title(ax, f"along {which}" if which else "")
    return finish(ax)


def _range(x: Any, data: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the lower end, the upper end and the centre of each column."""
    if data is not None:
        rows = np.asarray(check_columns(x, data), dtype=float)
        return *bounding_box(rows, 0.02), np.median(rows, axis=0)
    d = x.n_features_in_
    if hasattr(x, "half_"):
        middle, half = (np.broadcast_to(np.asarray(part, dtype=float), d) for part in (x.middle_, x.half_))
    elif hasattr(x, "period_"):
        origin, period = (np.broadcast_to(np.asarray(p, dtype=float), d) for p in (x.origin_, x.period_))
        middle, half = origin + 0.5 * period, 0.5 * period
    elif hasattr(x, "centers_"):
        centers = [np.asarray(part, dtype=float).ravel() for part in x.centers_]
        width = np.broadcast_to(np.asarray(x.width_, dtype=float), d)
        middle = np.array([0.5 * (c.min() + c.max()) for c in centers])
        half = np.array([0.5 * (c.max() - c.min()) for c in centers]) + 1.5 * width
    else:
        widths = np.broadcast_to(np.asarray(getattr(x, "widths_", 1.0), dtype=float).ravel()[:1], d)
        middle, half = np.zeros(d), 3.0 * np.where(widths > 0, widths, 1.0)
    half = np.where(half > 0.0, half, 1.0)
    return middle - half, middle + half, middle


@picture.register
def _diagnosis(x: Diagnosis, ax: Any) -> Any:
    """Draw studentized residuals against fitted values, with marks that grow with Cook's distance."""
    ordinary = np.ones(len(x.fitted), dtype=bool)
    ordinary[x.outliers] = False
    sizes = 12.0 + 150.0 * np.minimum(x.cooks_distance, 2.0)
    for rows, colour, label in ((ordinary, "0.55", "rows"), (~ordinary, COLOURS[5], "outliers")):
        if rows.any():
            points = np.column_stack([x.fitted, x.studentized])[rows]
            draw_rows(ax, points, s=sizes[rows], color=colour, label=label)
    for row in x.outliers[:8]:
        style = {"xytext": (5, 4), "textcoords": "offset points", "fontsize": "small"}
        ax.annotate(str(row), (x.fitted[row], x.studentized[row]), **style)
    ax.plot(*_running_mean(x.fitted, x.studentized), color=COLOURS[0], label="running mean")
    ax.axhline(0.0, color="0.7", lw=0.8, zorder=0)
    found = ", ".join(x.problems) or "no problem found"
    return finish(ax, xlabel="fitted value", ylabel="studentized residual", title=found)


def _running_mean(fitted: np.ndarray, residuals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return moving averages over a fifth of the rows, in the order of fitted values."""
    order = np.argsort(fitted, kind="stable")
    width = max(len(fitted) // 5, 1)
    window = np.ones(width) / width
    return tuple(np.convolve(part[order], window, mode="valid") for part in (fitted, residuals))  # type: ignore[return-value]


@picture.register
def _regression_summary(x: RegressionSummary, ax: Any, *, standardized: bool | None = None) -> Any:
    """Draw a forest plot: each coefficient with its interval, those whose interval has no zero in colour.

    They are in comparable units, times the standard deviations of their columns, where these are known;
    ``standardized=False`` draws them in the units of the columns. Intercepts are left out.
    """
    standardized = x.scales is not None if standardized is None else standardized
    if standardized and x.scales is None:
        raise ValueError("standardized must be False: the table has no standard deviations of the columns")
    slopes = x.slopes
    scale = np.asarray(x.scales)[slopes] if standardized else np.ones(len(slopes))
    with np.errstate(invalid="ignore"):
        values, ends = x.coefficients[slopes] * scale, x.intervals[slopes] * scale[:, None]
    shown = np.flatnonzero(np.isfinite(ends).all(axis=1))
    if not len(shown):
        raise ValueError("x must have a coefficient, beside the intercept, that the rows determine")
    shown = np.sort(shown[np.argsort(-np.abs(values[shown]), kind="stable")[:MAX_COEFFICIENTS]])
    at = np.arange(len(shown))[::-1].astype(float)
    away = (ends[shown, 0] > 0.0) | (ends[shown, 1] < 0.0)
    for some, colour, label in ((away, COLOURS[0], "without 0"), (~away, "0.55", "with 0")):
        if some.any():
            centre, span = values[shown][some], np.abs(ends[shown][some] - values[shown][some, None]).T
            style = {"fmt": "o", "ms": 5, "capsize": 2, "color": colour}
            ax.errorbar(centre, at[some], xerr=span, label=f"{x.coverage:.0%} interval {label}", **style)
    ax.axvline(0.0, color="0.7", lw=0.8, zorder=0)
    ax.set_yticks(at, [x.names[slopes[i]] for i in shown])
    ax.set_ylim(-0.6, len(shown) - 0.4)
    left_out = len(slopes) - len(shown)
    title(ax, f"{left_out} of {len(slopes)} coefficients left out" if left_out else "")
    units = "coefficient × standard deviation of its column" if standardized else "coefficient"
    return finish(ax, xlabel=units, ylabel="column")


@picture.register
def _formula_fit(x: FormulaFit, ax: Any, *, standardized: bool | None = None) -> Any:
    """Draw the forest plot of the regression table of a fit by a formula."""
    return _regression_summary(x.summary(), ax, standardized=standardized)


@picture.register
def _influence(x: Influence, ax: Any, *, named: int = 5) -> Any:
    """Draw studentized residuals against leverage, with marks that grow with Cook's distance.

    The `named` rows of the largest distance have their numbers.
    """
    cooks = np.nan_to_num(x.cooks_distance)
    points = np.column_stack([x.leverage, np.nan_to_num(x.studentized)])
    draw_rows(ax, points, s=12.0 + 150.0 * np.minimum(cooks, 2.0), color=COLOURS[0])
    for row in np.argsort(-cooks, kind="stable")[:named]:
        style = {"xytext": (5, 4), "textcoords": "offset points", "fontsize": "small"}
        ax.annotate(str(row), points[row], **style)
    ax.axhline(0.0, color="0.7", lw=0.8, zorder=0)
    title(ax, "marks grow with Cook's distance")
    return finish(ax, xlabel="leverage", ylabel="studentized residual")


@picture.register
def _cv_curve(x: CVCurve, ax: Any, *, label: str = "", colour: str = COLOURS[0]) -> Any:
    """Draw the score of every penalty, with one standard error if it is known, and the best penalty."""
    shown = np.isfinite(x.scores)
    order = np.flatnonzero(shown)[np.argsort(x.alphas[shown])]
    alphas, scores = x.alphas[order], x.scores[order]
    if x.standard_errors is not None:
        errors = x.standard_errors[order]
        style = {"color": colour, "alpha": 0.15, "lw": 0, "label": "± 1 s.e."}
        ax.fill_between(alphas, scores - errors, scores + errors, **style)
    ax.plot(alphas, scores, color=colour, marker=".", label=label or METHODS.get(x.method, x.method))
    best = f"alpha = {x.best_alpha:.3g}"
    ax.plot(x.best_alpha, x.best_score, "o", ms=8, mfc="none", color=COLOURS[5], label=best)
    positive = alphas[alphas > 0]
    if len(positive) > 1 and positive[-1] > 50 * positive[0]:
        _log_scale(ax, positive[0], has_zero=len(positive) < len(alphas))
    return finish(ax, xlabel="alpha", ylabel=f"cross-validated {x.score}")


def _log_scale(ax: Any, least: float, *, has_zero: bool) -> None:
    """Make the horizontal axis logarithmic; linear below the least positive penalty if there is a zero."""
    if has_zero:
        ax.set_xscale("symlog", linthresh=least)
    else:
        ax.set_xscale("log")
