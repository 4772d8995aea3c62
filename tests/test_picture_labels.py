"""What is written on a picture is what columns, classes and members are called, letter by letter."""

import io
import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt

import tractable
from tractable.plotting.style import legend_label, show_literally

ODD = [r"a $\frac$ b", "_flipper", "$x^"]
X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=ODD)
Y = X.sum(axis=1).rename("cost $ a $_b^ x")


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def saved(ax):
    with mpl.rc_context({"svg.fonttype": "none"}):
        file = io.StringIO()
        ax.figure.savefig(file, format="svg")
    return re.sub("<!--.*?-->", "", file.getvalue(), flags=re.DOTALL)


def test_columns_in_a_legend():
    ax = tractable.plot(tractable.LassoCV().fit(X, Y))
    assert legend_of(ax)[:3] == ODD
    page = saved(ax)
    assert all(f">{name}</text>" in page for name in ODD)


def test_numbers_along_a_logarithmic_axis_are_still_set_as_powers():
    ax = tractable.plot(tractable.LassoCV().fit(X, Y))
    assert ax.get_xscale() == "log"
    assert r"\mathdefault" in " ".join(tick.get_text() for tick in ax.get_xticklabels())
    assert "mathdefault" not in saved(ax)


def test_columns_along_an_axis():
    ax = tractable.plot(tractable.LinearRegression().fit(X, Y))
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ODD
    page = saved(ax)
    assert all(f">{name}</text>" in page for name in ODD)


@pytest.mark.parametrize("columns", [1, 2])
def test_classes(columns):
    labels = np.where(Y > 0.0, "_late", np.where(Y > -1.0, "", r"$\frac$"))
    rows = X.iloc[:, :columns]
    ax = tractable.plot(tractable.LinearDiscriminant().fit(rows, labels), data=rows, y=labels)
    assert legend_of(ax) == ["", r"$\frac$", "_late"]
    assert ">_late</text>" in saved(ax)


def test_members_of_a_batch_and_beliefs_in_turn():
    batch = tractable.Normal(mean=[0.0, 1.0], stddev=[1.0, 2.0])
    assert legend_of(tractable.plot(batch, labels=["_a", "$b$"])) == ["_a", "$b$"]


def test_classes_that_are_confused():
    found = tractable.metrics.confusion_matrix(["_a", r"$\frac$"], ["_a", "_a"], classes=[r"$\frac$", "_a"])
    page = saved(tractable.plot(found))
    assert page.count(r">$\frac$</text>") == 2


@pytest.mark.slow
def test_a_colorbar_is_written_as_it_is_too():
    figure, ax = plt.subplots()
    figure.colorbar(ax.scatter([0, 1], [0, 1], c=[0, 1]), label=r"$\frac$")
    show_literally(ax)
    assert r">$\frac$</text>" in saved(ax)


def test_axes_beside_it_are_left_alone():
    _, (other, ax) = plt.subplots(1, 2)
    other.set_title("$x^2$")
    tractable.plot(tractable.Normal(mean=0.0, stddev=1.0), ax=ax, label="$x^2$")
    assert other.title.get_parse_math()
    assert not ax.xaxis.label.get_parse_math()


def test_ordinary_names_are_not_touched():
    assert [legend_label(name) for name in ("late", 3, "a_b")] == ["late", "3", "a_b"]
