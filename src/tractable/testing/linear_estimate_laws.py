"""Laws of linear estimates: of every model that holds a `LinearEstimate`."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import to_numpy
from tractable.engines import LinearEstimate
from tractable.testing.assertions import check_laws, laws_above
from tractable.testing.estimator_laws import cloned, quiet

#: Rows and columns of the examples.
N_ROWS, N_COLUMNS = 90, 3


def standard_errors_are_roots_of_the_covariance(estimator: Any, rng: np.random.Generator) -> None:
    """Standard errors of intercept and coefficients are the roots of the diagonal of their covariance."""
    fit, _, _ = _fitted(estimator, rng)
    for t in range(len(fit.coef)):
        _same(np.sqrt(np.diagonal(_covariance(fit, t))), _errors(fit, t))


def the_covariance_is_symmetric_and_positive(estimator: Any, rng: np.random.Generator) -> None:
    """No combination of intercept and coefficients has a negative variance."""
    fit, _, _ = _fitted(estimator, rng)
    for t in range(len(fit.coef)):
        found = _covariance(fit, t)
        _same(found, found.T)
        size = np.sqrt(np.diagonal(found))
        assert np.linalg.eigvalsh(found / size / size[:, None])[0] > -1e-9, "a variance is negative"


def variances_of_rows_follow_from_the_covariance(estimator: Any, rng: np.random.Generator) -> None:
    """The variance of the linear predictor at a row x is (1, x)ᵀ V (1, x), near the rows and far away."""
    fit, _, X = _fitted(estimator, rng)
    for rows in (X, X + 5.0 * rng.standard_normal(X.shape), 0.0 * X[:1]):
        columns = np.column_stack([np.ones(len(rows)), rows])[:, int(not fit.has_intercept) :]
        for t in range(len(fit.coef)):
            expected = np.sum((columns @ _covariance(fit, t)) * columns, axis=1)
            _same(float(fit.scale[t]) * _leverage(fit, rows), expected, rtol=1e-6)


def predictive_variances_are_those_of_the_predictor_and_the_noise(
    estimator: Any, rng: np.random.Generator
) -> None:
    """With Gaussian noise, the squared scale of a new target is that of the linear predictor and σ²."""
    fit, model, X = _fitted(estimator, rng)
    if not hasattr(model, "predict_dist") or not hasattr(model, "noise_variance_"):
        return
    with quiet():
        both = [model.predict_dist(X[:9], include_noise=noise) for noise in (False, True)]
    if not all(hasattr(dist, "entropy") and np.shape(dist.mean)[:1] == (9,) for dist in both):
        return
    if getattr(model, "noise", "gaussian") != "gaussian":
        return  # the noise is no normal's
    squares = [np.asarray(getattr(dist, "scale", dist.stddev)) ** 2 for dist in both]
    expected = _leverage(fit, X[:9]) * float(fit.scale[0])
    _same(squares[0], expected, rtol=1e-8)
    _same(squares[1] - squares[0], np.full(9, float(fit.scale[0])), rtol=1e-6)


def the_hat_matrix_has_the_leverages(estimator: Any, rng: np.random.Generator) -> None:
    """The diagonal of the hat matrix are the leverages; over the rows of the fit they are its parameters."""
    fit, model, X = _fitted(estimator, rng)
    hat = to_numpy(fit.hat(X))
    _same(np.diagonal(hat if hat.ndim == 2 else hat[0]), _leverage(fit, X))
    if hasattr(model, "leverage"):
        dof = getattr(model, "effective_dof_", X.shape[1] + int(fit.has_intercept))
        _same(np.sum(model.leverage(X)), float(dof), rtol=1e-7)


def the_prediction_is_that_of_intercept_and_coefficients(estimator: Any, rng: np.random.Generator) -> None:
    """The linear predictor is intercept + xᵀ coef, with the numbers that users read."""
    fit, model, X = _fitted(estimator, rng)
    _same(fit.predict(X)[:, 0], np.ravel(model.intercept_)[0] + X @ np.ravel(model.coef_)[: X.shape[1]])
    _same(fit.predict(fit.centre[None, :])[0], fit.offset)


def a_covariance_about_the_centre_is_that_at_the_origin(estimator: Any, rng: np.random.Generator) -> None:
    """The covariance of offset and coefficients, carried to the origin, is that of the parameters."""
    fit, _, _ = _fitted(estimator, rng)
    root = fit.covariance_root
    if root.span is None:
        _same(fit.from_centre(fit.centred_covariance), fit.unit_covariance)


def what_rows_and_prior_leave_open_is_infinite(estimator: Any, rng: np.random.Generator) -> None:
    """Of a column that stands twice, the coefficients have infinite errors, or those of a prior."""
    X, y = _rows(estimator, rng)
    with quiet():
        single, double = (cloned(estimator).fit(each, y) for each in (X, np.column_stack([X, X[:, 0]])))
        once, twice = single._estimate, double._estimate  # noqa: SLF001
    errors = to_numpy(twice.coef_std_errors)[0]
    both = np.column_stack([X, X[:, 0]])
    assert np.all(np.isfinite(_leverage(twice, both))), "a row of the fit is not determined"
    apart = both[:1] + np.array([1.0] + [0.0] * N_COLUMNS)
    open_ = bool(np.isinf(errors[0]))
    assert open_ == bool(np.isinf(errors[-1])), "of two equal columns one is determined"
    assert np.all(np.isfinite(errors[1:-1])), "another coefficient is not determined"
    assert open_ == bool(np.isinf(_leverage(twice, apart)[0])), "row and coefficient disagree"
    first = int(twice.has_intercept)
    found = _covariance(twice, 0)
    if not open_:  # their difference has the variance of the prior, which is not zero
        difference = np.zeros(len(found))
        difference[[first, -1]] = 1.0, -1.0
        assert difference @ found @ difference > 1e-6 * errors[0] ** 2, "what no row tells is known"
        return
    _same(errors[1:-1], to_numpy(once.coef_std_errors)[0, 1:], rtol=1e-5)
    assert np.isnan(found[first, first + 1]), "an undetermined coefficient has a covariance"


LINEAR_ESTIMATE_LAWS = laws_above(globals())


def check_linear_estimate(estimator: Any, rng: Any = 0) -> None:
    """Run every law of linear estimates on a model that holds one.

    Examples
    --------
    >>> import tractable
    >>> check_linear_estimate(tractable.LinearRegression())
    """
    check_laws(LINEAR_ESTIMATE_LAWS, estimator, rng)


def _rows(estimator: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, and targets with noise: numbers, or counts and amounts."""
    X = rng.standard_normal((N_ROWS, N_COLUMNS)) @ np.triu(np.ones((N_COLUMNS, N_COLUMNS))) + 1.0
    predictor = X @ np.linspace(0.4, -0.3, N_COLUMNS)
    tags = estimator.__sklearn_tags__()
    if tags.estimator_type == "classifier":
        return X, (predictor + rng.logistic(size=N_ROWS) > np.median(predictor)).astype(int)
    if tags.target_tags.positive_only:
        return X, 1.0 + rng.poisson(np.exp(1.0 + 0.5 * predictor) * rng.gamma(2.0, 0.5, N_ROWS))
    return X, 3.0 + predictor + rng.standard_normal(N_ROWS)


def _fitted(estimator: Any, rng: np.random.Generator) -> tuple[LinearEstimate, Any, np.ndarray]:
    """Return the estimate of the fitted model, the model, and its rows."""
    X, y = _rows(estimator, rng)
    with quiet():
        model = cloned(estimator).fit(X, y)
        return model._estimate, model, X  # noqa: SLF001


def _leverage(fit: LinearEstimate, rows: np.ndarray) -> np.ndarray:
    """Return the unit variances of the first linear predictor at rows, (n,)."""
    found = to_numpy(fit.leverage(rows))
    return found if found.ndim == 1 else found[0]


def _covariance(fit: LinearEstimate, target: int) -> np.ndarray:
    return to_numpy(fit.covariance(target))


def _errors(fit: LinearEstimate, target: int) -> np.ndarray:
    first = to_numpy(fit.intercept_std_errors)[target : target + int(fit.has_intercept)]
    return np.append(first, to_numpy(fit.coef_std_errors)[target])


def _same(found: Any, expected: Any, rtol: float = 1e-9) -> None:
    expected = np.asarray(expected, dtype=np.float64)
    size = float(np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(np.asarray(found, dtype=np.float64), expected, rtol=rtol, atol=rtol * size)
