"""Looking for the three troubles of a linear fit: no signal, curvature, outliers."""

from contextlib import suppress
from typing import Any

import numpy as np

from tractable.arrays.special import stdtr
from tractable.base import check_fitted
from tractable.base.parameters import check_number
from tractable.engines import LeastSquares, least_squares
from tractable.linear_model.curvature import FITTED, Curve, curves, f_test
from tractable.linear_model.diagnosis import Diagnosis, Finding
from tractable.statistics import LinearFactor
from tractable.value import value

__all__ = ["diagnose"]


@value
class _Fit:
    """A fit as the tests see it: its columns, its residuals, and the parameters it could have used."""

    columns: np.ndarray  # (n, d)
    names: list[str]  # of the columns, in words
    y: np.ndarray
    fitted: np.ndarray
    plane: LeastSquares  # of least squares in the same columns

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def p(self) -> int:
        return self.plane.rank + self.plane.n_located

    @property
    def residuals(self) -> np.ndarray:
        return self.y - self.fitted

    @property
    def noiseless(self) -> bool:
        """Whether the residuals are rounding."""
        return float(np.abs(self.residuals).max()) <= 1e-10 * float(np.abs(self.y - self.y.mean()).max())


def diagnose(estimator: Any, X: Any, y: Any, *, level: float = 0.01) -> Diagnosis:
    """Look for the troubles of a linear fit: a signal too weak, a relation that is not linear, outliers.

    The signal is tested by F, R² / (1 - R²) times degrees of freedom, and R² is given with its large-sample
    standard error. Curvature is looked for by Ramsey's RESET, whether squares and cubes of the fitted values
    explain the residuals, and in the square of each column and, of up to 30 columns and where rows are more
    than products, in the product of each two; the level is shared out among these tests. A row is an outlier
    where its studentized residual is too large for the largest of n, or where Cook's distance is above the
    median of F. The tests are exact for least squares in Gaussian noise; for penalised and robust fits they
    take the columns as parameters, and are a guide.

    Parameters
    ----------
    estimator : fitted regressor
        Linear in its columns, or a pipeline whose last step is.
    X : array or frame of shape (n_samples, n_features)
        The rows it was fitted to.
    y : array of shape (n_samples,)
    level : float
        How often a sound fit may be accused of each trouble.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> import numpy as np, tractable
    >>> x = np.linspace(0.0, 4.0, 30)[:, None]
    >>> y = np.exp(x[:, 0])
    >>> found = tractable.diagnose(tractable.LinearRegression().fit(x, y), x, y)
    >>> found.troubles
    ('not linear',)
    >>> print(found["weak signal"].sentence)
    The columns explain 80% of the variation of y (R² 0.80 ± 0.06): a signal (p = 3.3e-11).
    """
    if not hasattr(estimator, "predict"):
        raise ValueError(f"estimator must be a fitted regressor, got {estimator!r}")
    check_fitted(estimator)
    check_number("level", level, above=0.0, below=1.0)
    fit = _seen(estimator, X, y)
    leverage = np.minimum(fit.plane.leverage(fit.columns), 1.0)
    studentized, cooks = _influence(fit, leverage)
    tails = 2.0 * stdtr(np.asarray(fit.n - fit.p - 1.0), -np.abs(studentized))
    far = np.flatnonzero((fit.n * tails < level) | (cooks > _bending(fit)))
    outliers = far[np.argsort(-np.abs(studentized[far]), kind="stable")]
    return Diagnosis(
        findings=(
            _about_signal(fit, level),
            _about_curvature(fit, level),
            _about_outliers(outliers, studentized, cooks, leverage),
        ),
        fitted=fit.fitted,
        residuals=fit.residuals,
        leverage=leverage,
        studentized=studentized,
        cooks_distance=cooks,
        outliers=outliers,
    )


