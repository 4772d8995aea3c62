"""On public tables, what a report states of rows, counts and numbers is computed again from the table."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets as sklearn_tables

import tractable
from tractable.report import table_of
from tractable.report.dependence import reversals
from tractable.report.dependence import section as dependence
from tractable.report.models import section as models
from tractable.report.mutual_information import pairs_of
from tractable.report.outliers import section as outliers
from tractable.report.overview import section as overview
from tractable.report.rows import copied_rows


def bundled(name, target):
    return lambda: (tractable.datasets.load(name).frame, target)


def of_sklearn(name, target="target"):
    return lambda: (getattr(sklearn_tables, f"load_{name}")(as_frame=True).frame, target)


def linnerud():
    return sklearn_tables.load_linnerud(as_frame=True).frame, "Weight"


TABLES = {
    "old_faithful": bundled("old_faithful", "waiting"),
    "penguins": bundled("penguins", "species"),
    "iris": bundled("iris", "species"),
    "wine": bundled("wine", "cultivar"),
    "diabetes": bundled("diabetes", "progression"),
    "breast_cancer": of_sklearn("breast_cancer"),
    "digits": of_sklearn("digits"),
    "linnerud": linnerud,
}
QUICK = ("old_faithful", "penguins", "linnerud")
every_table = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in TABLES]
)


def number(text):
    return float(text.replace(",", ""))


def agrees(text, x, digits=4):
    """Whether a number on the page is x, to so many digits."""
    return number(text) == pytest.approx(x, rel=0.6 * 10.0 ** (1 - digits), abs=1e-12)


@every_table
def test_columns_are_described_as_they_are(name, rng):
    frame, target = TABLES[name]()
    table = table_of(frame)
    found = overview(table, target=target, rng=rng)
    (grid,) = found.tables
    assert len(grid.rows) == frame.shape[1]
    for column, kind, missing, different, values, _ in grid.rows:
        entries = frame[column]
        assert number(missing.split(" ")[0]) == entries.isna().sum()
        assert number(different) == entries.nunique()
        if kind == "number":
            low, high, median = re.fullmatch(r"(\S+) to (\S+), median (\S+)", values).groups()
            for text, x in ((low, entries.min()), (high, entries.max()), (median, entries.median())):
                assert agrees(text, x, 6)
        elif kind in ("category", "boolean"):
            for text, count in re.findall(r"([^,]+?) \(([\d,]+)\)", values):
                mine = entries.map(lambda v: v if isinstance(v, str) else f"{v:.15g}")
                assert number(count) == (mine[entries.notna()] == text.strip()).sum()
    once = frame[~copied_rows(table)]
    for picture in found.pictures:
        said = re.match(r"mean (\S+), standard deviation (\S+), n = ([\d,]+)", picture.caption)
        if said:
            column = re.match(r"(?:density|frequencies) of (.*?): mean", picture.alt).group(1)
            x = once[column].dropna()
            assert agrees(said.group(1), x.mean())
            assert agrees(said.group(2), x.std())
            assert number(said.group(3)) == len(x)
    gaps = frame.isna().mean()
    said = found.meaning.partition("missing in ")[2]
    for column, share in re.findall(r"(?:^|, | and )([^,()]+?) \(([\d.]+)%\)", said):
        assert 100.0 * gaps[column] == pytest.approx(float(share), abs=0.051)


@every_table
def test_correlations_are_those_of_the_table(name, rng):
    frame, target = TABLES[name]()
    table = table_of(frame)
    once = frame[~copied_rows(table)]
    found = dependence(table, target=target, rng=rng)
    for a, b, _, r, interval, _, n in (row for row in found.tables[0].rows if len(row) == 7):
        if not r:
            continue
        both = once[[a, b]].dropna()
        assert number(n) == len(both)
        exact = both.corr().iloc[0, 1]
        assert float(r) == pytest.approx(exact, abs=0.0051)
        ends = np.tanh(np.arctanh(exact) + np.array([-1.96, 1.96]) / np.sqrt(len(both) - 3))
        assert [float(end) for end in interval.split(" to ")] == pytest.approx(ends, abs=0.0101)
    for one in reversals(table, pairs_of(table)):
        rows = once[[one.pair.a, one.pair.b, one.by]].dropna()
        rows = rows[rows.groupby(one.by)[one.by].transform("size") >= 10]
        numbers = rows[[one.pair.a, one.pair.b]]
        assert one.n == len(rows)
        assert one.overall == pytest.approx(numbers.corr().iloc[0, 1])
        within = numbers - numbers.groupby(rows[one.by]).transform("mean")
        assert one.within == pytest.approx(within.corr().iloc[0, 1])
        assert one.within * one.overall < 0.0


@every_table
def test_unusual_rows_have_the_entries_that_are_named(name, rng):
    frame, _ = TABLES[name]()
    found = outliers(table_of(frame), rng=rng)
    assert found.findings["n_outliers"] <= max(0.05 * len(frame), 3)
    for grid in found.tables:
        for row in grid.rows:
            entries = frame.iloc[int(number(row[0])) - 1]
            for said in row[-1].split("; "):
                column, entry = re.match(r"(.*) (\S+) \(expected", said).groups()
                assert column in frame.columns
                x = entries[column]
                assert entry == x or agrees(entry, float(x))
                low = re.search(r"\(expected (-?[\d.,]+) to", said)
                if low and (frame[column].dropna() > 0.0).all() and frame[column].skew() > 2.0:
                    assert number(low.group(1)) > 0.0


@every_table
def test_scores_of_the_baseline_are_those_of_five_folds(name, rng):
    frame, target = TABLES[name]()
    found = models(table_of(frame, target=target), target=target, rng=rng)
    if found.findings["best"] is None:
        pytest.fail(found.meaning)
    n = int(number(re.search(r"for ([\d,]+) rows", found.done).group(1)))
    known = frame[target].dropna()
    assert n <= len(known)
    base = next(row for row in found.tables[0].rows if row[0].startswith("the "))
    if "most frequent has" in found.meaning and n == len(known):
        common = float(re.search(r"most frequent has ([\d.]+)%", found.meaning).group(1))
        assert common == pytest.approx(100.0 * known.value_counts(normalize=True).iloc[0], abs=0.051)
    if pd.api.types.is_float_dtype(frame[target]) and n == len(known) and base[0] == "the mean alone":
        from sklearn.model_selection import KFold

        y = known.to_numpy()
        errors = [
            np.abs(y[test] - y[train].mean())
            for train, test in KFold(5, shuffle=True, random_state=0).split(y)
        ]
        assert agrees(base[1], np.concatenate(errors).mean())
