"""Rows that are drawn: by the names that `fit` takes, and only those columns that the model knows."""

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import tractable

GEYSER = tractable.datasets.load("old_faithful").frame


def test_a_target_is_told_by_its_name_as_fit_is():
    line = tractable.LinearRegression().fit(GEYSER, y="waiting")
    ax = tractable.plot(line, data=GEYSER, y="waiting")
    told = tractable.plot(line, X=GEYSER[["eruptions"]], y=GEYSER["waiting"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("eruptions", "waiting")
    np.testing.assert_array_equal(*(a.collections[0].get_offsets() for a in (ax, told)))


def test_classes_are_told_by_their_name():
    penguins = tractable.datasets.load("penguins").frame.dropna()
    columns = ["bill_length_mm", "bill_depth_mm"]
    model = tractable.LinearDiscriminant().fit(penguins[columns], penguins["species"])
    ax = tractable.plot(model, data=penguins[[*columns, "species"]], y="species", n_cells=20)
    drawn = [len(marks.get_offsets()) for marks in ax.collections if marks.get_label() in model.classes_]
    assert sum(drawn) == len(penguins)


def test_columns_that_the_model_does_not_know_are_left_out_in_any_order():
    model = tractable.KMeans(2, random_state=0).fit(GEYSER)
    more = GEYSER.assign(day=1.0)[["day", "waiting", "eruptions"]]
    places = [tractable.plot(model, data=rows).collections[0].get_offsets() for rows in (GEYSER, more)]
    np.testing.assert_array_equal(*places)
