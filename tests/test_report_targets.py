"""Targets that mislead: skewed ones, rare classes, wide tables, copies of rows; what is said is so."""

import numpy as np
import pandas as pd
import pytest

from section_code import run_code
from tractable import Mixture, Normal, StudentT
from tractable.report import read_table, table_of
from tractable.report.candidates import is_skewed, log_regressors, skewed_columns
from tractable.report.fitted import LogTransformed, point_prediction
from tractable.report.models import _rare_class, dominant_rows, section
from tractable.report.mutual_information import informative_columns


def wide(rng, n=120, k=79):
    """Columns with much in common, and one with nothing in common with them that decides the target."""
    common = rng.normal(size=(n, 1))
    frame = pd.DataFrame(common + 0.5 * rng.normal(size=(n, k)), columns=[f"c{j}" for j in range(k)])
    frame["driver"] = rng.normal(size=n)
    return frame.assign(y=3.0 * frame["driver"] + rng.normal(size=n))


def prices(rng, n=200):
    a = rng.normal(size=n)
    size = np.exp(2.0 * a)
    return pd.DataFrame(
        {"size": size, "idle": rng.normal(size=n), "price": size * np.exp(5.0 + 0.3 * rng.normal(size=n))}
    )


BASES = {
    "normal": Normal(mean=[0.3, -1.0], stddev=[0.5, 1.5]),
    "student": StudentT(dof=3.0, location=[0.3, -1.0], scale=[0.5, 1.5]),
    "mixture": Mixture(
        weights=[[0.3, 0.7], [0.5, 0.5]], components=Normal(mean=[[0.0, 1.0], [-1.0, 2.0]], stddev=0.4)
    ),
}


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
class TestDistributionOfALogarithm:
    def test_it_has_density_one_in_all(self, base):
        d = LogTransformed(base=base)
        grid = np.exp(np.linspace(-60.0, 60.0, 40_001))[:, None]
        total = np.trapezoid(np.exp(d.log_prob(grid)), grid, axis=0)
        np.testing.assert_allclose(total, 1.0, atol=1e-3)

    def test_its_density_is_the_slope_of_its_cdf(self, base):
        d, y, step = LogTransformed(base=base), np.array([0.7, 2.0]), 1e-6
        slope = (d.cdf(y + step) - d.cdf(y - step)) / (2.0 * step)
        np.testing.assert_allclose(np.exp(d.log_prob(y)), slope, rtol=1e-6)

    def test_quantiles_undo_the_cdf(self, base):
        d = LogTransformed(base=base)
        low, high = d.interval(0.8)
        np.testing.assert_allclose(d.cdf(low), 0.1, rtol=1e-6)
        np.testing.assert_allclose(d.cdf(high), 0.9, rtol=1e-6)
        np.testing.assert_allclose(d.cdf(point_prediction(d)), 0.5, rtol=1e-6)
        assert d.batch_shape == (2,)

    def test_nothing_is_below_zero(self, base):
        d = LogTransformed(base=base)
        assert (d.log_prob([-1.0, 0.0]) == -np.inf).all()
        assert (d.cdf([-1.0, 0.0]) == 0.0).all()


def test_what_is_skewed(rng):
    x = np.exp(rng.normal(size=500))
    assert is_skewed(x)
    assert is_skewed(1e200 * x)
    assert not is_skewed(-x)
    assert not is_skewed(np.r_[0.0, x])
    assert not is_skewed(10.0 + rng.normal(size=500))
    assert not is_skewed(np.ones(50))
    assert skewed_columns(pd.DataFrame({"x": x, "z": rng.normal(size=500), "c": ["a"] * 500})) == ["x"]


@pytest.mark.slow
def test_models_of_logarithms_take_new_entries_that_have_none(rng):
    frame = prices(rng, 60)
    X, y = frame.drop(columns="price"), frame["price"].to_numpy()
    for one in log_regressors(["size"]):
        said = one.learn(X, y)(X.head(2).assign(size=[-1.0, 2.0]))
        assert np.isfinite(said.log_prob(y[:2])).all()


@pytest.mark.slow
def test_a_skewed_target_is_modelled_by_its_logarithm(rng):
    frame = prices(rng)
    found = section(table_of(frame), target="price", rng=rng)
    assert found.findings["best"].endswith("of logarithms")
    # log price = 5 + log size + 0.3 ε: no model can do better than the entropy of that, on average
    truth = Normal(mean=5.0 + np.log(frame["size"]), stddev=0.3).log_prob(np.log(frame["price"]))
    best = found.findings["scores"][found.findings["best"]]
    assert best == pytest.approx(np.mean(truth - np.log(frame["price"])), abs=0.05)
    assert "price was modelled by its logarithm" in found.meaning
    assert "of size the logarithm was used too" in found.meaning
    assert "under the mean of logarithms alone" in found.meaning  # not under a normal, which anything beats
    assert next(iter(found.findings["what_matters"])) == "size"
    scores = found.findings["scores"]
    near = found.meaning.partition("distinguished from ")[2].partition(". ")[0]
    near = near.replace(" and ", ", ").split(", ")
    assert set(near) < set(scores)
    base = scores["the mean of logarithms alone"]
    assert min(scores[name] for name in near) > base > scores["linear regression"]
    scope = run_code(found, frame)
    assert {one.name: one.mean for one in scope["found"]} == pytest.approx(scores, rel=1e-9)


