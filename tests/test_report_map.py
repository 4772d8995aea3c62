"""A map shows the plane in which rows differ most, and says how much it leaves out."""

import numpy as np
import pandas as pd
import pytest

import tractable
from quick import some
from section_code import run_code
from tractable.report import table_of
from tractable.report.map import chance_variance, filled, principal_axes, section


def correlated(rng, n=300):
    z = rng.normal(size=(n, 2))
    return pd.DataFrame(
        {
            "a": z[:, 0] + 0.2 * rng.normal(size=n),
            "b": 5.0 - 100.0 * (z[:, 0] + 0.2 * rng.normal(size=n)),
            "c": z[:, 0] + 0.2 * rng.normal(size=n),
            "d": z[:, 1],
        }
    )


@pytest.mark.slow
def test_the_planted_direction_is_first(rng):
    frame = correlated(rng)
    found = section(table_of(frame), rng=rng)
    assert set(found.findings["directions"][0][:3]) == {"a", "b", "c"}
    assert found.findings["directions"][1][0] == "d"
    assert found.findings["n_beyond_chance"] == 1
    assert "Only the first holds more than columns without any relation would show." in found.meaning
    scope = run_code(found, frame)
    np.testing.assert_allclose(scope["axes"].explained_variance_ratio, found.findings["shares"])
    variances = np.var(scope["scores"], axis=0)
    np.testing.assert_allclose(variances, scope["axes"].variances[:2])


@pytest.mark.slow
def test_holes_are_filled_with_what_the_rest_leads_to_expect(rng):
    frame = correlated(rng)
    frame.loc[::10, "a"] = np.nan
    found = section(table_of(frame), rng=rng)
    assert "30 missing entries were filled" in found.done
    scope = run_code(found, frame)
    np.testing.assert_allclose(scope["axes"].explained_variance_ratio, found.findings["shares"], rtol=1e-9)
    whole = correlated(np.random.default_rng(0))
    assert len(scope["scores"]) == len(whole)
    assert np.isfinite(scope["scores"]).all()


def test_filled_is_the_conditional_mean(rng):
    covariance = np.array([[2.0, 0.6, 0.3], [0.6, 1.0, 0.2], [0.3, 0.2, 1.5]])
    mean = np.array([1.0, 2.0, 3.0])
    normal = tractable.MultivariateNormal(mean=mean, covariance=covariance)
    x = rng.normal(size=(3, 3))
    x[0, 1] = x[1, 0] = x[1, 2] = np.nan
    full = filled(x, mean, covariance)
    np.testing.assert_array_equal(full[2], x[2])
    np.testing.assert_allclose(full[0, 1], normal.condition([0, 2], x[0, [0, 2]]).mean[0])
    np.testing.assert_allclose(full[1, [0, 2]], normal.condition([1], x[1, [1]]).mean)


def test_a_row_without_entries_is_filled_with_the_mean():
    np.testing.assert_array_equal(filled([[np.nan, np.nan]], [1.0, 2.0], np.eye(2)), [[1.0, 2.0]])


def test_principal_axes_diagonalise(rng):
    x = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
    moments = tractable.Moments.of(x)
    axes = principal_axes(moments)
    rebuilt = (axes.directions * axes.variances) @ axes.directions.T
    np.testing.assert_allclose(rebuilt, np.cov(x.T, ddof=0), atol=1e-12 * axes.variances[0])
    assert (np.diff(axes.variances) <= 0).all()
    largest = np.argmax(np.abs(axes.directions), axis=0)
    assert (axes.directions[largest, np.arange(4)] > 0).all()


def test_columns_without_relation_stay_below_chance(rng):
    n, d = 2000, 200
    shares = principal_axes(np.corrcoef(rng.normal(size=(n, d)).T)).variances
    assert abs(shares[0] / chance_variance(n, d) - 1.0) < 0.05  # the edge of Marčenko and Pastur


@pytest.mark.parametrize("target", some(["kind", "size", None]))
def test_coloured_by_what_there_is(target, rng):
    frame = correlated(rng)
    frame["kind"] = rng.choice(["x", "y"], len(frame))
    frame["size"] = rng.normal(size=len(frame))
    if target is None:
        frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
        frame[: len(frame) // 2] += 20.0  # two groups
    found = section(table_of(frame), target=target, rng=rng)
    assert f"coloured by {target or 'cluster'}" in found.pictures[1].alt
    if target:
        assert all(target not in names for names in found.findings["directions"])
    if target == "size":
        assert any("Not used: kind (categories)" in note for note in found.notes)


@pytest.mark.parametrize(
    "frame",
    [
        {"x": np.arange(40) ** 1.5},
        {"x": [1.5], "y": [2.5]},
        {"x": [np.nan] * 30, "y": [np.nan] * 30},
        {"x": [2.0] * 30, "y": np.arange(30) ** 1.5},
        {"x": np.arange(30) ** 1.5, "y": 3.0 * np.arange(30) ** 1.5},
    ],
    ids=["one column", "one row", "all missing", "one varies", "copies"],
)
def test_no_plane(frame, rng):
    assert section(table_of(pd.DataFrame(frame)), rng=rng) is None


@pytest.mark.slow
def test_more_columns_than_rows(rng):
    x = rng.normal(size=(20, 90))
    x[3, 4] = np.nan
    frame = pd.DataFrame(x, columns=[f"c{j}" for j in range(90)])
    found = section(table_of(frame), rng=rng)
    assert any("most in common" in note for note in found.notes)
    assert sum(found.findings["shares"]) <= 1.0 + 1e-12


def test_bundled_table(rng):
    table = table_of(tractable.datasets.load("penguins").frame)
    found = section(table, target="species", rng=rng)
    np.testing.assert_allclose(found.findings["shares"][:2], [0.688, 0.193], atol=5e-4)


def test_arrows_are_within_the_map_of_a_few_rows(rng):
    """Rows are flat about the first direction, and arrows are not."""
    from matplotlib.figure import Figure

    from tractable.report.map import _arrows

    ax = Figure().subplots()
    scores = np.array([[-2.0, -0.4], [0.1, -0.4], [2.1, -0.4], [-0.2, 0.2]])
    ax.scatter(*scores.T)
    _arrows(ax, scores, np.array([[0.9, 0.5], [0.9, -0.5]]), ["a", "b"])
    low, high = ax.get_ylim()
    assert low < -0.5 * 0.95 * 2.1 < 0.5 * 0.95 * 2.1 < high


@pytest.mark.slow
def test_a_map_of_a_few_rows_has_no_line_beyond_all_variance(rng):
    few = section(table_of(pd.DataFrame(rng.normal(size=(5, 2)), columns=["a", "b"])), rng=rng)
    assert "most by chance" not in few.pictures[0].svg
    assert "chance alone may give" in few.pictures[0].caption
    many = section(table_of(pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])), rng=rng)
    assert "most by chance" in many.pictures[0].svg
