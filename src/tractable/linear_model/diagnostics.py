"""Diagnostics of linear fits: tests of signal and curvature, leverage, studentized residuals, outliers."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from tractable.arrays.student import stdtr
from tractable.base import check_fitted
from tractable.base.parameters import check_number
from tractable.base.scores import rows_in_memory
from tractable.base.validation import check_weights
from tractable.engines import LeastSquares, least_squares
from tractable.regression_tables import Influence
from tractable.statistics import LinearFactor, column_varies
from tractable.statistics.rows import counts
from tractable.value import replace, value

#: The term of RESET, in words.
FITTED = "the fitted values"
#: Up to so many columns all products of two are tested.
FEW_COLUMNS = 30
#: A term is linearly dependent on the columns where less than this fraction of it is orthogonal to them.
DEPENDENT = 1e-7


@value
class Finding:
    """The result of one diagnostic.

    Parameters
    ----------
    problem : {"weak signal", "not linear", "outliers"}
        What the fit was examined for.
    present : bool
        Whether the fit has this problem.
    sentence : str
        What was found, in words.
    numbers : dict of float
        Statistics and p-values of the tests.
    """

    problem: str
    present: bool
    sentence: str
    numbers: dict[str, float]


@value
class Diagnosis:
    """The diagnostics of a linear fit; :func:`tractable.plot` draws the residuals.

    Parameters
    ----------
    findings : tuple of Finding
        About the signal, about curvature, about outliers, in this order.
    fitted, residuals : arrays (n,)
        Fitted values ŷᵢ, and yᵢ - ŷᵢ.
    leverage : array (n,)
        hᵢ, the diagonal of the hat matrix; its sum is the number of parameters.
    studentized : array (n,)
        Externally studentized residuals, each with the noise estimated without its own row: t distributed.
    cooks_distance : array (n,)
        Cook's distances: how far all predictions move when a row is left out, relative to their variance.
    outliers : array of int
        Rows with a large studentized residual or Cook's distance, worst first.
    """

    findings: tuple[Finding, ...]
    fitted: np.ndarray
    residuals: np.ndarray
    leverage: np.ndarray
    studentized: np.ndarray
    cooks_distance: np.ndarray
    outliers: np.ndarray

    def __getitem__(self, problem: str) -> Finding:
        """Return the finding about a problem."""
        for finding in self.findings:
            if finding.problem == problem:
                return finding
        raise KeyError(problem)

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems that the fit has."""
        return tuple(finding.problem for finding in self.findings if finding.present)

    def __str__(self) -> str:
        return "\n".join(finding.sentence for finding in self.findings)


@value
class _Term:
    """A nonlinear term that explains the residuals best, and its F test."""

    name: str
    f: float
    p_value: float  # corrected for the number of terms that were tested (Bonferroni)


@value
class _Fit:
    """The columns, targets and fitted values of a fit, and least squares in the same columns."""

    columns: np.ndarray  # (n, d)
    names: list[str]  # of the columns, in words
    y: np.ndarray
    fitted: np.ndarray
    weights: np.ndarray  # how often each row counts
    least_squares: LeastSquares

    @property
    def n(self) -> float:
        return float(self.weights.sum())

    @property
    def p(self) -> int:
        return self.least_squares.rank + self.least_squares.has_intercept

    @property
    def residuals(self) -> np.ndarray:
        return self.y - self.fitted

    @property
    def noiseless(self) -> bool:
        """Whether the residuals are rounding."""
        counts = self.weights > 0
        centred = (self.y - self.mean(self.y))[counts]
        return float(np.abs(self.residuals[counts]).max()) <= 1e-10 * float(np.abs(centred).max())

    def mean(self, x: np.ndarray) -> Any:
        """Return the weighted mean over rows."""
        return self.weights @ x / self.n


