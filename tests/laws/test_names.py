"""One name, one meaning: fitted attributes, `score` and docstrings of every estimator of the catalogue."""

import inspect

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor

from catalogue import ESTIMATORS, some_of_each_family
from docstring_sections import names
from tractable.base import Estimator
from tractable.testing.estimator_laws import example, learn

ROWS = [row for row in ESTIMATORS if not row.name.startswith("toy-")]
CLASSES = sorted({type(row.make()) for row in ROWS}, key=lambda cls: cls.__name__)

#: Set by the check of the rows, alike on every estimator: documented once, in the guide.
COMMON = {"n_features_in_", "feature_names_in_", "n_features_out_"}

#: What a search works with is no result of a fit.
SEARCH_STATE = {
    *(
        "params_",
        "units_",
        "model_",
        "problem_",
        "belief_",
        "plane_",
        "planes_",
        "sums_",
        "unit_",
        "descent_",
    ),
    *("scaling_", "layout_", "fitted_columns_", "places_", "root_", "contrasts_", "survey_", "solution_"),
}

#: Names that another name replaced, and that one.
REPLACED = {
    "sigma2_": "noise_variance_",
    "noise_dof_": "residual_dof_",
    "lower_bounds_": "objective_trace_",
    "intercept_std_errors_": "intercept_std_error_",
}

#: Names of the estimator of scikit-learn that it stands for, beside ours.
OF_SCIKIT_LEARN = {"GaussianMixture": {"lower_bounds_"}, "BayesianGaussianMixture": {"lower_bounds_"}}


def learned(fitted):
    """Public fitted attributes: those in the instance, and properties and constants that have a value."""
    found = {name for name in dir(fitted) if name.endswith("_") and not name.startswith("_")}
    return {name for name in found if hasattr(fitted, name)} - COMMON


def none_of(found):
    assert not found, ", ".join(sorted(found))


@pytest.fixture(scope="module")
def fits():
    """Every row of the catalogue fitted to an example, with the example."""
    return {}


@pytest.fixture(params=some_of_each_family(ROWS))
def fit(request, fits):
    row = request.param
    if row.name not in fits:
        estimator = row.make()
        X, y = example(estimator, np.random.default_rng(7))
        fits[row.name] = learn(estimator, X, y), X, y
    return fits[row.name]


def own_bases(cls):
    """Bases that are this library's, `Estimator` apart, which all share."""
    return [base for base in cls.__mro__[1:] if base.__module__.startswith("tractable.")][:-1]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_an_estimator_has_few_bases(cls):
    """What an estimator does is found in its own file and few others."""
    assert issubclass(cls, Estimator)
    assert len(own_bases(cls)) <= 4, [base.__name__ for base in own_bases(cls)]


def test_a_base_has_several_descendants():
    """A base of one class alone is a class in two pieces."""
    for base in {base for cls in CLASSES for base in own_bases(cls)}:
        assert len([cls for cls in CLASSES if base in cls.__mro__ and cls is not base]) > 1 or base in CLASSES


def test_every_fitted_attribute_is_documented(fit):
    none_of(learned(fit[0]) - names(inspect.getdoc(fit[0]), "Attributes"))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_documented_attribute_is_there(cls, fits):
    found = set()
    for row in ROWS:
        if isinstance(estimator := row.make(), cls):
            X, y = example(estimator, np.random.default_rng(7))
            found |= learned(fitted := learn(estimator, X, y))
            if names(inspect.getdoc(cls), "Attributes") - COMMON <= found:
                break
            if hasattr(fitted, "partial_fit"):
                found |= learned(fitted.partial_fit(X) if y is None else fitted.partial_fit(X, y))
    none_of(names(inspect.getdoc(cls), "Attributes") - found - COMMON)


def kind_of(x):
    """What a fitted attribute holds: numbers, whole ones, truth values, text, a mapping, or a value."""
    if isinstance(x, (list, tuple)):
        return kind_of(x[0]) if len(x) else None
    if isinstance(x, (bool, str, dict)) or x is None:
        return None if x is None else type(x).__name__
    if np.ndim(x) or isinstance(x, (int, float, np.number)):
        kind = getattr(x, "dtype", np.asarray(x).dtype).kind
        return {"i": "whole numbers", "f": "numbers", "b": "bool"}.get(kind, kind)
    return "value"


