"""Pipelines are drawn over the columns that they were given, whatever their steps make of them."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

mpl.use("Agg")
from matplotlib import pyplot as plt

import tractable
from quick import some
from tractable.testing.picture_laws import check_picture

GEYSER = tractable.datasets.load("old_faithful").frame
PENGUINS = tractable.datasets.load("penguins").frame.dropna()
X, Y = GEYSER[["eruptions"]], GEYSER["waiting"]
BILLS, SPECIES = PENGUINS[["bill_length_mm", "bill_depth_mm"]], PENGUINS["species"]


def smooth():
    return make_pipeline(tractable.SplineBasis(6), tractable.LinearRegression()).fit(X, Y)


def scaled(last):
    return make_pipeline(StandardScaler(), last).fit(BILLS, SPECIES)


def line_called(ax, label):
    return next(line for line in ax.lines if line.get_label() == label)


def test_a_curve_with_its_bands():
    model = smooth()
    ax = tractable.plot(model, X=X, y=Y)
    curve = line_called(ax, "prediction").get_xydata()
    at = np.asarray(curve[:, :1])
    np.testing.assert_allclose(curve[:, 1], model.predict(type(X)(at, columns=X.columns)))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("eruptions", "waiting")
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "90%, new targets" in told
    assert "90%, the function" in told
    low, high = model[-1].predict_interval(model[:-1].transform(type(X)(at, columns=X.columns)), 0.9).T
    band = ax.collections[1].get_paths()[0].vertices
    np.testing.assert_allclose([band[:, 1].min(), band[:, 1].max()], [low.min(), high.max()])


def test_targets_by_name():
    ax = tractable.plot(smooth(), data=GEYSER, y="waiting")
    assert ax.get_ylabel() == "waiting"


@pytest.mark.parametrize(
    "last",
    [tractable.LogisticRegression(), tractable.KNeighborsClassifier(3)],
    ids=lambda m: type(m).__name__,
)
def test_regions_of_classes_over_the_raw_columns(last):
    model = scaled(last)
    ax = tractable.plot(model, data=BILLS, y=SPECIES, n_cells=40)
    assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(BILLS.columns)
    low, high = ax.get_xlim()
    assert low < BILLS.iloc[:, 0].min() < BILLS.iloc[:, 0].max() < high
    sides = [np.linspace(*ends, 40) for ends in (ax.get_xlim(), ax.get_ylim())]
    grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    winner = np.argmax(model.predict_proba(type(BILLS)(grid, columns=BILLS.columns)), axis=1)
    image = np.asarray(ax.images[0].get_array()).reshape(-1, 4)
    assert len(np.unique(image[:, :3], axis=0)) == len(np.unique(winner)) == 3


def test_coefficients_where_there_are_no_rows():
    model = scaled(tractable.LogisticRegression())
    names = [tick.get_text() for tick in tractable.plot(model).get_yticklabels()]
    assert names == list(BILLS.columns)
    names = [tick.get_text() for tick in tractable.plot(smooth()).get_yticklabels()]
    assert names == list(smooth()[:-1].get_feature_names_out())


def test_densities_hold_the_shares_of_rows_that_they_say():
    model = make_pipeline(StandardScaler(), tractable.GaussianMixture(2, random_state=0)).fit(GEYSER)
    ax = tractable.plot(model, data=GEYSER, coverage=0.5)
    assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(GEYSER.columns)
    heights = model.score_samples(GEYSER)
    outline = np.concatenate([path.vertices for path in ax.collections[1].get_paths()])
    at_edge = model.score_samples(type(GEYSER)(outline, columns=GEYSER.columns))
    np.testing.assert_allclose(at_edge, np.median(heights), atol=0.1)


def test_one_step_is_that_step():
    ax = tractable.plot(Pipeline([("line", tractable.LinearRegression())]).fit(X, Y), X=X, y=Y)
    np.testing.assert_array_equal(
        line_called(ax, "prediction").get_xydata(),
        line_called(
            tractable.plot(tractable.LinearRegression().fit(X, Y), X=X, y=Y), "prediction"
        ).get_xydata(),
    )


def test_refusals():
    with pytest.raises(NotFittedError):
        tractable.plot(make_pipeline(tractable.SplineBasis(6), tractable.LinearRegression()))
    with pytest.raises(ValueError, match="x must end in a regressor, a classifier or a density, got KMeans"):
        tractable.plot(make_pipeline(StandardScaler(), tractable.KMeans(2, random_state=0)).fit(GEYSER))
    density = make_pipeline(StandardScaler(), tractable.GaussianDensity()).fit(GEYSER)
    with pytest.raises(ValueError, match="data must be given"):
        tractable.plot(density)
    with pytest.raises(TypeError, match="this picture takes ax, data, X, y, coverage, grid"):
        tractable.plot(smooth(), X=X, colour="red")
    assert not plt.get_fignums()


@pytest.mark.parametrize("rows", some(["frame", "array"]))
def test_every_law_of_pictures(rows):
    at, told = (X, Y) if rows == "frame" else (X.to_numpy(), Y.to_numpy())
    check_picture(smooth().fit(at, told), X=at, y=told)
    model = make_pipeline(StandardScaler(), tractable.LogisticRegression())
    columns = BILLS if rows == "frame" else BILLS.to_numpy()
    check_picture(model.fit(columns, SPECIES), data=columns, y=SPECIES, n_cells=20)