def diagnose(
    estimator: Any, X: Any, y: Any = None, *, sample_weight: Any = None, level: float = 0.01
) -> Diagnosis:
    """Test a linear fit for a weak signal, for nonlinearity, and for outliers.

    The signal is tested by F, R² / (1 - R²) times degrees of freedom, and R² is given with its large-sample
    standard error. Nonlinearity is tested by Ramsey's RESET, whether squares and cubes of the fitted values
    explain the residuals, by the square of each column and, of up to 30 columns and where rows are more than
    products, by the product of each two; the level is divided among these tests. A row is an outlier where
    its studentized residual is significant for the largest of n, or where Cook's distance is above the median
    of F. The tests are exact for least squares in Gaussian noise; for penalised and robust fits they take the
    number of columns as that of parameters, and are approximate.

    Parameters
    ----------
    estimator : fitted regressor
        Linear in its columns, or a pipeline whose last step is.
    X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        The rows it was fitted to; a source is read into memory.
    y : array of shape (n_samples,) or column name
        The targets of the rows; sources have their own.
    sample_weight : array of shape (n_samples,) or column name, optional
        How often each row counts, as in its fit: whole numbers are rows that are repeated. What is found of a
        row is of one copy of it.
    level : float
        Significance level of each of the three diagnostics.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> x = np.linspace(0.0, 4.0, 30)[:, None]
    >>> y = np.exp(x[:, 0])
    >>> found = tractable.diagnose(tractable.LinearRegression().fit(x, y), x, y)
    >>> found.problems
    ('not linear',)
    >>> print(found["weak signal"].sentence)
    The columns explain 80% of the variation of y (R² 0.80 ± 0.06): a signal (p = 3.3e-11).
    """
    from scipy.special import fdtri

    if not hasattr(estimator, "predict"):
        raise ValueError(f"estimator must be a fitted regressor, got {estimator!r}")
    check_fitted(estimator)
    check_number("level", level, above=0.0, below=1.0)
    fit = _checked_fit(estimator, *rows_in_memory(estimator, X, y, sample_weight))
    leverage = np.minimum(fit.least_squares.leverage(fit.columns), 1.0)
    studentized, cooks = _influence(fit, leverage)
    tails = 2.0 * stdtr(np.asarray(fit.n - fit.p - 1.0), -np.abs(studentized))
    usual = fdtri(fit.p, fit.n - fit.p, 0.5)  # the median of F bounds Cook's distance as a rule
    flagged = np.flatnonzero(((fit.n * tails < level) | (cooks > usual)) & (fit.weights > 0))
    outliers = flagged[np.argsort(-np.abs(studentized[flagged]), kind="stable")]
    return Diagnosis(
        findings=(
            _test_signal(fit, level),
            _test_linearity(fit, level),
            _describe_outliers(outliers, studentized, cooks, leverage),
        ),
        fitted=fit.fitted,
        residuals=fit.residuals,
        leverage=leverage,
        studentized=studentized,
        cooks_distance=cooks,
        outliers=outliers,
    )