@pytest.mark.slow
def test_a_skewed_target_of_unrelated_columns_is_not_predicted(rng):
    frame = pd.DataFrame(
        {"a": rng.normal(size=150), "b": rng.normal(size=150), "y": np.exp(2.0 * rng.normal(size=150))}
    )
    found = section(table_of(frame), target="y", rng=rng)
    assert found.meaning.startswith("No model predicts y clearly better than the mean of logarithms alone")
    assert found.findings["what_matters"] == {}


@pytest.mark.slow
def test_little_is_only_said_where_nothing_speaks_against_it(rng):
    """A few rows of huge errors hide what all others show: the mean of log scores, but not ranks."""
    n = 400
    x = rng.normal(size=n)
    y = x + 0.1 * rng.normal(size=n)
    y[:2] = [4e4, -9e4]
    frame = pd.DataFrame({"x": x, "idle": rng.normal(size=n), "y": y})
    found = section(table_of(frame), target="y", rng=rng)
    assert found.meaning.startswith("No model")
    assert "say little" not in found.meaning
    assert "x depends on it by more than chance" in found.meaning
    assert "differs by is of 1 row;" in found.meaning


@pytest.mark.slow
def test_the_column_that_decides_is_used_in_a_wide_table(rng):
    found = section(table_of(wide(rng)), target="y", rng=rng)
    assert next(iter(found.findings["what_matters"])) == "driver"
    assert "if the column is shuffled: driver (" in found.meaning


@pytest.mark.slow
def test_columns_that_cannot_be_used_are_counted_before_little_is_said(rng):
    n = 100
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "y"])
    frame["word"] = [f"word {i} of many" for i in range(n)]
    found = section(table_of(frame), target="y", rng=rng)
    assert "the 1 column that could be used says little about it; 1 could not be used" in found.meaning
    assert "Not used: word (names the rows)." in found.notes


@pytest.mark.parametrize("ending", ["frame", "csv", "parquet"])
def test_of_many_columns_those_that_tell_of_the_target_are_looked_at(rng, ending, tmp_path):
    frame = pd.DataFrame(rng.normal(size=(200, 150)), columns=[f"c{j}" for j in range(150)])
    frame["c140"] = np.where(rng.random(200) < 0.5, "low", "high")
    frame["y"] = 2.0 * frame["c130"] + 2.0 * (frame["c140"] == "high") + rng.normal(size=200)
    if ending == "frame":
        table = table_of(frame, target="y")
    else:
        path = tmp_path / f"wide.{ending}"
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
        table = read_table(path, target="y")
    names = list(table.frame.columns)
    assert len(names) == 100
    assert {"c0", "c96", "c130", "c140", "y"} <= set(names)
    assert table.n_unseen == 51
    assert any("those most informative about y (c130 and c140)" in note for note in table.notes)


@pytest.mark.slow
def test_among_many_unrelated_columns_none_is_chosen_by_chance(rng):
    """Else models of the same rows would find what the choice put there."""
    frame = pd.DataFrame(rng.normal(size=(100, 400)), columns=[f"c{j}" for j in range(400)])
    frame["y"] = rng.normal(size=100)
    table = table_of(frame, target="y")
    assert list(table.frame.columns) == [*(f"c{j}" for j in range(99)), "y"]
    assert informative_columns(table_of(frame, max_columns=500), "y") == []


@pytest.mark.slow
def test_copies_of_rows_are_not_learned_and_asked_for(rng):
    once = pd.DataFrame(rng.normal(size=(80, 4)), columns=list("abcy"))
    frame = pd.concat([once] * 3, ignore_index=True)
    found = section(table_of(frame), target="y", rng=rng)
    assert "for 80 rows" in found.done
    assert "160 copies of other rows left out: each row counts once." in found.notes
    assert "No model predicts y clearly better" in found.meaning
    assert len(run_code(found, frame)["y"]) == 80


@pytest.mark.slow
def test_a_class_that_is_never_predicted_is_named(rng):
    n = 1000
    rare = np.arange(n) < 20
    frame = pd.DataFrame({"x": rng.normal(size=n) + 1.5 * rare, "kind": np.where(rare, "yes", "no")})
    found = section(table_of(frame), target="kind", rng=rng)
    assert "It never says yes, though 20 rows are" in found.meaning
    assert any("that corner is shown" in picture.caption for picture in found.pictures)


def test_where_calibration_is_looked_at():
    y = np.array([0] * 95 + [1] * 5)
    low = np.column_stack([np.full(100, 0.97), np.full(100, 0.03)])
    assert _rare_class(low, y) == (1, 0.05)
    assert _rare_class(low[:, ::-1], 1 - y) == (0, 0.05)
    assert _rare_class(np.full((100, 2), 0.5), y) == (1, 1.0)
    assert _rare_class(np.full((100, 3), 1.0 / 3.0), y) == (None, 1.0)


def test_few_rows_that_make_half_of_a_sum():
    assert dominant_rows(np.r_[np.ones(400), 300.0, -300.0]) == 2
    assert dominant_rows(np.r_[np.ones(40), 100.0]) == 0  # one in forty is not few
    assert dominant_rows(np.zeros(500)) == 0