def test_an_attribute_holds_the_same_kind_of_thing_on_every_estimator(fits):
    """Indices are no rows, a mapping no list; a label may be a word or a number."""
    kinds = {}
    for row in ROWS:
        if row.name not in fits:
            X, y = example(estimator := row.make(), np.random.default_rng(7))
            fits[row.name] = learn(estimator, X, y), X, y
        for name in learned(fits[row.name][0]) - {"classes_"}:
            kinds.setdefault(name, {}).setdefault(kind_of(getattr(fits[row.name][0], name)), row.name)
    assert not {name: found for name, found in kinds.items() if len(found.keys() - {None}) > 1}


def test_search_state_is_private(fit):
    none_of(learned(fit[0]) & SEARCH_STATE)


def test_replaced_names_are_gone(fit):
    none_of(learned(fit[0]) & (REPLACED.keys() - OF_SCIKIT_LEARN.get(type(fit[0]).__name__, set())))
    if hasattr(fit[0], "dof_"):  # of a Student's t, never of residuals
        assert type(fit[0]).__name__ in {"RobustRegression", "StudentTMixture"}


def test_scores_take_weights(fit):
    """Integer weights of `score` equal repeated rows."""
    fitted, X, y = fit
    if not hasattr(fitted, "score"):
        return
    assert "sample_weight" in inspect.signature(fitted.score).parameters, "score has no sample_weight"
    times = np.random.default_rng(3).integers(0, 4, len(X))
    repeated = np.repeat(X, times, axis=0), None if y is None else np.repeat(y, times)
    np.testing.assert_allclose(fitted.score(X, y, sample_weight=times), fitted.score(*repeated), rtol=1e-9)
    ones = fitted.score(X, y, sample_weight=np.ones(len(X)))
    np.testing.assert_allclose(ones, fitted.score(X, y), rtol=1e-9)


def test_noise_variance_is_that_of_targets_about_their_mean(fit):
    """`noise_variance_` estimates Var(y | x): a number, one a target or one a component.

    Of a subspace it is the variance of x about it, a number or one a column.
    """
    fitted, X, y = fit
    if not hasattr(fitted, "noise_variance_"):
        return
    if hasattr(fitted, "components_"):
        found = np.asarray(fitted.noise_variance_)
        assert found.shape in {(), X.shape[1:]}
        np.testing.assert_allclose(learn(fitted, 8.0 * X, y).noise_variance_, 64.0 * found, rtol=1e-6)
        return
    assert is_regressor(fitted)
    found = np.asarray(fitted.noise_variance_)
    assert found.dtype == np.float64
    assert found.shape in {(), np.shape(getattr(fitted, "intercept_", 0.0))}
    assert np.all(found > 0.0)
    scaled = learn(fitted, X, 8.0 * y)
    given = type(fitted).__name__ == "BayesianLinearRegression" or hasattr(fitted, "alpha")
    given = given or any(getattr(fitted, name, None) is not None for name in ("kernel", "noise_variance"))
    if getattr(fitted, "converged_", True) and not given:  # priors, penalties and kernels have units
        again = np.sort(np.atleast_1d(scaled.noise_variance_))
        np.testing.assert_allclose(again, 64.0 * np.sort(np.atleast_1d(found)), rtol=1e-3)
    if type(fitted).__name__ in {"LinearRegression", "Ridge", "RidgeCV"}:
        rss = np.sum((y - fitted.predict(X)) ** 2)
        np.testing.assert_allclose(found, rss / fitted.residual_dof_, rtol=1e-6)