def _checked_fit(estimator: Any, X: Any, y: Any, sample_weight: Any) -> _Fit:
    fitted = np.asarray(estimator.predict(X), dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 1 or fitted.shape != y.shape:
        raise ValueError(f"y must be one target a row, of shape {fitted.shape[:1]}; got shape {y.shape}")
    weights = counts(check_weights(sample_weight, y), y)
    if not np.all(np.isfinite(y)) or not np.any(weights) or np.ptp(y[weights > 0]) == 0.0:
        raise ValueError("y must be finite and vary: a constant has no variation to explain")
    steps = getattr(estimator, "steps", None)
    last = estimator if steps is None else steps[-1][1]
    columns = X if steps is None or len(steps) == 1 else estimator[:-1].transform(X)
    names = _names(estimator, X, columns)
    columns = np.asarray(columns, dtype=np.float64)
    found = least_squares(
        LinearFactor.of(columns, y, weights), fit_intercept=bool(getattr(last, "fit_intercept", True))
    )
    fit = _Fit(columns=columns, names=names, y=y, fitted=fitted, weights=weights, least_squares=found)
    if fit.n < fit.p + 2:
        raise ValueError(f"X must have at least {fit.p + 2} rows for {fit.p} parameters, got {fit.n:g}")
    return fit


def _names(estimator: Any, X: Any, columns: Any) -> list[str]:
    """Return the names of the columns, from a frame or from the steps before the last where they have any."""
    known = getattr(columns, "columns", None)
    if known is None and columns is not X:
        with suppress(AttributeError, ValueError):  # not every transformer names its columns
            known = estimator[:-1].get_feature_names_out()
    given = range(np.shape(columns)[1]) if known is None else known
    return [f"column {name}" for name in given]


def _test_signal(fit: _Fit, level: float) -> Finding:
    total = float(fit.weights @ (fit.y - fit.least_squares.has_intercept * fit.mean(fit.y)) ** 2)
    r2 = 1.0 - float(fit.weights @ fit.residuals**2) / total
    used = min(max(r2, 0.0), 1.0)
    error = 2.0 * np.sqrt(used) * (1.0 - used) * (fit.n - fit.p)
    error /= np.sqrt((fit.n**2 - 1.0) * (fit.n + 3.0))
    f, p_value = _f_test(1.0, 1.0 - used, fit.least_squares.rank, fit.n - fit.p)
    weak = bool(p_value > level)
    said = f"no more than chance would (p = {p_value:.2g})" if weak else f"a signal (p = {p_value:.2g})"
    return Finding(
        problem="weak signal",
        present=weak,
        sentence=f"The columns explain {r2:.0%} of the variation of y (R² {r2:.2f} ± {error:.2f}): {said}.",
        numbers={"r2": r2, "r2_std_error": float(error), "f": f, "p_value": p_value},
    )


def _test_linearity(fit: _Fit, level: float) -> Finding:
    best = _Term(name=FITTED, f=0.0, p_value=1.0)
    if not fit.noiseless:
        best = min(reversed(_nonlinear_terms(fit)), key=lambda term: term.p_value, default=best)
    present = bool(best.p_value < level)
    return Finding(
        problem="not linear",
        present=present,
        sentence=_term_sentence(best, present=present, several=fit.columns.shape[1] > 1),
        numbers={"f": best.f, "p_value": best.p_value},
    )


def _term_sentence(term: _Term, *, present: bool, several: bool) -> str:
    numbers = f"F = {term.f:.3g}, p = {term.p_value:.2g}"
    if not present:
        against = "fitted values and columns" if several else "fitted values"
        return f"Residuals against {against}: they show no significant curve ({numbers})."
    if term.name == FITTED:
        return (
            "Residuals against fitted values: they follow a curve, so basis functions may help "
            f"(RESET {numbers})."
        )
    return f"Residuals follow {term.name}, so basis functions may help ({numbers})."


def _describe_outliers(
    outliers: np.ndarray, studentized: np.ndarray, cooks: np.ndarray, leverage: np.ndarray
) -> Finding:
    worst = int(np.argmax(np.abs(studentized)) if not len(outliers) else outliers[0])
    numbers = {
        "n_outliers": float(len(outliers)),
        "studentized": float(studentized[worst]),
        "cooks_distance": float(cooks.max()),
        "leverage": float(leverage.max()),
    }
    distance = f"{abs(studentized[worst]):.1f} standard errors away"
    at = f"row {worst}, {distance}, Cook's distance {cooks[worst]:.2g}"
    if not len(outliers):
        said = f"No row sticks out; the farthest is {at}"
    elif len(outliers) == 1:
        said = f"1 row sticks out or bends the fit: {at}"
    else:
        said = f"{len(outliers)} rows stick out or bend the fit, first {at}"
    return Finding(problem="outliers", present=bool(len(outliers)), sentence=f"{said}.", numbers=numbers)


def _influence(fit: _Fit, leverage: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return externally studentized residuals and Cook's distances."""
    e = fit.residuals
    if fit.noiseless:
        return np.zeros_like(e), np.zeros_like(e)
    squares = float(fit.weights @ e**2)
    options: Any = {"residual_dof": fit.n - fit.p, "residual_squares": squares}
    found = Influence.of(e, leverage, n_parameters=fit.p, **options)
    return found.studentized, found.cooks_distance


def _nonlinear_terms(fit: _Fit) -> list[_Term]:
    """Return the most significant nonlinear term of each kind; the level is divided among all terms."""
    has_intercept = fit.least_squares.has_intercept
    x = _standardized(fit)
    root = np.sqrt(fit.weights)[:, None]  # rows times it have the squares of rows that are repeated
    columns = root * (np.column_stack([np.ones(len(x)), x]) if has_intercept else x)
    tol = 10.0 * columns.shape[1] * float(np.finfo(float).eps)
    basis = _orthonormal_basis(columns, np.linalg.norm(columns, axis=0), tol)
    residuals = _orthogonal_part(root * fit.residuals[:, None], basis)[:, 0]
    kinds = [_reset_test(fit, residuals, basis)]
    d = x.shape[1]
    if d > 1:  # of a single column the fitted values are a multiple
        squares = [f"the square of {name}" for name in fit.names]
        kinds.append(_test_each(fit, x**2, squares, residuals, basis))
    if 1 < d <= FEW_COLUMNS and d * (d - 1) // 2 < fit.n:
        products = [_test_each(fit, *terms, residuals, basis) for terms in _products(x, fit.names)]
        kinds.append([test for tests in products for test in tests])
    found = [kind for kind in kinds if kind]
    return [_most_significant(kind, len(found)) for kind in found]


def _f_test(without: float, with_terms: float, n_terms: int, dof: float) -> tuple[float, float]:
    """Return the F statistic of the squares that terms explain, and its p-value."""
    from scipy.special import fdtrc

    if n_terms < 1 or dof < 1:
        return 0.0, 1.0
    if with_terms <= 0.0:
        return float("inf"), 0.0
    f = max(without - with_terms, 0.0) / n_terms / (with_terms / dof)
    return f, float(fdtrc(n_terms, dof, f))


def _standardized(fit: _Fit) -> np.ndarray:
    """Return centred columns of largest entry one; zero where they are constant."""
    has_intercept = fit.least_squares.has_intercept
    mean = fit.mean(fit.columns) if has_intercept else np.zeros(fit.columns.shape[1])
    x = fit.columns - mean
    varies = column_varies(mean, np.sqrt(fit.mean(x**2)) if has_intercept else np.abs(x).max(axis=0))
    return np.where(varies, x, 0.0) / np.where(varies, np.abs(x).max(axis=0), 1.0)


def _reset_test(fit: _Fit, residuals: np.ndarray, basis: np.ndarray) -> list[_Term]:
    """Ramsey's RESET: squares and cubes of the fitted values together."""
    z = (fit.fitted - fit.mean(fit.fitted)) / (np.ptp(fit.fitted) or 1.0)
    terms = np.sqrt(fit.weights)[:, None] * np.column_stack([z**2, z**3])
    added = _orthonormal_basis(_orthogonal_part(terms, basis), np.linalg.norm(terms, axis=0), DEPENDENT)
    after = _orthogonal_part(residuals[:, None], added)[:, 0]
    dof = fit.n - basis.shape[1] - added.shape[1]
    f, p_value = _f_test(float(residuals @ residuals), float(after @ after), added.shape[1], dof)
    return [_Term(name=FITTED, f=f, p_value=p_value)]


def _test_each(
    fit: _Fit, terms: np.ndarray, names: list[str], residuals: np.ndarray, basis: np.ndarray
) -> list[_Term]:
    """Return the F test of every term that is linearly independent of the columns."""
    terms = np.sqrt(fit.weights)[:, None] * terms
    added = _orthogonal_part(terms, basis)
    length = np.linalg.norm(added, axis=0)
    total, dof = float(residuals @ residuals), fit.n - basis.shape[1] - 1
    tests = []
    for j in np.flatnonzero(length > DEPENDENT * np.linalg.norm(terms, axis=0)):
        explained = float(residuals @ added[:, j] / length[j]) ** 2
        f, p_value = _f_test(total, total - explained, 1, dof)
        tests.append(_Term(name=names[j], f=f, p_value=p_value))
    return tests


def _products(x: np.ndarray, names: list[str]) -> Iterator[tuple[np.ndarray, list[str]]]:
    """Yield the products of each column with those after it."""
    for j in range(x.shape[1] - 1):
        yield (
            x[:, [j]] * x[:, j + 1 :],
            [f"the product of {names[j]} and {other}" for other in names[j + 1 :]],
        )


def _most_significant(kind: list[_Term], n_kinds: int) -> _Term:
    best = max(kind, key=lambda term: term.f)
    return replace(best, p_value=min(n_kinds * len(kind) * best.p_value, 1.0))


def _orthonormal_basis(x: np.ndarray, size: np.ndarray, tol: float) -> np.ndarray:
    """Return an orthonormal basis of columns, without directions that are rounding relative to a size."""
    u, s, _ = np.linalg.svd(x / np.where(size > 0.0, size, 1.0), full_matrices=False)
    return u[:, s > tol]


def _orthogonal_part(x: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return the part of columns that is orthogonal to a basis; projected twice against rounding."""
    for _ in range(2):
        x = x - basis @ (basis.T @ x)
    return x
