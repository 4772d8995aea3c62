"""Series in time: panels of several units, seasons of dates, and folds that leave whole times out."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.datasets as statsmodels_tables
from vega_datasets import local_data as vega_tables

from tractable.report import folds, pairwise_dependence, table_of
from tractable.report.clusters import _are_stretches
from tractable.report.mixtures import Membership, fitted_mixtures
from tractable.report.page import Section, summary_of
from tractable.report.time_order import lag_correlation, time_order


def grunfeld():
    return table_of(statsmodels_tables.grunfeld.load_pandas().data)


@pytest.mark.parametrize(
    ("table", "unit", "column"),
    [(grunfeld, "firm", "year"), (lambda: table_of(vega_tables.stocks()), "symbol", "date")],
)
def test_a_panel_is_a_series_of_each_unit(table, unit, column):
    found = time_order(table())
    assert (found.unit, found.column) == (unit, column)
    frame = table().frame.iloc[found.order]
    assert frame.groupby(unit)[column].apply(lambda times: times.is_monotonic_increasing).all()
    assert frame[unit].ne(frame[unit].shift()).sum() == frame[unit].nunique()
    assert found.correlations
    assert f"of the same {unit}" in found.neighbours


def test_units_of_different_levels_alone_are_no_dependence_in_time(rng):
    levels = np.repeat(10.0 * np.arange(8), 25)
    frame = pd.DataFrame({
        "station": [f"s{k}" for k in np.repeat(np.arange(8), 25)],
        "year": np.tile(np.arange(1990, 2015), 8),
        "level": levels + rng.normal(size=200),
        "walk": np.concatenate([rng.normal(size=25).cumsum() for _ in range(8)]),
    })  # fmt: skip
    found = time_order(table_of(frame.sample(frac=1.0, random_state=0)))
    assert found.unit == "station"
    assert list(found.correlations) == ["walk"]
    assert lag_correlation(frame["level"].to_numpy()) > 0.9  # one series after the other


def test_folds_of_a_panel_leave_whole_times_out():
    times = np.tile(np.arange(20.0), 11)
    splits = folds(np.zeros(220), classes=False, times=times)
    assert len(splits) == 5
    for train, test in splits:
        assert not set(times[train]) & set(times[test])
    assert np.array_equal(np.sort(np.concatenate([test for _, test in splits])), np.arange(220))


def test_groups_that_are_the_units_are_not_stretches_of_time():
    table = grunfeld()
    times, found = time_order(table), fitted_mixtures(table)
    position = {i: n for n, i in enumerate(found.rows.frame.index)}
    years = table.frame["year"].to_numpy()

    def stretches(labels):
        proba = np.eye(2)[[labels[i] for i in position]]
        return _are_stretches(times, found, Membership(proba=proba, order=np.arange(2)))

    assert not stretches((table.frame["firm"] == "US Steel").astype(int).to_numpy())
    assert stretches((years > 1944).astype(int))


def test_months_of_dates_are_compared():
    frame = vega_tables.seattle_weather()
    pairs = pairwise_dependence(table_of(frame))
    named = [{a, b} for a, b in zip(pairs["a"], pairs["b"], strict=True)]
    month = pairs.iloc[named.index({"temp_max", "date (month)"})]
    plain = pairs.iloc[named.index({"temp_max", "date"})]
    assert month["strength"] > 0.8 > plain["strength"]  # a season, which four years in order do not show
    assert not any(len([n for n in pair if n.startswith("date")]) == 2 for pair in named)
    assert len(named) == 8 * 7 / 2 - 3


def test_a_warning_of_two_sections_is_given_once():
    words = {"done": "", "assumptions": "", "code": ""}
    sections = [
        Section(key="overview", title="", meaning="Rows.\nBeware of time. In x. More.", **words),
        Section(key="models", title="", meaning="It predicts.\nBeware of time. In y.", **words),
    ]
    assert summary_of(sections) == ("It predicts.", "Beware of time. In y.", "Rows.")
