"""What is wrong with a fit, in numbers and in sentences."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from tractable.arrays.special import stdtr
from tractable.base import check_fitted
from tractable.base.parameters import check_number
from tractable.engines import LeastSquares, least_squares
from tractable.statistics import LinearFactor
from tractable.value import value

__all__ = ["FITTED", "Curve", "Diagnosis", "Finding", "curves", "diagnose", "f_test"]


@value
class Finding:
    """One trouble that a linear fit can have, and whether it has it.

    Parameters
    ----------
    trouble : str
        "weak signal", "not linear" or "outliers".
    present : bool
    sentence : str
        What was found, in words.
    numbers : dict
        What it was told from.
    """

    trouble: str
    present: bool
    sentence: str
    numbers: dict[str, float]


@value
class Diagnosis:
    """What `diagnose` found about a fit; :func:`tractable.plot` draws the residuals.

    Parameters
    ----------
    findings : tuple of Finding
        About the signal, about curvature, about outliers, in this order.
    fitted, residuals : arrays (n,)
    leverage : array (n,)
        hᵢ, the weight of a row's target in its own prediction; they add up to the number of parameters.
    studentized : array (n,)
        Residuals in units of their standard error, each with the noise estimated without its own row: t
        distributed.
    cooks_distance : array (n,)
        How far all predictions move when a row is left out, in units of their uncertainty.
    outliers : array of int
        Rows that stick out or bend the fit, worst first.
    """

    findings: tuple[Finding, ...]
    fitted: np.ndarray
    residuals: np.ndarray
    leverage: np.ndarray
    studentized: np.ndarray
    cooks_distance: np.ndarray
    outliers: np.ndarray

    def __getitem__(self, trouble: str) -> Finding:
        """Return the finding about a trouble."""
        for finding in self.findings:
            if finding.trouble == trouble:
                return finding
        raise KeyError(trouble)

    @property
    def troubles(self) -> tuple[str, ...]:
        """The troubles that the fit has."""
        return tuple(finding.trouble for finding in self.findings if finding.present)

    def __str__(self) -> str:
        return "\n".join(finding.sentence for finding in self.findings)


@value
class Curve:
    """A term that the columns leave out, and how well it explains what they leave."""

    term: str  # in words
    f: float
    p_value: float  # for as many terms as were tried


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


#: The term of RESET, in words.
FITTED = "the fitted values"
#: Most columns of which all products are looked at.
_FEW = 30
#: A term that keeps less of itself, apart from the columns, is one of them.
_NEW = 1e-7


@value
class _Terms:
    """Terms of one kind, each tested on its own."""

    names: list[str]
    f: np.ndarray
    p_value: np.ndarray


def curves(
    columns: np.ndarray, names: list[str], fitted: np.ndarray, residuals: np.ndarray, *, located: bool
) -> list[Curve]:
    """Return the likeliest curve of each kind; the level is divided between kinds, and within a kind.

    Parameters
    ----------
    columns : array (n, d)
    names : list of d strings
    fitted, residuals : arrays (n,)
    located : bool
        Whether the fit had an intercept.
    """
    x = _in_like_units(columns, located=located)
    all_columns = np.column_stack([np.ones(len(x)), x]) if located else x
    tol = 10.0 * all_columns.shape[1] * float(np.finfo(float).eps)
    straight = _span(all_columns, np.linalg.norm(all_columns, axis=0), tol)
    left = _apart(residuals[:, None], straight)[:, 0]
    kinds = [_powers(fitted, left, straight)]
    if x.shape[1] > 1:  # of a single column the fitted values are a multiple
        kinds.append(_each(x**2, [f"the square of {name}" for name in names], left, straight))
    if 1 < x.shape[1] <= _FEW and x.shape[1] * (x.shape[1] - 1) // 2 < len(x):
        kinds.append(_joined([_each(*terms, left, straight) for terms in _products(x, names)]))
    found = [kind for kind in kinds if kind.names]
    return [_likeliest(kind, len(found)) for kind in found]


def f_test(without: float, with_terms: float, n_terms: int, dof: int) -> tuple[float, float]:
    """Return F for the squares that terms take away, and how often chance takes as many."""
    from scipy.special import fdtrc

    if n_terms < 1 or dof < 1:
        return 0.0, 1.0
    if with_terms <= 0.0:
        return float("inf"), 0.0
    f = max(without - with_terms, 0.0) / n_terms / (with_terms / dof)
    return f, float(fdtrc(n_terms, dof, f))


def _in_like_units(columns: np.ndarray, *, located: bool) -> np.ndarray:
    """Return columns about their means, of size one; or of size zero where they do not vary."""
    x = columns - columns.mean(axis=0) if located else columns
    size, rounding = np.abs(x).max(axis=0), 1e-14 * np.abs(columns).max(axis=0)
    return np.where(size > rounding, x, 0.0) / np.where(size > rounding, size, 1.0)


def _powers(fitted: np.ndarray, left: np.ndarray, straight: np.ndarray) -> _Terms:
    """Ramsey's RESET: squares and cubes of the fitted values together."""
    z = (fitted - fitted.mean()) / (np.ptp(fitted) or 1.0)
    terms = np.column_stack([z**2, z**3])
    bent = _span(_apart(terms, straight), np.linalg.norm(terms, axis=0), _NEW)
    after = _apart(left[:, None], bent)[:, 0]
    dof = len(left) - straight.shape[1] - bent.shape[1]
    f, p_value = f_test(float(left @ left), float(after @ after), bent.shape[1], dof)
    return _Terms(names=[FITTED], f=np.array([f]), p_value=np.array([p_value]))


