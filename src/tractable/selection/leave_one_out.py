"""Leave-one-out predictions: in closed form where a model has one, else by fits without each row."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing

from tractable.arrays.namespace import freeze, to_numpy
from tractable.density import GaussianDensity, KernelDensity
from tractable.distributions import StudentT
from tractable.gaussian_process import GaussianProcessRegressor
from tractable.linear_model import LinearRegression, Ridge
from tractable.selection.scores import log_scores
from tractable.value import replace, set_fields, value


@value
class LeftOut:
    """Predictions of every row by a model that was fitted without it.

    Parameters
    ----------
    method : {"closed form", "refits"}
        How they were found.
    log_density : array (n,), or None
        The log predictive density of each row; None where a closed form has predictions alone.
    prediction : array (n,), or None
        The predicted target of a regression, or class.
    """

    method: str
    log_density: np.ndarray | None = None
    prediction: np.ndarray | None = None

    def __post_init__(self) -> None:
        arrays = {k: getattr(self, k) for k in ("log_density", "prediction")}
        set_fields(self, **{k: freeze(x) for k, x in arrays.items() if x is not None})

    @property
    def log_score(self) -> float:
        """Mean log predictive density; NaN where there is none."""
        return float("nan") if self.log_density is None else float(np.mean(self.log_density))


def leave_one_out(estimator: Any, X: Any, y: Any = None, *, method: str = "auto") -> LeftOut:
    """Predict every row by the model fitted to all others.

    `LinearRegression`, `Ridge` (predictions), `GaussianProcessRegressor` and `KernelDensity` (both with the
    hyper-parameters of the fit to all rows) and `GaussianDensity` have closed forms, at the cost of one fit;
    other models are fitted n times.

    Parameters
    ----------
    estimator : estimator
        Fitted or not; it is not changed.
    X : array or frame (n, d)
        Rows.
    y : array (n,), optional
        Targets or classes.
    method : {"auto", "closed form", "refits"}
        "auto" takes the closed form where there is one.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2))
    >>> y = X @ [1.0, 2.0] + rng.normal(size=40)
    >>> quick = leave_one_out(tractable.LinearRegression(), X, y)
    >>> slow = leave_one_out(tractable.LinearRegression(), X, y, method="refits")
    >>> quick.method, bool(np.allclose(quick.log_density, slow.log_density))
    ('closed form', True)
    """
    if method not in ("auto", "closed form", "refits"):
        raise ValueError(f"method must be 'auto', 'closed form' or 'refits', got {method!r}")
    n = len(X)
    if n < 2:
        raise ValueError(f"X must have at least two rows, got {n}")
    if method != "refits":
        model = clone(estimator)
        fitted = model.fit(X) if y is None else model.fit(X, y)
        found = closed_form(fitted, X, y)
        if found is not None:
            return found
        if method == "closed form":
            raise ValueError(
                f"{type(estimator).__name__} has no closed form for leave-one-out: use method='refits'"
            )
    return _refits(estimator, X, y, n)


def closed_form(fitted: Any, X: Any, y: Any, *, density: bool = False) -> LeftOut | None:
    """Return the leave-one-out predictions of a fit to these rows, or None where there is no closed form.

    With `density` only forms that have the log density of rows count, not those of predictions alone.
    """
    form = _FORMS.get(type(fitted))
    return None if form is None or (density and form is _of_ridge) else form(fitted, X, y)


def _of_linear_regression(model: Any, X: Any, y: Any) -> LeftOut | None:
    """ŷ₋ᵢ = y - e / (1 - h), with the noise variance that is left without the row, and one degree less."""
    y = np.asarray(y, dtype=np.float64)
    h = np.asarray(to_numpy(model.leverage(X)))
    dof = float(model.residual_dof_) - 1.0
    if y.ndim != 1 or not dof > 0 or not np.all(1.0 - h > 1e-10):
        return None  # a row alone determines a coefficient
    e = y - np.asarray(to_numpy(model.predict(X)))
    rss = float(model.noise_variance_) * float(model.residual_dof_) - e**2 / (1.0 - h)
    if not np.all(rss > 0):
        return None
    d = StudentT(dof=dof, location=y - e / (1.0 - h), scale=np.sqrt(rss / dof / (1.0 - h)))
    return LeftOut(method="closed form", log_density=d.log_prob(y), prediction=np.asarray(d.location))


def _of_ridge(model: Any, X: Any, y: Any) -> LeftOut | None:
    y = np.asarray(y, dtype=np.float64)
    h = np.asarray(to_numpy(model.leverage(X)))
    if y.ndim != 1 or not np.all(1.0 - h > 1e-10):
        return None
    e = y - np.asarray(to_numpy(model.predict(X)))
    return LeftOut(method="closed form", prediction=y - e / (1.0 - h))


def _of_gaussian_process(model: Any, _: Any, y: Any) -> LeftOut | None:
    try:
        d = model.leave_one_out()
    except ValueError:
        return None
    if np.ndim(y) != 1:
        return None
    return LeftOut(
        method="closed form", log_density=to_numpy(d.log_prob(np.asarray(y))), prediction=to_numpy(d.mean)
    )


def _of_gaussian_density(model: Any, X: Any, _: Any) -> LeftOut | None:
    """Rank-one downdates of the scatter: with q = dᵀ S⁻¹ d, |S₋ᵢ| = |S| (1 - n q / (n - 1))."""
    rows = np.asarray(X, dtype=np.float64)
    n, d = rows.shape
    left = n - 1.0 - float(model.ddof)
    if (
        model.covariance_type != "full"
        or not left > 0
        or np.isnan(rows).any()
        or np.any(getattr(model, "jitter_", 0.0))
    ):
        return None
    fitted = model.distribution_
    q = np.asarray(fitted.mahalanobis(rows, squared=True)) / (n - float(model.ddof))
    free = 1.0 - n / (n - 1.0) * q
    if not np.all(free > 1e-10):
        return None
    log_det = np.linalg.slogdet(fitted.covariance)[1] + d * np.log((n - model.ddof) / left) + np.log(free)
    distance = (n / (n - 1.0)) ** 2 * left * q / free
    return LeftOut(method="closed form", log_density=-0.5 * (distance + log_det + d * np.log(2.0 * np.pi)))


def _of_kernel_density(model: Any, X: Any, _: Any) -> LeftOut | None:
    """p₋ᵢ(x) = (n p(x) - K(0)) / (n - 1), where the kernel is the same everywhere."""
    fitted = model.distribution_
    rows = np.asarray(X, dtype=np.float64)
    n = len(rows)
    if fitted.bounds is not None or fitted.period is not None or len(fitted.points) != n:
        return None
    own = replace(fitted, points=np.asarray(fitted.points)[:1], weights=None)
    log_own = float(np.ravel(own.log_prob(np.asarray(own.points)))[0])
    log_all = np.asarray(model.score_samples(X)) + np.log(n)
    with np.errstate(divide="ignore"):
        # A row alone has nothing but its own kernel, up to rounding.
        rest = -np.expm1(np.minimum(log_own - log_all, 0.0))
        return LeftOut(
            method="closed form",
            log_density=np.where(
                rest > 1e-12, log_all + np.log(np.maximum(rest, 1e-300)) - np.log(n - 1.0), -np.inf
            ),
        )


_FORMS: dict[type, Callable[[Any, Any, Any], LeftOut | None]] = {
    LinearRegression: _of_linear_regression,
    Ridge: _of_ridge,
    GaussianProcessRegressor: _of_gaussian_process,
    GaussianDensity: _of_gaussian_density,
    KernelDensity: _of_kernel_density,
}


def _refits(estimator: Any, X: Any, y: Any, n: int) -> LeftOut:
    densities, predictions = np.full(n, np.nan), []
    scored = True
    for i in range(n):
        train = np.delete(np.arange(n), i)
        model = clone(estimator)
        rows, row = _safe_indexing(X, train), _safe_indexing(X, [i])
        target = None if y is None else _safe_indexing(y, [i])
        model = model.fit(rows) if y is None else model.fit(rows, _safe_indexing(y, train))
        if is_classifier(model) or is_regressor(model):
            predictions.append(np.asarray(model.predict(row))[0])
        try:
            densities[i] = log_scores(model, row, target)[0]
        except ValueError:
            if not predictions:
                raise
            scored = False
    return LeftOut(
        method="refits",
        log_density=densities if scored else None,
        prediction=np.array(predictions) if predictions else None,
    )
