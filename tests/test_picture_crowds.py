"""Pictures of many rows and of many classes: thinned, told apart, and named where nothing is hidden."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt

import tractable
from tractable.plotting.pictures.classifiers import class_colour, class_dashes, class_marker
from tractable.plotting.rows import MAX_ROWS, draw_rows, sampled_rows

RNG = np.random.default_rng(0)
N = 3 * MAX_ROWS
MANY = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["width", "height"])
SIDE = np.where(MANY["width"] + RNG.normal(size=N) > 0.0, "left", "right")
TOLD = "4,000 of 12,000 rows"


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def marks_of(ax):
    """How many dots are drawn."""
    dots = [c for c in ax.collections if isinstance(c, mpl.collections.PathCollection)]
    return sum(len(part.get_offsets()) for part in dots)


def crowd(n_classes, n_each=5):
    """Classes on a lattice, and rows of each."""
    codes = np.repeat(np.arange(n_classes), n_each)
    rows = RNG.normal(size=(len(codes), 2)) + 5.0 * np.column_stack([codes % 5, codes // 5])
    return pd.DataFrame(rows, columns=["width", "height"]), np.array([f"class {code:02d}" for code in codes])


def test_some_rows_are_the_same_every_time_and_reach_as_far_as_all():
    rows = MANY.to_numpy()
    chosen = sampled_rows(rows)
    assert len(np.unique(chosen)) == MAX_ROWS
    np.testing.assert_array_equal(chosen, sampled_rows(rows))
    np.testing.assert_array_equal(rows[chosen].min(axis=0), rows.min(axis=0))
    np.testing.assert_array_equal(rows[chosen].max(axis=0), rows.max(axis=0))
    np.testing.assert_array_equal(sampled_rows(rows[:MAX_ROWS]), np.arange(MAX_ROWS))
    assert abs(rows[chosen].mean()) < 0.05


def test_colours_and_sizes_stay_with_their_rows():
    rows = MANY.to_numpy()
    dots = draw_rows(plt.subplots()[1], rows, c=rows[:, 0], s=1.0 + np.abs(rows[:, 1]))
    np.testing.assert_array_equal(dots.get_array(), dots.get_offsets()[:, 0])
    np.testing.assert_array_equal(dots.get_sizes(), 1.0 + np.abs(dots.get_offsets()[:, 1]))
    assert dots.get_alpha() < 0.5


def test_few_rows_are_all_drawn_and_opaque():
    dots = draw_rows(plt.subplots()[1], MANY.to_numpy()[:100])
    assert (len(dots.get_offsets()), dots.get_alpha(), dots.get_label()) == (100, 1.0, "data")


@pytest.mark.parametrize(
    ("model", "columns"),
    [
        (tractable.GaussianDensity(), None),
        (tractable.GaussianMixture(1, random_state=0), None),
        (tractable.LinearRegression(), 1),
        (tractable.LinearRegression(), 2),
    ],
    ids=["density", "mixture", "line", "plane"],
)
def test_many_rows_are_thinned_and_the_legend_says_so(model, columns):
    rows = MANY.iloc[:, :columns]
    options = {} if columns is None else {"y": np.abs(MANY["height"])}
    ax = tractable.plot(model.fit(rows, **options), data=rows, **options)
    assert marks_of(ax) == MAX_ROWS
    assert f"data, {TOLD}" in legend_of(ax)


@pytest.mark.parametrize("columns", [1, 2])
def test_many_rows_of_classes(columns):
    rows = MANY.iloc[:, :columns]
    ax = tractable.plot(tractable.GaussianNB().fit(rows, SIDE), data=rows, y=SIDE, n_cells=20)
    ticks = [line for line in ax.lines if line.get_marker() == "|"]
    assert marks_of(ax) + sum(len(line.get_xdata()) for line in ticks) == MAX_ROWS
    assert ax.get_legend().get_title().get_text() == TOLD


def test_many_rows_of_clusters():
    ax = tractable.plot(tractable.KMeans(2, random_state=0).fit(MANY), data=MANY)
    assert marks_of(ax) == MAX_ROWS + 2
    assert ax.get_legend().get_title().get_text() == TOLD


def test_classes_look_different_even_where_colours_come_round():
    assert len({(class_colour(code), class_marker(code)) for code in range(64)}) == 64
    assert len({(class_colour(code), class_dashes(code)) for code in range(32)}) == 32


@pytest.mark.parametrize("columns", [1, 2])
def test_many_classes_are_named_beside_the_picture(columns):
    rows, labels = crowd(20)
    rows = rows.iloc[:, :columns]
    ax = tractable.plot(tractable.LinearDiscriminant().fit(rows, labels), data=rows, y=labels, n_cells=30)
    ax.figure.canvas.draw()
    assert legend_of(ax) == np.unique(labels).tolist()
    box, page = ax.get_legend().get_window_extent(), ax.figure.bbox
    assert box.x0 >= ax.get_window_extent().x1
    assert page.x0 <= box.x0 and box.x1 <= page.x1  # noqa: PT018
    assert page.y0 <= box.y0 and box.y1 <= page.y1  # noqa: PT018


def test_rows_of_many_classes_do_not_push_the_curves_away():
    rows, labels = crowd(20)
    ax = tractable.plot(tractable.GaussianNB().fit(rows[["width"]], labels), data=rows[["width"]], y=labels)
    assert ax.get_ylim()[0] > -0.4
    assert min(ax.get_yticks()) == 0.0


def test_classes_beyond_all_room_are_counted():
    rows, labels = crowd(40)
    ax = tractable.plot(tractable.LinearDiscriminant().fit(rows, labels), data=rows, y=labels, n_cells=30)
    assert legend_of(ax)[-2:] == ["class 23", "and 16 more"]


def test_cells_of_many_classes_have_a_scale_and_no_numbers():
    few, many, most = (crowd(k)[1] for k in (12, 20, 70))
    ax = tractable.plot(tractable.metrics.confusion_matrix(few, few))
    assert (len(ax.texts), len(ax.figure.axes)) == (144, 1)
    ax = tractable.plot(tractable.metrics.confusion_matrix(many, many))
    assert (len(ax.texts), len(ax.figure.axes)) == (0, 2)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == np.unique(many).tolist()
    ax = tractable.plot(tractable.metrics.confusion_matrix(most, most))
    assert [tick.get_text() for tick in ax.get_yticklabels()] == np.unique(most)[::3].tolist()
    np.testing.assert_array_equal(ax.get_yticks(), np.arange(0, 70, 3))


def test_titles_that_were_there_are_left_where_there_is_nothing_to_say():
    _, ax = plt.subplots()
    ax.set_title("mine")
    tractable.plot(tractable.GaussianDensity().fit(MANY), ax=ax)
    assert ax.get_title() == "mine"
    tractable.plot(tractable.GaussianDensity().fit(MANY.assign(depth=MANY["width"] ** 2)), ax=ax)
    assert ax.get_title() == "width and height, of 3 columns"


@pytest.mark.slow
def test_the_shading_of_a_mixture_of_planes_is_named():
    rows = MANY[:200]
    model = tractable.MixtureOfExperts(2, random_state=0).fit(rows[["width"]], rows["height"])
    assert legend_of(tractable.plot(model, data=rows[["width"]], y=rows["height"]))[0] == "density"
