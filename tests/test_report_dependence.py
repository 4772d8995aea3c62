"""Dependence on one scale: known values, chance told from dependence, and correlations that turn round."""

import math

import numpy as np
import pandas as pd
import pytest

from tractable import datasets
from tractable.report import pairwise_dependence, table_of
from tractable.report.dependence import reversals
from tractable.report.mutual_information import coded, correlation_interval, information, pairs_of
from tractable.report.overview import _wilson


def test_information_of_copies_and_of_independent_codes():
    codes = np.array([0, 0, 1, 2] * 10)
    shares = np.array([0.5, 0.25, 0.25])
    total, freedom, n = information(codes, codes)
    assert total == pytest.approx(-(shares * np.log(shares)).sum(), rel=1e-12)
    assert (freedom, n) == (4, 40)
    a, b = np.divmod(np.arange(12), 4)
    assert information(a, b) == (pytest.approx(0.0, abs=1e-15), 6, 12)
    assert information(np.array([-1, 0, 1]), np.array([0, -1, 1])) == (0.0, 0, 1)


@pytest.mark.slow
def test_strength_of_normal_numbers_is_their_correlation(rng):
    n = 20_000
    for correlation in (0.3, -0.6, 0.8):
        x = rng.normal(size=n)
        y = correlation * x + math.sqrt(1 - correlation**2) * rng.normal(size=n)
        pair = pairs_of(table_of(pd.DataFrame({"x": x, "y": y})))[0]
        assert 0.88 * abs(correlation) < pair.strength < abs(correlation) + 0.02  # eight bins lose a little
        error = (1 - correlation**2) / math.sqrt(n)
        assert abs(pair.correlation - correlation) < 5 * error
        assert pair.correlation == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-12)


def test_strength_does_not_care_about_the_scale_or_the_order(rng):
    x = rng.normal(size=500)
    frame = pd.DataFrame({"x": x, "y": np.cos(x) + 0.1 * rng.normal(size=500)})
    plain = pairs_of(table_of(frame))[0]
    bent = pairs_of(table_of(pd.DataFrame({"y": frame["y"] ** 3, "x": 1e80 * x})))[0]
    assert plain.strength > 0.8
    assert abs(plain.correlation) < 0.3
    assert bent.strength == pytest.approx(plain.strength, abs=1e-9)


@pytest.mark.slow
def test_independent_columns_are_chance(rng):
    """p-values of independent columns are even, about: as many below a tenth as there should be."""
    p_values = []
    for _ in range(300):
        frame = pd.DataFrame({"x": rng.normal(size=200), "k": rng.choice(list("abc"), 200)})
        p_values.append(pairs_of(table_of(frame))[0].p_value)
    below = np.mean(np.array(p_values) < 0.1)
    assert abs(below - 0.1) < 5 * math.sqrt(0.1 * 0.9 / 300)


def test_rows_that_lack_an_entry_are_left_out(rng):
    frame = pd.DataFrame({"x": rng.normal(size=100), "k": ["a", "b"] * 50})
    frame.loc[:29, "x"] = np.nan
    frame.loc[20:39, "k"] = None
    pair = pairs_of(table_of(frame))[0]
    assert pair.n == 60


def test_rare_categories_stand_together():
    names = [f"k{i:02d}" for i in range(40) for _ in range(40 - i)]
    codes = coded(table_of(pd.DataFrame({"k": names, "l": ["a", "b"] * (len(names) // 2)})), "k")
    assert codes.max() == 11
    assert (codes[:40] == 0).all()
    assert (codes == 11).sum() == sum(40 - i for i in range(11, 40))


def test_fishers_interval():
    low, high = correlation_interval(0.5, 103)
    assert (low, high) == pytest.approx((0.33931, 0.63234), abs=1e-5)
    assert correlation_interval(-1.0, 50) == (-1.0, -1.0)
    assert correlation_interval(0.2, 3) == (-1.0, 1.0)


def test_fishers_interval_covers(rng):
    inside = 0
    for _ in range(400):
        x = rng.normal(size=40)
        y = 0.6 * x + 0.8 * rng.normal(size=40)
        low, high = correlation_interval(np.corrcoef(x, y)[0, 1], 40)
        inside += low < 0.6 < high
    assert abs(inside / 400 - 0.95) < 5 * math.sqrt(0.95 * 0.05 / 400)


def test_wilsons_interval_solves_its_equation():
    low, high = _wilson(np.array([0.0, 3.0, 10.0]), 10)
    z = 1.6448536269514722
    for p, end in ((0.3, low[1]), (0.3, high[1])):
        assert abs(p - end) == pytest.approx(z * math.sqrt(end * (1 - end) / 10), rel=1e-12)
    assert low[0] == pytest.approx(0.0, abs=1e-15)
    assert high[2] == pytest.approx(1.0, abs=1e-15)


def test_the_frame_of_all_pairs():
    frame = pairwise_dependence(table_of(datasets.load("iris").frame))
    assert len(frame) == 10
    assert frame["strength"].between(0, 1).all()
    assert frame["strength"].is_monotonic_decreasing
    assert frame["correlation"].notna().sum() == 6
    assert (frame["low"] < frame["correlation"]).sum() == 6


def test_correlations_that_turn_round_within_groups():
    table = table_of(datasets.load("penguins").frame)
    found = reversals(table, pairs_of(table))
    assert {(one.pair.a, one.pair.b, one.by) for one in found} == {
        ("bill_depth_mm", "body_mass_g", "species"),
        ("bill_length_mm", "bill_depth_mm", "species"),
        ("bill_depth_mm", "flipper_length_mm", "species"),
    }
    for one in found:
        assert one.pair.correlation < 0 < one.low < one.within < one.high


def test_correlations_that_do_not_turn_are_not_told(rng):
    x = rng.normal(size=300)
    frame = pd.DataFrame({"x": x, "y": x + rng.normal(size=300), "k": rng.choice(list("abc"), 300)})
    table = table_of(frame)
    assert reversals(table, pairs_of(table)) == []
