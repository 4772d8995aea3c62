"""Targets, labels and weights of the wrong kind: one ValueError that names the argument."""

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tractable

X = np.random.default_rng(0).normal(size=(12, 2))
NUMBERS, LABELS = X[:, 0] + 0.1 * X[:, 1], (X[:, 0] > 0).astype(int)
REGRESSORS = [
    tractable.LinearRegression,
    tractable.Ridge,
    tractable.Lasso,
    tractable.RobustRegression,
    tractable.BayesianLinearRegression,
    tractable.KNeighborsRegressor,
    tractable.LeastMeanSquares,
]
CLASSIFIERS = [
    tractable.GaussianNB,
    tractable.LinearDiscriminant,
    tractable.LogisticRegression,
    tractable.KNeighborsClassifier,
    tractable.Perceptron,
    tractable.LeastSquaresClassifier,
]
DENSITIES = [
    tractable.GaussianDensity,
    tractable.KernelDensity,
    tractable.Histogram,
    tractable.GaussianMixture,
]
SUPERVISED = [(model, NUMBERS) for model in REGRESSORS] + [(model, LABELS) for model in CLASSIFIERS]
EVERY = [*SUPERVISED, *((model, None) for model in DENSITIES)]


def masked(x):
    return np.ma.masked_array(x, np.arange(len(x)) == 3)


def collection(x):
    return da.from_array(x)


@pytest.mark.parametrize(("model", "y"), SUPERVISED)
def test_a_mask_on_targets_or_labels_is_refused(model, y):
    with pytest.raises(ValueError, match=r"^y .*masked"):
        model().fit(X, masked(y))
    plain, open_mask = (model().fit(X, given).predict(X) for given in (y, np.ma.masked_array(y)))
    np.testing.assert_allclose(open_mask, plain, rtol=1e-10)


@pytest.mark.parametrize("model", REGRESSORS)
@pytest.mark.parametrize("kind", ["M8[D]", "m8[s]", "complex"])
def test_dates_durations_and_complex_numbers_are_no_targets(model, kind):
    y = np.arange(12).astype(kind)
    for given in (y, list(y)):
        with pytest.raises(ValueError, match=r"^y .*real numbers"):
            model().fit(X, given)
    if kind != "complex":
        y[2] = "NaT"
        with pytest.raises(ValueError, match=r"^y "):
            model().fit(X, y)


@pytest.mark.parametrize(("model", "y"), EVERY)
@pytest.mark.parametrize(
    "weights", [masked(np.ones(12)), np.ones(12) + 1j, np.ones(12).astype("m8[s]"), collection(np.ones(12))]
)
def test_weights_of_another_kind_are_refused(model, y, weights):
    with pytest.raises(ValueError, match="sample_weight"):
        model().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(("model", "y"), SUPERVISED)
def test_collections_of_dask_beside_rows_in_memory_are_refused(model, y):
    with pytest.raises(ValueError, match=r"y .*Dask.*y\.compute"):
        model().fit(X, collection(y))


KINDS = {
    "dates": np.arange(12).astype("M8[ns]"),
    "missing dates": np.where(np.arange(12) == 2, np.datetime64("NaT", "ns"), np.arange(12).astype("M8[ns]")),
    "durations": np.arange(12).astype("m8[ns]"),
    "complex": NUMBERS + 1j,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", [*REGRESSORS, tractable.BayesianRidge, tractable.MixtureOfRegressors])
def test_targets_of_another_kind_are_refused_however_rows_are_given(model, kind):
    """As a column of a frame and in batches too: a model of dates as numbers is learned from nothing."""
    y = KINDS[kind]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    with pytest.raises(ValueError, match=r"\by\b"):
        model().fit(frame, "y")
    with pytest.raises(ValueError, match=r"\by\b|X must be"):
        model().fit([(X[:6], y[:6]), (X[6:], y[6:])])
    if kind != "complex":  # which tables of Arrow do not have
        with pytest.raises(ValueError, match=r"\by\b"):
            model().fit(pa.Table.from_pandas(frame), "y")


@pytest.mark.parametrize(("model", "y"), SUPERVISED)
def test_scores_refuse_what_fits_refuse(model, y):
    fitted = model().fit(X, y)
    with pytest.raises(ValueError, match=r"y .*masked"):
        fitted.score(X, masked(y))
    for weights in (masked(np.ones(12)), np.ones(12) + 1j, np.ones(12).astype("m8[s]")):
        with pytest.raises(ValueError, match="sample_weight"):
            fitted.score(X, y, weights)
    if model in REGRESSORS:
        for other in KINDS.values():
            with pytest.raises(ValueError, match=r"y .*real numbers"):
                fitted.score(X, other)
            with pytest.raises(ValueError, match=r"\by\b"):
                fitted.score([(X[:6], other[:6]), (X[6:], other[6:])])


def test_diagnoses_and_metrics_refuse_masks():
    fitted = tractable.LinearRegression().fit(X, NUMBERS)
    with pytest.raises(ValueError, match=r"y .*masked"):
        tractable.diagnose(fitted, X, masked(NUMBERS))
    with pytest.raises(ValueError, match="sample_weight"):
        tractable.diagnose(fitted, X, NUMBERS, sample_weight=masked(np.ones(12)))
    for metric in (tractable.metrics.r2_score, tractable.metrics.mean_absolute_error):
        with pytest.raises(ValueError, match=r"y_true .*masked"):
            metric(masked(NUMBERS), NUMBERS)
        with pytest.raises(ValueError, match=r"y_pred .*masked"):
            metric(NUMBERS, masked(NUMBERS))
        with pytest.raises(ValueError, match="sample_weight"):
            metric(NUMBERS, NUMBERS, sample_weight=masked(np.ones(12)))
    for metric in (tractable.metrics.accuracy_score, tractable.metrics.confusion_matrix):
        with pytest.raises(ValueError, match="masked"):
            metric(masked(LABELS), LABELS)
