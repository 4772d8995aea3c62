"""Each statement and plot of the report is made where it is true, and not where it is false."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from quick import late
from tractable.report import table_of
from tractable.report.clusters import section as clusters
from tractable.report.dependence import section as dependence
from tractable.report.map import section as map_of_rows
from tractable.report.models import section as models
from tractable.report.outliers import section as outliers
from tractable.report.overview import section as overview

SECTIONS = {
    "overview": overview,
    "dependence": dependence,
    "clusters": clusters,
    "map": map_of_rows,
    "outliers": outliers,
    "models": models,
}


def independent(n=300):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    return frame.assign(y=rng.normal(size=n), k=np.where(rng.random(n) < 0.5, "u", "v"))


def related():
    rng = np.random.default_rng(1)
    frame = independent()
    frame["b"] = frame["a"] + 0.7 * rng.normal(size=len(frame))
    frame["y"] = 2.0 * frame["a"] - frame["c"] + 0.3 * rng.normal(size=len(frame))
    return frame.assign(k=np.where(frame["a"] + 0.3 * rng.normal(size=len(frame)) > 0.0, "u", "v"))


def copied_column():
    frame = related()
    return frame.assign(b=3.0 * frame["a"] + 1e-3 * np.random.default_rng(2).normal(size=len(frame)))


def reversed_in_groups():
    rng = np.random.default_rng(3)
    group = rng.integers(0, 3, 300)
    a = 4.0 * group + rng.normal(size=300)
    b = 4.0 * group - 0.9 * (a - 4.0 * group) + 0.3 * rng.normal(size=300)
    return pd.DataFrame({"a": a, "b": b, "k": np.array(["u", "v", "w"])[group]})


def two_clouds():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    frame.loc[150:, ["a", "b"]] += 9.0
    return frame


def with_far_rows(n_far):
    frame = independent()[["a", "b", "c"]]
    frame.loc[[17, 80, 200][:n_far], "b"] = [40.0, -45.0, 50.0][:n_far]
    return frame


def one_far_end():
    """A table of which a part is looked at; the far number is in none of those rows."""
    frame = independent(3000)[["a", "b", "c"]]
    shown = set(table_of(frame, max_rows=300).positions)
    frame.loc[next(i for i in range(3000) if i not in shown), "b"] = 60.0
    return table_of(frame, max_rows=300)


def sampled():
    return table_of(independent(3000)[["a", "b", "c"]], max_rows=300)


def with_copies():
    frame = independent(200)
    return pd.concat([frame, frame.iloc[:40]], ignore_index=True)


def in_time():
    rng = np.random.default_rng(5)
    frame = independent(200).assign(y=np.cumsum(rng.normal(size=200)))
    return frame.assign(day=pd.date_range("2020-01-01", periods=200)).assign(a=frame["y"].cumsum() / 9.0)


def dated():
    return independent(200).assign(day=pd.date_range("2020-01-01", periods=200))


def with_holes():
    frame = related()
    return frame.mask(np.random.default_rng(6).random(frame.shape) < 0.1)


def with_a_leak():
    frame = related()
    return frame.assign(told=np.where(frame["k"] == "u", frame["c"] + 50.0, frame["c"] - 50.0))


def skewed():
    frame = related()
    return frame.assign(y=np.exp(1.5 * frame["y"]))


def with_a_rare_class():
    rng = np.random.default_rng(7)
    frame = related()
    classes = np.where(frame["a"] > 0.0, "u", "v")
    return frame.assign(k=np.where(rng.random(len(frame)) < 0.06, "rare", classes))


def one_number():
    return independent()[["a", "k"]]


def no_far():
    return with_far_rows(0)


def one_far():
    return with_far_rows(1)


def three_far():
    return with_far_rows(3)


def numbers_alone():
    return independent()[["a", "b", "c"]]


def two_numbers():
    return independent()[["a", "b"]]


def y_alone():
    return related().assign(y=independent()["y"])


def words_alone():
    return independent()[["k"]].assign(j=independent()["k"] + "x")


def classes_as_y():
    return related().assign(y=related()["k"])


def numbers_as_k():
    return related().assign(k=related()["y"])


#: What is said (of a part of the meaning, the headline and the notes), where, of which target, and of which
#: tables it is true and false.
STATEMENTS = [
    ("Beware of copies", "overview", None, with_copies, independent),
    ("Beware of time", "overview", None, in_time, dated),
    ("depend on each other by more than chance would give", "dependence", None, numbers_alone, related),
    ("The strongest is a with y", "dependence", None, related, numbers_alone),
    ("Nearly linear functions of each other: a and b", "dependence", None, copied_column, related),
    ("Beware of groups", "dependence", None, reversed_in_groups, related),
    ("No single column is informative about y", "dependence", "y", y_alone, related),
    ("The columns most informative about y: a", "dependence", "y", related, independent),
    ("The rows fall into 2 groups", "clusters", None, two_clouds, independent),
    ("set apart most by ", "clusters", None, two_clouds, independent),
    ("the rows are best described as one group", "clusters", None, numbers_alone, two_clouds),
    ("No row is more unusual than chance allows", "outliers", None, no_far, one_far),
    ("One row is unusual, row 18", "outliers", None, one_far, no_far),
    ("One row is unusual", "outliers", None, one_far, three_far),
    ("rows are unusual, most of all row 201", "outliers", None, three_far, one_far),
    (
        "No smallest or largest number of a column",
        "outliers",
        None,
        sampled,
        one_far_end,
    ),
    ("In the whole table b reaches 60", "outliers", None, one_far_end, sampled),
    ("filled with what a normal", "map", None, with_holes, related),
    ("The map shows both columns of numbers", "map", None, two_numbers, independent),
    ("No model predicts y clearly better than", "models", "y", independent, related),
    ("predicts y", "models", "y", related, None),
    ("What matters most", "models", "y", related, independent),
    ("Beware of a leak", "models", "k", with_a_leak, related),
    ("was modelled by its logarithm", "models", "y", skewed, related),
    ("rows of rare it finds", "models", "k", with_a_rare_class, related),
    ("Beware of time", "models", "y", in_time, dated),
    ("It finds the class of", "models", "k", related, None),
]

#: Plots by a part of their description, as statements.
PLOTS = [
    ("over day", "overview", None, in_time, independent),
    ("density of a", "overview", None, independent, words_alone),
    ("shares of k", "overview", None, independent, two_numbers),
    ("matrix of the strengths", "dependence", None, related, one_number),
    ("a and b", "dependence", None, related, one_number),
    ("coloured by cluster, with an ellipse for each", "clusters", None, two_clouds, numbers_alone),
    ("ICL against the number of components; the lowest is at 2", "clusters", None, two_clouds, numbers_alone),
    ("against its prediction, with intervals of 90%", "models", "y", related, classes_as_y),
    ("Confusion matrix", "models", "k", related, numbers_as_k),
    ("What matters for y", "models", "y", related, independent),
]


@cache
def made(section, make, target):
    table = make()
    table = table_of(table) if isinstance(table, pd.DataFrame) else table
    return SECTIONS[section](table, target=target, rng=np.random.default_rng(0))


def texts(found):
    return "" if found is None else " ".join([found.meaning, found.headline or "", found.done, *found.notes])


def quick(cases):
    """The cases; those that fit many models wait for `make test-all`."""
    slow = [case[3] in LONG_TABLES or case[0] in LONG for case in cases]
    return [late(case, several=True) if long else case for case, long in zip(cases, slow, strict=True)]


LONG_TABLES = (with_holes, with_a_leak, skewed, in_time, with_a_rare_class)
LONG = ("It finds the class of", "Confusion matrix")


@pytest.mark.parametrize(
    ("said", "section", "target", "true", "false"), quick(STATEMENTS), ids=[s[0][:40] for s in STATEMENTS]
)
def test_a_statement_is_made_where_it_is_true_and_only_there(said, section, target, true, false):
    assert said in texts(made(section, true, target))
    if false is not None:
        assert said not in texts(made(section, false, target))


@pytest.mark.parametrize(
    ("alt", "section", "target", "true", "false"), quick(PLOTS), ids=[s[0][:40] for s in PLOTS]
)
def test_a_plot_is_drawn_where_it_has_something_to_show_and_only_there(alt, section, target, true, false):
    def drawn(make):
        found = made(section, make, target)
        return found is not None and any(alt in picture.alt for picture in found.pictures)

    assert drawn(true)
    assert not drawn(false)


@pytest.mark.parametrize("n_far", [0, 1, 3])
def test_as_many_rows_are_called_outliers_as_there_are(n_far):
    found = made("outliers", {0: no_far, 1: one_far, 3: three_far}[n_far], None)
    far = [17, 80, 200][:n_far]
    assert len(far) <= found.findings["n_outliers"] <= len(far) + (n_far > 1)  # half a row by chance
    assert sorted(found.findings["positions"][:n_far]) == far
    assert all(columns == ["b"] for columns in found.findings["columns"][:n_far])
    assert sorted(int(row[0]) for row in found.tables[0].rows[:n_far]) == [i + 1 for i in far]
