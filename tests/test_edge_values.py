"""Values, weights and parameters at the edges of what is allowed: an answer, or one clear ValueError."""

import warnings

import array_api_strict
import numpy as np
import pytest
from sklearn.mixture import GaussianMixture as PeerMixture
from sklearn.utils.validation import has_fit_parameter

import tractable
from catalogue import ESTIMATORS, some_of_each_family
from tractable.linear_model import FunctionBasis
from tractable.testing.estimator_laws import cloned, example, predictions

ROWS = [row for row in ESTIMATORS if not row.name.startswith("toy-")]


@pytest.mark.parametrize("row", some_of_each_family(ROWS))
def test_values_and_weights_beyond_1e300(row, rng):
    """No NaN, no warning of overflow, and no other error than a ValueError."""
    X, y = example(row.make(), rng)
    targets = y is not None and np.asarray(y).dtype.kind == "f"
    tables = [(1e301 * X, y, None), (X, y, np.full(len(X), 1e301)), (X, 1e301 * y if targets else y, None)]
    if not has_fit_parameter(row.make(), "sample_weight"):
        del tables[1]
    for rows, t, w in tables:
        model = cloned(row.make())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("error", RuntimeWarning)
            try:
                model.fit(rows, t) if w is None else model.fit(rows, t, sample_weight=w)
                found = predictions(model, rows)
            except ValueError:
                continue
        assert not np.any(np.isnan(found))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (tractable.KMeans(2, init=None), "init"),
        (tractable.KMeans(2, init=7), "init"),
        (FunctionBasis(functions=2), "functions"),
        (FunctionBasis(functions=[2]), "functions"),
    ],
)
def test_parameters_of_the_wrong_kind_are_value_errors(model, name, rng):
    with pytest.raises(ValueError, match=name):
        model.fit(rng.standard_normal((9, 2)))


@pytest.mark.parametrize("shape", ["full", "tied", "diag", "spherical"])
def test_reg_covar_is_added_to_the_variances(shape, rng):
    """As in scikit-learn: the covariance of one component is that of the rows, plus it on the diagonal."""
    X, added = rng.standard_normal((60, 2)), 0.3
    options = {"covariance_type": shape, "reg_covar": added, "random_state": 0}
    ours = tractable.GaussianMixture(1, **options).fit(X)
    peer = PeerMixture(1, **options).fit(X)
    np.testing.assert_allclose(ours.score_samples(X), peer.score_samples(X), rtol=1e-10)
    plain = tractable.GaussianMixture(1, covariance_type=shape, reg_covar=0.0).fit(X)
    gap = ours.distribution_.covariance - plain.distribution_.covariance
    np.testing.assert_allclose(gap, added * np.eye(2), atol=1e-12)


@pytest.mark.parametrize("kind", [tractable.LinearDiscriminant, tractable.QuadraticDiscriminant])
@pytest.mark.parametrize("options", [{}, {"shrinkage": "auto"}, {"estimate": "bayes"}])
def test_tags_say_where_missing_values_are_taken(kind, options, rng):
    X, y = rng.standard_normal((40, 3)), np.arange(40) % 2
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    model, tags = kind(**options).fit(X, y), tractable.tags(kind(**options))
    assert tags.missing_in_predictions or tags.missing_values
    assert np.all(np.isfinite(model.predict_proba(holes)))
    if tags.missing_values:
        kind(**options).fit(holes, y)
    else:
        with pytest.raises(ValueError, match="X contains NaN"):
            kind(**options).fit(holes, y)


@pytest.mark.parametrize("model", [tractable.Lasso(0.1), tractable.ElasticNet(0.1)])
def test_sparse_planes_answer_arrays_of_any_library(model, rng):
    X = rng.standard_normal((30, 3))
    strict, y = array_api_strict.asarray(X), array_api_strict.asarray(X @ [1.0, 0.0, -2.0])
    found = np.asarray(model.fit(strict, y).predict(strict))
    np.testing.assert_allclose(found, X @ np.asarray(model.coef_) + float(model.intercept_), rtol=1e-10)


def test_cost_does_not_grow_with_the_weights(rng):
    """Fits that repeated rows would not end; weights that are all the same change no answer."""
    X, y = rng.standard_normal((60, 2)), np.arange(60) % 2
    one, many = (tractable.KMeans(3, batch_size=10, random_state=0) for _ in range(2))
    one.fit(X)
    many.fit(X, sample_weight=np.full(60, 1e6))
    assert many.inertia_ == pytest.approx(1e6 * one.inertia_, rel=0.5)
    heavy = tractable.KNeighborsClassifier("loo").fit(X, y, np.full(60, 1e9))
    assert np.all(np.isfinite(heavy.predict_proba(X)))