def _each(terms: np.ndarray, names: list[str], left: np.ndarray, straight: np.ndarray) -> _Terms:
    """Return F of every term on its own; those that the columns already make are left out."""
    new = _apart(terms, straight)
    length = np.linalg.norm(new, axis=0)
    told = np.flatnonzero(length > _NEW * np.linalg.norm(terms, axis=0))
    taken = (left @ new[:, told] / length[told]) ** 2
    total, dof = float(left @ left), len(left) - straight.shape[1] - 1
    tests = [f_test(total, total - part, 1, dof) for part in taken]
    return _Terms(
        names=[names[j] for j in told],
        f=np.array([f for f, _ in tests]),
        p_value=np.array([p_value for _, p_value in tests]),
    )


def _products(x: np.ndarray, names: list[str]) -> Iterator[tuple[np.ndarray, list[str]]]:
    """Yield the products of each column with those after it."""
    for j in range(x.shape[1] - 1):
        yield (
            x[:, [j]] * x[:, j + 1 :],
            [f"the product of {names[j]} and {other}" for other in names[j + 1 :]],
        )


def _joined(kinds: list[_Terms]) -> _Terms:
    return _Terms(
        names=[name for kind in kinds for name in kind.names],
        f=np.concatenate([kind.f for kind in kinds]),
        p_value=np.concatenate([kind.p_value for kind in kinds]),
    )


def _likeliest(kind: _Terms, n_kinds: int) -> Curve:
    best = int(np.argmax(kind.f))
    p_value = min(n_kinds * len(kind.names) * float(kind.p_value[best]), 1.0)
    return Curve(term=kind.names[best], f=float(kind.f[best]), p_value=p_value)


def _span(x: np.ndarray, size: np.ndarray, tol: float) -> np.ndarray:
    """Return an orthonormal basis of columns, without directions that are rounding beside their size."""
    u, s, _ = np.linalg.svd(x / np.where(size > 0.0, size, 1.0), full_matrices=False)
    return u[:, s > tol]


def _apart(x: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return what columns have apart from a basis; twice, so that rounding does not stay in it."""
    for _ in range(2):
        x = x - basis @ (basis.T @ x)
    return x