def test_residual_degrees_of_freedom_are_rows_less_parameters(fit):
    """`residual_dof_` is n less the (effective) number of coefficients, n the total weight."""
    fitted, X, y = fit
    if not hasattr(fitted, "residual_dof_"):
        return
    dof = fitted.residual_dof_
    assert isinstance(dof, float)
    assert 0.0 < dof <= len(X)
    twice = learn(fitted, X, y, sample_weight=np.full(len(X), 2.0)).residual_dof_
    np.testing.assert_allclose(twice - dof, len(X), atol=X.shape[1] + 1.0)
    if hasattr(fitted, "effective_dof_"):
        np.testing.assert_allclose(dof, len(X) - fitted.effective_dof_, rtol=1e-9)


def test_objective_traces_rise_to_the_fit(fit):
    """`objective_trace_` is what is maximised, an array of one entry an iteration, and never falls."""
    fitted, _, _ = fit
    if not hasattr(fitted, "objective_trace_"):
        return
    trace = fitted.objective_trace_
    assert isinstance(trace, np.ndarray)
    assert trace.ndim == 1
    assert np.all(np.isfinite(trace))
    assert np.all(np.diff(trace) >= -1e-9 * (1.0 + np.abs(trace[:-1])))
    if hasattr(fitted, "lower_bound_"):
        np.testing.assert_allclose(trace[-1], fitted.lower_bound_, rtol=1e-9)


def test_standard_errors_have_the_shape_of_what_they_are_of(fit):
    fitted, _, _ = fit
    for name, of in (("coef_std_errors_", "coef_"), ("intercept_std_error_", "intercept_")):
        if hasattr(fitted, name):
            found = np.asarray(getattr(fitted, name))
            assert found.shape == np.shape(getattr(fitted, of)), name
            assert not np.any(found < 0.0), name  # NaN of coefficients that a penalty holds at zero
    assert not hasattr(fitted, "coef_std_error_")
    both = [hasattr(fitted, name) for name in ("coef_std_errors_", "intercept_std_error_")]
    assert both[0] == both[1], "standard errors of coefficients and of the intercept go together"


def test_log_evidence_is_one_number(fit):
    """`log_evidence_` is log p(data) with the parameters integrated out; a bound is `lower_bound_`."""
    fitted, _, _ = fit
    if hasattr(fitted, "log_evidence_"):
        assert isinstance(fitted.log_evidence_, float)
        assert np.isfinite(fitted.log_evidence_)
        assert not hasattr(fitted, "lower_bound_")


def test_covariance_is_of_data(fit):
    """`covariance_` is of the columns of X, (d, d) or one a class; that of coefficients has another name."""
    fitted, X, y = fit
    for name in ("covariance_", "covariances_"):
        if hasattr(fitted, name):
            assert not is_regressor(fitted), name
            assert hasattr(fitted, "distribution_") or hasattr(fitted, "class_distributions_"), name
    if hasattr(fitted, "covariances_"):  # of components or classes, not of windows
        assert hasattr(fitted, "weights_") or hasattr(fitted, "classes_")
    if hasattr(fitted, "covariance_"):
        found = np.asarray(fitted.covariance_)
        assert found.shape[-2:] in {(X.shape[1], X.shape[1]), (X.shape[1],)} or found.ndim == 0
        scaled = np.asarray(learn(fitted, 8.0 * X, y).covariance_)
        np.testing.assert_allclose(scaled, 64.0 * found, rtol=1e-6)


def test_classifiers_and_densities_answer_by_the_same_names(fit):
    """What a model can say, it says under the name that all use."""
    fitted, X, _ = fit
    if hasattr(fitted, "distribution_") and not is_classifier(fitted):
        for name in ("score_samples", "score", "sample", "outlier_scores"):
            assert hasattr(fitted, name), name
        assert len(fitted.outlier_scores(X)) == len(X)
    if is_regressor(fitted) or is_classifier(fitted):  # or the docstring says why not
        said = hasattr(fitted, "predict_dist") or "predict_dist" in inspect.getdoc(fitted)
        assert said, "neither predict_dist nor a reason"
    if hasattr(fitted, "predict_dist") and is_regressor(fitted):
        for name in ("predict_interval", "predict_quantiles", "predict_var"):
            assert hasattr(fitted, name), name