def _seen(estimator: Any, X: Any, y: Any) -> _Fit:
    fitted = np.asarray(estimator.predict(X), dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 1 or fitted.shape != y.shape:
        raise ValueError(f"y must be one target a row, of shape {fitted.shape[:1]}; got shape {y.shape}")
    if not np.all(np.isfinite(y)) or np.ptp(y) == 0.0:
        raise ValueError("y must be finite and vary: a constant has nothing to be explained")
    steps = getattr(estimator, "steps", None)
    last = estimator if steps is None else steps[-1][1]
    columns = X if steps is None or len(steps) == 1 else estimator[:-1].transform(X)
    names = _names(estimator, X, columns)
    columns = np.asarray(columns, dtype=np.float64)
    located = bool(getattr(last, "fit_intercept", True))
    fit = _Fit(columns=columns, names=names, y=y, fitted=fitted, plane=_plane(columns, y, located=located))
    if fit.n < fit.p + 2:
        raise ValueError(f"X must have at least {fit.p + 2} rows for {fit.p} parameters, got {fit.n}")
    return fit


def _names(estimator: Any, X: Any, columns: Any) -> list[str]:
    """Return what the columns are called, where a frame or the steps before the last have names for them."""
    known = getattr(columns, "columns", None)
    if known is None and columns is not X:
        with suppress(AttributeError, ValueError):  # not every transformer names its columns
            known = estimator[:-1].get_feature_names_out()
    given = range(np.shape(columns)[1]) if known is None else known
    return [f"column {name}" for name in given]


def _about_signal(fit: _Fit, level: float) -> Finding:
    located = fit.plane.n_located
    total = float(np.sum((fit.y - located * fit.y.mean()) ** 2))
    r2 = 1.0 - float(np.sum(fit.residuals**2)) / total
    used = min(max(r2, 0.0), 1.0)
    error = 2.0 * np.sqrt(used) * (1.0 - used) * (fit.n - fit.p)
    error /= np.sqrt((fit.n**2 - 1.0) * (fit.n + 3.0))
    f, p_value = f_test(1.0, 1.0 - used, fit.plane.rank, fit.n - fit.p)
    weak = bool(p_value > level)
    said = f"no more than chance would (p = {p_value:.2g})" if weak else f"a signal (p = {p_value:.2g})"
    return Finding(
        trouble="weak signal",
        present=weak,
        sentence=f"The columns explain {r2:.0%} of the variation of y (R² {r2:.2f} ± {error:.2f}): {said}.",
        numbers={"r2": r2, "r2_std_error": float(error), "f": f, "p_value": p_value},
    )


def _about_curvature(fit: _Fit, level: float) -> Finding:
    best = Curve(term=FITTED, f=0.0, p_value=1.0)
    if not fit.noiseless:
        found = curves(fit.columns, fit.names, fit.fitted, fit.residuals, located=bool(fit.plane.n_located))
        best = min(reversed(found), key=lambda curve: curve.p_value, default=best)
    present = bool(best.p_value < level)
    return Finding(
        trouble="not linear",
        present=present,
        sentence=_about(best, present=present, several=fit.columns.shape[1] > 1),
        numbers={"f": best.f, "p_value": best.p_value},
    )


def _about(curve: Curve, *, present: bool, several: bool) -> str:
    numbers = f"F = {curve.f:.3g}, p = {curve.p_value:.2g}"
    if not present:
        against = "fitted values and columns" if several else "fitted values"
        return f"Residuals against {against}: they show no curve that can be told ({numbers})."
    if curve.term == FITTED:
        return (
            "Residuals against fitted values: they follow a curve, so basis functions may help "
            f"(RESET {numbers})."
        )
    return f"Residuals follow {curve.term}, so basis functions may help ({numbers})."


def _about_outliers(
    outliers: np.ndarray, studentized: np.ndarray, cooks: np.ndarray, leverage: np.ndarray
) -> Finding:
    worst = int(np.argmax(np.abs(studentized)) if not len(outliers) else outliers[0])
    numbers = {
        "n_outliers": float(len(outliers)),
        "studentized": float(studentized[worst]),
        "cooks_distance": float(cooks.max()),
        "leverage": float(leverage.max()),
    }
    at = (
        f"row {worst}, {abs(studentized[worst]):.1f} standard errors away, Cook's distance {cooks[worst]:.2g}"
    )
    one = len(outliers) == 1
    rows = (
        "1 row sticks out or bends the fit:"
        if one
        else f"{len(outliers)} rows stick out or bend the fit, first"
    )
    said = f"{rows} {at}" if len(outliers) else f"No row sticks out; the farthest is {at}"
    return Finding(trouble="outliers", present=bool(len(outliers)), sentence=f"{said}.", numbers=numbers)


def _influence(fit: _Fit, leverage: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return studentized residuals, without each row's own part in the noise, and Cook's distances."""
    e, free, dof = fit.residuals, 1.0 - leverage, fit.n - fit.p
    if fit.noiseless:
        return np.zeros(fit.n), np.zeros(fit.n)
    alone = free <= 1e-10  # such a row is its own prediction, and tells nothing
    free = np.where(alone, 1.0, free)
    total = float(e @ e)
    without = np.maximum(total - e**2 / free, 1e-20 * total) / (dof - 1.0)
    studentized = np.where(alone, 0.0, e / np.sqrt(without * free))
    cooks = np.where(alone, 0.0, e**2 * leverage / (fit.p * total / dof * free**2))
    return studentized, cooks


def _bending(fit: _Fit) -> float:
    """Return the median of F: beyond it, leaving a row out moves the fit past half of its uncertainty."""
    from scipy.special import fdtri

    return float(fdtri(fit.p, fit.n - fit.p, 0.5))


def _plane(columns: np.ndarray, y: np.ndarray, *, located: bool) -> LeastSquares:
    return least_squares(LinearFactor.of(columns, y), fit_intercept=located)
