"""Pictures of classifiers: what they colour is what the classifier says."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

mpl.use("Agg")
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression as Regression
from sklearn.naive_bayes import GaussianNB as Peer

import tractable
from tractable import (
    BayesClassifier,
    BayesianLogisticRegression,
    LinearDiscriminantFunction,
    Normal,
    Perceptron,
)
from tractable.plotting.style import COLOURS


@pytest.fixture
def rows(rng):
    y = rng.integers(0, 3, 90)
    return np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])[y] + rng.normal(size=(90, 2)), np.array(
        list("abc")
    )[y]


def region(ax):
    """The classes that the picture colours, and where."""
    image = ax.get_images()[0]
    colours = np.asarray(image.get_array())[..., :3]
    shades = np.array([to_rgb(colour) for colour in COLOURS])
    codes = np.argmin(np.sum((colours[..., None, :] - shades) ** 2, axis=-1), axis=-1)
    x0, x1, y0, y1 = image.get_extent()
    grid = np.stack(np.meshgrid(np.linspace(x0, x1, codes.shape[1]), np.linspace(y0, y1, codes.shape[0])), -1)
    return codes.ravel(), grid.reshape(-1, 2)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(BayesianLogisticRegression, marks=pytest.mark.slow),
        tractable.QuadraticDiscriminant,
        lambda: tractable.KNeighborsClassifier(5),
        lambda: Perceptron(keep="average", max_iter=20),
        Peer,
    ],
)
@pytest.mark.spec("CLS-04")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_plane_is_coloured_by_what_is_predicted(make, rows):
    X, y = rows
    model = make().fit(X, y)
    ax = tractable.plot(model, data=X, y=y, n_cells=30)
    codes, grid = region(ax)
    assert np.mean(model.classes_[codes] == model.predict(grid)) > 0.999
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    shown = [
        c for c in ax.collections if len(c.get_offsets()) and hasattr(c, "get_sizes") and len(c.get_sizes())
    ]
    assert sum(len(c.get_offsets()) for c in shown) == 90


def test_names_of_columns_are_those_of_the_model(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=["width", "height"])
    ax = tractable.plot(BayesianLogisticRegression().fit(frame, y == "a"), data=frame, y=y == "a", n_cells=9)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


def test_a_line_shows_probabilities():
    best = BayesClassifier(class_distributions=Normal(mean=[0.0, 4.0], variance=1.0), classes=["low", "high"])
    ax = tractable.plot(best)
    low, high, edge = ax.get_lines()
    np.testing.assert_allclose(low.get_ydata() + high.get_ydata(), 1.0)
    assert abs(edge.get_xdata()[0] - 2.0) < 0.05


def test_planes_show_every_pair(rows):
    X, y = rows
    planes = tractable.discriminant_functions(tractable.LinearDiscriminant().fit(X, y))
    ax = tractable.plot(planes, data=X, y=y, n_cells=20)
    assert len(ax.get_lines()) == 3
    for line, (k, j) in zip(ax.get_lines(), [("b", "a"), ("c", "a"), ("c", "b")], strict=True):
        ends = line.get_xydata()
        np.testing.assert_allclose(planes.pairwise_boundary(k, j).signed_distance(ends), 0.0, atol=1e-9)


def test_counts_and_shares_are_written():
    found = tractable.confusion_matrix(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    texts = [text.get_text() for text in tractable.plot(found).texts]
    assert texts == ["50%", "50%", "0%", "100%"]
    assert [text.get_text() for text in tractable.plot(found, normalize=False).texts] == ["1", "1", "0", "2"]


def test_undecided_rows_have_a_column():
    found = tractable.confusion_matrix(["a", "a", "b", "b"], ["a", None, "b", "b"])
    ax = tractable.plot(found)
    assert [text.get_text() for text in ax.texts] == ["50%", "0%", "50%", "0%", "100%", "0%"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b", "undecided"]


PENGUINS = tractable.datasets.load("penguins").frame


def test_categories_have_bars():
    """One column of words: the height of each bar is what the model says of its category."""
    model = tractable.CategoricalNB().fit(PENGUINS[["island"]], PENGUINS.species)
    for data in (None, PENGUINS[["island"]]):
        ax = tractable.plot(model, data=data, y=None if data is None else PENGUINS.species)
        islands = [tick.get_text() for tick in ax.get_xticklabels()]
        assert islands == ["Biscoe", "Dream", "Torgersen"]
        heights = np.array([[bar.get_height() for bar in bars] for bars in ax.containers]).T
        right = model.predict_proba(pd.DataFrame({"island": islands}))
        np.testing.assert_allclose(heights, right, rtol=1e-12)
        centres = np.array([[bar.get_x() + bar.get_width() / 2 for bar in bars] for bars in ax.containers])
        np.testing.assert_array_equal(np.rint(centres), [[0, 1, 2]] * 3)


def test_a_column_of_categories_is_an_axis_of_steps():
    columns = PENGUINS[["bill_length_mm", "sex"]]  # some without sex: a model that takes holes
    model = tractable.NaiveBayes().fit(columns, PENGUINS.species)
    ax = tractable.plot(model, data=columns, y=PENGUINS.species, n_cells=40)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["female", "male"]
    codes, grid = region(ax)
    words = np.array(["female", "male"])[np.clip(np.rint(grid[:, 1]), 0, 1).astype(int)]
    asked = pd.DataFrame({"bill_length_mm": grid[:, 0], "sex": words})
    assert np.mean(model.classes_[codes] == model.predict(asked)) > 0.999
    drawn = sum(len(c.get_offsets()) for c in ax.collections if c.get_label() in model.classes_)
    assert drawn == len(columns.dropna())


def test_counts_are_whole(rng):
    y = rng.integers(0, 2, 200)
    X = rng.poisson(np.array([[2, 7], [6, 3]])[y])
    model = tractable.NaiveBayes(likelihoods="poisson").fit(X, y)
    for options in ({}, {"data": X, "y": y}):
        codes, grid = region(tractable.plot(model, n_cells=50, **options))
        assert grid.min() == -0.5
        assert np.mean(codes == model.predict(np.maximum(np.rint(grid), 0.0))) > 0.999
    best = BayesClassifier(class_distributions=tractable.Poisson(rate=[2.0, 7.0]))
    few, many = tractable.plot(best).get_lines()
    x = few.get_xdata()
    np.testing.assert_array_equal(x, np.arange(x[0], x[-1] + 1))
    np.testing.assert_allclose(np.column_stack([few.get_ydata(), many.get_ydata()]), best.predict_proba(x))


def test_rows_with_holes_are_not_drawn(rows):
    X, y = rows
    holes = X.copy()
    holes[::3, 0] = np.nan
    model = tractable.GaussianNB().fit(X, y)
    ax = tractable.plot(model, data=holes, y=y, n_cells=10)
    shown = {c.get_label(): len(c.get_offsets()) for c in ax.collections if c.get_label() in "abc"}
    whole = np.isfinite(holes).all(axis=1)
    assert shown == {label: int(np.sum(y[whole] == label)) for label in "abc"}
    with pytest.raises(ValueError, match="some of them complete"):
        tractable.plot(model, data=np.full((3, 2), np.nan))


def test_planes_over_one_column():
    plane = tractable.LinearDiscriminantFunction(coef=[[1.0]], intercept=[0.2], classes=["low", "high"])
    low, high, edge = tractable.plot(plane, limits=[(-1.0, 1.0)]).get_lines()
    np.testing.assert_array_equal(high.get_ydata() == 1.0, plane.decide(high.get_xdata()[:, None]) == "high")
    np.testing.assert_array_equal(low.get_ydata(), 1.0 - high.get_ydata())
    assert abs(edge.get_xdata()[0] + 0.2) < 0.01


def test_the_legend_of_a_calibration_is_beside_it(rng):
    p = rng.beta(0.5, 0.5, size=500)
    ax = tractable.plot(tractable.class_calibration(rng.uniform(size=500) < p**4, p))
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1


def test_refusals(rows):
    X, y = rows
    model = BayesianLogisticRegression().fit(X, y)
    discriminant = LinearDiscriminantFunction(coef=np.eye(3)[:, :2], intercept=np.zeros(3))
    with pytest.raises(ValueError, match="data must be given"):
        tractable.plot(discriminant)
    with pytest.raises(ValueError, match="y must have one entry for each row of data"):
        tractable.plot(model, data=X, y=y[:3])
    with pytest.raises(ValueError, match="y has the label 'z'"):
        tractable.plot(model, data=X, y=["z"] * 90)
    with pytest.raises(ValueError, match="data must be finite rows of 2"):
        tractable.plot(model, data=X[:, :1])
    with pytest.raises(ValueError, match="limits"):
        tractable.plot(model, limits=[(1.0, 0.0), (0.0, 1.0)])
    three = BayesianLogisticRegression().fit(np.column_stack([X, X[:, 0] ** 2]), y)
    with pytest.raises(ValueError, match="one or two columns"):
        tractable.plot(three, data=np.zeros((4, 3)), dims=[0, 1, 2])


def test_of_more_columns_the_others_are_held_in_the_middle(rows):
    """The plane that is drawn goes through the medians of the rows."""
    X, y = rows
    frame = pd.DataFrame(np.column_stack([X, X[:, 0] ** 2]), columns=["a", "b", "c"])
    model = BayesianLogisticRegression().fit(frame, y)
    ax = tractable.plot(model, data=frame, y=y, dims=["b", "c"], n_cells=11)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("b", "c", "a in the middle")
    sides = [np.linspace(*limits, 11) for limits in (ax.get_xlim(), ax.get_ylim())]
    grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    asked = pd.DataFrame({"a": frame["a"].median(), "b": grid[:, 0], "c": grid[:, 1]})
    colours = np.array([mpl.colors.to_rgb(COLOURS[k]) for k in range(len(model.classes_))])
    wanted = colours[np.searchsorted(model.classes_, model.predict(asked))].reshape(11, 11, 3)
    np.testing.assert_allclose(ax.images[0].get_array()[..., :3], wanted)


def scatters(ax):
    """The points of every label."""
    return {c.get_label(): np.asarray(c.get_offsets()) for c in ax.collections if hasattr(c, "get_sizes")}


@pytest.mark.parametrize("make", [tractable.LinearDiscriminant, Peer, tractable.NaiveBayes])
def test_of_more_columns_the_axes_are_discriminants_and_errors_have_circles(make):
    """Coordinates are those of the linear discriminant; the circles are around what `predict` gets wrong."""
    frame, y = load_iris(return_X_y=True, as_frame=True)
    model = make().fit(frame, y)
    ax = tractable.plot(model, data=frame, y=y, n_cells=15)
    points, wrong = scatters(ax), np.asarray(model.predict(frame) != y)
    assert f"misclassified: {wrong.sum()} of 150" in points
    drawn = np.concatenate([points[str(k)] for k in range(3)])
    peer = LinearDiscriminantAnalysis(solver="eigen", shrinkage=None).fit(frame, y).transform(frame)
    for j in range(2):  # the same up to a little shrinkage
        assert abs(np.corrcoef(drawn[:, j], peer[:, j])[0, 1]) > 0.95
    np.testing.assert_allclose(points[f"misclassified: {wrong.sum()} of 150"], drawn[wrong])
    assert ax.get_title() == "regions: the other directions at their mean, given these two"
    assert ax.get_xlabel().startswith("discriminant 1: 99% of the separation\n+ petal")


def test_the_regions_are_the_decisions_at_the_mean_of_rows_given_the_axes():
    """The mean is that of a regression of the columns on the two coordinates."""
    frame, y = load_iris(return_X_y=True, as_frame=True)
    model = tractable.QuadraticDiscriminant().fit(frame, y)
    ax = tractable.plot(model, data=frame, y=y, n_cells=15)
    codes, grid = region(ax)
    points = scatters(ax)
    along = np.concatenate([points[str(k)] for k in range(3)])
    line = Regression().fit(along, frame)
    asked = pd.DataFrame(line.predict(grid), columns=frame.columns)
    np.testing.assert_array_equal(codes, model.predict(asked))


def test_the_second_axis_of_two_classes_is_principal_among_the_uncorrelated():
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    ax = tractable.plot(tractable.GaussianNB().fit(frame, y), data=frame, y=y, n_cells=9)
    points = scatters(ax)
    along = np.concatenate([points["0"], points["1"]])
    standard = np.concatenate([frame[y == k] for k in range(2)])
    standard = (standard - standard.mean(axis=0)) / standard.std(axis=0)
    assert abs(np.corrcoef(along.T)[0, 1]) < 1e-10
    rest = standard - along[:, :1] @ np.linalg.lstsq(along[:, :1], standard, rcond=None)[0]
    largest = np.linalg.svd(rest, compute_uv=False)[0] ** 2
    np.testing.assert_allclose(np.sum(along[:, 1] ** 2), largest, rtol=1e-9)
    assert ax.get_ylabel().startswith(f"principal direction of the rest: {largest / standard.size:.0%}")


def test_there_are_no_regions_where_they_would_contradict_the_classifier():
    """Ten classes of digits do not separate in a plane."""
    X, y = (part[:300] for part in load_digits(return_X_y=True))
    model = tractable.GaussianNB().fit(X[:, 16:48], y)
    ax = tractable.plot(model, data=X[:, 16:48], y=y)
    assert not ax.images
    assert ax.get_title().startswith("no regions: these two directions alone give the same decision for")
    assert sum(map(len, scatters(ax).values())) == 300 + np.sum(model.predict(X[:, 16:48]) != y)


def test_a_table_with_categories_is_drawn_by_their_indicators():
    table = PENGUINS.drop(columns=["species", "year"])
    model = tractable.NaiveBayes().fit(table, PENGUINS.species)
    ax = tractable.plot(model, data=table, y=PENGUINS.species)
    complete = table.dropna()
    wrong = model.predict(complete) != PENGUINS.species[complete.index]
    assert f"misclassified: {wrong.sum()} of {len(complete)}" in scatters(ax)
    assert ax.get_title() == "no regions: categories have no mean"


@pytest.mark.parametrize("known", [True, False], ids=["of one class", "without classes"])
def test_discriminants_without_two_classes(rng, known):
    """Rows of one class are along principal directions; without classes the predicted ones separate."""
    X = rng.normal(size=(60, 4)) + 3.0 * np.repeat(np.eye(3, 4), 20, axis=0)
    y = np.repeat([0, 1, 2], 20)
    model = tractable.LinearDiscriminant().fit(X, y)
    rows = X[:20] if known else X
    ax = tractable.plot(model, data=rows, y=y[:20] if known else None, n_cells=9)
    assert ax.get_xlabel().startswith("principal direction" if known else "discriminant 1")
    assert tractable.plot(model, n_cells=9).get_xlabel().startswith("discriminant 1")  # of its own samples


def test_planes_of_constant_columns_and_few_rows(rng):
    """Columns that do not vary take no part, and columns may outnumber the rows."""
    X = np.column_stack([rng.normal(size=(12, 20)), np.full(12, 7.0)])
    y = np.repeat(["a", "b"], 6)
    X[y == "b", 0] += 9.0
    model = tractable.GaussianNB().fit(X, y)
    ax = tractable.plot(model, data=X, y=y, n_cells=9)
    assert all(np.isfinite(points).all() for points in scatters(ax).values())
    assert "x0" in ax.get_xlabel()
    constant = np.full((4, 3), 2.0)
    flat = tractable.plot(Perceptron().fit(X[:, :3], y), data=constant, n_cells=9)
    assert all(np.isfinite(points).all() for points in scatters(flat).values())


def test_rows_that_are_misclassified_have_circles_in_a_slice(rows):
    X, y = rows
    wide = np.column_stack([X, X[:, 0] ** 2])
    model = tractable.GaussianNB().fit(wide, y)
    points = scatters(tractable.plot(model, data=wide, y=y, dims=[0, 1], n_cells=9))
    wrong = model.predict(wide) != y
    np.testing.assert_array_equal(points[f"misclassified: {wrong.sum()} of 90"], X[wrong])


def test_without_rows_a_linear_classifier_is_its_coefficients(rows):
    X, y = rows
    model = BayesianLogisticRegression().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    ax = tractable.plot(model)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b"]
    drawn = [line.get_xdata() for line in ax.get_lines() if line.get_label() in model.classes_]
    np.testing.assert_allclose(drawn, model.coef_)
